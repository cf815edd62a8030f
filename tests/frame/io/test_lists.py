# SPDX-License-Identifier: Apache-2.0
"""Lists of Arrow and Parquet, in and out, against Arrow and pandas."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frame_parity import assert_same
from jaxframes.frame import JaxFrame, JaxSeries, from_arrow, read_parquet
from jaxframes.frame.table._lists import ListColumn

DAY = datetime.date(2020, 1, 1)
VALUES = {
    "integers": (pa.int64(), [[1, 2], None, [], [3]]),
    "missing integers": (pa.int32(), [[1, None], None, [], [3]]),
    "floats": (pa.float64(), [[1.5, 2.0], [], None, [-0.0]]),
    "bools": (pa.bool_(), [[True, False], [None], []]),
    "strings": (pa.string(), [["b", "a"], None, [None, ""], []]),
    "times": (pa.timestamp("us"), [[pd.Timestamp("2020"), None], []]),
    "dates": (pa.date32(), [[DAY], [], None]),
    "decimals": (pa.decimal128(10, 2), [[decimal.Decimal("1.25")], None]),
    "categories": (pa.dictionary(pa.int32(), pa.string()), [["b"], ["a", "b"], []]),
    "structs": (pa.struct([("x", pa.int64())]), [[{"x": 1}, None], []]),
    "lists": (pa.list_(pa.int64()), [[[1], [2, 3]], [], None, [None, [4]]]),
}


def normal(value):
    """Lists of Python, and None for missing values, of what pandas shows."""
    if isinstance(value, (list, np.ndarray)):
        return [normal(one) for one in value]
    return None if value is None or value is pd.NA or value != value else value


@pytest.mark.parametrize("name", VALUES)
def test_arrow_gives_back_what_it_gave(name):
    kind, values = VALUES[name]
    table = pa.table({"a": pa.array(values, pa.list_(kind)), "i": range(len(values))})
    frame = from_arrow(table)
    assert isinstance(frame._table.columns[0], ListColumn)
    assert frame.to_arrow()["a"].combine_chunks().equals(table["a"].combine_chunks())
    backwards = frame.sort_values("i", ascending=False).to_arrow()["a"]
    assert backwards.to_pylist() == table["a"].to_pylist()[::-1]
    expected = table.to_pandas()["a"]
    assert frame["a"].dtype == expected.dtype
    assert normal(frame["a"].to_pandas().tolist()) == normal(expected.tolist())


@pytest.mark.parametrize(
    "kind",
    [pa.large_list(pa.int64()), pa.list_(pa.int64(), 2), pa.list_view(pa.int64())],
    ids=["large", "fixed size", "view"],
)
def test_other_lists_of_arrow(kind):
    values = [[1, 2], None, [3, 4]]
    array = pa.array(values, kind)
    assert from_arrow(pa.table({"a": array})).to_arrow()["a"].to_pylist() == values
    assert from_arrow(pa.table({"a": array[1:]})).to_arrow()["a"].to_pylist() == values[1:]
    chunks = pa.chunked_array([array, array[:0], array[:1]])
    assert from_arrow(pa.table({"a": chunks})).to_arrow()["a"].to_pylist() == [*values, [1, 2]]


def test_dtypes_of_lists_go_through_parquet(tmp_path):
    for kind, values in (VALUES["integers"], VALUES["strings"], VALUES["lists"]):
        dtype = pd.ArrowDtype(pa.list_(kind))
        series = JaxSeries(pd.Series(values, dtype=dtype, name="a"))
        assert series.dtype == dtype
        assert_same(series, pd.Series(values, dtype=dtype, name="a"))
        series.to_frame().to_parquet(tmp_path / "lists.parquet")
        read = read_parquet(tmp_path / "lists.parquet")
        assert str(read["a"].dtype).endswith("[pyarrow]")
        assert read.to_arrow()["a"].to_pylist() == values


def test_parquet_of_pandas_and_of_arrow(tmp_path):
    frame = pd.DataFrame({"a": [[1, 2], None, []], "b": [["x"], [], ["y", "z"]]})
    frame.to_parquet(tmp_path / "pandas.parquet")
    read, expected = (
        module(tmp_path / "pandas.parquet") for module in (read_parquet, pd.read_parquet)
    )
    assert normal(read["a"].tolist()) == normal(expected["a"].tolist())
    assert read["b"].explode().dropna().tolist() == ["x", "y", "z"]
    JaxFrame(frame).to_parquet(tmp_path / "ours.parquet")
    assert pq.read_table(tmp_path / "ours.parquet")["b"].to_pylist() == frame["b"].tolist()


def test_casts_to_lists():
    objects = JaxSeries(pd.Series([[1, 2], None, [3]], dtype=object))
    dtype = pd.ArrowDtype(pa.list_(pa.float32()))
    lists = objects.astype(dtype)
    assert lists.dtype == dtype
    assert lists.list.flatten().tolist() == [1.0, 2.0, 3.0]
    assert lists.astype(pd.ArrowDtype(pa.list_(pa.int8()))).list[0:1].tolist()[0] == [1]
    assert lists.astype(object).dtype == object
    with pytest.raises(TypeError, match="Cannot cast int64 to list"):
        JaxSeries([1]).astype(dtype)


def test_text_of_lists_in_csv():
    words = JaxSeries(["a b", None, "c"], name="w").str.split().to_frame()
    assert words.to_csv(index=False).splitlines() == ["w", "\"['a', 'b']\"", '""', "['c']"]
