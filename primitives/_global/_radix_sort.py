# SPDX-License-Identifier: Apache-2.0
"""Stable sort of whole arrays, on one device or over a mesh."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ...shardings._compat import MeshLike
from .. import local
from .._in_shared_memory import in_shared_memory
from .._over_mesh import RowMesh, ValidRows, as_row_mesh
from ..collective._exchange import Transport, check_transport
from ..collective._radix_sort import global_row_ids
from ..collective._sort_shards import sort_shards
from ..collective._sorted_runs import Dealing, SortOrder
from ..contract._arguments import as_directions, as_keys, as_rows
from ..contract._key_bits import as_bits
from ..contract._typing import Array, ArrayLike, Int, Integer, Keys, PyTree
from ..tiers._tiered import tiered


@in_shared_memory
def radix_sort(
    keys: Keys,
    mesh: MeshLike | None = None,
    *,
    values: PyTree | None = None,
    descending: bool | Sequence[bool] = False,
    bits: int | Sequence[int | None] | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    axis: str | tuple[str, ...] | None = None,
    transport: Transport = "auto",
) -> Any:
    """Sorts rows by their keys, on one device or over a mesh.

    Args:
        keys: one array of shape `(rows,)`, or a tuple of them, most significant first; bool,
            integers of 8 to 64 bits, or floats of 16 to 64 bits. Any length.
        mesh: mesh of the rows; one device by default.
        values: a pytree of arrays with leading axis `rows`, which move with their keys.
        descending: the direction, or one direction for each key.
        bits: for integer keys, compare only this many of the lowest bits, as an unsigned number.
            Static; all bits, in the order of the dtype, by default. One number, or one for each
            key.
        num_valid: number of valid rows, at the front; all rows by default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.
        transport: transport of the rows; see `collective.partition`.

    Returns:
        The sorted keys, an array or a tuple, like the argument; with values `(keys, values)`. The
        valid rows come first, and the rows after them are arbitrary. On a mesh they are
        sharded by rows; if the mesh does not divide the number of rows, which JAX cannot shard, it
        is replicated.

    Raises:
        TypeError: a dtype that is not a key dtype, a 64-bit one without x64 mode, or `mesh` is not
            a mesh.
        ValueError: arrays of different lengths, keys not one-dimensional, `bits` out of range, or
            `axis` is not an axis of the mesh.

    Cost:
        Work O(rows x (key bytes + value bytes)) on CPU and GPU. Communication: each row moves
        once, or twice for skewed keys; see `collective.radix_sort`.

    Guarantees:
        Stable, in both directions; deterministic; every shard holds the same number of rows
        throughout; differentiable in `values` and in float keys. -0.0 equals 0.0 and NaN comes
        last, in both directions; every key keeps its bits.

    References:
        Cheng, Shah, Gilbert, Edelman (2007), "A novel parallel sorting algorithm for contemporary
        architectures" (exact splitters).

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives, shardings
        >>> primitives.radix_sort(jnp.array([30, 10, 20]), shardings.make_mesh(1)).tolist()
        [10, 20, 30]
    """
    caller = "radix_sort"
    check_transport(transport, caller)
    row_mesh = as_row_mesh(mesh, axis, caller)
    if row_mesh is None:
        return local.radix_sort(
            keys, values=values, descending=descending, bits=bits, num_valid=num_valid
        )
    columns, values, order, is_tuple = _as_sort(caller, keys, values, row_mesh, descending, bits)
    num_rows = columns[0].shape[0]
    valid = row_mesh.valid_rows(num_valid, num_rows, caller)
    rows = row_mesh.place((columns, values))
    columns, values = _sort_on_mesh(*rows, valid, row_mesh, order, num_rows, transport)
    sorted_keys = columns if is_tuple else columns[0]
    return sorted_keys if values is None else (sorted_keys, values)


@in_shared_memory
def radix_argsort(
    keys: Keys,
    mesh: MeshLike | None = None,
    *,
    descending: bool | Sequence[bool] = False,
    bits: int | Sequence[int | None] | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    axis: str | tuple[str, ...] | None = None,
    transport: Transport = "auto",
) -> Int[Array, " rows"]:
    """Finds the permutation that sorts rows, on one device or over a mesh.

    Args:
        keys: as for `radix_sort`.
        mesh: mesh of the rows; one device by default.
        descending: the direction, or one direction for each key.
        bits: as for `radix_sort`.
        num_valid: number of valid rows, at the front; all rows by default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.
        transport: transport of the rows; see `collective.partition`.

    Returns:
        Row ids: `keys[row_ids]` is sorted. int32, or int64 above 2^31 rows. The padding from
        `num_valid` on keeps its position. Sharded as the result of `radix_sort`.

    Raises:
        TypeError: as `radix_sort`.
        ValueError: as `radix_sort`.

    Cost:
        That of `radix_sort` with one value of 4 or 8 bytes.

    Guarantees:
        Stable, in both directions; deterministic.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives, shardings
        >>> primitives.radix_argsort(jnp.array([30, 10, 20]), shardings.make_mesh(1)).tolist()
        [1, 2, 0]
    """
    caller = "radix_argsort"
    check_transport(transport, caller)
    row_mesh = as_row_mesh(mesh, axis, caller)
    if row_mesh is None:
        return local.radix_argsort(keys, descending=descending, bits=bits, num_valid=num_valid)
    columns, _, order, _ = _as_sort(caller, keys, None, row_mesh, descending, bits)
    num_rows = columns[0].shape[0]
    valid = row_mesh.valid_rows(num_valid, num_rows, caller)
    columns = row_mesh.place(columns)
    return _argsort_on_mesh(columns, valid, row_mesh, order, num_rows, transport)


@functools.partial(tiered, static_argnums=(3, 4, 5, 6))
def _sort_on_mesh(
    columns: tuple[Array, ...],
    values: Any,
    valid: ValidRows | None,
    row_mesh: RowMesh,
    order: SortOrder,
    num_rows: int,
    transport: Transport,
) -> tuple[tuple[Array, ...], Any]:
    def sort(columns: tuple[Array, ...], values: Any, valid: ValidRows | None) -> Any:
        of_shard = row_mesh.num_valid(num_rows, valid)
        columns, values, _ = sort_shards(
            columns, values, order, of_shard, Dealing(row_mesh.axes, "full", transport)
        )
        return columns, values

    rows = row_mesh.map(sort, columns, values, replicated=(valid,))
    return row_mesh.trim(rows, num_rows)


@functools.partial(tiered, static_argnums=(2, 3, 4, 5))
def _argsort_on_mesh(
    columns: tuple[Array, ...],
    valid: ValidRows | None,
    row_mesh: RowMesh,
    order: SortOrder,
    num_rows: int,
    transport: Transport,
) -> Array:
    def argsort(columns: tuple[Array, ...], valid: ValidRows | None) -> Array:
        row_ids = global_row_ids(columns[0].shape[0], row_mesh.axes, "radix_argsort")
        of_shard = row_mesh.num_valid(num_rows, valid)
        _, sorted_ids, _ = sort_shards(
            columns, row_ids, order, of_shard, Dealing(row_mesh.axes, "full", transport)
        )
        if valid is None:
            return sorted_ids
        # The sort does not change the number of valid rows of a shard.
        is_row = jax.lax.iota(jnp.int32, row_ids.shape[0]) < of_shard
        return jnp.where(is_row, sorted_ids, row_ids)

    row_ids = row_mesh.map(argsort, columns, replicated=(valid,))
    return row_mesh.trim(row_ids, num_rows)


def _as_sort(
    caller: str, keys: Any, values: Any, row_mesh: RowMesh, descending: Any, bits: Any
) -> tuple[tuple[Array, ...], Any, SortOrder, bool]:
    columns, is_tuple = as_keys(keys, caller, num_shards=row_mesh.num_shards)
    order = SortOrder(
        as_directions(descending, len(columns), caller), as_bits(bits, columns, caller)
    )
    return columns, as_rows(values, columns[0].shape[0], caller), order, is_tuple
