# SPDX-License-Identifier: Apache-2.0
"""Set operations on the keys of all shards: union, intersection, difference."""

from typing import Any

from ..contract._arguments import as_capacity
from ..contract._typing import Keys, NumValid
from ..local import KeySet
from ..local.parts import KeySides, SetOp, as_key_sides, most_keys, select_rows
from ._axis import AxisName, as_shards, num_shards_on
from ._exchange import Transport, check_transport
from ._meeting import meet


def set_union(
    a: Keys,
    b: Keys,
    *,
    axis_name: AxisName,
    capacity: int | None = None,
    num_valid: tuple[NumValid, NumValid] | None = None,
    transport: Transport = "auto",
) -> KeySet:
    """Finds the distinct keys that are in `a` or in `b`, on any shard, in their order.

    Args:
        a: this shard's keys of one side, as for `local.set_union`.
        b: this shard's keys of the other side: the same number of columns, of the same dtypes.
        axis_name: mesh axis of the rows, or a tuple of axes.
        capacity: most keys of a shard. Static; by default a number that always suffices.
        num_valid: numbers of valid rows of `a` and of `b` on this shard, at their fronts.
        transport: transport of the rows; see `partition`.

    Returns:
        `KeySet(unique_keys, count)`: this shard's range of the keys, at its front, sorted, NaN last
        and once; `count` is the size of this range. Each key is on one shard, and the shards'
        ranges ascend. A key has the bits of its first row, where rows of `a` precede rows of `b`.

    Raises:
        TypeError: dtypes of `a` and `b` differ or cannot be sorted by, or `capacity` is traced.
        ValueError: numbers of columns or lengths differ, `transport` is unknown, or `axis_name` is
            not an axis of the enclosing `shard_map`.

    Cost:
        Work O(rows x key bytes), two sorts. Communication: that of `unique` of both sides together.

    Guarantees:
        Deterministic; differentiable in float keys.

    Example:
        Two shards, with a capacity of 3:

            shard 0   a [5 1 7]   b [7 8]
            shard 1   a [3 5 5]   b [5 5]
            ->
            shard 0   [1 3 0]   count 2
            shard 1   [5 7 8]   count 3
    """
    return _as_set("union", a, b, axis_name, capacity, num_valid, transport)


def set_intersection(
    a: Keys,
    b: Keys,
    *,
    axis_name: AxisName,
    capacity: int | None = None,
    num_valid: tuple[NumValid, NumValid] | None = None,
    transport: Transport = "auto",
) -> KeySet:
    """Finds the distinct keys that are in `a` and in `b`, on any shard, in their order.

    Args:
        a: this shard's keys of one side, as for `local.set_intersection`.
        b: this shard's keys of the other side: the same number of columns, of the same dtypes.
        axis_name: mesh axis of the rows, or a tuple of axes.
        capacity: most keys of a shard. Static; by default a number that always suffices.
        num_valid: numbers of valid rows of `a` and of `b` on this shard, at their fronts.
        transport: transport of the rows; see `partition`.

    Returns:
        `KeySet(unique_keys, count)`: this shard's range of the keys, at its front, sorted, NaN last
        and once; `count` is the size of this range. Each key is on one shard, and the shards'
        ranges ascend. A key has the bits of its first row in `a`.

    Raises:
        TypeError: dtypes of `a` and `b` differ or cannot be sorted by, or `capacity` is traced.
        ValueError: numbers of columns or lengths differ, `transport` is unknown, or `axis_name` is
            not an axis of the enclosing `shard_map`.

    Cost:
        Work O(rows x key bytes), two sorts. Communication: that of `unique` of both sides together.

    Guarantees:
        Deterministic; differentiable in float keys.

    Example:
        Two shards, with a capacity of 3:

            shard 0   a [5 1 7]   b [7 9]
            shard 1   a [3 5 5]   b [5 5]
            ->
            shard 0   [0 0 0]   count 0
            shard 1   [5 7 0]   count 2
    """
    return _as_set("intersection", a, b, axis_name, capacity, num_valid, transport)


def set_difference(
    a: Keys,
    b: Keys,
    *,
    axis_name: AxisName,
    capacity: int | None = None,
    num_valid: tuple[NumValid, NumValid] | None = None,
    transport: Transport = "auto",
) -> KeySet:
    """Finds the distinct keys of `a` that are not in `b`, on any shard, in their order.

    Args:
        a: this shard's keys of one side, as for `local.set_difference`.
        b: this shard's keys of the other side: the same number of columns, of the same dtypes.
        axis_name: mesh axis of the rows, or a tuple of axes.
        capacity: most keys of a shard. Static; by default a number that always suffices.
        num_valid: numbers of valid rows of `a` and of `b` on this shard, at their fronts.
        transport: transport of the rows; see `partition`.

    Returns:
        `KeySet(unique_keys, count)`: this shard's range of the keys, at its front, sorted, NaN last
        and once; `count` is the size of this range. Each key is on one shard, and the shards'
        ranges ascend. A key has the bits of its first row in `a`.

    Raises:
        TypeError: dtypes of `a` and `b` differ or cannot be sorted by, or `capacity` is traced.
        ValueError: numbers of columns or lengths differ, `transport` is unknown, or `axis_name` is
            not an axis of the enclosing `shard_map`.

    Cost:
        Work O(rows x key bytes), two sorts. Communication: that of `unique` of both sides together.

    Guarantees:
        Deterministic; differentiable in float keys.

    Example:
        Two shards, with a capacity of 3:

            shard 0   a [5 1 7]   b [7 7]
            shard 1   a [3 5 5]   b [5 5]
            ->
            shard 0   [1 3 0]   count 2
            shard 1   [0 0 0]   count 0
    """
    return _as_set("difference", a, b, axis_name, capacity, num_valid, transport)


def _as_set(
    op: SetOp,
    a: Any,
    b: Any,
    axis_name: AxisName,
    capacity: Any,
    num_valid: Any,
    transport: Transport,
) -> KeySet:
    caller = f"set_{op}"
    num_shards = num_shards_on(axis_name, caller)
    check_transport(transport, caller)
    sides, is_tuple = as_key_sides(a, b, num_valid, caller, ("a", "b"))
    num_a, num_b = sides.a[0].shape[0], sides.b[0].shape[0]
    # A shard receives an even share of all keys, but the selected part of it may be uneven.
    most = min(num_a + num_b, most_keys(op, num_shards * num_a, num_shards * num_b))
    capacity = as_capacity(capacity, most, caller)
    sides = KeySides(*as_shards(sides, axis_name))
    met = meet(sides.a, sides.b, sides.num_a, sides.num_b, axis_name, transport, caller)
    is_in_a, is_in_b = met.counts.num_left > 0, met.counts.num_right > 0
    is_wanted = {
        "union": is_in_a | is_in_b,
        "intersection": is_in_a & is_in_b,
        "difference": is_in_a & ~is_in_b,
    }[op]
    columns, count = select_rows(met.columns, is_wanted, capacity, met.num_keys)
    return KeySet(columns if is_tuple else columns[0], count)
