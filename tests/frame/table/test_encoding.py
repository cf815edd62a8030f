# SPDX-License-Identifier: Apache-2.0
"""Columns of strings from lists and arrays of objects; pandas is the oracle."""

import datetime
import decimal
import enum
import re

import numpy as np
import pandas as pd
import pytest
from jaxframes.frame import JaxFrame, JaxSeries


class Loud(str):
    """A string that compares case-insensitively."""

    def __eq__(self, other):
        return self.lower() == other.lower()

    def __hash__(self):
        return hash(self.lower())


class Unhashable(str):
    def __eq__(self, other):
        return str.__eq__(self, other)


class Colour(enum.StrEnum):
    RED = "red rose"


# Values that pandas accepts in a column of strings.
AMONG_STRINGS = {
    "nothing": [],
    "None": [None],
    "nan": [np.nan],
    "nan of NumPy": [np.float32("nan"), np.float64("nan")],
    "nan, complex": [complex("nan")],
    "NA": [pd.NA, None, np.nan],
    "empty": ["", None],
    "NUL": ["b\0c", "b\0", "b\0d"],
    "beyond ASCII": ["\uffff", "\U0001f600", "\u00e9", "e\u0301"],
    "str of NumPy": [np.str_("b"), np.str_("q")],
    "str with its own equality": [Loud("B"), Loud("Q")],
    "str with its own equality, missing": [Loud("B"), Loud("Q"), None],
    "str without a hash": [Unhashable("b")],
    "Enum": [Colour.RED, "red rose"],
}
# Values that make it a column of objects.
AMONG_OBJECTS = {
    "bytes": b"b",
    "int": 1,
    "float": 1.5,
    "infinity": np.inf,
    "bool": True,
    "list": [1],
    "tuple": ("b",),
    "dict": {},
    "date": datetime.date(2020, 1, 1),
    "Timestamp": pd.Timestamp(0),
    "NaT": pd.NaT,
    "NaT of NumPy": np.datetime64("NaT", "s"),
    "Decimal": decimal.Decimal("nan"),
}
# Few and many distinct strings take different encoders.
STRINGS = {"few": ["b", "a", "c"] * 9, "many": [f"b{i}" for i in range(27)]}


def array_of(values):
    return np.fromiter(values, object, len(values))


def assert_as_pandas(values):
    for data in (values, array_of(values)):
        expected = pd.Series(data, name="s")
        pd.testing.assert_series_equal(JaxSeries(data, name="s").to_pandas(), expected)
        columns = {"s": data, "n": np.arange(len(data), dtype=np.int32)}
        frame, expected_frame = JaxFrame(columns), pd.DataFrame(columns)
        pd.testing.assert_frame_equal(frame.to_pandas(), expected_frame)
        pd.testing.assert_frame_equal(
            frame[["n"]].assign(s=data).to_pandas(), expected_frame[["n"]].assign(s=data)
        )


@pytest.mark.parametrize("position", [0, 5, 27])
@pytest.mark.parametrize("beside", AMONG_STRINGS)
@pytest.mark.parametrize("strings", STRINGS)
def test_strings_beside_what_pandas_takes_for_strings(strings, beside, position):
    values = STRINGS[strings][:position] + AMONG_STRINGS[beside] + STRINGS[strings][position:]
    assert pd.Series(values).dtype == "str"
    assert_as_pandas(values)
    assert JaxSeries(values).dtype == "str"


@pytest.mark.parametrize("position", [0, 5, 27])
@pytest.mark.parametrize("beside", AMONG_OBJECTS)
def test_strings_beside_other_objects(beside, position):
    values = [*STRINGS["few"][:position], AMONG_OBJECTS[beside], *STRINGS["few"][position:]]
    assert pd.Series(array_of(values)).dtype == object
    assert_as_pandas(values)


@pytest.mark.parametrize("values", [[], [None], [np.nan, None], [pd.NA, None]])
def test_no_string_at_all(values):
    assert_as_pandas(values)


@pytest.mark.parametrize("strings", STRINGS)
def test_the_dictionary_is_sorted_by_code_point(strings):
    values = [*STRINGS[strings], "\uffff", "\U0001f600", "\u00e9", "Z", ""]
    distinct = sorted(set(values))
    series = JaxSeries(array_of(values))
    assert list(series._only.dictionary.values) == distinct
    codes = np.asarray(series._only.data)[: len(values)]
    np.testing.assert_array_equal(codes, [distinct.index(value) for value in values])


@pytest.mark.parametrize("beside", [[], [None], [repr("\ud800")]])
def test_a_surrogate_that_stands_alone_is_an_error_as_in_pandas(beside):
    values = array_of([*STRINGS["few"], *beside, "\ud800"])
    for make in (pd.Series, JaxSeries):
        with pytest.raises(UnicodeEncodeError, match="surrogates not allowed"):
            make(values)


def test_missing_strings_past_the_first_rows():
    values = [None] * 5000 + STRINGS["few"]
    assert_as_pandas(values)
    assert_as_pandas([*STRINGS["few"] * 300, None, "later"])


def test_objects_that_are_asked_for_stay_objects():
    values = array_of(["b", "a", None])
    for data in (values, pd.Series(values, dtype=object)):
        expected = pd.Series(data, dtype=object)
        pd.testing.assert_series_equal(JaxSeries(data, dtype=object).to_pandas(), expected)
    series = pd.Series(values, dtype=object)
    pd.testing.assert_series_equal(JaxSeries(series).to_pandas(), series)


def test_strings_beside_labelled_columns():
    data = {
        ("a", 1): ["b", "a"],
        ("a", 2): pd.Series([1.5, 2.5], index=["x", "y"]),
        ("b", 1): array_of(["c", None]),
        ("b", 2): "same",
    }
    pd.testing.assert_frame_equal(JaxFrame(data).to_pandas(), pd.DataFrame(data))
    labels = ["y", "z"]
    data = {"s": ["b", "a"], "t": array_of(["c", None])}
    expected = pd.DataFrame(data, index=labels)
    pd.testing.assert_frame_equal(JaxFrame(data, index=labels).to_pandas(), expected)
    expected = pd.DataFrame(data, columns=["t", "u"])["t"].to_frame()
    pd.testing.assert_frame_equal(JaxFrame(data, columns=["t"]).to_pandas(), expected)
    series = JaxSeries(data["t"], index=labels, name="t")
    pd.testing.assert_series_equal(series.to_pandas(), pd.Series(data["t"], labels, name="t"))


def test_lengths_that_differ_are_told_as_by_pandas():
    for make in (
        lambda frame, series: series(["b", "a"], index=[1, 2, 3]),
        lambda frame, series: frame({"s": ["b", "a"], "t": array_of(["c"])}),
        lambda frame, series: frame({"s": ["b", "a"]}, index=[1, 2, 3]),
    ):
        with pytest.raises(ValueError, match="length") as expected:
            make(pd.DataFrame, pd.Series)
        with pytest.raises(ValueError, match=re.escape(str(expected.value))):
            make(JaxFrame, JaxSeries)


def test_assigned_arrays_are_strings_or_times_as_in_pandas():
    frame = pd.DataFrame({"n": np.arange(2, dtype=np.int32)})
    for values in (
        np.array(["b", "a"]),
        array_of(["b", None]),
        array_of([pd.Timestamp(1), pd.NaT]),
        array_of([b"b", 1]),
    ):
        expected = frame.assign(s=values)
        pd.testing.assert_frame_equal(JaxFrame(frame).assign(s=values).to_pandas(), expected)
