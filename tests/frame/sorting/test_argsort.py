# SPDX-License-Identifier: Apache-2.0
"""argsort."""

import numpy as np
import pytest
from frame_examples import INTEGERS, floats, integers, mixed_frame
from frame_parity import EVERYWHERE, assert_parity, assert_same, assert_same_error, on_device

FRAME = mixed_frame()


def test_columns_of_each_kind_keep_their_labels():
    def orders(f):
        return tuple(f[label].argsort(kind="stable") for label in f)

    assert_parity(orders, FRAME.set_index("c"))
    assert_parity(orders, FRAME[["y"]], ways=EVERYWHERE)
    for num_rows in (0, 1):
        assert_parity(orders, FRAME[:num_rows], ways=["eager"])


@pytest.mark.parametrize("dtype", [*INTEGERS, "float32", "float64"])
def test_numbers_of_each_width(dtype):
    series = (integers if dtype in INTEGERS else floats)(dtype)
    assert_parity(lambda s: s.argsort(kind="stable"), series, ways=["eager"])


def test_rows_taken_so_stand_in_order():
    ours = on_device(FRAME)
    for label in ("x", "s", "t"):
        taken = ours[label].take(ours[label].argsort())
        assert_same(taken, FRAME[label].sort_values(kind="stable"))
    twice = ours.k.argsort().argsort().to_numpy()
    np.testing.assert_array_equal(twice, FRAME.k.rank(method="first") - 1)


def test_wrong_uses_are_pandas_errors():
    assert_same_error(lambda f: f.x.argsort(kind="bogus"), FRAME)
    assert_same_error(lambda f: f.x.argsort(axis=1), FRAME)
    assert_same_error(lambda f: f.x.argsort(ascending=False), FRAME)
    assert_same_error(lambda f: f.argsort(), FRAME)
