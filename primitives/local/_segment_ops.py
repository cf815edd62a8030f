# SPDX-License-Identifier: Apache-2.0
"""The segment reductions, for rows of a segment on any number of shards.

`over` combines the partial results of the devices: `OneDevice`, or its counterpart in the
collectives.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from ..contract._moved import with_tangents
from ..contract._take import take_rows
from ..contract._typing import Array
from ._run_segments import Runs, end_of_runs, reduce_runs, rows_of_runs, run_lengths
from ._segment_extremes import (
    INT32_MAX,
    end_rows,
    extreme_of_segments,
    extreme_words,
    first_extremes,
    rows_of_words,
    truth_of_segments,
    winning_rows,
)
from ._segment_statistics import in_one_call
from ._segments import (
    GivenIds,
    add,
    add_given,
    count_given,
    count_rows,
    is_member,
    multiply_floats,
    rows_of_segments,
    scatter,
)


@dataclass(frozen=True)
class Segments:
    """The segment ids of this device's rows, and the number of segments.

    `given` are the original ids, if the kernels can read those instead of `ids`. `runs` tell that
    the segments are runs of adjacent rows, numbered in their order.
    """

    ids: Array
    num_segments: int
    over: Any
    given: GivenIds | None = None
    runs: Runs | None = None

    def add(self, rows: Array) -> Array:
        """The sum of this device's rows in each segment."""
        if self.runs is not None:
            by_ids = functools.partial(add, num_segments=self.num_segments)
            return reduce_runs("add", rows, self.runs, self.num_segments, by_ids)
        if self.given is not None:
            return add_given(rows, self.given, self.ids, self.num_segments)
        return add(rows, self.ids, self.num_segments)

    @functools.cached_property
    def counts(self) -> Array:
        """The number of rows of each segment on this device, int32."""
        if self.runs is not None:
            by_ids = functools.partial(count_rows, num_segments=self.num_segments)
            return run_lengths(self.runs, self.num_segments, by_ids)
        if self.given is not None:
            return count_given(self.given, self.ids, self.num_segments)
        return count_rows(self.ids, self.num_segments)

    def reduce(self, method: Any, rows: Array, initial: Any) -> Array:
        """Combines this device's integers in each segment by `mul`, `min` or `max`."""

        def by_ids(rows: Array, ids: Array) -> Array:
            return scatter(method, rows, ids, self.num_segments, initial)

        if self.runs is not None:
            return reduce_runs(method, rows, self.runs, self.num_segments, by_ids)
        return by_ids(rows, self.ids)

    def of_rows(self, table: Array) -> Array:
        """Looks up each row's segment in a table; zero for a row without a segment."""
        if self.runs is not None:
            return rows_of_runs(table, self.runs, rows_of_segments)
        return rows_of_segments(table, self.ids)

    def with_segment(self, rows: Array) -> Array:
        """Flags rows that have a segment, which broadcast against `rows`."""
        is_row = is_member(self.ids, self.num_segments)
        return is_row.reshape(-1, *(1,) * (rows.ndim - 1))

    def whole_counts(self, rows: Array) -> Array:
        """The rows of each segment on all shards, as floats that broadcast against `rows`."""
        # Not int32: a segment may have 2^31 rows over all shards.
        dtype = jnp.zeros((), rows.dtype).real.dtype
        counts = self.over.whole_total(self.counts.astype(dtype))
        return counts.reshape(-1, *(1,) * (rows.ndim - 1))


def reduce_sum(rows: Array, segments: Segments, ddof: int) -> Array:
    del ddof
    rows, dtype = as_summed(rows)
    return segments.over.total(segments.add(rows)).astype(dtype)


def reduce_prod(rows: Array, segments: Segments, ddof: int) -> Array:
    del ddof
    rows, dtype = as_summed(rows)
    if jnp.issubdtype(rows.dtype, jnp.inexact):
        partial = multiply_floats(rows, segments.ids, segments.num_segments)
    else:
        partial = segments.reduce("mul", rows, 1)
    return segments.over.product(partial).astype(dtype)


def reduce_mean(rows: Array, segments: Segments, ddof: int) -> Array:
    del ddof
    rows, dtype = as_averaged(rows)
    return in_one_call("mean", _mean, rows, segments).astype(dtype)


def reduce_var(rows: Array, segments: Segments, ddof: int) -> Array:
    rows, dtype = as_averaged(rows)
    definition = functools.partial(_variance_and_mean, ddof=ddof)
    variance, _ = in_one_call("var", definition, rows, segments, ddof)
    return variance.astype(dtype)


def reduce_std(rows: Array, segments: Segments, ddof: int) -> Array:
    def definition(rows: Array, segments: Segments) -> tuple[Array, Array]:
        variance, mean = _variance_and_mean(rows, segments, ddof)
        return root_of(variance), mean

    rows, dtype = as_averaged(rows)
    deviation, _ = in_one_call("std", definition, rows, segments, ddof)
    return deviation.astype(dtype)


def root_of(variance: Array) -> Array:
    """The standard deviation of a variance."""
    # The square root has no derivative at zero; use zero there.
    is_zero = variance == 0
    root = jnp.sqrt(jnp.where(is_zero, jnp.ones((), variance.dtype), variance))
    return jnp.where(is_zero, variance, root)


def _mean(rows: Array, segments: Segments) -> Array:
    counts = segments.over.piece(segments.whole_counts(rows))
    return quotient(segments.over.total(segments.add(rows)), counts)


def _variance_and_mean(rows: Array, segments: Segments, ddof: int) -> tuple[Array, Array]:
    counts = segments.whole_counts(rows)
    squares, mean = squared_distances(rows, segments, counts)
    return quotient(squares, segments.over.piece(counts - ddof)), mean


def squared_distances(rows: Array, segments: Segments, counts: Array) -> tuple[Array, Array]:
    """The sum of squared distances from the mean of each segment, and the means of all segments.

    The sum is zero for an empty segment. `counts` are the whole counts of the segments.
    """
    mean = whole_mean(rows, segments, counts)
    distance = distances_from(mean, rows, segments)
    return segments.over.total(segments.add(distance * distance)), mean


def whole_mean(rows: Array, segments: Segments, counts: Array) -> Array:
    """The mean of each segment, for all segments; `counts` are their whole counts."""
    return quotient(segments.over.whole_total(segments.add(rows)), counts)


def distances_from(centers: Array, rows: Array, segments: Segments) -> Array:
    """The distance of each row from the center of its segment; zero for a row without one."""
    return jnp.where(segments.with_segment(rows), rows - segments.of_rows(centers), 0)


def as_summed(rows: Array) -> tuple[Array, Any]:
    """Casts rows for a sum; returns them and the dtype of the result."""
    if rows.dtype == jnp.bool_:
        return rows.astype(jnp.int32), jnp.int32
    if jnp.issubdtype(rows.dtype, jnp.floating) and rows.dtype.itemsize < 4:
        return rows.astype(jnp.float32), rows.dtype
    return rows, rows.dtype


def as_averaged(rows: Array) -> tuple[Array, Any]:
    """Casts rows for a mean; returns them and the dtype of the mean."""
    if not jnp.issubdtype(rows.dtype, jnp.inexact):
        rows = rows.astype(jax.dtypes.canonicalize_dtype(float))
    return as_summed(rows)


def quotient(total: Array, counts: Array) -> Array:
    """`total / counts`, or NaN for a zero count, without NaN in the derivative."""
    # XLA divides by a maximum as it is, but may select instead of dividing by a selected one: the
    # program would have to be compiled before its first call.
    mean = total / jnp.maximum(counts, counts.dtype.type(1)).astype(total.dtype)
    return jnp.where(counts > 0, mean, jnp.asarray(jnp.nan, total.dtype))


def _extreme(rows: Array, segments: Segments, is_max: bool) -> Array:
    """The best word of each segment."""
    return segments.over.extreme(extreme_of_segments(rows, segments, is_max), is_max)


def reduce_extreme(rows: Array, segments: Segments, ddof: int, *, is_max: bool) -> Array:
    del ddof
    plain = jax.lax.stop_gradient(rows)
    best = _extreme(plain, segments, is_max)
    value = segments.over.piece(rows_of_words(best, rows.dtype, is_max))
    if not jnp.issubdtype(rows.dtype, jnp.floating):
        return value
    # The winning rows are computed only under differentiation.
    words = extreme_words(plain, is_max)
    winners = winning_rows(words, best, rows.dtype, segments.ids, segments.num_segments)
    winners = winners.reshape(segments.num_segments, math.prod(rows.shape[1:]))
    plan = (winners, segments.over.is_owner(winners < INT32_MAX))
    return with_tangents(functools.partial(_take_winners, over=segments.over), value, rows, plan)


def _take_winners(matrix: Array, plan: tuple[Array, Array], *, over: Any) -> Array:
    winners, is_owner = plan
    if matrix.shape[0] == 0:
        return over.total(jnp.zeros(winners.shape, matrix.dtype))
    positions = jnp.minimum(winners, matrix.shape[0] - 1)
    taken = jnp.take_along_axis(matrix, positions, 0, mode="promise_in_bounds")
    return over.total(jnp.where(is_owner, taken, jnp.zeros((), matrix.dtype)))


def reduce_arg_extreme(rows: Array, segments: Segments, ddof: int, *, is_max: bool) -> Array:
    del ddof
    own, own_rows = first_extremes(jax.lax.stop_gradient(rows), segments, is_max)
    is_best = own == segments.over.extreme(own, is_max)
    winners = jnp.where(is_best, own_rows, INT32_MAX)
    is_owner = segments.over.is_owner(winners < INT32_MAX)
    row_ids = segments.over.global_row_ids(winners, rows.shape[0])
    # Ids plus one, so that zero means no row.
    return segments.over.total(jnp.where(is_owner, row_ids + 1, 0)) - 1


def reduce_logsumexp(rows: Array, segments: Segments, ddof: int) -> Array:
    del ddof
    rows, dtype = as_averaged(rows)
    result, _ = in_one_call("logsumexp", _logsumexp_and_maximum, rows, segments)
    return result.astype(dtype)


def _logsumexp_and_maximum(rows: Array, segments: Segments) -> tuple[Array, Array]:
    greatest = finite_maximum(rows, segments)
    total = segments.over.total(segments.add(exponentials_from(greatest, rows, segments)))
    # The logarithm has no derivative at zero; a segment without rows needs none.
    is_zero = total == 0
    logarithm = jnp.log(jnp.where(is_zero, jnp.ones((), total.dtype), total))
    result = logarithm + segments.over.piece(greatest)
    return jnp.where(is_zero, jnp.asarray(-jnp.inf, total.dtype), result), greatest


def finite_maximum(rows: Array, segments: Segments) -> Array:
    """The maximum of each segment, without a derivative; zero for an infinity or NaN."""
    words = _extreme(jax.lax.stop_gradient(rows), segments, is_max=True)
    greatest = rows_of_words(words, rows.dtype, is_max=True)
    return jnp.where(jnp.isfinite(greatest), greatest, jnp.zeros((), rows.dtype))


def exponentials_from(centers: Array, rows: Array, segments: Segments) -> Array:
    """The exponential of the distance of each row from a center; zero for rows of no segment."""
    # What no segment has must not overflow: an infinity has no derivative.
    distance = distances_from(centers, rows, segments)
    return jnp.where(segments.with_segment(rows), jnp.exp(distance), 0)


def reduce_end(rows: Array, segments: Segments, ddof: int, *, is_last: bool) -> Array:
    del ddof
    ends = end_rows(segments.ids, segments.num_segments, is_last)
    is_owner = segments.over.is_owner((ends >= 0) & (ends < INT32_MAX), is_last)
    if rows.shape[0] == 0:
        return segments.over.piece(jnp.zeros((segments.num_segments, *rows.shape[1:]), rows.dtype))
    positions = jnp.clip(ends, 0, rows.shape[0] - 1)
    plain, runs = jax.lax.stop_gradient(rows), segments.runs

    def by_ends(rows: Array, _: Array) -> Array:
        return segments.over.select(rows, positions, is_owner)

    if runs is None:
        selected = by_ends(plain, segments.ids)
    else:
        selected = end_of_runs(plain, runs, segments.num_segments, by_ends, is_last=is_last)
    route = functools.partial(_take_ends, over=segments.over)
    return with_tangents(route, selected, rows, (positions, is_owner))


def _take_ends(matrix: Array, plan: tuple[Array, Array], *, over: Any) -> Array:
    positions, is_owner = plan
    taken = take_rows(matrix, positions, is_unique=False)
    return over.total(jnp.where(is_owner[:, None], taken, jnp.zeros((), matrix.dtype)))


def reduce_truth(rows: Array, segments: Segments, ddof: int, *, is_any: bool) -> Array:
    del ddof
    partial = truth_of_segments(jax.lax.stop_gradient(rows), segments, is_any)
    return segments.over.piece(segments.over.extreme(partial, is_any)) != 0


REDUCTIONS: dict[str, Callable[[Array, Segments, int], Array]] = {
    "sum": reduce_sum,
    "prod": reduce_prod,
    "min": functools.partial(reduce_extreme, is_max=False),
    "max": functools.partial(reduce_extreme, is_max=True),
    "mean": reduce_mean,
    "var": reduce_var,
    "std": reduce_std,
    "logsumexp": reduce_logsumexp,
    "first": functools.partial(reduce_end, is_last=False),
    "last": functools.partial(reduce_end, is_last=True),
    "any": functools.partial(reduce_truth, is_any=True),
    "all": functools.partial(reduce_truth, is_any=False),
    "argmin": functools.partial(reduce_arg_extreme, is_max=False),
    "argmax": functools.partial(reduce_arg_extreme, is_max=True),
}
