# SPDX-License-Identifier: Apache-2.0
"""Compiles programs for chips that are not here, in processes that may die.

A script takes names of compilations as arguments, and prints one line of JSON for each, in their
order. The compiler reads the environment, and a failure of it ends the process.
"""

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

ROOT = Path(__file__).parents[1]
# The compiler itself: outside the environment, where JAX would look for a TPU with it.
LIBTPU = ROOT / "build/libtpu"


# XLA's compiler for GPU, and the CUDA kernels.
GPU_PLUGIN = ROOT / "build/gpu_plugin"
CUDA_KERNELS = ROOT / "build/cuda/site"


class Batch(NamedTuple):
    """Compilations that one process makes, one after the other, and its environment."""

    arguments: Sequence[str]
    environment: Mapping[str, str]


def tpu_environment(accelerator: str) -> dict[str, str]:
    """The environment in which JAX describes TPUs of a kind without having one."""
    paths = [str(LIBTPU), os.environ.get("PYTHONPATH", "")]
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        "JAX_PLATFORMS": "cpu",
        "TPU_ACCELERATOR_TYPE": accelerator,
        "TPU_WORKER_HOSTNAMES": "localhost",
        "TPU_SKIP_MDS_QUERY": "1",
        # Each process has a compiler, and none has a TPU to lock.
        "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    }


def gpu_environment(has_kernels: bool) -> dict[str, str]:
    """The environment in which JAX compiles for GPUs without having one."""
    paths = [str(GPU_PLUGIN), str(CUDA_KERNELS), os.environ.get("PYTHONPATH", "")]
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        "JAX_PLATFORMS": "cpu",
        "JAXFRAMES_KERNELS": "native" if has_kernels else "xla",
        # What CUB needs as scratch memory is asked of a GPU: such sorts stay sorts.
        "XLA_FLAGS": "--xla_gpu_autotune_level=0 "
        "--xla_gpu_deviceless_cub_mode=DEVICELESS_CUB_DISABLED",
    }


def compile_all(
    script: Path,
    batches: Sequence[Batch],
    workers: int,
    seconds: float,
    record: Callable[[dict[str, Any]], None],
) -> None:
    """Compiles every batch and records each result, one at a time.

    Args:
        script: what a process runs.
        batches: the compilations.
        workers: processes at a time.
        seconds: most seconds of one compilation.
        record: called with each result, which has `case`, and `error` if it failed.
    """
    waiting: queue.SimpleQueue[Batch] = queue.SimpleQueue()
    for batch in batches:
        waiting.put(batch)
    lock = threading.Lock()

    def work() -> None:
        while True:
            try:
                batch = waiting.get_nowait()
            except queue.Empty:
                return
            for used in _compiled(script, batch, seconds):
                with lock:
                    record(used)

    threads = [threading.Thread(target=work) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _compiled(script: Path, batch: Batch, seconds: float) -> Iterator[dict[str, Any]]:
    """Yields a result for each compilation; a process that dies or hangs is started again."""
    left = list(batch.arguments)
    while left:
        with tempfile.TemporaryFile("w+") as errors:
            for line in _lines_of(script, batch._replace(arguments=left), seconds, errors):
                left.pop(0)
                yield json.loads(line)
            if left:
                errors.seek(0)
                what = f"the compiler ended, or took more than {seconds:.0f} s: "
                yield {"case": left.pop(0), "error": what + errors.read()[-2000:]}


def _lines_of(script: Path, batch: Batch, seconds: float, errors: IO[str]) -> Iterator[str]:
    """Yields what a process prints, until it ends or prints nothing for so many seconds."""
    process = subprocess.Popen(
        [sys.executable, str(script), *batch.arguments],
        env=dict(batch.environment),
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
    )
    assert process.stdout is not None
    try:
        while True:
            timer = threading.Timer(seconds, process.kill)
            timer.start()
            line = process.stdout.readline()
            timer.cancel()
            if not line:
                return
            yield line
    finally:
        process.kill()
        process.wait()
