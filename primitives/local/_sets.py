# SPDX-License-Identifier: Apache-2.0
"""Set operations on one device's keys: union, intersection, difference."""

import functools
from typing import Any, Literal, NamedTuple

from ..contract._arguments import as_capacity
from ..contract._typing import Array, Int, Keys, NumValid, PyTree
from ..tiers._tiered import tiered
from ._compact import select_rows
from ._isin import flag_members
from ._sides import KeySides, as_key_sides
from ._unique import unique_columns_of

SetOp = Literal["union", "intersection", "difference"]


class KeySet(NamedTuple):
    """Distinct keys in order, and their true number."""

    unique_keys: PyTree
    count: Int[Array, ""]


def set_union(
    a: Keys,
    b: Keys,
    *,
    capacity: int | None = None,
    num_valid: tuple[NumValid, NumValid] | None = None,
) -> KeySet:
    """Finds the distinct keys that are in `a` or in `b`, in their order.

    Args:
        a: one array of shape `(a_rows,)`, or a tuple of them, most significant first; in any order.
            Keys are equal as in `radix_sort`: -0.0 equals 0.0, and all NaNs are equal.
        b: the same number of columns, of the same dtypes, each of shape `(b_rows,)`.
        capacity: most keys of the result. Static; by default the number of rows of both.
        num_valid: numbers of valid rows of `a` and of `b`, at their fronts.

    Returns:
        `KeySet(unique_keys, count)`, ascending, NaN last and once, padded with zeros;
        an array or a tuple as `a` was given. A key has the bits of its first row, where rows of `a`
        precede rows of `b`. `count > capacity` means that keys did not fit: the first `capacity` of
        them are there.

    Raises:
        TypeError: dtypes of `a` and `b` differ or cannot be sorted by, or `capacity` is traced.
        ValueError: numbers of columns or lengths differ, or `capacity` is negative.

    Cost:
        Work O(rows x key bytes): a sort of the keys of both. No
        communication.

    Guarantees:
        Deterministic; differentiable in float keys.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> a, b = jnp.array([5, 1, 3, 5]), jnp.array([7, 5])
        >>> found = local.set_union(a, b, capacity=4)
        >>> found.unique_keys.tolist(), found.count.tolist()
        ([1, 3, 5, 7], 4)
    """
    return _as_set("union", a, b, capacity, num_valid)


def set_intersection(
    a: Keys,
    b: Keys,
    *,
    capacity: int | None = None,
    num_valid: tuple[NumValid, NumValid] | None = None,
) -> KeySet:
    """Finds the distinct keys that are in `a` and in `b`, in their order.

    Args:
        a: one array of shape `(a_rows,)`, or a tuple of them, most significant first; in any order.
            Keys are equal as in `radix_sort`: -0.0 equals 0.0, and all NaNs are equal.
        b: the same number of columns, of the same dtypes, each of shape `(b_rows,)`.
        capacity: most keys of the result. Static; by default the number of rows of the shorter one.
        num_valid: numbers of valid rows of `a` and of `b`, at their fronts.

    Returns:
        `KeySet(unique_keys, count)`, ascending, NaN last and once, padded with zeros;
        an array or a tuple as `a` was given. A key has the bits of its first row in `a`. `count >
        capacity` means that keys did not fit: the first `capacity` of them are there.

    Raises:
        TypeError: dtypes of `a` and `b` differ or cannot be sorted by, or `capacity` is traced.
        ValueError: numbers of columns or lengths differ, or `capacity` is negative.

    Cost:
        Work O(rows x key bytes): a sort of the keys of `a`, and an `isin`. No
        communication.

    Guarantees:
        Deterministic; differentiable in float keys.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> a, b = jnp.array([5, 1, 3, 5]), jnp.array([7, 5])
        >>> found = local.set_intersection(a, b, capacity=4)
        >>> found.unique_keys.tolist(), found.count.tolist()
        ([5, 0, 0, 0], 1)
    """
    return _as_set("intersection", a, b, capacity, num_valid)


def set_difference(
    a: Keys,
    b: Keys,
    *,
    capacity: int | None = None,
    num_valid: tuple[NumValid, NumValid] | None = None,
) -> KeySet:
    """Finds the distinct keys of `a` that are not in `b`, in their order.

    Args:
        a: one array of shape `(a_rows,)`, or a tuple of them, most significant first; in any order.
            Keys are equal as in `radix_sort`: -0.0 equals 0.0, and all NaNs are equal.
        b: the same number of columns, of the same dtypes, each of shape `(b_rows,)`.
        capacity: most keys of the result. Static; by default the number of rows of `a`.
        num_valid: numbers of valid rows of `a` and of `b`, at their fronts.

    Returns:
        `KeySet(unique_keys, count)`, ascending, NaN last and once, padded with zeros;
        an array or a tuple as `a` was given. A key has the bits of its first row in `a`. `count >
        capacity` means that keys did not fit: the first `capacity` of them are there.

    Raises:
        TypeError: dtypes of `a` and `b` differ or cannot be sorted by, or `capacity` is traced.
        ValueError: numbers of columns or lengths differ, or `capacity` is negative.

    Cost:
        Work O(rows x key bytes): a sort of the keys of `a`, and an `isin`. No
        communication.

    Guarantees:
        Deterministic; differentiable in float keys.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> a, b = jnp.array([5, 1, 3, 5]), jnp.array([7, 5])
        >>> found = local.set_difference(a, b, capacity=4)
        >>> found.unique_keys.tolist(), found.count.tolist()
        ([1, 3, 0, 0], 2)
    """
    return _as_set("difference", a, b, capacity, num_valid)


def most_keys(op: SetOp, num_a: int, num_b: int) -> int:
    """The largest possible number of keys of a set operation."""
    return {"union": num_a + num_b, "intersection": min(num_a, num_b), "difference": num_a}[op]


def _as_set(op: SetOp, a: Any, b: Any, capacity: Any, num_valid: Any) -> KeySet:
    caller = f"set_{op}"
    sides, is_tuple = as_key_sides(a, b, num_valid, caller, ("a", "b"))
    most = most_keys(op, sides.a[0].shape[0], sides.b[0].shape[0])
    columns, count = _set_columns(sides, op, as_capacity(capacity, most, caller))
    return KeySet(columns if is_tuple else columns[0], count)


@functools.partial(tiered, static_argnums=(1, 2))
def _set_columns(sides: KeySides, op: SetOp, capacity: int) -> tuple[tuple[Array, ...], Array]:
    nothing_else = (False, False, False)
    if op == "union":
        num_valid = sides.num_a + sides.num_b
        columns, *_, count = unique_columns_of(sides.stacked(), num_valid, capacity, nothing_else)
        return columns, count
    num_rows = sides.a[0].shape[0]
    columns, *_, count = unique_columns_of(sides.a, sides.num_a, num_rows, nothing_else)
    is_in_b = flag_members(sides._replace(a=columns, num_a=count))
    return select_rows(columns, is_in_b if op == "intersection" else ~is_in_b, capacity, count)
