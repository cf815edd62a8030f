# SPDX-License-Identifier: Apache-2.0
"""Sums, means and counts of many rows, outside `jit` on one device.

`primitives` finds groups and sums together (`sum_by_key`); groups that are known already are
reduced by their segment ids. Other reductions have the same results, sums of floats up to rounding.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ...primitives._accumulators import ACCUMULATORS
from ...primitives._direct_index import note_range
from ...primitives._global._reduce_by_key import sum_by_key
from ...primitives._segment_sums import sums_of_segments
from ...primitives.staging import tiered
from ..ops._column_ops import factors_of
from ..table._column import Array, Column, zero_unless
from ..table._defer import constant_of
from ..table._dtypes import wide
from ..table._layout import ONE_DEVICE
from ..table._objects import is_hashed
from ..table._sort_keys import group_keys
from ..table._table import Count, Table
from ..table._to_host import host_array
from ..table._tracing import answered_at_once
from ._grouped_column import Options, Reduction, Segments, sum_dtype

# A dictionary of at most one value for so many rows gives the range of its codes.
ROWS_OF_A_CODE = 16


class Part(NamedTuple):
    """One accumulator: the sum, or the count of non-missing values, of a column."""

    position: int
    dtype: str  # of the sum; "" for the count


# The rows of each group.
SIZES = Part(-1, "")

# The reductions whose parts are all sums and counts, and these.
SUMS = {
    op: accumulator.parts
    for op, accumulator in ACCUMULATORS.items()
    if set(accumulator.parts) <= {"sum", "total", "count"}
} | {"size": ("count",)}

# Adds up leaves, in the dtypes of the same positions; "" counts rows. One array for each.
Reduce = Callable[[list[Any], list[str]], Sequence[Array]]
Plan = Sequence[tuple[int, Reduction]]
Parts = dict[Part, Array]


def are_sums(plan: Plan, columns: Sequence[Column], table: Table) -> bool:
    """Whether reductions are sums, means and counts."""
    return (
        table.layout == ONE_DEVICE
        and all(spec.op in SUMS for _, spec in plan)
        and all(spec.min_count <= 0 and spec.skipna for _, spec in plan)
        and all(column.is_numeric and column.dtype.kind != "c" for column in columns)
    )


def _parts(plan: Plan, columns: Sequence[Column]) -> list[Part]:
    """The accumulators that a plan needs, without repetition."""
    parts = [SIZES] if any("count" in SUMS[spec.op] for _, spec in plan) else []
    for position, spec in plan:
        column, names = columns[position], SUMS[spec.op]
        if set(names) & {"sum", "total"}:
            parts.append(sum_of(position, spec, column))
        if "count" in names and spec.op != "size" and column.can_miss:
            if column.valid is None:
                # A missing float shows in the sum.
                parts.append(Part(position, wide(np.float64).name))
            parts.append(count_of(position))
    return list(dict.fromkeys(parts))


def sum_of(position: int, spec: Reduction, column: Column) -> Part:
    """The sum that a reduction of a column needs."""
    is_float = column.is_float or "total" in SUMS[spec.op]
    return Part(position, (wide(np.float64) if is_float else sum_dtype(column.dtype)).name)


def count_of(position: int) -> Part:
    """The count of a column's values, if some are missing."""
    return Part(position, "")


class KeySums(NamedTuple):
    """Unique keys in the order of groups, their number, and the accumulators of a plan."""

    keys: tuple[Column, ...]
    count: int
    parts: Parts


def traced_sums_by_key(
    keys: Sequence[Column], table: Table, columns: Sequence[Column], plan: Plan, options: Options
) -> tuple[tuple[Column, ...], Array, Parts] | None:
    """Unique keys, their number and the accumulators of a plan, inside `jit`, by one sort.

    None where a key may be missing.
    """
    if any(key.can_miss or not key.is_numeric or key.dtype.kind == "c" for key in keys):
        return None
    columns = [
        _without_nan(column) if column.is_float and column.can_miss else column
        for column in columns
    ]
    parts = _parts(plan, columns)
    leaves = [None if part == SIZES else _leaf(columns[part.position], part) for part in parts]
    runs = _runs_of_keys(
        tuple(word for key in keys for word in group_keys(key)),
        leaves, table.num_rows, tuple(_sum_dtypes(parts)),
        "key" if options.sort else "first",
        table.layout.capacity_for(options.capacity or table.capacity),
    )  # fmt: skip
    unique = tuple(
        key.with_arrays((data, None)) for key, data in zip(keys, runs.unique_keys, strict=True)
    )
    return unique, runs.num_runs, dict(zip(parts, runs.values, strict=True))


@functools.partial(tiered, static_argnums=(3, 4, 5))
def _runs_of_keys(
    keys: tuple[Array, ...],
    leaves: list[Array | None],
    num_rows: Count,
    dtypes: tuple[str, ...],
    order: Any,
    capacity: int,
) -> Any:
    return primitives.local.reduce_by_key(
        keys,
        [
            # A count reads no values.
            keys[0] if leaf is None else leaf.astype(dtype)
            for leaf, dtype in zip(leaves, dtypes, strict=True)
        ],
        ["sum" if dtype else "count" for dtype in dtypes],
        capacity=capacity,
        num_valid=num_rows,
        order=order,
    )


@answered_at_once
def sums_by_key(
    keys: Sequence[Column], table: Table, columns: Sequence[Column], plan: Plan, options: Options
) -> KeySums | None:
    """Groups and sums together; None for keys of complex numbers, and of objects without codes."""
    if any(key.dtype.kind == "c" or not is_hashed(key) for key in keys):
        return None
    # Codes and times stay as they are, with missing values first, so that codes may index a table.
    words = [group_keys(key) if key.is_numeric else (key.data,) for key in keys]
    num_rows, runs = table.num_rows_on_host, None
    for key in keys:
        num_codes = len(key.type.dictionary or ())
        if key.type.has_codes and num_codes <= num_rows // ROWS_OF_A_CODE:
            note_range(key.data, num_rows, -1, num_codes - 1)

    def reduce(leaves: list[Any], dtypes: list[str]) -> Sequence[Array]:
        nonlocal runs
        runs = sum_by_key(
            tuple(word for some in words for word in some), leaves, dtypes,
            order="key" if options.sort else "first",
            capacity=table.layout.capacity_for, num_valid=table.num_rows,
        )  # fmt: skip
        return runs.values

    parts = _accumulate(_with_constants(reduce), columns, plan)
    assert runs is not None
    unique_words = iter(runs.unique_keys)
    unique = tuple(
        _column_of(key, [next(unique_words) for _ in some])
        for key, some in zip(keys, words, strict=True)
    )
    sums = KeySums(unique, int(runs.num_runs), parts)
    if options.dropna and any(key.can_miss for key in keys):
        return _without_missing_keys(sums, table)
    if options.sort and any(key.can_miss and not key.is_numeric for key in keys):
        return _with_missing_keys_last(sums)
    return sums


def _column_of(key: Column, words: list[Array]) -> Column:
    """The column of a key's unique words."""
    *is_missing, data = words
    return key.with_arrays((data, ~is_missing[0] if is_missing else None))


def _without_missing_keys(sums: KeySums, table: Table) -> KeySums:
    """The groups without a missing key."""
    has_keys, num_groups = _groups_with_keys([key.missing() for key in sums.keys], sums.count)
    rows, count = ([key.data for key in sums.keys], sums.parts), sums.count
    if int(num_groups) < count:
        count = int(num_groups)
        rows = primitives.local.compact(
            has_keys, rows, capacity=table.layout.capacity_for(count)
        ).rows
    data, parts = rows
    keys = (key.with_arrays((own, None)) for key, own in zip(sums.keys, data, strict=True))
    return KeySums(tuple(keys), count, parts)


def _with_missing_keys_last(sums: KeySums) -> KeySums:
    """The groups in pandas' order: missing codes and times last."""
    missing = [key.missing() for key in sums.keys if not key.is_numeric]
    _, num_whole = _groups_with_keys(missing, sums.count)
    if int(num_whole) == sums.count:
        return sums
    words = tuple(word for key in sums.keys for word in group_keys(key))
    order = primitives.local.radix_argsort(words, num_valid=sums.count)
    keys, parts = jax.tree.map(lambda leaf: leaf[order], (sums.keys, sums.parts))
    return KeySums(keys, sums.count, parts)


@tiered
def _groups_with_keys(missing: Sequence[Array], count: Any) -> tuple[Array, Array]:
    is_group = jnp.arange(missing[0].shape[0], dtype=jnp.int32) < count
    has_keys = is_group & ~functools.reduce(jnp.logical_or, missing)
    return has_keys, jnp.sum(has_keys, dtype=jnp.int32)


@answered_at_once
def sums_by_segment(segments: Segments, columns: Sequence[Column], plan: Plan) -> Parts:
    """The accumulators of a plan, by segment."""
    return sums_from(None, segments.ids, None, segments.num_segments, columns, plan)


def sums_from(
    first_id: object,
    ids: Array,
    num_rows: Count | None,
    num_segments: int,
    columns: Sequence[Column],
    plan: Plan,
) -> Parts:
    """The accumulators of a plan, by segment; see `sums_of_segments`."""

    def reduce(leaves: list[object], dtypes: list[str]) -> Sequence[Array]:
        counts, sums = sums_of_segments(
            [leaf for leaf, dtype in zip(leaves, dtypes, strict=True) if dtype],
            tuple(filter(None, dtypes)),
            ids, num_segments, first_id, num_rows,
        )  # fmt: skip
        in_turn = iter(sums)
        return [next(in_turn) if dtype else counts for dtype in dtypes]

    return _accumulate(_with_constants(reduce), columns, plan)


def _with_constants(reduce: Reduce) -> Reduce:
    """Reduces equal integers by the count of the rows, without writing a column of them."""

    def reduce_others(leaves: list[object], dtypes: list[str]) -> Sequence[Array]:
        others = [at for at, leaf in enumerate(leaves) if not _is_constant(leaf)]
        own = [leaves[at] for at in others], [dtypes[at] for at in others]
        if len(others) < len(leaves) and "" not in own[1]:
            own[0].append(None)
            own[1].append("")
        results = reduce(*own)
        found = dict(zip(others, results, strict=False))
        for at, (leaf, dtype) in enumerate(zip(leaves, dtypes, strict=True)):
            if at not in found:
                found[at] = _times(results[own[1].index("")], leaf, dtype)
        return [found[at] for at in range(len(leaves))]

    return reduce_others


def _accumulate(reduce: Reduce, columns: Sequence[Column], plan: Plan) -> Parts:
    """The accumulators of a plan.

    Floats are added with their NaNs. A NaN in a sum leads to a second pass without them: to look
    for NaNs among the rows takes longer.
    """
    parts = _parts(plan, columns)
    # A float column without NaNs in its sums has as many values as rows.
    at_first = [
        part
        for part in parts
        if part == SIZES or part.dtype or columns[part.position].valid is not None
    ]
    leaves = [
        None if part == SIZES else _deferred_or_leaf(columns[part.position], part)
        for part in at_first
    ]
    totals = dict(zip(at_first, reduce(leaves, _sum_dtypes(at_first)), strict=True))
    floats = [part for part in at_first if part.dtype and columns[part.position].is_float]
    # The host looks through the sums sooner than a program starts.
    spoilt = {part.position for part in floats if np.isnan(host_array(totals[part])).any()}
    for part in parts:
        if part not in totals and part.position not in spoilt:
            totals[part] = totals[SIZES]
    again = [
        part
        for part in parts
        if part.position in spoilt and (part.dtype or columns[part.position].valid is None)
    ]
    if again:
        leaves = [_leaf(_without_nan(columns[part.position]), part) for part in again]
        totals |= zip(again, reduce(leaves, _sum_dtypes(again)), strict=True)
    return totals


def needs_no_force(column: Column) -> bool:
    """Whether a column is added up deferred: a constant, or a product of forced columns."""
    factors = factors_of(column)
    return constant_of(column) is not None or (
        factors is not None and all(factor.node is None for factor in factors)
    )


def _deferred_or_leaf(column: Column, part: Part) -> Any:
    """Like `_leaf`, but two factors or an integer constant of deferred columns."""
    if part.dtype and column.node is not None:
        constant, factors = constant_of(column), factors_of(column)
        is_exact = np.dtype(part.dtype).kind in "iu"
        if constant is not None and is_exact and constant.dtype.kind in "biu":
            return constant
        if factors is not None:
            return tuple(factor.data for factor in factors)
    return _leaf(column, part)


def _is_constant(leaf: object) -> bool:
    return isinstance(leaf, np.generic)


@functools.partial(tiered, static_argnums=2)
def _times(counts: Array, constant: Array, dtype: str) -> Array:
    """Sums of equal integers, which wrap around as other sums do."""
    return counts.astype(dtype) * constant.astype(dtype)


def _leaf(column: Column, part: Part) -> Array:
    """The values to add up for an accumulator, zero where one is missing."""
    if part.dtype:
        return column.data if column.valid is None else zero_unless(column.valid, column.data)
    assert column.valid is not None
    return column.valid


def _sum_dtypes(parts: Sequence[Part]) -> list[str]:
    """The dtypes in which accumulators are added up; "" for the number of rows."""
    count = wide(np.int64).name
    return ["" if part == SIZES else part.dtype or count for part in parts]


def _without_nan(column: Column) -> Column:
    """A column of floats whose NaNs are masked."""
    return column.with_arrays((column.data, _is_number(column.data, column.valid)))


@tiered
def _is_number(data: Array, valid: Array | None) -> Array:
    return ~jnp.isnan(data) if valid is None else ~jnp.isnan(data) & valid


def finished_sums(
    plan: Plan, columns: Sequence[Column], parts: Parts, of_groups: Array | None
) -> tuple[tuple[Array, None], ...]:
    """The results of a plan by group; `of_groups` is None if every segment is a group."""
    settings = tuple((spec.op, columns[position].dtype.name) for position, spec in plan)
    tables = tuple(
        (
            parts.get(sum_of(position, spec, columns[position])),
            parts.get(SIZES if spec.op == "size" else count_of(position), parts.get(SIZES)),
        )
        for position, spec in plan
    )
    return _finished(tables, of_groups, settings)


@functools.partial(tiered, static_argnums=2)
def _finished(tables: Any, of_groups: Array | None, settings: Any) -> Any:
    if of_groups is not None:
        tables = jax.tree.map(lambda leaf: leaf[of_groups], tables)
    results = []
    for (total, count), (op, dtype) in zip(tables, settings, strict=True):
        known = {"sum": total, "total": total, "count": count}
        finish = ACCUMULATORS["count" if op == "size" else op].finish
        result = finish(tuple(known[name] for name in SUMS[op]), 0)
        if SUMS[op] == ("count",):
            result = result.astype(wide(np.int64))
        elif SUMS[op] == ("sum",):
            result = result.astype(sum_dtype(np.dtype(dtype)))
        elif jnp.issubdtype(np.dtype(dtype), jnp.inexact):
            result = result.astype(dtype)
        results.append((result, None))
    return tuple(results)
