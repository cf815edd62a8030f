# SPDX-License-Identifier: Apache-2.0
"""set_axis."""

import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device

FRAME = mixed_frame(4)[["k", "x", "s"]]


def test_labels_of_rows_of_every_kind():
    labels = (
        [3, 1, 3, 2],
        ["b", "a", "", "é"],
        pd.Index([1.5, -0.0, 2.0, 7.0], name="n"),
        pd.to_datetime(["2020-01-01", None, "1999-12-31", "2020-01-01"]),
        pd.RangeIndex(8, 0, -2, name="down"),
        pd.MultiIndex.from_tuples([(1, "a"), (1, "b"), (2, "a"), (1, "a")], names=["u", None]),
    )
    for each in labels:
        assert_parity(lambda f, each=each: f.set_axis(each), FRAME, ways=["eager"])
        assert_parity(lambda f, each=each: f.x.set_axis(each), FRAME, ways=["eager"])


def test_labels_of_columns():
    def named(f):
        return f.set_axis(["a", "a", "b"], axis=1), f.set_axis([1, 2.5, "c"], axis="columns")

    assert_parity(named, FRAME)


def test_the_frame_itself_stays_as_it_was():
    ours = on_device(FRAME)
    renamed = ours.set_axis([9, 8, 7, 6])
    assert_same(ours, FRAME)
    assert renamed.index.tolist() == [9, 8, 7, 6]


def test_wrong_uses_are_pandas_errors():
    assert_same_error(lambda f: f.set_axis([1, 2, 3]), FRAME)
    assert_same_error(lambda f: f.set_axis(["a", "b"], axis=1), FRAME)
    assert_same_error(lambda f: f.set_axis([1, 2, 3, 4], axis=2), FRAME)
