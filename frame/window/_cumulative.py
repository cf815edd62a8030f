# SPDX-License-Identifier: Apache-2.0
"""Each value combined with those before it: sums, products and extremes so far."""

import functools
from collections.abc import Hashable
from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ... import primitives
from ..reductions._axis1 import of_one_type
from ..table._arguments import axis_number, check_flag
from ..table._column import NAT, NUMBER, Array, Column, Kind, fill_missing, missing_rows
from ..table._dtypes import wide
from ..table._layout import Layout
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._table import Count, Table, is_row
from ..table._tracing import is_traced
from ._string_cumsum import concatenated_so_far

_OPERATORS = {"cumsum": "add", "cumprod": "mul", "cummin": "min", "cummax": "max"}


class Accumulation(NamedTuple):
    """How a column is scanned. Static under `jit`.

    Attributes:
        op: the operator of the scan.
        dtype: in which it is done.
        kind: of the values, which says what stands for a missing one.
        skipna: whether a missing value is left out; else all behind it are missing too.
    """

    op: Any
    dtype: np.dtype
    kind: Kind
    skipna: bool


def cumulate(
    name: str, columns: tuple[Column, ...], labels: list[Hashable], skipna: bool, table: Table
) -> tuple[Column, ...]:
    """The columns with each value combined with those before it.

    Raises:
        OutOfBoundsTimedelta: a sum of timedeltas passes the range of int64; not inside `jit`.
        TypeError: the operation does not support the dtype of a column.
    """
    columns = tuple(map(fill_missing, columns))
    is_text = [name == "cumsum" and column.kind == "string" for column in columns]
    scanned = [column for column, text in zip(columns, is_text, strict=True) if not text]
    plans = tuple(
        _plan(name, column, label, skipna)
        for column, label, text in zip(columns, labels, is_text, strict=True)
        if not text
    )
    missing = tuple(_missing(column) for column in scanned)
    data = tuple(column.data for column in scanned)
    scans, overflows = _accumulate(data, missing, table.num_rows, plans, table.layout)
    if overflows is not None and not is_traced(overflows) and bool(overflows):
        raise pd.errors.OutOfBoundsTimedelta(
            f"overflow in timedelta operation: {name} passes the range of int64. "
            "Convert the column to a coarser unit first, with astype."
        )
    results = iter(scans)
    return tuple(
        concatenated_so_far(column, label, skipna, table)
        if text
        else Column(next(results), None, column.type)
        for column, label, text in zip(columns, labels, is_text, strict=True)
    )


def _plan(name: str, column: Column, label: Hashable, skipna: bool) -> Accumulation:
    op, dtype = _OPERATORS[name], column.dtype
    is_extreme = op in ("min", "max")
    if column.valid is not None:
        raise NotImplementedError(
            f"{name}: column {label!r} has missing booleans; call fillna first."
        )
    if not (
        column.is_numeric
        or (is_extreme and (column.kind == "string" or column.type.is_time or column.type.ordered))
        or (column.kind == "timedelta" and op == "add")
    ):
        raise TypeError(f"{name}: column {label!r} must hold numbers, got {column.dtype_name}.")
    if is_extreme and dtype.kind == "c":
        raise TypeError(
            f"{name}: complex numbers have no order, got column {label!r}. "
            "Take its real part, with map(jnp.real)."
        )
    if not is_extreme and dtype.kind in "biu":
        dtype = wide(np.uint64 if dtype.kind == "u" else np.int64)
    return Accumulation(op, dtype, column.kind, skipna)


def missing_value(kind: Kind, dtype: np.dtype) -> Any:
    """What stands for a missing value among those of a kind, none of them a plain integer."""
    if kind in ("datetime", "timedelta"):
        return np.int64(NAT)
    return dtype.type(np.nan if kind == "number" else -1)


def _missing(column: Column) -> Array | None:
    return column.missing() if column.can_miss else None


@functools.partial(jax.jit, static_argnums=(3, 4))
def _accumulate(
    data: tuple[Array, ...],
    missing: tuple[Array | None, ...],
    num_rows: Count,
    plans: tuple[Accumulation, ...],
    layout: Layout,
) -> tuple[tuple[Array, ...], Array | None]:
    """The scans, and whether a sum of timedeltas overflows; None if there is no such sum."""
    results, overflows = [], None
    for x, is_missing, plan in zip(data, missing, plans, strict=True):
        x = x.astype(plan.dtype)
        if plan.op == "mul":
            # A product's derivative multiplies by padding behind the rows too: NaN spoils it.
            x = jnp.where(is_row(x.shape[0], num_rows, layout), x, neutral(plan.op, plan.dtype))
        if is_missing is not None:
            x = jnp.where(is_missing, neutral(plan.op, plan.dtype), x)
        result = primitives.inclusive_scan(x, plan.op, **layout.on_mesh)
        if plan.kind == "timedelta" and plan.op == "add":
            # A sum overflows where its sign differs from that of both terms.
            changes = ((result - x) ^ result) & (x ^ result)
            is_bad = (changes < 0) & is_row(x.shape[0], num_rows, layout)
            overflows = jnp.any(is_bad) if overflows is None else overflows | jnp.any(is_bad)
        if is_missing is not None:
            if not plan.skipna:
                is_missing = primitives.inclusive_scan(is_missing, "max", **layout.on_mesh)
            result = jnp.where(is_missing, missing_value(plan.kind, plan.dtype), result)
        results.append(result)
    return tuple(results), overflows


def cumulate_across(
    name: str, columns: tuple[Column, ...], labels: list[Hashable], skipna: bool
) -> tuple[Column, ...]:
    """The columns with each value combined with those before it in its row."""
    if not columns:
        return ()
    columns = of_one_type(name, columns)
    plan = _plan(name, columns[0], labels[0], skipna)
    data = _accumulate_across(tuple(column.data for column in columns), plan)
    return tuple(map(Column, data))


@functools.partial(jax.jit, static_argnums=1)
def _accumulate_across(data: tuple[Array, ...], plan: Accumulation) -> tuple[Array, ...]:
    combine = {"add": jnp.add, "mul": jnp.multiply, "min": jnp.minimum, "max": jnp.maximum}[plan.op]
    total, results = None, []
    has_gap = jnp.zeros(data[0].shape, jnp.bool_)
    for x in data:
        x = x.astype(plan.dtype)
        is_missing = missing_rows(x, None, NUMBER)
        x = jnp.where(is_missing, neutral(plan.op, plan.dtype), x)
        total = x if total is None else combine(total, x)
        has_gap = is_missing if plan.skipna else has_gap | is_missing
        if jnp.issubdtype(plan.dtype, jnp.inexact):
            results.append(jnp.where(has_gap, plan.dtype.type(np.nan), total))
        else:
            results.append(total)
    return tuple(results)


def neutral(op: str, dtype: np.dtype) -> Any:
    """What an operator leaves alone."""
    if dtype == np.bool_:
        return np.bool_(op == "min")
    if op in ("add", "mul"):
        return dtype.type(op == "mul")
    if dtype.kind in "iu":
        return dtype.type(np.iinfo(dtype).max if op == "min" else np.iinfo(dtype).min)
    return dtype.type(np.inf if op == "min" else -np.inf)


class Cumulative(NDFrame):
    """What frames and series accumulate, column by column."""

    def cumsum(self, axis: Any = 0, skipna: bool = True, numeric_only: bool = False) -> Self:
        """The sum of the values up to each row; a missing one is left out, and stays missing.

        Differences from pandas:
            Sums of floats are taken in blocks: they differ from pandas' by at most `2 * n * eps`
            of the sum of the absolute values.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([3, 1, 2]).cumsum().tolist()
            [3, 4, 6]
        """
        return self._cumulate("cumsum", axis, skipna, numeric_only)

    def cumprod(self, axis: Any = 0, skipna: bool = True, numeric_only: bool = False) -> Self:
        """The product of the values up to each row; see `cumsum`."""
        return self._cumulate("cumprod", axis, skipna, numeric_only)

    def cummin(self, axis: Any = 0, skipna: bool = True, numeric_only: bool = False) -> Self:
        """The least of the values up to each row; see `cumsum`."""
        return self._cumulate("cummin", axis, skipna, numeric_only)

    def cummax(self, axis: Any = 0, skipna: bool = True, numeric_only: bool = False) -> Self:
        """The greatest of the values up to each row; see `cumsum`."""
        return self._cumulate("cummax", axis, skipna, numeric_only)

    def _cumulate(self, name: str, axis: Any, skipna: bool, numeric_only: bool) -> Self:
        of = numeric_part(self) if numeric_only else self
        given = (name, of._table.columns, column_labels(of), check_flag(skipna, "skipna"))
        is_across = axis_number(axis or 0, self)
        columns = cumulate_across(*given) if is_across else cumulate(*given, self._table)
        return of._like(of._table.with_columns(columns))


def column_labels(of: NDFrame) -> list[Hashable]:
    """What the columns are called, for errors."""
    return list(of._labels) if isinstance(of, FrameBase) else [of._name]  # pyright: ignore


def numeric_part(of: Any) -> Any:
    """A frame's columns of numbers and bools."""
    if isinstance(of, SeriesBase):
        if of._only.is_numeric:
            return of
        raise TypeError(f"numeric_only: a series of {of._only.dtype_name} holds no numbers.")
    places = [place for place, column in enumerate(of._table.columns) if column.is_numeric]
    return of._columns_at(places)
