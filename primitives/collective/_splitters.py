# SPDX-License-Identifier: Apache-2.0
"""Exact splitters: keys of given global ranks in sorted shards, from the top digit down."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...shardings._compat import as_varying, varying_axes
from ..contract._key_bits import OrderedWord
from ..contract._typing import Array
from ..kernels.sort._lower_bound import lower_bound, upper_bound
from ._axis import AxisName
from ._control_flow import repeat
from ._wide_counts import (
    WideCount,
    add,
    divide_small,
    is_less_equal,
    minimum,
    psum_wide,
    saturated,
    subtract,
    sum_wide,
    times_small,
    widen,
)

# Queries per round. Wider digits mean fewer rounds of small messages, but more searches.
_MOST_QUERIES = 4096


def even_ranks(total: WideCount, num_shards: int) -> WideCount:
    """Global ranks of the first rows of shards 1, 2, ... in an even distribution.

    The first `total % num_shards` shards get one row more than the others.
    """
    quotient, remainder = divide_small(total, num_shards)
    shards = jnp.arange(1, num_shards, dtype=jnp.int32)
    return add(times_small(quotient, shards), widen(jnp.minimum(shards, remainder)))


def full_ranks(total: WideCount, num_shards: int, capacity: int) -> WideCount:
    """The same if each shard is filled to its capacity before the next one gets a row."""
    shards = jnp.arange(1, num_shards, dtype=jnp.int32)
    return minimum(times_small(widen(np.int32(capacity)), shards), total)


def keys_of_ranks(
    sorted_columns: tuple[OrderedWord, ...],
    num_valid: Array,
    ranks: WideCount,
    axis_name: AxisName,
) -> tuple[Array, ...]:
    """Finds, for each rank, the largest words with at most `rank` smaller rows on the mesh.

    If a row of that rank exists, these are the words of its key. One round settles one digit of all
    ranks: each shard counts its rows below every candidate by binary search, and one `psum` adds
    the counts.
    """
    words = tuple(column.ordered() for column in sorted_columns)
    num_ranks = ranks.low.shape[0]
    prefix = tuple(jnp.zeros((num_ranks,), word.dtype) for word in words)
    digit_bits = 8 if num_ranks * 255 <= _MOST_QUERIES else 4
    # The prefix may vary over mesh axes other than the one that it sums over.
    own_axes = frozenset((axis_name,) if isinstance(axis_name, str) else axis_name)
    other_axes = varying_axes(words) - own_axes

    for level, (column, word) in enumerate(zip(sorted_columns, words, strict=True)):
        num_digits = -(-column.bits // digit_bits)
        digits = jnp.arange(1, 2**digit_bits, dtype=word.dtype)

        def settle_digit(
            i: Array,
            prefix: tuple[Array, ...],
            *,
            level: int = level,
            num_digits: int = num_digits,
            digits: Array = digits,
        ) -> tuple[Array, ...]:
            shift = (digit_bits * (num_digits - 1 - i)).astype(digits.dtype)
            candidates = [jnp.repeat(part, digits.shape[0]) for part in prefix]
            candidates[level] = (prefix[level][:, None] | (digits << shift)[None, :]).reshape(-1)
            counts = psum_wide(lower_bound(words, tuple(candidates), num_valid), axis_name)
            shape = (num_ranks, digits.shape[0])
            passes = is_less_equal(
                WideCount(counts.high.reshape(shape), counts.low.reshape(shape)),
                WideCount(ranks.high[:, None], ranks.low[:, None]),
            )
            # Counts grow with the candidate, so the smallest candidates pass.
            digit = jnp.sum(passes, axis=1, dtype=jnp.int32).astype(digits.dtype)
            settled = prefix[level] | (digit << shift)
            return (*prefix[:level], settled, *prefix[level + 1 :])

        prefix = repeat(num_digits, settle_digit, as_varying(prefix, other_axes))
    return prefix


class _Ties(NamedTuple):
    """Counts of a shard's rows around the key of each rank."""

    num_less: Array
    num_equal: Array
    # Rows of the whole mesh that equal the key and precede the rank, and rows that equal the key on
    # the previous shards.
    equal_before_rank: WideCount
    equal_before_shard: WideCount


def _ties_at_ranks(
    sorted_columns: tuple[OrderedWord, ...],
    num_valid: Array,
    ranks: WideCount,
    axis_name: AxisName,
) -> _Ties:
    words = tuple(column.ordered() for column in sorted_columns)
    splitters = keys_of_ranks(sorted_columns, num_valid, ranks, axis_name)
    num_less = lower_bound(words, splitters, num_valid)
    num_equal = upper_bound(words, splitters, num_valid) - num_less
    equal_of_shards = jax.lax.all_gather(num_equal, axis_name)
    shards = jax.lax.iota(jnp.int32, equal_of_shards.shape[0])
    is_before = shards < jax.lax.axis_index(axis_name)
    return _Ties(
        num_less,
        num_equal,
        subtract(ranks, psum_wide(num_less, axis_name)),
        sum_wide(jnp.where(is_before[:, None], equal_of_shards, 0), axis=0),
    )


def rows_before_ranks(
    sorted_columns: tuple[OrderedWord, ...],
    num_valid: Array,
    ranks: WideCount,
    axis_name: AxisName,
) -> Array:
    """Counts this shard's sorted rows before each of the global ranks.

    Rows with equal keys are in the order of their shards, so the counts of all shards add up to the
    ranks exactly, for any keys.
    """
    ties = _ties_at_ranks(sorted_columns, num_valid, ranks, axis_name)
    dealt_here = saturated(subtract(ties.equal_before_rank, ties.equal_before_shard))
    return ties.num_less + jnp.minimum(dealt_here, ties.num_equal)


def position_of_ranks(
    sorted_columns: tuple[OrderedWord, ...],
    num_valid: Array,
    ranks: WideCount,
    axis_name: AxisName,
) -> tuple[Array, Array]:
    """The position of each rank's row in this shard's sorted rows, and whether it is here."""
    ties = _ties_at_ranks(sorted_columns, num_valid, ranks, axis_name)
    offset = saturated(subtract(ties.equal_before_rank, ties.equal_before_shard))
    reaches = is_less_equal(ties.equal_before_shard, ties.equal_before_rank)
    is_here = reaches & (offset < ties.num_equal)
    last = max(sorted_columns[0].word.shape[0] - 1, 0)
    return jnp.clip(ties.num_less + offset, 0, last), is_here
