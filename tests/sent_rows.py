# SPDX-License-Identifier: Apache-2.0
"""Rows for exchanges: adversarial destinations, and the expected arrivals.

Everything is held as `[shards, rows, ...]`.
"""

from typing import Any

import jax
import numpy as np
import oracles
from jaxframes.primitives import Partitioned
from on_shards import dealt_out, row_ids


def expected_partition(
    rows: Any, destination: np.ndarray, counts: np.ndarray, capacity: int | None = None
) -> Partitioned:
    """Rows by destination in the order of (shard, row), truncated to the capacity; true counts."""
    num_shards, num_rows = destination.shape
    capacity = num_rows if capacity is None else capacity
    places = np.arange(destination.size).reshape(destination.shape)
    received = oracles.partition(
        [shard[:count] for shard, count in zip(places, counts, strict=True)],
        [shard[:count] for shard, count in zip(destination, counts, strict=True)],
        num_shards,
    )
    kept = [shard[:capacity] for shard in received]
    flat = jax.tree.map(lambda leaf: leaf.reshape(destination.size, *leaf.shape[2:]), rows)
    return Partitioned(
        dealt_out(oracles.take(flat, np.concatenate(kept)), [len(s) for s in kept], capacity),
        np.array([len(shard) for shard in received], np.int32),
    )


def nonzero_rows(num_shards: int, num_rows: int) -> np.ndarray:
    """Rows that encode their origin and differ from padding."""
    return row_ids(num_shards, num_rows) + 1


def adversarial_destinations(num_shards: int, num_rows: int) -> dict[str, np.ndarray]:
    """Adversarial destinations `[shards, rows]` by name."""
    p = num_shards
    rng = np.random.default_rng(0)
    shape = (p, num_rows)
    shard, row = np.indices(shape)
    # The run from s to d has ((way - s - d) mod p) + 1 rows: as many as fit the blocks of the
    # two hops, and one row more in each stripe that goes by `way` than in the others.
    destinations = np.arange(p)
    tight = [np.repeat(destinations, (1 - s - destinations) % p + 1) for s in range(p)]
    tight = np.array([np.resize(np.append(runs, -1), num_rows)[:num_rows] for runs in tight])
    return {
        "random": rng.integers(0, p, shape),
        "all to the first": np.zeros(shape, int),
        "all to the last": np.full(shape, p - 1),
        "to itself": shard,
        "to the next": (shard + 1) % p,
        "mirrored": p - 1 - shard,
        "round robin": (shard + row) % p,
        "sorted round robin": row * p // max(num_rows, 1),
        "none": np.full(shape, -1),
        "out of range": np.where(row % 3 == 0, p + row, np.where(row % 3 == 1, -row, shard)),
        "the first shard sends all to the last": np.where(shard == 0, p - 1, -1),
        "half to one": np.where(row % 2 == 0, p // 2, rng.integers(0, p, shape)),
        "tight stripes": tight,
    }
