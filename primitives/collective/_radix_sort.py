# SPDX-License-Identifier: Apache-2.0
"""Stable, exactly balanced sort of the rows of a mesh axis."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ...shardings._compat import is_x64_enabled
from ..contract._arguments import MAX_SHARD_ROWS, as_directions, as_keys, as_num_valid, as_rows
from ..contract._key_bits import as_bits
from ..contract._typing import Array, ArrayLike, Int, Integer, Keys, PyTree
from ._axis import AxisName, as_shards, num_shards_on
from ._exchange import Transport, check_transport
from ._sort_shards import sort_shards
from ._sorted_runs import Dealing, SortOrder
from ._wide_counts import even_share_of, psum_wide


def radix_sort(
    keys: Keys,
    *,
    axis_name: AxisName,
    values: PyTree | None = None,
    descending: bool | Sequence[bool] = False,
    bits: int | Sequence[int | None] | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    transport: Transport = "auto",
) -> Any:
    """Sorts the rows of all shards by their keys, and distributes them evenly.

    Shard 0 gets the first share of the sorted rows, shard 1 the next, and so on. With `total` valid
    rows on `num_shards` shards, shard `i` gets `total // num_shards` of them, and one more if
    `i < total % num_shards`, for any keys (`even_share` computes it).

    Args:
        keys: this shard's keys: one array of shape `(rows,)`, or a tuple of them, most significant
            first; bool, integers of 8 to 64 bits, or floats of 16 to 64 bits.
        axis_name: mesh axis of the rows, or a tuple of axes.
        values: a pytree of arrays with leading axis `rows`, which move with their keys.
        descending: the direction, or one direction for each key.
        bits: for integer keys, compare only this many of the lowest bits, as an unsigned number.
            Static; all bits, in the order of the dtype, by default. One number, or one for each
            key.
        num_valid: number of valid rows of this shard, at its front; all rows by default.
        transport: transport of the rows; see `partition`.

    Returns:
        This shard's keys, an array or a tuple, like the argument; with values `(keys, values)`. The
        same number of rows as the input, padded with zeros.

    Raises:
        TypeError: a dtype that is not a key dtype, or a 64-bit one without x64 mode.
        ValueError: arrays of different lengths, `bits` out of range, or `axis_name` is not an axis
            of the enclosing `shard_map`.

    Cost:
        Two local sorts, of work O(rows x (key bytes + value bytes)) on CPU and GPU. Communication:
        one `partition` of packed rows, and for each 4 or 8 bits of the keys a `psum` of
        `num_shards` x 16 or 256 counts.

    Guarantees:
        Stable over the mesh, in the order of (shard, row), in both directions; deterministic;
        exactly balanced; differentiable in `values` and in float keys.

    References:
        Cheng, Shah, Gilbert, Edelman (2007), "A novel parallel sorting algorithm for contemporary
        architectures" (exact splitters).

    Example:
        Two shards:

            shard 0   keys [9 2 2]
            shard 1   keys [2 1 0]
            ->
            shard 0   keys [0 1 2]
            shard 1   keys [2 2 9]
    """
    columns, values, order, valid, is_tuple = _as_sort(
        "radix_sort", keys, values, axis_name, descending, bits, num_valid, transport
    )
    columns, values, _ = sort_shards(
        columns, values, order, valid, Dealing(axis_name, "even", transport)
    )
    sorted_keys = columns if is_tuple else columns[0]
    return sorted_keys if values is None else (sorted_keys, values)


def radix_argsort(
    keys: Keys,
    *,
    axis_name: AxisName,
    descending: bool | Sequence[bool] = False,
    bits: int | Sequence[int | None] | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    transport: Transport = "auto",
) -> Int[Array, " rows"]:
    """Finds the permutation that sorts the rows of all shards.

    Args:
        keys: this shard's keys, as for `radix_sort`.
        axis_name: mesh axis of the rows, or a tuple of axes.
        descending: the direction, or one direction for each key.
        bits: as for `radix_sort`.
        num_valid: number of valid rows of this shard, at its front; all rows by default.
        transport: transport of the rows; see `partition`.

    Returns:
        This shard's share of the permutation, distributed as in `radix_sort`: the global id `shard
        * rows + row` of each row. int32, or int64 if the mesh holds more than 2^31 rows.

    Raises:
        TypeError: a dtype that is not a key dtype, or a 64-bit one without x64 mode.
        ValueError: arrays of different lengths, `bits` out of range, `axis_name` is not an axis of
            the enclosing `shard_map`, or ids need 64 bits without x64 mode.

    Cost:
        That of `radix_sort` with one value of 4 or 8 bytes.

    Guarantees:
        Stable over the mesh, in both directions; deterministic; exactly balanced.

    Example:
        Two shards:

            shard 0   keys [9 2 2]
            shard 1   keys [2 1 0]
            ->
            shard 0   row ids [5 4 1]
            shard 1   row ids [2 3 0]
    """
    columns, _, order, valid, _ = _as_sort(
        "radix_argsort", keys, None, axis_name, descending, bits, num_valid, transport
    )
    row_ids = global_row_ids(columns[0].shape[0], axis_name, "radix_argsort")
    _, row_ids, _ = sort_shards(
        columns, row_ids, order, valid, Dealing(axis_name, "even", transport)
    )
    return row_ids


def even_share(num_valid: int | Integer[ArrayLike, ""], *, axis_name: AxisName) -> Int[Array, ""]:
    """Computes this shard's number of rows in an even distribution.

    Args:
        num_valid: number of valid rows of this shard.
        axis_name: mesh axis of the rows, or a tuple of axes.

    Returns:
        `total // num_shards`, and one more on the first `total % num_shards` shards; int32.

    Raises:
        ValueError: `axis_name` is not an axis of the enclosing `shard_map`.

    Cost:
        One `psum` of two words.

    Guarantees:
        Deterministic; the shares add up to the number of valid rows.

    Example:
        Two shards:

            shard 0   num_valid 4
            shard 1   num_valid 1
            ->
            shard 0   3
            shard 1   2
    """
    num_shards = num_shards_on(axis_name, "even_share")
    valid = as_num_valid(num_valid, MAX_SHARD_ROWS, "even_share")
    total = psum_wide(as_shards(valid, axis_name), axis_name)
    return even_share_of(total, num_shards, jax.lax.axis_index(axis_name))


def global_row_ids(num_rows: int, axis_name: AxisName, caller: str) -> Array:
    """The global ids of this shard's rows."""
    num_total = num_rows * num_shards_on(axis_name, caller)
    dtype = row_id_dtype(num_total, caller)
    first = jax.lax.axis_index(axis_name).astype(dtype) * num_rows
    return first + jax.lax.iota(dtype, num_rows)


def row_id_dtype(num_total: int, caller: str) -> Any:
    """The dtype of row ids: int32, or int64 if the number of rows needs it."""
    if num_total <= 2**31:
        return jnp.int32
    if not is_x64_enabled():
        raise ValueError(
            f"{caller}: ids of 2**31 rows or more need JAX's x64 mode, got {num_total} rows. "
            'Call jax.config.update("jax_enable_x64", True) first.'
        )
    return jnp.int64


def _as_sort(
    caller: str,
    keys: Any,
    values: Any,
    axis_name: AxisName,
    descending: Any,
    bits: Any,
    num_valid: Any,
    transport: Any,
) -> tuple[tuple[Array, ...], Any, SortOrder, Array, bool]:
    num_shards_on(axis_name, caller)
    check_transport(transport, caller)
    columns, is_tuple = as_keys(keys, caller)
    num_rows = columns[0].shape[0]
    order = SortOrder(
        as_directions(descending, len(columns), caller), as_bits(bits, columns, caller)
    )
    values = as_rows(values, num_rows, caller)
    valid = as_num_valid(num_valid, num_rows, caller)
    columns, values, valid = as_shards((columns, values, valid), axis_name)
    return columns, values, order, valid, is_tuple
