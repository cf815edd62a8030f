# SPDX-License-Identifier: Apache-2.0
"""Processes of other versions, settings or shapes are found before they wait for each other."""

import random
import socket

import numpy as np
from jaxframes import shardings
from jaxframes.primitives.kernels.base import _library
from jaxframes.shardings import _settings
from two_processes import run_apart, run_both

STARTING = """
import importlib.metadata
import os

import jax
from jaxframes import shardings

installed = importlib.metadata.version
false = {"jax": os.environ.get("FALSE_VERSION")}
importlib.metadata.version = lambda name: false.get(name) or installed(name)
try:
    shardings.initialize(initialization_timeout_seconds=100)
except RuntimeError as error:
    print(error)
"""


def settings_said(environments, script=STARTING):
    ended = run_apart(script, environments)
    for process in ended:
        assert process.returncode == 0, process.stderr
    return [process.stdout for process in ended]


def test_a_peer_of_another_version_and_with_other_settings(tmp_path):
    flag = "--xla_cpu_enable_fast_min_max=true"
    own = {"XLA_FLAGS": f"--xla_dump_to={tmp_path / '0'}", "JAXFRAMES_KERNELS": "native"}
    other = {
        "XLA_FLAGS": f"{flag} --xla_dump_to={tmp_path / '1'}",
        "FALSE_VERSION": "0.12.0",
        "JAX_ENABLE_X64": "1",
        "JAX_NUM_CPU_DEVICES": "3",
        "JAXFRAMES_KERNELS": "xla",
    }
    said = settings_said([own, other])
    assert said[0] == said[1]
    for part in (
        "initialize: all processes must have the same versions and settings, got jax: ",
        " and 0.12.0 in process 1; ",
        "; jax_enable_x64: False in process 0 and True in process 1; ",
        "; jax_num_cpu_devices: 2 in process 0 and 3 in process 1; ",
        f"; XLA_FLAGS: '' in process 0 and '{flag}' in process 1; ",
        "; JAXFRAMES_KERNELS: 'native' in process 0 and 'xla' in process 1",
        ". Start all of them from the same environment.\n",
    ):
        assert part in said[0]
    assert "the kernels of jaxframes: " in said[0]


def test_processes_of_a_cluster_are_compared_too():
    # The port follows from the number of the job.
    while True:
        job = random.randrange(1, 2**12)
        with socket.socket() as free:
            try:
                free.bind(("", 61440 + job))
            except OSError:
                continue
        break
    cluster = {
        "SLURM_JOB_ID": str(job),
        "SLURM_STEP_NODELIST": "127.0.0.1",
        "SLURM_NTASKS": "2",
        "SLURM_LOCALID": "0",
        "JAX_COORDINATOR_ADDRESS": None,
        "JAX_NUM_PROCESSES": None,
        "JAX_PROCESS_ID": None,
    }
    script = STARTING + "\nprint(jax.process_count())\nos._exit(0)"
    said = settings_said(
        [cluster | {"SLURM_PROCID": "0"}, cluster | {"SLURM_PROCID": "1", "JAX_ENABLE_X64": "1"}],
        script.replace("print(error)", "print(error, flush=True)"),
    )
    for text in said:
        assert (
            "initialize: all processes must have the same versions and settings, got "
            "jax_enable_x64: False in process 0 and True in process 1. "
            "Start all of them from the same environment.\n2\n"
        ) in text


def test_later_changes_and_other_shapes():
    run_both(
        """
shardings.check_processes()
shardings.check_processes({"x": np.zeros((2, 3)) + process_id, "y": [1.0]})

def said(function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except (RuntimeError, ValueError) as error:
        return str(error)

rows = {"x": np.zeros((3, 2 + process_id)), "y": np.zeros(3, [np.int32, np.int64][process_id])}
assert said(shardings.check_processes, rows) == (
    "check_processes: all processes must pass arrays of the same shapes and dtypes, got "
    "arrays['x']: float64[3,2] in process 0 and float64[3,3] in process 1; "
    "arrays['y']: int32[3] in process 0 and int64[3] in process 1."
), said(shardings.check_processes, rows)
assert said(shardings.host_rows, rows, mesh) == (
    "host_rows: all processes must pass arrays of the same shapes and dtypes, got "
    "rows['x']: float64[any,2] in process 0 and float64[any,3] in process 1; "
    "rows['y']: int32[any] in process 0 and int64[any] in process 1."
), said(shardings.host_rows, rows, mesh)
assert said(shardings.host_rows, np.arange(4), mesh, capacity=2 + process_id) == (
    "host_rows: all processes must pass arrays of the same shapes and dtypes, got "
    "capacity: 2 in process 0 and 3 in process 1."
)
leaves = [{"x": np.arange(3)}, {"x": np.arange(3), "z": np.arange(3)}][process_id]
assert said(shardings.host_rows, leaves, mesh) == (
    "host_rows: all processes must pass arrays of the same shapes and dtypes, got "
    "rows['z']: none in process 0 and int64[any] in process 1."
)
jax.config.update("jax_default_matmul_precision", ["highest", None][process_id])
assert said(shardings.check_processes) == (
    "check_processes: all processes must have the same versions and settings, got "
    "jax_default_matmul_precision: 'highest' in process 0 and None in process 1. "
    "Start all of them from the same environment."
), said(shardings.check_processes)
"""
    )


def test_one_process_agrees_with_itself():
    shardings.check_processes()
    shardings.check_processes({"x": np.zeros((2, 3)), "y": 1.0})


def test_settings_are_those_of_the_installation():
    own = _settings.own_settings()
    assert all(isinstance(value, str) for value in own.values())
    library, backend = _library.load()
    if library is not None:
        assert own["the kernels of jaxframes"] == f"interface {_library.LIBRARY.version}"
    elif backend.reason.startswith("JAXFRAMES_KERNELS"):
        assert own["the kernels of jaxframes"] == "off"
    assert _settings._KERNELS == _library.LIBRARY_NAME
