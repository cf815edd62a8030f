# SPDX-License-Identifier: Apache-2.0
"""Binary search in a sorted sequence."""

import functools
from collections.abc import Sequence
from typing import Any, Literal

from ..contract._arguments import as_directions, as_keys, as_num_valid, type_of
from ..contract._key_bits import ordered_words
from ..contract._typing import Array, ArrayLike, Int, Integer, Keys
from ..kernels.sort._lower_bound import lower_bound, upper_bound
from ..tiers._tiered import tiered


def searchsorted(
    sorted_keys: Keys,
    queries: Keys,
    *,
    side: Literal["left", "right"] = "left",
    descending: bool | Sequence[bool] = False,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Int[Array, " queries"]:
    """Finds the insertion position of each query in a sorted sequence.

    Args:
        sorted_keys: keys in the order of `radix_sort`: one array of shape `(rows,)`, or a tuple
            of them, most significant first.
        queries: the same number of columns, of the same dtypes, each of shape `(queries,)`.
        side: before the keys that equal the query (`"left"`) or after them (`"right"`).
        descending: the direction of the sorted keys, or one direction for each key.
        num_valid: number of valid keys, at the front; all keys by default.

    Returns:
        Positions in `[0, num_valid]`, int32.

    Raises:
        TypeError: dtypes of keys and queries differ, or cannot be sorted by.
        ValueError: numbers of columns differ, or `side` is unknown.

    Cost:
        Work O(queries x log rows); for many queries a sort of rows and queries on TPU, and with
        the CUDA kernels if the rows exceed a cache. No communication.

    Guarantees:
        Deterministic. NaN comes after every number, and all NaNs are equal.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> local.searchsorted(jnp.array([10, 20, 20, 30]), jnp.array([20, 25])).tolist()
        [1, 3]
    """
    columns, query_columns, directions = as_search(sorted_keys, queries, side, descending)
    valid = as_num_valid(num_valid, columns[0].shape[0], "searchsorted")
    return _search(columns, query_columns, valid, directions, side)


@functools.partial(tiered, static_argnums=(3, 4))
def _search(
    columns: tuple[Array, ...],
    query_columns: tuple[Array, ...],
    valid: Array,
    directions: tuple[bool, ...],
    side: str,
) -> Array:
    words = tuple(column.ordered() for column in ordered_words(columns, directions))
    query_words = tuple(column.ordered() for column in ordered_words(query_columns, directions))
    bound = lower_bound if side == "left" else upper_bound
    return bound(words, query_words, valid)


def as_search(
    sorted_keys: Any, queries: Any, side: Any, descending: Any, num_shards: int = 1
) -> tuple[tuple[Array, ...], tuple[Array, ...], tuple[bool, ...]]:
    """Checks keys, queries and directions; returns columns and one direction for each."""
    caller = "searchsorted"
    if side not in ("left", "right"):
        raise ValueError(f"{caller}: side must be 'left' or 'right', got {side!r}.")
    columns, _ = as_keys(sorted_keys, caller, "sorted_keys", num_shards)
    query_columns, _ = as_keys(queries, caller, "queries", num_shards)
    check_same_columns(columns, query_columns, caller, "sorted_keys", "queries")
    return columns, query_columns, as_directions(descending, len(columns), caller)


def check_same_columns(
    a: tuple[Array, ...], b: tuple[Array, ...], caller: str, a_name: str, b_name: str
) -> None:
    """Raises unless both sides have the same number of columns, of the same dtypes."""
    if len(a) != len(b):
        raise ValueError(
            f"{caller}: {a_name} and {b_name} must have the same number of columns, "
            f"got {len(a)} and {len(b)}."
        )
    for a_column, b_column in zip(a, b, strict=True):
        if a_column.dtype != b_column.dtype:
            raise TypeError(
                f"{caller}: {a_name} and {b_name} must have the same dtype, got "
                f"{type_of(a_column)} and {type_of(b_column)}. Cast one of them."
            )
