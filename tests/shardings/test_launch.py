# SPDX-License-Identifier: Apache-2.0
"""The launcher of several processes on one machine."""

import collections
import os
import signal
import subprocess
import sys
import time

import pytest
from jaxframes.shardings import launch as launcher
from two_processes import TIMEOUT_SECONDS, launch, start_launcher

TWO_BY_TWO = ("-n", "2", "--devices", "2")


def test_two_processes_sort_an_array_over_their_mesh():
    finished = launch(
        """
import jax
import numpy as np
from jaxframes import primitives, shardings

mesh = shardings.make_mesh()
keys = np.random.default_rng(0).permutation(10).astype(np.int32)
own = keys[5 * jax.process_index() :][:5]
rows = shardings.host_rows(own, mesh, capacity=3).rows
print("shards", [shard.data.tolist() for shard in rows.addressable_shards])
assert jax.process_count() == 2
ordered = primitives.radix_sort(jax.device_put(keys, shardings.replicated(mesh)), mesh)
np.testing.assert_array_equal(jax.device_put(ordered, shardings.replicated(mesh)), np.arange(10))
print("sorted")
""",
        *TWO_BY_TWO,
    )
    assert finished.returncode == 0, finished.stderr
    for rank in range(2):
        assert f"[{rank}] sorted\n" in finished.stdout
        assert f"[{rank}] shards [[" in finished.stdout


def test_the_failure_of_one_rank_ends_the_others_and_is_shown():
    finished = launch(
        """
import sys
import time

import jax
from jaxframes import shardings

mesh = shardings.make_mesh()
if jax.process_index() == 1:
    print("failing", time.time(), flush=True)
    raise ValueError("planted")
time.sleep(600)
""",
        *TWO_BY_TWO,
    )
    took = time.time() - float(finished.stdout.split()[-1])
    assert took < 10
    assert finished.returncode == 1
    error = "[1] ValueError: planted\n"
    assert finished.stderr.count(error) == 2
    said = finished.stderr.partition("launch: ")[2].splitlines()
    assert said[:2] == [
        "rank 1 failed with exit code 1; the other ranks were ended. Its last lines:",
        "[1] Traceback (most recent call last):",
    ]
    # The script alone is in the traceback.
    assert "runpy" not in finished.stderr
    assert finished.stderr.endswith(error)


@pytest.mark.parametrize(
    ("ending", "code"),
    [
        ("sys.exit(3)", 3),
        ("sys.exit('with words')", 1),
        ("os.kill(os.getpid(), signal.SIGKILL)", 128 + 9),
        ("os._exit(17)", 17),
    ],
)
def test_the_exit_code_is_that_of_the_rank(ending, code):
    finished = launch(f"import os, signal, sys\n{ending}\n", "-n", "1")
    assert finished.returncode == code
    assert ("[0] with words\n" in finished.stderr) == ("words" in ending)


def test_of_several_exit_codes_it_is_the_worst():
    ranks = []
    for code in (3, 0, 5):
        process = subprocess.Popen([sys.executable, "-S", "-c", f"raise SystemExit({code})"])
        process.wait()
        ranks.append(launcher._Rank(process, [], collections.deque()))
    assert launcher._wait(ranks) == 5


def test_the_script_runs_as_python_runs_it():
    finished = launch(
        """
import os
import sys
print(__name__, len(sys.argv), sys.path[0] == os.path.dirname(__file__), sys.stdin.read() == "")
sys.exit(0)
""",
        "-n",
        "1",
    )
    assert finished.stdout == "[0] __main__ 1 True True\n"
    assert finished.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all_ranks(tmp_path, number):
    path = tmp_path / "script.py"
    path.write_text("import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(600)\n")
    process = start_launcher(path, *TWO_BY_TWO)
    try:
        pids = [int(process.stdout.readline().split()[1]) for _ in range(2)]
        process.send_signal(number)
        process.communicate(timeout=TIMEOUT_SECONDS)
    finally:
        process.kill()
    assert process.returncode == 128 + number
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["-n", "0", __file__],
            "argument -n/--num-processes: it must be an integer of at least 1, got '0'.",
        ),
        (
            ["--devices", "two", __file__],
            "argument --devices: it must be an integer of at least 1, got 'two'.",
        ),
        (
            ["absent.py"],
            "argument script: it must be a file, got 'absent.py'. Check the path.",
        ),
    ],
)
def test_wrong_arguments_are_named(arguments, message, capsys):
    with pytest.raises(SystemExit) as raised:
        launcher.main(arguments)
    assert raised.value.code == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert said == f"python -m jaxframes.shardings.launch: error: {message}"
