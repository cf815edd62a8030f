# SPDX-License-Identifier: Apache-2.0
"""Histograms over a mesh axis: by bin, and of keys by digit."""

from collections.abc import Sequence
from typing import Any

import jax

from ..contract._arguments import as_num_valid
from ..contract._typing import Array, ArrayLike, Int, Integer
from ..local import Histogram
from ..local.parts import as_digit_arguments, as_histogram_arguments, count_digits, count_rows
from ._axis import AxisName, as_shards, num_shards_on
from ._over_shards import OverShards


def histogram(
    x: ArrayLike,
    *,
    axis_name: AxisName,
    bins: int | None = None,
    edges: ArrayLike | None = None,
    range: Sequence[Any] | None = None,
    weights: ArrayLike | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Histogram:
    """Counts the numbers of all shards in equal bins or between given edges, as NumPy does.

    A bin includes its left edge and excludes its right one; the last bin includes both. NaN and
    numbers outside all bins are dropped.

    Args:
        x: this shard's numbers, of shape `(rows,)` and any key dtype.
        axis_name: mesh axis of the rows, or a tuple of axes.
        bins: number of equal bins. Static; ten by default.
        edges: the edges of the bins, an ascending array of two or more, an alternative to `bins`;
            the same on every shard.
        range: the outer edges of equal bins, two numbers; by default the smallest and the largest
            finite number of all shards, widened by a half on each side if they are equal.
        weights: weight of each row, an array of shape `(rows,)`; one by default.
        num_valid: number of valid rows of this shard, at its front; all rows by default.

    Returns:
        `Histogram(counts, edges)`, the same on every shard. Counts are int32, or of the dtype of
        `weights` (int32 for bool), and wrap past what that holds.

    Raises:
        TypeError: a dtype that has no order, or `bins` is traced.
        ValueError: `bins` is less than one, there are fewer than two edges, both are given,
            concrete edges do not ascend, a concrete `range` is not finite and ascending, lengths
            differ, or `axis_name` is not an axis of the enclosing `shard_map`.

    Cost:
        Work O(rows) for equal bins, O(rows x log(bins)) for given edges. Communication: one `psum`
        of the counts; without `range` also a `pmin` and a `pmax` of one number.

    Guarantees:
        Deterministic; counts and edges do not depend on the number of shards, and are NumPy's;
        differentiable in `weights`, which are added as in `segment_sum`.

    Example:
        Two shards, two bins:

            shard 0   x [1.0 2.0]
            shard 1   x [2.5 5.0]
            ->
            both      counts [3 1]   edges [1.0 3.0 5.0]
    """
    caller = "histogram"
    num_shards = num_shards_on(axis_name, caller)
    column, num_bins, edges, ends, weights = as_histogram_arguments(
        caller, x, bins, edges, range, weights
    )
    valid = None if num_valid is None else as_num_valid(num_valid, column.shape[0], caller)
    over = OverShards(axis_name, num_shards, False, caller)
    column, weights, valid = as_shards((column, weights, valid), axis_name)
    return count_rows(column, num_bins, edges, ends, weights, valid, over)


def digit_histogram(
    keys: ArrayLike,
    shift: int,
    bits: int,
    *,
    axis_name: AxisName,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Int[Array, " digits"]:
    """Counts the keys of all shards by one digit of their radix-sort order.

    The digit is bits `shift` to `shift + bits` of the key's ordered word: an unsigned integer
    unchanged, a signed one with its sign bit flipped, a float of 32 or 64 bits by its ordered bits.

    Args:
        keys: this shard's keys, of shape `(rows,)` and any key dtype.
        shift: the lowest bit of the digit. Static.
        bits: number of bits of the digit, 24 at most. Static.
        axis_name: mesh axis of the rows, or a tuple of axes.
        num_valid: number of valid rows of this shard, at its front; all rows by default.

    Returns:
        The counts of the digits from 0 to `2**bits - 1`, int32, the same on every shard.

    Raises:
        TypeError: a dtype that is not a key dtype, or `shift` or `bits` is traced.
        ValueError: the digit is outside the key's bits, or `axis_name` is not an axis of the
            enclosing `shard_map`.

    Cost:
        Work O(rows + 2**bits). Communication: one `psum` of the counts.

    Guarantees:
        Deterministic; integers have no derivative.

    Example:
        Two shards, the two bits from bit 4:

            shard 0   keys [0x1F 0x20]
            shard 1   keys [0x2A 0x35]
            ->
            both      [0 1 2 1]
    """
    caller = "digit_histogram"
    num_shards_on(axis_name, caller)
    column, shift, bits = as_digit_arguments(caller, keys, shift, bits)
    valid = as_num_valid(num_valid, column.shape[0], caller)
    column, valid = as_shards((column, valid), axis_name)
    return jax.lax.psum(count_digits(column, valid, shift, bits), axis_name)
