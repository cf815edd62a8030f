# SPDX-License-Identifier: Apache-2.0
"""cumprod."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def factors():
    return pd.DataFrame({"i": [3, -2, 4], "x": [0.5, np.nan, -2.0], "b": [True, True, False]})


def test_missing_values_are_left_out_or_spoil_what_follows():
    assert_parity(
        lambda f: (f.cumprod(), f.cumprod(skipna=False), f.b.cumprod()), factors(), ways=["eager"]
    )
    assert_parity(lambda f: f[["i", "x"]].cumprod(axis=1), factors(), ways=["jit"])


def test_its_last_is_the_product_and_integers_wrap_around():
    column = on_device(pd.Series([2**40, 3, 2**30, 5]))
    products = column.cumprod()
    assert int(products.iloc[-1]) == column.prod()
    assert products.tolist() == pd.Series([2**40, 3, 2**30, 5]).cumprod().tolist()


def test_behind_a_zero_all_is_zero():
    column = on_device(pd.Series([2.0, 0.0, 5.0, np.nan, 7.0]))
    assert column.cumprod().fillna(-1.0).tolist() == [2.0, 0.0, 0.0, -1.0, 0.0]


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()
    assert_same_error(lambda f: f.cumprod(), frame[["k", "s"]])
    assert_same_error(lambda f: f.c.cumprod(), frame)
    assert_same_error(lambda f: f.k.cumprod(axis=1), frame)
