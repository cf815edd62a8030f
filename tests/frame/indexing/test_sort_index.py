# SPDX-License-Identifier: Apache-2.0
"""sort_index."""

import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device

FRAME = mixed_frame()[["k", "x", "s"]]


def test_it_is_sort_values_of_the_labels():
    def by_labels(f):
        return f.set_index("s").sort_index(kind="stable").reset_index()

    def by_values(f):
        return f.sort_values("s", kind="stable", ignore_index=True)[["s", "k", "x"]]

    assert_parity(by_labels, FRAME, ways=["jit"])
    assert_same(by_labels(on_device(FRAME)), by_values(FRAME))


def test_missing_labels_go_where_they_are_told():
    def sorted_labels(f):
        return tuple(
            f.sort_index(ascending=ascending, na_position=na_position, kind="stable")
            for ascending in (True, False)
            for na_position in ("first", "last")
        )

    assert_parity(sorted_labels, FRAME.set_index("x"), ways=["eager"])


def test_a_list_of_directions_sorts_by_the_named_levels_alone():
    levels = [[1, 2, 1, 1], ["a", "b", "c", "a"], [2.0, 1.0, 1.0, 1.0]]
    frame = pd.DataFrame({"v": range(4)}, pd.MultiIndex.from_arrays(levels, names=["n", "k", "x"]))
    assert_parity(
        lambda f: (
            f.sort_index(level=["n", "k"], ascending=[False, True]),
            f.sort_index(level="n", ascending=[False]),
            f.v.sort_index(level=["k"], ascending=(True,)),
            f.sort_index(level=["n", "k"], ascending=False),
            f.sort_index(ascending=[True, False, True]),
        ),
        frame,
    )


def test_columns_sort_by_their_labels_too():
    assert_parity(lambda f: (f.sort_index(axis=1, ascending=False), f.sort_index(axis="columns")),
                  FRAME[::-1], ways=["eager"])  # fmt: skip
    for num_rows in (0, 1):
        assert_parity(lambda f: f.sort_index(), FRAME[:num_rows], ways=["eager"])


def test_wrong_arguments():
    assert_same_error(lambda f: f.sort_index(level="no"), FRAME.set_index(["s", "k"]))
    assert_same_error(lambda f: f.sort_index(na_position="bogus"), FRAME.set_index("x"))
