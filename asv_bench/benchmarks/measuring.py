# SPDX-License-Identifier: Apache-2.0
"""What every benchmark needs: devices, compiled calls, rows on a mesh, and what a call costs."""

import functools
import os
import time
from collections.abc import Callable
from typing import Any, TypeVar

import jax
import numpy as np
from jax.sharding import Mesh, PartitionSpec
from jaxframes import shardings

from .communication import bytes_sent

Value = TypeVar("Value")

# Set by a smoke run: benchmarks must work, and what they measure does not matter.
IS_SMOKE = os.environ.get("JAXFRAMES_BENCH") == "smoke"


def axis(*values: Value) -> list[Value]:
    """The values of a parameter; in a smoke run the first alone."""
    return list(values[:1] if IS_SMOKE else values)


@functools.cache
def use_devices(num_devices: int) -> None:
    """Starts JAX with 64-bit types and one device, or this many CPU devices that share the cores.

    The number is fixed once JAX has started, so a process can ask for one number only. One device
    is JAX's first, an accelerator where there is one; on CPU an op has all the threads of the
    process for itself.
    """
    if num_devices > 1:
        jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", num_devices)
    jax.config.update("jax_enable_x64", True)


def compiled(function: Callable[..., Any], *args: Any) -> jax.stages.Compiled:
    """Compiles a function for these arguments, so that a timed call does nothing but run."""
    return jax.jit(function).lower(*args).compile()


def waiting_call(function: Callable[..., Any], *args: Any) -> Callable[[], Any]:
    """A compiled call that returns when its result is there."""
    run = compiled(function, *args)
    return lambda: jax.block_until_ready(run(*args))


def mesh_of(num_shards: int) -> Mesh:
    """A mesh over the first devices of those that `use_devices` asked for."""
    return shardings.make_mesh(num_shards)


def sharded_rows(mesh: Mesh, *columns: np.ndarray) -> tuple[jax.Array, ...]:
    """Columns cut by rows over a mesh, which must divide them."""
    return tuple(jax.device_put(column, shardings.row_sharded(mesh)) for column in columns)


def over_shards(function: Callable[..., Any], mesh: Mesh) -> Callable[..., Any]:
    """A function of shards as a function of whole columns; its results lie along the mesh."""
    rows = PartitionSpec(mesh.axis_names)
    return jax.shard_map(function, mesh=mesh, in_specs=rows, out_specs=rows)


def bytes_communicated(run: jax.stages.Compiled, num_shards: int) -> int:
    """Bytes that each device sends in one run; of a choice made at run time, the dearer way."""
    return bytes_sent(run.as_text(), num_shards)


def temporary_bytes(run: jax.stages.Compiled) -> int:
    """Bytes of memory that each device needs beside arguments and results."""
    return run.memory_analysis().temp_size_in_bytes


def seconds_to_compile(function: Callable[..., Any], *args: Any) -> float:
    """Seconds from a Python function to a program that runs: trace, lower and compile."""
    start = time.perf_counter()
    # A new function each time: JAX remembers what it traced.
    compiled(lambda *args: function(*args), *args)
    return time.perf_counter() - start
