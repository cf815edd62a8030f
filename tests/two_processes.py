# SPDX-License-Identifier: Apache-2.0
"""Runs a script in processes of a few CPU devices each, over `jax.distributed` on loopback."""

import os
import socket
import subprocess
import sys
from pathlib import Path

TIMEOUT_SECONDS = 180

PROLOGUE = """
import sys

import jax
import numpy as np

jax.config.update("jax_num_cpu_devices", NUM_DEVICES)
jax.config.update("jax_enable_x64", True)

from jaxframes import primitives, shardings

process_id = int(sys.argv[1])
# A second call has no effect.
for _ in range(2 if NUM_PROCESSES > 1 else 0):
    shardings.initialize(sys.argv[2], process_id=process_id, **OPTIONS)
mesh = shardings.make_mesh()


def whole(array):
    return np.asarray(jax.device_put(array, shardings.replicated(mesh)))
"""


def start(process_id, port, script, num_processes=2, num_devices=2, **options):
    options = {"num_processes": num_processes, **options}
    prologue = PROLOGUE.replace("**OPTIONS", f"**{options!r}")
    prologue = prologue.replace("NUM_DEVICES", str(num_devices))
    prologue = prologue.replace("NUM_PROCESSES", str(num_processes))
    paths = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.Popen(
        [sys.executable, "-c", prologue + script, str(process_id), f"127.0.0.1:{port}"],
        env={**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONPATH": os.pathsep.join(paths)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def run_both(script, timeout_seconds=TIMEOUT_SECONDS):
    """Runs the script in two processes of two devices; neither outlives the test."""
    run_all(script, 2, 2, timeout_seconds)


def run_all(script, num_processes, num_devices, timeout_seconds=TIMEOUT_SECONDS):
    """Runs it in processes with `num_devices` devices each; returns their outputs."""
    port = free_port()
    processes = [
        start(process_id, port, script, num_processes, num_devices)
        for process_id in range(num_processes)
    ]
    try:
        said = [process.communicate(timeout=timeout_seconds)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
    for process, output in zip(processes, said, strict=True):
        assert process.returncode == 0, output
    return said
