# SPDX-License-Identifier: Apache-2.0
"""Faults of real processes, planted over the launcher.

A killed, stopped or missing process, and an interrupt at any step, end in an error that says what
happened, within `END_SECONDS`. No process is left, and every file is whole.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest
from covering import RUNS_ALL
from two_processes import TIMEOUT_SECONDS, run_apart, start_launcher

# From the fault to the end of the launcher, with the two seconds that it gives its ranks.
END_SECONDS = 10
HEARTBEAT_SECONDS = 3
NUM_ROWS = 30_000

# Each rank says where it is. The last point is the one that the test asked for, and lasts until the
# fault comes; what it does there it does again and again.
WORKING = """
import itertools
import os
import sys

import jax
import numpy as np
import pandas as pd

jax.config.update("jax_enable_x64", True)

from jaxframes import primitives, shardings
from jaxframes.frame import JaxFrame, read_parquet
from jaxframes.primitives import staging

point, folder = os.environ["FAULT_POINT"], os.environ["FAULT_FOLDER"]
mesh = shardings.make_mesh(hosts=jax.process_count())
rows = np.random.default_rng(jax.process_index()).integers(0, 1000, NUM_ROWS)
table = lambda: JaxFrame({"x": np.arange(NUM_ROWS), "s": ["a", "b", "c"] * (NUM_ROWS // 3)})
local = table()


def exchanges():
    own = shardings.host_rows(rows, mesh).rows
    while True:
        yield jax.block_until_ready(primitives.radix_sort(own, mesh))


def compiles():
    for length in itertools.count(1000):
        yield jax.jit(lambda x: jax.numpy.sort(x) + length)(np.arange(length))


def host_calls():
    out = jax.ShapeDtypeStruct((), np.int64)
    while True:
        calls = staging.host_map(lambda x: sum(range(1000)) + x, np.arange(64), out)
        yield jax.block_until_ready(calls)


POINTS = {
    "exchange": exchanges,
    "host rows": lambda: (shardings.host_rows(rows, mesh) for _ in itertools.count()),
    "check": lambda: (shardings.check_processes() for _ in itertools.count()),
    "compile": compiles,
    "host call": host_calls,
    "group": lambda: (local.groupby("s").sum() for _ in itertools.count()),
    "parquet": lambda: (local.to_parquet(own_file("parquet")) for _ in itertools.count()),
    "csv": lambda: (local.to_csv(own_file("csv")) for _ in itertools.count()),
    "encode": lambda: (table() for _ in itertools.count()),
    "python": lambda: itertools.count(),
}


def own_file(kind):
    return f"{folder}/rank-{jax.process_index()}.{kind}"


if point == "start":
    print("at", os.getpid(), flush=True)
for number, _ in enumerate(POINTS.get(point, POINTS["python"])()):
    if number == 3:
        print("at", os.getpid(), flush=True)
""".replace("NUM_ROWS", str(NUM_ROWS))
POINTS = (
    "exchange", "host rows", "check", "compile", "host call", "group", "parquet", "csv", "encode",
    "python",
)  # fmt: skip


class Launched:
    """A launcher of two ranks at work, and their process ids."""

    def __init__(self, folder, point, *options):
        path = folder / "script.py"
        path.write_text(WORKING)
        self.folder = folder
        environment = {"FAULT_POINT": point, "FAULT_FOLDER": str(folder)}
        options = ("-n", "2", "--devices", "2", *options)
        self.process = start_launcher(path, *options, environment=environment)

    def __enter__(self):
        self.pids = {}
        assert self.process.stdout is not None
        for line in self.process.stdout:
            rank, *said = line.split()
            if said[:1] == ["at"]:
                self.pids[int(rank[1])] = int(said[1])
            if len(self.pids) == 2:
                return self
        raise AssertionError(self.process.communicate()[1])

    def end(self, seconds=END_SECONDS):
        """Waits for the end after a fault; returns what was said of it, and the exit code."""
        started = time.monotonic()
        _, errors = self.process.communicate(timeout=TIMEOUT_SECONDS)
        assert time.monotonic() - started < seconds
        for pid in self.pids.values():
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)
        self.check_files()
        return errors, self.process.returncode

    def check_files(self):
        """Every file that is there has all its rows; names with a dot are of unfinished ones."""
        for path in self.folder.glob("rank-*"):
            read = pd.read_csv if path.suffix == ".csv" else pd.read_parquet
            assert len(read(path)) == NUM_ROWS

    def __exit__(self, *error):
        self.process.kill()
        for pid in self.pids.values():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("point", POINTS if RUNS_ALL else ["exchange", "parquet"])
def test_a_killed_process(tmp_path, point, rank):
    with Launched(tmp_path, point) as launched:
        os.kill(launched.pids[rank], signal.SIGKILL)
        said, code = launched.end()
    assert code == 128 + signal.SIGKILL
    assert (
        f"launch: rank {rank} was ended by SIGKILL (exit code 137); the other ranks were ended."
    ) in said


@pytest.mark.parametrize("rank", [0, 1] if RUNS_ALL else [1])
def test_a_stopped_process(tmp_path, rank):
    options = ("--heartbeat-seconds", str(HEARTBEAT_SECONDS))
    with Launched(tmp_path, "exchange", *options) as launched:
        os.kill(launched.pids[rank], signal.SIGSTOP)
        said, code = launched.end(HEARTBEAT_SECONDS * 3 + END_SECONDS)
    assert code != 0
    assert f"launch: rank {1 - rank} " in said
    assert f"the other ranks were ended. Rank {rank} was stopped (SIGSTOP)." in said


@pytest.mark.parametrize("point", (*POINTS, "start") if RUNS_ALL else ["exchange", "csv", "start"])
def test_an_interrupt_at_any_step(tmp_path, point):
    with Launched(tmp_path, point) as launched:
        launched.process.send_signal(signal.SIGINT)
        _, code = launched.end()
    assert code == 128 + signal.SIGINT


def test_an_interrupt_of_one_rank_ends_all(tmp_path):
    with Launched(tmp_path, "exchange") as launched:
        os.kill(launched.pids[1], signal.SIGINT)
        said, code = launched.end()
    assert code == 1
    assert "launch: rank 1 failed with exit code 1; the other ranks were ended." in said
    assert "[1] KeyboardInterrupt" in said


def test_a_peer_that_never_starts():
    absent = "import os; os._exit(0)"
    script = f"""
import os
if os.environ["JAX_PROCESS_ID"] == "1":
    {absent}
from jaxframes import shardings
shardings.initialize(initialization_timeout_seconds=5)
"""
    started = time.monotonic()
    ended = run_apart(script, [{}, {}, {}])
    assert time.monotonic() - started < 5 + 5 * END_SECONDS
    for process in (ended[0], ended[2]):
        assert process.returncode == 1
        said = process.stderr.strip().splitlines()[-1]
        assert said.startswith(
            "RuntimeError: initialize: all 3 processes must start within 5 seconds, got none with "
            "process_id 1. Check that each runs, and can reach 127.0.0.1:"
        )


OTHER_SHAPES = """
import jax
import numpy as np
from jaxframes import primitives, shardings

mesh = shardings.make_mesh()
rows = np.zeros((100, 2 + jax.process_index()), np.float32)
shardings.host_rows(rows, mesh)
"""


def test_a_peer_with_other_shapes(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(OTHER_SHAPES)
    launched = start_launcher(path, "-n", "2", "--devices", "2")
    try:
        _, said = launched.communicate(timeout=TIMEOUT_SECONDS)
    finally:
        launched.kill()
    assert launched.returncode == 1
    assert (
        "ValueError: host_rows: all processes must pass arrays of the same shapes and dtypes, got "
        "rows: float32[any,2] in process 0 and float32[any,3] in process 1.\n"
    ) in said


# An interrupt within one process: what it was in the middle of did not happen, and the next call
# works.

INTERRUPTED = """
import os
import sys

import jax
import numpy as np
import pandas as pd

jax.config.update("jax_enable_x64", True)
from jaxframes.frame import JaxFrame

folder = sys.argv[1]
frame = pd.DataFrame({"x": np.arange(3000) % 7, "y": np.arange(3000.0)})
ours = JaxFrame(frame)


def steps():
    ours.to_parquet(f"{folder}/whole.parquet")
    ours.to_csv(f"{folder}/whole.csv", index=False)
    ours.to_parquet(f"{folder}/parts", partition_cols=["x"])
    result = ours[ours["y"] > 10].sort_values("x").groupby("x")["y"].sum()
    return result.to_pandas()


num_sent = num_raised = 0
counted, at = 0, None


def trace(python_frame, event, _):
    global counted, num_sent
    if event == "call" and "jaxframes" in python_frame.f_globals.get("__name__", ""):
        counted += 1
        if counted == at:
            num_sent += 1
            os.kill(os.getpid(), 2)
    return None


expected = frame[frame["y"] > 10].groupby("x")["y"].sum()
sys.setprofile(lambda *arguments: trace(*arguments) and None)
steps()
# Without what only the first call does.
counted = 0
steps()
sys.setprofile(None)
num_calls = counted
for at in np.linspace(1, num_calls, NUM_POINTS).astype(int).tolist():
    counted = 0
    try:
        sys.setprofile(lambda *arguments: trace(*arguments) and None)
        steps()
    except KeyboardInterrupt:
        num_raised += 1
    finally:
        sys.setprofile(None)
        at = None
    assert len(pd.read_parquet(f"{folder}/whole.parquet")) == 3000
    assert len(pd.read_csv(f"{folder}/whole.csv")) == 3000
    for _, _, names in os.walk(f"{folder}/parts"):
        for name in names:
            assert name.endswith(".parquet"), name
    assert len(pd.read_parquet(f"{folder}/parts")) == 3000
    pd.testing.assert_series_equal(steps(), expected)
    assert not [name for name in os.listdir(folder) if name.endswith(".part")]
print(num_sent, num_raised)
"""


def test_an_interrupt_leaves_whole_files_and_frames(tmp_path):
    num_points = 200 if RUNS_ALL else 12
    script = tmp_path / "script.py"
    script.write_text(INTERRUPTED.replace("NUM_POINTS", str(num_points)))
    folder = tmp_path / "files"
    folder.mkdir()
    finished = subprocess.run(
        [sys.executable, str(script), str(folder)],
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    # A later run may make fewer calls than the one that was counted.
    num_sent, num_raised = map(int, finished.stdout.split())
    assert num_points / 2 < num_sent <= num_points
    assert num_raised == num_sent
