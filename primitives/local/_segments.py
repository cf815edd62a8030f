# SPDX-License-Identifier: Apache-2.0
"""Segment reductions by a scatter, or by a sort and a scan.

A scatter may process rows in any order. On CPU and TPU it follows the order of the rows, so results
are deterministic. A TPU has faster ways for numbers of 32 bits, in a fixed order too. On GPU the
order varies between runs, which changes sums and products of floats. There a kernel adds floats, if
it is installed; otherwise rows are sorted stably by segment and scanned. Both are deterministic and
stay fast if many rows share a segment. On CPU sums of single floats keep what their additions round
away, which a scatter cannot.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...shardings._compat import like_varying
from ..contract._associative_scan import associative_scan
from ..contract._compensated_sum import is_compensated, plus_number, rounded
from ..contract._custom_jvp import custom_jvp
from ..contract._moved import with_tangents
from ..contract._platform import by_platform
from ..contract._scan_operators import NamedOperator
from ..contract._take import take_rows
from ..contract._typing import Array
from ..kernels.base._cuda import on_cuda
from ..kernels.base._pallas import on_tpu
from ..kernels.reduce._segment_statistic_cuda import has_statistics_on_cuda, statistic_on_cuda
from ..kernels.reduce._segment_sum import can_count, can_sum, native_counts, native_sums
from ..kernels.reduce._segment_sum_cuda import can_sum_on_cuda, sums_on_cuda
from ..kernels.reduce._segments_on_tpu import (
    can_count_on_tpu,
    can_reduce_on_tpu,
    can_sum_on_tpu,
    counts_on_tpu,
    reductions_on_tpu,
    sums_on_tpu,
)
from ..kernels.reduce._tables_cuda import (
    can_count_in_tables,
    can_reduce_in_tables,
    count_in_tables,
    reduce_in_tables,
)
from ._bucket import group_by_bucket
from ._look_up import look_up

# The updates of a block stay in the cache; see `_count_in_blocks`.
_BLOCK_ROWS = 2**19
# A table of more segments does not fit the cache; see `as_given_ids`.
_MANY_SEGMENTS = 2**18


class GivenIds(NamedTuple):
    """Segment ids as given by the caller, integers of at least 32 bits.

    Segment ids start at `first_id`, a number of the same dtype; `num_valid` rows are valid.
    """

    ids: Array
    first_id: Array
    num_valid: Array


def as_given_ids(
    ids: Array, first_id: Array | None, num_valid: Array | None, num_segments: int
) -> GivenIds | None:
    """Prepares ids for the kernel, or returns None if a scatter is as fast.

    A scatter is as fast if all rows are valid and the table fits the cache. The kernel divides a
    larger table among its threads.
    """
    is_plain = first_id is None and num_valid is None
    if is_plain and ids.dtype.itemsize < 8 and num_segments < _MANY_SEGMENTS:
        return None
    if ids.dtype.itemsize < 4:
        ids = ids.astype(jnp.int32)
    first_id = jnp.zeros((), ids.dtype) if first_id is None else first_id.astype(ids.dtype)
    num_rows = jnp.asarray(ids.shape[0], jnp.int32) if num_valid is None else num_valid
    return GivenIds(ids, first_id, num_rows)


def place_segment_ids(
    ids: Array,
    num_segments: int,
    num_valid: Array | None,
    is_exact: bool = True,
    first_id: Array | None = None,
) -> Array:
    """Casts ids to int32, with -1 in padding.

    Ids out of range become negative or stay too large; without `is_exact` they become negative.
    Segment ids start at `first_id`, by default zero.
    """
    if first_id is not None:
        ids = _distances(ids, first_id, num_segments)
    if ids.dtype == jnp.uint32:
        # The upper half becomes negative, which is out of range as well.
        ids = jax.lax.bitcast_convert_type(ids, jnp.int32)
    elif ids.dtype.itemsize < 4:
        # A narrow integer cannot hold `num_segments`.
        ids = ids.astype(jnp.int32)
    if ids.dtype.itemsize == 8 or not is_exact:
        ids = jnp.where((ids >= 0) & (ids < num_segments), ids.astype(jnp.int32), np.int32(-1))
    if num_valid is None:
        # The scatter drops ids out of range itself, which saves a pass over the ids.
        return ids
    is_valid = jax.lax.iota(jnp.int32, ids.shape[0]) < num_valid
    return jnp.where(is_valid, ids, np.int32(-1))


def _distances(ids: Array, first_id: Array, num_segments: int) -> Array:
    """Distances of ids from the first one, int32; -1 for ids out of range."""
    if ids.dtype.itemsize < 4:
        ids = ids.astype(jnp.int32)
    first_id = first_id.astype(ids.dtype)
    # A distance may wrap around, but not the distance of an id that is not below the first.
    distance = ids - first_id
    unsigned = np.dtype(f"u{ids.dtype.name.removeprefix('u')}")
    is_near = distance.astype(unsigned) < unsigned.type(num_segments)
    return jnp.where((ids >= first_id) & is_near, distance.astype(jnp.int32), np.int32(-1))


def scatter(
    method: NamedOperator, rows: Array, ids: Array, num_segments: int, initial: Any
) -> Array:
    """Reduces rows by `add`, `mul`, `min` or `max`; on CPU and TPU in the order of the rows."""

    def by_scatter(rows: Array, ids: Array) -> Array:
        table = jnp.full((num_segments, *rows.shape[1:]), initial, rows.dtype)
        reduce = getattr(table.at[ids], "multiply" if method == "mul" else method)
        return reduce(rows, mode="drop", wrap_negative_indices=False)

    def in_tables(rows: Array, ids: Array) -> Array:
        return reduce_in_tables(method, rows, ids, num_segments, initial)

    def on_core(rows: Array, ids: Array) -> Array:
        start = like_varying(jnp.asarray(initial, rows.dtype), rows, ids)
        return reductions_on_tpu(method, rows, ids, num_segments, start)

    can_reduce = can_reduce_in_tables(method, rows, ids, num_segments)
    kernels = on_cuda(in_tables) if can_reduce else {}
    # Sums have ways of their own, and this one is transposed.
    if method != "add" and can_reduce_on_tpu(rows, ids, num_segments):
        kernels |= on_tpu(on_core)
    return by_platform(rows, ids, default=by_scatter, **kernels)


def count_rows(ids: Array, num_segments: int) -> Array:
    """Counts the rows of each segment, int32. Ids are int32; those out of range are dropped."""
    # The kernel takes as long as the scatter of a small table, but nothing to compile.
    given = GivenIds(ids, jnp.int32(0), jnp.int32(ids.shape[0]))
    return count_given(given, ids, num_segments)


def _count_in_blocks(ids: Array, num_segments: int) -> Array:
    """Counts by scatters.

    On CPU a scatter materializes its updates. The ones of a block stay in cache: 10 million rows
    take 6 ms in blocks, and 17 ms at once.
    """
    num_blocks, rest = divmod(ids.shape[0], _BLOCK_ROWS)

    def add_block(table: Array, block: Array) -> Array:
        return table.at[block].add(1, mode="drop", wrap_negative_indices=False)

    def step(i: Array, table: Array) -> Array:
        start = jnp.asarray(i, jnp.int32) * _BLOCK_ROWS
        return add_block(table, jax.lax.dynamic_slice_in_dim(ids, start, _BLOCK_ROWS))

    table = like_varying(jnp.zeros(num_segments, jnp.int32), ids)
    if num_blocks:
        table = jax.lax.fori_loop(np.int32(0), np.int32(num_blocks), step, table)
    return add_block(table, ids[ids.shape[0] - rest :]) if rest else table


def add_floats(rows: Array, ids: Array, num_segments: int) -> Array:
    """Adds rows in a deterministic order on every platform; on CPU keeps what that rounds away."""

    def by_scatter(rows: Array, ids: Array) -> Array:
        return _add_by_scatter(rows, ids, num_segments=num_segments)

    def by_sort(rows: Array, ids: Array) -> Array:
        return _add_sorted(rows, ids, num_segments=num_segments)

    def in_order(rows: Array, ids: Array) -> Array:
        sums = _sums_in_order(jax.lax.stop_gradient(rows), ids, num_segments)
        route = functools.partial(_add_by_scatter, num_segments=num_segments)
        return with_tangents(route, sums, rows, ids)

    def by_kernel(rows: Array, ids: Array) -> Array:
        sums = sums_on_cuda(jax.lax.stop_gradient(rows), ids, num_segments)
        route = functools.partial(_add_sorted, num_segments=num_segments)
        return with_tangents(route, sums, rows, ids)

    def on_core(rows: Array, ids: Array) -> Array:
        sums = sums_on_tpu(jax.lax.stop_gradient(rows), ids, num_segments)
        route = functools.partial(_add_by_scatter, num_segments=num_segments)
        return with_tangents(route, sums, rows, ids)

    kernel = on_cuda(by_kernel) if can_sum_on_cuda(rows, ids) else {}
    if can_sum_on_tpu(rows, ids, num_segments):
        kernel |= on_tpu(on_core)
    if is_compensated(rows):
        kernel["cpu"] = in_order
    platforms = {"cuda": by_sort, "rocm": by_sort} | kernel
    return by_platform(rows, ids, default=by_scatter, **platforms)


def _add_by_scatter(rows: Array, ids: Array, *, num_segments: int) -> Array:
    return scatter("add", rows, ids, num_segments, 0)


def _add_sorted(rows: Array, ids: Array, *, num_segments: int) -> Array:
    return reduce_sorted(jax.lax.add, 0, rows, ids, num_segments)


def _sums_in_order(rows: Array, ids: Array, num_segments: int) -> Array:
    """Adds the rows of each segment in their order, with the errors of all additions."""
    num_rows = jnp.int32(rows.shape[0])
    if can_sum(rows, ids):
        return native_sums(rows, ids, jnp.zeros((), ids.dtype), num_rows, num_segments)
    return sums_in_order_xla(rows, ids, num_segments)


def sums_in_order_xla(rows: Array, ids: Array, num_segments: int) -> Array:
    """The definition of sums of segments on CPU."""
    start = like_varying(jnp.zeros((2,), rows.dtype), rows, ids)
    if rows.shape[0] == 0:
        return jnp.zeros((num_segments,), rows.dtype)
    offsets, row_ids = group_by_bucket(ids, num_segments, jnp.int32(rows.shape[0]))
    rows, ids = take_rows((rows, ids), row_ids)
    is_head = jnp.concatenate([ids[:1] == ids[:1], ids[1:] != ids[:-1]])

    def step(pair: Array, row: tuple[Array, Array]) -> tuple[Array, Array]:
        number, is_head = row
        pair = jnp.where(is_head, jnp.zeros((), pair.dtype), pair)
        pair = jnp.stack(plus_number((pair[0], pair[1]), number))
        return pair, pair

    # A step of a loop in XLA costs more than the additions of several rows.
    _, pairs = jax.lax.scan(step, start, (rows, is_head), unroll=min(16, rows.shape[0]))
    last = take_rows(pairs, jnp.maximum(offsets[1:] - 1, 0), is_unique=False)
    sums = rounded((last[:, 0], last[:, 1]))
    return jnp.where(offsets[1:] == offsets[:-1], jnp.zeros((), sums.dtype), sums)


def add_given(rows: Array, given: GivenIds, ids: Array, num_segments: int) -> Array:
    """Adds rows by the caller's ids, in the order of the rows; `ids` are the same as int32."""
    if not can_sum(rows, given.ids):
        return add(rows, ids, num_segments)

    def native(rows: Array, given: GivenIds, ids: Array) -> Array:
        sums = native_sums(jax.lax.stop_gradient(rows), *given, num_segments)
        route = functools.partial(_add_by_scatter, num_segments=num_segments)
        return with_tangents(route, sums, rows, ids)

    def by_ids(rows: Array, given: GivenIds, ids: Array) -> Array:
        del given
        return add(rows, ids, num_segments)

    return by_platform(rows, given, ids, cpu=native, default=by_ids)


def count_given(given: GivenIds, ids: Array, num_segments: int) -> Array:
    """Counts rows by the caller's ids, int32; `ids` are the same as int32."""

    def native(given: GivenIds, ids: Array) -> Array:
        del ids
        return native_counts(*given, num_segments)

    def by_scatter(given: GivenIds, ids: Array) -> Array:
        del given
        return _count_in_blocks(ids, num_segments)

    def on_core(given: GivenIds, ids: Array) -> Array:
        del given
        return counts_on_tpu(ids, num_segments)

    def in_tables(given: GivenIds, ids: Array) -> Array:
        del given
        return count_in_tables(ids, num_segments)

    kernels = {"cpu": native} if can_count(given.ids) else {}
    kernels |= on_cuda(in_tables) if can_count_in_tables(ids, num_segments) else {}
    kernels |= on_tpu(on_core) if can_count_on_tpu(ids, num_segments) else {}
    return by_platform(given, ids, default=by_scatter, **kernels)


def add(rows: Array, ids: Array, num_segments: int) -> Array:
    """Adds rows in a deterministic order; on CPU in the order of the rows."""
    if jnp.issubdtype(rows.dtype, jnp.inexact):
        return add_floats(rows, ids, num_segments)

    def by_scatter(rows: Array, ids: Array) -> Array:
        return _add_by_scatter(rows, ids, num_segments=num_segments)

    def on_core(rows: Array, ids: Array) -> Array:
        return sums_on_tpu(rows, ids, num_segments)

    kernel = on_tpu(on_core) if can_sum_on_tpu(rows, ids, num_segments) else {}
    return by_platform(rows, ids, default=by_scatter, **kernel)


@functools.partial(custom_jvp, nondiff_argnums=(2,))
def multiply_floats(rows: Array, ids: Array, num_segments: int) -> Array:
    """Multiplies rows in a deterministic order on every platform."""

    def by_scatter(rows: Array, ids: Array) -> Array:
        return scatter("mul", rows, ids, num_segments, 1)

    def by_sort(rows: Array, ids: Array) -> Array:
        return reduce_sorted(jax.lax.mul, 1, rows, ids, num_segments)

    def by_kernel(rows: Array, ids: Array) -> Array:
        return statistic_on_cuda("prod", rows, ids, num_segments)

    kernel = on_cuda(by_kernel) if has_statistics_on_cuda(rows, ids, num_segments) else {}
    platforms = {"cuda": by_sort, "rocm": by_sort} | kernel
    return by_platform(rows, ids, default=by_scatter, **platforms)


@multiply_floats.defjvp
def _tangent_of_products(num_segments: int, primals: Any, tangents: Any, products: Array) -> Array:
    del products
    rows, ids = primals
    is_row = is_member(ids, num_segments).reshape(-1, *(1,) * (rows.ndim - 1))

    def product(rows: Array) -> Array:
        # Rows without a segment may be NaN, and a zero factor would not remove it from a
        # derivative.
        rows = jnp.where(is_row, rows, jnp.ones((), rows.dtype))
        return reduce_sorted(jax.lax.mul, 1, rows, ids, num_segments)

    # A scan multiplies the other rows of the segment, which avoids a division by zero.
    return jax.jvp(product, (rows,), tangents[:1])[1]


def reduce_sorted(
    operation: Callable[[Array, Array], Array],
    identity: Any,
    rows: Array,
    ids: Array,
    num_segments: int,
) -> Array:
    """Reduces rows by a stable sort of their ids and one segmented scan."""
    num_rows = rows.shape[0]
    if num_rows == 0:
        return jnp.full((num_segments, *rows.shape[1:]), identity, rows.dtype)
    offsets, row_ids = group_by_bucket(ids, num_segments, jnp.asarray(num_rows, jnp.int32))
    sorted_rows, sorted_ids = take_rows((rows, ids), row_ids)
    is_head = jnp.concatenate([sorted_ids[:1] == sorted_ids[:1], sorted_ids[1:] != sorted_ids[:-1]])
    columns = (1,) * (rows.ndim - 1)

    def combine(left: tuple[Array, Array], right: tuple[Array, Array]) -> tuple[Array, Array]:
        left_rows, left_has_head = left
        right_rows, right_has_head = right
        # A head inside `right` restarts the scan, so `left` is dropped. It is replaced before the
        # product: an infinity would turn its zero derivative into NaN.
        left_rows = jnp.where(right_has_head, jnp.asarray(identity, rows.dtype), left_rows)
        total = jnp.where(right_has_head, right_rows, operation(left_rows, right_rows))
        return total, left_has_head | right_has_head

    scanned, _ = associative_scan(combine, (sorted_rows, is_head.reshape(num_rows, *columns)))
    last = take_rows(scanned, jnp.maximum(offsets[1:] - 1, 0), is_unique=False)
    # Each segment starts with the identity, as in a scatter: 0.0 + -0.0 is 0.0. The compiler would
    # remove a constant identity.
    start = jnp.where(offsets[-1] < 0, jnp.ones((), rows.dtype), jnp.asarray(identity, rows.dtype))
    last = operation(start, last)
    is_empty = (offsets[1:] == offsets[:-1]).reshape(num_segments, *columns)
    return jnp.where(is_empty, jnp.asarray(identity, rows.dtype), last)


def rows_of_segments(table: Array, ids: Array) -> Array:
    """Looks up each row's segment in a table; zero for a row without a segment."""
    (rows,) = look_up((table,), ids, _rows_or_zeros)
    return rows


def _rows_or_zeros(columns: tuple[Array, ...], ids: Array) -> tuple[Array, ...]:
    return tuple(
        column.at[ids].get(mode="fill", fill_value=0, wrap_negative_indices=False)
        for column in columns
    )


def is_member(ids: Array, num_segments: int) -> Array:
    """Flags rows with a valid segment id."""
    return (ids >= 0) & (ids < num_segments)
