# SPDX-License-Identifier: Apache-2.0
"""Merge of two sorted sequences."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ..contract._arguments import (
    MAX_SHARD_ROWS,
    as_directions,
    as_keys,
    as_num_valid,
    as_pair,
    as_rows,
    type_of,
)
from ..contract._custom_jvp import custom_jvp
from ..contract._key_bits import holds_whole_key, key_of_word, ordered_words
from ..contract._moved import with_tangent_of
from ..contract._take import take_rows
from ..contract._typing import Array, Keys, NumValid, PyTree
from ..kernels.base._pallas import has_pallas_kernels
from ..kernels.sort._merge import merge_words, merge_words_with_positions
from ..kernels.sort._put_back import take_permuted
from ..tiers._tiered import tiered
from ._searchsorted import check_same_columns


def merge(
    a_keys: Keys,
    b_keys: Keys,
    *,
    values: tuple[PyTree, PyTree] | None = None,
    descending: bool | Sequence[bool] = False,
    num_valid: tuple[NumValid, NumValid] | None = None,
) -> Any:
    """Merges two sorted sequences of rows into one.

    Args:
        a_keys: keys in the order of `radix_sort`: one array of shape `(a_rows,)`, or a tuple of
            them, most significant first.
        b_keys: the same number of columns, of the same dtypes, each of shape `(b_rows,)`.
        values: the values of `a` and of `b`: two pytrees of the same structure; leaves may
            differ in their number of rows only.
        descending: the direction of both sequences, or one direction for each key.
        num_valid: numbers of valid rows of `a` and of `b`, at their fronts.

    Returns:
        The merged keys, an array or a tuple, like the argument; with values `(keys, values)`. The
        padding of `a`, then that of `b`, comes last.

    Raises:
        TypeError: dtypes of `a` and `b` differ, or cannot be sorted by.
        ValueError: numbers of columns, structures of values or lengths differ.

    Cost:
        Work O(a_rows + b_rows) on CPU, and with the CUDA kernels for keys of one word;
        O((a_rows + b_rows) x log rows) elsewhere: a search, or on TPU and with the CUDA kernels a
        sort. No communication.

    Guarantees:
        Stable: equal keys of `a` come before those of `b`. Deterministic; differentiable in
        `values` and in float keys.

    References:
        Odeh, Green, Mwassi, Shmueli, Birk (2012), "Merge path: parallel merging made simple".

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> local.merge(jnp.array([1, 4, 4]), jnp.array([2, 4])).tolist()
        [1, 2, 4, 4, 4]
    """
    caller = "merge"
    a_columns, is_tuple = as_keys(a_keys, caller, "a_keys")
    b_columns, _ = as_keys(b_keys, caller, "b_keys")
    check_same_columns(a_columns, b_columns, caller, "a_keys", "b_keys")
    directions = as_directions(descending, len(a_columns), caller)
    num_a, num_b = a_columns[0].shape[0], b_columns[0].shape[0]
    check_merged_rows(a_columns[0], b_columns[0], caller)
    valid_a, valid_b = as_pair(num_valid, caller, "num_valid")
    a_values, b_values = as_pair(values, caller, "values")
    a_values, b_values = as_rows(a_values, num_a, caller), as_rows(b_values, num_b, caller)
    check_same_rows(a_values, b_values, caller)
    counts = as_num_valid(valid_a, num_a, caller), as_num_valid(valid_b, num_b, caller)
    sides = (a_columns, a_values), (b_columns, b_values)
    columns, merged_values = _merge_sides(*sides, counts, directions)
    merged_keys = columns if is_tuple else columns[0]
    return merged_keys if values is None else (merged_keys, merged_values)


@functools.partial(tiered, static_argnums=3)
def _merge_sides(
    a: tuple[Any, Any],
    b: tuple[Any, Any],
    counts: tuple[Array, Array],
    directions: tuple[bool, ...],
) -> tuple[tuple[Array, ...], Any]:
    """The merged columns and values."""
    keys_of_both, values_of_both = concatenate_rows(a, b)
    a_words, b_words = (ordered_words(columns, directions) for columns, _ in (a, b))
    dtype = a[0][0].dtype
    if len(a[0]) == 1 and holds_whole_key(dtype):
        # The merged word is known already; a gather is not needed.
        merged_word, sources = merge_words_with_positions(a_words[0], b_words[0], *counts)
        merged_key = key_of_word(merged_word, dtype)
        columns = (with_tangent_of(take_rows, merged_key, keys_of_both[0], sources),)
        merged_values = _take_permuted(values_of_both, sources)
    else:
        sources = merge_words(a_words, b_words, *counts)
        columns, merged_values = _take_permuted((keys_of_both, values_of_both), sources)
    return columns, merged_values


def _take_permuted(rows: Any, sources: Array) -> Any:
    if not has_pallas_kernels():
        return take_rows(rows, sources)
    # On TPU by sorts, which cost less than the gathers.
    leaves, structure = jax.tree.flatten(rows)
    return structure.unflatten(take_permuted(sources, leaves))


def check_merged_rows(a: Array, b: Array, caller: str, num_shards: int = 1) -> None:
    """Raises if the shards cannot hold the rows of both sequences."""
    if a.shape[0] + b.shape[0] > num_shards * MAX_SHARD_ROWS:
        raise ValueError(
            f"{caller}: a_keys and b_keys together must hold fewer than 2**31 rows, got "
            f"{type_of(a)} and {type_of(b)}. Spread the rows over more devices."
        )


def check_same_rows(a: Any, b: Any, caller: str) -> None:
    """Raises if the values of `a` and of `b` are not of one kind."""
    if jax.tree.structure(a) != jax.tree.structure(b):
        raise ValueError(
            f"{caller}: the values of a and of b must have the same structure, got "
            f"{jax.tree.structure(a)} and {jax.tree.structure(b)}."
        )
    for a_leaf, b_leaf in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        if a_leaf.dtype != b_leaf.dtype or a_leaf.shape[1:] != b_leaf.shape[1:]:
            raise TypeError(
                f"{caller}: the values of a and of b must agree in dtype and row shape, got "
                f"{type_of(a_leaf)} and {type_of(b_leaf)}."
            )


def concatenate_rows(a: Any, b: Any) -> Any:
    """Concatenates the rows of `a` and of `b`, leaf by leaf."""

    def concatenate(a_leaf: Array, b_leaf: Array) -> Array:
        if a_leaf.dtype == jnp.bfloat16:
            return _concatenate_bits(a_leaf, b_leaf)
        return jnp.concatenate([a_leaf, b_leaf])

    return jax.tree.map(concatenate, a, b)


@custom_jvp
def _concatenate_bits(a: Array, b: Array) -> Array:
    # XLA on CPU concatenates bfloat16 through float32, which rewrites NaNs.
    words = [jax.lax.bitcast_convert_type(rows, jnp.uint16) for rows in (a, b)]
    return jax.lax.bitcast_convert_type(jnp.concatenate(words), jnp.bfloat16)


@_concatenate_bits.defjvp
def _concatenate_tangents(
    primals: tuple[Array, Array], tangents: tuple[Array, Array], rows: Array
) -> Array:
    del primals, rows
    return jnp.concatenate(tangents)
