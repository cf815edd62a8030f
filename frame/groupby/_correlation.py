# SPDX-License-Identifier: Apache-2.0
"""`corr` and `cov` of grouped frames and series."""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..align._align import aligned_column
from ..table._arguments import check_flag
from ..table._column import Array, Column
from ..table._correlation_checks import check_method, check_number
from ..table._dtypes import narrowed
from ..table._from_host import index_from
from ..table._layout import ONE_DEVICE, Layout
from ..table._ndframe import SeriesBase
from ..table._row_index import RANGE, RowIndex
from ..table._table import Table, as_count, either_needed
from ..table._take import position, take_columns
from ._base import GroupByBase
from ._grouped_column import GroupedRows
from ._segment_reductions import distances, of_groups


class Statistic(NamedTuple):
    """What is computed of pairs of columns. Static under `jit`.

    Attributes:
        op: "corr" or "cov".
        min_periods: fewer rows have no result.
        ddof: subtracted from the number of rows in the divisor.
        is_of_frame: as in pandas, frames ignore infinities, and for "cov" they do so only in
            groups with a missing value, where they ignore `ddof`, too.
    """

    op: str
    min_periods: int
    ddof: int
    is_of_frame: bool


class PairSums(NamedTuple):
    """Sums over the rows of each segment where both columns have a value."""

    counts: Array
    products: Array
    first_squares: Array
    second_squares: Array


class _Pairs:
    """The columns of a frame with their segment ids; distances from means are computed once."""

    def __init__(
        self,
        arrays: Sequence[tuple[Array, Array | None]],
        segment_ids: Array,
        num_segments: int,
        layout: Layout,
    ):
        self.columns = [
            GroupedRows(data, valid, "number", segment_ids, num_segments, layout)
            for data, valid in arrays
        ]
        self._distances: dict[tuple[int, frozenset[int]], tuple[GroupedRows, Array]] = {}

    def rows_of(self, at: int, other: int, finite: bool) -> tuple[GroupedRows, Array]:
        """A column in the rows where another has a value too, and the distances from its mean."""
        masking = frozenset(n for n in (at, other) if self.columns[n].can_miss)
        if (at, masking) not in self._distances:
            column = self.columns[at]
            present = jnp.ones(column.segment_ids.shape, jnp.bool_)
            for number in masking:
                present = present & self._is_present(number, finite)
            rows = GroupedRows(
                column.data,
                present,
                "number",
                column.segment_ids,
                column.num_segments,
                column.layout,
            )
            self._distances[at, masking] = rows, distances(rows)
        return self._distances[at, masking]

    def _is_present(self, at: int, finite: bool) -> Array:
        column = self.columns[at]
        return ~column.missing & jnp.isfinite(column.data) if finite else ~column.missing

    def sums(self, at: int, other: int, finite: bool) -> PairSums:
        """The sums of a pair of columns."""
        rows, x = self.rows_of(at, other, finite)
        _, y = self.rows_of(other, at, finite)
        total = functools.partial(rows.reduce, "sum", ids=rows.present)
        squares = total(x=x * x)
        if at == other:
            return PairSums(rows.counts, squares, squares, squares)
        return PairSums(rows.counts, total(x=x * y), squares, total(x=y * y))


@functools.partial(jax.jit, static_argnums=(3, 4, 5, 6))
def _of_pairs(
    arrays: Sequence[tuple[Array, Array | None]],
    segment_ids: Array,
    segments: Array | None,
    pairs: tuple[tuple[int, int], ...],
    statistic: Statistic,
    num_segments: int,
    layout: Layout,
) -> list[Array]:
    """The statistic of each pair of columns, by group."""
    columns = _Pairs(arrays, segment_ids, num_segments, layout)
    whole = None
    if statistic.is_of_frame and statistic.op == "cov":
        sizes = columns.columns[0].reduce("count", None, segment_ids)
        whole = (
            sizes,
            functools.reduce(
                jnp.logical_and, (column.counts == sizes for column in columns.columns)
            ),
        )
    results = []
    for at, other in pairs:
        sums = columns.sums(at, other, statistic.is_of_frame)
        if statistic.op == "cov":
            result = _covariance(sums, statistic, whole)
        else:
            result = _correlation(sums, statistic, at == other)
        results.append(of_groups(result, segments, layout))
    return results


def _covariance(sums: PairSums, statistic: Statistic, whole: tuple[Array, Array] | None) -> Array:
    products = sums.products
    counts, ddof = sums.counts.astype(products.dtype), products.dtype.type(statistic.ddof)
    nan = products.dtype.type(np.nan)
    is_defined = sums.counts >= np.int32(statistic.min_periods)
    if whole is not None:
        sizes, is_whole = whole
        ddof = jnp.where(is_whole, ddof, products.dtype.type(1))
        # An infinity was left out, which counts in a group without missing values.
        is_defined = is_defined & ~(is_whole & (sums.counts < sizes))
    divisor = counts - ddof
    is_defined = is_defined & (divisor > 0)
    return jnp.where(is_defined, products / jnp.where(is_defined, divisor, 1), nan)


def _correlation(sums: PairSums, statistic: Statistic, is_own: bool) -> Array:
    products = sums.products
    scale = sums.first_squares * sums.second_squares
    is_defined = (sums.counts >= np.int32(statistic.min_periods)) & (scale > 0)
    if is_own:
        result = jnp.ones_like(products)
    else:
        result = jnp.clip(products / jnp.sqrt(jnp.where(is_defined, scale, 1)), -1, 1)
    return jnp.where(is_defined, result, products.dtype.type(np.nan))


class GroupByPairs(GroupByBase):
    """Shared implementation of corr and cov."""

    def _statistics(
        self, columns: Sequence[Column], pairs: tuple[tuple[int, int], ...], statistic: Statistic
    ) -> list[Array]:
        groups = self._groups
        if groups.may_be_empty:
            raise NotImplementedError(f"{statistic.op}: groupby(observed=False). Use True.")
        return _of_pairs(
            tuple(column.arrays for column in columns),
            groups.segment_ids,
            groups.segments,
            pairs,
            statistic,
            groups.num_segments,
            groups.layout,
        )


class FrameGroupByCorrelation(GroupByPairs):
    """How the columns of each group of a frame vary together."""

    def corr(
        self, method: Any = "pearson", min_periods: int = 1, numeric_only: bool = False
    ) -> Any:
        """The correlation of each pair of columns in each group.

        Args:
            method: must be "pearson".
            min_periods: pairs with fewer values in a group are NaN.
            numeric_only: leave out other columns.

        Differences from pandas:
            Times are not numbers. Without groups the index has a level for the columns, too.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> frame = JaxFrame({"k": [1, 1, 1], "x": [1, 2, 3], "y": [5, 4, 3]})
            >>> frame.groupby("k").corr().y.tolist()
            [-1.0, 1.0]
        """
        check_method(method, "corr")
        return self._together("corr", min_periods, 1, numeric_only)

    def cov(self, min_periods: int | None = None, ddof: int = 1, numeric_only: bool = False) -> Any:
        """The covariance of each pair of columns in each group.

        Args:
            min_periods: pairs with fewer values in a group are NaN.
            ddof: subtracted from the number of rows in the divisor, in groups without missing
                values; 1 in others.
            numeric_only: leave out other columns.

        Differences from pandas:
            As of `corr`.
        """
        return self._together("cov", min_periods, ddof, numeric_only)

    def _together(self, op: str, min_periods: Any, ddof: int, numeric_only: bool) -> Any:
        grouped = self._numeric() if check_flag(numeric_only, "numeric_only") else self
        columns = [
            check_number(self._table.columns[at], label, op)
            for at, label in zip(grouped._positions, grouped._labels, strict=True)
        ]
        size = len(columns)
        if not size:
            table = Table((), RANGE, as_count(0))
            return self._source._make_frame((), grouped._labels, table)
        pairs = tuple((i, j) for i in range(size) for j in range(i + 1))
        statistic = Statistic(op, max(min_periods or 1, 1), ddof, True)
        found = dict(zip(pairs, self._statistics(columns, pairs, statistic), strict=True))
        matrix = [[found[max(i, j), min(i, j)] for i in range(size)] for j in range(size)]
        groups = self._groups
        capacity = groups.layout.capacity_for(groups.capacity * size)
        data = _interleaved(matrix, capacity, groups.layout)
        index = self._index_of_pairs(grouped, size, capacity)
        needed = either_needed(self._table.needed, groups.needed)
        count = groups.count * np.int32(size)
        table = Table((), index, count, needed, groups.layout)
        return self._source._make_frame(list(map(Column, data)), grouped._labels, table)

    def _index_of_pairs(self, grouped: GroupByBase, size: int, capacity: int) -> RowIndex:
        """The keys of each group, repeated for each column, and the labels of the columns."""
        groups, labels = self._groups, grouped._labels.index
        row_ids = position(capacity, groups.layout)
        levels, names = (), ()
        if self._options.as_index:
            levels = take_columns(groups.keys, row_ids // np.int32(size), groups.layout)
            names = tuple(key.name for key in self._grouped.keys)
        short = index_from(narrowed(labels), ONE_DEVICE.capacity_for(size), ONE_DEVICE)
        own = short.columns(ONE_DEVICE.capacity_for(size), ONE_DEVICE)
        levels += take_columns(own, row_ids % np.int32(size), ONE_DEVICE)
        return RowIndex(levels, (*names, *labels.names))


@functools.partial(jax.jit, static_argnums=(1, 2))
def _interleaved(matrix: list[list[Array]], capacity: int, layout: Layout) -> list[Array]:
    """One column for each column of the matrices of groups, one below the other."""
    columns = []
    for rows in matrix:
        column = jnp.stack(rows, axis=1).reshape(-1)
        columns.append(layout.constrain(jnp.pad(column, (0, capacity - column.shape[0]))))
    return columns


class SeriesGroupByCorrelation(GroupByPairs):
    """How each group of a series varies with another series."""

    def corr(self, other: Any, method: Any = "pearson", min_periods: int | None = None) -> Any:
        """The correlation with another series in each group, row by row of the same label.

        Args:
            other: a series.
            method: must be "pearson".
            min_periods: groups with fewer pairs are NaN.
        """
        check_method(method, "corr")
        return self._with_other("corr", other, min_periods, 1)

    def cov(self, other: Any, min_periods: int | None = None, ddof: int = 1) -> Any:
        """The covariance with another series in each group, row by row of the same label.

        Args:
            other: a series.
            min_periods: groups with fewer pairs are NaN.
            ddof: subtracted from the number of pairs in the divisor.
        """
        return self._with_other("cov", other, min_periods, ddof)

    def _with_other(self, op: str, other: Any, min_periods: Any, ddof: int) -> Any:
        if not isinstance(other, SeriesBase):
            raise TypeError(f"unsupported type: {type(other)}")
        own = check_number(self._table.columns[self._positions[0]], self._labels[0], op)
        second = check_number(aligned_column(other, self._table), other._name, op)
        statistic = Statistic(op, max(min_periods or 1, 1), ddof, False)
        (found,) = self._statistics([own, second], ((0, 1),), statistic)
        return self._result([Column(found)])
