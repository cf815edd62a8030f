# SPDX-License-Identifier: Apache-2.0
"""Random orders of whole arrays, on one device or over a mesh."""

import functools
from typing import Any

from ...shardings._compat import MeshLike
from .. import local
from .._in_shared_memory import in_shared_memory
from .._over_mesh import RowMesh, ValidRows, as_row_mesh
from ..collective._exchange import Transport, check_transport
from ..collective._radix_sort import global_row_ids
from ..collective._shuffle import shuffle_shards
from ..collective._sorted_runs import Dealing
from ..contract._arguments import MAX_SHARD_ROWS, as_rows, as_static_int, num_rows_of
from ..contract._random_rows import as_key_words
from ..contract._typing import Array, ArrayLike, Int, Integer, PyTree, Shaped
from ..tiers._tiered import tiered


@in_shared_memory
def random_permutation(
    key: Shaped[ArrayLike, "..."],
    num_rows: int,
    mesh: MeshLike | None = None,
    *,
    axis: str | tuple[str, ...] | None = None,
    transport: Transport = "auto",
) -> Int[Array, " rows"]:
    """Draws a permutation of row ids, on one device or over a mesh; all are equally likely.

    Args:
        key: a key of `jax.random`.
        num_rows: the number of rows. Static.
        mesh: mesh of the rows; one device by default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.
        transport: transport of the row ids; see `collective.partition`.

    Returns:
        The numbers from 0 to `num_rows - 1` in random order: int32, or int64 above 2^31 rows.
        Sharded as the result of `radix_sort`.

    Raises:
        TypeError: `key` is not a key of `jax.random`, `num_rows` is traced, or `mesh` is not a
            mesh.
        ValueError: `key` is an array of keys, `num_rows` is negative, or `axis` is not an axis of
            the mesh.

    Cost:
        That of `radix_argsort` of two words.

    Guarantees:
        Deterministic; the same on every mesh.

    Example:
        >>> import jax
        >>> from jaxframes import primitives, shardings
        >>> order = primitives.random_permutation(jax.random.key(0), 4, shardings.make_mesh(1))
        >>> sorted(order.tolist())
        [0, 1, 2, 3]
    """
    caller = "random_permutation"
    check_transport(transport, caller)
    row_mesh = as_row_mesh(mesh, axis, caller)
    if row_mesh is None:
        return local.random_permutation(key, num_rows)
    words = as_key_words(key, caller)
    most = row_mesh.num_shards * MAX_SHARD_ROWS
    num_rows = as_static_int(num_rows, caller, "num_rows", 0, most)
    return _permutation_on_mesh(words, row_mesh, num_rows, transport)


@in_shared_memory
def shuffle(
    key: Shaped[ArrayLike, "..."],
    rows: PyTree,
    mesh: MeshLike | None = None,
    *,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    axis: str | tuple[str, ...] | None = None,
    transport: Transport = "auto",
) -> PyTree:
    """Puts rows in random order, on one device or over a mesh; all orders are equally likely.

    The order is that of `random_permutation` of the same key.

    Args:
        key: a key of `jax.random`.
        rows: any pytree of arrays with the same leading axis, of any length.
        mesh: mesh of the rows; one device by default.
        num_valid: number of valid rows, at the front; all rows by default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.
        transport: transport of the rows; see `collective.partition`.

    Returns:
        The rows in random order. The valid rows come first, and the rows after them are arbitrary.
        Sharded as the result of `radix_sort`.

    Raises:
        TypeError: `key` is not a key of `jax.random`, or `mesh` is not a mesh.
        ValueError: leading axes differ, `key` is an array of keys, or `axis` is not an axis of the
            mesh.

    Cost:
        That of `radix_sort` by two words. Over a mesh each row travels once.

    Guarantees:
        Deterministic; the same on every mesh; differentiable in `rows`.

    Example:
        >>> import jax
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives, shardings
        >>> key, rows = jax.random.key(0), jnp.array([20, 10, 30])
        >>> sorted(primitives.shuffle(key, rows, shardings.make_mesh(1)).tolist())
        [10, 20, 30]
    """
    caller = "shuffle"
    check_transport(transport, caller)
    row_mesh = as_row_mesh(mesh, axis, caller)
    if row_mesh is None:
        return local.shuffle(key, rows, num_valid=num_valid)
    words = as_key_words(key, caller)
    num_rows = num_rows_of(rows, caller)
    rows = row_mesh.place(as_rows(rows, num_rows, caller, "rows"))
    valid = row_mesh.valid_rows(num_valid, num_rows, caller)
    return _shuffle_on_mesh(words, rows, valid, row_mesh, num_rows, transport)


@functools.partial(tiered, static_argnums=(1, 2, 3))
def _permutation_on_mesh(
    words: Array, row_mesh: RowMesh, num_rows: int, transport: Transport
) -> Array:
    def permute(words: Array) -> Array:
        caller = "random_permutation"
        row_ids = global_row_ids(row_mesh.shard_rows(num_rows), row_mesh.axes, caller)
        of_shard = row_mesh.num_valid(num_rows)
        dealing = Dealing(row_mesh.axes, "full", transport)
        return shuffle_shards(words, row_ids, of_shard, dealing, caller)

    return row_mesh.trim(row_mesh.map(permute, replicated=(words,)), num_rows)


@functools.partial(tiered, static_argnums=(3, 4, 5))
def _shuffle_on_mesh(
    words: Array,
    rows: Any,
    valid: ValidRows | None,
    row_mesh: RowMesh,
    num_rows: int,
    transport: Transport,
) -> Any:
    def shuffle_shard(rows: Any, words: Array, valid: ValidRows | None) -> Any:
        of_shard = row_mesh.num_valid(num_rows, valid)
        dealing = Dealing(row_mesh.axes, "full", transport)
        return shuffle_shards(words, rows, of_shard, dealing, "shuffle")

    return row_mesh.trim(row_mesh.map(shuffle_shard, rows, replicated=(words, valid)), num_rows)
