# SPDX-License-Identifier: Apache-2.0
"""Jobs on a mesh that go on after an end at any operation on files, and give the same bytes."""

import gc
import signal
import subprocess
import sys
from pathlib import Path

import killed_jobs
import numpy as np
import pandas as pd
import pytest
from covering import RUNS_ALL
from frame_parity import assert_same
from jaxframes.frame import read_parquet, scan_parquet
from jaxframes.shardings import make_mesh, row_sharded
from killed_jobs import Killed, Operations

ROWS = np.arange(240)
FRAME = pd.DataFrame(
    {
        "k": ROWS * 7 % 109,
        "x": np.where(ROWS % 13 == 0, np.nan, ROWS * 11 % 97 / 8),
        "s": np.where(ROWS % 17 == 0, None, (ROWS * 3 % 53).astype(str)),
    }
)
OTHER = FRAME[["k", "x"]][::-1].rename(columns={"x": "y"}).reset_index(drop=True)

# Takes the rows of two files, as plans or in pandas.
PLANS = {
    "sort": lambda f, other: f.sort_values(["s", "k"], kind="stable"),
    "groups": lambda f, other: f.groupby("k", as_index=False).agg(v=("x", "sum"), n=("s", "count")),
    "join": lambda f, other: f.merge(other, on="k"),
    "distinct": lambda f, other: f.drop_duplicates("k", keep="last"),
}
NUM_ENDS = 20 if RUNS_ALL else 3


@pytest.fixture
def files(tmp_path):
    FRAME.to_parquet(tmp_path / "rows.parquet", row_group_size=40)
    OTHER.to_parquet(tmp_path / "other.parquet", row_group_size=40)
    return tmp_path


def run(name, folder, out, checkpoint=None):
    sharding = row_sharded(make_mesh(4))
    plans = [
        scan_parquet(folder / f"{name}.parquet", sharding=sharding) for name in ("rows", "other")
    ]
    PLANS[name](*plans).to_parquet(folder / out, batch_rows=40, checkpoint=checkpoint)


# A process that ends closes nothing. Here the collector finds what jobs left open.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", PLANS)
def test_the_bytes_are_those_of_a_job_without_an_end(name, files):
    run(name, files, "plain")
    assert_same(read_parquet(files / "plain"), PLANS[name](FRAME, OTHER))
    plain = (files / "plain").read_bytes()
    counted, job = Operations(lambda: None, None), files / "job"
    with counted.watched():
        run(name, files, "whole", job)
    assert (files / "whole").read_bytes() == plain
    num_spilled = 0
    for number in range(NUM_ENDS):
        at = counted.num_steps * (2 * number + 1) // (2 * NUM_ENDS)
        operations, out = Operations(lambda: None, at), f"out {number}"
        try:
            with operations.watched():
                run(name, files, out, job)
        except (Killed, OSError):
            assert operations.is_over
        assert operations.is_over
        num_spilled += any(job.glob("step-*.rows"))
        run(name, files, out, job)
        assert (files / out).read_bytes() == plain
        assert not job.exists()
    assert num_spilled >= NUM_ENDS // 2
    gc.collect()


PROGRAM = """
import os
import signal
import sys
from pathlib import Path

import jax

jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_num_cpu_devices", 4)
jax.config.update("jax_enable_x64", True)
sys.path[:0] = sys.argv[4:]
import killed_jobs
import test_resumed_on_meshes as jobs

name, folder, at = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
end = killed_jobs.Operations(lambda: os.kill(os.getpid(), signal.SIGKILL), at)
with end.watched():
    jobs.run(name, folder, "out", folder / "job")
"""


def test_a_killed_process_leaves_what_another_one_goes_on_with(files):
    tests = [str(Path(module).parent) for module in (killed_jobs.__file__, __file__)]
    run("groups", files, "plain")
    for at in (30, 60):
        command = [sys.executable, "-c", PROGRAM, "groups", str(files), str(at), *tests]
        ended = subprocess.run(command, capture_output=True, text=True)
        assert ended.returncode == -signal.SIGKILL, ended.stderr
        assert any((files / "job").glob("step-*.rows"))
    run("groups", files, "out", files / "job")
    assert (files / "out").read_bytes() == (files / "plain").read_bytes()
