# SPDX-License-Identifier: Apache-2.0
"""Sorts over a mesh, compared with XLA's sort of the same sharded array."""

import functools

import jax
import jax.numpy as jnp
from jaxframes import primitives, shardings

from .key_distributions import make_keys
from .measuring import (
    axis,
    bytes_communicated,
    compiled,
    mesh_of,
    sharded_rows,
    temporary_bytes,
    use_devices,
)

MAX_SHARDS = 8


def sort_over_mesh(implementation, mesh):
    """The sort of one sharded column, as a function to compile."""
    if implementation == "jaxframes":
        return lambda keys: primitives.radix_sort(keys, mesh)
    # XLA gathers all rows on every device and sorts them there.
    return lambda keys: jax.lax.with_sharding_constraint(
        jnp.sort(keys), shardings.row_sharded(mesh)
    )


@functools.lru_cache(maxsize=1)
def sort_and_keys(rows, dtype, distribution, shards, implementation):
    """The compiled sort and its argument, after one run."""
    use_devices(MAX_SHARDS)
    mesh = mesh_of(shards)
    args = sharded_rows(mesh, make_keys(distribution, rows, dtype))
    run = compiled(sort_over_mesh(implementation, mesh), *args)
    jax.block_until_ready(run(*args))
    return run, args


class SortSkewedKeys:
    """Does the time of a sort over 8 shards depend on the distribution of keys?"""

    params = (
        axis(2**16, 2**22),
        axis("int32", "int64"),
        axis("zipf", "uniform", "constant", "sorted", "reversed"),
        axis("jaxframes", "xla"),
    )
    param_names = ("rows", "dtype", "distribution", "implementation")

    def setup(self, rows, dtype, distribution, implementation):
        self.run, self.args = sort_and_keys(rows, dtype, distribution, MAX_SHARDS, implementation)

    def time_sort(self, rows, dtype, distribution, implementation):
        jax.block_until_ready(self.run(*self.args))


class SortOverShards:
    """How many bytes does a sort send, and how much memory does it need?"""

    params = (axis(2**16, 2**22), axis(8, 2, 4), axis("jaxframes", "xla"))
    param_names = ("rows", "shards", "implementation")

    def setup(self, rows, shards, implementation):
        self.run, self.args = sort_and_keys(rows, "int32", "uniform", shards, implementation)

    def time_sort(self, rows, shards, implementation):
        jax.block_until_ready(self.run(*self.args))

    def track_bytes_communicated(self, rows, shards, implementation):
        return bytes_communicated(self.run, shards)

    def track_temporary_bytes(self, rows, shards, implementation):
        return temporary_bytes(self.run)

    track_bytes_communicated.unit = "bytes"
    track_temporary_bytes.unit = "bytes"
