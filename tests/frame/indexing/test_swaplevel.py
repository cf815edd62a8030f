# SPDX-License-Identifier: Apache-2.0
"""swaplevel."""

import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device

FRAME = mixed_frame().set_index(["s", "k", "b"])[["x"]]


def test_levels_by_place_and_by_name():
    def swapped(f):
        return (
            f.swaplevel(), f.swaplevel(0), f.swaplevel(0, 1), f.swaplevel("s", "b"),
            f.swaplevel(1, 1), f.x.swaplevel(0, -1), f.x.swaplevel(),
        )  # fmt: skip

    assert_parity(swapped, FRAME, ways=["eager", "jit"])
    for num_rows in (0, 1):
        assert_parity(swapped, FRAME[:num_rows], ways=["eager"])


def test_twice_is_as_before():
    assert_same(on_device(FRAME).swaplevel(0, 2).swaplevel(0, 2), FRAME)


def test_wrong_levels():
    assert_same_error(lambda f: f.swaplevel("no"), FRAME)
    assert_same_error(lambda f: f.swaplevel(0, 5), FRAME)
    assert_same_error(lambda f: f.swaplevel(), FRAME.droplevel([0, 1]))
    assert_same_error(lambda f: f.swaplevel(0, 1, axis=2), FRAME)


def test_levels_of_columns():
    frame = FRAME.reset_index(drop=True)
    frame.columns = pd.MultiIndex.from_product([["p"], frame.columns], names=["a", "b"])
    assert_parity(
        lambda f: (f.swaplevel(axis=1), f.swaplevel("a", "b", axis="columns")), frame,
        ways=["eager", "jit"],
    )  # fmt: skip
