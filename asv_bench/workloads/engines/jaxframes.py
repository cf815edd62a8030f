# SPDX-License-Identifier: Apache-2.0
"""This library, eagerly, on one device with all threads."""

import time
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import jax
from benchmarks.measuring import use_devices
from jaxframes import frame
from jaxframes.primitives.tiers._background import wait_until_compiled

use_devices(1)

SETTLING_SECONDS = 3.0


def questions(package: str) -> Mapping[str, Any]:
    style = import_module(f"workloads.{package}.pandas_style")
    return {**style.QUESTIONS, **getattr(style, "OWN_QUESTIONS", {})}


def load(paths: Mapping[str, Path], categories: Collection[str]) -> Any:
    return jax.block_until_ready({name: frame.read_parquet(path) for name, path in paths.items()})


def prepare(question: Callable[..., Any], tables: Any) -> Callable[[], Any]:
    return lambda: jax.block_until_ready(question(frame, tables))


def settle(call: Callable[[], Any], num_calls: int) -> None:
    """Repeats a call until its programs are compiled: those before run in an interpreter.

    A program is compiled in the background when it has been called often enough.
    """
    start = time.perf_counter()
    for _ in range(num_calls):
        call()
        if time.perf_counter() - start > SETTLING_SECONDS:
            break
    wait_until_compiled()
    call()


def to_pandas(answer: Any) -> Any:
    return answer.to_pandas() if hasattr(answer, "to_pandas") else answer
