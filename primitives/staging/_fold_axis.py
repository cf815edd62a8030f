# SPDX-License-Identifier: Apache-2.0
"""A random key for each shard of a mesh axis."""

import jax
import jax.numpy as jnp

from ..contract._arguments import type_of
from ..contract._axis_scope import AxisName, size_of_axis
from ..contract._typing import Array


def fold_axis(key: Array, axis_name: AxisName) -> Array:
    """Derives another random key on each shard of a mesh axis.

    Args:
        key: a key of `jax.random.key`, or of `jax.random.PRNGKey`, the same on all shards.
        axis_name: mesh axis, or axes, of the enclosing `shard_map`; or the axis of a `vmap`.

    Returns:
        `jax.random.fold_in(key, shard_index)`, of the same type as `key`.

    Raises:
        TypeError: `key` is not one random key, or `axis_name` is not a name.
        ValueError: `axis_name` is not an axis of the enclosing `shard_map`.

    Cost:
        One `fold_in`. No communication.

    Guarantees:
        Keys of different shards differ. A key depends on `key` and on the position along
        `axis_name` alone, so shards along other axes share it, and a rerun gives it again.

    Example:
        Two shards:

            shard 0   key k    ->   fold_in(k, 0)
            shard 1   key k    ->   fold_in(k, 1)
    """
    if not _is_one_key(key):
        raise TypeError(
            f"fold_axis: key must be one random key, got {type_of(key)}. "
            "Make it with jax.random.key."
        )
    size_of_axis(axis_name, "fold_axis")
    return jax.random.fold_in(key, jax.lax.axis_index(axis_name))


def _is_one_key(key: object) -> bool:
    if not isinstance(key, jax.Array):
        return False
    if jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
        return key.ndim == 0
    # The words of a key, as `jax.random.PRNGKey` gives them.
    return key.ndim == 1 and key.dtype == jnp.uint32
