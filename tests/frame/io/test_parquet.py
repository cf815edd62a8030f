# SPDX-License-Identifier: Apache-2.0
import pandas as pd
import pyarrow.parquet as pq
import pytest
from frame_examples import mixed_frame
from jaxframes.frame import JaxFrame, read_parquet
from jaxframes.shardings import make_mesh, row_sharded


@pytest.mark.parametrize("num_devices", [None, 3])
def test_what_is_written_is_read(tmp_path, num_devices):
    sharding = None if num_devices is None else row_sharded(make_mesh(num_devices))
    frame = mixed_frame().set_index("s")
    JaxFrame(frame, sharding=sharding).to_parquet(tmp_path / "f.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "f.parquet"), frame)
    read = read_parquet(tmp_path / "f.parquet", sharding=sharding)
    pd.testing.assert_frame_equal(read.to_pandas(), frame)
    assert read.sharding == sharding


def test_only_the_columns_that_are_asked_for(tmp_path):
    frame = mixed_frame().set_index("s")
    frame.to_parquet(tmp_path / "f.parquet")
    read = read_parquet(tmp_path / "f.parquet", columns=["x", "k"])
    pd.testing.assert_frame_equal(read.to_pandas(), frame[["x", "k"]])
    with pytest.raises(KeyError, match="no column 'bogus'"):
        read_parquet(tmp_path / "f.parquet", columns=["bogus"])


def test_filters_leave_rows_out(tmp_path):
    frame = mixed_frame()
    frame.to_parquet(tmp_path / "f.parquet", row_group_size=5)
    filters = [("k", ">", 2)]
    expected = pq.read_table(tmp_path / "f.parquet", filters=filters).to_pandas()
    read = read_parquet(tmp_path / "f.parquet", filters=filters)
    pd.testing.assert_frame_equal(read.to_pandas().reset_index(drop=True), expected)


def test_folders_of_a_column_and_patterns(tmp_path):
    frame = mixed_frame()[["k", "x", "s"]]
    JaxFrame(frame).to_parquet(tmp_path / "by_k", partition_cols=["k"], index=False)
    read = read_parquet(tmp_path / "by_k").to_pandas()
    expected = frame.sort_values("k", kind="stable")
    assert read["x"].to_numpy().tobytes() == expected["x"].to_numpy().tobytes()
    assert read["k"].tolist() == expected["k"].tolist()
    frame[:20].to_parquet(tmp_path / "a.parquet")
    frame[20:].to_parquet(tmp_path / "b.parquet")
    both = read_parquet(str(tmp_path / "*.parquet"))
    assert both["s"].to_pandas().equals(frame["s"])


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        read_parquet(tmp_path / "none.parquet")
    with pytest.raises(FileNotFoundError, match="no file matches"):
        read_parquet(str(tmp_path / "*.parquet"))


def test_no_rows_of_a_category_of_strings(tmp_path):
    frame = pd.DataFrame({"c": pd.Categorical([], categories=["u", "v"])})
    frame.to_parquet(tmp_path / "f.parquet")
    read = read_parquet(tmp_path / "f.parquet").to_pandas()
    assert read.c.cat.categories.dtype == frame.c.cat.categories.dtype
