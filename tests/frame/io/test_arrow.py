# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frame_examples import mixed_frame
from jaxframes.frame import JaxFrame, JaxSeries, from_arrow, from_jax, from_pandas


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
    assert frame.to_arrow()["i"].to_pylist() == [1, None, 2**60 + 1]


def test_a_table_without_metadata_of_pandas():
    table = pa.table({"x": [1.5, None], "s": ["b", None]})
    pd.testing.assert_frame_equal(from_arrow(table).to_pandas(), table.to_pandas())


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
