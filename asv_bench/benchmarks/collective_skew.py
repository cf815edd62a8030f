# SPDX-License-Identifier: Apache-2.0
"""The time of ops that move rows, with skewed rows and with uniform ones."""

import statistics
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxframes.primitives import collective

from .key_distributions import make_keys
from .measuring import IS_SMOKE, axis, compiled, mesh_of, over_shards, sharded_rows, use_devices

NUM_SHARDS = 8
REPEATS = 1 if IS_SMOKE else 7


def _radix_sort(keys: Any, ids: Any, num_valid: Any) -> Any:
    return collective.radix_sort(keys, values=ids, num_valid=num_valid, axis_name="rows")


def _segmented_sort(keys: Any, ids: Any, num_valid: Any) -> Any:
    return collective.segmented_sort(
        keys, keys % 16, values=ids, num_valid=num_valid, axis_name="rows"
    )


def _rebalance(keys: Any, ids: Any, num_valid: Any) -> Any:
    return collective.rebalance((keys, ids), num_valid=num_valid, axis_name="rows").rows


def _concatenate(keys: Any, ids: Any, num_valid: Any) -> Any:
    pieces, counts = [(keys, ids), (keys, ids)], (num_valid, num_valid)
    return collective.concatenate(pieces, counts, capacity=2 * keys.shape[0], axis_name="rows").rows


def _compact(keys: Any, ids: Any, num_valid: Any) -> Any:
    return collective.compact(keys > 0, (keys, ids), num_valid=num_valid, axis_name="rows").rows


def _gather_rows(keys: Any, ids: Any, num_valid: Any) -> Any:
    # Skewed keys ask for few rows, of few shards.
    num_rows = jnp.int32(NUM_SHARDS * keys.shape[0])
    wanted = jnp.abs(keys) % num_rows
    return collective.gather_rows((keys, ids), wanted, num_valid=num_valid, axis_name="rows")


def _unique(keys: Any, ids: Any, num_valid: Any) -> Any:
    return collective.unique(keys, num_valid=num_valid, axis_name="rows").unique_keys


def _reduce_by_key(keys: Any, ids: Any, num_valid: Any) -> Any:
    return collective.reduce_by_key(keys, ids, "sum", num_valid=num_valid, axis_name="rows").values


OPS: dict[str, Callable[..., Any]] = {
    "radix_sort": _radix_sort,
    "segmented_sort": _segmented_sort,
    "rebalance": _rebalance,
    "concatenate": _concatenate,
    "compact": _compact,
    "gather_rows": _gather_rows,
    "unique": _unique,
    "reduce_by_key": _reduce_by_key,
}


def attacked_rows(mesh: Any, rows: int, attack: str) -> tuple[jax.Array, ...]:
    """Keys, row ids and the number of valid rows of each shard."""
    keys = make_keys("constant" if attack == "one key" else "uniform", rows, np.int32)
    shard_rows = rows // NUM_SHARDS
    counts = np.full(NUM_SHARDS, shard_rows // 2, np.int32)
    if attack == "few shards":
        # As many rows in all, on half of the shards.
        counts = np.where(np.arange(NUM_SHARDS) % 2, shard_rows, 0).astype(np.int32)
    return sharded_rows(mesh, keys, np.arange(rows, dtype=np.int32), counts)


class SkewedOverUniform:
    """Is the time with skewed rows at most 1.5 times that with uniform ones?

    Half of the capacity holds rows: of one key, or on every second shard. The calls alternate, so
    that both see the same machine.
    """

    params = (axis("radix_sort", *(op for op in OPS if op != "radix_sort")),
              axis("one key", "few shards"), axis(2**16, 2**22))  # fmt: skip
    param_names = ("op", "attack", "rows")

    def setup(self, op: str, attack: str, rows: int) -> None:
        use_devices(NUM_SHARDS)
        mesh = mesh_of(NUM_SHARDS)

        def call(keys: Any, ids: Any, num_valid: Any) -> Any:
            return OPS[op](keys, ids, num_valid[0])

        self.inputs = [attacked_rows(mesh, rows, name) for name in ("uniform", attack)]
        self.run = compiled(over_shards(call, mesh), *self.inputs[0])
        for args in self.inputs:
            jax.block_until_ready(self.run(*args))

    def track_ratio(self, op: str, attack: str, rows: int) -> float:
        seconds: tuple[list[float], list[float]] = ([], [])
        for _ in range(REPEATS):
            for args, times in zip(self.inputs, seconds, strict=True):
                start = time.perf_counter()
                jax.block_until_ready(self.run(*args))
                times.append(time.perf_counter() - start)
        uniform, skewed = map(statistics.median, seconds)
        return skewed / uniform

    track_ratio.unit = "ratio"
