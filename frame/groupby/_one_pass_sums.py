# SPDX-License-Identifier: Apache-2.0
"""Sums, means and counts in one pass over the rows.

Slots of dense keys are never written out: rows are taken a block at a time, so that what is
calculated of a block is still in the cache when it is added up. A single integer key goes to the
primitives as it is, and so do slots that are there already. Where only one column is to be added
up, by integers of any range that have few values, groups and sums are found together. Only eager
calls of many rows on one device come here; others have the same results, sums of floats up to
rounding.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ..table._column import Array, Column
from ..table._layout import ONE_DEVICE
from ..table._table import Count, Table
from ..table._tracing import is_traced
from ._dense_keys import Digit, Digits, slots_of_digits
from ._grouped_column import Reduction, float64, quotient, wide
from ._segment_reductions import of_groups

# Below as many rows a pass more costs less than another program to compile.
LEAST_ROWS = 1 << 20
BLOCK_ROWS = 1 << 18
# Groups of a key are found together with their sums if there are so many at most: of so many rows
# spread over all, no more than a quarter have a key that none before has. To look takes 0.3 ms.
MOST_GROUPS = 1 << 17
SAMPLE_ROWS = 1 << 15


class Part(NamedTuple):
    """What is added up of the column at a place: its values, or one for each that there is."""

    place: int
    dtype: str  # of values; "" to count them


def are_sums(specs: Sequence[Reduction], columns: Sequence[Column], table: Table) -> bool:
    """Whether reductions can be had in one pass."""
    return (
        table.layout == ONE_DEVICE
        and table.capacity >= LEAST_ROWS
        and table.capacity % (BLOCK_ROWS // 2) == 0
        and all(spec.op in ("sum", "mean", "count", "size") for spec in specs)
        and all(spec.min_count <= 0 and spec.skipna for spec in specs)
        and all(column.is_numeric and column.dtype.kind != "c" for column in columns)
    )


def _parts(plan: Sequence[tuple[int, Reduction]], columns: Sequence[Column]) -> tuple[Part, ...]:
    """The parts that reductions need, each once."""
    parts: dict[Part, None] = {}
    for place, spec in plan:
        column = columns[place]
        if spec.op in ("sum", "mean"):
            parts[_values_of(place, spec, column)] = None
        if spec.op in ("mean", "count") and column.can_miss:
            parts[Part(place, "")] = None
    return tuple(parts)


def _values_of(place: int, spec: Reduction, column: Column) -> Part:
    is_float = column.is_float or spec.op == "mean"
    return Part(place, np.dtype(float64() if is_float else wide(column.data.dtype)).name)


def sums_of_slots(
    keys: Sequence[Column],
    digits: Digits,
    table: Table,
    columns: Sequence[Column],
    plan: Sequence[tuple[int, Reduction]],
) -> tuple[Array, Array, dict[Part, Array]]:
    """The rows of each slot, how many slots have rows, and the parts of a plan, by slot."""
    parts = _parts(plan, columns)
    sizes, count, tables = _one_pass(
        tuple(key.arrays for key in keys),
        digits[1],
        tuple(column.arrays for column in columns),
        table.num_rows,
        digits[0],
        parts,
    )
    return sizes, count, dict(zip(parts, tables, strict=True))


def sums_by_slot(
    slots: Array,
    num_slots: int,
    table: Table,
    columns: Sequence[Column],
    plan: Sequence[tuple[int, Reduction]],
) -> tuple[Array | None, dict[Part, Array]]:
    """The rows of each slot and the parts of a plan, where the slots of rows are known; no rows
    where the plan needs none.
    """
    parts = _parts(plan, columns)
    arrays = tuple(column.arrays for column in columns)
    wants_sizes = any(spec.op != "sum" for _, spec in plan)
    sizes, tables = _by_known_slot(slots, arrays, table.num_rows, num_slots, parts, wants_sizes)
    return sizes, dict(zip(parts, tables, strict=True))


@functools.partial(jax.jit, static_argnums=(3, 4, 5))
def _by_known_slot(
    slots: Array,
    columns: Any,
    num_rows: Count,
    num_slots: int,
    parts: tuple[Part, ...],
    wants_sizes: bool,
) -> tuple[Array | None, list[Array]]:
    sizes, tables = _by_key(slots, np.int32(0), columns, num_rows, num_slots, parts)
    return sizes if wants_sizes else None, tables


@functools.partial(jax.jit, static_argnums=(4, 5))
def _one_pass(
    keys: Any,
    lowest: Any,
    columns: Any,
    num_rows: Count,
    plan: tuple[Digit, ...],
    parts: tuple[Part, ...],
) -> Any:
    num_slots = math.prod(digit.size for digit in plan)
    capacity = keys[0][0].shape[0]
    if len(keys) == 1 and _is_slot(keys[0], plan[0]):
        sizes, tables = _by_key(keys[0][0], lowest[0], columns, num_rows, num_slots, parts)
        return sizes, jnp.sum(sizes > 0, dtype=jnp.int32), tables
    block = min(capacity & -capacity, BLOCK_ROWS)

    def values(columns: Any, part: Part) -> Array:
        data, valid = columns[part.place]
        is_float = jnp.issubdtype(data.dtype, jnp.inexact)
        present = valid if valid is not None else ~jnp.isnan(data) if is_float else None
        if not part.dtype:
            assert present is not None
            return present.astype(jnp.int32)
        x = data.astype(part.dtype)
        return x if present is None else jnp.where(present, x, x.dtype.type(0))

    def in_blocks(keys: Any, lowest: Any, columns: Any, num_rows: Any) -> Any:
        def add(i: Array, tables: Any) -> Any:
            start = i * np.int32(block)

            def rows(leaf: Array) -> Array:
                return jax.lax.dynamic_slice_in_dim(leaf, start, block)

            is_row = start + jnp.arange(block, dtype=jnp.int32) < num_rows
            own_keys, own = jax.tree.map(rows, (keys, columns))
            ids = slots_of_digits(own_keys, lowest, is_row, plan)
            changes = [jnp.ones(block, jnp.int32), *(values(own, part) for part in parts)]
            return [
                table.at[ids].add(change, mode="drop", wrap_negative_indices=False)
                for table, change in zip(tables, changes, strict=True)
            ]

        dtypes = [part.dtype or "int32" for part in parts]
        tables = [jnp.zeros(num_slots, dtype) for dtype in ("int32", *dtypes)]
        num_blocks = np.int32(capacity // block)
        return jax.lax.fori_loop(np.int32(0), num_blocks, add, tables)

    def at_once(keys: Any, lowest: Any, columns: Any, num_rows: Any) -> Any:
        # Where a scatter adds floats in any order, the primitive puts them in order first.
        is_row = jnp.arange(capacity, dtype=jnp.int32) < num_rows
        ids = slots_of_digits(keys, lowest, is_row, plan)
        sums = [primitives.segment_sum(values(columns, part), ids, num_slots) for part in parts]
        return [primitives.segment_count(ids, num_slots), *sums]

    sizes, *tables = jax.lax.platform_dependent(
        keys, lowest, columns, num_rows, cpu=in_blocks, default=at_once
    )
    return sizes, jnp.sum(sizes > 0, dtype=jnp.int32), tables


class KeySums(NamedTuple):
    """The groups of a key with what one part comes to in each, in the order of the key."""

    keys: Array
    count: int
    parts: dict[Part, Array]


def sums_by_key(
    keys: Sequence[Column],
    table: Table,
    columns: Sequence[Column],
    plan: Sequence[tuple[int, Reduction]],
) -> KeySums | None:
    """The groups and the one sum that a plan is, found in one pass.

    None where the plan is more than that, keys are more than one integer each, or there are too
    many groups.
    """
    parts = _parts(plan, columns)
    is_one_sum = len(parts) == 1 and all(spec.op == "sum" for _, spec in plan)
    if len(keys) != 1 or keys[0].can_miss or not is_one_sum:
        return None
    values = columns[parts[0].place]
    if values.valid is not None or not _has_few_values(keys[0].data, table):
        return None
    unique_keys, sums, found = _sums_by_key(
        keys[0].data, values.data, table.num_rows, parts[0].dtype, MOST_GROUPS
    )
    if is_traced(found):
        return None
    count = int(found)
    room = table.layout.capacity_for(count)
    if room > MOST_GROUPS:
        return None
    return KeySums(unique_keys[:room], count, {parts[0]: sums[:room]})


def _has_few_values(key: Array, table: Table) -> bool:
    num_distinct, num_sampled = _distinct_of_sample(key, table.num_rows, SAMPLE_ROWS)
    return not is_traced(num_distinct) and bool(4 * num_distinct <= num_sampled)


@functools.partial(jax.jit, static_argnums=2)
def _distinct_of_sample(key: Array, num_rows: Count, sample_rows: int) -> tuple[Array, Array]:
    """How many values some rows have, and how many rows these are."""
    step = max(key.shape[0] // sample_rows, 1)
    num_sampled = (jnp.asarray(num_rows, jnp.int32) + np.int32(step - 1)) // np.int32(step)
    found = primitives.local.factorize(key[::step], capacity=0, sort=False, num_valid=num_sampled)
    return found.count, num_sampled


@functools.partial(jax.jit, static_argnums=(3, 4))
def _sums_by_key(
    key: Array, values: Array, num_rows: Count, dtype: str, capacity: int
) -> tuple[Array, Array, Array]:
    x = values.astype(dtype)

    def reduce(x: Array) -> Any:
        return primitives.local.reduce_by_key(key, x, "sum", capacity=capacity, num_valid=num_rows)

    found = reduce(x)
    sums = found.values
    if jnp.issubdtype(x.dtype, jnp.inexact):
        sums = _unless_nan(sums, sums, lambda: reduce(_without_nan(x)).values)
    return found.unique_keys, sums, found.num_runs


def _without_nan(x: Array) -> Array:
    return jnp.where(jnp.isnan(x), x.dtype.type(0), x)


def _unless_nan(totals: Array, of_all: Array, of_present: Callable[[], Array]) -> Array:
    """`of_all`, or what is calculated without the NaNs of rows, where one shows in its sum."""
    # To look for it among the rows takes longer.
    return jax.lax.cond(jnp.any(jnp.isnan(totals)), of_present, lambda: of_all)


def _is_slot(key: tuple[Array, Array | None], digit: Digit) -> bool:
    """Whether a key, less the lowest, is its rows' slots."""
    data, valid = key
    is_integer = jnp.issubdtype(data.dtype, jnp.integer) and valid is None
    return is_integer and not digit.can_miss


def _by_key(
    key: Array,
    lowest: Any,
    columns: Any,
    num_rows: Count,
    num_slots: int,
    parts: tuple[Part, ...],
) -> tuple[Array, list[Array]]:
    """The rows of each slot, and the parts, by the primitives that take such a key as it is."""

    def reduce(x: Array | None, op: str = "sum") -> Array:
        return primitives.local.segment_reduce(
            x, key, num_slots, op, num_valid=num_rows, first_id=lowest
        )

    sizes = reduce(None, "count")
    totals: dict[int, Array] = {}

    def of_floats(place: int, data: Array, is_count: bool) -> Array:
        if place not in totals:
            totals[place] = reduce(data)
        total = totals[place]
        of_all = sizes if is_count else total

        def of_present() -> Array:
            return reduce(~jnp.isnan(data) if is_count else _without_nan(data))

        return _unless_nan(total, of_all, of_present)

    def of_part(part: Part) -> Array:
        data, valid = columns[part.place]
        if jnp.issubdtype(data.dtype, jnp.inexact):
            return of_floats(part.place, data.astype(float64()), not part.dtype)
        if not part.dtype:
            return reduce(valid)
        x = data if valid is None else jnp.where(valid, data, data.dtype.type(0))
        return reduce(x.astype(part.dtype))

    return sizes, [of_part(part) for part in parts]


def finished_sums(
    plan: Sequence[tuple[int, Reduction]],
    columns: Sequence[Column],
    parts: dict[Part, Array],
    sizes: Array | None,
    kept: Array | None,
) -> tuple[tuple[Array, Array | None], ...]:
    """The results of a plan for each group; `kept` are the slots of groups, None for all."""
    wanted = tuple(
        (
            spec.op,
            np.dtype(columns[place].data.dtype).name,
            parts.get(_values_of(place, spec, columns[place])) if spec.op != "count" else None,
            parts.get(Part(place, "")),
        )
        for place, spec in plan
    )
    settings = tuple((op, dtype) for op, dtype, _, _ in wanted)
    tables = tuple((total, count) for _, _, total, count in wanted)
    return _finished(tables, sizes, kept, settings)


@functools.partial(jax.jit, static_argnums=3)
def _finished(tables: Any, sizes: Array | None, kept: Array | None, settings: Any) -> Any:
    integer = jax.dtypes.canonicalize_dtype(np.int64)
    results = []
    for (total, count), (op, dtype) in zip(tables, settings, strict=True):
        by_slot = (total, sizes if count is None or op == "size" else count)
        total, count = of_groups(by_slot, kept, ONE_DEVICE)
        if op == "sum":
            results.append((total.astype(wide(np.dtype(dtype))), None))
        elif op == "mean":
            mean = quotient(total, count.astype(total.dtype))
            is_float = jnp.issubdtype(np.dtype(dtype), jnp.inexact)
            results.append((mean.astype(dtype) if is_float else mean, None))
        else:
            results.append((count.astype(integer), None))
    return tuple(results)
