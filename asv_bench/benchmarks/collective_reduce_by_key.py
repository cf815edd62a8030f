# SPDX-License-Identifier: Apache-2.0
"""Reductions by key over a mesh."""

import functools

import jax
import jax.numpy as jnp
from jaxframes.primitives import collective

from .key_distributions import make_keys
from .measuring import (
    axis,
    bytes_communicated,
    compiled,
    mesh_of,
    over_shards,
    sharded_rows,
    temporary_bytes,
    use_devices,
)

NUM_SHARDS = 8


def sums_over_mesh(mesh):
    """The sum of a column of ones for each key, as a function to compile."""

    def sums(keys):
        ones = jnp.ones(keys.shape, jnp.float32)
        runs = collective.reduce_by_key(keys, ones, "sum", axis_name=mesh.axis_names)
        return runs.unique_keys, runs.values, runs.num_runs[None]

    return over_shards(sums, mesh)


@functools.lru_cache(maxsize=1)
def sums_and_keys(rows, distribution):
    """The compiled sums and their argument, after one run."""
    use_devices(NUM_SHARDS)
    mesh = mesh_of(NUM_SHARDS)
    args = sharded_rows(mesh, make_keys(distribution, rows, "int64"))
    run = compiled(sums_over_mesh(mesh), *args)
    jax.block_until_ready(run(*args))
    return run, args


class ReduceSkewedKeys:
    """Does the time over 8 shards depend on the rows of the most frequent key?"""

    params = (axis(2**16, 2**22), axis("zipf_1.1", "uniform", "half_one_key", "constant"))
    param_names = ("rows", "distribution")

    def setup(self, rows, distribution):
        self.run, self.args = sums_and_keys(rows, distribution)

    def time_reduce_by_key(self, rows, distribution):
        jax.block_until_ready(self.run(*self.args))


class ReduceVolume:
    """How many bytes are sent, and how much memory does it need? Neither depends on the keys."""

    params = (axis(2**16, 2**22),)
    param_names = ("rows",)

    def setup(self, rows):
        self.run, _ = sums_and_keys(rows, "uniform")

    def track_bytes_communicated(self, rows):
        return bytes_communicated(self.run, NUM_SHARDS)

    def track_temporary_bytes(self, rows):
        return temporary_bytes(self.run)

    track_bytes_communicated.unit = "bytes"
    track_temporary_bytes.unit = "bytes"
