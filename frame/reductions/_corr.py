# SPDX-License-Identifier: Apache-2.0
"""Correlations and covariances, computed as matrix products."""

import functools
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ...primitives.staging import tiered
from ..align._align import aligned_column
from ..table._arguments import check_flag
from ..table._by_pandas import by_pandas
from ..table._column import Array, Column, bare
from ..table._dtypes import narrowed, wide
from ..table._from_host import index_from
from ..table._layout import ONE_DEVICE, Layout
from ..table._ndframe import FrameBase, SeriesBase
from ..table._object_functions import of_rows
from ..table._table import Count, Table, as_count, is_row
from ..table._tracing import answered_at_once, is_traced
from ..table._user_functions import as_pandas

# Matrix products sum squares about the column's mean. If the sum about the pair's own mean is a
# smaller fraction of it than this, cancellation leaves too few digits.
FAR_FROM_MEAN = 2.0**-10
# XLA takes up to five times as long for a matrix product with so few columns as for the sum of the
# products of each pair.
_MOST_PAIRED = 8


class Statistic(NamedTuple):
    """A statistic of pairs of columns. Static under `jit`.

    Attributes:
        op: "corr" or "cov".
        min_periods: the least number of rows; a pair with fewer gives NaN.
        ddof: subtracted from the number of rows in the divisor.
        is_of_frame: as in pandas, frames ignore infinities; for "cov" only if any value is
            missing, and then `ddof` is 1.
    """

    op: str
    min_periods: int
    ddof: int
    is_of_frame: bool

    def covariance(self, counts: Array, products: Array, is_whole: Any, xp: Any = jnp) -> Array:
        """Covariances from sums of products; `is_whole` is False if `ddof` does not apply.

        `xp` is the module of the arrays, `jnp` or `np`.
        """
        divisor = counts.astype(products.dtype) - xp.where(is_whole, self.ddof, 1)
        is_defined = (counts >= self.min_periods) & (divisor > 0)
        return xp.where(is_defined, products / xp.where(is_defined, divisor, 1), xp.nan)

    def correlation(
        self, counts: Array, products: Array, scale: Array, is_own: Any, xp: Any = jnp
    ) -> Array:
        """Correlations from sums of products, and products of the columns' sums of squares."""
        is_defined = (counts >= self.min_periods) & (scale > 0)
        result = xp.clip(products / xp.sqrt(xp.where(is_defined, scale, 1)), -1, 1)
        result = xp.where(is_own, xp.ones((), result.dtype), result)
        return xp.where(is_defined, result, xp.where(xp.isnan(scale), scale, xp.nan))


class PairSums(NamedTuple):
    """Sums over the rows where both columns of a pair have values.

    Each is a matrix with a row for each first column, or broadcasts against it.

    Attributes:
        counts: the number of these rows.
        means: the mean of the first column.
        together: the sum of the products of the distances from the means.
        spread: the sum of the squared distances of the first column.
    """

    counts: Array
    means: Array
    together: Array
    spread: Array


def _covariances(
    columns: Sequence[Column],
    num_rows: Count,
    statistic: Statistic,
    layout: Layout,
    *,
    are_common: bool,
) -> Any:
    """A statistic of each pair of bare columns, over rows where both have values.

    With `are_common` over those where all columns have values. A matrix, on the host unless it is
    traced.
    """
    sums, is_far, is_whole = _pair_sums(columns, num_rows, statistic, layout, are_common)
    own_means = functools.partial(
        _about_own_means, columns, num_rows, statistic, layout, sums, is_far
    )
    xp: Any = jnp
    if is_traced(sums):
        # Sums about the means of the same rows do not cancel.
        if not are_common:
            sums = jax.lax.cond(jnp.any(is_far), own_means, lambda: sums)
    else:
        # Another program, which few columns need.
        if not are_common and np.asarray(is_far).any():
            sums = own_means()
        xp, (sums, is_whole) = np, jax.device_get((sums, is_whole))
    with np.errstate(all="ignore"):
        if statistic.op == "cov":
            return statistic.covariance(sums.counts, sums.together, is_whole, xp)
        is_own = np.eye(len(columns), dtype=np.bool_)
        scale = sums.spread * sums.spread.T
        return statistic.correlation(sums.counts, sums.together, scale, is_own, xp)


def _with_presence(
    columns: Sequence[Column], num_rows: Count, statistic: Statistic, layout: Layout
) -> tuple[tuple[Array, ...], tuple[Array, ...], Any]:
    """The numbers of each column, flags of the rows where it has one, and whether all have."""
    rows = is_row(columns[0].data.shape[0], num_rows, layout)
    numbers = tuple(column.data.astype(wide(np.float64)) for column in columns)
    presents = tuple(rows & ~column.missing() for column in columns)
    is_whole: Any = np.bool_(True)
    if statistic.is_of_frame:
        is_cov = statistic.op == "cov"
        is_whole = is_cov and jnp.all(jnp.stack([jnp.all(p == rows) for p in presents]))
        pairs = zip(numbers, presents, strict=True)
        presents = tuple(p & (jnp.isfinite(x) | is_whole) for x, p in pairs)
    return numbers, presents, is_whole


@answered_at_once
@functools.partial(tiered, static_argnums=2)
def _are_finite(columns: Sequence[Column], num_rows: Count, layout: Layout) -> Array:
    """Whether each row has a finite value in all columns."""
    rows = is_row(columns[0].data.shape[0], num_rows, layout)
    flags = [column.present() & jnp.isfinite(column.data) for column in columns]
    return jnp.all(~rows | functools.reduce(jnp.logical_and, flags))


@functools.partial(tiered, static_argnums=(2, 3, 4))
def _pair_sums(
    columns: Sequence[Column],
    num_rows: Count,
    statistic: Statistic,
    layout: Layout,
    are_common: bool,
) -> tuple[PairSums, Array, Any]:
    """The sums of each pair, flags of those that cancel, and whether no value is missing.

    The sums are about the mean of each column, and moved to those of its pairs.
    """
    numbers, presents, is_whole = _with_presence(columns, num_rows, statistic, layout)
    if are_common:
        presents = (functools.reduce(jnp.logical_and, presents),) * len(columns)
    total = _sum_of(layout)
    origins = [
        jax.lax.stop_gradient(_mean(*one, total)) for one in zip(numbers, presents, strict=True)
    ]
    sides = zip(numbers, presents, origins, strict=True)
    x = tuple(jnp.where(present, number - origin, 0.0) for number, present, origin in sides)
    flags = presents[:1] if are_common else presents
    m = tuple(flag.astype(numbers[0].dtype) for flag in flags)
    counts, sums, products, squares = _products(x, m, layout)
    over = jnp.maximum(counts, 1.0)
    means = jnp.stack(origins)[:, None] + sums / over
    together = products - sums * sums.T / over
    spread = squares - sums * sums / over
    is_far = spread < squares * FAR_FROM_MEAN
    return PairSums(counts, means, together, spread), is_far | is_far.T, is_whole


def _sum_of(layout: Layout) -> Callable[[Array], Array]:
    """Adds floats; on one device in a fixed order, so that a first call is not compiled."""
    return primitives.local.pairwise_sum if layout.mesh is None else jnp.sum


def _mean(numbers: Array, present: Array, total: Callable[[Array], Array]) -> Array:
    """The mean of some rows, clipped to their range, so that equal values have distance zero."""
    count = jnp.maximum(jnp.sum(present, dtype=jnp.int32), np.int32(1))
    mean = total(jnp.where(present, numbers, 0.0)) / count.astype(numbers.dtype)
    least = jnp.min(jnp.where(present, numbers, jnp.inf))
    return jnp.clip(mean, least, jnp.max(jnp.where(present, numbers, -jnp.inf)))


@functools.partial(tiered, static_argnums=(2, 3))
def _about_own_means(
    columns: Sequence[Column],
    num_rows: Count,
    statistic: Statistic,
    layout: Layout,
    sums: PairSums,
    is_far: Array,
) -> PairSums:
    """Recomputes sums about the pairwise means for pairs whose mean is large beside the spread."""
    numbers, presents, _ = _with_presence(columns, num_rows, statistic, layout)
    rows = jnp.stack(numbers, axis=1), jnp.stack(presents, axis=1)
    reduce = functools.partial(primitives.reduce, rows, **layout.on_mesh)

    def pairs(rows: Any) -> tuple[Array, Array]:
        """The first column of each pair, and flags for rows where both have values."""
        first, present = rows
        first = jnp.broadcast_to(first[:, :, None], (*first.shape, first.shape[1]))
        return first, present[:, :, None] & present[:, None, :]

    def ends(rows: object) -> tuple[Any, None]:
        first, both = pairs(rows)
        return (jnp.where(both, first, jnp.inf), jnp.where(both, first, -jnp.inf)), None

    least, most = reduce(("min", "max"), transform=ends).values
    # Clipped, so that equal values have distance zero.
    origins = jax.lax.stop_gradient(jnp.clip(sums.means, least, most))

    def products(rows: object, origins: Array) -> tuple[Any, None]:
        first, both = pairs(rows)
        distance = jnp.where(both, first - origins[None], 0.0)
        return (distance * jnp.swapaxes(distance, 1, 2), distance * distance, distance), None

    together, spread, left = reduce("sum", transform=products, operands=(origins,)).values
    # Means that were calculated about those of all rows may have lost their last digits.
    left = jnp.where(jnp.isfinite(left), left, 0.0)
    over = jnp.maximum(sums.counts, 1.0)
    together, spread = together - left * left.T / over, spread - left * left / over
    together = jnp.where(is_far, together, sums.together)
    return sums._replace(together=together, spread=jnp.where(is_far, spread, sums.spread))


def _products(x: tuple[Array, ...], m: tuple[Array, ...], layout: Layout) -> tuple[Array, ...]:
    """The products of the columns of two sides, which broadcast against a matrix each.

    Of `m` and itself, `x` and `m`, `x` and itself, and the squares of `x` and `m`. `m` are flags of
    rows, one for all columns or one for each; `x` is zero in other rows.
    """

    def of_rows(rows: Any) -> tuple[Any, None]:
        x, m = rows
        if len(m) < len(x):
            counts, sums = total(m[0]).reshape(1, 1), jnp.stack([total(one) for one in x])
            products = _product(x, x, dot)
            squares = jnp.stack([products[at, at] for at in range(len(x))])
            alike = counts, sums[:, None], products, squares[:, None]
            return tuple(matrix[None] for matrix in alike), None
        squares = tuple(values * values for values in x)
        pairs = (m, m), (x, m), (x, x), (squares, m)
        return tuple(_product(*pair, dot)[None] for pair in pairs), None

    total = _sum_of(layout)
    dot: Any = functools.partial(jnp.vdot, precision="highest")
    if layout.mesh is None:
        dot = lambda u, v: total(u * v)  # noqa: E731

    if layout.mesh is None:
        return tuple(matrix[0] for matrix in of_rows((x, m))[0])
    return primitives.reduce((x, m), "sum", transform=of_rows, **layout.on_mesh).values


def _product(
    a: tuple[Array, ...], b: tuple[Array, ...], dot: Callable[[Array, Array], Array]
) -> Array:
    """The sum of the products of each column of one side and each of the other."""
    if len(a) > _MOST_PAIRED:
        sides = jnp.stack(a, axis=1), jnp.stack(b, axis=1)
        return jnp.einsum("ni,nj->ij", *sides, precision="highest")
    size = len(a)
    if a is not b:
        return jnp.stack([dot(u, v) for u in a for v in b]).reshape(size, size)
    upper = {(i, j): dot(a[i], a[j]) for i in range(size) for j in range(i, size)}
    whole = [upper[min(i, j), max(i, j)] for i in range(size) for j in range(size)]
    return jnp.stack(whole).reshape(size, size)


_BY_RANK, _RANK_FIRST = "corr: method=", "Use rank() first for 'spearman'."


def is_by_rank(method: object) -> bool:
    """Whether pandas computes a correlation: of ranks, or by a function of the user."""
    return method in ("spearman", "kendall") or callable(method)


def check_method(method: object, caller: str) -> None:
    """Raises unless the method is "pearson"."""
    if is_by_rank(method):
        raise NotImplementedError(
            f"{caller}: method must be 'pearson', got {method!r}. Use rank() first for 'spearman'."
        )
    if method != "pearson":
        raise ValueError(
            f"Unknown method '{method}', expected one of 'kendall', 'spearman', 'pearson', "
            "or callable"
        )


def as_number(column: Column, label: Hashable, num_rows: Count, caller: str) -> Column:
    """The column of real numbers; objects are converted, as in pandas. Raises for others."""
    if column.kind == "object":
        column = of_rows(column, num_rows, lambda values: values.astype("float64"), caller)
    return check_number(column, label, caller)


def check_number(column: Column, label: Hashable, caller: str) -> Column:
    """Returns the column; raises unless it holds real numbers."""
    if column.kind in ("string", "category", "object"):
        raise ValueError(
            f"{caller}: could not convert column {label!r} of {column.dtype_name} to float. "
            "Use numeric_only=True."
        )
    if not column.is_numeric or column.dtype.kind == "c":
        raise TypeError(
            f"{caller}: columns must hold real numbers, got {column.dtype_name} in {label!r}."
        )
    return column


def of_pair(pair: tuple[Column, Column], table: Table, statistic: Statistic) -> Any:
    """A statistic of two columns of numbers, over the rows where both have values."""
    columns = tuple(map(bare, pair))
    matrix = _covariances(columns, table.all_rows, statistic, table.layout, are_common=True)
    if is_traced(matrix):
        return table.unless_lost(matrix[0, 1])
    return np.float64(matrix[0, 1])


class PairsOnHost:
    """The rows of which pandas computes correlations by rank: those of a frame, or groups."""

    def _on_host(self) -> tuple[Any, Callable[[Any], Any]]:
        """The frame or the series to copy, and what pandas makes of the copy."""
        return self, lambda data: data


class FramePairs(PairsOnHost):
    """`corr` and `cov` of the columns of a frame, or of each of its groups."""

    def corr(
        self, method: object = "pearson", min_periods: int = 1, numeric_only: bool = False
    ) -> Any:
        """The correlation of each pair of columns, in each group of a grouped frame.

        Methods other than "pearson" run on the host, outside `jit`.

        Differences from pandas:
            Times raise; pandas takes their integer values. A result without groups has an index
            level for the columns, too.
        """
        if is_by_rank(method):
            how = {"method": method, "min_periods": min_periods, "numeric_only": numeric_only}
            owner, of = self._on_host()
            return by_pandas(owner, _BY_RANK, _RANK_FIRST, lambda data: of(data).corr(**how))
        check_method(method, "corr")
        return self._together("corr", min_periods, 1, numeric_only)

    def cov(self, min_periods: int | None = None, ddof: int = 1, numeric_only: bool = False) -> Any:
        """The covariance of each pair of columns; `ddof` applies only if no value is missing."""
        return self._together("cov", min_periods, ddof, numeric_only)

    def _together(self, op: str, min_periods: object, ddof: int, numeric_only: bool) -> Any:
        raise NotImplementedError


class SeriesPairs(PairsOnHost):
    """`corr` and `cov` of a series, or of each of its groups, and another series."""

    def corr(
        self, other: object, method: object = "pearson", min_periods: int | None = None
    ) -> Any:
        """The correlation with another series, aligned by label; in each group of groups.

        Methods other than "pearson" run on the host, outside `jit`.
        """
        if isinstance(other, SeriesBase) and is_by_rank(method):
            how = {"method": method, "min_periods": min_periods}
            owner, of = self._on_host()
            return by_pandas(
                owner, _BY_RANK, _RANK_FIRST, lambda data: of(data).corr(as_pandas(other), **how)
            )
        check_method(method, "corr")
        return self._with_other(other, Statistic("corr", max(min_periods or 1, 1), 1, False))

    def cov(self, other: object, min_periods: int | None = None, ddof: int = 1) -> Any:
        """The covariance with another series, aligned by label; in each group of groups."""
        return self._with_other(other, Statistic("cov", max(min_periods or 1, 1), ddof, False))

    def _with_other(self, other: object, statistic: Statistic) -> Any:
        raise NotImplementedError


def paired(
    own: Column, label: Hashable, other: object, table: Table, op: str
) -> tuple[Column, Column]:
    """The column of a series and that of another, aligned; raises unless both hold numbers."""
    if not isinstance(other, SeriesBase):
        raise TypeError(f"unsupported type: {type(other)}")
    theirs = as_number(aligned_column(other, table), other._name, table.num_rows, op)
    return as_number(own, label, table.num_rows, op), theirs


class FrameCorrelation(FramePairs, FrameBase):
    """Correlation and covariance of the columns of a frame."""

    def _together(self, op: str, min_periods: Any, ddof: int, numeric_only: bool) -> Any:
        for column, label in zip(self._table.columns, self._labels, strict=True):
            if op == "cov" and column.type.is_time:
                check_number(column, label, op)
        frame: Any = self
        if check_flag(numeric_only, "numeric_only"):
            frame = self._of_numbers()
        table, labels = frame._table, frame._labels
        numbers = [
            as_number(column, label, table.num_rows, op)
            for column, label in zip(table.columns, labels, strict=True)
        ]
        size = len(labels)
        capacity = ONE_DEVICE.capacity_for(size)
        columns: Any = ()
        if size:
            statistic = Statistic(op, max(min_periods or 1, 1), ddof, True)
            columns = tuple(map(bare, numbers))
            num_rows, layout = table.all_rows, table.layout
            is_whole = not is_traced(columns, num_rows) and _are_finite(columns, num_rows, layout)
            matrix = _covariances(columns, num_rows, statistic, layout, are_common=bool(is_whole))
            xp = jnp if is_traced(matrix) else np
            columns = xp.pad(xp.asarray(matrix), ((0, capacity - size), (0, 0))).T
        index = index_from(narrowed(labels.index), capacity, ONE_DEVICE)
        columns = tuple(Column(jnp.asarray(column)) for column in columns)
        result = Table(columns, index, as_count(size), table.needed)
        return self._frame_of(result, labels)


class SeriesCorrelation(SeriesPairs, SeriesBase):
    """Correlation and covariance of two series."""

    def autocorr(self, lag: int = 1) -> Any:
        """The correlation with the values `lag` rows before.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> float(JaxSeries([1.0, 2.0, 3.0]).autocorr())
            1.0
        """
        of: Any = self
        return of.corr(of.shift(lag))

    def _with_other(self, other: object, statistic: Statistic) -> Any:
        table = self._table
        return of_pair(paired(self._only, self._name, other, table, statistic.op), table, statistic)
