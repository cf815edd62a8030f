# SPDX-License-Identifier: Apache-2.0
"""Reductions by key over all shards."""

from typing import Any

import jax

from ..contract._arguments import as_capacity, as_flag, as_keys, as_num_valid
from ..contract._typing import Array, ArrayLike, Integer, Keys, PyTree
from ..local import ReducedRuns
from ..local.parts import as_reduction, find_runs, merged_parts, of_runs, parts_of, segments_of
from ._axis import AxisName, as_shards, num_shards_on
from ._exchange import Transport, check_transport
from ._key_ranges import send_to_key_ranges


def reduce_by_key(
    keys: Keys,
    values: PyTree,
    ops: Any,
    *,
    axis_name: AxisName,
    capacity: int | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    is_sorted: bool = False,
    ddof: int = 0,
    transport: Transport = "auto",
) -> ReducedRuns:
    """Reduces the rows of each distinct key, on any shards, to one row.

    Every shard reduces its own rows first, so even a frequent key travels once from each shard.

    Args:
        keys: this shard's keys: one array of shape `(rows,)`, or a tuple of them, as for
            `local.reduce_by_key`.
        values: a pytree of arrays with leading axis `rows`.
        ops: reductions of the values of a key, as for `local.reduce_by_key`. Static.
        axis_name: mesh axis of the rows, or a tuple of axes.
        capacity: most distinct keys of a shard. Static; by default its number of rows, which always
            suffices.
        num_valid: number of valid rows of this shard, at its front; all rows by default.
        is_sorted: a promise that each shard's keys are sorted, which saves its sort. Static.
        ddof: delta degrees of freedom; "var" and "std" divide by the number of rows minus `ddof`.
            Static.
        transport: transport of the rows; see `partition`.

    Returns:
        `ReducedRuns(unique_keys, values, num_runs)`: this shard's range of the distinct keys, at
        its front, sorted; `num_runs` counts this shard's keys. Each key is on one shard, and the
        shards' ranges ascend. A key has the bits of its first row.
        `num_runs > capacity` means that keys did not fit.

    Raises:
        TypeError: a dtype that is not a key dtype or not supported by an op, or a traced static
            argument.
        ValueError: lengths differ, an op or `transport` is unknown, or `axis_name` is not an axis
            of the enclosing `shard_map`.

    Cost:
        Work O(rows x (key bytes + value bytes)): twice that of `local.reduce_by_key` at most.
        Communication: one `partition` of a row for each distinct key of each shard, and the counts
        of the splitters, as in `radix_sort`. Of `partials` such rows in total no shard receives
        more than `partials / num_shards + num_shards`, for any keys.

    Guarantees:
        Deterministic; differentiable in `values`. Integers are exact, and wrap. Floats are added
        in the order of the rows of a shard, then of the shards: the result depends on the number
        of shards within the bound of `local.reduce_by_key`. "var" and "std" merge without
        cancellation.

    References:
        Chan, Golub, LeVeque (1983), "Algorithms for computing the sample variance".

    Example:
        Two shards, sums:

            shard 0   keys [7 3 7]   values [1 2 3]
            shard 1   keys [9 7 3]   values [4 5 6]
            ->
            shard 0   unique keys [3 0 0]   values [8 0 0]   num_runs 1
            shard 1   unique keys [7 9 0]   values [9 4 0]   num_runs 2
    """
    caller = "reduce_by_key"
    is_sorted = as_flag(is_sorted, caller, "is_sorted")
    num_shards_on(axis_name, caller)
    check_transport(transport, caller)
    columns, is_tuple = as_keys(keys, caller)
    num_rows = columns[0].shape[0]
    values, names, ddof = as_reduction(values, ops, ddof, num_rows, caller)
    capacity = as_capacity(capacity, num_rows, caller)
    valid = as_num_valid(num_valid, num_rows, caller)
    columns, values, valid = as_shards((columns, values, valid), axis_name)
    leaves, structure = jax.tree.flatten(values)

    unique_columns, parts, count = _reduce_shard(columns, leaves, valid, names, is_sorted)
    unique_columns, parts, sent = send_to_key_ranges(
        unique_columns, parts, count, axis_name, transport
    )
    runs = find_runs(unique_columns, sent.count, is_sorted=False)
    unique_columns, num_runs = runs.first_rows(unique_columns, capacity)
    segments = segments_of(runs, capacity)
    reduced = [
        merged_parts(part, name, segments, leaf.dtype, ddof)
        for part, name, leaf in zip(runs.moved(parts), names, leaves, strict=True)
    ]
    reduced = of_runs(structure.unflatten(reduced), capacity, num_runs)
    return ReducedRuns(unique_columns if is_tuple else unique_columns[0], reduced, num_runs)


def _reduce_shard(
    columns: tuple[Array, ...],
    leaves: list[Array],
    num_valid: Array,
    names: tuple[str, ...],
    is_sorted: bool,
) -> tuple[tuple[Array, ...], Any, Array]:
    """This shard's distinct keys, the accumulators of each, and their number."""
    capacity = columns[0].shape[0]
    runs = find_runs(columns, num_valid, is_sorted)
    unique_columns, count = runs.first_rows(columns, capacity)
    segments = segments_of(runs, capacity)
    rows = zip(runs.moved(leaves), names, strict=True)
    parts = tuple(parts_of(leaf, name, segments) for leaf, name in rows)
    return unique_columns, jax.tree.map(lambda part: part[:capacity], parts), count
