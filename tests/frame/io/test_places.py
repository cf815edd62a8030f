# SPDX-License-Identifier: Apache-2.0
"""Parquet files that are not on this machine's file system."""

import gzip
import io

import pandas as pd
import pytest
from frame_parity import assert_same
from jaxframes.frame import JaxFrame, col, read_csv, read_parquet, scan_csv, scan_parquet
from pyarrow import fs

FRAME = pd.DataFrame({"k": ["a", "b", "a"], "x": [1, 2, 3]})


@pytest.fixture
def store(tmp_path):
    return fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())


def test_parquet_of_a_file_system(store, tmp_path):
    JaxFrame(FRAME).to_parquet("f.parquet", filesystem=store)
    assert [one.name for one in tmp_path.iterdir()] == ["f.parquet"]
    assert_same(read_parquet("f.parquet", filesystem=store), FRAME)
    assert_same(read_parquet((tmp_path / "f.parquet").as_uri()), FRAME)
    found = read_parquet("f.parquet", columns=["x"], filters=[("x", ">", 1)], filesystem=store)
    assert found.x.tolist() == [2, 3]
    plan = scan_parquet("f.parquet", filesystem=store)
    assert plan.filter(col("x") > 1).x.sum().collect().item() == 5
    assert_same(plan.collect(batch_rows=1), FRAME)
    with pytest.raises(FileNotFoundError, match=r"read_parquet: no such file: 'g.parquet'"):
        read_parquet("g.parquet", filesystem=store)
    with pytest.raises(FileNotFoundError, match=r"scan_parquet: no file matches 'g\*'"):
        scan_parquet("g*", filesystem=store)


def test_patterns_lists_and_partitions(store):
    JaxFrame(FRAME[:2]).to_parquet("part-0.parquet", filesystem=store)
    JaxFrame(FRAME[2:]).to_parquet("part-1.parquet", filesystem=store)
    for source in ("part-*.parquet", ["part-0.parquet", "part-1.parquet"]):
        assert read_parquet(source, filesystem=store).x.tolist() == [1, 2, 3]
    JaxFrame(FRAME).to_parquet("by_k", partition_cols=["k"], filesystem=store)
    for found in (
        read_parquet("by_k", filesystem=store),
        scan_parquet("by_k", filesystem=store).collect(),
    ):
        assert sorted(zip(found.k.tolist(), found.x.tolist(), strict=True)) == [
            ("a", 1), ("a", 3), ("b", 2)
        ]  # fmt: skip


def test_file_objects_and_urls_of_fsspec():
    with io.BytesIO() as file:
        FRAME.to_parquet(file)
        file.seek(0)
        assert_same(read_parquet(file, columns=["x"]), FRAME[["x"]])
    with pytest.raises(OSError, match="the buffer"):
        read_parquet(io.BytesIO(b"no file"))
    memory = pytest.importorskip("fsspec").filesystem("memory")
    JaxFrame(FRAME).to_parquet("memory://data/f.parquet")
    assert_same(read_parquet("memory://data/*.parquet"), FRAME)
    assert_same(scan_parquet("memory://data/f.parquet").collect(), FRAME)
    memory.pipe("/data/f.csv.gz", gzip.compress(FRAME.to_csv(index=False).encode()))
    assert_same(scan_csv("memory://data/f.csv.gz").collect(batch_rows=2), FRAME)


@pytest.mark.parametrize("end", ["csv", "csv.gz", "csv.bz2", "csv.xz", "csv.zip"])
def test_scans_of_compressed_and_far_csv(end, tmp_path):
    path = tmp_path / f"f.{end}"
    FRAME.to_csv(path, index=False)
    far = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    for plan in (
        scan_csv(path),
        scan_csv(path.as_uri()),
        scan_csv(f"f.{end}", filesystem=far),
    ):
        assert_same(plan.collect(), FRAME)
        assert_same(plan.collect(batch_rows=2), FRAME)


def test_options_of_scans_of_csv(tmp_path):
    (tmp_path / "f.csv").write_text("a;b\n1,5;'x;y'\n-;NA\n")
    options = {"sep": ";", "decimal": ",", "quotechar": "'", "na_values": ["-"]}
    expected = pd.read_csv(tmp_path / "f.csv", **options)
    plan = scan_csv(tmp_path / "f.csv", **options)
    for found in (
        plan.collect(),
        plan.collect(batch_rows=1),
        read_csv(tmp_path / "f.csv", **options),
    ):
        assert_same(found, expected)
    with pytest.raises(
        NotImplementedError, match=r"scan_csv: nrows=2 is not supported. Use read_csv"
    ):
        scan_csv(tmp_path / "f.csv", nrows=2)
    with pytest.raises(TypeError, match="unexpected keyword argument 'bogus'"):
        scan_csv(tmp_path / "f.csv", bogus=2)
