# SPDX-License-Identifier: Apache-2.0
"""rank and argsort."""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ... import primitives
from ..ops._division import divided_by_scalar
from ..reductions._axis1 import of_one_type
from ..table._arguments import axis_number
from ..table._column import NUMBER, Array, Column, fill_missing, missing_rows, ordered_keys
from ..table._dtypes import wide
from ..table._layout import Layout
from ..table._ndframe import NDFrame, SeriesBase
from ..table._recode import renumbered
from ..table._sort import argsort_rows
from ..table._table import Count, is_row
from ..table._take import gather
from ..window._cumulative import column_labels, numeric_part
from ._sort_values import check_sortable

_METHODS = ("average", "min", "max", "first", "dense")


class RankPlan(NamedTuple):
    """The options of a ranking. Static under `jit`."""

    method: str
    ascending: bool
    na_option: str
    pct: bool
    layout: Layout


def _rankable(column: Column, label: Any) -> Column:
    """Converts a column so that its keys are in the order of its values."""
    if column.dtype.kind == "c":
        raise TypeError(
            f"rank: column {label!r} of complex numbers has no ranks. "
            "Rank its real part, map(jnp.real)."
        )
    column = fill_missing(check_sortable(column, label))
    if column.kind != "category" or column.type.ordered:
        return column
    new_codes = np.argsort(np.argsort(pd.Index(column.dictionary.values), kind="stable"))
    return Column(renumbered(column.data, new_codes), None, column.type)


@functools.partial(jax.jit, static_argnums=3)
def _rank(keys: tuple[Array, ...], missing: Array | None, num_rows: Count, plan: RankPlan) -> Array:
    layout = plan.layout
    group_ids, sizes, count = _groups(keys, num_rows, layout)
    before = primitives.exclusive_scan(sizes, "add", **layout.on_mesh)
    size, below = gather((sizes, before), group_ids, layout)
    # Missing values are the last group, whatever the direction.
    num_missing = _count_missing(missing, num_rows, layout)
    num_values = num_rows - num_missing
    num_groups = count - (num_missing > 0).astype(jnp.int32)
    dense_rank = group_ids
    if not plan.ascending:
        dense_rank, below = num_groups - 1 - dense_rank, num_values - below - size
    if missing is not None:
        is_top = plan.na_option == "top"
        if is_top:
            below = below + num_missing
            dense_rank = dense_rank + (num_missing > 0).astype(jnp.int32)
        below = jnp.where(missing, np.int32(0) if is_top else num_values, below)
        dense_rank = jnp.where(missing, np.int32(0) if is_top else num_groups, dense_rank)
    below, size = below.astype(wide(np.float64)), size.astype(wide(np.float64))
    match plan.method:
        case "average":
            ranks = below + (size + 1.0) / 2.0
        case "min":
            ranks = below + 1.0
        case "max":
            ranks = below + size
        case _:
            ranks = dense_rank.astype(wide(np.float64)) + 1.0
    total = num_values if plan.na_option == "keep" else num_rows
    if plan.method == "dense":
        total = num_groups if plan.na_option == "keep" else count
    return _finished(ranks, missing, total, plan)


def _groups(keys: tuple[Array, ...], num_rows: Count, layout: Layout) -> tuple[Array, Array, Array]:
    """Group ids in the order of the values, the size of each group, and the group count."""
    if layout.mesh is None:
        groups = primitives.factorize(keys, num_valid=num_rows)
        sizes = primitives.segment_count(groups.group_ids, keys[0].shape[0])
        return groups.group_ids, sizes, groups.count
    # The sort spreads the groups over the shards, so no shard counts them all.
    distinct = primitives.unique(
        keys, num_valid=num_rows, return_inverse=True, return_counts=True, **layout.on_mesh
    )
    assert distinct.inverse is not None
    assert distinct.counts is not None
    return distinct.inverse, distinct.counts, distinct.count


@functools.partial(jax.jit, static_argnums=3)
def _rank_first(row_ids: Array, missing: Array | None, num_rows: Count, plan: RankPlan) -> Array:
    own = jnp.arange(row_ids.shape[0], dtype=jnp.int32)
    positions = jnp.zeros_like(own).at[row_ids].set(own, unique_indices=True)
    return _finished_first(positions + np.int32(1), missing, num_rows, plan)


@functools.partial(jax.jit, static_argnums=3)
def _rank_first_on_mesh(
    key: Array, missing: Array | None, num_rows: Count, plan: RankPlan
) -> Array:
    segment_ids, is_last = jnp.zeros(key.shape, jnp.int32), ()
    if missing is not None and plan.na_option == "keep":
        segment_ids = jnp.where(missing, np.int32(-1), segment_ids)
    elif missing is not None:
        # Missing values come before all others, or after them, in both directions.
        key = jnp.where(missing, jnp.zeros((), key.dtype), key)
        is_last = (missing == (plan.na_option != "top"),)
    ranks = primitives.segment_rank(
        (*is_last, key),
        plan.layout.constrain(segment_ids),
        1,
        method="first",
        descending=(*(False for _ in is_last), not plan.ascending),
        num_valid=num_rows,
        **plan.layout.on_mesh,
    )
    return _finished_first(ranks, missing, num_rows, plan)


def _finished_first(ranks: Array, missing: Array | None, num_rows: Count, plan: RankPlan) -> Array:
    num_missing = _count_missing(missing, num_rows, plan.layout)
    total = num_rows - num_missing if plan.na_option == "keep" else num_rows
    return _finished(ranks.astype(wide(np.float64)), missing, total, plan)


def _count_missing(missing: Array | None, num_rows: Count, layout: Layout) -> Array:
    if missing is None:
        return jnp.int32(0)
    return jnp.sum(missing & is_row(missing.shape[0], num_rows, layout), dtype=jnp.int32)


def _finished(ranks: Array, missing: Array | None, total: Any, plan: RankPlan) -> Array:
    if plan.pct:
        ranks = divided_by_scalar(ranks, total)
    if missing is not None and plan.na_option == "keep":
        ranks = jnp.where(missing, np.nan, ranks)
    return ranks


def ranked(column: Column, label: Any, num_rows: Count, plan: RankPlan) -> Column:
    """Ranks the values of a column, as float64."""
    column = _rankable(column, label)
    missing = column.missing() if column.can_miss else None
    if plan.method == "first":
        if plan.layout.mesh is not None:
            key, _ = ordered_keys(column)[-1]
            return Column(_rank_first_on_mesh(key, missing, num_rows, plan))
        keys = ordered_keys(
            column, descending=not plan.ascending, missing_first=plan.na_option == "top"
        )
        row_ids = argsort_rows(keys, num_rows, plan.layout)
        return Column(_rank_first(row_ids, missing, num_rows, plan))
    keys = tuple(key for key, _ in ordered_keys(column))
    return Column(_rank(keys, missing, num_rows, plan))


def ranked_across(columns: Sequence[Column], plan: RankPlan) -> tuple[Column, ...]:
    """Ranks the values of each row across columns, as float64."""
    if not columns:
        return ()
    columns = of_one_type("rank", columns, bools=True)
    ranks = _rank_across(tuple(column.data for column in columns), plan)
    return tuple(map(Column, ranks))


@functools.partial(jax.jit, static_argnums=1)
def _rank_across(columns: tuple[Array, ...], plan: RankPlan) -> tuple[Array, ...]:
    values = jnp.stack(columns, axis=1)
    # Compare all pairs of values in a row.
    one, other = values[:, :, None], values[:, None, :]
    missing = missing_rows(values, None, NUMBER)
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
        ranks = divided_by_scalar(ranks, jnp.maximum(counted(is_counted, 1), 1.0)[:, None])
    if plan.na_option == "keep":
        ranks = jnp.where(missing, np.nan, ranks)
    return tuple(ranks[:, column] for column in range(len(columns)))


class Ranking(NDFrame):
    """Ranks of frames and series."""

    def rank(
        self,
        axis: Any = 0,
        method: str = "average",
        numeric_only: bool = False,
        na_option: str = "keep",
        ascending: bool = True,
        pct: bool = False,
    ) -> Self:
        """Ranks the values of each column from 1; `method` resolves ties.

        Differences from pandas:
            Complex numbers and objects raise a TypeError, because they have no order.

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
        plan = RankPlan(method, bool(ascending), na_option, bool(pct), table.layout)
        labels = column_labels(of)
        if axis_number(axis or 0, self):
            return of._like(table.with_columns(ranked_across(table.columns, plan)))
        columns = [
            ranked(column, label, table.num_rows, plan)
            for column, label in zip(table.columns, labels, strict=True)
        ]
        return of._like(table.with_columns(columns))


class SeriesOrder(SeriesBase):
    """The sort order of a series."""

    def argsort(
        self, axis: Any = 0, kind: Any = "quicksort", order: Any = None, stable: Any = None
    ) -> Self:
        """Row positions that sort the values, missing values last.

        Differences from pandas:
            The sort is always stable, regardless of `kind`.
        """
        axis_number(axis or 0, self)
        del order, stable
        if kind not in (None, "quicksort", "mergesort", "heapsort", "stable"):
            raise ValueError(
                f"sort kind must be one of 'quick', 'heap', or 'stable' (got {kind!r})"
            )
        table = self._table
        column = check_sortable(self._only, self._name)
        row_ids = argsort_rows(ordered_keys(column), table.num_rows, table.layout)
        return self._with_column(Column(row_ids.astype(wide(np.int64))))
