# SPDX-License-Identifier: Apache-2.0
"""A program that XLA replays as a CUDA graph, and sums of many rows into few segments."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxframes.primitives import local

from card.times import seconds_of

FEW = (1, 2, 64, 1024)
ROWS = 2**24


def _program(keys: jax.Array, x: jax.Array) -> Any:
    order, inverse, offsets = local.bucket_order(keys % 64, 64)
    sums = local.segment_sum(x, keys % 1024, 1024)
    kept = local.compact(x > 0, x)
    return order, inverse, offsets, sums, kept.rows, kept.count, local.inclusive_scan(x)


def replayed() -> dict[str, Any]:
    """Runs a saved program many times, while other arrays come and go in memory.

    A graph that kept scratch memory which is no longer its own would damage them.
    """
    rng = np.random.default_rng(40)
    keys = jnp.asarray(rng.integers(0, 10_000, 2**18, np.int32))
    x = jnp.asarray(rng.standard_normal(2**18).astype(np.float32))
    compiled = (
        jax.jit(_program)
        .lower(keys, x)
        .compile(
            {
                "xla_gpu_enable_command_buffer": "FUSION,CUSTOM_CALL",
                "xla_gpu_graph_min_graph_size": 1,
            }
        )
    )
    first = [np.asarray(leaf) for leaf in jax.tree.leaves(compiled(keys, x))]
    others: list[jax.Array] = []
    differing = damaged = 0
    for run in range(50):
        results = [np.asarray(leaf) for leaf in jax.tree.leaves(compiled(keys, x))]
        differing += any(a.tobytes() != b.tobytes() for a, b in zip(results, first, strict=True))
        others.append(jnp.full(2**20, run, jnp.int32))
        if run % 3 == 0:
            others.pop(0)
        damaged += sum(bool((other != other[0]).any()) for other in others)
    seconds = seconds_of(lambda: compiled(keys, x), jax.block_until_ready)
    plain = jax.jit(_program).lower(keys, x).compile({"xla_gpu_enable_command_buffer": ""})
    return {
        "runs": 50, "differing": differing, "damaged": damaged, "seconds": seconds,
        "seconds_without_graph": seconds_of(lambda: plain(keys, x), jax.block_until_ready),
        "text_has_graph": "command_buffer" in compiled.as_text(),
    }  # fmt: skip


def contention(record: Callable[[str, int, Any], None]) -> None:
    """Measures sums of rows into few segments: by XLA's scatter, and by the kernel for floats."""
    rng = np.random.default_rng(40)
    ids = jnp.asarray(rng.integers(0, 2**30, ROWS, np.int32))
    ints = jnp.asarray(rng.integers(0, 100, ROWS, np.int32))
    floats = ints.astype(jnp.float32)
    for segments in FEW:
        of_rows = ids % segments

        def scattered(x: jax.Array, ids: jax.Array, segments: int = segments) -> jax.Array:
            return jnp.zeros(segments, x.dtype).at[ids].add(x)

        def summed(x: jax.Array, ids: jax.Array, segments: int = segments) -> jax.Array:
            return local.segment_sum(x, ids, segments)

        def largest(x: jax.Array, ids: jax.Array, segments: int = segments) -> jax.Array:
            return local.segment_max(x, ids, segments)

        for name, call, x in (
            ("scatter-add i32", scattered, ints),
            ("scatter-add f32", scattered, floats),
            ("segment_sum i32", summed, ints),
            ("segment_sum f32", summed, floats),
            ("segment_max f32", largest, floats),
        ):
            run = jax.jit(call)
            seconds = seconds_of(lambda: run(x, of_rows), jax.block_until_ready)  # noqa: B023
            record(f"{name}, {segments} segments", ROWS, seconds)
