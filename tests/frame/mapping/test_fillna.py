# SPDX-License-Identifier: Apache-2.0
"""fillna."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import finite, mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device


def test_it_fills_what_isna_shows_and_nothing_else():
    frame = mixed_frame()
    ours = on_device(frame)
    fills = {"x": 9.5, "s": "none", "c": "w", "t": pd.Timestamp("2020-01-01")}
    for label, value in fills.items():
        filled = ours[label].fillna(value).to_pandas()
        was_missing = frame[label].isna()
        assert (filled[was_missing] == value).all()
        assert_same(filled[~was_missing], frame[label][~was_missing])


def test_values_of_each_type():
    def filled(f):
        return (
            f.d.fillna(pd.Timedelta("2h")), f.t.fillna(f.t), f.x.fillna(f.f), f.f.fillna(2),
            f.x.fillna(np.inf), f.c.fillna("v")
        )  # fmt: skip

    assert_parity(filled, mixed_frame(), ways=["eager"])


def test_a_dict_names_columns_and_may_name_others():
    def filled(f):
        return f.fillna({}), f.fillna({"q": 1}), f.fillna({"f": 0.5, "q": 1, "k": 3})

    assert_parity(filled, mixed_frame()[["x", "f", "k"]], ways=["jit"])


def test_columns_without_values_and_without_holes():
    frame = pd.DataFrame({"none": [np.nan] * 3, "all": [1, 2, 3], "x": [np.nan, 2.0, np.nan]})
    assert_parity(lambda f: f.fillna(0), frame, ways=["eager"])
    for num_rows in (0, 1):
        assert_parity(lambda f: (f.fillna(7), f.x.fillna(7)), frame[:num_rows], ways=["eager"])


def test_another_series_fills_by_label():
    other = pd.Series([1.0, 2.0, 3.0], index=[30, 2, 99])
    assert_parity(lambda s, o: s.fillna(o), finite(), other, ways=["eager"])


def test_a_value_that_is_no_category_is_an_error_only_if_it_is_needed():
    complete = pd.Series(["a", "b"], dtype=pd.CategoricalDtype(["a", "b", "c"]))
    assert_parity(
        lambda s: (s.fillna("z"), s[:0].fillna("z"), s.fillna("c")), complete, ways=["eager"]
    )
    assert_same_error(lambda s: s.fillna("z"), complete.where([True, False]))


def test_wrong_values():
    frame = mixed_frame()[["x", "s"]]
    assert_same_error(lambda f: f.x.fillna({1, 2}), frame)
    assert_same_error(lambda f: f.fillna([1, 2]), frame)
    with pytest.raises(NotImplementedError, match="limit"):
        jax.jit(lambda f: f.x.fillna(0.0, limit=1))(on_device(frame[["x"]]))


def test_an_empty_dict_or_series_fills_nothing():
    floats = pd.Series([1.0, np.nan])
    assert_parity(lambda s: s.fillna({}), floats, ways=["eager"])
    assert_parity(lambda s, e: s.fillna(e), floats, pd.Series(dtype=object), ways=["eager"])


def test_a_label_of_fewer_levels_names_several_columns():
    levels = pd.MultiIndex.from_tuples([("x", "a"), ("x", "b"), ("y", "c")])
    frame = pd.DataFrame([[np.nan, 1.0, 1.0], [3.0, np.nan, np.nan]], columns=levels)
    for values in ({"x": -1}, {"x": -1, ("x", "b"): -2}, {("x", "b"): -2, "x": -1}):
        assert_parity(lambda f, values=values: f.fillna(values), frame, ways=["eager"])


NULLS = [np.nan, None, pd.NA, pd.NaT]


@pytest.mark.parametrize("null", NULLS, ids=repr)
def test_a_missing_value_replaces_those_of_objects(null):
    frame = pd.DataFrame(
        {
            "x": pd.Series(["a", None, np.nan, pd.NA], dtype=object),
            "y": pd.Series([None, None, pd.NaT, 1.5], dtype=object),
            "z": pd.Series([True, False, True, None], dtype=object),
            "s": ["a", None, "b", "c"],
            "f": [1.5, np.nan, 2.5, 3.5],
        }
    )
    ways = ["eager", "mesh"]
    if null is pd.NA or null is pd.NaT:
        frame = frame[["x", "y", "z"]]  # pandas turns floats into objects.
    assert_parity(lambda f: f.fillna(null), frame, ways=ways)
    assert_parity(lambda f: (f.x.fillna(null), f.y.fillna(null)), frame, ways=ways)
    assert_parity(lambda f: f.fillna({"y": null}), frame, ways=ways)
    has_holes = frame["z"].eq(True).where([True, False, True, True]).astype(object)
    assert_parity(lambda s: s.fillna(null), has_holes, ways=ways)


@pytest.mark.parametrize("null", NULLS, ids=repr)
def test_a_missing_value_among_objects_keeps_its_type(null):
    objects = pd.Series(["a", 1, None, 2.5], dtype=object)

    def placed(s):
        other = s.copy()
        other.iloc[1] = null
        flags = [True, False, True, False]
        return other, s.where(flags, null), s.mask(flags, null), s.reindex([0, 7], fill_value=null)

    assert_parity(placed, objects, ways=["eager"])
    kept = jax.jit(lambda s: s.where(s.isna(), null))
    assert_same(kept(on_device(objects)), objects.where(objects.isna(), null))


@pytest.mark.parametrize("dtype", ["UInt64", "Int64", "Int8"])
def test_values_that_a_nullable_dtype_does_not_hold(dtype):
    integers = pd.Series([1, None], dtype=dtype)
    for value in (1e300, 2**64, 1.5, np.inf, True, "a"):
        message = assert_same_error(lambda s, value=value: s.fillna(value), integers)
        assert "astype" in message
    complete = pd.Series([1, 2], dtype=dtype)
    assert_parity(lambda s: s.fillna(2**64), complete, ways=["eager"])
    floats = pd.Series([1.5, None], dtype="Float32")
    assert_parity(lambda s: s.fillna(1e300), floats, ways=["eager"])
