# SPDX-License-Identifier: Apache-2.0
"""Jobs that end at any of their operations on files, and what must hold afterwards.

As a program it reads jobs from its input, one a line, and runs each in a fork of its own that a
signal kills. The forks share what the program has imported, and none of JAX's threads.
"""

import contextlib
import json
import os
import random
import signal
import sys
import time

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

FRAME = pd.DataFrame(
    {"k": np.arange(120) * 7 % 5, "x": np.arange(120) * 11 % 97 / 8, "n": np.arange(120)}
)
OLD = pd.DataFrame({"k": [7, 8], "x": [0.5, 0.25], "n": [-1, -2]})


def write_source(folder):
    FRAME.to_parquet(os.path.join(folder, "rows.parquet"), row_group_size=30)


# Each takes a plan of the source and writes `folder/out`, with checkpoints in `folder/job`.
JOBS = {
    "sort to a file": lambda plan, folder: plan.sort_values("x").to_parquet(
        f"{folder}/out", batch_rows=40
    ),
    "groups to a file": lambda plan, folder: (
        plan.groupby("n").sum().to_parquet(f"{folder}/out", batch_rows=30)
    ),
    "rows to parts": lambda plan, folder: plan.to_parquet(
        f"{folder}/out", batch_rows=40, max_rows_per_file=50
    ),
    "rows to folders": lambda plan, folder: plan.to_parquet(
        f"{folder}/out", batch_rows=60, partition_cols=["k"]
    ),
    "rows to a file, resumed": lambda plan, folder: plan[plan.k > 0].to_parquet(
        f"{folder}/out", batch_rows=40, checkpoint=f"{folder}/job"
    ),
    "sort to parts, resumed": lambda plan, folder: plan.sort_values("x").to_parquet(
        f"{folder}/out", batch_rows=40, max_rows_per_file=50, checkpoint=f"{folder}/job"
    ),
    "groups to a file, resumed": lambda plan, folder: (
        plan.groupby("n")
        .sum()
        .to_parquet(f"{folder}/out", batch_rows=20, checkpoint=f"{folder}/job")
    ),
    "distinct to a file, resumed": lambda plan, folder: plan.drop_duplicates("x").to_parquet(
        f"{folder}/out", batch_rows=30, checkpoint=f"{folder}/job"
    ),
    "join to a file, resumed": lambda plan, folder: plan.merge(plan[["n"]], on="n").to_parquet(
        f"{folder}/out", batch_rows=70, checkpoint=f"{folder}/job"
    ),
    "rows to text, resumed": lambda plan, folder: plan.to_csv(
        f"{folder}/out", batch_rows=40, index=False, checkpoint=f"{folder}/job"
    ),
}


def run(job, folder, frames):
    JOBS[job](frames.scan_parquet(f"{folder}/rows.parquet"), folder)


def write_old(job, folder, frames):
    """Writes the rows that are there before the job, as the job would."""
    plan, options = frames.from_pandas(OLD).lazy(), {"batch_rows": 9}
    if "parts" in job:
        options["max_rows_per_file"] = 1
    if "folders" in job:
        options["partition_cols"] = ["k"]
    if "text" in job:
        plan.to_csv(f"{folder}/out", index=False, **options)
    else:
        plan.to_parquet(f"{folder}/out", **options)


def rows_at(job, folder, frames):
    """The rows of the target in a fixed order; None if there is none."""
    path = f"{folder}/out"
    if not os.path.exists(path):
        return None
    if "text" in job:
        return pd.read_csv(path).values.tolist()
    try:
        found = frames.scan_parquet(path).collect().to_pandas()
    except FileNotFoundError as error:
        if "no write into the folder" not in str(error) and "has no Parquet" not in str(error):
            raise
        return None
    if "folders" in job:
        found = found.sort_values("n")
    found = found.reset_index() if "groups" in job and "n" not in found else found
    return found[["k", "x", "n"]].values.tolist()


def expected(job):
    rows = FRAME
    if "sort" in job:
        rows = rows.sort_values("x", kind="stable")
    if "distinct" in job:
        rows = rows.drop_duplicates("x")
    if "rows to a file" in job:
        rows = rows[rows.k > 0]
    return rows.values.tolist()


def files_in(folder):
    return sorted(
        os.path.relpath(os.path.join(path, name), folder)
        for path, _, names in os.walk(folder)
        for name in names
    )


class Killed(BaseException):
    """The end of a process, for code that cannot do anything about it."""


class Operations:
    """Counts the operations on files and ends the job before, after or in the middle of one.

    Args:
        end: what ends the job. If it returns, `Killed` is raised, and later operations do nothing.
        at: the number of the step; none if None. An operation has three steps.
    """

    def __init__(self, end, at):
        self.num_steps, self.is_over = 0, False
        self._end, self._at = end, at

    def _step(self):
        self.num_steps += 1
        if self.num_steps - 1 == self._at:
            self.is_over = True
            self._end()
            raise Killed

    def _counted(self, call, half=None):
        def counted(*arguments, **options):
            if self.is_over:
                return None
            self._step()
            if half is not None and self.num_steps == self._at:
                half(*arguments)
            self._step()
            result = call(*arguments, **options)
            self._step()
            return result

        return counted

    @contextlib.contextmanager
    def watched(self):
        """Replaces the operations while the job runs."""
        writer = pq.ParquetWriter
        replaced = [
            (os, name, None)
            for name in ("rename", "replace", "fsync", "remove", "rmdir", "makedirs", "mkdir")
        ]
        write = writer.write_table

        def write_half(file, table, **options):
            write(file, table.slice(0, table.num_rows // 2))

        replaced += [(writer, "write_table", write_half), (writer, "close", None)]
        originals = [(owner, name, getattr(owner, name)) for owner, name, _ in replaced]
        try:
            for owner, name, half in replaced:
                setattr(owner, name, self._counted(getattr(owner, name), half))
            yield self
        finally:
            for owner, name, original in originals:
                setattr(owner, name, original)


def _killed_fork(command, frames):
    """Runs a job in a fork; returns how it ended and the seconds that it took."""
    start = time.monotonic()
    child = os.fork()
    if not child:
        status = 1
        try:
            signal.set_wakeup_fd(-1)
            operations = Operations(lambda: os.kill(os.getpid(), signal.SIGKILL), command.get("at"))
            with operations.watched():
                run(command["job"], command["folder"], frames)
            status = 0
        finally:
            os._exit(status)
    if "after" in command:
        time.sleep(command["after"])
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return {"code": code, "seconds": time.monotonic() - start}


def main():
    import jax

    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", True)
    from jaxframes import frame as frames

    # Nothing that starts a thread may run here: a fork has only the thread that made it.
    for line in sys.stdin:
        print(json.dumps(_killed_fork(json.loads(line), frames)), flush=True)


def random_points(num_points, seconds, seed=0):
    """Jobs with random ends: half at a step of an operation, half at a time."""
    rng = random.Random(seed)
    for number in range(num_points):
        job = rng.choice(sorted(JOBS))
        has_old = rng.random() < 0.5
        if number % 2:
            yield job, has_old, {"after": rng.uniform(0, seconds)}
        else:
            yield job, has_old, {"at": rng.randrange(150)}


if __name__ == "__main__":
    main()
