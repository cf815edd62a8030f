# SPDX-License-Identifier: Apache-2.0
"""Folders of several Parquet files, which change when their manifest does."""

import json
import os

import numpy as np
import pandas as pd
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from frame_parity import assert_same
from jaxframes.frame import JaxFrame, from_pandas, read_parquet, scan_parquet
from jaxframes.frame.stream import _parts

FRAME = pd.DataFrame(
    {
        "k": np.arange(200) % 3 - 1,
        "s": np.array(["a/b c", "", "ü=%"])[np.arange(200) * 7 % 3],
        "b": np.arange(200) % 5 == 0,
        "x": np.arange(200) / 4,
        "n": np.arange(200),
    }
)


@pytest.fixture
def plan(tmp_path):
    path = tmp_path / "rows.parquet"
    FRAME.to_parquet(path, row_group_size=50)
    return scan_parquet(path)


def files_of(folder):
    return sorted(
        os.path.relpath(os.path.join(path, name), folder)
        for path, _, names in os.walk(folder)
        for name in names
    )


def in_order(frame):
    return frame.to_pandas().sort_values("n").reset_index(drop=True)[list(FRAME)]


@pytest.mark.parametrize("limits", [{}, {"batch_rows": 60}], ids=["at once", "in batches"])
def test_rows_are_cut_into_files(plan, tmp_path, limits):
    folder = tmp_path / "out"
    plan.to_parquet(folder, max_rows_per_file=64, **limits)
    assert files_of(folder) == [
        "_manifest.json", *(f"part-0001-{number:05}.parquet" for number in range(4))
    ]  # fmt: skip
    sizes = [pq.ParquetFile(folder / name).metadata.num_rows for name in files_of(folder)[1:]]
    assert sizes == [64, 64, 64, 8]
    assert_same(scan_parquet(folder).collect(), FRAME)
    assert_same(scan_parquet(folder).collect(batch_rows=70), FRAME)
    assert_same(read_parquet(folder), FRAME)
    assert_same(scan_parquet(folder)[["n"]].tail(3).collect(), FRAME[["n"]].tail(3))
    # Other libraries read the folder too.
    pd.testing.assert_frame_equal(pd.read_parquet(folder), FRAME)


@pytest.mark.parametrize("limits", [{}, {"batch_rows": 60}], ids=["at once", "in batches"])
def test_rows_are_partitioned(plan, tmp_path, limits):
    folder = tmp_path / "out"
    plan.to_parquet(folder, partition_cols=["k", "s", "b"], **limits)
    # Types come back, which names of folders do not tell.
    expected = FRAME.sort_values("n").reset_index(drop=True)
    pd.testing.assert_frame_equal(in_order(scan_parquet(folder).collect()), expected)
    pd.testing.assert_frame_equal(in_order(scan_parquet(folder).collect(batch_rows=45)), expected)
    pd.testing.assert_frame_equal(in_order(read_parquet(folder)), expected)
    chosen = scan_parquet(folder)
    chosen = chosen[(chosen.k == 1) & (chosen.n > 100)]
    assert_same(
        chosen[["n"]].collect().sort_values("n").reset_index(drop=True),
        FRAME[(FRAME.k == 1) & (FRAME.n > 100)][["n"]].reset_index(drop=True),
    )
    for path in folder.rglob("*.parquet"):
        rows = pq.ParquetFile(path).read(["n"])["n"].to_numpy()
        assert (np.diff(rows) > 0).all()
    names = ds.dataset(folder, partitioning="hive").to_table()
    assert names.num_rows == 200
    assert sorted(set(names["k"].to_pylist())) == [-1, 0, 1]


def test_both_with_one_column_given_as_text(plan, tmp_path):
    folder = tmp_path / "out"
    plan.to_parquet(folder, partition_cols="k", max_rows_per_file=20, batch_rows=60)
    sizes = [pq.ParquetFile(path).metadata.num_rows for path in folder.rglob("*.parquet")]
    assert max(sizes) == 20
    assert sum(sizes) == 200
    pd.testing.assert_frame_equal(in_order(scan_parquet(folder).collect()), FRAME)


def test_few_files_are_open_at_one_time(plan, tmp_path, monkeypatch):
    monkeypatch.setattr(_parts, "MOST_OPEN", 2)
    folder = tmp_path / "out"
    plan.to_parquet(folder, partition_cols=["k"], batch_rows=60)
    pd.testing.assert_frame_equal(in_order(scan_parquet(folder).collect()), FRAME)
    monkeypatch.setattr(_parts, "MOST_FOLDERS", 2)
    with pytest.raises(ValueError, match=r"at most 2 combinations of values"):
        plan.to_parquet(folder, partition_cols=["k"], batch_rows=60)
    pd.testing.assert_frame_equal(in_order(scan_parquet(folder).collect()), FRAME)


def test_missing_values_have_a_folder(tmp_path):
    frame = pd.DataFrame({"s": ["a", None, "b", None], "n": range(4)})
    folder = tmp_path / "out"
    from_pandas(frame).lazy().to_parquet(folder, partition_cols=["s"])
    result = scan_parquet(folder).collect().to_pandas().sort_values("n").reset_index(drop=True)
    pd.testing.assert_frame_equal(result[["s", "n"]], frame)
    taken = frame.assign(s="__HIVE_DEFAULT_PARTITION__")
    with pytest.raises(ValueError, match=r"must not hold '__HIVE_DEFAULT_PARTITION__'"):
        from_pandas(taken).lazy().to_parquet(folder, partition_cols=["s"])


def test_a_new_write_replaces_the_old_rows(plan, tmp_path):
    folder = tmp_path / "out"
    plan.to_parquet(folder, partition_cols=["k"], batch_rows=60)
    plan[plan.n < 30].to_parquet(folder, max_rows_per_file=20, batch_rows=60)
    assert files_of(folder) == [
        "_manifest.json", "part-0002-00000.parquet", "part-0002-00001.parquet"
    ]  # fmt: skip
    assert sorted(os.listdir(folder)) == files_of(folder)
    assert_same(scan_parquet(folder).collect(), FRAME[:30])
    # The folder may be read while it is replaced.
    source = scan_parquet(folder)
    source.assign(n=source.n + 1).to_parquet(folder, max_rows_per_file=20, batch_rows=8)
    assert_same(scan_parquet(folder).collect(), FRAME[:30].assign(n=FRAME.n[:30] + 1))


@pytest.mark.parametrize("options", [{"max_rows_per_file": 9}, {"partition_cols": ["k"]}])
def test_no_rows(plan, tmp_path, options):
    plan[plan.n < 0].to_parquet(tmp_path / "out", batch_rows=60, **options)
    empty = scan_parquet(tmp_path / "out").collect()
    assert len(empty) == 0
    assert empty.dtypes.to_dict() == FRAME.dtypes.to_dict()


def test_labels_are_kept(plan, tmp_path):
    sums = FRAME.groupby("k")[["n"]].sum()
    plan.groupby("k")[["n"]].sum().to_parquet(tmp_path / "out", max_rows_per_file=2, batch_rows=60)
    assert_same(scan_parquet(tmp_path / "out").collect(), sums)
    few = FRAME[FRAME.b]
    plan[plan.b].to_parquet(tmp_path / "few", max_rows_per_file=9, batch_rows=60)
    assert_same(scan_parquet(tmp_path / "few").collect(), few)
    plan[plan.b].to_parquet(tmp_path / "few", max_rows_per_file=9, batch_rows=60, index=False)
    assert_same(scan_parquet(tmp_path / "few").collect(), few.reset_index(drop=True))


def test_an_error_leaves_the_old_files(plan, tmp_path):
    folder = tmp_path / "out"
    bad = plan.assign(k=plan.x)
    for options in ({"partition_cols": ["k"]}, {"partition_cols": ["nowhere"]}):
        with pytest.raises((NotImplementedError, KeyError), match="partition_cols"):
            bad.to_parquet(folder, batch_rows=60, **options)
        assert not folder.exists()
    plan.to_parquet(folder, max_rows_per_file=50, batch_rows=60)
    before = files_of(folder)
    with pytest.raises(NotImplementedError, match=r"strings, integers or booleans, got double 'k'"):
        bad.to_parquet(folder, partition_cols=["k"], batch_rows=60)
    with pytest.raises(ValueError, match="must leave a column"):
        plan[["k"]].to_parquet(folder, partition_cols=["k"], batch_rows=60, index=False)
    with pytest.raises(ValueError, match="max_rows_per_file must be a positive integer, got 0"):
        plan.to_parquet(folder, max_rows_per_file=0)
    assert files_of(folder) == before
    assert_same(scan_parquet(folder).collect(), FRAME)


def test_other_files_are_left_alone(plan, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match=r"such as 'notes\.txt', but no manifest"):
        plan.to_parquet(folder, max_rows_per_file=50, batch_rows=60)
    assert files_of(folder) == ["notes.txt"]
    (folder / "notes.txt").unlink()
    plan.to_parquet(folder, max_rows_per_file=100)
    (folder / "notes.txt").write_text("mine")
    plan.to_parquet(folder, max_rows_per_file=200)
    assert files_of(folder) == ["_manifest.json", "notes.txt", "part-0002-00000.parquet"]
    # Eager frames write no manifest, so a reader would not see their files.
    with pytest.raises(FileExistsError, match=r"has a manifest.*lazy\(\)\.to_parquet"):
        JaxFrame({"k": [1], "x": [2]}).to_parquet(folder, partition_cols=["k"])


def test_a_file_that_no_manifest_names_does_not_exist(plan, tmp_path):
    folder = tmp_path / "out"
    plan.to_parquet(folder, max_rows_per_file=100)
    FRAME.to_parquet(folder / "part-0002-00000.parquet")
    assert_same(scan_parquet(folder).collect(), FRAME)
    assert_same(read_parquet(folder), FRAME)


def test_a_second_writer_is_refused(plan, tmp_path):
    folder = tmp_path / "out"
    with _parts.Parts(folder, [], 10, "snappy") as parts:
        parts.write(from_pandas(FRAME[:5]).to_arrow())
        with pytest.raises(BlockingIOError, match="another writer is at work in the folder"):
            plan.to_parquet(folder, max_rows_per_file=100)
        with pytest.raises(FileNotFoundError, match=r"no write into the folder .*out"):
            scan_parquet(folder).collect()
    assert len(scan_parquet(folder).collect()) == 5


def test_a_folder_at_fault_names_the_file(plan, tmp_path):
    folder = tmp_path / "out"
    plan.to_parquet(folder, max_rows_per_file=100)
    source = scan_parquet(folder)
    part = folder / "part-0001-00001.parquet"
    contents = part.read_bytes()
    part.write_bytes(contents[:-1])
    for call in (scan_parquet(folder).collect, lambda: read_parquet(folder), source.collect):
        with pytest.raises(OSError, match=r"part-0001-00001\.parquet' is truncated or has changed"):
            call()
    part.unlink()
    with pytest.raises(FileNotFoundError, match=r"part-0001-00001\.parquet' has vanished"):
        scan_parquet(folder).collect()
    manifest = folder / "_manifest.json"
    values = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(values | {"jaxframes manifest": 2}))
    with pytest.raises(NotImplementedError, match=r"_manifest\.json' is a manifest of format 2"):
        scan_parquet(folder).collect()
    manifest.write_text("{")
    with pytest.raises(OSError, match=r"_manifest\.json' is corrupted"):
        scan_parquet(folder).collect()


def test_the_manifest_is_last_and_all_is_synced_before_it(plan, tmp_path, monkeypatch):
    """A crash of the machine loses nothing: each rename follows the sync of what it names."""
    folder, events = tmp_path / "out", []
    fsync, rename, replace = os.fsync, os.rename, os.replace

    def synced(descriptor):
        events.append(("sync", os.readlink(f"/proc/self/fd/{descriptor}")))
        fsync(descriptor)

    def renamed(call):
        def recorded(source, target):
            events.append(("rename", os.fspath(source), os.fspath(target)))
            call(source, target)

        return recorded

    plan.to_parquet(folder, partition_cols=["k"], batch_rows=60)
    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "rename", renamed(rename))
    monkeypatch.setattr(os, "replace", renamed(replace))
    plan.to_parquet(folder, partition_cols=["k"], batch_rows=60)
    renames = [event for event in events if event[0] == "rename"]
    *parts, manifest = renames
    assert os.path.basename(manifest[2]) == "_manifest.json"
    assert len(parts) == 3
    for event in renames:
        assert ("sync", event[1]) in events[: events.index(event)]
    last = events.index(manifest)
    for part in parts:
        between = events[events.index(part) : last]
        assert ("sync", os.path.dirname(part[2])) in between
    assert ("sync", str(folder)) in events[events.index(parts[-1]) : last]
    assert events[last + 1 :] == [("sync", str(folder))]
