# SPDX-License-Identifier: Apache-2.0
"""Runs a script in processes of a few CPU devices each, by the launcher of the package."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from jaxframes.shardings.launch import free_port

TIMEOUT_SECONDS = 180

PROLOGUE = """
import jax
import numpy as np

jax.config.update("jax_enable_x64", True)

from jaxframes import primitives, shardings

process_id = jax.process_index()
mesh = shardings.make_mesh()


def whole(array):
    return np.asarray(jax.device_put(array, shardings.replicated(mesh)))
"""


def launch(script, *options, timeout_seconds=TIMEOUT_SECONDS):
    """Runs a script by the launcher, which does not outlive the test; returns the process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "script.py"
        path.write_text(script)
        process = start_launcher(path, *options)
        try:
            stdout, stderr = process.communicate(timeout=timeout_seconds)
        finally:
            # It ends its ranks before it ends.
            process.send_signal(signal.SIGTERM)
            process.wait()
    return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)


def start_launcher(path, *options, environment=None):
    paths = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.Popen(
        [sys.executable, "-m", "jaxframes.shardings.launch", *options, str(path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run_both(script, timeout_seconds=TIMEOUT_SECONDS):
    """Runs the script in two processes of two devices."""
    run_all(script, 2, 2, timeout_seconds)


def run_all(script, num_processes, num_devices, timeout_seconds=TIMEOUT_SECONDS):
    """Runs it in processes with `num_devices` devices each; returns their outputs."""
    options = ["-n", str(num_processes), "--devices", str(num_devices)]
    finished = launch(PROLOGUE + script, *options, timeout_seconds=timeout_seconds)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    lines = re.findall(r"^\[(\d+)\] (.*\n)", finished.stdout, re.MULTILINE)
    return ["".join(line for rank, line in lines if rank == str(i)) for i in range(num_processes)]


def run_apart(script, environments, timeout_seconds=TIMEOUT_SECONDS):
    """Runs a script in a process for each environment, without a launcher that ends the others.

    Returns the finished processes. The script calls `shardings.initialize` itself, and finds the
    address of the coordinator in the usual variables.
    """
    address = f"127.0.0.1:{free_port()}"
    processes = []
    for process_id, environment in enumerate(environments):
        settings = {
            "JAX_PLATFORMS": "cpu",
            "JAX_NUM_CPU_DEVICES": "2",
            "JAX_COORDINATOR_ADDRESS": address,
            "JAX_NUM_PROCESSES": str(len(environments)),
            "JAX_PROCESS_ID": str(process_id),
        }
        own = {**os.environ, **settings, **environment}
        processes.append(
            subprocess.Popen(
                [sys.executable, "-c", script],
                env={name: value for name, value in own.items() if value is not None},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    try:
        said = [process.communicate(timeout=timeout_seconds) for process in processes]
    finally:
        for process in processes:
            process.kill()
    return [
        subprocess.CompletedProcess(process.args, process.returncode, *outputs)
        for process, outputs in zip(processes, said, strict=True)
    ]
