# SPDX-License-Identifier: Apache-2.0
"""Jobs that go on from the rows that their steps have on disk, and give the same bytes."""

import json

import jaxframes.frame
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from frame_parity import assert_same
from jaxframes.frame import scan_parquet
from jaxframes.frame.stream import _checkpoint, _merge, _plan_stage, _reader, _runs, _steps

ROWS = np.arange(480)
FRAME = pd.DataFrame(
    {
        "k": ROWS * 7 % 211,
        "few": ROWS * 5 % 3,
        "x": np.where(ROWS % 13 == 0, np.nan, ROWS * 11 % 97 / 8),
        "s": np.where(ROWS % 17 == 0, None, (ROWS * 3 % 101).astype(str)),
        "t": pd.Timestamp("2024-01-01") + pd.to_timedelta(ROWS * 17 % 311, "h"),
    }
)
BATCH_ROWS = 40
NUM_BATCHES = len(ROWS) // BATCH_ROWS

PLANS = {
    "sort": lambda f: f.sort_values(["s", "k"], kind="stable"),
    "numbered sort": lambda f: f.sort_values(
        "x", ascending=False, ignore_index=True, kind="stable"
    ),
    "filtered sort": lambda f: f[f.k > 100].sort_values("few", kind="stable"),
    "groups": lambda f: f.groupby("k", as_index=False).agg(v=("x", "sum"), n=("x", "count")),
    "groups as they come": lambda f: f.groupby("t", sort=False, as_index=False).x.max(),
    "few groups": lambda f: f.groupby("few", as_index=False).x.sum(),
    "distinct values of groups": lambda f: f.groupby("few", as_index=False).k.nunique(),
    "distinct values of many groups": lambda f: f.groupby("k", as_index=False).s.nunique(),
    "distinct": lambda f: f.drop_duplicates("t"),
    "distinct in a range": lambda f: f.drop_duplicates(["k"]),
    "last distinct": lambda f: f.drop_duplicates(["few", "x"], keep="last"),
    "few distinct": lambda f: f.drop_duplicates("few"),
    "counts": lambda f: f[["few", "k"]].value_counts(),
    "fractions": lambda f: f.k.value_counts(normalize=True),
    "medians of groups": lambda f: f.groupby("k", as_index=False).x.median(),
    "rows of groups": lambda f: f.groupby("k", as_index=False)[["x"]].cumsum(),
    "first rows of groups": lambda f: f.groupby("k").head(2),
    "sort of groups": lambda f: (
        f.groupby("k", as_index=False).x.max().sort_values("x", kind="stable")
    ),
}
KEPT_IN_MEMORY = ("few groups", "distinct values of groups", "few distinct")


class Interrupted(Exception):
    pass


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rows.parquet"
    FRAME.to_parquet(path, row_group_size=BATCH_ROWS)
    return path


class Reads:
    """Counts the batches that are read of sources, and may interrupt a job after some."""

    def __init__(self, monkeypatch):
        self.batches, self.most = [], None
        monkeypatch.setattr(_plan_stage, "batches_of", self._batches_of)

    def _batches_of(self, scan, batch_rows, start=0):
        for number, batch in enumerate(_reader.batches_of(scan, batch_rows, start), start):
            if self.most == 0:
                raise Interrupted
            if self.most is not None:
                self.most -= 1
            self.batches.append(number)
            yield batch

    def interrupt(self, run, *after):
        """Runs a job several times, each until it has read some batches."""
        for self.most in after:
            with pytest.raises(Interrupted):
                run()
        self.most = None


@pytest.fixture
def reads(monkeypatch):
    return Reads(monkeypatch)


def frames_equal(one, other):
    pd.testing.assert_frame_equal(frame_of(one), frame_of(other), check_exact=True)


def frame_of(result):
    result = result.to_pandas()
    return result.to_frame("values") if isinstance(result, pd.Series) else result


@pytest.mark.parametrize("name", PLANS)
def test_batches_on_disk_are_not_read_again(name, file, tmp_path, reads, monkeypatch):
    if name in KEPT_IN_MEMORY:
        monkeypatch.setattr(_steps, "EVERY", 1)
    plan, folder = PLANS[name](scan_parquet(file)), tmp_path / "job"
    settings = {"batch_rows": BATCH_ROWS, "checkpoint": folder}
    whole = plan.collect(**settings)
    assert_same(whole, PLANS[name](FRAME), ulps=4)
    assert set(reads.batches) == set(range(NUM_BATCHES))
    reads.batches.clear()
    reads.interrupt(lambda: plan.collect(**settings), 3, 1, 5)
    frames_equal(plan.collect(**settings), whole)
    num_reads = np.bincount(reads.batches, minlength=NUM_BATCHES)
    # Rows that are in memory and not kept yet are read again: fewer than go to disk at one time.
    assert num_reads.min() == 1
    assert num_reads.sum() <= NUM_BATCHES + (9 if name == "filtered sort" else 6)
    assert not folder.exists()


WRITTEN = (
    "sort",
    "groups",
    "groups as they come",
    "distinct",
    "distinct in a range",
    "few distinct",
    "first rows of groups",
)


@pytest.mark.parametrize("name", WRITTEN)
def test_the_bytes_of_files_are_the_same(name, file, tmp_path, reads):
    plan = PLANS[name](scan_parquet(file))
    outputs = [tmp_path / name for name in ("whole", "resumed")]
    plan.to_parquet(outputs[0], batch_rows=BATCH_ROWS)
    folder = tmp_path / "job"

    def run():
        plan.to_parquet(outputs[1], batch_rows=BATCH_ROWS, checkpoint=folder)

    reads.interrupt(run, 2, 5, 2)
    assert not outputs[1].exists()
    run()
    assert outputs[0].read_bytes() == outputs[1].read_bytes()


def test_runs_that_are_merged_are_not_merged_again(file, tmp_path, reads, monkeypatch):
    monkeypatch.setattr(_runs, "_FAN_IN", 2)
    plan, folder = scan_parquet(file).sort_values("x"), tmp_path / "job"
    settings = {"batch_rows": BATCH_ROWS, "checkpoint": folder}
    merge, merges, last = _runs.SortedRuns._merge, [], [None]

    def counted(self, paths):
        merges.append(len(paths))
        if len(merges) == last[0]:
            raise Interrupted
        return merge(self, paths)

    monkeypatch.setattr(_runs.SortedRuns, "_merge", counted)
    expected = plan.collect(batch_rows=BATCH_ROWS)
    num_merges = len(merges)
    assert num_merges > 10
    merges.clear()
    for last[0] in (1, 4, 7):
        with pytest.raises(Interrupted):
            plan.collect(**settings)
        merges.clear()
    reads.batches.clear()
    frames_equal(plan.collect(**settings), expected)
    # Three and then six merges were done before.
    assert len(merges) == num_merges - 9
    assert reads.batches == []


def test_finished_batches_and_no_runs_are_read_at_last(file, tmp_path, reads, monkeypatch):
    plan, folder = scan_parquet(file).sort_values("x"), tmp_path / "job"
    target = tmp_path / "out"

    def run():
        plan.to_parquet(target, batch_rows=BATCH_ROWS, checkpoint=folder)

    with monkeypatch.context() as patched:

        def interrupted(self):
            raise Interrupted

        patched.setattr(_checkpoint.Checkpoint, "_clear", lambda self: None)
        run()
        patched.setattr(_checkpoint.Checkpoint, "_clear", interrupted)
        reads.batches.clear()
        patched.setattr(_runs.SortedRuns, "_merge", interrupted)
        with pytest.raises(Interrupted):
            run()
    assert reads.batches == []
    before = target.read_bytes()
    run()
    assert target.read_bytes() == before
    assert not folder.exists()


def test_a_lost_batch_of_a_finished_job_is_made_again(file, tmp_path, monkeypatch):
    plan, folder = scan_parquet(file)[["k"]].sort_values("k"), tmp_path / "job"
    settings = {"batch_rows": BATCH_ROWS, "checkpoint": folder}
    with monkeypatch.context() as patched:
        patched.setattr(_checkpoint.Checkpoint, "_clear", lambda self: None)
        whole = plan.collect(**settings)
    (folder / "batch-00000002.arrow").unlink()
    frames_equal(plan.collect(**settings), whole)


def test_one_sort_used_twice(file, tmp_path, reads):
    ordered = scan_parquet(file)[["k", "x"]].sort_values("x").head(100)
    plan = ordered.merge(ordered, on="k")
    whole = plan.collect(batch_rows=BATCH_ROWS)
    settings = {"batch_rows": BATCH_ROWS, "checkpoint": tmp_path / "job"}
    reads.interrupt(lambda: plan.collect(**settings), 3, 5)
    frames_equal(plan.collect(**settings), whole)


def test_files_without_a_name_in_the_manifest_do_not_count(file, tmp_path, reads):
    plan, folder = scan_parquet(file).sort_values("x"), tmp_path / "job"
    settings = {"batch_rows": BATCH_ROWS, "checkpoint": folder}
    expected = plan.collect(batch_rows=BATCH_ROWS)
    reads.interrupt(lambda: plan.collect(**settings), 3)
    files = sorted(path.name for path in folder.iterdir())
    runs = [f"step-0000-00000{number}.rows" for number in range(3)]
    assert files == ["job.json", *runs, "step-0000.json"]
    manifest = json.loads((folder / "step-0000.json").read_text())
    assert (manifest["batches"], manifest["state"]["files"]) == (3, runs)
    # A process that is killed before the manifest names a run leaves these.
    (folder / "step-0000-000003.rows").write_bytes(b"half a run")
    (folder / ".step-0000-000004.rows.abcd.part").write_bytes(b"half a run")
    frames_equal(plan.collect(**settings), expected)
    assert not folder.exists()


def test_a_damaged_manifest_raises(file, tmp_path, reads):
    plan, folder = scan_parquet(file).sort_values("x"), tmp_path / "job"
    settings = {"batch_rows": BATCH_ROWS, "checkpoint": folder}
    reads.interrupt(lambda: plan.collect(**settings), 3)
    manifest = folder / "step-0000.json"
    text = manifest.read_text()
    manifest.write_text(text[:20])
    with pytest.raises(OSError, match=r"step-0000\.json' is corrupted.*Remove the folder to start"):
        plan.collect(**settings)
    manifest.write_text(text)
    (folder / "step-0000-000001.rows").unlink()
    with pytest.raises(FileNotFoundError, match=r"step-0000-000001\.rows' has vanished"):
        plan.collect(**settings)


def test_another_plan_or_source_is_refused(file, tmp_path, reads):
    folder = tmp_path / "job"
    settings = {"batch_rows": BATCH_ROWS, "checkpoint": folder}
    plan = scan_parquet(file)
    reads.interrupt(lambda: plan.sort_values("x").collect(**settings), 3)
    for other in (plan.sort_values("k"), plan.sort_values("x", ascending=False), plan):
        with pytest.raises(ValueError, match="It was made by another plan"):
            other.collect(**settings)
    pq.write_table(pq.read_table(file).slice(1), file)
    with pytest.raises(ValueError, match="The files that it read have changed"):
        plan.sort_values("x").collect(**settings)


def test_reductions_go_on(file, tmp_path, reads, monkeypatch):
    monkeypatch.setattr(_steps, "EVERY", 4)
    settings = {"batch_rows": BATCH_ROWS, "checkpoint": tmp_path / "job"}
    for method in ("sum", "var", "nunique"):
        plan = getattr(scan_parquet(file).x, method)()
        whole = plan.collect(**settings)
        np.testing.assert_allclose(whole, getattr(FRAME.x, method)())
        reads.batches.clear()
        reads.interrupt(lambda plan=plan: plan.collect(**settings), 10)
        assert plan.collect(**settings) == whole
        assert len(reads.batches) <= NUM_BATCHES + 2


JOINS = {
    how: lambda f, how=how: f[["k", "few"]].merge(
        f[["k", "x"]].rename(columns={"x": "y"}), on="k", how=how
    )
    for how in ("inner", "outer")
}


@pytest.mark.parametrize("how", JOINS)
def test_parts_of_joins_are_not_made_again(how, file, tmp_path, reads, monkeypatch):
    monkeypatch.setattr(_merge, "HELD_BATCHES", 1)
    plan, folder = JOINS[how](scan_parquet(file)), tmp_path / "job"
    settings = {"batch_rows": BATCH_ROWS, "checkpoint": folder}
    whole = plan.collect(**settings)
    assert_same(whole, JOINS[how](FRAME))
    reads.batches.clear()
    reads.interrupt(lambda: plan.collect(**settings), 6, 1, 12, 3)
    frames_equal(plan.collect(**settings), whole)
    num_reads = np.bincount(reads.batches)
    # Two batches of the left side were read to see that it does not fit in memory.
    assert num_reads.tolist() == [3, 3, *[2] * (NUM_BATCHES - 2)]
    assert not folder.exists()


def test_rows_of_a_join_are_not_sorted_again(file, tmp_path, reads, monkeypatch):
    plan = JOINS["outer"](scan_parquet(file))
    settings = {"batch_rows": BATCH_ROWS, "checkpoint": tmp_path / "job"}
    write, written, most = _runs.SortedRuns._written, [], [None]

    def counted(self, tables):
        if len(written) == most[0]:
            raise Interrupted
        written.append(1)
        return write(self, tables)

    monkeypatch.setattr(_runs.SortedRuns, "_written", counted)
    whole = plan.collect(batch_rows=BATCH_ROWS)
    num_runs, most[0] = len(written), 10
    written.clear()
    with pytest.raises(Interrupted):
        plan.collect(**settings)
    reads.batches.clear()
    most[0] = None
    frames_equal(plan.collect(**settings), whole)
    assert len(written) == num_runs > 20
    assert reads.batches == []


BOTH_WAYS = {
    "groups beside the rows": lambda f, concat: concat(
        [f, f.groupby("k", as_index=False)[["x", "y"]].max()]
    ),
    "rows beside a reduction": lambda f, concat: f.assign(d=f.y - f.y.median()),
}


@pytest.mark.parametrize("name", BOTH_WAYS)
def test_a_join_whose_rows_are_read_in_order_and_in_any_order(name, file, tmp_path, monkeypatch):
    def query(f, concat):
        left, right = f[["k", "x"]], f[["k", "x"]].rename(columns={"x": "y"})
        return BOTH_WAYS[name](left.merge(right, on="k"), concat)

    plan = query(scan_parquet(file), jaxframes.frame.concat)
    settings = {"batch_rows": BATCH_ROWS, "checkpoint": tmp_path / "job"}
    save, saved = _checkpoint.Checkpoint._save, []

    def interrupted(self, number, batch):
        if len(saved) == 3:
            raise Interrupted
        saved.append(number)
        save(self, number, batch)

    with monkeypatch.context() as patched:
        patched.setattr(_checkpoint.Checkpoint, "_save", interrupted)
        with pytest.raises(Interrupted):
            plan.collect(**settings)
    result = plan.collect(**settings).to_pandas()
    expected = query(FRAME, pd.concat)
    pd.testing.assert_frame_equal(result, expected, check_index_type=False)
