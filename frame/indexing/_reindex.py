# SPDX-License-Identifier: Apache-2.0
"""`reindex`, `reindex_like`, `align` and `combine_first`: rows and columns of given labels."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from ..align._align import in_capacity_of, positions_of_labels, same_labels
from ..align._as_column import as_column
from ..align._outer_align import align_tables
from ..mapping._choices import choose_scalar
from ..table._arguments import axis_number
from ..table._column import Array, Column, in_dtype, present_rows
from ..table._column_labels import Labels
from ..table._dtypes import narrowed
from ..table._from_host import index_from
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._row_index import RowIndex
from ..table._table import Table, as_count
from ..table._take import settled, take_columns
from ..table._tracing import answered_at_once, is_traced
from ..table._types import Axis, LevelOrLevels
from ..table._user_functions import as_pandas
from ._combine_first import (
    are_mixed,
    check_distinct_labels,
    dtypes_while_aligned,
    filled_from,
    has_no_rows,
    has_nothing,
    is_whole,
    may_be_kept,
    numbers_of_categories,
    rows_of,
)


class Nearest(NamedTuple):
    """Which row stands for a label that is absent; see `reindex` of pandas.

    Attributes:
        method: "ffill" or "pad", "bfill" or "backfill", or "nearest"; None for no row.
        limit: the most labels in a row that one row stands for.
        tolerance: the greatest distance of the labels.
    """

    method: Any = None
    limit: int | None = None
    tolerance: Any = None


@answered_at_once
def with_labels(
    table: Table,
    labels: pd.Index,
    fill_values: Sequence[Any],
    caller: str,
    nearest: Nearest = Nearest(),  # noqa: B008 (it is immutable)
) -> Table:
    """The rows of given labels; absent labels give a fill value for each column.

    Args:
        table: the rows.
        labels: the labels of the result.
        fill_values: a value for each column, or a missing one.
        caller: the name of the method, for errors.
        nearest: which row stands for an absent label.

    Raises:
        ValueError: labels of the table are not distinct, or, with a method, not in order.
    """
    if is_traced(table.index, table.num_rows):
        raise NotImplementedError(
            f"{caller}: the labels of rows are not known inside jit. Merge with a frame of the "
            "labels."
        )
    layout, num_rows = table.layout, as_count(len(labels))
    index = index_from(narrowed(labels), layout.capacity_for(len(labels)), layout)
    target = Table((), index, num_rows, layout=layout)
    if nearest.method is None and not _are_texts_of_times(labels, table.index):
        row_ids = positions_of_labels(target, table)
    else:
        own = table.index.to_pandas(table.num_rows_on_host)
        if not own.is_unique:
            raise ValueError("cannot reindex on an axis with duplicate labels")
        found = np.full(target.capacity, -1, np.int32)
        found[: len(labels)] = own.get_indexer(labels, *nearest)
        row_ids = layout.place(found)
    return rows_or_fills(table, row_ids, target, fill_values, caller)


def _are_texts_of_times(labels: pd.Index, index: RowIndex) -> bool:
    """Whether labels are strings or objects that pandas reads as times or periods of an index."""
    if index.num_levels > 1 or index.is_range or labels.nlevels > 1:
        return False
    (level,) = index.levels
    is_read = level.type.is_time or level.kind == "period"
    return is_read and (labels.dtype == object or isinstance(labels.dtype, pd.StringDtype))


def _with_levels_of(own: Any, labels: pd.Index) -> pd.Index:
    """Labels of a list with the levels of the index that has all of them, as in pandas."""
    if not own.is_unique:
        return labels
    positions = own.get_indexer(labels)
    return own.take(positions) if len(labels) and (positions >= 0).all() else labels


def rows_or_fills(
    table: Table, row_ids: Array, target: Table, fill_values: Sequence[Any], caller: str
) -> Table:
    """The rows at some positions; -1 gives a fill value for each column.

    The labels and the number of rows are those of `target`.
    """
    columns = []
    has_row = None
    for column, value in zip(table.columns, fill_values, strict=True):
        is_null = pd.api.types.is_scalar(value) and pd.isna(value)
        is_filled = not is_null or (column.kind == "object" and (value is pd.NA or value is pd.NaT))
        (one,) = take_columns([column], row_ids, table.layout, holes=not is_filled)
        if is_filled:
            has_row = present_rows(row_ids, None, "code") if has_row is None else has_row
            one = choose_scalar(has_row, one, value, target, caller)
        columns.append(settled(one, target.num_rows))
    return table.replace(columns=tuple(columns), index=target.index, num_rows=target.num_rows)


class Reindexing(NDFrame):
    """Rows and columns of given labels, for frames and series."""

    def _with_row_labels(
        self, labels: object, fill_value: object, level: LevelOrLevels, nearest: Nearest
    ) -> Self:
        if level is not None:
            raise NotImplementedError(
                "reindex: level= is not supported. Merge with a frame of the labels."
            )
        method, limit, tolerance = nearest
        if method is None and (limit is not None or tolerance is not None):
            name = "limit" if limit is not None else "tolerance"
            raise ValueError(
                f"{name} argument only valid if doing pad, backfill or nearest reindexing. "
                "Set method=."
            )
        if method not in (None, "ffill", "pad", "bfill", "backfill", "nearest"):
            raise ValueError(
                "Invalid fill method. Expecting pad (ffill), backfill (bfill) or nearest. Got "
                f"{method}"
            )
        table = self._table
        if isinstance(labels, SeriesBase):
            labels = labels.to_pandas()
        is_named = isinstance(labels, (pd.Index, pd.Series))
        target = labels if isinstance(labels, pd.Index) else pd.Index(labels)
        if not len(target) and not is_named:
            target = table.index.to_pandas(0)
        elif not is_named and target.nlevels == table.index.num_levels:
            target = target.set_names(table.index.names)
            if target.nlevels > 1 and not is_traced(table.index, table.num_rows):
                target = _with_levels_of(self.index, target)
        fills = [fill_value] * len(table.columns)
        return self._like(with_labels(table, target, fills, "reindex", nearest))

    def reindex_like(self, other: Any) -> Any:
        """The rows and columns with the labels of another frame or series."""
        of: Any = self
        columns = {"columns": other.columns} if isinstance(self, FrameBase) else {}
        return of.reindex(index=other.index, **columns)

    def align(
        self,
        other: object,
        join: str = "outer",
        axis: Axis = None,
        level: LevelOrLevels = None,
        fill_value: object = None,
    ) -> tuple[Any, Any]:
        """Both objects with the same labels, those of `join`; absent labels give missing values.

        Not supported inside `jit`, unless both have equal ranges of labels.

        Differences from pandas:
            Frames align with frames, and series with series.
        """
        if type(other) is not type(self):
            raise NotImplementedError(
                f"align: other must be a {type(self).__name__}, got {type(other).__name__}."
            )
        if level is not None and (join != "outer" or fill_value is not None):
            raise NotImplementedError(
                "align: level= is for join='outer' without a fill_value. Use reset_index()."
            )
        if join not in ("outer", "inner", "left", "right"):
            raise ValueError(f"align: join must be outer, inner, left or right, got {join!r}.")
        mine: Any = self
        theirs: Any = other
        axis = None if axis is None else axis_number(axis, self)
        if isinstance(self, FrameBase) and axis != 0 and not mine.columns.equals(theirs.columns):
            labels = mine.columns.join(theirs.columns, how=join, level=level)
            mine = mine.reindex(columns=labels, fill_value=fill_value)
            theirs = theirs.reindex(columns=labels, fill_value=fill_value)
        theirs = theirs._like(in_capacity_of(theirs._table, mine._table))
        if axis == 1 or same_labels(mine._table, theirs._table):
            return mine, theirs
        if join == "outer" and fill_value is None:
            left, right = align_tables(mine._table, theirs._table, level=level)
            return mine._like(left), theirs._like(right)
        how = {"index": mine.index.join(theirs.index, how=join), "fill_value": fill_value}
        return mine.reindex(**how), theirs.reindex(**how)


class FrameReindexing(FrameBase, Reindexing):
    """Rows and columns of given labels."""

    def reindex(
        self, labels: object = None, *, index: object = None, columns: object = None,
        axis: Axis = None, method: object = None, level: LevelOrLevels = None,
        fill_value: object = np.nan, limit: Any = None, tolerance: object = None,
    ) -> Any:  # fmt: skip
        """The rows and columns of given labels; new labels get missing values.

        Rows cannot be reindexed inside `jit`.

        Args:
            labels: labels of the rows, or of the columns with `axis=1`.
            index: labels of the rows.
            columns: labels of the columns.
            axis: that of `labels`.
            method: which row stands for an absent label: "ffill", the last one before it, "bfill",
                the next one, or "nearest". The labels of the frame must then be in order, and are
                read by the host.
            level: must be None.
            fill_value: the value for absent labels.
            limit: the most labels in a row that one row stands for.
            tolerance: the greatest distance of such labels.

        Differences from pandas:
            `method` is for rows alone. Labels of rows must be of the type of those of the frame.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [1, 2]}).reindex([1, 2], fill_value=0).x.tolist()
            [2, 0]
        """
        if index is not None or columns is not None:
            if labels is not None and index is not None and columns is not None:
                raise TypeError("Cannot specify all of 'labels', 'index', 'columns'.")
            if axis is not None:
                raise TypeError(
                    "Cannot specify both 'axis' and any of 'index' or 'columns'. Leave out axis, "
                    "which is that of labels."
                )
        if labels is not None and (index is not None or axis_number(axis or 0, self)):
            columns = labels
        elif labels is not None:
            index = labels
        if columns is not None and method is not None:
            raise NotImplementedError(
                "reindex: method= is for rows. Reindex the columns in a call of their own."
            )
        shown: Any = self
        if index is not None:
            nearest = Nearest(method, limit, tolerance)
            shown = self._with_row_labels(index, fill_value, level, nearest)
        if columns is None:
            return shown
        new_labels = columns if isinstance(columns, pd.Index) else pd.Index(as_pandas(columns))
        own = self._labels.index
        if not own.is_unique:
            if own.equals(new_labels):
                return shown._made(shown._table, Labels(new_labels))
            raise ValueError(
                "cannot reindex on an axis with duplicate labels. Select columns by position, "
                "with iloc, or rename them first."
            )
        fill_value = np.nan if fill_value is None else fill_value
        new_columns = [
            shown._column(label) if label in self._labels else None for label in new_labels
        ]
        if any(column is None for column in new_columns):
            moves_rows = index is not None and not same_labels(self._table, shown._table)
            new_columns = _with_absent(new_columns, shown._table, fill_value, moves_rows)
        has_name = isinstance(columns, pd.Index) or new_labels.name is not None
        name = new_labels.name if has_name else self._labels.index.name
        new_labels = new_labels if new_labels.nlevels > 1 else new_labels.rename(name)
        return shown._make_frame(new_columns, Labels(new_labels))

    def combine_first(self, other: Any) -> Any:
        """Fills missing values, rows and columns from another frame, by label.

        Not supported inside `jit`, unless both have equal ranges of labels.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [1.0, None]}).combine_first(JaxFrame({"x": [3.0, 4.0]})).x.tolist()
            [1.0, 4.0]
        """
        left, right = self.align(other, axis=0)
        if has_nothing(other) and len(left) == len(self):
            # As in pandas, the rows stay in their order.
            left, right = self, other.reindex(self.index)
        own, others = self._labels.index, other._labels.index
        labels = own.append(others[~others.isin(own)])
        is_other = has_nothing(self) and not has_no_rows(other) and len(right) == len(other)
        if is_other:
            # As in pandas, these are the columns of the other frame, aligned.
            labels = own if own.equals(others) else own.join(others, how="outer")
        elif has_no_rows(other):
            labels = own.append(others.difference(own))
        columns = []
        for label in labels:
            sides = [one for one in (left, right) if label in one._labels]
            column = sides[0]._column(label)
            if is_other and label not in other._labels:
                column = as_column(np.nan, left._table, label)
            if len(sides) == 2:
                owners = self._column(label), other._column(label)
                if not (may_be_kept(*owners) and is_whole(column, left._table)):
                    column = filled_from(column, right._column(label), owners, left._table)
            columns.append(column)
        return self._make_frame(columns, Labels(labels), left._table)


def _with_absent(
    columns: Sequence[Column | None], table: Table, fill_value: Any, moves_rows: bool
) -> Sequence[Column]:
    """Columns of a fill value in place of None, in pandas' dtypes.

    They have the dtype of the value, NaN the common one of a frame of floats. Columns of one dtype
    whose rows move too get a common dtype with the value.
    """
    own = table.columns
    is_plain = bool(own) and all(one.is_numeric and one.family is None for one in own)
    if moves_rows and is_plain and len({one.dtype for one in own}) == 1:
        no_row = table.layout.place(np.zeros(table.capacity, np.bool_))
        filled = choose_scalar(no_row, own[0], fill_value, table, "reindex")
        if filled.is_numeric:
            present = (one if one is None else in_dtype([one], filled.dtype)[0] for one in columns)
            return [filled if one is None else one for one in present]
    absent = as_column(fill_value, table, "reindex")
    if is_plain and absent.is_float and pd.isna(fill_value):
        dtype = np.result_type(*(one.dtype for one in own))
        if np.issubdtype(dtype, np.floating) and not any(one.is_bool for one in own):
            (absent,) = in_dtype([absent], dtype)
    return [absent if one is None else one for one in columns]


class SeriesReindexing(SeriesBase, Reindexing):
    """Rows of given labels."""

    def reindex(
        self, index: object = None, *, axis: Axis = None, method: object = None,
        level: LevelOrLevels = None, fill_value: object = np.nan, limit: Any = None,
        tolerance: object = None,
    ) -> Self:  # fmt: skip
        """The rows of given labels; new labels get missing values. See `JaxFrame.reindex`.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([1, 2], index=["a", "b"]).reindex(["b", "c"]).tolist()
            [2.0, nan]
        """
        axis_number(axis or 0, self)
        if index is None:
            return self._like(self._table)
        return self._with_row_labels(index, fill_value, level, Nearest(method, limit, tolerance))

    def combine_first(self, other: Any) -> Self:
        """Fills missing values and rows from another series, by label.

        Not supported inside `jit`, unless both have equal ranges of labels.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([1.0, None]).combine_first(JaxSeries([3.0, 4.0])).tolist()
            [1.0, 4.0]
        """
        check_distinct_labels(self, other)
        given = numbers_of_categories(self, other)
        owners = given[0]._only, given[1]._only
        sides = (
            side if dtype is None else side.astype(dtype)
            for side, dtype in zip(given, dtypes_while_aligned(*owners), strict=True)
        )
        left, right = sides
        if has_nothing(self) or has_nothing(other):
            # As in pandas, the rows stay in their order.
            labels = self.index.union(other.index)
            left, right = left.reindex(labels), right.reindex(labels)
        else:
            left, right = left.align(right)
        has_objects = are_mixed(*owners) or owners[0].kind == "object"
        fills = rows_of(other, self) if has_objects else None
        column = filled_from(left._only, right._only, owners, left._table, fills)
        table, index = left._table, left._table.index
        has_two_names = self._table.index.names != other._table.index.names
        if has_two_names and not is_traced(table) and not same_labels(self._table, other._table):
            # pandas has the name of the union here, and elsewhere that of the left labels.
            table = table.replace(index=index.named((None,) * index.num_levels))
        return self._made(table.with_columns([column]), self._name)
