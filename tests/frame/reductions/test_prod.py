# SPDX-License-Identifier: Apache-2.0
"""prod and its alias product."""

import numpy as np
import pandas as pd
from frame_examples import floats, mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def factors():
    return pd.DataFrame({"i": [3, -4, 5], "x": [0.5, np.nan, -2.0], "n": [np.nan] * 3})


def test_both_names_are_one_method():
    assert_parity(lambda f: (f.prod(), f.product(), f.x.product(axis="index")), factors())


def test_a_product_of_nothing_is_one_unless_a_count_is_asked_for():
    assert_parity(
        lambda f: (f.prod(), f.prod(min_count=1), f.i.prod(), f.i.prod(min_count=1), f.x.prod()),
        factors()[:0],
        ways=["eager"],
    )
    assert_parity(
        lambda f: (f.n.prod(), f.n.prod(min_count=1), f.prod(min_count=2), f.prod(skipna=False)),
        factors(),
        ways=["eager"],
    )


def test_parts_multiply_to_the_whole():
    ours = on_device(factors())
    assert ours.i[:1].prod() * ours.i[1:].prod() == ours.i.prod() == -60
    assert ours[["i", "x"]].prod(axis=1).prod() == ours[["i", "x"]].prod().prod() == 60.0


def test_zeros_infinities_and_integers_that_wrap_around():
    assert_parity(
        lambda s: (
            s[s != 0].prod(),
            s[s.isna()].prod(),
            s[s > 0].prod(skipna=False),
            s[s == 0].prod(),
        ),
        floats()[:20],
        ways=["eager"],
    )
    wide = pd.DataFrame({"i": [2**33, 2**32, 3], "b": [True, True, False]})
    assert_parity(lambda f: (f.i.prod(), f.b.prod(), f.b[:2].prod(), f.prod()), wide)


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()
    assert_same_error(lambda f: f.t.prod(), frame)
    assert_same_error(lambda f: f.d.prod(), frame)
    assert_same_error(lambda f: f.s.prod(numeric_only=True), frame)
    assert_same_error(lambda f: f.k.prod(bogus=1), frame)
