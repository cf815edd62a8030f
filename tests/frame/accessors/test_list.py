# SPDX-License-Identifier: Apache-2.0
"""Columns of lists: `.list`, `.str` of lists, and strings that become lists, against pandas."""

import jax
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frame_parity import EVERYWHERE, assert_parity, on_device
from jaxframes.frame import JaxSeries
from jaxframes.primitives import CapacityError

INTEGERS = [[1, 2, 3], None, [], [4], [5, 6], [7, 8, 9, 10]]
WORDS = [["a", "b"], [], ["c", "a", "d"], None, ["b"], ["a"]]
NESTED = [[[1], [2, 3]], [], None, [[]], [[4, 5, 6]], [[7], [8]]]


def lists(values=INTEGERS, kind=pa.int64()):  # noqa: B008
    return pd.Series(values, index=[3, 1, 4, 1, 5, 9], dtype=pd.ArrowDtype(pa.list_(kind)))


def texts():
    return pd.Series(["a b", None, "", "c d e", "a b", " x"], index=[3, 1, 4, 1, 5, 9], name="s")


def with_dtype_of(expected):
    """pandas' objects of strings as strings, the dtype that elements of lists of strings have."""
    return expected.astype("str") if expected.dtype == object else expected


@pytest.mark.parametrize("values", [INTEGERS, WORDS, NESTED], ids=["integers", "words", "nested"])
def test_lengths_slices_and_values(values):
    kind = {1: pa.int64(), "a": pa.string()}.get(values[0][0] if values is not NESTED else 0)
    series = lists(values, kind or pa.list_(pa.int64()))
    assert_parity(lambda s: (s, s.list.len(), s.list[1:], s.list[:1]), series, ways=EVERYWHERE)
    assert_parity(lambda s: (s.list[::2], s.list[1:3:2], s.list[3:3]), series, ways=EVERYWHERE)
    assert_parity(lambda s: (s.list.flatten(), s.explode()), series, ways=["eager", "mesh"])
    assert_parity(lambda s: s.iloc[[3, 4, 5]].list[0], series, ways=["eager", "mesh"])


def test_slices_are_those_of_python():
    values = [value or [] for value in INTEGERS]
    series = on_device(pd.Series(values, dtype=pd.ArrowDtype(pa.list_(pa.int64()))))
    bounds = [None, -5, -2, -1, 0, 1, 3, 9]
    for start in bounds:
        for stop in bounds:
            for step in (None, 2, -1, -3):
                rows = slice(start, stop, step)
                got = [list(one) for one in series.str[rows].to_pandas()]
                assert got == [value[rows] for value in values], rows


def test_elements_by_position():
    for values in (INTEGERS, WORDS):
        plain = pd.Series(values)
        series = JaxSeries(lists(values, pa.int64() if values is INTEGERS else pa.string()))
        for position in (0, 1, -1, -2, 5):
            expected = plain.str[position]
            got = series.str[position].to_pandas()
            assert got.isna().tolist() == expected.isna().tolist()
            assert got.dropna().tolist() == expected.dropna().tolist()
        assert series.str.len().tolist()[0] == len(values[0])


def test_a_position_outside_a_list_is_an_error():
    series = JaxSeries(lists())
    with pytest.raises(IndexError, match=r"Index 0 is out of bounds: should be in \[0, 0\)"):
        series.list[0]
    with pytest.raises(ValueError, match="key must be an int or slice, got str"):
        series.list["a"]
    assert series.iloc[[0, 4]].list[-1].tolist() == [3, 6]


def test_strings_become_lists():
    assert_parity(
        lambda s: (s.str.split(), s.str.split(" ", n=1), s.str.rsplit(n=1), s.str.findall("[a-z]")),
        texts(),
        ways=EVERYWHERE,
    )
    assert_parity(lambda s: s.str.findall("([a-z]) ([a-z])"), texts())
    assert_parity(lambda s: (s.str.partition(" ", expand=False), s.str.join("-")), texts())


def test_lists_of_strings():
    def of_lists(s):
        words = s.str.split()
        return words.str.len(), words.str[1:], words.str[::-1], words.isna(), words.shift(1).isna()

    assert_parity(of_lists, texts(), ways=EVERYWHERE)
    split = on_device(texts()).str.split()
    for got, expected in (
        (split.str[0], texts().str.split().str[0]),
        (split.str[-2], texts().str.split().str[-2]),
        (split.str.join("+"), texts().str.split().str.join("+")),
    ):
        pd.testing.assert_series_equal(got.to_pandas(), with_dtype_of(expected))
    assert_parity(lambda s: s.str.split().explode(), texts(), ways=["eager", "mesh"])
    with pytest.raises(NotImplementedError, match="str: upper of lists is not supported"):
        split.str.upper()
    with pytest.raises(
        NotImplementedError, match=r"str\.join: the lists must hold strings, got int64"
    ):
        JaxSeries(lists()).str.join("-")


def test_matches_of_a_pattern():
    pattern = "([a-z]) ?(?P<next>[a-z])?"
    assert_parity(lambda s: s.str.extractall(pattern), texts(), ways=["eager", "mesh"])
    words = texts().reset_index(drop=True)
    assert_parity(lambda s: s.str.extractall("([q-z])"), words, ways=["eager"])
    assert on_device(texts()).str.extractall("(nothing)").shape == (0, 1)


def test_capacities_inside_jit():
    series = JaxSeries(lists())
    flat = jax.jit(lambda s: s.list.flatten(capacity=16))(series)
    pd.testing.assert_series_equal(flat.to_pandas(), lists().list.flatten())
    with pytest.raises(ValueError, match="flatten: inside jit capacity must be the maximum number"):
        jax.jit(lambda s: s.list.flatten())(series)
    with pytest.raises(CapacityError, match="10 rows do not fit a capacity of 4"):
        jax.jit(lambda s: s.list.flatten(capacity=4))(series).to_pandas()


def test_lists_of_python_objects():
    series = JaxSeries(pd.Series([[1, 2], None, [3]], dtype=object))
    assert series.list.len().dropna().tolist() == [2, 1]
    assert series.list.flatten().tolist() == [1, 2, 3]
    for other in (pd.Series(["a"]), pd.Series([1]), pd.Series([{"a": 1}, [2]], dtype=object)):
        with pytest.raises(AttributeError, match=r"Can only use the '\.list' accessor with lists"):
            JaxSeries(other).list  # noqa: B018
    np.testing.assert_array_equal(series.str.len().to_numpy(), [2, np.nan, 1])


@pytest.mark.parametrize("dtype", ["str", "string"])
def test_lengths_of_split_strings(dtype):
    words = pd.Series(["a b", None, "c"], dtype=dtype)
    # pandas has objects for NA among integers. Inside jit they are floats.
    ways = ("eager", "jit") if dtype == "str" else ("eager",)
    assert_parity(
        lambda s: (s.str.split().str.len(), s[2:].str.split().str.len()), words, ways=ways
    )
