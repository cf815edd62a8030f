# SPDX-License-Identifier: Apache-2.0
"""Joins of one device's rows."""

import functools
from typing import Any, Literal, NamedTuple, get_args

import jax

from ..contract._arguments import MAX_SHARD_ROWS, as_static_int
from ..contract._key_bits import OrderedWord, ordered_words
from ..contract._typing import Array, Int, Keys, NumValid
from ..kernels.groups._factorize import number_groups
from ..kernels.join._grouped_sides import Side, one_after_the_other
from ..kernels.join._join import Matches, Pairs, count_pairs, join_words, match_words, pairs_of
from ..tiers._tiered import tiered
from ._cross_join import count_cross, cross_pairs
from ._sides import KeySides, as_key_sides

KeyedHow = Literal["inner", "left", "right", "outer", "semi", "anti"]
How = Literal[KeyedHow, "cross"]


class Joined(NamedTuple):
    """Pairs of rows, and the number of rows of each side without a match.

    Attributes:
        left_rows: ids of the left rows, -1 for no match and in padding.
        right_rows: ids of the right rows, likewise.
        count: number of pairs, true even past the capacity.
        num_unmatched_left: number of valid left rows without a match, for every `how`.
        num_unmatched_right: number of valid right rows without a match, for every `how`.
    """

    left_rows: Int[Array, " pairs"]
    right_rows: Int[Array, " pairs"]
    count: Int[Array, ""]
    num_unmatched_left: Int[Array, ""]
    num_unmatched_right: Int[Array, ""]


def join(
    left_keys: Keys,
    right_keys: Keys,
    *,
    how: How = "inner",
    capacity: int | None = None,
    num_valid: tuple[NumValid, NumValid] | None = None,
) -> Joined:
    """Pairs rows of two sides with equal keys, many to many.

    Gather the rows by the returned ids: `values[joined.left_rows]`.

    Args:
        left_keys: one array of shape `(left_rows,)`, or a tuple of them, most significant first.
            NaN matches NaN, and -0.0 matches 0.0, as in pandas.
        right_keys: the same number of columns, of the same dtypes, each of shape `(right_rows,)`.
        how: the kind of join, with pandas' order of rows.

            - `"inner"`: pairs, ordered by left row, then right row.
            - `"left"`: the same, plus left rows without a match, in order.
            - `"right"`: the same with the sides swapped: by right row, then left row.
            - `"outer"`: pairs plus the unmatched rows of both sides, ordered by key, then left row,
              then right row.
            - `"semi"`: the left rows with a match, once each.
            - `"anti"`: the left rows without a match.
            - `"cross"`: every left row with every right row, by left row, then right row. Keys are
              not compared, so those of the sides may differ in number and dtype.

        capacity: most pairs of the result. Static. By default all left rows for semi and anti
            joins, and all pairs of rows for cross joins with fewer than 2^31 of them.
        num_valid: numbers of valid rows of the left and the right side, at their fronts.

    Returns:
        `Joined(left_rows, right_rows, count, num_unmatched_left, num_unmatched_right)`, int32 each;
        a row id of -1 marks a missing match, padding on both sides, and the right side of a semi or
        anti join. `count > capacity` means that pairs did not fit: the first `capacity` of them are
        there. The count saturates at `2**31 - 1`.

    Raises:
        TypeError: dtypes of the sides differ or cannot be keys, or `capacity` is traced.
        ValueError: numbers of columns or lengths differ, `how` is unknown, or a join that
            needs `capacity` has none.

    Cost:
        Work O(left_rows + right_rows + capacity) on CPU if the columns together fit one word of 64
        bits; otherwise that of a sort of both sides; O(capacity) for cross joins. No communication.

    Guarantees:
        Deterministic. Values that are gathered by the ids are differentiable.

    References:
        Manegold, Boncz, Kersten (2002), "Optimizing main-memory join on modern hardware".

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> left, right = jnp.array([1, 2, 2, 7]), jnp.array([2, 1, 2])
        >>> joined = local.join(left, right, capacity=6)
        >>> joined.left_rows.tolist(), joined.right_rows.tolist(), joined.count.tolist()
        ([0, 1, 1, 2, 2, -1], [1, 0, 2, 0, 2, -1], 5)
        >>> joined.num_unmatched_left.tolist(), joined.num_unmatched_right.tolist()
        (1, 0)
    """
    caller = "join"
    sides = as_sides(left_keys, right_keys, how, num_valid, caller)
    capacity = as_pair_capacity(capacity, how, sides, caller)
    return Joined(*join_sides(sides, how, capacity))


def join_size(
    left_keys: Keys,
    right_keys: Keys,
    *,
    how: How = "inner",
    num_valid: tuple[NumValid, NumValid] | None = None,
) -> Int[Array, ""]:
    """Counts the pairs of a join without building them.

    Args:
        left_keys: as for `join`.
        right_keys: as for `join`.
        how: as for `join`.
        num_valid: as for `join`.

    Returns:
        The number of pairs, exact: int64 with x64 mode. Without it int32, which saturates at `2**31
        - 1`.

    Raises:
        TypeError: dtypes of the sides differ or cannot be keys.
        ValueError: numbers of columns or lengths differ, or `how` is unknown.

    Cost:
        Work O(left_rows + right_rows) on CPU, that of a sort of both sides elsewhere. No
        communication.

    Guarantees:
        Deterministic.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> local.join_size(jnp.array([1, 2, 2, 7]), jnp.array([2, 1, 2])).tolist()
        5
    """
    return size_of_sides(as_sides(left_keys, right_keys, how, num_valid, "join_size"), how)


def as_sides(
    left_keys: Any, right_keys: Any, how: Any, num_valid: Any, caller: str, num_shards: int = 1
) -> KeySides:
    """Checks the keys of both sides and the kind of join."""
    if how not in get_args(How):
        raise ValueError(
            f"{caller}: how must be one of {', '.join(map(repr, get_args(How)))}, got {how!r}."
        )
    names = ("left_keys", "right_keys")
    return as_key_sides(
        left_keys, right_keys, num_valid, caller, names, num_shards, are_compared=how != "cross"
    )[0]


def as_pair_capacity(
    capacity: Any, how: How, sides: KeySides, caller: str, num_shards: int = 1
) -> int:
    """Validates the capacity, which semi, anti and cross joins can derive themselves.

    The rows of `sides` are those of one of `num_shards` shards.
    """
    if capacity is not None:
        return as_static_int(capacity, caller, "capacity", 0, MAX_SHARD_ROWS)
    num_left, num_right = sides.a[0].shape[0], sides.b[0].shape[0]
    if how in ("semi", "anti"):
        return num_left
    if how == "cross" and num_left * num_right * num_shards <= MAX_SHARD_ROWS:
        return num_left * num_right * num_shards
    raise ValueError(
        f"{caller}: capacity must be given for how={how!r}, got None. Count the pairs with "
        "join_size, or call jaxframes.primitives.join eagerly, which sizes its result itself."
    )


@functools.partial(tiered, static_argnums=1)
def size_of_sides(sides: KeySides, how: How) -> Array:
    """The number of pairs of both sides."""
    if how == "cross":
        return count_cross(sides.num_a, sides.num_b)
    if how == "right":
        sides, how = sides.swapped(), "left"
    return count_pairs(*word_sides(sides), how)


@functools.partial(tiered, static_argnums=(1, 2))
def join_sides(sides: KeySides, how: How, capacity: int) -> Pairs:
    """Joins checked arguments."""
    if how == "cross":
        return cross_pairs(sides.num_a, sides.num_b, capacity)
    if how == "right":
        return join_sides(sides.swapped(), "left", capacity).swapped()
    return join_words(*word_sides(sides), how, capacity)


@functools.partial(tiered, static_argnums=1)
def match_sides(sides: KeySides, how: KeyedHow) -> Matches:
    """The first half of `join_sides`: finds and counts the pairs."""
    if how == "right":
        sides, how = sides.swapped(), "left"
    return match_words(*word_sides(sides), how)


def pairs_of_sides(matches: Matches, how: KeyedHow, capacity: int) -> Pairs:
    """The second half of `join_sides`: writes the pairs."""
    if how == "right":
        return pairs_of(matches, "left", capacity).swapped()
    return pairs_of(matches, how, capacity)


def word_sides(sides: KeySides) -> tuple[Side, Side, OrderedWord]:
    """Encodes each row as one word; returns the words and a column that describes their order."""
    ascending = (False,) * len(sides.a)
    left, right = ordered_words(sides.a, ascending), ordered_words(sides.b, ascending)
    num_left, num_right = sides.num_a, sides.num_b
    if len(left) == 1:
        return Side(left[0].word, num_left), Side(right[0].word, num_right), left[0]
    # Several words become one: the group id of their key among the keys of both sides.
    length = sides.a[0].shape[0]
    both = tuple(
        column._replace(word=one_after_the_other(column.word, other.word, num_left))
        for column, other in zip(left, right, strict=True)
    )
    num_valid = num_left + num_right
    ids = number_groups(both, num_valid, 0, in_key_order=True).group_ids
    right_ids = jax.lax.dynamic_slice_in_dim(ids, num_left, sides.b[0].shape[0])
    column = OrderedWord(ids[:length], 0, 32)
    return Side(column.word, num_left), Side(right_ids, num_right), column
