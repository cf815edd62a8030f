# SPDX-License-Identifier: Apache-2.0
"""groupby.size."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame


def test_a_series_keeps_its_name_and_a_frame_gives_none():
    def sizes(f):
        return f.groupby("k").size(), f.groupby("k").x.size(), f.x.groupby(f.k).size()

    assert_parity(sizes, mixed_frame()[["k", "x"]], ways=["jit"])
    assert_parity(lambda f: f.groupby("k").size(), mixed_frame()[["k"]], ways=["eager"])


def test_sizes_add_up_to_the_rows_that_have_a_key():
    frame = mixed_frame()[["s", "x"]]
    ours = JaxFrame(frame)
    assert ours.groupby("s").size().sum() == frame.s.notna().sum()
    assert ours.groupby("s", dropna=False).size().sum() == len(frame)


def test_categories_without_rows_and_no_rows_at_all():
    def sizes(f):
        grouped = f.groupby(["b", "c"], observed=False, as_index=False)
        return grouped.size(), f.groupby("c", observed=False).size()

    frame = mixed_frame()[["b", "c"]]
    for num_rows in (37, 0):
        assert_parity(sizes, frame[:num_rows], ways=["eager"])


def test_sizes_of_nullable_columns_are_nullable_also_in_agg_and_transform():
    def sizes(f):
        grouped = f.groupby("k")
        return (
            grouped.n.agg(["size", "count"]),
            grouped.agg(rows=("n", "size")),
            grouped.a.transform("size"),
            grouped.transform("size"),
        )

    numbers = pd.Series([1, None, 3], dtype="Int64")
    frame = pd.DataFrame({"k": [1.0, np.nan, 1.0], "n": numbers})
    assert_parity(sizes, frame.assign(a=numbers.astype("int64[pyarrow]")), ways=["eager"])


def test_a_key_may_not_have_the_name_of_the_result():
    frame = mixed_frame()[["k", "x"]].rename(columns={"k": "size"})
    assert_same_error(lambda f: f.groupby("size", as_index=False).size(), frame)


def test_it_takes_no_arguments():
    assert_same_error(lambda f: f.groupby("k").size(dropna=True), mixed_frame()[["k", "x"]])
