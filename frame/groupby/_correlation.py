# SPDX-License-Identifier: Apache-2.0
"""`corr` and `cov` of grouped frames and series."""

import functools
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...primitives.staging import tiered
from ..align._align import aligned_column
from ..reductions._corr import (
    FramePairs,
    PairsOnHost,
    SeriesPairs,
    Statistic,
    as_number,
    check_method,
    is_by_rank,
    paired,
)
from ..table._arguments import check_flag
from ..table._by_pandas import by_pandas
from ..table._column import Array, Column, bare
from ..table._column_labels import Labels
from ..table._dtypes import narrowed, wide
from ..table._from_host import index_from
from ..table._layout import ONE_DEVICE, Layout
from ..table._ndframe import FrameBase, SeriesBase
from ..table._row_index import RANGE, RowIndex
from ..table._table import Table, as_count, either_needed
from ..table._take import look_up_rows, position, take_columns
from ..table._user_functions import as_pandas
from ._base import GroupByBase
from ._by_host import groups_on_host
from ._grouped_column import Segments
from ._grouped_rows import GroupedRows
from ._in_step import Reducing, in_step
from ._segment_reductions import distances

Pairs = tuple[tuple[int, int], ...]


@functools.partial(tiered, static_argnums=(2, 3))
def _of_pairs(
    columns: Sequence[Column], segments: Segments, pairs: Pairs, statistic: Statistic
) -> list[Array]:
    """The statistic of each pair of columns, by group."""
    own = [GroupedRows(column, segments) for column in columns]
    is_of_frame_cov = statistic.is_of_frame and statistic.op == "cov"

    def where_present(at: int, masks: frozenset[int]) -> GroupedRows:
        """A column in the rows where some columns have values."""
        present = jnp.ones(segments.ids.shape, jnp.bool_)
        for rows in (own[number] for number in masks):
            present = present & ~rows.missing
            present = present & jnp.isfinite(rows.data) if statistic.is_of_frame else present
        return GroupedRows(Column(own[at].data, present), segments)

    masks_of = {
        pair: frozenset(number for number in pair if own[number].can_miss) for pair in pairs
    }
    rows_of = {
        key: where_present(*key)
        for key in dict.fromkeys((at, masks_of[pair]) for pair in pairs for at in pair)
    }
    found = in_step(map(distances, rows_of.values()), segments)
    distances_of = dict(zip(rows_of, found, strict=True))

    def of_pair(at: int, other: int) -> Reducing:
        masks = masks_of[at, other]
        rows, x, y = rows_of[at, masks], distances_of[at, masks], distances_of[other, masks]
        products = yield rows.of_present("sum", x * y)
        counts = yield from rows.counted()
        if statistic.op != "cov":
            squares = yield rows.of_present("sum", x * x)
            others = squares if at == other else (yield rows.of_present("sum", y * y))
            return statistic.correlation(counts, products, squares * others, at == other)
        if not is_of_frame_cov:
            return statistic.covariance(counts, products, True)
        result = statistic.covariance(counts, products, is_whole)
        # An infinity was left out, which counts in a group without missing values.
        is_infinite = is_whole & (counts < (yield from rows.sizes()))
        return jnp.where(is_infinite, jnp.nan, result)

    is_whole: Any = True
    if is_of_frame_cov:
        flags = in_step((rows.whole() for rows in own), segments)
        is_whole = functools.reduce(jnp.logical_and, flags)
    results = in_step((of_pair(*pair) for pair in pairs), segments)
    return [segments.select_groups(result) for result in results]


class GroupByPairs(PairsOnHost, GroupByBase):
    """Shared implementation of corr and cov."""

    def _on_host(self) -> tuple[Any, Callable[[Any], Any]]:
        return self._source, lambda _: groups_on_host(self)

    def _statistics(
        self, columns: Sequence[Column], pairs: Pairs, statistic: Statistic
    ) -> list[Array]:
        return _of_pairs(tuple(map(bare, columns)), self._groups.segments, pairs, statistic)


def _numbers(
    columns: Iterable[Column], labels: Iterable[Hashable], table: Table, op: str
) -> list[Column]:
    """Columns of real numbers; objects are converted, as in pandas. Raises for others."""
    pairs = zip(columns, labels, strict=True)
    return [as_number(column, label, table.num_rows, op) for column, label in pairs]


class FrameGroupByCorrelation(FramePairs, GroupByPairs):
    """Correlation and covariance of the columns of each group."""

    def corrwith(
        self,
        other: object,
        drop: bool = False,
        method: object = "pearson",
        numeric_only: bool = False,
    ) -> Any:
        """The correlation of each column with another series, or frame, in each group.

        Rows are aligned by label, which inside `jit` must be the same in both.

        Args:
            other: a series, or a frame, whose columns go with those of the same label.
            drop: whether to leave out labels of only one of the frames; they give NaN by default.
            method: others than "pearson" run on the host, outside `jit`.
            numeric_only: whether to leave out other columns.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> frame = JaxFrame({"k": [1, 1, 2, 2], "x": [1, 2, 3, 4], "y": [1, 2, 4, 3]})
            >>> frame.groupby("k").corrwith(frame.y).x.tolist()
            [1.0, -1.0]
        """
        if is_by_rank(method):
            how = {"drop": drop, "method": method, "numeric_only": numeric_only}
            return by_pandas(
                self._source, "corrwith: method=", "Use rank() first for 'spearman'.",
                lambda _: groups_on_host(self).corrwith(as_pandas(other), **how),
            )  # fmt: skip
        check_method(method, "corrwith")
        is_numeric_only = check_flag(numeric_only, "numeric_only")
        grouped = self._numeric() if is_numeric_only else self
        theirs: Any = other
        if isinstance(other, SeriesBase):
            labels = list(grouped._labels)
            others = [aligned_column(other, self._table)] * len(labels)
        elif isinstance(other, FrameBase):
            theirs = theirs.select_dtypes(["number", "bool"]) if is_numeric_only else theirs
            labels = [label for label in grouped._labels if label in theirs._labels]
            others = [aligned_column(theirs[label], self._table) for label in labels]
        else:
            raise TypeError(
                f"corrwith: other must be a JaxFrame or a JaxSeries, got {type(other).__name__}."
            )
        own = [grouped._columns[grouped._labels.position(label)] for label in labels]
        own = _numbers(own, labels, self._table, "corrwith")
        others = _numbers(others, labels, self._table, "corrwith")
        if isinstance(other, FrameBase):
            # As in pandas, infinities of the right frame are missing.
            left, right = (
                self._source._make_frame(columns, Labels.of(labels, [None]))
                for columns in (own, others)
            )
            left = left + right * 0
            right = right + left * 0
            own, others = (list(frame._table.columns) for frame in (left, right))
        pairs = tuple((at, at + len(own)) for at in range(len(own)))
        statistic = Statistic("corr", 1, 1, False)
        found = [Column(x) for x in self._statistics([*own, *others], pairs, statistic)]
        shown = grouped._labels.index.take([grouped._labels.position(label) for label in labels])
        if isinstance(other, FrameBase) and not drop:
            every = grouped._labels.index.union(theirs.columns)
            rest = every.difference(shown)
            groups = self._groups
            gaps = groups.layout.place(np.full(groups.capacity, np.nan, wide(np.float64)))
            found += [Column(gaps)] * len(rest)
            shown = shown.append(rest) if len(rest) else shown
        return self._one_each(found, Labels(shown))

    def _together(self, op: str, min_periods: Any, ddof: int, numeric_only: bool) -> Any:
        grouped = self._numeric() if check_flag(numeric_only, "numeric_only") else self
        columns = _numbers(grouped._columns, grouped._labels, self._table, op)
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
        group_ids, places = _pairs_of(capacity, size, groups.layout)
        levels, names = (), ()
        if self._options.adds_keys:
            levels = take_columns(groups.keys, group_ids, groups.layout)
            names = self._grouped.key_names
        capacity_of_labels = ONE_DEVICE.capacity_for(size)
        short = index_from(narrowed(labels), capacity_of_labels, ONE_DEVICE)
        own = short.columns(capacity_of_labels, ONE_DEVICE)
        levels += look_up_rows(own, places, groups.layout)
        return RowIndex(levels, (*names, *labels.names))


@functools.partial(tiered, static_argnums=(0, 1, 2))
def _pairs_of(capacity: int, size: int, layout: Layout) -> tuple[Array, Array]:
    """The group of each row of the matrices, and its place in it."""
    row_ids = position(capacity, layout)
    return row_ids // np.int32(size), row_ids % np.int32(size)


@functools.partial(tiered, static_argnums=(1, 2))
def _interleaved(matrix: list[list[Array]], capacity: int, layout: Layout) -> list[Array]:
    """One column for each column of the groups' matrices, in which groups follow each other."""
    columns = [jnp.stack(rows, axis=1).reshape(-1) for rows in matrix]
    return [layout.constrain(jnp.pad(x, (0, capacity - x.shape[0]))) for x in columns]


class SeriesGroupByCorrelation(SeriesPairs, GroupByPairs):
    """Correlation and covariance of each group of a series and another series."""

    def _with_other(self, other: object, statistic: Statistic) -> Any:
        (own,), (label,) = self._columns, self._labels
        pair = paired(own, label, other, self._table, statistic.op)
        (found,) = self._statistics(pair, ((0, 1),), statistic)
        return self._result([Column(found)])
