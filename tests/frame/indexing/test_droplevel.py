# SPDX-License-Identifier: Apache-2.0
"""droplevel."""

from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error

FRAME = mixed_frame().set_index(["s", "k", "b"])[["x"]]


def test_levels_by_place_and_by_name():
    def dropped(f):
        return (
            f.droplevel(0), f.droplevel("k"), f.droplevel([0, "b"]), f.droplevel(-1),
            f.droplevel([]), f.x.droplevel("s"), f.x.droplevel([1, 2]),
        )  # fmt: skip

    assert_parity(dropped, FRAME, ways=["eager", "jit"])
    for num_rows in (0, 1):
        assert_parity(dropped, FRAME[:num_rows], ways=["eager"])


def test_levels_of_columns():
    extremes = FRAME.reset_index(drop=True).assign(k=1).groupby("k").agg({"x": ["min", "max"]})
    assert_parity(
        lambda f: (f.droplevel(0, axis=1), f.droplevel(-1, axis="columns")), extremes, ways=["jit"]
    )


def test_what_is_dropped_can_be_set_again():
    assert_parity(
        lambda f: f.reset_index("k").set_index("k", append=True).droplevel("s"),
        FRAME,
        ways=["eager"],
    )


def test_wrong_levels():
    for wrong in ("no", 3, -4, [0, 1, 2]):
        assert_same_error(lambda f, level=wrong: f.droplevel(level), FRAME)
    assert_same_error(lambda f: f.droplevel(0), FRAME.droplevel([0, 1]))
    assert_same_error(lambda f: f.droplevel(0, axis=1), FRAME)
    assert_same_error(lambda f: f.droplevel(0, axis=2), FRAME)
    assert_same_error(lambda s: s.droplevel("no"), FRAME["x"])
