# SPDX-License-Identifier: Apache-2.0
"""Which values are missing, rows without them, and values filled in from other rows."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ... import primitives
from ..table._arguments import axis_number, check_flag, no_inplace, only_rows
from ..table._column import NUMBER, Array, Column, ColumnType, fill_missing, missing_rows
from ..table._filter import filter_rows
from ..table._layout import Layout
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._recode import without_missing
from ..table._row_index import RANGE
from ..table._table import Count, Table, is_row
from ..table._take import gather, position
from ..table._tracing import is_traced
from ._where_columns import aligned_other, choose, choose_scalar

_TIME = ColumnType("datetime", unit="ns")


def missing_flags(columns: Sequence[Column]) -> tuple[Array, ...]:
    """For each column a flag for each row: True where there is no value."""
    columns = [without_missing(column) for column in columns]
    return _missing(tuple(c.arrays for c in columns), tuple(_how_missing(c) for c in columns))


def _how_missing(column: Column) -> str:
    if column.type.has_codes:
        return "code"
    return "time" if column.type.is_time else "number"


@functools.partial(jax.jit, static_argnums=1)
def _missing(columns: Any, kinds: tuple[str, ...]) -> tuple[Array, ...]:
    return tuple(
        data < np.int32(0)
        if kind == "code"
        else missing_rows(data, valid, _TIME if kind == "time" else NUMBER)
        for (data, valid), kind in zip(columns, kinds, strict=True)
    )


class Missing(NDFrame):
    """What is missing, of frames and series alike."""

    def _with_all(self, columns: Sequence[Column]) -> Self:
        return self._like(self._table.with_columns(columns))

    def isna(self) -> Self:
        """Whether each value is missing: NaN, NaT, or a string that is none."""
        return self._with_all([Column(flag) for flag in missing_flags(self._table.columns)])

    def notna(self) -> Self:
        """Whether each value is there."""
        return self._with_all([Column(~flag) for flag in missing_flags(self._table.columns)])

    def isnull(self) -> Self:
        """Alias of `isna`."""
        return self.isna()

    def notnull(self) -> Self:
        """Alias of `notna`."""
        return self.notna()

    def ffill(
        self,
        *,
        axis: Any = None,
        inplace: bool = False,
        limit: int | None = None,
        limit_area: Any = None,
    ) -> Self:
        """Fills each missing value with the last one before it, at most `limit` in a row.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([1.0, None, None, 4.0]).ffill(limit=1).tolist()
            [1.0, 1.0, nan, 4.0]
        """
        return self._filled_from("ffill", axis, inplace, limit, limit_area)

    def bfill(
        self,
        *,
        axis: Any = None,
        inplace: bool = False,
        limit: int | None = None,
        limit_area: Any = None,
    ) -> Self:
        """Fills each missing value with the first one behind it, at most `limit` in a row."""
        return self._filled_from("bfill", axis, inplace, limit, limit_area)

    def _filled_from(
        self, method: str, axis: Any, inplace: bool, limit: int | None, limit_area: Any
    ) -> Self:
        no_inplace(method, inplace)
        only_rows(method, axis or 0, self, "Use where() column by column.")
        if limit_area is not None:
            raise NotImplementedError(f"{method}: limit_area= is not built. Use limit=.")
        if limit is not None and not isinstance(limit, (int, np.integer)):
            raise ValueError("Limit must be an integer")
        if limit is not None and limit <= 0:
            raise ValueError("Limit must be greater than 0")
        table = self._table
        columns = [fill_missing(column) for column in table.columns]
        places = [place for place, column in enumerate(columns) if column.can_miss]
        chosen = [columns[place] for place in places]
        filled = _fill_from(
            tuple(column.arrays for column in chosen),
            missing_flags(chosen),
            table.num_rows,
            np.int32(table.capacity if limit is None else min(limit, table.capacity)),
            method == "bfill",
            table.layout,
        )
        for place, arrays in zip(places, filled, strict=True):
            columns[place] = columns[place].with_arrays(arrays)
        return self._with_all(columns)


@functools.partial(jax.jit, static_argnums=(4, 5))
def _fill_from(
    columns: Any,
    missing: tuple[Array, ...],
    num_rows: Count,
    limit: Array,
    backward: bool,
    layout: Layout,
) -> Any:
    if not columns:
        return ()
    capacity = missing[0].shape[0]
    here, valid_rows = position(capacity, layout), is_row(capacity, num_rows, layout)
    nowhere = np.int32(capacity if backward else -1)
    known = tuple(jnp.where(~flag & valid_rows, here, nowhere) for flag in missing)
    op = "min" if backward else "max"
    sources = primitives.inclusive_scan(known, op, reverse=backward, **layout.on_mesh)
    filled = []
    for (data, valid), flag, source in zip(columns, missing, sources, strict=True):
        is_near = (source != nowhere) & (jnp.abs(source - here) <= limit)
        row_ids = jnp.where(flag & is_near, source, here)
        data = gather(data, row_ids, layout)
        filled.append((data, None if valid is None else valid | is_near))
    return tuple(filled)


class FrameMissing(FrameBase, Missing):
    """Missing values of a frame."""

    def fillna(
        self, value: Any, *, axis: Any = None, inplace: bool = False, limit: Any = None
    ) -> Self:
        """Puts a value where one is missing, or for each column its own by a dict.

        Differences from pandas:
            A value that the column's dtype does not hold raises, where pandas makes objects.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [1.0, None]}).fillna(0).x.tolist()
            [1.0, 0.0]
        """
        _check_fill(value, axis, inplace, limit, self)
        columns = list(self._table.columns)
        by_label: dict[int, Any] = {}
        if isinstance(value, FrameBase):
            for label in value._labels:
                if label in self._labels:
                    by_label[self._labels.place(label)] = value[label]
        elif isinstance(value, SeriesBase) and value._is_traced:
            raise NotImplementedError(
                "fillna: inside jit the labels of a series are not known. Give a dict: "
                '{"x": frame.x.mean()}.'
            )
        elif isinstance(value, SeriesBase):
            value = value.to_pandas()
        if isinstance(value, (Mapping, pd.Series)):
            for label, one in value.items():
                if label in self._labels:
                    by_label.update(dict.fromkeys(self._labels.places(label), one))
        elif not by_label:
            by_label = dict.fromkeys(range(len(columns)), value)
        for place, one in by_label.items():
            columns[place] = _fill(columns[place], one, self._table)
        return self._with_all(columns)

    def dropna(
        self,
        *,
        axis: Any = 0,
        how: Any = ...,
        thresh: Any = ...,
        subset: Any = None,
        inplace: bool = False,
        ignore_index: bool = False,
    ) -> Self:
        """Drops rows in which any, or all, values are missing; or columns with `axis=1`.

        Args:
            axis: 0 to drop rows, 1 to drop columns.
            how: "any" or "all".
            thresh: how many values must be there, in place of `how`.
            subset: the columns that are looked at; rows, with `axis=1`, are not built.
            inplace: must be False.
            ignore_index: number the rows that are left from zero.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [1.0, None], "y": [None, None]}).dropna(how="all").x.tolist()
            [1.0]
        """
        no_inplace("dropna", inplace)
        if how is not ... and thresh is not ...:
            raise TypeError("You cannot set both the how and thresh arguments at the same time.")
        if isinstance(axis, (tuple, list)):
            raise TypeError("supplying multiple axes to axis is no longer supported.")
        how = "any" if how is ... else how
        if how not in ("any", "all"):
            raise ValueError(f"invalid how option: {how}")
        if axis_number(axis, self):
            return self._without_columns(how, thresh, subset)
        columns = self._table.columns
        if subset is not None:
            labels = subset if isinstance(subset, (list, tuple, pd.Index, np.ndarray)) else [subset]
            if absent := self._labels.absent(labels, may_be_parts=False):
                raise absent
            columns = [columns[p] for label in labels for p in self._labels.places(label)]
        least = np.int32(len(columns) if how == "any" else min(1, len(columns)))
        least = least if thresh is ... else np.int32(thresh)
        if not columns:
            return self._like(self._table)
        table = filter_rows(self._table, _has_values(missing_flags(columns), least))
        return self._like(_numbered(table, ignore_index))

    def _without_columns(self, how: str, thresh: Any, subset: Any) -> Self:
        if subset is not None:
            raise NotImplementedError("dropna: subset= of rows is not built. Select rows first.")
        if self._is_traced:
            raise NotImplementedError(
                "dropna: inside jit it is not known which columns are complete. List them."
            )
        num_rows = len(self)
        counts = np.asarray(_count_values(missing_flags(self._table.columns), num_rows))
        least = (num_rows if how == "any" else min(1, num_rows)) if thresh is ... else thresh
        return self._columns_at(np.flatnonzero(counts >= least).tolist())


class SeriesMissing(SeriesBase, Missing):
    """Missing values of a series."""

    def fillna(
        self, value: Any, *, axis: Any = None, inplace: bool = False, limit: Any = None
    ) -> Self:
        """Puts a value where one is missing; of a series or dict, the one of the row's label."""
        _check_fill(value, axis, inplace, limit, self)
        return self._with_column(_fill(self._only, value, self._table))

    def dropna(
        self, *, axis: Any = 0, inplace: bool = False, how: Any = None, ignore_index: bool = False
    ) -> Self:
        """Drops the rows whose value is missing."""
        no_inplace("dropna", inplace)
        axis_number(axis or 0, self)
        check_flag(ignore_index, "ignore_index")
        (missing,) = missing_flags([self._only])
        return self._like(_numbered(filter_rows(self._table, ~missing), ignore_index))


def _check_fill(value: Any, axis: Any, inplace: bool, limit: Any, owner: NDFrame) -> None:
    no_inplace("fillna", inplace)
    only_rows("fillna", axis or 0, owner, "Give a dict of labels of columns.")
    if limit is not None:
        raise NotImplementedError("fillna: limit= is not built. Use ffill(limit=) or where().")
    if isinstance(value, (list, tuple, set)):
        raise TypeError(
            f'"value" parameter must be a scalar or dict, but you passed a "{type(value).__name__}"'
        )


def _fill(column: Column, value: Any, table: Table) -> Column:
    """A column with a value, or another column, where it has none."""
    is_column = isinstance(value, (SeriesBase, pd.Series, Mapping))
    if not is_column and not isinstance(value, jax.Array) and pd.isna(value):
        return column
    if column.valid is not None and not column.is_bool:
        # pandas has it as float64 with NaN, and so it stays.
        column = fill_missing(column)
    if not column.can_miss:
        return column
    (missing,) = missing_flags([column])
    if not is_column:
        if column.is_bool and isinstance(value, (bool, np.bool_)):
            return Column(jnp.where(missing, np.bool_(value), column.data))
        try:
            return choose_scalar(~missing, column, value, table, "fillna")
        except (TypeError, ValueError, NotImplementedError):
            # As in pandas, a value that the dtype cannot hold is an error only if it is needed.
            if is_traced(missing, table.num_rows) or _has_any(missing, table.num_rows):
                raise
            return column
    if isinstance(value, Mapping):
        value = pd.Series(value)
    other = aligned_other(value, table)
    return choose(~missing, column, other, table, "fillna")


def _numbered(table: Table, anew: bool) -> Table:
    return table.replace(index=RANGE) if anew else table


@jax.jit
def _has_values(missing: tuple[Array, ...], least: Array) -> Array:
    present = jnp.zeros(missing[0].shape, jnp.int32)
    for flag in missing:
        present = present + (~flag).astype(jnp.int32)
    return present >= least


@jax.jit
def _has_any(missing: Array, num_rows: Count) -> Array:
    return jnp.any(missing & is_row(missing.shape[0], num_rows))


@jax.jit
def _count_values(missing: tuple[Array, ...], num_rows: Count) -> Array:
    valid = is_row(missing[0].shape[0], num_rows)
    return jnp.stack([jnp.sum(~flag & valid, dtype=jnp.int32) for flag in missing])
