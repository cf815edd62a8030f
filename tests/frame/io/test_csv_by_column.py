# SPDX-License-Identifier: Apache-2.0
"""Options of read_csv for single columns and lines: what Arrow has not, by a step around it."""

import io
import warnings

import pandas as pd
import pytest
from frame_parity import assert_same
from jaxframes.frame import read_csv, scan_csv

ORDERED = pd.CategoricalDtype(["y", "x"], ordered=True)
DAYS = pd.CategoricalDtype(pd.to_datetime(["2021-01-01", "2020-01-01"]))
SPANS = pd.CategoricalDtype(pd.to_timedelta(["2h", "1h"]))
WORDS = "a,b\n1,x\n2,\n10,y\n"
MARKS = "a,b,c\n-,x,1\n2,?,2\n3,z,3\n,NA,4\n"
JUNK = "junk\na,b\n1,x\n2,y\n3,z\n"
CASES = [
    (WORDS, {"dtype": {"a": "category", "b": "category"}}),
    (WORDS, {"dtype": "category"}),
    (WORDS, {"dtype": {"a": pd.CategoricalDtype([1, 10, 2]), "b": ORDERED}}),
    ("a,b\n1.5,2020-01-01\n,\n10,2021-01-01\n", {"dtype": {"a": "category", "b": "category"}}),
    ("a,b\nTrue,2020-01-01\nFalse,2021-01-01\n", {"dtype": {"a": "category", "b": DAYS}}),
    ("a,b\nTrue,1h\n,2h\n", {"dtype": {"a": pd.CategoricalDtype([True]), "b": SPANS}}),
    (WORDS, {"dtype": {"b": "category"}, "usecols": ["a", "b"], "index_col": "b"}),
    (WORDS, {"converters": {"b": str.upper, "a": lambda text: int(text) * 2}}),
    (WORDS, {"converters": {1: lambda text: text or None}}),
    (WORDS, {"converters": {"b": lambda text: [text]}}),
    (MARKS, {"converters": {"b": lambda text: text, "a": lambda text: f"{text}!"}}),
    (MARKS, {"na_values": {"a": ["-"], "b": "?"}}),
    (MARKS, {"na_values": {"a": "-"}, "keep_default_na": False}),
    (MARKS, {"na_values": {2: [3], "a": "-"}, "dtype": {"a": "float64"}}),
    (MARKS, {"na_values": {"a": "-", "b": "?"}, "usecols": ["a", "b"], "index_col": "b"}),
    (MARKS, {"na_values": {"a": "-"}, "nrows": 2}),
    ('a b  c\n 1  2 "x  y"\n3\t4 z \n', {"sep": r"\s+"}),
    ("  a b\n\n1 2\n  3   4\n", {"sep": r"\s+"}),
    ("top\nx 1 2\ny 3 4\n", {"sep": r"\s+", "skiprows": 1, "header": None, "index_col": 0}),
    ('a, b\n1, x\n 2,  "y, z"\n', {"skipinitialspace": True}),
    ("a,b\n1,x\n2,y\n\nend,1\n\n", {"skipfooter": 2, "engine": "python"}),
    ("a,b\n1,x\n2,y\nTotal: 2", {"skipfooter": 1, "engine": "python"}),
    (JUNK, {"skiprows": [0, 2]}),
    (JUNK, {"skiprows": range(2)}),
    (JUNK, {"skiprows": lambda number: number % 2 == 0}),
    ('junk\na,b\n1,"x\n"\n2,y\n3,z\n', {"skiprows": [0, 3]}),
]
NUMBERS = "1,2,3\n4,5,6\n"
# Names for fewer columns than the file has.
FEW_NAMES = [
    {"names": ["x", "y"]},
    {"names": ["x"]},
    {"names": [7, 8]},
    {"names": ["x", "y"], "header": 0},
    {"names": ["x", "y"], "index_col": False},
    {"names": ["x", "y"], "index_col": False, "header": 0},
    {"names": ["x", "y"], "index_col": 0},
    {"names": ["x", "y"], "usecols": [2, 0]},
    {"names": ["x", "y"], "usecols": lambda label: label == "y"},
    {"names": ["x", "y"], "dtype": {"y": "float64"}},
]


@pytest.mark.parametrize(("text", "options"), CASES)
def test_options_are_those_of_pandas(text, options):
    expected = pd.read_csv(io.StringIO(text), **options)
    assert_same(read_csv(io.StringIO(text), **options), expected)


@pytest.mark.parametrize("options", FEW_NAMES)
def test_names_of_the_last_columns(options):
    with warnings.catch_warnings():
        # pandas warns of the columns that it leaves out.
        warnings.simplefilter("ignore", pd.errors.ParserWarning)
        expected = pd.read_csv(io.StringIO(NUMBERS), **options)
    assert_same(read_csv(io.StringIO(NUMBERS), **options), expected)


@pytest.mark.parametrize("options", [{"usecols": ["x"]}, {"index_col": "x"}], ids=str)
def test_names_that_do_not_fit(options):
    with pytest.raises(Exception) as expected:  # noqa: PT011
        pd.read_csv(io.StringIO(NUMBERS), names=["x", "y"], **options)
    with pytest.raises(type(expected.value)):
        read_csv(io.StringIO(NUMBERS), names=["x", "y"], **options)


def test_pieces_have_them_too():
    options = {"na_values": {"a": "-"}, "dtype": {"c": "category"}, "chunksize": 3}
    expected = list(pd.read_csv(io.StringIO(MARKS), **options))
    for found, one in zip(read_csv(io.StringIO(MARKS), **options), expected, strict=True):
        assert_same(found, one)


@pytest.mark.parametrize("options", [{}, {"dtype": {"n": "str"}}, {"names": ["n"]}], ids=str)
def test_texts_in_another_encoding_raise(options, tmp_path):
    content = "n\ncaf\xe9\n".encode("latin-1")
    (tmp_path / "f.csv").write_bytes(content)
    for source in (tmp_path / "f.csv", io.BytesIO(content)):
        with pytest.raises(UnicodeDecodeError, match="'utf-8' codec can't decode byte 0xe9"):
            read_csv(source, **options)


def test_scans_name_the_reader(tmp_path):
    (tmp_path / "f.csv").write_text(MARKS)
    with pytest.raises(NotImplementedError, match=r"got a dict. Use read_csv\(\)"):
        scan_csv(tmp_path / "f.csv", na_values={"a": "-"})
    with pytest.raises(NotImplementedError, match=r"skipfooter=1 is not supp.* Use read_csv"):
        scan_csv(tmp_path / "f.csv", skipfooter=1)


@pytest.mark.parametrize("na_values", [1, 1.0, "1", [1.0], {"a": [1.0]}, {"a": 1}, {"b": ["1"]}])
def test_a_missing_number_is_one_in_each_of_its_texts(na_values):
    text = "a,b\n1,x\n2,1\n1.0,2\n3.5,y\n"
    expected = pd.read_csv(io.StringIO(text), na_values=na_values)
    assert_same(read_csv(io.StringIO(text), na_values=na_values), expected)
