# SPDX-License-Identifier: Apache-2.0
"""duplicated."""

import numpy as np
import pandas as pd
from frame_examples import floats, mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device

FRAME = mixed_frame()[["k", "s"]]


def test_both_ends_flagged_together_are_all_that_occur_again():
    ours = on_device(FRAME)
    first, last, every = (
        ours.duplicated(keep=keep).to_pandas() for keep in ("first", "last", False)
    )
    assert_same(first | last, every)
    assert (~first).sum() == (~last).sum() == len(FRAME.drop_duplicates())


def test_a_subset_is_a_label_or_several():
    def flagged(f):
        return f.duplicated("k"), f.duplicated(["s", "k"]), f.duplicated(subset=["s"], keep="last")

    assert_parity(flagged, FRAME, ways=["jit"])


def test_a_tuple_that_is_no_label_holds_labels():
    assert_parity(lambda f: f.duplicated(("k", "s")), FRAME, ways=["eager"])


def test_labels_stay_and_the_name_does_not():
    series = floats("float32").set_axis(pd.Index(range(37), name="n") * 2)
    assert_parity(lambda s: (s.duplicated(), s[:0].duplicated(), s[:1].duplicated(keep=False)),
                  series, ways=["eager"])  # fmt: skip


def test_wrong_arguments():
    assert_same_error(lambda f: f.duplicated("no"), FRAME)
    assert_same_error(lambda f: f.duplicated(keep=True), FRAME)
    assert_same_error(lambda s: s.duplicated(keep="all"), FRAME["k"])
    assert_same_error(lambda f: f.duplicated(iter(["k"])), FRAME)
    for subset in ([], (), np.array([])):
        assert_same_error(lambda f, subset=subset: f.duplicated(subset), FRAME)
        assert_same_error(lambda f, subset=subset: f.drop_duplicates(subset), FRAME)


def test_a_part_of_a_label_is_none():
    levels = FRAME.set_axis(pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")]), axis=1)
    assert_parity(lambda f: f.duplicated([("a", "y")]), levels, ways=["eager"])
    for subset in ("a", ["a"], ("a",)):
        assert_same_error(lambda f, subset=subset: f.duplicated(subset), levels)
        assert_same_error(lambda f, subset=subset: f.dropna(subset=subset), levels)


def test_without_columns_no_row_is_flagged():
    assert_parity(lambda f: (f.duplicated(), f.drop_duplicates()), pd.DataFrame(index=[1, 1]),
                  ways=["eager", "mesh"])  # fmt: skip
