# SPDX-License-Identifier: Apache-2.0
import pickle
from datetime import date, time
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frame_examples import mixed_frame
from jaxframes.frame import JaxFrame, JaxSeries, concat, from_arrow, from_jax, from_pandas
from jaxframes.shardings import make_mesh, row_sharded


def test_a_table_of_arrow_comes_back_as_the_same_frame():
    frame = mixed_frame()
    table = JaxFrame(frame).to_arrow()
    pd.testing.assert_frame_equal(table.to_pandas(), frame)
    pd.testing.assert_frame_equal(from_arrow(table).to_pandas(), frame)
    assert pa.types.is_dictionary(table.schema.field("c").type)


@pytest.mark.parametrize("keys", [["s"], ["k", "t"], ["c"]])
def test_the_index_travels_in_the_metadata(keys):
    frame = mixed_frame().set_index(keys)
    table = JaxFrame(frame).to_arrow()
    pd.testing.assert_frame_equal(table.to_pandas(), frame)
    pd.testing.assert_frame_equal(from_arrow(table).to_pandas(), frame)


def test_a_range_that_does_not_begin_at_zero_travels_too():
    frame = mixed_frame()[5:20]
    pd.testing.assert_frame_equal(JaxFrame(frame).to_arrow().to_pandas(), frame)
    assert JaxFrame(JaxFrame(frame).to_arrow()).index.equals(frame.index)


def test_integers_and_bools_with_nulls_have_holes():
    table = pa.table({"i": pa.array([1, None, 2**60 + 1]), "b": pa.array([True, None, False])})
    frame = from_arrow(table)
    expected = table.to_pandas().fillna({"b": np.nan})
    pd.testing.assert_frame_equal(frame.to_pandas(), expected)
    # As in pandas, integers with nulls are floats.
    assert frame.to_arrow()["i"].to_pylist() == [1.0, None, float(2**60)]
    assert frame.to_arrow()["b"].to_pylist() == [True, None, False]


FIXED_WIDTH = {
    "int8": pa.int8(),
    "uint64": pa.uint64(),
    "float16": pa.float16(),
    "float32": pa.float32(),
    "float64": pa.float64(),
    "bool": pa.bool_(),
    **{f"datetime64[{unit}]": pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")},
    **{f"timedelta64[{unit}]": pa.duration(unit) for unit in ("s", "ns")},
}


@pytest.mark.parametrize("num_devices", [None, 4])
@pytest.mark.parametrize("has_nulls", [False, True])
@pytest.mark.parametrize("name", FIXED_WIDTH)
def test_chunks_of_numbers_and_times(name, has_nulls, num_devices):
    sharding = None if num_devices is None else row_sharded(make_mesh(num_devices))
    # Past a multiple of eight rows, the bits of bools and nulls begin inside a byte.
    values = [None if has_nulls and row % 5 == 2 else row % 3 for row in range(70)]
    array = pa.array(values, pa.int64())
    if name == "float16":
        array = pa.array([None if v is None else np.float16(v) for v in values], pa.float16())
    array = array.cast(FIXED_WIDTH[name])
    pieces = [array[:3], array[3:3], array[3:41], array[41:]]
    for chunks in (pieces, pieces[-1:], [array[:0]], []):
        table = pa.table({"v": pa.chunked_array(chunks, array.type)})
        series = JaxFrame(table, sharding=sharding)["v"]
        expected = table.to_pandas()["v"]
        if name == "bool" and has_nulls:
            expected = expected.where(expected.notna(), np.nan)
        pd.testing.assert_series_equal(series.to_pandas(), expected, check_dtype=len(chunks) > 0)
        assert series.dtype == name or has_nulls
        assert series.isna().sum() == table["v"].null_count


@pytest.mark.parametrize("zone", ["UTC", "+02:00", "America/New_York"])
def test_a_time_zone_stays(zone):
    table = pa.table({"t": pa.array([0, None], pa.timestamp("s", zone))})
    ours = JaxFrame(table)
    assert ours.to_arrow().equals(table)
    assert ours["t"].isna().tolist() == [False, True]


def test_a_table_without_metadata_of_pandas():
    table = pa.table({"x": [1.5, None], "s": ["b", None]})
    # Before 19 pyarrow itself reads strings without metadata as objects.
    expected = pd.DataFrame({"x": [1.5, None], "s": ["b", None]})
    pd.testing.assert_frame_equal(from_arrow(table).to_pandas(), expected)


@pytest.mark.parametrize("num_rows", [0, 1])
def test_few_rows(num_rows):
    frame = mixed_frame()[:num_rows]
    pd.testing.assert_frame_equal(from_arrow(JaxFrame(frame).to_arrow()).to_pandas(), frame)


def test_a_series_is_an_array():
    series = mixed_frame()["s"]
    assert JaxSeries(series).to_arrow().to_pylist() == [
        None if pd.isna(value) else value for value in series
    ]


def test_objects_that_arrow_has_no_type_for_are_named():
    frame = JaxFrame({"o": pd.Series([1, "a", {}], dtype=object)})
    with pytest.raises(TypeError, match="to_arrow: column 'o' must have objects of one type"):
        frame.to_arrow()


def test_constructors_by_the_name_of_the_library():
    frame = mixed_frame()
    pd.testing.assert_frame_equal(from_pandas(frame).to_pandas(), frame)
    pd.testing.assert_series_equal(from_pandas(frame["k"]).to_pandas(), frame["k"])
    columns = {"k": JaxFrame(frame)["k"]._only.data[:37]}
    pd.testing.assert_frame_equal(from_jax(columns).to_pandas(), frame[["k"]])
    with pytest.raises(
        TypeError, match="from_pandas: data must be a frame or a series of pandas, got list"
    ):
        from_pandas([1])
    with pytest.raises(TypeError, match="from_arrow: data must have __arrow_c_stream__"):
        from_arrow([1])


def test_a_name_of_the_columns_stays_with_its_frame():
    table = pa.table({"a": [1.0, 2.0]})
    JaxFrame(table).columns.name = "first"
    JaxFrame(table).to_pandas().columns.name = "second"
    assert JaxFrame(table).columns.name is None
    assert JaxFrame(table).to_pandas().columns.name is None


TYPED = [
    pa.array([Decimal("1.25"), None, Decimal("-3.5")], pa.decimal128(10, 2)),
    pa.array([Decimal("1.25"), None, Decimal(10) ** 37], pa.decimal256(40, 2)),
    pa.array([time(1, 2, 3), None, time(0)], pa.time32("s")),
    pa.array([time(1, 2, 3), None, time(0)], pa.time32("ms")),
    pa.array([time(1, 2, 3), None, time(0)], pa.time64("ns")),
    pa.array([date(2020, 1, 2), None, date(1969, 1, 1)], pa.date64()),
    pa.array([b"ab", None, b"cd"], pa.binary(2)),
    pa.array([b"ab", None, b"c"], pa.large_binary()),
]


@pytest.mark.parametrize("values", TYPED, ids=lambda values: str(values.type))
def test_objects_keep_the_type_of_arrow(values, tmp_path):
    table = pa.table({"k": [2, 1, 3], "c": values})
    frame = from_arrow(table)
    pd.testing.assert_frame_equal(frame.to_pandas(), table.to_pandas())
    assert frame.to_arrow()["c"].equals(table["c"])
    assert frame.sort_values("k").to_arrow()["c"].equals(table.sort_by("k")["c"])
    assert frame[frame.k > 9].to_arrow()["c"].type == values.type
    assert concat([frame, frame]).to_arrow()["c"].equals(pa.concat_tables([table, table])["c"])
    restored = pickle.loads(pickle.dumps(frame.c._only.type.dictionary))
    assert restored.arrow_type == values.type
    # Other objects beside them have the type of all.
    assert frame.c.fillna("none").to_pandas().tolist()[1] == "none"
