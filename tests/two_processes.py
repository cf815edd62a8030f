# SPDX-License-Identifier: Apache-2.0
"""Runs a script in two processes of two CPU devices each, over `jax.distributed` on loopback."""

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

jax.config.update("jax_num_cpu_devices", 2)
jax.config.update("jax_enable_x64", True)

from jaxframes import primitives, shardings

process_id = int(sys.argv[1])
shardings.initialize(sys.argv[2], num_processes=2, process_id=process_id, **OPTIONS)
shardings.initialize(sys.argv[2], num_processes=2, process_id=process_id, **OPTIONS)
mesh = shardings.make_mesh()


def whole(array):
    return np.asarray(jax.device_put(array, shardings.replicated(mesh)))
"""


def start(process_id, port, script, **options):
    prologue = PROLOGUE.replace("**OPTIONS", f"**{options!r}")
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
    """Runs the script in two processes; neither outlives the test."""
    port = free_port()
    processes = [start(process_id, port, script) for process_id in range(2)]
    try:
        said = [process.communicate(timeout=timeout_seconds)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
    for process, output in zip(processes, said, strict=True):
        assert process.returncode == 0, output
