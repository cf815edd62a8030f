# SPDX-License-Identifier: Apache-2.0
"""`groupby`: the classes it returns, and the methods that return them."""

from typing import Any, Generic, TypeVar

import numpy as np
import pandas as pd

from ..table._column_labels import Labels
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._types import LabelOrLabels, LevelOrLevels
from ..table._unsupported import lacking
from ._access import GroupByAccess
from ._agg import GroupByAggregation
from ._base import Grouped
from ._correlation import FrameGroupByCorrelation, SeriesGroupByCorrelation
from ._describe import GroupByDescription
from ._grouped_column import Options
from ._grouper import as_groupings
from ._resample import GroupByResample
from ._sample import GroupBySampling
from ._value_counts import FrameGroupByValueCounts, SeriesGroupByValueCounts
from ._values_of_groups import SeriesGroupByValues
from ._windows import GroupByWindows


class _GroupBy(
    GroupByAggregation,
    GroupByDescription,
    GroupByResample,
    GroupBySampling,
    GroupByWindows,
    GroupByAccess,
):
    """The methods that grouped frames and series share."""


class SeriesGroupBy(
    SeriesGroupByValueCounts,
    SeriesGroupByCorrelation,
    SeriesGroupByValues,
    _GroupBy,
):
    """A grouped series: what `series.groupby` and `frame.groupby(...)[label]` return."""

    _is_series = True

    def __getattr__(self, name: str) -> Any:
        raise _absent(self, name)


class FrameGroupBy(FrameGroupByValueCounts, FrameGroupByCorrelation, _GroupBy):
    """A grouped frame: what `frame.groupby` returns."""

    def __getitem__(self, key: object) -> Any:
        if isinstance(key, tuple) and len(key) > 1:
            raise ValueError(
                "Cannot subset columns with a tuple with more than one element. Use a list instead."
            )
        if isinstance(key, (pd.Index, pd.Series, np.ndarray)):
            key = key.tolist()
        frame: Any = self._source
        if absent := frame._labels.absent(key if isinstance(key, list) else [key]):
            raise absent
        if isinstance(key, list):
            positions = [position for label in key for position in frame._labels.positions(label)]
            return FrameGroupBy(frame, frame._labels.take(positions), positions, self._grouped)
        position = frame._labels.position(key)
        return SeriesGroupBy(frame, frame._labels.take([position]), [position], self._grouped)

    def __getattr__(self, name: str) -> Any:
        # Groups that `copy` has just made have no frame yet.
        if name in getattr(self.__dict__.get("_source"), "_labels", ()):
            return self[name]
        raise _absent(self, name)


def _absent(groups: object, name: str) -> AttributeError | NotImplementedError:
    kind = type(groups).__name__
    return lacking(kind, name) or AttributeError(f"{kind!r} object has no attribute {name!r}")


def _grouped(
    of: NDFrame, labels: Labels | None, by: LabelOrLabels, level: LevelOrLevels, options: Options
) -> Grouped:
    capacity = options.capacity
    if capacity is not None and (not isinstance(capacity, int) or capacity < 1):
        raise ValueError(f"groupby: capacity must be a positive integer, got {capacity!r}.")
    keys = as_groupings(of, labels, by, level)
    given = level if by is None else by
    is_list = isinstance(given, (list, tuple)) and len(given) == len(keys)
    return Grouped(of._table, keys, options, is_list)


def _only_bins(by: Any) -> Any:
    """The Grouper of pandas that bins times and is the only key; None for other keys."""
    if isinstance(by, list) and len(by) == 1:
        (by,) = by
    return by if isinstance(by, pd.Grouper) and getattr(by, "freq", None) is not None else None


def _binned(source: Any, by: Any) -> Any:
    """The rows by bins of time, empty ones too: as they are resampled."""
    how = {"closed": by.closed, "label": by.label, "origin": by.origin, "offset": by.offset}
    if by.key is not None:
        how["on"] = by.key
    return source.resample(by.freq, level=by.level, **how)._as_groups()


# The class of the groups: that of a frame, or of a series.
Groups = TypeVar("Groups")


class _Grouping(NDFrame, Generic[Groups]):
    """The `groupby` method of frames and series."""

    def groupby(
        self,
        by: LabelOrLabels = None,
        level: LevelOrLevels = None,
        *,
        as_index: bool = True,
        sort: bool = True,
        group_keys: bool = True,
        observed: bool = True,
        dropna: bool = True,
        capacity: int | None = None,
    ) -> Groups:
        """Groups rows by columns or by other values, for computations on each group.

        Args:
            by: the label of a column, a series of the same length, a function or a dict of the
                labels of rows, a `Grouper` of pandas, or a list of these. Functions, dicts and
                bins of time run on the host. Values of a series are not grouped by labels of
                columns. A single `Grouper` has its own `sort` and `dropna`.
            level: levels of the index to group by, instead of `by`.
            as_index: label the rows of results by key; otherwise keys become the first columns.
                Groups of a series need it, and those of a single `Grouper` of bins of time.
            sort: order groups by key; otherwise by first row.
            group_keys: label the rows of `take`, `nlargest`, `nsmallest`, `corr`, `cov` and
                `resample` by key, before their own labels. Other methods ignore it.
            observed: leave out categories without rows.
            dropna: leave out rows with a missing key.
            capacity: the group capacity of a result inside `jit`; by default that of the rows.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> frame = JaxFrame({"k": [2, 1, 2], "x": [1.0, 2.0, 4.0]})
            >>> frame.groupby("k").mean().to_pandas().x.to_dict()
            {1: 2.0, 2: 2.5}
        """
        self._check_as_index(as_index)
        bins = _only_bins(by)
        if bins is not None:
            if not as_index:
                raise NotImplementedError(
                    "groupby: a single Grouper with freq= labels results by bin, got "
                    "as_index=False. Leave it out, and call reset_index() on the result."
                )
            return _binned(self, bins)
        if isinstance(by, pd.Grouper):
            # As in pandas, a single one has its own flags.
            sort, dropna = getattr(by, "sort", sort), getattr(by, "dropna", dropna)
        flags = (bool(sort), bool(dropna), bool(as_index), bool(observed))
        return self._groups(by, level, Options(*flags, capacity, bool(group_keys)))

    def _check_as_index(self, as_index: bool) -> None:
        """Raises if rows of results have nothing but their keys for labels."""

    def _groups(self, by: LabelOrLabels, level: LevelOrLevels, options: Options) -> Groups:
        raise NotImplementedError


class FrameGrouping(FrameBase, _Grouping[FrameGroupBy]):
    """The `groupby` method of a frame."""

    def _groups(self, by: LabelOrLabels, level: LevelOrLevels, options: Options) -> FrameGroupBy:
        grouped = _grouped(self, self._labels, by, level, options)
        taken, shown = {key.position for key in grouped.keys}, range(len(self._labels))
        positions = [position for position in shown if position not in taken]
        return FrameGroupBy(self, self._labels.take(positions), positions, grouped, shown)


class SeriesGrouping(SeriesBase, _Grouping[SeriesGroupBy]):
    """The `groupby` method of a series."""

    def _check_as_index(self, as_index: bool) -> None:
        if not as_index:
            raise TypeError("as_index=False only valid with DataFrame")

    def _groups(self, by: LabelOrLabels, level: LevelOrLevels, options: Options) -> SeriesGroupBy:
        grouped = _grouped(self, None, by, level, options)
        return SeriesGroupBy(self, Labels.of([self._name]), [0], grouped)
