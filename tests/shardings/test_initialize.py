# SPDX-License-Identifier: Apache-2.0
"""`initialize` in a process of its own; `test_two_processes.py` has two that meet."""

import os
import re
import socket
import subprocess
import sys

import pytest
from jaxframes import shardings
from jaxframes.shardings.launch import free_port

# A launcher of these tests may have set these.
CLUSTER_VARIABLES = ("SLURM_", "OMPI_", "JAX_COORDINATOR", "JAX_PROCESS", "TPU_", "KUBERNETES_")


def run(script, **variables):
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(CLUSTER_VARIABLES)
    }
    return subprocess.run(
        [sys.executable, "-c", script],
        env={**environment, "JAX_PLATFORMS": "cpu", **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_program_of_one_process():
    finished = run(
        f"""
import jax
from jaxframes import shardings

def initialize():
    shardings.initialize("127.0.0.1:{free_port()}", num_processes=1, process_id=0)

initialize()
initialize()
assert jax.config.jax_cpu_collectives_implementation == "gloo"
assert (jax.process_count(), jax.process_index()) == (1, 0)
try:
    shardings.initialize("127.0.0.1:1", num_processes=2, process_id=1)
except RuntimeError as error:
    print(error)
"""
    )
    assert finished.returncode == 0, finished.stderr
    assert re.fullmatch(
        r"initialize: a process is set up once, got coordinator_address='127\.0\.0\.1:1', "
        r"num_processes=2, process_id=1 after coordinator_address='127\.0\.0\.1:\d+', "
        r"num_processes=1, process_id=0\. Leave the second call out\.",
        finished.stdout.strip(),
    )


def test_without_arguments_and_cluster_it_does_nothing():
    finished = run(
        """
import jax
from jaxframes import shardings

before = jax.config.jax_cpu_collectives_implementation
shardings.initialize()
shardings.initialize(num_processes=1)
assert not jax.distributed.is_initialized()
assert jax.config.jax_cpu_collectives_implementation == before
assert jax.device_count() == jax.local_device_count()
"""
    )
    assert finished.returncode == 0, finished.stderr


# Errors


def last_line(finished):
    assert finished.returncode == 1
    return finished.stderr.strip().splitlines()[-1]


INITIALIZE = "from jaxframes import shardings; shardings.initialize()"
SLURM = {
    "SLURM_JOB_ID": "7",
    "SLURM_STEP_NODELIST": "127.0.0.1",
    "SLURM_NTASKS": "2",
    "SLURM_PROCID": "0",
    "SLURM_LOCALID": "0",
}


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        (
            {"JAX_COORDINATOR_ADDRESS": "localhost"},
            "initialize: JAX_COORDINATOR_ADDRESS must be 'host:port', got 'localhost'.",
        ),
        (
            {"JAX_NUM_PROCESSES": "two"},
            "initialize: JAX_NUM_PROCESSES must be an integer, got 'two'. Correct the variable, or "
            "unset it.",
        ),
        (
            {"JAX_NUM_PROCESSES": "0"},
            "initialize: JAX_NUM_PROCESSES must be at least 1, got 0.",
        ),
        (
            {"JAX_NUM_PROCESSES": "2", "JAX_PROCESS_ID": "2"},
            "initialize: JAX_PROCESS_ID must lie in [0, 2), the processes of the program, got 2.",
        ),
        (
            {"JAX_COORDINATOR_ADDRESS": "127.0.0.1:1", "JAX_NUM_PROCESSES": "2"},
            "initialize: without a cluster that JAX can find (Slurm, Open MPI, Kubernetes, Cloud "
            "TPU), all of coordinator_address, num_processes and process_id must be given, got "
            "coordinator_address='127.0.0.1:1', num_processes=2, process_id=None. Pass process_id "
            "or set JAX_PROCESS_ID. A program of one process leaves the call out.",
        ),
        (
            SLURM | {"SLURM_NTASKS": "2(x2)"},
            "initialize: the cluster that JAX found must have valid settings, got "
            "SLURM_NTASKS='2(x2)'. Correct them, or pass all arguments.",
        ),
        (
            {"OMPI_MCA_orte_hnp_uri": "1531576320.0;tcp://127.0.0.1:34911"},
            "initialize: the cluster that JAX found must set OMPI_COMM_WORLD_SIZE, got none. Start "
            "the program with the cluster's own launcher, or pass all arguments.",
        ),
    ],
)
def test_a_wrong_or_missing_setting_is_named(variables, message):
    said = last_line(run(INITIALIZE, **variables))
    assert said.partition(": ")[2] == message


def test_it_comes_before_jax_is_used():
    finished = run(
        """
import jax
from jaxframes import shardings

jax.devices()
shardings.initialize("127.0.0.1:1", num_processes=1, process_id=0)
"""
    )
    assert finished.returncode == 1
    assert finished.stderr.strip().splitlines()[-1] == (
        "RuntimeError: initialize: it must come before JAX is used, got a process in which JAX has "
        "its devices already. Call it first, before jax.devices(), any array and any computation."
    )


def test_without_a_cluster_all_arguments_are_needed():
    finished = run(
        """
from jaxframes import shardings

shardings.initialize(num_processes=2)
"""
    )
    assert finished.returncode == 1
    assert finished.stderr.strip().splitlines()[-1] == (
        "ValueError: initialize: without a cluster that JAX can find (Slurm, Open MPI, Kubernetes, "
        "Cloud TPU), all of coordinator_address, num_processes and process_id must be given, got "
        "coordinator_address=None, num_processes=2, process_id=None. Pass coordinator_address "
        "or set JAX_COORDINATOR_ADDRESS, and process_id or set JAX_PROCESS_ID. A program of one "
        "process leaves the call out."
    )


def test_a_coordinator_that_does_not_answer():
    port = free_port()
    finished = run(
        f"""
from jaxframes import shardings

shardings.initialize("127.0.0.1:{port}", 2, 1, initialization_timeout_seconds=1)
"""
    )
    assert finished.returncode == 1
    assert finished.stderr.strip().splitlines()[-1] == (
        f"RuntimeError: initialize: process 0 must answer at 127.0.0.1:{port} within 1 seconds, "
        "got 'Connection refused'. Check that it runs, and that this process can reach that "
        "address."
    )


def test_a_port_that_is_taken():
    with socket.socket() as listener:
        listener.bind(("", 0))
        listener.listen()
        port = listener.getsockname()[1]
        finished = run(
            f"""
from jaxframes import shardings

shardings.initialize("127.0.0.1:{port}", num_processes=2, process_id=0)
"""
        )
    assert finished.returncode == 1
    assert finished.stderr.strip().splitlines()[-1] == (
        f"RuntimeError: initialize: process 0 must be free to listen on 127.0.0.1:{port}, got "
        "'Address already in use'. Choose another port."
    )


@pytest.mark.parametrize("address", ["10.0.0.1", ":8476", "10.0.0.1:", "10.0.0.1:http"])
def test_the_address_has_a_port(address):
    message = f"initialize: coordinator_address must be 'host:port', got {address!r}."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        shardings.initialize(address, num_processes=2, process_id=0)


@pytest.mark.parametrize(
    ("num_processes", "process_id", "message"),
    [
        (0, 0, "initialize: num_processes must be at least 1, got 0."),
        (2, -1, "initialize: process_id must be at least 0, got -1."),
        (
            2,
            2,
            "initialize: process_id must lie in [0, 2), the processes of the program, got 2.",
        ),
    ],
)
def test_numbers_are_in_range(num_processes, process_id, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        shardings.initialize("10.0.0.1:8476", num_processes, process_id)


@pytest.mark.checks_arguments
def test_numbers_are_integers():
    message = "initialize: num_processes must be a Python integer, got str."
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        shardings.initialize("10.0.0.1:8476", "2", 0)  # pyright: ignore[reportArgumentType]
