# SPDX-License-Identifier: Apache-2.0
"""rank."""

import functools
from collections.abc import Hashable, Sequence
from typing import Self

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ..groupby._grouped_column import Segments
from ..groupby._segmented_scans import RankPlan, ranked
from ..ops._array_ops import divided
from ..reductions._axis1 import of_one_type
from ..table._arguments import axis_number
from ..table._column import Array, Column, bare, fill_missing, of_family
from ..table._dtypes import wide
from ..table._layout import Layout
from ..table._ndframe import NDFrame, SeriesBase
from ..table._objects import sortable
from ..table._recode import renumbered
from ..table._table import Count, is_row
from ..table._types import Axis
from ..window._cumulative import numeric_part

_METHODS = ("average", "min", "max", "first", "dense")


def _rankable(column: Column, label: Hashable, num_rows: Count) -> Column:
    """Converts a column so that its keys are in the order of its values."""
    if column.dtype.kind == "c":
        raise TypeError(
            f"rank: column {label!r} of complex numbers has no ranks. "
            "Rank its real part, map(jnp.real)."
        )
    column = fill_missing(sortable(column, num_rows))
    if column.kind != "category" or column.type.ordered:
        return column
    new_codes = np.argsort(np.argsort(pd.Index(column.dictionary.values), kind="stable"))
    return Column(renumbered(column.data, new_codes), None, column.type)


def _shown(column: Column, ranks: Array, plan: RankPlan, is_series: bool) -> Column:
    """The ranks of a column: of a nullable series nullable, and whole if pandas' are."""
    if column.family is None or not is_series:
        return Column(ranks)
    if plan.method == "average" or plan.pct or column.dtype_name == "string":
        return of_family(Column(ranks), column.family)
    present = ~jnp.isnan(ranks)
    whole = jnp.where(present, ranks, 0).astype(wide(np.uint64))
    return of_family(Column(whole, present), column.family)


@functools.partial(tiered, static_argnums=(2, 3))
def _rank(column: Column, num_rows: Count, plan: RankPlan, layout: Layout) -> Array:
    """The ranks of all rows, which are one group."""
    ids = jnp.where(is_row(column.data.shape[0], num_rows, layout), np.int32(0), np.int32(-1))
    (ranks,) = ranked((column,), Segments(ids, None, 1, layout), plan)
    return ranks


def ranked_across(columns: Sequence[Column], plan: RankPlan) -> tuple[Column, ...]:
    """Ranks the values of each row across columns, as float64."""
    if not columns:
        return ()
    columns = of_one_type("rank", columns, bools=True)
    ranks = _rank_across(tuple(column.data for column in columns), plan)
    return tuple(map(Column, ranks))


@functools.partial(tiered, static_argnums=1)
def _rank_across(columns: tuple[Array, ...], plan: RankPlan) -> tuple[Array, ...]:
    values = jnp.stack(columns, axis=1)
    # Compare all pairs of values in a row.
    one, other = values[:, :, None], values[:, None, :]
    missing = Column(values).missing()
    one_missing, other_missing = missing[:, :, None], missing[:, None, :]
    is_before = other < one if plan.ascending else other > one
    is_top = plan.na_option == "top"
    is_before |= other_missing & ~one_missing if is_top else one_missing & ~other_missing
    is_same = (other == one) | (one_missing & other_missing)
    column_ids = jnp.arange(len(columns), dtype=jnp.int32)
    is_tied = is_same & (column_ids[None, :] < column_ids[:, None])[None]
    is_first = ~jnp.any(is_tied, axis=2)
    dtype = wide(np.float64)

    def counted(flags: Array, axis: int = 2) -> Array:
        return jnp.sum(flags, axis=axis, dtype=jnp.int32).astype(dtype)

    match plan.method:
        case "average":
            ranks = counted(is_before) + (counted(is_same) + 1.0) / 2.0
        case "min":
            ranks = counted(is_before) + 1.0
        case "max":
            ranks = counted(is_before) + counted(is_same)
        case "first":
            ranks = counted(is_before) + counted(is_tied) + 1.0
        case _:
            ranks = counted(is_before & is_first[:, None, :]) + 1.0
    if plan.pct:
        is_counted = is_first if plan.method == "dense" else jnp.ones(missing.shape, jnp.bool_)
        if plan.na_option == "keep":
            is_counted = is_counted & ~missing
        ranks = divided(ranks, jnp.maximum(counted(is_counted, 1), 1.0)[:, None])
    if plan.na_option == "keep":
        ranks = jnp.where(missing, np.nan, ranks)
    return tuple(ranks[:, column] for column in range(len(columns)))


class Ranking(NDFrame):
    """Ranks of frames and series."""

    def rank(
        self,
        axis: Axis = 0,
        method: str = "average",
        numeric_only: bool = False,
        na_option: str = "keep",
        ascending: bool = True,
        pct: bool = False,
    ) -> Self:
        """Ranks the values of each column from 1; `method` resolves ties.

        Differences from pandas:
            Complex numbers raise a TypeError, because they have no order.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([3.0, 1.0, 3.0, None]).rank().tolist()
            [2.5, 1.0, 2.5, nan]
        """
        if method not in _METHODS:
            raise KeyError(f"rank: method must be one of {_METHODS}, got {method!r}")
        if na_option not in ("keep", "top", "bottom"):
            raise ValueError(
                f"na_option must be one of 'keep', 'top', or 'bottom', got {na_option!r}"
            )
        of = numeric_part(self) if numeric_only else self
        table = of._table
        plan = RankPlan(method, bool(ascending), na_option, bool(pct))
        labels = of._names
        if axis_number(axis or 0, self):
            return of._with_columns(ranked_across(table.columns, plan))
        rows = table.num_rows
        columns = [
            _shown(
                column,
                _rank(bare(_rankable(column, label, rows)), rows, plan, table.layout),
                plan,
                isinstance(of, SeriesBase),
            )
            for column, label in zip(table.columns, labels, strict=True)
        ]
        return of._with_columns(columns)
