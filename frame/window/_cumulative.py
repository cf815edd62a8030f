# SPDX-License-Identifier: Apache-2.0
"""Cumulative sums, products and extremes."""

import functools
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, Self

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pyarrow as pa

from ... import primitives
from ...primitives._accumulators import COMBINE, identity_of_reduction
from ...primitives.staging import tiered
from ...primitives.tiers._host_kernels import scan_on_host
from ..reductions._axis1 import of_one_type
from ..table._arguments import axis_number, check_flag, check_rest
from ..table._column import NUMBER, Array, Column, ColumnType, fill_missing
from ..table._dictionary import Dictionary, string_index
from ..table._dtypes import wide
from ..table._host_column import HostColumn, rows_on_host
from ..table._layout import Layout
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._object_functions import objects_apart, of_rows
from ..table._table import Count, Table, is_row
from ..table._take import hole_kind, with_holes
from ..table._to_host import host_array
from ..table._tracing import is_traced
from ..table._types import Axis


class Accumulation(NamedTuple):
    """The options of a column's scan. Static under `jit`.

    Attributes:
        op: the reduction whose partial results the scan returns, such as "sum".
        dtype: the dtype of the scan.
        holes: the representation of missing values; see `with_holes`.
        skipna: whether missing values are skipped; otherwise all later values are missing too.
    """

    op: Any
    dtype: np.dtype
    holes: str
    skipna: bool


def cumulate(
    name: str, columns: tuple[Column, ...], labels: Sequence[Hashable], skipna: bool, table: Table
) -> tuple[Column, ...]:
    """Scans each column over its rows.

    Raises:
        OutOfBoundsTimedelta: a sum of timedeltas exceeds int64; not raised inside `jit`.
        TypeError: the operation does not support the dtype of a column.
    """
    columns = tuple(map(fill_missing, columns))
    few = _cumulate_few(name, columns, labels, skipna)
    if few is not None:
        return few
    # Strings are concatenated on the host; all other columns are scanned in one compiled call.
    scanned = {
        position: column
        for position, column in enumerate(columns)
        if not (name == "cumsum" and column.kind == "string")
    }
    plans = tuple(_plan(name, scanned[at], labels[at], skipna) for at in scanned)
    missing = tuple(column.missing() if column.can_miss else None for column in scanned.values())
    data = tuple(column.data for column in scanned.values())
    scans, masks, overflows = _accumulate(data, missing, table.num_rows, plans, table.layout)
    if overflows is not None and not is_traced(overflows) and bool(overflows):
        raise pd.errors.OutOfBoundsTimedelta(
            f"overflow in timedelta operation: {name} exceeds the range of int64. "
            "Cast the column to a coarser unit first, with astype."
        )
    results = dict(zip(scanned, zip(scans, masks, strict=True), strict=True))
    return tuple(
        column.with_arrays(results[at])
        if at in results
        else _concatenated_so_far(column, labels[at], skipna, table)
        for at, column in enumerate(columns)
    )


def _cumulate_few(
    name: str, columns: tuple[Column, ...], labels: Sequence[Hashable], skipna: bool
) -> tuple[Column, ...] | None:
    """Scans columns of few plain numbers on the host; None if it cannot."""
    if any(column.kind != "number" or column.family is not None for column in columns):
        return None
    rows = rows_on_host(columns)
    if rows is None or any(valid is not None for _, valid in rows):
        return None
    scanned = []
    for column, label, (data, _) in zip(columns, labels, rows, strict=True):
        plan = _plan(name, column, label, skipna)
        x, missing = data.astype(plan.dtype), None
        if plan.dtype.kind == "f":
            missing = np.isnan(x)
            x[missing] = identity_of_reduction(plan.op, plan.dtype)
        result = scan_on_host(x, _OPERATORS[plan.op])
        if result is None:
            return None
        if missing is not None:
            result[missing if skipna else np.logical_or.accumulate(missing)] = np.nan
        scanned.append(HostColumn((result, None), NUMBER))
    return tuple(scanned)


_OPERATORS = {"sum": "add", "prod": "mul", "min": "min", "max": "max"}


def _concatenated_so_far(column: Column, label: Hashable, skipna: bool, table: Table) -> Column:
    """Concatenates the strings up to each row.

    The dictionary of the result holds every prefix, so its size is quadratic in the number of rows.
    """
    if is_traced(column.data, table.num_rows):
        raise NotImplementedError(
            f"cumsum: inside jit the strings of column {label!r} are not concatenated. "
            "Call cumsum outside jit."
        )
    codes = host_array(column.data)[: table.num_rows_on_host]
    is_present = codes >= 0
    if not skipna:
        is_present = np.logical_and.accumulate(is_present)
    words = column.dictionary.values.to_numpy(object)
    lengths = np.array([len(word) for word in words], np.int64)
    ends = np.cumsum(lengths[codes[is_present]])
    # All results are prefixes of one string, and prefixes sort by their lengths.
    text = "".join(words[codes[is_present]])
    prefix_ends, prefix_codes = np.unique(ends, return_inverse=True)
    prefixes = pa.array([text[:end] for end in prefix_ends], pa.large_string())
    result = np.full(column.data.shape[0], -1, np.int32)
    result[: len(codes)][is_present] = prefix_codes
    type = ColumnType("string", Dictionary(string_index(prefixes))).of_family(column.family)
    return Column(table.layout.place(jnp.asarray(result)), None, type)


def _plan(name: str, column: Column, label: Hashable, skipna: bool) -> Accumulation:
    op, dtype = name.removeprefix("cum"), column.dtype
    is_extreme = op in ("min", "max")
    has_order = column.kind == "string" or column.type.is_counted or column.type.ordered
    if column.valid is not None and not column.is_nullable:
        raise NotImplementedError(
            f"{name}: column {label!r} has missing booleans; call fillna first."
        )
    if not (
        column.is_numeric
        or (is_extreme and has_order)
        or (column.kind == "timedelta" and op == "sum")
    ):
        raise TypeError(f"{name}: column {label!r} must hold numbers, got {column.dtype_name}.")
    if is_extreme and dtype.kind == "c":
        raise TypeError(
            f"{name}: complex numbers have no order, got column {label!r}. "
            "Take the real part first, with map(jnp.real)."
        )
    if not is_extreme and dtype.kind in "biu":
        dtype = wide(np.uint64 if dtype.kind == "u" else np.int64)
    return Accumulation(op, dtype, hole_kind(column), skipna)


@functools.partial(tiered, static_argnums=(3, 4))
def _accumulate(
    data: tuple[Array, ...],
    missing: tuple[Array | None, ...],
    num_rows: Count,
    plans: tuple[Accumulation, ...],
    layout: Layout,
) -> tuple[tuple[Array, ...], tuple[Array | None, ...], Array | None]:
    """The scans, their masks, and whether a sum of timedeltas overflows; None if there is none."""
    results, masks, overflows = [], [], None
    for x, is_missing, plan in zip(data, missing, plans, strict=True):
        x = x.astype(plan.dtype)
        identity = identity_of_reduction(plan.op, plan.dtype)
        if plan.op == "prod":
            # The derivative of a product multiplies by the padding, which may hold NaN.
            x = jnp.where(is_row(x.shape[0], num_rows, layout), x, identity)
        if is_missing is not None:
            x = jnp.where(is_missing, identity, x)
        result = primitives.inclusive_scan(x, plan.op, **layout.on_mesh)
        if plan.holes == "time" and plan.op == "sum":
            # A sum overflows if its sign differs from the signs of both terms.
            sign_changes = ((result - x) ^ result) & (x ^ result)
            is_bad = (sign_changes < 0) & is_row(x.shape[0], num_rows, layout)
            overflows = jnp.any(is_bad) if overflows is None else overflows | jnp.any(is_bad)
        valid = None
        if is_missing is not None:
            if not plan.skipna:
                is_missing = primitives.inclusive_scan(is_missing, "max", **layout.on_mesh)
            result, valid = with_holes(result, None, is_missing, plan.holes)
        results.append(result)
        masks.append(valid)
    return tuple(results), tuple(masks), overflows


def cumulate_across(
    name: str, columns: tuple[Column, ...], labels: Sequence[Hashable], skipna: bool
) -> tuple[Column, ...]:
    """Scans each row over its columns."""
    if not columns:
        return ()
    columns = of_one_type(name, columns)
    plan = _plan(name, columns[0], labels[0], skipna)
    data = _accumulate_across(tuple(column.data for column in columns), plan)
    return tuple(map(Column, data))


@functools.partial(tiered, static_argnums=1)
def _accumulate_across(data: tuple[Array, ...], plan: Accumulation) -> tuple[Array, ...]:
    total, results = None, []
    is_result_missing = jnp.zeros(data[0].shape, jnp.bool_)
    for x in data:
        x = x.astype(plan.dtype)
        is_missing = Column(x).missing()
        x = jnp.where(is_missing, identity_of_reduction(plan.op, plan.dtype), x)
        total = x if total is None else COMBINE[plan.op](total, x)
        is_result_missing = is_missing if plan.skipna else is_result_missing | is_missing
        if jnp.issubdtype(plan.dtype, jnp.inexact):
            results.append(jnp.where(is_result_missing, plan.dtype.type(np.nan), total))
        else:
            results.append(total)
    return tuple(results)


class Cumulative(NDFrame):
    """The cumulative methods of frames and series."""

    def cumsum(
        self, axis: Axis = 0, skipna: bool = True, numeric_only: bool = False, **rest: object
    ) -> Self:
        """The sum of the values up to each row; missing values are skipped and stay missing.

        Differences from pandas:
            Floats are summed in blocks. The result differs from pandas' by at most `2 * n * eps`
            times the sum of the absolute values.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([3, 1, 2]).cumsum().tolist()
            [3, 4, 6]
        """
        check_rest("cumsum", rest)
        return self._cumulate("cumsum", axis, skipna, numeric_only)

    def cumprod(
        self, axis: Axis = 0, skipna: bool = True, numeric_only: bool = False, **rest: object
    ) -> Self:
        """The product of the values up to each row; see `cumsum`."""
        check_rest("cumprod", rest)
        return self._cumulate("cumprod", axis, skipna, numeric_only)

    def cummin(self, axis: Axis = 0, skipna: bool = True, numeric_only: bool = False) -> Self:
        """The least of the values up to each row; see `cumsum`."""
        return self._cumulate("cummin", axis, skipna, numeric_only)

    def cummax(self, axis: Axis = 0, skipna: bool = True, numeric_only: bool = False) -> Self:
        """The greatest of the values up to each row; see `cumsum`."""
        return self._cumulate("cummax", axis, skipna, numeric_only)

    def _cumulate(self, name: str, axis: Axis, skipna: bool, numeric_only: bool) -> Self:
        of = numeric_part(self) if numeric_only else self
        table, skipna = of._table, check_flag(skipna, "skipna")
        if axis_number(axis or 0, self):
            return of._like(
                table.with_columns(cumulate_across(name, table.columns, of._names, skipna))
            )

        def on_host(column: Column) -> Column:
            def cumulated(rows: object) -> Any:
                return getattr(rows, name)(skipna=skipna)

            return of_rows(column, table.num_rows, cumulated, name)

        columns = objects_apart(
            table.columns,
            lambda columns, labels: cumulate(name, tuple(columns), labels, skipna, table),
            on_host,
            of._names,
        )
        return of._like(table.with_columns(columns))


def numeric_part(of: NDFrame) -> Any:
    """The numeric and bool columns of a frame; raises for a series of other values."""
    if isinstance(of, SeriesBase):
        if of._only.is_numeric:
            return of
        raise TypeError(f"numeric_only: the series must hold numbers, got {of._only.dtype_name}.")
    assert isinstance(of, FrameBase)
    return of._of_numbers()
