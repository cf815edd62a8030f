# SPDX-License-Identifier: Apache-2.0
"""Stable multisplit: groups rows by bucket id."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._arguments import (
    as_array,
    as_num_valid,
    as_rows,
    as_static_int,
    num_rows_of,
    type_of,
)
from ..contract._key_bits import OrderedWord
from ..contract._moved import with_tangents
from ..contract._platform import by_platform
from ..contract._take import take_rows
from ..contract._typing import Array, ArrayLike, Int, Integer, PyTree
from ..kernels.base._cuda import on_cuda
from ..kernels.base._pallas import on_tpu
from ..kernels.reduce._segments_on_tpu import MOST_SUMMED, counts_on_tpu
from ..kernels.sort._bucket_order_cuda import MOST_BUCKETS, bucket_order_on_cuda
from ..kernels.sort._bucket_ranks import MOST_BUCKETS as MOST_BUCKETS_ON_TPU
from ..kernels.sort._bucket_ranks import bucket_ranks_on_tpu
from ..kernels.sort._lower_bound import lower_bound
from ..kernels.sort._put_back import inverse_of
from ..kernels.sort._radix_sort import sort_columns
from ..tiers._tiered import tiered


class Bucketed(NamedTuple):
    """Rows in the order of their buckets.

    Bucket `b` holds the rows `offsets[b]` to `offsets[b + 1]`; `row_ids` are their original
    positions.
    """

    rows: PyTree
    offsets: Int[Array, " buckets+1"]
    row_ids: Int[Array, " rows"]


def bucket(
    rows: PyTree,
    bucket_ids: Integer[ArrayLike, " rows"],
    num_buckets: int,
    *,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Bucketed:
    """Groups rows by bucket, keeping their order within each.

    Args:
        rows: any pytree of arrays with the same leading axis.
        bucket_ids: bucket of each row, integers of shape `(rows,)`. Rows with an id outside `[0,
            num_buckets)` come last.
        num_buckets: number of buckets. Static.
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        `Bucketed(rows, offsets, row_ids)`. `offsets` has `num_buckets + 1` entries, int32.

    Raises:
        TypeError: `bucket_ids` are not integers, or `num_buckets` is traced.
        ValueError: lengths differ, or `num_buckets` is less than one.

    Cost:
        Work O(rows x (value bytes + bytes of a bucket id)). No communication.

    Guarantees:
        Stable; deterministic; differentiable in `rows`.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> grouped = local.bucket(jnp.array([10, 20, 30, 40]), jnp.array([1, 0, 1, 0]), 2)
        >>> grouped.rows.tolist(), grouped.offsets.tolist()
        ([20, 40, 10, 30], [0, 2, 4])
    """
    caller = "bucket"
    num_rows = num_rows_of(rows, caller)
    rows = as_rows(rows, num_rows, caller, "rows")
    num_buckets = as_static_int(num_buckets, caller, "num_buckets", 1, 2**31 - 1)
    bucket_ids = as_bucket_ids(bucket_ids, num_rows, caller, "bucket_ids")
    valid = as_num_valid(num_valid, num_rows, caller)
    return _bucket(rows, bucket_ids, valid, num_buckets)


@functools.partial(tiered, static_argnums=3)
def _bucket(rows: PyTree, bucket_ids: Array, num_valid: Array, num_buckets: int) -> Bucketed:
    leaves, structure = jax.tree.flatten(rows)

    def by_ids(ids: Array, num_valid: Array, leaves: tuple[Array, ...]) -> Any:
        offsets, row_ids = group_by_bucket(ids, num_buckets, num_valid)
        return take_rows(leaves, row_ids), offsets, row_ids

    def by_operands(ids: Array, num_valid: Array, leaves: tuple[Array, ...]) -> Any:
        return _sort_on_tpu(ids, num_buckets, num_valid, leaves)

    ids = _of_32_bits(bucket_ids, num_buckets)
    kernel = on_tpu(by_operands) if ids.shape[0] else {}
    if not kernel:
        moved, offsets, row_ids = by_ids(ids, num_valid, tuple(leaves))
        return Bucketed(structure.unflatten(moved), offsets, row_ids)
    plain = tuple(map(jax.lax.stop_gradient, leaves))
    moved, offsets, row_ids = by_platform(ids, num_valid, plain, default=by_ids, **kernel)
    moved = with_tangents(take_rows, moved, tuple(leaves), row_ids)
    return Bucketed(structure.unflatten(moved), offsets, row_ids)


class BucketOrder(NamedTuple):
    """The order of rows by bucket, its inverse, and where each bucket starts.

    Bucket `b` holds the rows `order[offsets[b]:offsets[b + 1]]`. Row `i` is at position
    `inverse[i]` of the order.
    """

    order: Int[Array, " rows"]
    inverse: Int[Array, " rows"]
    offsets: Int[Array, " buckets+1"]


def bucket_order(
    bucket_ids: Integer[ArrayLike, " rows"],
    num_buckets: int,
    *,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> BucketOrder:
    """Returns the stable order of rows by bucket, its inverse and the counts, in one pass.

    It replaces `argsort(ids, stable=True)`, `argsort(argsort(ids))` and `bincount(ids)`: rows
    gathered by `order` are grouped by bucket, and gathered by `inverse` they are back in place.

    Args:
        bucket_ids: bucket of each row, integers of shape `(rows,)`. Rows with an id outside `[0,
            num_buckets)` come last.
        num_buckets: number of buckets. Static.
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        `BucketOrder(order, inverse, offsets)`, int32; `jnp.diff(offsets)` are the counts. Padding
        rows keep their positions.

    Raises:
        TypeError: `bucket_ids` are not integers, or `num_buckets` is traced.
        ValueError: `bucket_ids` are not one-dimensional, or `num_buckets` is less than one.

    Cost:
        Work O(rows x bytes of a bucket id), and one scatter of row ids for the inverse, or a sort
        on TPU. On TPU and GPU the bucket id and the row id share one 32-bit operand of the sort,
        if they fit. No communication. `inverse - offsets[bucket_ids]` is the slot of each row in
        its bucket; where the slots alone are needed, `segmented_scan` of ones costs less on CPU.

    Guarantees:
        Stable; deterministic. The result holds integers, which have no derivative; gathers by both
        have one.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> order, inverse, offsets = local.bucket_order(jnp.array([1, 0, 2, 0]), 3)
        >>> order.tolist(), inverse.tolist(), offsets.tolist()
        ([1, 3, 0, 2], [2, 0, 3, 1], [0, 2, 3, 4])
    """
    caller = "bucket_order"
    num_buckets = as_static_int(num_buckets, caller, "num_buckets", 1, 2**31 - 1)
    bucket_ids = as_array(bucket_ids, caller, "bucket_ids")
    if bucket_ids.ndim != 1:
        raise ValueError(
            f"{caller}: bucket_ids must be one-dimensional, got {type_of(bucket_ids)}. Flatten "
            "them first, or use jax.vmap for a batch."
        )
    num_rows = bucket_ids.shape[0]
    bucket_ids = as_bucket_ids(bucket_ids, num_rows, caller, "bucket_ids")
    valid = as_num_valid(num_valid, num_rows, caller)
    return _order(bucket_ids, valid, num_buckets)


@functools.partial(tiered, static_argnums=2)
def _order(bucket_ids: Array, num_valid: Array, num_buckets: int) -> BucketOrder:
    def portable(bucket_ids: Array, num_valid: Array) -> BucketOrder:
        offsets, order = _group_by_sort(bucket_ids, num_buckets, num_valid)
        return BucketOrder(order, inverse_of(order), offsets)

    def cuda(bucket_ids: Array, num_valid: Array) -> BucketOrder:
        return BucketOrder(
            *bucket_order_on_cuda(bucket_ids, num_buckets, num_valid, with_inverse=True)
        )

    def tpu(bucket_ids: Array, num_valid: Array) -> BucketOrder:
        if num_buckets <= MOST_BUCKETS_ON_TPU:
            inverse, offsets = bucket_ranks_on_tpu(bucket_ids, num_buckets, num_valid)
            _, order = _group_by_sort(bucket_ids, num_buckets, num_valid)
            return BucketOrder(order, inverse, offsets)
        _, offsets, order = _sort_on_tpu(bucket_ids, num_buckets, num_valid, ())
        return BucketOrder(order, inverse_of(order), offsets)

    ids = _of_32_bits(bucket_ids, num_buckets)
    kernels = _on_cuda(cuda, num_buckets)
    if _can_count_on_tpu(ids, num_buckets):
        kernels |= on_tpu(tpu)
    return by_platform(ids, num_valid, default=portable, **kernels)


def as_bucket_ids(ids: Any, num_rows: int, caller: str, name: str) -> Array:
    """Checks for one integer per row."""
    ids = as_array(ids, caller, name)
    if not jnp.issubdtype(ids.dtype, jnp.integer):
        raise TypeError(f"{caller}: {name} must be integers, got {type_of(ids)}.")
    if ids.shape != (num_rows,):
        raise ValueError(
            f"{caller}: {name} must have one entry for each of the {num_rows} rows, "
            f"got {type_of(ids)}."
        )
    return ids


def group_by_bucket(bucket_ids: Array, num_buckets: int, num_valid: Array) -> tuple[Array, Array]:
    """Returns the offsets of the buckets, and the row ids in bucket order."""

    def portable(bucket_ids: Array, num_valid: Array) -> tuple[Array, Array]:
        return _group_by_sort(bucket_ids, num_buckets, num_valid)

    def cuda(bucket_ids: Array, num_valid: Array) -> tuple[Array, Array]:
        order, _, offsets = bucket_order_on_cuda(
            bucket_ids, num_buckets, num_valid, with_inverse=False
        )
        return offsets, order

    def tpu(bucket_ids: Array, num_valid: Array) -> tuple[Array, Array]:
        _, offsets, row_ids = _sort_on_tpu(bucket_ids, num_buckets, num_valid, ())
        return offsets, row_ids

    ids = _of_32_bits(bucket_ids, num_buckets)
    kernels = _on_cuda(cuda, num_buckets)
    if _can_count_on_tpu(ids, num_buckets):
        kernels |= on_tpu(tpu)
    return by_platform(ids, num_valid, default=portable, **kernels)


def _on_cuda(kernel: Callable[..., Any], num_buckets: int) -> dict[str, Callable[..., Any]]:
    return on_cuda(kernel) if num_buckets <= MOST_BUCKETS else {}


def _can_count_on_tpu(ids: Array, num_buckets: int) -> bool:
    """Whether the matrix unit counts the rows of each bucket."""
    return ids.shape[0] > 0 and 0 < num_buckets <= MOST_SUMMED


def _of_32_bits(bucket_ids: Array, num_buckets: int) -> Array:
    """Bucket ids as integers of 32 bits; those out of range stay out of range."""
    if bucket_ids.dtype.itemsize < 4:
        # A narrow integer cannot hold `num_buckets`.
        return bucket_ids.astype(jnp.int32)
    if bucket_ids.dtype.itemsize == 8:
        is_bucket = (bucket_ids >= 0) & (bucket_ids < num_buckets)
        return jnp.where(is_bucket, bucket_ids, num_buckets).astype(jnp.int32)
    return bucket_ids


def _sort_on_tpu(
    bucket_ids: Array, num_buckets: int, num_valid: Array, rows: tuple[Array, ...]
) -> tuple[tuple[Array, ...], Array, Array]:
    """`_sort_by_bucket` by the counts of the buckets, without a search in the sorted ids."""
    rows, offsets, row_ids = _sort_by_bucket(bucket_ids, num_buckets, num_valid, rows)
    if _can_count_on_tpu(bucket_ids, num_buckets):
        is_valid = jax.lax.iota(jnp.int32, bucket_ids.shape[0]) < num_valid
        # Ids out of range become negative or stay too large.
        ids = jnp.where(is_valid, bucket_ids.astype(jnp.int32), np.int32(-1))
        counts = counts_on_tpu(ids, num_buckets)
        offsets = jnp.pad(jnp.cumsum(counts, dtype=jnp.int32), (1, 0))
    return rows, offsets, row_ids


def _group_by_sort(bucket_ids: Array, num_buckets: int, num_valid: Array) -> tuple[Array, Array]:
    """The definition of `group_by_bucket`."""
    _, offsets, row_ids = _sort_by_bucket(bucket_ids, num_buckets, num_valid, ())
    return offsets, row_ids


def _sort_by_bucket(
    bucket_ids: Array, num_buckets: int, num_valid: Array, rows: tuple[Array, ...]
) -> tuple[tuple[Array, ...], Array, Array]:
    """Rows by bucket, the offsets of the buckets, and the row ids."""
    is_bucket = (bucket_ids >= 0) & (bucket_ids < num_buckets)
    ids = jnp.where(is_bucket, bucket_ids, num_buckets).astype(jnp.uint32)
    column = OrderedWord(ids, 0, num_buckets.bit_length(), is_whole=True)
    (sorted_ids,), row_ids, rows = sort_columns(
        (column,), num_valid, rows, words="order", with_ids=True
    )
    bounds = jax.lax.iota(jnp.uint32, num_buckets + 1)
    return rows, lower_bound((sorted_ids,), (bounds,), num_valid), row_ids
