# SPDX-License-Identifier: Apache-2.0
"""Joins over a mesh."""

import functools

import jax
import numpy as np
from jaxframes.primitives import collective

from .key_distributions import make_keys
from .measuring import (
    axis,
    bytes_communicated,
    compiled,
    mesh_of,
    over_shards,
    sharded_rows,
    use_devices,
)

NUM_SHARDS = 8


@functools.lru_cache(maxsize=1)
def join_and_sides(rows, distribution):
    """The compiled join and its sides, after one run; each left row has one pair."""
    use_devices(NUM_SHARDS)
    mesh = mesh_of(NUM_SHARDS)
    left = make_keys(distribution, rows, "int64")
    # Each key once on the right side, and others that match nothing, to a quarter of the left.
    distinct = np.unique(left)[: rows // 4]
    others = np.arange(rows // 4 - len(distinct)) + np.int64(2) ** 40
    right = np.random.default_rng(0).permutation(np.concatenate([distinct, others]))

    def join(left, right):
        joined = collective.join(
            left, right, how="left", capacity=rows // NUM_SHARDS, axis_name=mesh.axis_names
        )
        return joined.left_rows, joined.right_rows, joined.count[None]

    args = sharded_rows(mesh, left, right)
    run = compiled(over_shards(join, mesh), *args)
    jax.block_until_ready(run(*args))
    return run, args


class JoinSkewedKeys:
    """Does the time over 8 shards depend on the left rows of the most frequent key?"""

    params = (axis(2**16, 2**22), axis("zipf_1.1", "uniform", "half_one_key"))
    param_names = ("rows", "distribution")

    def setup(self, rows, distribution):
        self.run, self.args = join_and_sides(rows, distribution)

    def time_join(self, rows, distribution):
        jax.block_until_ready(self.run(*self.args))

    def track_bytes_communicated(self, rows, distribution):
        return bytes_communicated(self.run, NUM_SHARDS)

    track_bytes_communicated.unit = "bytes"
