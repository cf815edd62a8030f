# SPDX-License-Identifier: Apache-2.0
"""Accumulators: reductions as parts that merge.

Rows in pieces (of shards, of batches, of windows) are reduced piece by piece. A piece gives each
segment a few numbers, its parts; the parts of all pieces merge; and the merged parts give the
result. A mean travels as a count and a total, a variance as these and a sum of squared distances
from the mean of its piece, which merge by `moved_sums`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp

from ..contract._typing import Array
from ._moments import moved_sums
from ._segment_ops import (
    REDUCTIONS,
    Segments,
    as_averaged,
    as_summed,
    quotient,
    root_of,
    squared_distances,
)

Parts = tuple[Array, ...]


class Part(NamedTuple):
    """One number of a piece.

    Attributes:
        of_rows: the reduction of rows that makes it.
        of_parts: the reduction that merges those of pieces; None for squared distances, which need
            the counts and the totals too.
        cast: casts the rows first, and tells the dtype of the result; None for their own.
    """

    of_rows: str
    of_parts: str | None
    cast: Callable[[Array], tuple[Array, Any]] | None = None


class Accumulator(NamedTuple):
    """The parts of a reduction, and the result of merged parts.

    Attributes:
        parts: their names, in the table `PARTS`.
        finish: maps merged parts and the delta degrees of freedom to the result, in the dtype of
            the computation.
    """

    parts: tuple[str, ...]
    finish: Callable[[Parts, Any], Array]


PARTS = {
    **{op: Part(op, op, as_summed) for op in ("sum", "prod")},
    **{op: Part(op, op) for op in ("min", "max", "first", "last", "any", "all")},
    "count": Part("count", "sum"),
    "logsumexp": Part("logsumexp", "logsumexp", as_averaged),
    "total": Part("sum", "sum", as_averaged),
    "squares": Part("squares", None, as_averaged),
}


def _itself(parts: Parts, ddof: Any) -> Array:
    del ddof
    return parts[0]


def _mean(parts: Parts, ddof: Any) -> Array:
    del ddof
    count, total = parts
    return quotient(total, beside(count, total))


def _variance(parts: Parts, ddof: Any) -> Array:
    count, _, squares = parts
    return quotient(squares, beside(count, squares) - ddof)


def _deviation(parts: Parts, ddof: Any) -> Array:
    return root_of(_variance(parts, ddof))


def _error_of_mean(parts: Parts, ddof: Any) -> Array:
    return root_of(quotient(_variance(parts, ddof), beside(parts[0], parts[2])))


_OF_MOMENTS = ("count", "total", "squares")
ACCUMULATORS = {
    **{op: Accumulator((op,), _itself) for op in PARTS if op not in ("total", "squares")},
    "mean": Accumulator(("count", "total"), _mean),
    "var": Accumulator(_OF_MOMENTS, _variance),
    "std": Accumulator(_OF_MOMENTS, _deviation),
    "sem": Accumulator(_OF_MOMENTS, _error_of_mean),
}


def beside(counts: Array, rows: Array) -> Array:
    """Casts and reshapes counts so that they broadcast against rows."""
    dtype = jnp.zeros((), rows.dtype).real.dtype
    return counts.astype(dtype).reshape(-1, *(1,) * (rows.ndim - 1))


def moved_squares(
    counts: Array, totals: Array, squares: Array, count: Array, total: Array
) -> Array:
    """Squared distances of pieces from the mean of all their values, not from their own means.

    Args:
        counts: the number of values of each piece.
        totals: their sum.
        squares: the sum of their squared distances from their mean.
        count: the number of all values of the segment of each piece.
        total: their sum.
    """
    distance = quotient(totals, counts) - quotient(total, count)
    # Pieces without values have no mean, and squares that overflow, or of infinities, stay so.
    is_finite = (counts > 0) & (squares < jnp.inf)
    (moved,) = moved_sums(counts, (squares,), jnp.where(is_finite, distance, 0))
    return moved


def parts_of(rows: Array, op: str, segments: Segments) -> Parts:
    """The parts of the rows of each segment."""
    return tuple(_part(rows, PARTS[name], segments) for name in ACCUMULATORS[op].parts)


def _part(rows: Array, part: Part, segments: Segments) -> Array:
    if part.of_rows == "count":
        return segments.counts
    rows = rows if part.cast is None else part.cast(rows)[0]
    if part.of_rows == "squares":
        return squared_distances(rows, segments, segments.whole_counts(rows))[0]
    return REDUCTIONS[part.of_rows](rows, segments, 0)


def merged_parts(parts: Parts, op: str, segments: Segments, dtype: Any, ddof: int) -> Array:
    """The results of segments, from parts of their pieces.

    Args:
        parts: those of each piece, as `parts_of` gives them.
        op: the reduction.
        segments: the segment of each piece.
        dtype: that of the rows.
        ddof: delta degrees of freedom.
    """
    names, finish = ACCUMULATORS[op]
    merged: dict[str, Array] = {}
    of_pieces = dict(zip(names, parts, strict=True))
    for name, part in of_pieces.items():
        if PARTS[name].of_parts is None:
            part = _squares_about_whole(of_pieces, merged, segments)
        merged[name] = REDUCTIONS[PARTS[name].of_parts or "sum"](part, segments, 0)
    result = finish(tuple(merged.values()), ddof)
    cast = PARTS[names[-1]].cast
    return result if cast is None else result.astype(cast(jnp.zeros(0, dtype))[1])


def _squares_about_whole(
    parts: dict[str, Array], merged: dict[str, Array], segments: Segments
) -> Array:
    squares = parts["squares"]
    count, total = (
        segments.of_rows(beside(one, squares)) for one in (merged["count"], merged["total"])
    )
    moved = moved_squares(beside(parts["count"], squares), parts["total"], squares, count, total)
    return jnp.where(segments.with_segment(squares), moved, 0)
