# SPDX-License-Identifier: Apache-2.0
"""Correlations and covariances, computed as matrix products."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ...shardings._compat import is_x64_enabled
from ..align._align import aligned_column
from ..table._arguments import check_flag
from ..table._column import Array, Column
from ..table._correlation_checks import check_method, check_number
from ..table._dtypes import narrowed
from ..table._from_host import index_from
from ..table._layout import ONE_DEVICE, Layout
from ..table._ndframe import FrameBase, SeriesBase
from ..table._table import Count, Table, as_count, is_row
from ..table._tracing import is_traced

# Matrix products sum squares about the column's mean. If the sum about the pair's own mean is a
# smaller fraction of it than this, cancellation leaves too few digits.
FAR_FROM_MEAN = 2.0**-10


def covariances(
    columns: Sequence[Column],
    num_rows: Count,
    layout: Layout,
    *,
    min_periods: int,
    ddof: int,
    kind: str,
) -> Array:
    """Correlation or covariance of each pair of columns, over rows where both have values.

    Args:
        columns: numbers.
        num_rows: the number of valid rows.
        layout: the layout of the rows.
        min_periods: the least number of rows; a pair with fewer gives NaN.
        ddof: subtracted from the number of rows in the divisor.
        kind: the treatment of infinities and `ddof`, as in pandas. "corr": infinities are
            missing. "cov": infinities are missing if any other value is, and `ddof` applies only
            if none is. "series corr", "series cov": infinities are values; `ddof` always applies.
    """
    arrays = tuple(column.arrays for column in columns)
    limits = (np.int32(max(min_periods, 1)), np.int32(ddof))
    return _covariances(arrays, num_rows, limits, kind, layout)


@functools.partial(jax.jit, static_argnums=(3, 4))
def _covariances(columns: Any, num_rows: Count, limits: Any, kind: str, layout: Layout) -> Array:
    wide = jnp.float64 if is_x64_enabled() else jnp.float32
    rows = is_row(columns[0][0].shape[0], num_rows, layout)
    numbers = [data.astype(wide) for data, _ in columns]
    presents = [
        rows & ~jnp.isnan(x) & (True if valid is None else valid)
        for x, (_, valid) in zip(numbers, columns, strict=True)
    ]
    is_whole = jnp.all(jnp.stack([jnp.all(present == rows) for present in presents]))
    if kind in ("corr", "cov"):
        keeps = is_whole if kind == "cov" else False
        presents = [p & (jnp.isfinite(x) | keeps) for x, p in zip(numbers, presents, strict=True)]
    counts, together, spread = _pair_sums(numbers, presents, layout)
    least_rows, ddof = limits
    enough = counts >= least_rows.astype(wide)
    if kind in ("cov", "series cov"):
        counts_ddof = is_whole if kind == "cov" else True
        divisor = counts - jnp.where(counts_ddof, ddof.astype(wide), 1.0)
        enough = enough & (divisor > 0)
        return jnp.where(enough, together / jnp.where(divisor > 0, divisor, 1.0), jnp.nan)
    scale = spread * spread.T
    is_defined = enough & (scale > 0)
    result = together / jnp.sqrt(jnp.where(is_defined, scale, 1.0))
    result = jnp.where(jnp.eye(len(columns), dtype=jnp.bool_), 1.0, jnp.clip(result, -1.0, 1.0))
    return jnp.where(is_defined, result, jnp.where(jnp.isnan(scale), scale, jnp.nan))


def _pair_sums(
    numbers: Sequence[Array], presents: Sequence[Array], layout: Layout
) -> tuple[Array, Array, Array]:
    """Counts of common rows, sums of products and sums of squares of each pair of columns.

    Products, and squares of the first column, are about the means over the common rows.
    """
    origins, values, flags = [], [], []
    for x, present in zip(numbers, presents, strict=True):
        count = jnp.maximum(jnp.sum(present, dtype=jnp.int32), np.int32(1)).astype(x.dtype)
        origin = _origin(x, present, jnp.sum(jnp.where(present, x, 0.0), dtype=x.dtype) / count)
        origins.append(origin)
        values.append(jnp.where(present, x - origin, 0.0))
        flags.append(present.astype(x.dtype))
    x, m = jnp.stack(values, axis=1), jnp.stack(flags, axis=1)
    counts, sums = _product(m, m, layout), _product(x, m, layout)
    products, squares = _product(x, x, layout), _product(x * x, m, layout)
    over = jnp.maximum(counts, 1.0)
    means = jnp.stack(origins)[:, None] + sums / over
    together = products - sums * sums.T / over
    spread = squares - sums * sums / over
    is_far = spread < squares * FAR_FROM_MEAN
    about_means = (together, spread)
    together, spread = jax.lax.cond(
        jnp.any(is_far),
        lambda: _about_own_means(numbers, presents, means, is_far | is_far.T, about_means, layout),
        lambda: about_means,
    )
    return counts, together, spread


def _origin(x: Array, present: Array, mean: Array) -> Array:
    """Clips the mean to the range of the values, so that equal values have distance zero."""
    least = jnp.min(jnp.where(present, x, jnp.inf), axis=0)
    most = jnp.max(jnp.where(present, x, -jnp.inf), axis=0)
    return jax.lax.stop_gradient(jnp.clip(mean, least, most))


def _about_own_means(
    numbers: Sequence[Array],
    presents: Sequence[Array],
    means: Array,
    is_far: Array,
    about_means: tuple[Array, Array],
    layout: Layout,
) -> tuple[Array, Array]:
    """Recomputes sums about the pairwise means for pairs whose mean is large beside the spread."""
    size = len(numbers)
    reduce = functools.partial(primitives.reduce, (tuple(numbers), tuple(presents)))

    def pairs(rows: Any) -> tuple[Array, Array]:
        """The first column of each pair, and flags for rows where both have values."""
        first, present = (jnp.stack(columns, axis=1) for columns in rows)
        first = jnp.broadcast_to(first[:, :, None], (first.shape[0], size, size))
        return first, present[:, :, None] & present[:, None, :]

    def ends(rows: Any) -> tuple[Any, None]:
        first, both = pairs(rows)
        return (jnp.where(both, first, jnp.inf), jnp.where(both, first, -jnp.inf)), None

    least, most = reduce(("min", "max"), transform=ends, **layout.on_mesh).values
    # Clipped, so that equal values have distance zero.
    origins = jax.lax.stop_gradient(jnp.clip(means, least, most))

    def products(rows: Any, origins: Array) -> tuple[Any, None]:
        first, both = pairs(rows)
        distance = jnp.where(both, first - origins[None], 0.0)
        return (distance * jnp.swapaxes(distance, 1, 2), distance * distance), None

    together, spread = reduce(
        "sum", transform=products, operands=(origins,), **layout.on_mesh
    ).values
    return jnp.where(is_far, together, about_means[0]), jnp.where(is_far, spread, about_means[1])


def _product(a: Array, b: Array, layout: Layout) -> Array:
    """Computes `a.T @ b`."""

    def of_rows(rows: Any) -> tuple[Array, None]:
        return jnp.einsum("ni,nj->ij", *rows, precision="highest")[None], None

    return primitives.reduce((a, b), "sum", transform=of_rows, **layout.on_mesh).values


class FrameCorrelation(FrameBase):
    """Correlation and covariance of the columns of a frame."""

    def corr(
        self, method: Any = "pearson", min_periods: int = 1, numeric_only: bool = False
    ) -> Any:
        """The correlation of each pair of columns.

        Differences from pandas:
            `method` must be "pearson". Times raise; pandas takes their integer values.
        """
        check_method(method, "corr")
        return self._together("corr", min_periods, 1, numeric_only)

    def cov(self, min_periods: int | None = None, ddof: int = 1, numeric_only: bool = False) -> Any:
        """The covariance of each pair of columns; `ddof` applies only if no value is missing."""
        for column, label in zip(self._table.columns, self._labels, strict=True):
            if column.type.is_time:
                check_number(column, label, "cov")
        return self._together("cov", min_periods, ddof, numeric_only)

    def _together(self, caller: str, min_periods: Any, ddof: int, numeric_only: bool) -> Any:
        frame: Any = self
        if check_flag(numeric_only, "numeric_only"):
            frame = self._columns_at(self._pick(lambda column: column.is_numeric))
        table, labels = frame._table, frame._labels
        for column, label in zip(table.columns, labels, strict=True):
            check_number(column, label, caller)
        size = len(labels)
        capacity = ONE_DEVICE.capacity_for(size)
        columns: list[Column] = []
        if size:
            matrix = covariances(
                table.columns,
                table.all_rows,
                table.layout,
                min_periods=min_periods or 1,
                ddof=ddof,
                kind=caller,
            )
            padding = ((0, capacity - size), (0, 0))
            if is_traced(matrix):
                columns = [Column(column) for column in jnp.pad(matrix, padding).T]
            else:
                whole = np.pad(np.asarray(matrix), padding)
                columns = [Column(jnp.asarray(column)) for column in whole.T]
        index = index_from(narrowed(labels.index), capacity, ONE_DEVICE)
        result = Table(tuple(columns), index, as_count(size), table.needed)
        return self.frame_class._of(result, labels)


class SeriesCorrelation(SeriesBase):
    """Correlation and covariance of two series."""

    def corr(self, other: Any, method: Any = "pearson", min_periods: int | None = None) -> Any:
        """The correlation with another series, aligned by label."""
        check_method(method, "corr")
        return self._with_other(other, min_periods, 1, "series corr")

    def cov(self, other: Any, min_periods: int | None = None, ddof: int = 1) -> Any:
        """The covariance with another series, aligned by label."""
        return self._with_other(other, min_periods, ddof, "series cov")

    def _with_other(self, other: Any, min_periods: Any, ddof: int, kind: str) -> Any:
        caller = kind.removeprefix("series ")
        if not isinstance(other, SeriesBase):
            raise TypeError(f"unsupported type: {type(other)}")
        a = check_number(self._only, self._name, caller)
        b = check_number(aligned_column(other, self._table), other._name, caller)
        table = self._table
        matrix = covariances(
            (a, b),
            table.all_rows,
            table.layout,
            min_periods=min_periods or 1,
            ddof=ddof,
            kind=kind,
        )
        if is_traced(matrix):
            return table.unless_lost(matrix[0, 1])
        return np.float64(np.asarray(matrix)[0, 1])
