# SPDX-License-Identifier: Apache-2.0
"""Set operations on one device's keys: union, intersection, difference."""

import functools
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp

from ..contract._arguments import as_capacity
from ..contract._key_bits import key_of_word, ordered_words
from ..contract._platform import by_platform
from ..contract._typing import Array, Int, Keys, NumValid, PyTree
from ..kernels.base._cuda import on_cuda
from ..kernels.join._grouped_sides import selected_one_after_the_other
from ..kernels.move._compact import select_words
from ..kernels.scan._reduce_by_key_cuda import can_keep_on_cuda, reduce_by_key_on_cuda
from ..kernels.sort._radix_sort import sort_columns
from ..tiers._tiered import tiered
from ._compact import select_rows
from ._isin import flag_members
from ._merge import concatenate_rows
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
        Work O(rows x key bytes): a sort of the keys of `a`, and an `isin`; for one column of
        integers on TPU and GPU a sort of the keys of both. No communication.

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
        Work O(rows x key bytes): a sort of the keys of `a`, and an `isin`; for one column of
        integers on TPU and GPU a sort of the keys of both. No communication.

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
    all_valid = num_valid is None or all(one is None for one in num_valid)
    columns, count = _set_columns(sides, op, as_capacity(capacity, most, caller), all_valid)
    return KeySet(columns if is_tuple else columns[0], count)


@functools.partial(tiered, static_argnums=(1, 2, 3))
def _set_columns(
    sides: KeySides, op: SetOp, capacity: int, all_valid: bool
) -> tuple[tuple[Array, ...], Array]:
    nothing_else = (False, False, False)
    if op == "union":
        # A sort of rows that are all valid needs no mask.
        num_valid = None if all_valid else sides.num_a + sides.num_b
        both = concatenate_rows(*sides[:2]) if all_valid else sides.stacked()
        columns, *_, count = unique_columns_of(both, num_valid, capacity, nothing_else)
        return columns, count

    def by_members(sides: KeySides) -> tuple[tuple[Array, ...], Array]:
        num_rows = sides.a[0].shape[0]
        columns, *_, count = unique_columns_of(sides.a, sides.num_a, num_rows, nothing_else)
        is_in_b = flag_members(sides._replace(a=columns, num_a=count))
        return select_rows(columns, is_in_b if op == "intersection" else ~is_in_b, capacity, count)

    def by_sort(sides: KeySides) -> tuple[tuple[Array, ...], Array]:
        return _by_sort_of_both(sides, op, capacity)

    can_sort = capacity and sides.a[0].shape[0] and sides.b[0].shape[0]
    can_sort = can_sort and len(sides.a) == 1 and sides.a[0].dtype.kind in "biu"
    # One sort of all rows costs less than a sort and a join, where a sort is what they are made of.
    ways = dict.fromkeys(("tpu", "cuda", "rocm"), by_sort) if can_sort else {}
    return by_platform(sides, default=by_members, **ways)


def _by_sort_of_both(sides: KeySides, op: SetOp, capacity: int) -> tuple[tuple[Array, ...], Array]:
    """Sorts the rows of both sides; the last row of `a` among equal keys tells whether `b` follows.

    Keys are integers, so that equal ones are the same.
    """
    keys = selected_one_after_the_other(sides.a[0], sides.b[0], sides.num_a)
    num_valid = sides.num_a + sides.num_b
    (column,) = ordered_words((keys,), (False,))
    # A stable sort puts the rows of `a` first.
    (words,), row_ids, _ = sort_columns((column,), num_valid, words="order", with_ids=True)
    next_words, next_ids = (
        jax.lax.pad(column, column.dtype.type(0), [(-1, 1, 0)]) for column in (words, row_ids)
    )
    has_next = jax.lax.iota(jnp.int32, row_ids.shape[0]) + 1 < num_valid
    has_next &= next_words == words
    is_last_of_a = has_next & (next_ids >= sides.num_a) if op == "intersection" else ~has_next
    is_kept = (row_ids < sides.num_a) & is_last_of_a
    in_order = key_of_word(column.of_ordered(words), keys.dtype)

    def select(keys: Array, is_kept: Array, num_valid: Array) -> tuple[Array, Array]:
        (selected,), count = select_words(is_kept, (keys,), capacity, num_valid)
        return selected, count

    def by_kernel(keys: Array, is_kept: Array, num_valid: Array) -> tuple[Array, Array]:
        found = reduce_by_key_on_cuda((keys,), is_kept, num_valid, capacity)
        return found.first_rows[0], found.count

    kernel = on_cuda(by_kernel) if can_keep_on_cuda((in_order,), is_kept) else {}
    selected, count = by_platform(in_order, is_kept, num_valid, default=select, **kernel)
    return (selected,), count
