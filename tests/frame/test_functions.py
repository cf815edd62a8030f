# SPDX-License-Identifier: Apache-2.0
"""The functions of pandas that have the work of a method."""

import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_operations import functions_for
from frame_parity import assert_parity
from jaxframes import frame as jf
from jaxframes.shardings import make_mesh, row_sharded

FRAME = mixed_frame(30)[["k", "x", "s"]]


def test_they_give_what_methods_give():
    assert_parity(
        lambda f: (
            functions_for(f).melt(f[["k", "x"]], "k"),
            functions_for(f).pivot_table(f, "x", index="k", aggfunc="max"),
            functions_for(f).pivot(f[:3].assign(i=[0, 1, 2]), index="i", columns="s", values="x"),
            functions_for(f).isna(f),
            functions_for(f).notnull(f.x),
            functions_for(f).isnull(f.s),
            functions_for(f).notna(f),
        ),
        FRAME,
        ways=["eager"],
    )


def test_distinct_values():
    ours = jf.from_pandas(FRAME)
    assert jf.unique(ours.k).tolist() == pd.unique(FRAME.k).tolist()
    codes, values = jf.factorize(ours.k, sort=True)
    expected_codes, expected_values = pd.factorize(FRAME.k, sort=True)
    assert codes.tolist() == expected_codes.tolist()
    assert values.tolist() == expected_values.tolist()


@pytest.mark.parametrize("name", ["melt", "pivot_table", "isna", "notna", "unique", "factorize"])
def test_other_objects_are_refused(name):
    with pytest.raises(TypeError, match=rf"{name}: .*got DataFrame.*from_pandas"):
        getattr(jf, name)(FRAME)


def test_times_at_a_regular_distance():
    for options in (
        {"start": "2024-01-30", "periods": 4},
        {"start": "2024-01-30", "end": "2024-03-01", "freq": "W", "name": "t"},
        {"end": "2024-01-30 12:00", "periods": 3, "freq": "2h", "normalize": True},
        {"start": "2024-01-01", "end": "2024-01-04", "inclusive": "left", "unit": "s"},
        {"start": "2024-01-01", "end": "2023-01-04"},
    ):
        pd.testing.assert_index_equal(jf.date_range(**options), pd.date_range(**options))
    rows = row_sharded(make_mesh(4))
    assert jf.JaxSeries(jf.date_range("2024", periods=9), sharding=rows).sharding == rows
    with pytest.raises(ValueError, match="Of the four parameters"):
        jf.date_range("2024")


def test_pandas_answers_for_values_of_the_host():
    for value in (None, jf.NA, jf.NaT, 1.5, "a", [1, None], pd.Index([1.0, None])):
        np.testing.assert_array_equal(jf.isna(value), pd.isna(value))
        np.testing.assert_array_equal(jf.notna(value), pd.notna(value))
    assert jf.unique(np.array([2, 1, 2])).tolist() == [2, 1]
    assert jf.factorize(np.array([2, 1, 2]))[0].tolist() == [0, 1, 0]


def test_the_module_stands_for_that_of_pandas():
    assert jf.DataFrame is jf.JaxFrame
    assert jf.Series is jf.JaxSeries
    assert jf.Timestamp is pd.Timestamp
    with jf.option_context("display.max_rows", 5):
        assert jf.get_option("display.max_rows") == 5


def test_functions_know_plans_and_expressions():
    values = jf.JaxFrame({"x": [1.0, None], "s": ["2020-01-01", "x"]})
    plan = values.lazy()
    assert jf.isna(plan.x).collect().tolist() == [False, True]
    assert jf.notnull(plan.x).collect().tolist() == [True, False]
    assert values[jf.notna(jf.col("x"))].x.tolist() == [1.0]
    for function in (jf.to_datetime, jf.to_timedelta, jf.to_numeric):
        for value in (plan.s, jf.col("s")):
            with pytest.raises(NotImplementedError, match="plans and expressions do not record it"):
                function(value, errors="coerce")
    with pytest.raises(NotImplementedError, match=r"got LazySeries\. Call collect\(\) first"):
        jf.JaxSeries(plan.x)
