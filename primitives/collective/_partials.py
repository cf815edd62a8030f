# SPDX-License-Identifier: Apache-2.0
"""Partial reductions: accumulators of one shard's rows of a key, and their merge over shards.

A mean travels as sum and count, a variance as count, mean and sum of squared deviations. These
merge by the formula of Chan, Golub and LeVeque (1983), without cancellation. The parts of one key
arrive in the order of their shards, so the first part holds the first row.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp

from ..contract._typing import Array
from ..local.parts import (
    REDUCTIONS,
    Segments,
    as_averaged,
    as_summed,
    is_member,
    quotient,
    root_of,
    rows_of_segments,
)

Parts = tuple[Array, ...]


class InParts(NamedTuple):
    """One reduction.

    Attributes:
        part: maps rows and their segments to the accumulators of each segment, a few columns.
        merged: maps accumulators and their segments to the result; `like` has the dtype of the
            rows.
    """

    part: Callable[[Array, Segments], Parts]
    merged: Callable[[Parts, Segments, Array, int], Array]


def _of_itself(op: str) -> InParts:
    """A reduction that merges its partial results by itself."""

    def part(rows: Array, segments: Segments) -> Parts:
        return (REDUCTIONS[op](rows, segments, 0),)

    def merged(parts: Parts, segments: Segments, like: Array, ddof: int) -> Array:
        (reduced,) = parts
        return REDUCTIONS[op](reduced, segments, 0)

    return InParts(part, merged)


def _wide(op: str) -> InParts:
    """A sum or a product; partial results keep the wide dtype of the computation."""

    def part(rows: Array, segments: Segments) -> Parts:
        return (REDUCTIONS[op](as_summed(rows)[0], segments, 0),)

    def merged(parts: Parts, segments: Segments, like: Array, ddof: int) -> Array:
        (reduced,) = parts
        return REDUCTIONS[op](reduced, segments, 0).astype(as_summed(like)[1])

    return InParts(part, merged)


def _count(rows: Array, segments: Segments) -> Parts:
    return (segments.counts,)


def _merged_count(parts: Parts, segments: Segments, like: Array, ddof: int) -> Array:
    return segments.add(*parts)


def _mean(rows: Array, segments: Segments) -> Parts:
    return segments.counts, segments.add(as_averaged(rows)[0])


def _merged_mean(parts: Parts, segments: Segments, like: Array, ddof: int) -> Array:
    counts, sums = parts
    counts = segments.add(_beside(counts, sums))
    return quotient(segments.add(sums), counts).astype(as_averaged(like)[1])


def _moments(rows: Array, segments: Segments) -> Parts:
    rows, _ = as_averaged(rows)
    mean = quotient(segments.add(rows), _beside(segments.counts, rows))
    distance = _distance(rows, mean, segments)
    return segments.counts, mean, segments.add(distance * distance)


def _variance(parts: Parts, segments: Segments, ddof: int) -> Array:
    counts, means, squares = parts
    counts = _beside(counts, means)
    count = segments.add(counts)
    mean = quotient(segments.add(counts * means), count)
    distance = _distance(means, mean, segments)
    squares = segments.add(squares + counts * distance * distance)
    return quotient(squares, count - ddof)


def _merged_variance(parts: Parts, segments: Segments, like: Array, ddof: int) -> Array:
    return _variance(parts, segments, ddof).astype(as_averaged(like)[1])


def _merged_deviation(parts: Parts, segments: Segments, like: Array, ddof: int) -> Array:
    return root_of(_variance(parts, segments, ddof)).astype(as_averaged(like)[1])


def _distance(rows: Array, mean: Array, segments: Segments) -> Array:
    is_row = is_member(segments.ids, segments.num_segments)
    is_row = is_row.reshape(-1, *(1,) * (rows.ndim - 1))
    return jnp.where(is_row, rows - rows_of_segments(mean, segments.ids), 0)


def _beside(counts: Array, rows: Array) -> Array:
    """Casts and reshapes counts so that they broadcast against rows."""
    dtype = jnp.zeros((), rows.dtype).real.dtype
    return counts.astype(dtype).reshape(-1, *(1,) * (rows.ndim - 1))


IN_PARTS: dict[str, InParts] = {
    **{op: _wide(op) for op in ("sum", "prod")},
    **{op: _of_itself(op) for op in ("min", "max", "first", "last", "any", "all")},
    "count": InParts(_count, _merged_count),
    "mean": InParts(_mean, _merged_mean),
    "var": InParts(_moments, _merged_variance),
    "std": InParts(_moments, _merged_deviation),
}


def like_rows(leaf: Array) -> Array:
    """An empty array with the dtype of a leaf."""
    return jnp.zeros((0,), leaf.dtype)


def parts_of(leaves: Any, names: tuple[str, ...], segments: Segments) -> tuple[Parts, ...]:
    """The accumulators of each segment, for each leaf."""
    return tuple(
        IN_PARTS[name].part(leaf, segments) for name, leaf in zip(names, leaves, strict=True)
    )


def merged_parts(
    parts: tuple[Parts, ...], names: tuple[str, ...], segments: Segments, leaves: Any, ddof: int
) -> list[Array]:
    """Merges the accumulators into one result for each leaf."""
    return [
        IN_PARTS[name].merged(part, segments, like_rows(leaf), ddof)
        for name, part, leaf in zip(names, parts, leaves, strict=True)
    ]
