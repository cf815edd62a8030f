# SPDX-License-Identifier: Apache-2.0
"""Reductions by key: one row for each distinct key."""

import functools
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp

from ...shardings._compat import like_varying, varying_axes
from ..contract._arguments import (
    as_capacity,
    as_flag,
    as_keys,
    as_num_valid,
    as_rows,
    as_static_int,
    type_of,
)
from ..contract._key_bits import ordered_words
from ..contract._moved import with_tangents
from ..contract._op_names import as_reduction_name
from ..contract._platform import by_platform
from ..contract._segment_forms import SEGMENT_OPS
from ..contract._take import keep_or_zero, take_rows_or_zeros
from ..contract._typing import Array, ArrayLike, Int, Integer, Keys, PyTree
from ..kernels.base._cuda import on_cuda
from ..kernels.base._library import is_native
from ..kernels.groups._factorize import factorize_words
from ..kernels.groups._group_sums import can_sum_groups, native_group_sums
from ..kernels.scan._reduce_by_key_cuda import can_keep_on_cuda, can_reduce_on_cuda
from ..tiers._tiered import tiered
from ._direct_index import (
    can_index,
    in_first_order,
    index_of,
    ranges_of,
    reduce_segments,
    segments_of_index,
    take_segments,
)
from ._one_device import OneDevice
from ._run_segments import Runs
from ._runs import KeyRuns, find_runs
from ._segment_extremes import INT32_MAX, end_rows
from ._segment_ops import Segments, as_summed
from ._segments import add, as_given_ids

REDUCE_OPS = tuple(op for op in SEGMENT_OPS if not op.startswith("arg"))
Order = Literal["key", "first"]
_NOT_COMPLEX = ("min", "max", "var", "std", "logsumexp")
# A second program for fewer rows would take longer to compile than it saves.
LEAST_INDEXED_ROWS = 1 << 16
# A table of 8 MiB for each reduction is filled in a millisecond.
MOST_SEGMENTS = 1 << 20


class ReducedRuns(NamedTuple):
    """One row for each distinct key, in the order of the keys, and their true number."""

    unique_keys: PyTree
    values: PyTree
    num_runs: Int[Array, ""]


def reduce_by_key(
    keys: Keys,
    values: PyTree,
    ops: Any,
    *,
    capacity: int | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    is_sorted: bool = False,
    order: Order = "key",
    ddof: int = 0,
) -> ReducedRuns:
    """Reduces the rows of each distinct key to one row.

    Args:
        keys: one array of shape `(rows,)`, or a tuple of them, most significant first; in any
            order. Keys are equal as in `radix_sort`: -0.0 equals 0.0, and all NaNs are equal.
        values: array of shape `(rows, ...)`, or a pytree of them.
        ops: reductions of the values of a key: "sum", "prod", "min", "max", "count", "mean",
            "var", "std", "first", "last", "any" or "all", as in `segment_reduce`. One for all
            leaves of `values`, or a pytree of them of the same structure. Static.
        capacity: most distinct keys of the result. Static; by default the number of rows.
        num_valid: number of valid rows, at the front; all rows by default.
        is_sorted: promises that the keys are sorted, which saves the sort. If they are not, a key
            occurs once for each of its runs. Static.
        order: "key" for the keys in order, "first" for the order of their first rows. Static.
        ddof: delta degrees of freedom; "var" and "std" divide by the number of rows minus `ddof`.
            Static.

    Returns:
        `ReducedRuns(unique_keys, values, num_runs)`, in `order`, padded with zeros. A key has the
        bits of its first row. `num_runs > capacity` means that keys did not fit: the first
        `capacity` of them are there.

    Raises:
        TypeError: a dtype that is not a key dtype or not supported by an op, or a traced static
            argument.
        ValueError: lengths differ, or there is no such op.

    Cost:
        Work O(rows x (key bytes + value bytes)). No communication. In general a sort, and one to
        three scatters for each leaf; on TPU scans in their place. On CPU the keys decide. Many
        rows with integer keys of a small range index a table: O(rows + range), one pass for each
        leaf. Other keys that fit one word are found in hash tables, in work O(rows): one table
        while distinct keys are few, and tables for parts of the rows otherwise. A single "sum" of
        numbers of 32 or 64 bits then writes nothing for each row, and sorts if most keys are
        distinct. Keys of several words are sorted. Another order sorts the results by first row.

    Guarantees:
        Deterministic; differentiable in `values`. Integers are exact, and wrap. A sum of floats is
        within `rows x precision x sum(abs(values))`. On CPU floats are added in the order of the
        rows, and keep what that rounds away: the sum is nearly always the exact one, rounded.
        Elsewhere they are added in a fixed order of the sorted rows.

    References:
        Merrill (2015), "CUB: flexible library of cooperative threadblock primitives and other
        utilities for CUDA kernel programming" (`DeviceReduce::ReduceByKey`). Belazzougui, Botelho,
        Dietzfelbinger (2009), "Hash, displace, and compress", for the tables of few keys on CPU.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> keys, x = jnp.array([7, 3, 7, 3, 7]), jnp.array([1, 2, 3, 4, 5])
        >>> runs = local.reduce_by_key(keys, {"x": x, "y": x}, {"x": "sum", "y": "max"}, capacity=3)
        >>> runs.unique_keys.tolist(), runs.num_runs.tolist()
        ([3, 7, 0], 2)
        >>> runs.values["x"].tolist(), runs.values["y"].tolist()
        ([6, 9, 0], [4, 5, 0])
    """
    caller = "reduce_by_key"
    is_sorted = as_flag(is_sorted, caller, "is_sorted")
    columns, is_tuple = as_keys(keys, caller)
    num_rows = columns[0].shape[0]
    values, names, ddof = as_reduction(values, ops, ddof, num_rows, caller)
    capacity = as_capacity(capacity, num_rows, caller)
    valid = as_num_valid(num_valid, num_rows, caller)
    check_order(order, caller)
    if order == "first":
        unique_columns, reduced, num_runs = _reduce_in_first_order(
            columns, values, valid, names, capacity, is_sorted, ddof
        )
    else:
        unique_columns, reduced, num_runs = reduce_columns(
            columns, values, valid, names, capacity, is_sorted, ddof
        )
    return ReducedRuns(unique_columns if is_tuple else unique_columns[0], reduced, num_runs)


def as_reduction(
    values: Any, ops: Any, ddof: Any, num_rows: int, caller: str
) -> tuple[Any, tuple[str, ...], int]:
    """Checks the values and the ops; returns one op for each leaf."""
    values = as_rows(values, num_rows, caller)
    leaves, structure = jax.tree.flatten(values)
    if isinstance(ops, str):
        names = (ops,) * len(leaves)
    else:
        try:
            names = tuple(structure.flatten_up_to(ops))
        except (ValueError, TypeError) as error:
            raise ValueError(
                f"{caller}: ops must be one name, or names in the structure of values, "
                f"{structure}, got {ops!r}."
            ) from error
    names = tuple(as_reduction_name(name, REDUCE_OPS, caller, "ops") for name in names)
    for name, leaf in zip(names, leaves, strict=True):
        if name in _NOT_COMPLEX and jnp.issubdtype(leaf.dtype, jnp.complexfloating):
            raise TypeError(
                f"{caller}: values must be real for {name!r}, got {type_of(leaf)}. Reduce their "
                "real and imaginary parts."
            )
    return values, names, as_static_int(ddof, caller, "ddof", 0)


def check_order(order: Any, caller: str) -> None:
    """Raises unless an order is known."""
    if order not in ("key", "first"):
        raise ValueError(f"{caller}: order must be 'key' or 'first', got {order!r}.")


@functools.partial(tiered, static_argnums=(3, 4, 5, 6))
def _reduce_in_first_order(
    columns: tuple[Array, ...],
    values: Any,
    num_valid: Array,
    names: tuple[str, ...],
    capacity: int,
    is_sorted: bool,
    ddof: int,
) -> tuple[tuple[Array, ...], Any, Array]:
    """`reduce_columns`, of all keys, then sorted by their first rows."""
    num_rows = columns[0].shape[0]
    row_ids = like_varying(jax.lax.iota(jnp.int32, num_rows), *columns)
    unique_columns, (reduced, first_rows), num_runs = reduce_columns(
        columns, (values, row_ids), num_valid, (*names, "min"), num_rows, is_sorted, ddof
    )
    is_run = jax.lax.iota(jnp.int32, num_rows) < num_runs
    positions = in_first_order(jnp.where(is_run, first_rows, INT32_MAX), capacity)
    is_shown = jax.lax.iota(jnp.int32, capacity) < num_runs
    rows = take_rows_or_zeros((unique_columns, reduced), positions, is_shown)
    return *rows, num_runs


@functools.partial(tiered, static_argnums=(3, 4, 5, 6, 7))
def reduce_columns(
    columns: tuple[Array, ...],
    values: Any,
    num_valid: Array,
    names: tuple[str, ...],
    capacity: int,
    is_sorted: bool,
    ddof: int,
    tries_index: bool = True,
) -> tuple[tuple[Array, ...], Any, Array]:
    """Reduces checked arguments: distinct keys, values in the same structure, and their number.

    `tries_index` is false for keys that are known to have a large range.
    """
    leaves, structure = jax.tree.flatten(values)

    def by_sort(columns: tuple[Array, ...], leaves: list[Array], num_valid: Array) -> Any:
        return _reduce_runs(columns, leaves, num_valid, names, capacity, is_sorted, ddof)

    def on_cpu(columns: tuple[Array, ...], leaves: list[Array], num_valid: Array) -> Any:
        return _reduce_on_cpu(columns, leaves, num_valid, names, capacity, ddof, may_index)

    may_index = tries_index and _can_index(columns)
    if is_sorted or not (may_index or _has_group_kernel(columns)):
        unique_columns, reduced, num_runs = by_sort(columns, leaves, num_valid)
    else:
        unique_columns, reduced, num_runs = by_platform(
            columns, leaves, num_valid, cpu=on_cpu, default=by_sort
        )
    return unique_columns, structure.unflatten(reduced), num_runs


def _reduce_runs(
    columns: tuple[Array, ...],
    leaves: list[Array],
    num_valid: Array,
    names: tuple[str, ...],
    capacity: int,
    is_sorted: bool,
    ddof: int,
) -> tuple[tuple[Array, ...], list[Array], Array]:
    """The definition: sorts the rows by key, and reduces each run of equal keys."""
    runs = find_runs(columns, num_valid, is_sorted, leaves, with_ids=False)
    has_key_first = runs.columns[0] is runs.exact_key
    at = _summed_by_kernel(runs, names) if capacity else None

    def by_parts(columns: tuple[Array, ...], runs: KeyRuns) -> Any:
        unique_columns, num_runs = runs.first_rows(columns, capacity, runs.columns)
        reduced = reduce_segments(segments_of(runs, capacity), runs.rows, names, ddof)
        return unique_columns, of_runs(reduced, capacity, num_runs), num_runs

    def by_kernel(columns: tuple[Array, ...], runs: KeyRuns) -> Any:
        # One pass finds the keys and one of the sums.
        assert at is not None
        rows, dtype = as_summed(runs.rows[at])
        reduction = "add", jax.lax.stop_gradient(rows)
        found = runs.by_kernel(runs.columns, capacity, has_key_first, reduction)
        route = functools.partial(_add_by_group, capacity=capacity)
        sums = with_tangents(route, found.reduced, rows, runs.segment_ids).astype(dtype)
        leaves, others = [*runs.rows[:at], *runs.rows[at + 1 :]], (*names[:at], *names[at + 1 :])
        reduced = reduce_segments(segments_of(runs, capacity), leaves, others, ddof)
        reduced = of_runs(reduced, capacity, found.count)
        return found.first_rows, [*reduced[:at], sums, *reduced[at:]], found.count

    kernel = {} if at is None else on_cuda(by_kernel)
    return by_platform(columns, runs, default=by_parts, **kernel)


def _summed_by_kernel(runs: KeyRuns, names: tuple[str, ...]) -> int | None:
    """The first leaf that the kernel on CUDA can add up while it finds the keys."""
    if not can_keep_on_cuda(runs.columns, runs.is_head):
        return None
    for at, (name, leaf) in enumerate(zip(names, runs.rows, strict=True)):
        # The results of a kernel vary over the mesh axes of all that it reads.
        is_like_keys = varying_axes(leaf) <= varying_axes(runs.is_head)
        if name == "sum" and is_like_keys and can_reduce_on_cuda(as_summed(leaf)[0]):
            return at
    return None


def _reduce_on_cpu(
    columns: tuple[Array, ...],
    leaves: list[Array],
    num_valid: Array,
    names: tuple[str, ...],
    capacity: int,
    ddof: int,
    may_index: bool,
) -> tuple[tuple[Array, ...], list[Array], Array]:
    """Chooses between a direct index, hash tables and a sort."""

    def by_hash(columns: tuple[Array, ...], leaves: list[Array], num_valid: Array) -> Any:
        if names == ("sum",) and has_sum_kernel(columns, leaves[0], num_valid):
            return sum_groups(columns, leaves[0], num_valid, capacity)
        if _has_group_kernel(columns):
            return _reduce_groups(columns, leaves, num_valid, names, capacity, ddof)
        return _reduce_runs(columns, leaves, num_valid, names, capacity, False, ddof)

    if not may_index:
        return by_hash(columns, leaves, num_valid)
    num_rows = columns[0].shape[0]
    # The whole table is filled and read, even for few keys.
    num_segments = min(num_rows, MOST_SEGMENTS, max(4 * capacity, LEAST_INDEXED_ROWS))
    index, fits = index_of(ranges_of(columns, num_valid), num_segments)

    def by_index(columns: tuple[Array, ...], leaves: list[Array], num_valid: Array) -> Any:
        segments = segments_of_index(index, columns, num_valid, num_segments)
        tables = reduce_segments(segments, leaves, names, ddof)
        dtypes = [column.dtype for column in columns]
        return take_segments(index, segments.counts, tables, dtypes, capacity)

    def varying(reduce: Callable[..., Any]) -> Callable[..., Any]:
        # Both branches must vary over the same mesh axes.
        def reduce_and_mark(*arguments: Any) -> Any:
            keys, reduced, count = like_varying(reduce(*arguments), *columns, num_valid)
            pairs = zip(names, reduced, leaves, strict=True)
            reduced = [
                total if name == "count" else like_varying(total, leaf)
                for name, total, leaf in pairs
            ]
            return keys, reduced, count

        return reduce_and_mark

    return jax.lax.cond(fits, varying(by_index), varying(by_hash), columns, leaves, num_valid)


def _can_index(columns: tuple[Array, ...]) -> bool:
    return can_index(columns) and columns[0].shape[0] >= LEAST_INDEXED_ROWS


def _has_group_kernel(columns: tuple[Array, ...]) -> bool:
    """Whether the kernel can number the groups of equal keys."""
    is_one_word = len(ordered_words(columns, (False,) * len(columns))) == 1
    return is_one_word and columns[0].shape[0] > 0 and is_native()


def _reduce_groups(
    columns: tuple[Array, ...],
    leaves: list[Array],
    num_valid: Array,
    names: tuple[str, ...],
    capacity: int,
    ddof: int,
) -> tuple[tuple[Array, ...], list[Array], Array]:
    """Numbers the groups of equal keys, and reduces the rows in place."""
    (word,) = ordered_words(columns, (False,) * len(columns))
    groups = factorize_words(word, num_valid, capacity, in_key_order=True)
    is_group = jax.lax.iota(jnp.int32, capacity) < groups.count
    unique_columns = take_rows_or_zeros(columns, groups.first_row_ids, is_group)
    reduced = reduce_segments(segments_of_ids(groups.group_ids, capacity), leaves, names, ddof)
    return unique_columns, of_runs(reduced, capacity, groups.count), groups.count


@functools.partial(tiered, static_argnums=(5, 6, 7))
def reduce_numbered(
    columns: tuple[Array, ...],
    leaves: list[Array],
    group_ids: Array,
    first_row_ids: Array | None,
    count: Array,
    names: tuple[str, ...],
    ddof: int,
    capacity: int,
) -> tuple[tuple[Array, ...], list[Array]]:
    """Keys and reductions of numbered groups; finds their first rows if they are unknown."""
    if first_row_ids is None:
        first_row_ids = end_rows(group_ids, max(capacity, 1), is_last=False)
    first_row_ids = first_row_ids[:capacity]
    padding = capacity - first_row_ids.shape[0]
    is_group = jax.lax.iota(jnp.int32, capacity) < count
    row_ids = jnp.where(is_group, jnp.pad(first_row_ids, (0, padding)), 0)
    unique_columns = take_rows_or_zeros(columns, row_ids, is_group)
    reduced = reduce_segments(segments_of_ids(group_ids, capacity), leaves, names, ddof)
    return unique_columns, of_runs(reduced, capacity, count)


def segments_of_ids(group_ids: Array, capacity: int) -> Segments:
    """Numbered groups as the segments of a reduction; there is at least one segment."""
    num_segments = max(capacity, 1)
    given = as_given_ids(group_ids, None, None, num_segments)
    return Segments(group_ids, num_segments, OneDevice(), given)


def has_sum_kernel(columns: tuple[Array, ...], leaf: Array, num_valid: Array) -> bool:
    """Whether the kernel can add up the rows of each key."""
    is_one_word = len(ordered_words(columns, (False,) * len(columns))) == 1
    # The kernel's results vary over the mesh axes of all that it reads: so do keys and their
    # number then, which a sort of the keys alone would leave as they are.
    is_like_keys = varying_axes(leaf) <= varying_axes(*columns, num_valid)
    return is_one_word and is_like_keys and can_sum_groups(as_summed(leaf)[0])


def sum_groups(
    columns: tuple[Array, ...], leaf: Array, num_valid: Array, capacity: int
) -> tuple[tuple[Array, ...], list[Array], Array]:
    """The sums by the kernel, in the order of the rows as the definition has them."""
    (word,) = ordered_words(columns, (False,) * len(columns))
    rows, dtype = as_summed(leaf)
    groups = native_group_sums(word, jax.lax.stop_gradient(rows), num_valid, capacity)
    is_group = jax.lax.iota(jnp.int32, capacity) < groups.count
    unique_columns = take_rows_or_zeros(columns, groups.first_row_ids, is_group)
    # Group ids are computed only under differentiation.
    group_ids = factorize_words(word, num_valid, capacity, in_key_order=True).group_ids
    route = functools.partial(_add_by_group, capacity=capacity)
    sums = with_tangents(route, groups.sums, rows, group_ids).astype(dtype)
    return like_varying((unique_columns, [sums], groups.count), *columns, num_valid)


def _add_by_group(matrix: Array, group_ids: Array, *, capacity: int) -> Array:
    return add(matrix, group_ids, max(capacity, 1))[:capacity]


def segments_of(runs: KeyRuns, capacity: int) -> Segments:
    """The runs as segments of a reduction, at least one."""
    adjacent = Runs(runs.segment_ids, runs.is_head, runs.num_valid)
    return Segments(runs.segment_ids, max(capacity, 1), OneDevice(), runs=adjacent)


def of_runs(reduced: Any, capacity: int, num_runs: Array) -> Any:
    """Pads reduced values with zeros past the last run."""
    is_run = jax.lax.iota(jnp.int32, capacity) < num_runs
    return keep_or_zero(jax.tree.map(lambda leaf: leaf[:capacity], reduced), is_run)
