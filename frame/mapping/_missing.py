# SPDX-License-Identifier: Apache-2.0
"""Missing values: detection, filling and dropping."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ... import primitives
from ...primitives.staging import tiered
from ..align._as_column import as_column
from ..table._arguments import axis_number, check_flag, check_limit
from ..table._by_pandas import by_pandas
from ..table._column import NUMBER, Array, Column, fill_missing, inverse, missing_rows
from ..table._filter import filter_rows
from ..table._holes import assumes_holes
from ..table._host_column import HostColumn, rows_on_host
from ..table._in_place import with_inplace
from ..table._layout import Layout
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._object_functions import as_objects
from ..table._recode import without_missing
from ..table._table import Count, Table, is_row
from ..table._take import any_missing, gather, hole_kind, position, stored_arrays
from ..table._to_host import missing_on_host
from ..table._tracing import is_traced
from ..table._types import Axis, LabelOrLabels
from ..table._user_functions import as_pandas
from ._choices import choose, choose_scalar, promoted_for


def missing_flags(columns: Sequence[Column]) -> tuple[Array, ...]:
    """Flags of missing values, one array for each column."""
    columns = [without_missing(column) for column in columns]
    return _missing(stored_arrays(columns), tuple(hole_kind(column) for column in columns))


@functools.partial(tiered, static_argnums=1)
def _missing(columns: Any, kinds: tuple[str, ...]) -> tuple[Array, ...]:
    return tuple(
        data < np.int32(0)
        if kind == "code"
        else missing_rows(data, valid, "time" if kind == "time" else "nan")
        for (data, valid), kind in zip(columns, kinds, strict=True)
    )


def _missing_on_host(columns: Sequence[Column]) -> list[np.ndarray] | None:
    """`missing_flags` of few rows, on the host; None if it cannot."""
    if any(column.kind == "object" for column in columns):
        return None
    rows = rows_on_host(columns)
    if rows is None:
        return None
    return [
        missing_on_host(column.stored, *arrays)
        for column, arrays in zip(columns, rows, strict=True)
    ]


class Missing(NDFrame):
    """Missing-value methods that frames and series share."""

    def isna(self) -> Self:
        """Detects missing values: NaN, NaT or a null string."""
        return self._flagged(lambda missing: missing)

    def notna(self) -> Self:
        """Detects values that are not missing."""
        return self._flagged(inverse)

    def _flagged(self, shown: Callable[[Any], Any]) -> Self:
        """The flags of missing values as they are shown, one for each value."""
        columns = self._table.columns
        few = _missing_on_host(columns)
        if few is not None:
            return self._with_columns([HostColumn((shown(flag), None), NUMBER) for flag in few])
        return self._with_columns([Column(shown(flag)) for flag in missing_flags(columns)])

    isnull = isna
    notnull = notna

    @with_inplace
    def ffill(
        self,
        *,
        axis: Axis = None,
        inplace: bool = False,
        limit: int | None = None,
        limit_area: object = None,
    ) -> Self:
        """Fills each missing value with the last valid one, at most `limit` in a row.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([1.0, None, None, 4.0]).ffill(limit=1).tolist()
            [1.0, 1.0, nan, 4.0]
        """
        return self._filled_from("ffill", axis, limit, limit_area)

    @with_inplace
    def bfill(
        self,
        *,
        axis: Axis = None,
        inplace: bool = False,
        limit: int | None = None,
        limit_area: object = None,
    ) -> Self:
        """Fills each missing value with the next valid one, at most `limit` in a row."""
        return self._filled_from("bfill", axis, limit, limit_area)

    def _filled_from(self, method: str, axis: Axis, limit: int | None, limit_area: object) -> Self:
        if axis_number(axis or 0, self):
            how = {"axis": 1, "limit": limit, "limit_area": limit_area}
            return by_pandas(
                self, f"{method}: axis=1", "Use where() column by column.",
                lambda data: getattr(data, method)(**how),
            )  # fmt: skip
        if limit_area is not None:
            return self._filled_in_area(method, limit, limit_area)
        check_limit(limit)
        table = self._table
        columns = [fill_missing(column) for column in table.columns]
        positions = [number for number, column in enumerate(columns) if column.can_miss]
        nullable = [columns[number] for number in positions]
        filled = _fill_from(
            stored_arrays(nullable),
            missing_flags(nullable),
            table.num_rows,
            np.int32(table.capacity if limit is None else min(limit, table.capacity)),
            method == "bfill",
            table.layout,
        )
        for number, arrays in zip(positions, filled, strict=True):
            columns[number] = columns[number].moved(arrays)
        return self._with_columns(columns)

    def _filled_in_area(self, method: str, limit: int | None, limit_area: object) -> Self:
        """Values filled where there is a value on both sides, or on one side only."""
        if limit_area not in ("inside", "outside"):
            raise ValueError(f"Invalid limit_area value '{limit_area}'.")
        of: Any = self
        filled = getattr(of, method)(limit=limit)
        # Where the other direction finds a value, a missing one is between two.
        is_inside = (of.bfill() if method == "ffill" else of.ffill()).notna()
        return filled.where(is_inside if limit_area == "inside" else ~is_inside | of.notna(), of)

    def first_valid_index(self) -> Any:
        """The label of the first row with a value that is not missing, or None."""
        kept = self._with_values().head(1)
        return kept.index[0] if len(kept) else None

    def last_valid_index(self) -> Any:
        """The label of the last row with a value that is not missing, or None."""
        kept = self._with_values().tail(1)
        return kept.index[0] if len(kept) else None

    def _with_values(self) -> Any:
        of: Any = self
        return of.dropna(how="all")

    @with_inplace
    def fillna(
        self, value: object, *, axis: Axis = None, inplace: bool = False, limit: object = None
    ) -> Self:
        """Replaces missing values by one value, or by those of a dict or series.

        These are labelled by the columns of a frame, or by the rows of a series.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [1.0, None]}).fillna(0).x.tolist()
            [1.0, 0.0]
        """
        if limit is not None or axis_number(axis or 0, self):
            given = as_pandas(value)
            return by_pandas(
                self, "fillna: limit= or axis=1", "Use ffill(limit=) or where().",
                lambda data: data.fillna(given, axis=axis, limit=limit),
            )  # fmt: skip
        if isinstance(value, (list, tuple, set)):
            raise TypeError(
                '"value" parameter must be a scalar or dict, but you passed a '
                f'"{type(value).__name__}"'
            )
        if not isinstance(self, FrameBase):
            return self._with_columns(_filled(self._table.columns, {0: value}, self._table))
        by_position: dict[int, Any] = {}
        if isinstance(value, FrameBase):
            for label in value._labels:
                if label in self._labels:
                    by_position[self._labels.position(label)] = value[label]
        elif isinstance(value, SeriesBase) and value._is_traced:
            raise NotImplementedError(
                "fillna: the labels of a series are not known inside jit. Pass a dict: "
                '{"x": frame.x.mean()}.'
            )
        elif isinstance(value, SeriesBase):
            value = value.to_pandas()
        if isinstance(value, (Mapping, pd.Series)):
            for label, one in value.items():
                if label in self._labels:
                    for position in self._labels.positions(label):
                        # A label of a level names several columns; the first value fills them.
                        by_position.setdefault(position, one)
        elif not by_position:
            by_position = dict.fromkeys(range(len(self._table.columns)), value)
        return self._with_columns(_filled(self._table.columns, by_position, self._table))


@functools.partial(tiered, static_argnums=(4, 5))
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
    row_ids, valid_rows = position(capacity, layout), is_row(capacity, num_rows, layout)
    no_source = np.int32(capacity if backward else -1)
    valid_ids = tuple(jnp.where(~flag & valid_rows, row_ids, no_source) for flag in missing)
    op = "min" if backward else "max"
    sources = primitives.inclusive_scan(valid_ids, op, reverse=backward, **layout.on_mesh)
    filled = []
    for (data, valid), flag, source in zip(columns, missing, sources, strict=True):
        is_near = (source != no_source) & (jnp.abs(source - row_ids) <= limit)
        data = gather(data, jnp.where(flag & is_near, source, row_ids), layout)
        filled.append((data, None if valid is None else valid | is_near))
    return tuple(filled)


class FrameMissing(FrameBase, Missing):
    """Missing-value methods of a frame."""

    @with_inplace
    def dropna(
        self,
        *,
        axis: Axis = 0,
        how: object = ...,
        thresh: Any = ...,
        subset: LabelOrLabels = None,
        inplace: bool = False,
        ignore_index: bool = False,
    ) -> Self:
        """Drops rows with missing values, or columns with `axis=1`.

        Differences from pandas:
            `subset` is not supported with `axis=1`.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [1.0, None], "y": [None, None]}).dropna(how="all").x.tolist()
            [1.0]
        """
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
            columns = [columns[p] for label in labels for p in self._labels.positions(label)]
        min_present = np.int32(len(columns) if how == "any" else min(1, len(columns)))
        min_present = min_present if thresh is ... else np.int32(thresh)
        if not columns:
            return self._like(self._table)
        few = _missing_on_host(columns)
        if few is None:
            is_kept = _has_values(missing_flags(columns), min_present)
        else:
            is_kept = np.sum([~flags for flags in few], axis=0) >= min_present
        kept = self._like(filter_rows(self._table, is_kept))
        return kept._with_range() if ignore_index else kept

    def _without_columns(self, how: str, thresh: object, subset: LabelOrLabels) -> Self:
        if subset is not None:
            raise NotImplementedError(
                "dropna: subset= is not supported with axis=1. Select rows first."
            )
        if self._is_traced:
            raise NotImplementedError(
                "dropna: axis=1 is not supported inside jit, where the columns with missing values "
                "are not known. Select columns by label."
            )
        num_rows = len(self)
        if not self._table.columns:
            return self._like(self._table)
        counts = np.asarray(_count_values(missing_flags(self._table.columns), num_rows))
        min_present = (num_rows if how == "any" else 1) if thresh is ... else thresh
        return self._columns_at(np.flatnonzero(counts >= min_present).tolist())


class SeriesMissing(SeriesBase, Missing):
    """Missing-value methods of a series."""

    @with_inplace
    def dropna(
        self,
        *,
        axis: Axis = 0,
        inplace: bool = False,
        how: object = None,
        ignore_index: bool = False,
    ) -> Self:
        """Drops the rows whose value is missing."""
        axis_number(axis or 0, self)
        check_flag(ignore_index, "ignore_index")
        few = _missing_on_host([self._only])
        (missing,) = missing_flags([self._only]) if few is None else few
        kept = self._like(filter_rows(self._table, inverse(missing)))
        return kept._with_range() if ignore_index else kept


def _filled(columns: Sequence[Column], values: Mapping[int, Any], table: Table) -> list[Column]:
    """Columns whose missing values are replaced, given by position: all floats in one program."""
    few = None
    if type(table.num_rows) is np.int32 and not assumes_holes():
        few = rows_on_host([columns[at] for at in values])
    if few is not None:
        columns = list(columns)
        values, all_values = {}, values
        for (at, value), rows in zip(all_values.items(), few, strict=True):
            filled = _filled_on_host(columns[at], value, *rows, table.num_rows)
            if filled is None:
                values[at] = value
            else:
                columns[at] = filled
    numbers = {
        at: number
        for at, value in values.items()
        if (number := _float_for(columns[at], value)) is not None
    }
    floats = tuple([data for data, _ in stored_arrays([columns[at] for at in numbers])])
    filled = _fill_floats(floats, tuple(numbers.values())) if floats else ()
    results = list(columns)
    for at, data in zip(numbers, filled, strict=True):
        results[at] = Column(data)
    for at, value in values.items():
        if at not in numbers:
            results[at] = _fill(columns[at], value, table)
    return results


def _filled_on_host(
    column: Column, value: Any, data: np.ndarray, valid: np.ndarray | None, num_rows: Any
) -> Column | None:
    """The column with a scalar in place of missing values; None if there is more to do."""
    if type(value) not in _SCALARS or column.family is not None or valid is not None:
        return None
    is_number = column.kind == "number"
    if is_number and data.dtype.kind in "biu":
        return column
    if not is_number and column.kind != "string":
        return None
    if is_number and data.dtype.kind != "f":
        return None
    missing = np.isnan(data) if is_number else data < 0
    if not missing[:num_rows].any():
        return column
    number = _float_for(column, value)
    return None if number is None else HostColumn((np.where(missing, number, data), None), NUMBER)


_SCALARS = frozenset((bool, int, float, str, np.float64, np.int64))


def _float_for(column: Column, value: Any) -> np.generic | None:
    """A number in the dtype of a column of plain floats; None if there is more to do than that."""
    is_plain = column.is_float and column.valid is None and not column.is_nullable
    if is_plain and type(value) is float and value == value and column.dtype == np.float64:
        return np.float64(value)
    if not is_plain or isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        return None
    promoted = promoted_for(column, value)
    if promoted is None or promoted.dtype != column.dtype:
        return None
    number = promoted.to_numpy()[0]
    return None if np.isnan(number) else number


@tiered
def _fill_floats(columns: tuple[Array, ...], values: tuple[Array, ...]) -> tuple[Array, ...]:
    return tuple(
        jnp.where(missing_rows(data, None, "nan"), value, data)
        for data, value in zip(columns, values, strict=True)
    )


def _fill(column: Column, value: Any, table: Table) -> Column:
    """Replaces the missing values of a column by a scalar or another column."""
    is_column = isinstance(value, (SeriesBase, pd.Series, Mapping))
    is_null = not is_column and not isinstance(value, jax.Array) and pd.isna(value)
    if is_null and column.is_of_objects:
        column = as_objects(column, table.num_rows, "fillna")
    if is_null and column.kind != "object" and not (value is pd.NaT and column.family == "masked"):
        return column
    if column.valid is not None and not column.is_bool and not column.is_nullable:
        # In pandas it is float64 with NaN, and stays float64.
        column = fill_missing(column)
    if not column.can_miss:
        return column
    (missing,) = missing_flags([column])
    if not is_column:
        if column.is_of_objects and isinstance(value, (bool, np.bool_)):
            return Column(jnp.where(missing, np.bool_(value), column.data))
        try:
            return choose_scalar(inverse(missing), column, value, table, "fillna")
        except (TypeError, ValueError, NotImplementedError):
            # As in pandas, a value that does not fit the dtype is an error only if a row needs it.
            if is_traced(missing, table.num_rows) or any_missing(inverse(missing), table.num_rows):
                raise
            return column
    if not (isinstance(value, SeriesBase) and value._is_traced) and not len(value):
        return column
    if isinstance(value, Mapping):
        value = pd.Series(value)
    return choose(~missing, column, as_column(value, table, "other"), table, "fillna")


@tiered
def _has_values(missing: tuple[Array, ...], min_present: Array) -> Array:
    present: Any = sum((~flag).astype(jnp.int32) for flag in missing)
    return present >= min_present


@tiered
def _count_values(missing: tuple[Array, ...], num_rows: Count) -> Array:
    valid = is_row(missing[0].shape[0], num_rows)
    return jnp.stack([jnp.sum(~flag & valid, dtype=jnp.int32) for flag in missing])
