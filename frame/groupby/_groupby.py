# SPDX-License-Identifier: Apache-2.0
"""`groupby`: the classes it returns, and the methods that return them."""

from typing import Any

from ..table._ndframe import FrameBase, SeriesBase
from ..table._unsupported import lacking
from ._access import GroupByAccess
from ._base import Grouped, Options, label_of
from ._correlation import FrameGroupByCorrelation, SeriesGroupByCorrelation
from ._describe import GroupByDescription
from ._grouper import Grouping, as_groupings
from ._reductions import GroupByReductions
from ._transform import GroupByTransformation
from ._transformations import GroupByRows
from ._value_counts import FrameGroupByValueCounts, SeriesGroupByValueCounts
from ._windows import GroupByWindows


class SeriesGroupBy(
    SeriesGroupByValueCounts,
    SeriesGroupByCorrelation,
    GroupByTransformation,
    GroupByReductions,
    GroupByDescription,
    GroupByRows,
    GroupByWindows,
    GroupByAccess,
):
    """A grouped series: what `series.groupby` and `frame.groupby(...)[label]` return."""

    _is_series = True

    def __getattr__(self, name: str) -> Any:
        raise _absent(self, name)


class FrameGroupBy(
    FrameGroupByValueCounts,
    FrameGroupByCorrelation,
    GroupByTransformation,
    GroupByReductions,
    GroupByDescription,
    GroupByRows,
    GroupByWindows,
    GroupByAccess,
):
    """A grouped frame: what `frame.groupby` returns."""

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple) and len(key) > 1:
            raise ValueError(
                "Cannot subset columns with a tuple with more than one element. Use a list instead."
            )
        frame: Any = self._source
        if isinstance(key, list):
            if absent := frame._labels.absent(key):
                raise absent
            positions = [position for label in key for position in frame._labels.positions(label)]
            return FrameGroupBy(frame, frame._labels.take(positions), positions, self._grouped)
        if absent := frame._labels.absent([key]):
            raise absent
        position = frame._labels.position(key)
        return SeriesGroupBy(frame, frame._labels.take([position]), [position], self._grouped)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name in self._source._labels:  # pyright: ignore
            return self[name]
        raise _absent(self, name)


def _absent(groups: Any, name: str) -> AttributeError | NotImplementedError:
    kind = type(groups).__name__
    return lacking(kind, name) or AttributeError(f"{kind!r} object has no attribute {name!r}")


def _as_options(sort: Any, dropna: Any, as_index: Any, observed: Any, capacity: Any) -> Options:
    if capacity is not None and (not isinstance(capacity, int) or capacity < 1):
        raise ValueError(f"groupby: capacity must be a positive integer, got {capacity!r}.")
    return Options(bool(sort), bool(dropna), bool(as_index), bool(observed), capacity)


def _is_list_of_keys(by: Any, level: Any, keys: list[Grouping]) -> bool:
    given = level if by is None else by
    return isinstance(given, (list, tuple)) and len(given) == len(keys)


class FrameGrouping(FrameBase):
    """The `groupby` method of a frame."""

    def groupby(
        self,
        by: Any = None,
        level: Any = None,
        *,
        as_index: bool = True,
        sort: bool = True,
        group_keys: bool = True,
        observed: bool = True,
        dropna: bool = True,
        capacity: int | None = None,
    ) -> FrameGroupBy:
        """Groups rows by columns, for computations on each group.

        Args:
            by: the label of a column, a series of the same length, or a list of these.
            level: levels of the index to group by, instead of `by`.
            as_index: label the rows of results by key; otherwise keys become the first columns.
            sort: order groups by key; otherwise by first row.
            group_keys: ignored; accepted for compatibility.
            observed: leave out categories without rows.
            dropna: leave out rows with a missing key.
            capacity: the group capacity of a result inside `jit`; by default that of the rows.

        Differences from pandas:
            `by` must not be a function or a dict. `apply` of Python functions is not supported:
            see `agg` and `transform`.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> frame = JaxFrame({"k": [2, 1, 2], "x": [1.0, 2.0, 4.0]})
            >>> frame.groupby("k").mean().to_pandas().x.to_dict()
            {1: 2.0, 2: 2.5}
        """
        del group_keys
        options = _as_options(sort, dropna, as_index, observed, capacity)
        keys = as_groupings(self, self._labels, by, level)
        taken = {key.position for key in keys}
        positions = [position for position in range(len(self._labels)) if position not in taken]
        grouped = Grouped(self._table, keys, options, _is_list_of_keys(by, level, keys))
        shown = range(len(self._labels))
        return FrameGroupBy(self, self._labels.take(positions), positions, grouped, shown)


class SeriesGrouping(SeriesBase):
    """The `groupby` method of a series."""

    def groupby(
        self,
        by: Any = None,
        level: Any = None,
        *,
        as_index: bool = True,
        sort: bool = True,
        group_keys: bool = True,
        observed: bool = True,
        dropna: bool = True,
        capacity: int | None = None,
    ) -> SeriesGroupBy:
        """Groups values by another series, an array, or levels of the index.

        See `JaxFrame.groupby`.
        """
        del group_keys
        if not as_index:
            raise TypeError("as_index=False only valid with DataFrame")
        options = _as_options(sort, dropna, as_index, observed, capacity)
        keys = as_groupings(self, None, by, level)
        grouped = Grouped(self._table, keys, options, _is_list_of_keys(by, level, keys))
        return SeriesGroupBy(self, label_of(self._name), [0], grouped)
