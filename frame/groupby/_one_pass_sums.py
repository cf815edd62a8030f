# SPDX-License-Identifier: Apache-2.0
"""Sums, means and counts of many rows, outside `jit` on one device.

`primitives.reduce_by_key` finds groups and sums together; groups that are known already are
reduced by their segment ids. Other reductions have the same results, sums of floats up to rounding.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ..table._column import Array, Column, group_keys
from ..table._layout import ONE_DEVICE
from ..table._table import Table
from ..table._tracing import answered_at_once
from ._grouped_column import Reduction, float64, quotient, wide
from ._segment_reductions import of_groups

# Below this many rows, the general reductions take less time than further programs to compile.
LEAST_ROWS = 1 << 20


class Part(NamedTuple):
    """One accumulator: the sum, or the count of non-missing values, of a column."""

    position: int
    dtype: str  # of the sum; "" for the count


# Reduces leaves by the operators of the same positions: one array for each.
Reduce = Callable[[list[Array], list[str]], Sequence[Array]]


def are_sums(specs: Sequence[Reduction], columns: Sequence[Column], table: Table) -> bool:
    """Whether reductions are sums, means and counts of many rows."""
    return (
        table.layout == ONE_DEVICE
        and table.capacity >= LEAST_ROWS
        and all(spec.op in ("sum", "mean", "count", "size") for spec in specs)
        and all(spec.min_count <= 0 and spec.skipna for spec in specs)
        and all(column.is_numeric and column.dtype.kind != "c" for column in columns)
    )


def _parts(plan: Sequence[tuple[int, Reduction]], columns: Sequence[Column]) -> tuple[Part, ...]:
    """The accumulators that a plan needs, without repetition."""
    parts: dict[Part, None] = {}
    for position, spec in plan:
        column = columns[position]
        if spec.op in ("sum", "mean"):
            parts[_sum_of(position, spec, column)] = None
        if spec.op in ("mean", "count") and column.can_miss:
            if column.valid is None:
                # A missing float shows in the sum.
                parts[Part(position, np.dtype(float64()).name)] = None
            parts[Part(position, "")] = None
    return tuple(parts)


def _sum_of(position: int, spec: Reduction, column: Column) -> Part:
    is_float = column.is_float or spec.op == "mean"
    return Part(position, np.dtype(float64() if is_float else wide(column.data.dtype)).name)


class KeySums(NamedTuple):
    """Unique keys in order, and their sums.

    Attributes:
        keys: the key columns, one row for each group.
        count: the number of groups, on the host.
        sizes: the rows of each group; None if the plan does not need them.
        parts: the accumulators of a plan, by group.
    """

    keys: tuple[Column, ...]
    count: int
    sizes: Array | None
    parts: dict[Part, Array]


@answered_at_once
def sums_by_key(
    keys: Sequence[Column],
    table: Table,
    columns: Sequence[Column],
    plan: Sequence[tuple[int, Reduction]],
    dropna: bool,
) -> KeySums | None:
    """Groups and sums together, in the order of the keys; None for objects and complex numbers."""
    if any(key.kind == "object" or key.dtype.kind == "c" for key in keys):
        return None
    # Codes and times stay as they are, with missing values first, so that codes may index a table.
    words = [group_keys(key) if key.is_numeric else (key.data,) for key in keys]
    runs = None

    def reduce(leaves: list[Array], ops: list[str]) -> Sequence[Array]:
        nonlocal runs
        runs = primitives.reduce_by_key(
            tuple(word for some in words for word in some),
            leaves,
            ops,
            capacity=table.layout.capacity_for,
            num_valid=table.num_rows,
        )
        return runs.values

    sizes, parts = _accumulate(reduce, columns, plan)
    assert runs is not None
    unique_words = iter(runs.unique_keys)
    unique = tuple(
        _column_of(key, [next(unique_words) for _ in some])
        for key, some in zip(keys, words, strict=True)
    )
    sums = KeySums(unique, int(runs.num_runs), sizes, parts)
    if dropna and any(key.can_miss for key in keys):
        return _without_missing_keys(sums, table)
    if any(key.can_miss and not key.is_numeric for key in keys):
        return _with_missing_keys_last(sums)
    return sums


def _column_of(key: Column, words: list[Array]) -> Column:
    """The column of a key's unique words."""
    if len(words) == 2:
        is_missing, data = words
        return key.with_arrays((data, ~is_missing))
    return key.with_arrays((words[0], None))


def _without_missing_keys(sums: KeySums, table: Table) -> KeySums:
    """The groups without a missing key."""
    has_keys, num_groups = _groups_with_keys(
        [key.missing() for key in sums.keys], np.int32(sums.count)
    )
    data = [key.data for key in sums.keys]
    if int(num_groups) < sums.count:
        capacity = table.layout.capacity_for(int(num_groups))
        rows = (data, sums.sizes, list(sums.parts.values()))
        data, sizes, totals = primitives.local.compact(has_keys, rows, capacity=capacity).rows
        parts = dict(zip(sums.parts, totals, strict=True))
        sums = KeySums(sums.keys, int(num_groups), sizes, parts)
    columns = [key.with_arrays((own, None)) for key, own in zip(sums.keys, data, strict=True)]
    return sums._replace(keys=tuple(columns))


def _with_missing_keys_last(sums: KeySums) -> KeySums:
    """The groups in pandas' order: missing codes and times last."""
    missing = [key.missing() for key in sums.keys if not key.is_numeric]
    _, num_whole = _groups_with_keys(missing, np.int32(sums.count))
    if int(num_whole) == sums.count:
        return sums
    words = tuple(word for key in sums.keys for word in group_keys(key))
    order = primitives.local.radix_argsort(words, num_valid=sums.count)
    arrays = [key.arrays for key in sums.keys]
    rows = (arrays, sums.sizes, list(sums.parts.values()))
    arrays, sizes, totals = jax.tree.map(lambda leaf: leaf[order], rows)
    keys = tuple(map(Column.with_arrays, sums.keys, arrays))
    return KeySums(keys, sums.count, sizes, dict(zip(sums.parts, totals, strict=True)))


@jax.jit
def _groups_with_keys(missing: Sequence[Array], count: Any) -> tuple[Array, Array]:
    is_group = jnp.arange(missing[0].shape[0], dtype=jnp.int32) < count
    has_keys = is_group & ~functools.reduce(jnp.logical_or, missing)
    return has_keys, jnp.sum(has_keys, dtype=jnp.int32)


@answered_at_once
def sums_by_segment(
    segment_ids: Array,
    num_segments: int,
    table: Table,
    columns: Sequence[Column],
    plan: Sequence[tuple[int, Reduction]],
) -> tuple[Array | None, dict[Part, Array]]:
    """The rows of each segment, if the plan needs them, and its accumulators, by segment."""

    def reduce(leaves: list[Array], ops: list[str]) -> Sequence[Array]:
        return [
            primitives.local.segment_reduce(
                leaf, segment_ids, num_segments, op, num_valid=table.num_rows
            )
            for leaf, op in zip(leaves, ops, strict=True)
        ]

    return _accumulate(reduce, columns, plan)


def _accumulate(
    reduce: Reduce, columns: Sequence[Column], plan: Sequence[tuple[int, Reduction]]
) -> tuple[Array | None, dict[Part, Array]]:
    """The rows of each group, if the plan needs them, and its accumulators.

    Floats are added with their NaNs. A NaN in a sum leads to a second pass without them: to look
    for NaNs among the rows takes longer.
    """
    parts = _parts(plan, columns)
    # A float column without NaNs in its sums has as many values as rows.
    at_first = [part for part in parts if part.dtype or columns[part.position].valid is not None]
    wants_sizes = any(spec.op != "sum" for _, spec in plan)
    leaves = [_leaf(columns[part.position], part) for part in at_first]
    ops = ["sum"] * len(leaves)
    if wants_sizes:
        leaves.append(columns[plan[0][0]].data)
        ops.append("count")
    reduced = list(reduce(leaves, ops))
    sizes = reduced.pop() if wants_sizes else None
    totals = dict(zip(at_first, reduced, strict=True))
    floats = [part for part in at_first if columns[part.position].is_float and part.dtype]
    have_nan = jax.device_get(_have_nan([totals[part] for part in floats])) if floats else []
    spoilt = {part.position for part, has_nan in zip(floats, have_nan, strict=True) if has_nan}
    for part in parts:
        if not part.dtype and part not in totals and part.position not in spoilt:
            assert sizes is not None
            totals[part] = sizes
    again = [
        part
        for part in parts
        if part.position in spoilt and (part.dtype or columns[part.position].valid is None)
    ]
    if again:
        leaves = [_leaf(_without_nan(columns[part.position]), part) for part in again]
        totals |= zip(again, reduce(leaves, ["sum"] * len(again)), strict=True)
    return sizes, totals


def _leaf(column: Column, part: Part) -> Array:
    """The values to add up for an accumulator, zero where one is missing."""
    data, valid = column.arrays
    if not part.dtype:
        assert valid is not None
        return valid
    if valid is not None:
        data = jnp.where(valid, data, data.dtype.type(0))
    return data if data.dtype == part.dtype else data.astype(part.dtype)


def _without_nan(column: Column) -> Column:
    """A column of floats whose NaNs are masked."""
    is_present = ~jnp.isnan(column.data)
    if column.valid is not None:
        is_present &= column.valid
    return column.with_arrays((column.data, is_present))


@jax.jit
def _have_nan(totals: Sequence[Array]) -> list[Array]:
    return [jnp.any(jnp.isnan(total)) for total in totals]


def finished_sums(
    plan: Sequence[tuple[int, Reduction]],
    columns: Sequence[Column],
    parts: dict[Part, Array],
    sizes: Array | None,
    segments: Array | None,
) -> tuple[tuple[Array, Array | None], ...]:
    """The results of a plan by group; `segments` is None if every segment is a group."""
    accumulators = tuple(
        (
            spec.op,
            np.dtype(columns[position].data.dtype).name,
            parts[_sum_of(position, spec, columns[position])]
            if spec.op in ("sum", "mean")
            else None,
            parts.get(Part(position, "")),
        )
        for position, spec in plan
    )
    settings = tuple((op, dtype) for op, dtype, _, _ in accumulators)
    tables = tuple((total, count) for _, _, total, count in accumulators)
    return _finished(tables, sizes, segments, settings)


@functools.partial(jax.jit, static_argnums=3)
def _finished(tables: Any, sizes: Array | None, segments: Array | None, settings: Any) -> Any:
    integer = jax.dtypes.canonicalize_dtype(np.int64)
    results = []
    for (total, count), (op, dtype) in zip(tables, settings, strict=True):
        by_segment = (total, sizes if count is None or op == "size" else count)
        total, count = of_groups(by_segment, segments, ONE_DEVICE)
        if op == "sum":
            results.append((total.astype(wide(np.dtype(dtype))), None))
        elif op == "mean":
            mean = quotient(total, count.astype(total.dtype))
            is_float = jnp.issubdtype(np.dtype(dtype), jnp.inexact)
            results.append((mean.astype(dtype) if is_float else mean, None))
        else:
            results.append((count.astype(integer), None))
    return tuple(results)
