# SPDX-License-Identifier: Apache-2.0
"""Shared parts of the benchmarks: devices, compiled calls, rows on a mesh, and costs."""

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

# Set by a smoke run, which only checks that benchmarks work.
IS_SMOKE = os.environ.get("JAXFRAMES_BENCH") == "smoke"


def axis(*values: Value) -> list[Value]:
    """The values of a parameter; in a smoke run only the first."""
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
    """Compiles a function for these arguments, so that a timed call only runs it."""
    return jax.jit(function).lower(*args).compile()


def waiting_call(function: Callable[..., Any], *args: Any) -> Callable[[], Any]:
    """A compiled call that waits for its result."""
    run = compiled(function, *args)
    return lambda: jax.block_until_ready(run(*args))


def mesh_of(num_shards: int) -> Mesh:
    """A mesh over the first devices of `use_devices`."""
    return shardings.make_mesh(num_shards)


def sharded_rows(mesh: Mesh, *columns: np.ndarray) -> tuple[jax.Array, ...]:
    """Shards columns by rows over a mesh, which must divide them."""
    return tuple(jax.device_put(column, shardings.row_sharded(mesh)) for column in columns)


def over_shards(function: Callable[..., Any], mesh: Mesh) -> Callable[..., Any]:
    """Maps a function of shards over whole columns; its results are sharded."""
    rows = PartitionSpec(mesh.axis_names)
    return jax.shard_map(function, mesh=mesh, in_specs=rows, out_specs=rows)


def bytes_communicated(run: jax.stages.Compiled, num_shards: int) -> int:
    """Bytes that each device sends in one run; the maximum over run-time branches."""
    return bytes_sent(run.as_text(), num_shards)


def temporary_bytes(run: jax.stages.Compiled) -> int:
    """Bytes of temporary memory of each device."""
    return run.memory_analysis().temp_size_in_bytes


def seconds_to_compile(function: Callable[..., Any], *args: Any) -> float:
    """Seconds to trace, lower and compile a Python function."""
    start = time.perf_counter()
    # A new function each time, because JAX caches traces.
    compiled(lambda *args: function(*args), *args)
    return time.perf_counter() - start
