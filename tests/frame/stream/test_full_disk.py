# SPDX-License-Identifier: Apache-2.0
"""A disk that fills ends a job with an error that names the file, and leaves the old rows."""

import contextlib
import errno
import os
import resource
import tempfile

import numpy as np
import pandas as pd
import pytest
from jaxframes.frame import from_pandas, read_parquet, scan_parquet
from jaxframes.frame.stream import _runs

# Random, so that no file of them is short.
ROWS = np.arange(30_000)
FRAME = pd.DataFrame({"k": ROWS % 3, "x": np.random.default_rng(0).random(30_000), "n": ROWS})
OLD = from_pandas(FRAME[:10]).lazy()
MOST_BYTES = 2**16


@contextlib.contextmanager
def files_of_few_bytes():
    """Writing more than `MOST_BYTES` into a file fails, as it does on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_BYTES, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def plan(tmp_path):
    path = tmp_path / "rows.parquet"
    FRAME.to_parquet(path, row_group_size=6000)
    return scan_parquet(path)


SINKS = {
    "a file": lambda plan, path: plan.to_parquet(path, batch_rows=6000),
    "at once": lambda plan, path: plan.to_parquet(path),
    "text": lambda plan, path: plan.to_csv(path, batch_rows=6000),
    "parts": lambda plan, path: plan.to_parquet(path, batch_rows=6000, max_rows_per_file=15_000),
    "folders": lambda plan, path: plan.to_parquet(path, batch_rows=6000, partition_cols=["k"]),
}


@pytest.mark.parametrize("has_old", [True, False])
@pytest.mark.parametrize("name", SINKS)
def test_a_full_disk_leaves_the_old_rows(name, has_old, plan, tmp_path):
    target, write = tmp_path / "new" / "out", SINKS[name]
    target.parent.mkdir()
    # Compiles what the job needs, before the limit.
    write(plan, tmp_path / "warm")
    if has_old:
        write(OLD, target)
    before = sorted(path for path in target.parent.rglob("*") if path.is_file())
    with files_of_few_bytes(), pytest.raises(OSError, match=r"(?s)stream: cannot write.*") as found:
        write(plan, target)
    assert found.value.errno == errno.EFBIG
    assert found.value.filename.startswith(str(target))
    assert sorted(path for path in target.parent.rglob("*") if path.is_file()) == before
    if not has_old:
        assert os.listdir(target.parent) == []
    elif name != "text":
        assert sorted(read_parquet(target).x.tolist()) == sorted(FRAME.x[:10])


def test_a_full_disk_of_temporary_files_names_the_run(plan, tmp_path, monkeypatch):
    ordered = plan.sort_values("x")
    assert len(ordered.collect(batch_rows=12_000)) == 30_000
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    with files_of_few_bytes(), pytest.raises(OSError, match=r"temporary/jaxframes-.*rows"):
        ordered.collect(batch_rows=12_000)
    assert os.listdir(folder) == []


def test_a_full_disk_of_a_checkpoint_keeps_the_finished_batches(plan, tmp_path):
    target, job = tmp_path / "out", tmp_path / "job"
    # The first two batches are short, the third one is not.
    late = plan[(plan.n >= 12_000) | (plan.x < 0.1)][["x"]]

    def write():
        late.to_parquet(target, batch_rows=6000, checkpoint=job)

    write()
    before = target.read_bytes()
    with files_of_few_bytes(), pytest.raises(OSError, match=r"cannot write.*batch-00000002\.arrow"):
        write()
    assert target.read_bytes() == before
    assert sorted(os.listdir(job)) == ["batch-00000000.arrow", "batch-00000001.arrow", "job.json"]
    target.unlink()
    write()
    assert target.read_bytes() == before
    assert not job.exists()


def test_a_full_disk_of_a_checkpoint_keeps_the_sorted_runs(plan, tmp_path, monkeypatch):
    monkeypatch.setattr(_runs, "_FAN_IN", 2)
    target, job = tmp_path / "out", tmp_path / "job"
    ordered = plan[["x"]].sort_values("x")

    def write():
        ordered.to_parquet(target, batch_rows=3000, checkpoint=job)

    write()
    before = target.read_bytes()
    # Runs fit, but not two of them in one.
    named = r"cannot write.*step-0000-000010\.rows"
    with files_of_few_bytes(), pytest.raises(OSError, match=named) as found:
        write()
    assert found.value.errno == errno.EFBIG
    assert target.read_bytes() == before
    runs = [f"step-0000-{number:06}.rows" for number in range(10)]
    assert sorted(os.listdir(job)) == ["job.json", *runs, "step-0000.json"]
    target.unlink()
    write()
    assert target.read_bytes() == before
    assert not job.exists()
