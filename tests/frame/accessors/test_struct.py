# SPDX-License-Identifier: Apache-2.0
"""`.struct`, and structs and maps of Arrow that frames carry, against pandas and Arrow."""

import jax
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frame_parity import assert_same
from jaxframes.frame import JaxSeries, concat, from_arrow, read_parquet

INNER = pa.struct([("c", pa.string())])
STRUCTS = pa.array(
    [{"a": 1, "b": {"c": "x"}}, None, {"a": None, "b": None}, {"a": 4, "b": {"c": None}}],
    pa.struct([("a", pa.int32()), ("b", INNER)]),
)
MAPS = pa.array([[("k", 1)], None, [], [("l", 2), ("m", None)]], pa.map_(pa.string(), pa.int64()))
TABLE = pa.table({"s": STRUCTS, "m": MAPS, "k": [3, 1, 2, 0]})


def test_arrow_and_parquet_give_back_what_they_gave(tmp_path):
    frame = from_arrow(TABLE)
    for name in ("s", "m"):
        assert frame.to_arrow()[name].equals(TABLE[name])
        assert frame[name].dtype == object
    frame.to_parquet(tmp_path / "records.parquet")
    assert read_parquet(tmp_path / "records.parquet").to_arrow()["s"].equals(TABLE["s"])
    order = [3, 1, 2, 0]
    sorted_rows = frame.sort_values("k").to_arrow()
    assert sorted_rows["s"].to_pylist() == STRUCTS.take(order).to_pylist()
    assert sorted_rows["m"].to_pylist() == MAPS.take(order).to_pylist()
    twice = concat([frame, frame]).to_arrow()["s"]
    assert twice.type == STRUCTS.type
    assert twice.to_pylist() == STRUCTS.to_pylist() * 2


def test_fields_match_pandas():
    theirs = pd.Series(pd.array(STRUCTS, dtype=pd.ArrowDtype(STRUCTS.type)), name="s")
    ours = JaxSeries(theirs)
    assert ours.dtype == theirs.dtype
    assert_same(ours, theirs)
    for of in (
        lambda s: s.struct.field("a"),
        lambda s: s.struct.field(["b", "c"]),
        lambda s: s.struct.field(0),
    ):
        assert_same(of(ours), of(theirs))
    pd.testing.assert_frame_equal(ours.struct.explode().to_pandas(), theirs.struct.explode())
    pd.testing.assert_series_equal(ours.struct.dtypes, theirs.struct.dtypes)


def test_fields_inside_jit_and_of_filtered_rows():
    frame = from_arrow(TABLE)
    fields = jax.jit(lambda f: f[f.k != 1].s.struct.field("a"))(frame)
    assert fields.fillna(0).tolist() == [1, 0, 4]
    assert frame[frame.k > 1].s.struct.field("a").fillna(0).tolist() == [1, 0]


def test_dicts_of_python():
    dicts = JaxSeries(pd.Series([{"q": 1}, None, {"q": 2}], dtype=object))
    assert dicts.struct.field("q").dropna().tolist() == [1, 2]
    with pytest.raises(KeyError, match=r"struct\.field: 'z' is no field"):
        dicts.struct.field("z")
    with pytest.raises(AttributeError, match=r"Can only use the '\.struct' accessor with structs"):
        JaxSeries([1]).struct  # noqa: B018


def test_missing_structs_are_none(tmp_path):
    pq.write_table(TABLE, tmp_path / "records.parquet")
    expected = pd.read_parquet(tmp_path / "records.parquet")
    ours = read_parquet(tmp_path / "records.parquet")
    for name in ("s", "m"):
        assert_same(ours[name], expected[name])
    assert_same(
        ours.s.map(lambda one: one["a"] if one else None),
        expected.s.map(lambda one: one["a"] if one else None),
    )
