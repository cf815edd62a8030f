# SPDX-License-Identifier: Apache-2.0
"""isna and notna, under both of their names, and hasnans."""

import numpy as np
import pandas as pd
from frame_examples import complexes, floats, integers, mixed_frame
from frame_parity import assert_parity, assert_same, on_device


def test_one_is_the_other_reversed():
    ours = on_device(mixed_frame())
    missing = ours.isna().to_pandas()
    assert missing.any(axis=None)
    assert_same(ours.isnull(), missing)
    assert_same(ours.notna(), ~missing)
    assert_same(ours.notnull(), ~missing)


def test_infinities_zeros_and_empty_strings_are_values():
    assert_parity(lambda s: s.isna(), floats("float32"), ways=["jit"])
    assert_parity(lambda s: s.notna(), pd.Series(["", None, "nan", "None"]), ways=["eager"])
    assert on_device(pd.Series([np.inf, -0.0, np.nan])).isna().tolist() == [False, False, True]


def test_a_complex_number_is_missing_where_a_part_is():
    assert_parity(lambda f: (f.isna(), f.w.notna()), complexes()[["z", "w"]], ways=["eager"])


def test_what_cannot_be_missing_is_all_false():
    assert_parity(lambda s: (s.isna(), s.notna()), integers("uint8"), ways=["eager"])
    frame = mixed_frame().set_index("s")[["k", "b"]]
    assert_parity(lambda f: (f.isna(), f[:0].isna(), f[:1].notna()), frame, ways=["eager"])


def test_labels_and_names_stay():
    series = mixed_frame().set_index(["s", "k"]).t.rename("when")
    assert_parity(lambda s: s.isna(), series, ways=["eager"])
    assert_parity(lambda f: (f.isna(), f.notna()), mixed_frame()[[]], ways=["eager"])


def test_hasnans_says_whether_any_is_missing():
    frame = mixed_frame()
    for label in frame:
        series = frame[label]
        for some in (series, series.dropna(), series[:1], series[:0]):
            assert_parity(lambda s: s.hasnans, some, ways=["eager"])
