# SPDX-License-Identifier: Apache-2.0
"""Every writer takes URLs and file systems, and the reader of its format gives the rows back."""

import os

import fsspec
import pandas as pd
import pytest
from frame_parity import assert_same
from jaxframes.frame import JaxFrame, read_csv, read_feather, read_json, read_orc, read_parquet
from pyarrow import fs

FRAME = pd.DataFrame({"k": ["a", "b", "a"], "x": [1, 2, 3]})
OURS = JaxFrame(FRAME)
# The end of the name, the writer, the reader.
SINKS = {
    "parquet": (OURS.to_parquet, read_parquet),
    "csv": (lambda *p, **o: OURS.to_csv(*p, index=False, **o), read_csv),
    "csv.gz": (lambda *p, **o: OURS.to_csv(*p, index=False, **o), read_csv),
    "json": (OURS.to_json, read_json),
    "json.xz": (OURS.to_json, read_json),
    "feather": (OURS.to_feather, read_feather),
    "orc": (OURS.to_orc, read_orc),
    "plan.parquet": (OURS.lazy().to_parquet, read_parquet),
    "batches.parquet": (
        lambda *p, **o: OURS.lazy().to_parquet(*p, batch_rows=2, **o),
        read_parquet,
    ),
    "plan.csv": (lambda *p, **o: OURS.lazy().to_csv(*p, index=False, **o), read_csv),
    "batches.csv": (
        lambda *p, **o: OURS.lazy().to_csv(*p, index=False, batch_rows=2, **o),
        read_csv,
    ),
}


def targets(folder):
    """Paths of each kind of place, with their options."""
    store = fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem())
    return {
        "a URL of fsspec": ("memory://far/{}", {}),
        "a URL of this machine": (folder.as_uri() + "/{}", {}),
        "a file system of Arrow": ("{}", {"filesystem": store}),
        "a file system of fsspec": (f"{folder}/{{}}", {"filesystem": fsspec.filesystem("file")}),
        "options": (folder.as_uri() + "/new/{}", {"storage_options": {"auto_mkdir": True}}),
    }


@pytest.mark.parametrize("sink", SINKS)
def test_what_is_written_anywhere_is_read_from_there(sink, tmp_path, monkeypatch):
    write, read = SINKS[sink]
    # What is taken for a path of this machine would lie here.
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    for path, options in targets(tmp_path).values():
        write(path.format(f"f.{sink}"), **options)
        assert_same(read(path.format(f"f.{sink}"), **options), FRAME)
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("end", ["gz", "bz2", "xz", "zip", "zst", "lz4"])
def test_csv_over_batches_is_compressed_by_its_name(end, tmp_path):
    path = tmp_path / f"f.csv.{end}"
    OURS.lazy().to_csv(path, index=False, batch_rows=2)
    assert_same(read_csv(path), FRAME)
    assert path.read_bytes()[:3] != b"k,x"
    # pandas needs further packages for the others.
    if end in ("gz", "bz2", "xz", "zip"):
        pd.testing.assert_frame_equal(pd.read_csv(path), FRAME)
    OURS.lazy().to_csv(path, index=False, batch_rows=2, compression=None)
    assert path.read_bytes()[:3] == b"k,x"


def test_a_failed_plan_writes_nothing_far(monkeypatch):
    monkeypatch.setattr(JaxFrame, "to_pandas", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        OURS.lazy().to_csv("memory://far/failed.csv", batch_rows=2)
    assert not fsspec.filesystem("memory").exists("/far/failed.csv")


@pytest.mark.parametrize("options", [{"partition_cols": ["k"]}, {"max_rows_per_file": 2}])
def test_folders_with_a_manifest_are_on_this_machine(options, tmp_path):
    message = "to_parquet: the folder of a plan must be on this machine"
    with pytest.raises(NotImplementedError, match=message):
        OURS.lazy().to_parquet("memory://far/folder", **options)
    url = tmp_path.as_uri() + "/folder"
    OURS.lazy().to_parquet(url, **options)
    assert "_manifest.json" in os.listdir(tmp_path / "folder")
    assert read_parquet(url)["x"].sum() == 6


@pytest.mark.parametrize("backend", ["numpy_nullable", "pyarrow"])
@pytest.mark.parametrize(
    ("end", "read", "read_by_pandas"),
    [
        ("feather", read_feather, pd.read_feather),
        ("orc", read_orc, pd.read_orc),
        ("json", read_json, pd.read_json),
    ],
)
def test_readers_take_the_backend_of_dtypes(backend, end, read, read_by_pandas, tmp_path):
    rows = pd.DataFrame({"i": [1, 2], "f": [0.5, None], "s": ["a", None], "b": [True, False]})
    path = str(tmp_path / f"f.{end}")
    getattr(rows, f"to_{end}")(path)
    expected = read_by_pandas(path, dtype_backend=backend)
    assert_same(read(path, dtype_backend=backend), expected)
    with pytest.raises(ValueError, match="dtype_backend other is invalid"):
        read(path, dtype_backend="other")
