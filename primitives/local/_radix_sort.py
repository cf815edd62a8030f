# SPDX-License-Identifier: Apache-2.0
"""Stable sort of one device's rows."""

import functools
from collections.abc import Sequence
from typing import Any

import jax

from ...shardings._compat import varying_axes
from ..contract._arguments import as_directions, as_keys, as_rows, as_valid_rows
from ..contract._key_bits import (
    OrderedWord,
    as_bits,
    holds_whole_key,
    key_of_word,
    ordered_word,
    ordered_words,
)
from ..contract._moved import with_tangent_of, with_tangents
from ..contract._take import take_rows
from ..contract._typing import Array, ArrayLike, Int, Integer, Keys, PyTree
from ..kernels.base._foreign import is_words
from ..kernels.sort._radix_sort import (
    argsort_columns,
    argsort_words,
    has_sort_kernels,
    sort_columns,
    sort_rows,
    sort_words,
)
from ..tiers._tiered import tiered


def radix_argsort(
    keys: Keys,
    *,
    descending: bool | Sequence[bool] = False,
    bits: int | Sequence[int | None] | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Int[Array, " rows"]:
    """Finds the permutation that sorts one device's rows.

    Args:
        keys: one array of shape `(rows,)`, or a tuple of them, most significant first; bool,
            integers of 8 to 64 bits, or floats of 16 to 64 bits.
        descending: the direction, or one direction for each key.
        bits: for integer keys, compare only this many of the lowest bits, as an unsigned number.
            Static; all bits, in the order of the dtype, by default. One number, or one for each
            key.
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        Row ids, int32: `keys[row_ids]` is sorted. The padding from `num_valid` on keeps its
        position.

    Raises:
        TypeError: a dtype that is not a key dtype, or a 64-bit one without x64 mode.
        ValueError: keys that differ in length or are not one-dimensional, or `bits` out of range.

    Cost:
        Work O(rows x key bytes) on CPU and GPU. No communication.

    Guarantees:
        Stable, in both directions; deterministic. -0.0 equals 0.0 and NaN comes last, in both
        directions. Under `vmap` each row of the batch is sorted.

    References:
        Knuth (1998), "The Art of Computer Programming", volume 3, section 5.2.5 (distribution
        sorting from the least significant digit).

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> local.radix_argsort(jnp.array([30, 10, 20, 10])).tolist()
        [1, 3, 2, 0]
        >>> day, hour = jnp.array([2, 1, 2]), jnp.array([5, 9, 7])
        >>> local.radix_argsort((day, hour), descending=(False, True)).tolist()
        [1, 2, 0]
    """
    caller = "radix_argsort"
    columns, _ = as_keys(keys, caller)
    directions = as_directions(descending, len(columns), caller)
    valid = as_valid_rows(num_valid, columns[0].shape[0], caller)
    return _argsort(columns, valid, directions, as_bits(bits, columns, caller))


@functools.partial(tiered, static_argnums=(2, 3))
def _argsort(
    columns: tuple[Array, ...], num_valid: Array | None, directions: tuple[bool, ...], bits: Any
) -> Array:
    return argsort_columns(ordered_words(columns, directions, bits), num_valid)


def radix_sort(
    keys: Keys,
    *,
    values: PyTree | None = None,
    descending: bool | Sequence[bool] = False,
    bits: int | Sequence[int | None] | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Any:
    """Sorts one device's rows by their keys.

    Args:
        keys: one array of shape `(rows,)`, or a tuple of them, most significant first; bool,
            integers of 8 to 64 bits, or floats of 16 to 64 bits.
        values: a pytree of arrays with leading axis `rows`, which move with their keys.
        descending: the direction, or one direction for each key.
        bits: for integer keys, compare only this many of the lowest bits, as an unsigned number.
            Static; all bits, in the order of the dtype, by default. One number, or one for each
            key. Whole keys move, even if only some bits are compared.
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        The sorted keys, an array or a tuple, like the argument; with values `(keys, values)`. The
        padding from `num_valid` on keeps its position.

    Raises:
        TypeError: a dtype that is not a key dtype, or a 64-bit one without x64 mode.
        ValueError: arrays of different lengths, keys not one-dimensional, or `bits` out of range.

    Cost:
        Work O(rows x (key bytes + value bytes)) on CPU and GPU. No communication. On TPU one sort
        carries eight columns of 32 bits; with more values there are several. On GPU a sort carries
        values of up to 64 bits in all; more are gathered.

    Guarantees:
        Stable, in both directions; deterministic; differentiable in `values` and in float keys.
        -0.0 equals 0.0 and NaN comes last, in both directions; every key keeps its bits. Under
        `vmap` each row of the batch is sorted.

    References:
        Knuth (1998), "The Art of Computer Programming", volume 3, section 5.2.5 (distribution
        sorting from the least significant digit).

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> local.radix_sort(jnp.array([30, 10, 20, 10])).tolist()
        [10, 10, 20, 30]
        >>> keys, values = local.radix_sort(jnp.array([2, 1]), values={"x": jnp.array([0.5, 1.5])})
        >>> keys.tolist(), values["x"].tolist()
        ([1, 2], [1.5, 0.5])
    """
    caller = "radix_sort"
    columns, is_tuple = as_keys(keys, caller)
    key_bits = as_bits(bits, columns, caller)
    directions = as_directions(descending, len(columns), caller)
    num_rows = columns[0].shape[0]
    values = as_rows(values, num_rows, caller)
    valid = as_valid_rows(num_valid, num_rows, caller)
    sorted_columns, values = _sort(columns, values, valid, directions, key_bits)
    sorted_keys = sorted_columns if is_tuple else sorted_columns[0]
    return sorted_keys if values is None else (sorted_keys, values)


@functools.partial(tiered, static_argnums=(3, 4))
def _sort(
    columns: tuple[Array, ...],
    values: PyTree,
    valid: Array | None,
    directions: tuple[bool, ...],
    bits: Any,
) -> tuple[tuple[Array, ...], PyTree]:
    """Sorts checked rows."""
    words = ordered_words(columns, directions, bits)
    is_whole_key = len(columns) == 1 and holds_whole_key(columns[0].dtype)
    if values is None and is_whole_key:
        return (_sort_key(columns[0], words[0], valid, directions[0]),), None
    leaves, structure = jax.tree.flatten((columns, values))
    plain = tuple(map(jax.lax.stop_gradient, leaves))
    if values is not None and len(words) == 1 and _is_moved_by_kernel(values, words[0], valid):
        key_dtype = columns[0].dtype if is_whole_key else None
        moved = sort_rows(words[0], valid, plain, key_dtype=key_dtype)
        plan = (words[0].word, valid)
        take = functools.partial(_take_sorted, words[0])
    else:
        moved, plan = _move_rows(words, valid, plain, is_whole_key)
        take = take_rows
    return with_tangents(take, jax.tree.unflatten(structure, moved), (columns, values), plan)


def _sort_key(key: Array, column: OrderedWord, num_valid: Array | None, descending: bool) -> Array:
    """Sorts a key that its word determines, alone."""

    def sort_by_rows(key: Array, num_valid: Array | None) -> Array:
        word = ordered_word(key, descending=descending)
        return take_rows(key, argsort_words(word, num_valid))

    sorted_key = key_of_word(sort_words(column, num_valid), key.dtype)
    return with_tangent_of(sort_by_rows, sorted_key, key, num_valid)


def _is_moved_by_kernel(values: PyTree, column: OrderedWord, num_valid: Array | None) -> bool:
    if not has_sort_kernels() or column.word.shape[0] == 0:
        return False
    # All outputs of one call vary over the same mesh axes, and keys must not gain any.
    plan_axes = varying_axes(column.word, num_valid)
    return all(
        is_words(leaf) and varying_axes(leaf) <= plan_axes for leaf in jax.tree.leaves(values)
    )


def _take_sorted(column: OrderedWord, rows: Any, plan: tuple[Array, Array | None]) -> Any:
    word, num_valid = plan
    return take_rows(rows, argsort_words(column._replace(word=word), num_valid))


def _move_rows(
    words: tuple[OrderedWord, ...], num_valid: Array | None, rows: tuple[Array, ...], is_key: bool
) -> tuple[tuple[Array, ...], Array]:
    """Sorts rows; returns the row ids, too. With `is_key` the first rows are a whole key."""
    if not is_key:
        _, row_ids, moved = sort_columns(words, num_valid, rows, words="none")
        return moved, row_ids
    (sorted_word,), row_ids, values = sort_columns(words, num_valid, rows[1:], words="exact")
    return (key_of_word(sorted_word, rows[0].dtype), *values), row_ids
