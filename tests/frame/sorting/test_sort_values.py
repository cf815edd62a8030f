# SPDX-License-Identifier: Apache-2.0
import pandas as pd
import pytest
from frame_examples import INTEGERS, complexes, floats, integers, mixed_frame
from frame_parity import EVERYWHERE, assert_parity, assert_same_error


@pytest.mark.parametrize("ascending", [True, False])
@pytest.mark.parametrize("na_position", ["first", "last"])
def test_matches_pandas_for_each_kind_of_column(ascending, na_position):
    frame = mixed_frame()

    def sorted_by_each(frame):
        return tuple(
            frame.sort_values(label, ascending=ascending, na_position=na_position, kind="stable")
            for label in ("k", "x", "y", "b", "s", "c", "t", "d")
        )

    assert_parity(sorted_by_each, frame, ways=["eager"])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_matches_pandas_for_each_integer(dtype):
    assert_parity(lambda s: s.sort_values(kind="stable"), integers(dtype), ways=["eager"])


def test_several_keys_with_their_own_directions():
    assert_parity(
        lambda f: f.sort_values(["k", "s", "x"], ascending=[False, True, False]),
        mixed_frame(),
        ways=EVERYWHERE,
    )


def test_keeps_the_index_or_makes_a_new_one():
    frame = mixed_frame().set_index("s")
    assert_parity(lambda f: f.sort_values("k", kind="stable"), frame, ways=["eager"])
    assert_parity(lambda f: f.sort_values("k", kind="stable", ignore_index=True), frame)


@pytest.mark.parametrize("num_rows", [0, 1])
def test_few_rows(num_rows):
    assert_parity(lambda s: s.sort_values(kind="stable"), floats()[:num_rows], ways=["eager"])


def test_wrong_arguments_are_pandas_errors():
    frame = pd.DataFrame({"x": [2, 1], "y": [1, 2]})
    assert "bogus" in assert_same_error(lambda f: f.sort_values("bogus"), frame)
    assert_same_error(lambda f: f.sort_values(["x", "y"], ascending=[True]), frame)
    assert_same_error(lambda f: f.sort_values("x", na_position="middle"), frame)
    assert_same_error(lambda f: f.sort_values("x", kind="bogus"), frame)


def test_complex_numbers_by_their_real_then_their_imaginary_parts():
    def ordered(f):
        return (
            f.sort_values("z", kind="stable"),
            f.sort_values(["k", "z"], ascending=False),
            f.sort_values(["w", "x"], na_position="first"),
            f.z.sort_values(kind="stable", ascending=False, na_position="first"),
            f.w.argsort(kind="stable"),
        )

    assert_parity(ordered, complexes(), ways=["jit"])


def test_by_what_a_function_makes_of_each_key():
    assert_parity(
        lambda f: f.sort_values(["k", "x"], key=lambda s: -s % 3, ascending=[False, True]),
        mixed_frame(),
        ways=["jit"],
    )
    assert_parity(
        lambda f: (
            f.s.sort_values(key=lambda s: s.str.lower(), kind="stable"),
            f.sort_values("x", key=lambda s: s.to_numpy() ** 2, kind="stable"),
        ),
        mixed_frame(),
        ways=["eager"],
    )
    assert_same_error(lambda f: f.sort_values("x", key=lambda s: s[:3]), mixed_frame())


def test_by_levels_of_the_index():
    frame = mixed_frame()[["k", "i", "x", "s"]].set_index(["k", "s"])

    def ordered(f):
        return f.sort_values(["k", "x"]), f.sort_values(["x", "s"], ascending=[True, False])

    assert_parity(ordered, frame)
    assert_parity(
        lambda f: f.sort_values("n"), frame.set_axis(pd.Index(range(37, 0, -1), name="n"))
    )
    both = frame.rename_axis(["i", "s"])
    assert "ambiguous" in assert_same_error(lambda f: f.sort_values("i"), both)


def test_by_nothing_rows_stay():
    assert_parity(lambda f: f.sort_values([]), mixed_frame()[["k", "x"]])
