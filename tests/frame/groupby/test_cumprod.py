# SPDX-License-Identifier: Apache-2.0
"""groupby.cumprod."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame


def powers():
    # Products of powers of two are exact in every order.
    frame = mixed_frame()
    x = np.exp2(frame.i % 7 - 3).where(frame.x.notna())
    return pd.DataFrame({"k": frame.k, "x": x, "n": 2 - frame.i % 3, "s": frame.s})


def test_products_so_far_are_exact_for_powers_of_two():
    def products(f):
        grouped = f.groupby("k")
        return grouped[["x", "n"]].cumprod(), grouped.cumprod(numeric_only=True, skipna=False)

    assert_parity(products, powers(), ways=["jit"])


def test_the_last_of_a_group_is_its_product():
    frame = powers()[["k", "x"]].fillna(1.0)
    grouped = JaxFrame(frame).groupby("k").x
    last = grouped.cumprod().to_pandas().groupby(frame.k).last()
    pd.testing.assert_series_equal(last, grouped.prod().to_pandas())


def test_a_zero_stays_and_few_rows():
    frame = pd.DataFrame({"k": [1, 2, 1, 1], "i": [3, 5, 0, 7]})
    for num_rows in (4, 1, 0):
        assert_parity(lambda f: f.groupby("k").cumprod(), frame[:num_rows], ways=["eager"])


def test_timedeltas_have_no_product():
    frame = mixed_frame()[["k", "d", "s"]]
    assert "'d'" in assert_same_error(lambda f: f.groupby("k").d.cumprod(), frame)
    assert_same_error(lambda f: f.groupby("k").s.cumprod(), frame)
