# SPDX-License-Identifier: Apache-2.0
"""Pallas kernels for TPU, interpreted on CPU.

Most tests pass `interpret=True`, which runs a kernel as a program of XLA. The interpreter of the
TPU's memories is slower. It finds races, and runs inside `shard_map`.
"""

from collections.abc import Callable
from typing import Any

import jax
from jax.experimental.pallas import tpu as pltpu
from jaxframes.primitives.contract._platform import traced_for

ON_MESH = pltpu.InterpretParams(out_of_bounds_reads="uninitialized")
WITH_RACES = pltpu.InterpretParams(detect_races=True, out_of_bounds_reads="uninitialized")


def lowered_with_kernels(function: Callable[..., Any], *arguments: Any) -> str:
    """The text of a program for TPU, with the kernels, of a function of arrays."""
    with traced_for("tpu"):
        return jax.jit(function).trace(*arguments).lower(lowering_platforms=("tpu",)).as_text()
