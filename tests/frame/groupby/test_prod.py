# SPDX-License-Identifier: Apache-2.0
"""groupby.prod."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame


def powers():
    # Products of powers of two are exact in every order.
    frame = mixed_frame()
    x = np.exp2(frame.i % 7 - 3) * np.where(frame.b, -1.0, 1.0)
    return frame.assign(x=x.where(frame.x.notna()), n=2 - frame.i % 3)[["k", "x", "n", "b", "s"]]


def test_the_product_of_a_group_is_exact_for_powers_of_two():
    def products(f):
        grouped = f.groupby("k")
        return grouped[["x", "n", "b"]].prod(), grouped.x.prod(skipna=False), grouped.b.prod()

    assert_parity(products, powers(), ways=["jit"])


def test_products_of_groups_make_up_the_product_of_the_column():
    frame = powers()
    assert JaxFrame(frame).groupby("k").x.prod().prod() == frame.x.prod()


def test_of_no_values_it_is_one_or_missing_by_min_count():
    frame = pd.DataFrame({"k": [1, 2, 2], "x": [np.nan, 3.0, np.nan]})
    grouped = JaxFrame(frame).groupby("k").x
    assert grouped.prod().tolist() == [1.0, 3.0]
    assert_parity(
        lambda f: tuple(f.groupby("k").x.prod(min_count=least) for least in (0, 1, 2)),
        frame,
        ways=["eager"],
    )


def test_zeros_infinities_and_few_rows():
    frame = pd.DataFrame({"k": [2, 2, 1, 1, 3], "x": [-0.0, 2.0, np.inf, -3.0, np.nan]})
    for num_rows in (5, 1, 0):
        assert_parity(lambda f: f.groupby("k").prod(), frame[:num_rows], ways=["eager"])


def test_wrong_uses_are_pandas_errors():
    assert "s" in assert_same_error(lambda f: f.groupby("k").prod(), powers())
    assert_same_error(lambda f: f.groupby("k").s.prod(numeric_only=True), powers())
    assert_same_error(lambda f: f.groupby("k").prod(numeric_only="x"), powers())
