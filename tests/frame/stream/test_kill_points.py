# SPDX-License-Identifier: Apache-2.0
"""A job that ends at any moment leaves the old rows or the new ones, and can be run again."""

import gc
import itertools
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import killed_jobs
import pytest
from covering import RUNS_ALL
from jaxframes import frame as frames
from killed_jobs import JOBS, Killed, Operations

# Steps on disk before there are batches have most operations.
LONG = ("groups to a file, resumed", "distinct to a file, resumed", "join to a file, resumed")
# All of these end by a signal. A few of them, beside those that end at every operation.
NUM_KILLED = 200 if RUNS_ALL else 8


def prepared(job, folder, has_old):
    folder.mkdir()
    killed_jobs.write_source(folder)
    if has_old:
        killed_jobs.write_old(job, folder, frames)
    return killed_jobs.rows_at(job, folder, frames)


def check(job, folder, before):
    """The target has the old rows or the new ones. The job, run again, leaves the new ones."""
    found = killed_jobs.rows_at(job, folder, frames)
    new = killed_jobs.expected(job)
    assert found in (before, new)
    killed_jobs.run(job, folder, frames)
    assert killed_jobs.rows_at(job, folder, frames) == new
    names = killed_jobs.files_in(folder)
    left = [name for name in names if ".part" in Path(name).suffix or "job" in name]
    assert left == []
    if "parts" in job:
        assert len(names) == 5
    elif "folders" in job:
        assert len(names) == 7
    else:
        assert names == ["out", "rows.parquet"]


@pytest.fixture(autouse=True)
def spills_are_here(tmp_path, monkeypatch):
    """Jobs that are killed leave their runs where this test removes them."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))


# A process that ends closes nothing. Here the collector finds what jobs left open.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("job", JOBS)
def test_a_job_may_end_at_every_operation(job, tmp_path):
    # In haste one step in eleven, from another one on for each job, and fewer where there are many.
    first, stride = (0, 1) if RUNS_ALL else (list(JOBS).index(job), 47 if job in LONG else 11)
    num_ends = 0
    for at in itertools.count(first, stride):
        folder = tmp_path / str(at)
        before = prepared(job, folder, has_old=num_ends % 2 == 0)
        operations = Operations(lambda: None, at)
        try:
            with operations.watched():
                killed_jobs.run(job, folder, frames)
        except (Killed, OSError):
            # Code that goes on after its end may miss what an operation should have made.
            assert operations.is_over
        check(job, folder, before)
        if not operations.is_over:
            break
        num_ends += 1
    gc.collect()
    assert num_ends * stride > 20


def test_a_killed_process_loses_nothing(tmp_path):
    command = [sys.executable, killed_jobs.__file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:

        def ended(job, folder, end):
            line = json.dumps({"job": job, "folder": str(folder), **end})
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        # How long a job takes without an end, forked from the same process.
        folder = tmp_path / "whole"
        job = "rows to parts"
        before = prepared(job, folder, has_old=False)
        whole = ended(job, folder, {})
        assert whole["code"] == 0
        check(job, folder, before)
        counts = {"killed": 0, "done": 0}
        points = killed_jobs.random_points(NUM_KILLED, 1.2 * whole["seconds"])
        for number, (job, has_old, end) in enumerate(points):
            folder = tmp_path / str(number)
            before = prepared(job, folder, has_old)
            code = ended(job, folder, end)["code"]
            assert code in (0, -9)
            counts["killed" if code else "done"] += 1
            check(job, folder, before)
        process.stdin.close()
    print(counts)
    assert counts["killed"] >= NUM_KILLED // 4
