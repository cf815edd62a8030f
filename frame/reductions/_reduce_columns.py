# SPDX-License-Identifier: Apache-2.0
"""Reductions of columns to scalars, in one compiled call."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ...primitives._accumulators import (
    COMBINE,
    identity_of_reduction,
    kurtosis,
    positive,
    powers_of,
    root_of,
    skewness,
)
from ...primitives.staging import tiered
from ...shardings._compat import is_x64_enabled
from ..ops._array_ops import converted
from ..table._column import NAT, Array, Column, bare
from ..table._dtypes import wide
from ..table._layout import Layout
from ..table._table import Count
from ..table._time_sums import check_time_sums
from ..table._tracing import at_once

ENDS = ("min", "max")
MOMENTS = ("var", "std", "sem", "skew", "kurt")
SHAPES = ("skew", "kurt")
PLACES = ("argmin", "argmax")

# Parts of a moment: arrays by the name of their reduction.
Parts = dict[str, Any]


class Reduction(NamedTuple):
    """The options of a reduction of one column, or of several as one. Static under `jit`.

    Attributes:
        op: the name of pandas' method.
        skipna: whether missing values are skipped; otherwise one makes the result missing.
        ddof: subtracted from the number of values in the divisor of a variance.
        min_count: a sum or product of fewer values is missing.
        missing: the encoding of a missing result: "code" for -1, "time" for NaT, or "".
        zero: the number that is false.
        dtype: the dtype that the columns are cast to.
        is_kleene: whether a missing value makes "any" or "all" missing, unless others decide.
    """

    op: str
    skipna: bool
    ddof: int
    min_count: int
    missing: str
    zero: int
    dtype: np.dtype
    is_kleene: bool = False


class Reduced(NamedTuple):
    """The result of a reduction, and whether pandas shows a missing value."""

    value: Array
    is_missing: Array


def reduction_for(
    column: Column,
    op: str,
    *,
    skipna: bool = True,
    ddof: int = 1,
    min_count: int = 0,
    dtype: np.dtype | None = None,
) -> Reduction:
    """Returns the options of a reduction of a column."""
    missing, zero = "time" if column.type.is_counted else "", 0
    if column.type.has_codes:
        missing = "code"
        # The empty string is false; it comes first in the sorted dictionary.
        is_string = column.kind == "string" and len(column.dictionary) > 0
        zero = 0 if is_string and column.dictionary.values[0] == "" else -2
    float(ddof)  # Raises for a ddof that is not a number.
    uses = (ddof if op in MOMENTS else 0, min_count if op in ("sum", "prod") else 0)
    if dtype is None:
        dtype = wide(np.float64) if is_of_doubles(column, op) else column.dtype
    return Reduction(op, skipna, *uses, missing, zero, dtype, is_kleene(column, op, skipna))


def is_kleene(column: Column, op: str, skipna: bool) -> bool:
    """Whether a missing value makes "any" or "all" missing, unless others decide."""
    return op in ("any", "all") and not skipna and column.is_nullable


def is_of_doubles(column: Column, op: str) -> bool:
    """Whether a reduction of float32 gives float64, as Arrow's do."""
    is_sum = op in ("sum", "prod", "mean", *MOMENTS)
    return is_sum and column.family == "arrow" and column.dtype == np.float32


def reduce_columns(
    groups: Sequence[Sequence[Column]], plans: Sequence[Reduction], num_rows: Count, layout: Layout
) -> tuple[Reduced, ...]:
    """Reduces each group of columns to one value, in one compiled call."""
    for group, plan in zip(groups, plans, strict=True):
        if plan.op == "sum":
            for column in group:
                check_time_sums(column, num_rows, layout)
    columns, places = placed(groups)
    return at_once(reduce_groups, columns, num_rows, tuple(plans), places, layout)


def placed(
    groups: Sequence[Sequence[Column]],
) -> tuple[tuple[Column, ...], tuple[tuple[int, ...], ...]]:
    """The distinct columns of groups, without dictionaries, and the places of those of each."""
    distinct = {id(column): column for group in groups for column in group}
    places = {key: place for place, key in enumerate(distinct)}
    own = tuple(tuple(places[id(column)] for column in group) for group in groups)
    return tuple(map(bare, distinct.values())), own


@functools.partial(tiered, static_argnums=(2, 3, 4))
def reduce_groups(
    columns: object,
    num_rows: Count,
    plans: tuple[Reduction, ...],
    groups: tuple[tuple[int, ...], ...],
    layout: Layout,
) -> tuple[Reduced, ...]:
    """Reduces groups of columns, each given by the places of its columns."""
    rows = _Rows(columns, num_rows, layout)
    rows.reduce_whole(plans, groups)
    return tuple(_reduce_group(*each, rows) for each in zip(plans, groups, strict=True))


class _Asked(NamedTuple):
    """A reduction of one column as it is, apart from its NaNs.

    Attributes:
        place: of the column.
        op: a name of `primitives.reduce`.
        dtype: of a sum or an average; None for others.
        ddof: of a variance.
    """

    place: int
    op: str
    dtype: np.dtype | None
    ddof: int


class _Rows:
    """Columns that are reduced together, and what is known of them."""

    def __init__(self, columns: Any, num_rows: Count, layout: Layout):
        self.columns, self.num_rows, self.layout = columns, num_rows, layout
        self._found: dict[_Asked, tuple[Array, Array]] = {}

    def asked(self, plan: Reduction, place: int, of_one: bool) -> _Asked | None:
        """How the first pass reduces a column as it is; None if its values are others."""
        if not _is_whole(plan, self.columns[place]):
            return None
        if of_one and plan.op in ("var", "std", "sem"):
            return _Asked(place, "var" if plan.op == "var" else "std", _sum_dtype(plan), plan.ddof)
        name = plan.op if plan.op in (*PLACES, "count") else _first_reduction(plan)
        if name not in ("count", "sum", *ENDS, *PLACES):
            return None
        return _Asked(place, name, _sum_dtype(plan) if name == "sum" else None, 0)

    def reduce_whole(self, plans: Sequence[Reduction], groups: Sequence[Sequence[int]]) -> None:
        """Reduces all columns that are taken as they are, in as few calls as there are dtypes."""
        asked = dict.fromkeys(
            self.asked(plan, place, len(group) == 1)
            for plan, group in zip(plans, groups, strict=True)
            for place in group
        )
        asked.pop(None, None)
        calls: dict[tuple[np.dtype | None, int], list[_Asked]] = {}
        # Those of one dtype choose the calls, which the others join.
        for one in sorted(filter(None, asked), key=lambda one: (one.dtype is None, -one.ddof)):
            fits = (
                key
                for key in calls
                if (one.dtype is None or one.dtype == key[0])
                and (one.op not in MOMENTS or one.ddof == key[1])
            )
            calls.setdefault(next(fits, (one.dtype, one.ddof)), []).append(one)
        for (dtype, ddof), together in calls.items():
            self._found.update(self._reduced(together, dtype, ddof))

    def _reduced(
        self, together: Sequence[_Asked], dtype: np.dtype | None, ddof: int
    ) -> dict[_Asked, tuple[Array, Array]]:
        reduced = primitives.reduce(
            [self.columns[one.place].data for one in together],
            [one.op for one in together],
            num_valid=self.num_rows, skip_nan=True, dtype=dtype, ddof=ddof,
            **self.layout.on_mesh,
        )  # fmt: skip
        results = zip(reduced.values, reduced.counts, strict=True)
        return dict(zip(together, results, strict=True))

    def found(self, asked: _Asked) -> tuple[Array, Array]:
        """The value and the number of values of a column that was reduced as it is."""
        return self._found[asked]


def _reduce_group(plan: Reduction, group: Sequence[int], rows: _Rows) -> Reduced:
    asked = [rows.asked(plan, place, len(group) == 1) for place in group]
    first = asked[0]
    if first is not None and first.op in ("var", "std"):
        value, count = rows.found(first)
        return _variance_of(plan, value, count, rows.num_rows)
    columns = [rows.columns[place] for place in group]
    totals = [
        _first_pass(plan, column, rows) if one is None else rows.found(one)
        for one, column in zip(asked, columns, strict=True)
    ]

    def moments(mean: Array) -> list[Parts]:
        return [_moments(plan, column, mean, rows.num_rows, rows.layout) for column in columns]

    return _combined(plan, totals, moments, rows.num_rows * np.int32(len(group)))


@functools.partial(tiered, static_argnums=1)
def reduce_rows(columns: Any, plans: tuple[Reduction, ...]) -> Reduced:
    """Reduces each row over its columns."""
    plan = next((one for one in plans if one.is_kleene), plans[0])
    rows = [present_values(*one) for one in zip(plans, columns, strict=True)]
    totals = [(_first_values(plan, *one), one[1].astype(jnp.int32)) for one in rows]

    def moments(mean: Array) -> list[Parts]:
        return [_distances(plan, *one, mean) for one in rows]

    return _combined(plan, totals, moments, np.int32(len(rows)))


def _combined(
    plan: Reduction,
    totals: Sequence[tuple[Array, Array]],
    moments: Callable[[Array], list[Parts]],
    num_rows: Count,
) -> Reduced:
    """Combines the values and counts of several columns; `moments` is the second pass."""
    count: Array = _joined("sum", [count for _, count in totals])
    value = _joined(_first_reduction(plan), [value for value, _ in totals])
    if plan.op in MOMENTS:
        parts = moments(value / positive(count).astype(value.dtype))
        value = _of_moments(
            plan, count, {name: _joined(name, [one[name] for one in parts]) for name in parts[0]}
        )
    return _finished(plan, value, count, num_rows)


def _first_pass(plan: Reduction, column: Column, rows: _Rows) -> tuple[Array, Array]:
    """The reduced value and the number of present values of a column."""
    name = plan.op if plan.op in (*PLACES, "count") else _first_reduction(plan)
    dtype = _sum_dtype(plan) if name in ("sum", "prod") else None
    present = functools.partial(present_values, plan)
    # A present value is never NaN, except in the parts of a complex number.
    return primitives.reduce(
        column, name, transform=present, skip_nan=dtype is None, dtype=dtype,
        num_valid=rows.num_rows, **rows.layout.on_mesh,
    )  # fmt: skip


def _is_whole(plan: Reduction, column: Column) -> bool:
    """Whether the numbers of a column are reduced as they are, apart from NaNs."""
    is_cast = column.dtype != plan.dtype
    return column.valid is None and not is_cast and column.dtype.kind in "iuf" and column.is_numeric


def _variance_of(plan: Reduction, value: Array, count: Array, num_rows: Count) -> Reduced:
    """The variance of a column, or its deviation or standard error."""
    if plan.op == "sem":
        value = value / jnp.sqrt(positive(count).astype(value.dtype))
    return _finished(plan, value, count, num_rows)


def present_values(plan: Reduction, column: Column) -> tuple[Array, Array]:
    """The values of a column, cast, or their truth; and the flags of those that are present."""
    all_rows = jnp.ones(column.data.shape, jnp.bool_)
    present = ~column.missing() if column.can_miss else all_rows
    if plan.op in ("any", "all"):
        # A missing value is true, unless it has a mask, or is nullable.
        is_present = plan.skipna or plan.is_kleene or column.valid is not None
        present = present if is_present else all_rows
        return column.data != column.data.dtype.type(plan.zero), present
    if plan.dtype.kind == "c" and plan.op == "sum" and not plan.skipna and column.is_float:
        present = all_rows  # Each part has a sum of its own: that of (nan + 1j) and 2j is nan + 3j.
    return converted(column.data, plan.dtype), present


def _joined(name: str, parts: Sequence[object]) -> Any:
    """Combines the results of the columns of a group, leaf by leaf."""
    return functools.reduce(functools.partial(jax.tree.map, COMBINE[name]), parts)


def _first_reduction(plan: Reduction) -> str:
    """The reduction of the first pass over the rows."""
    if plan.op in PLACES:
        return plan.op.removeprefix("arg")
    return plan.op if plan.op in ("min", "max", "prod", "any", "all") else "sum"


def _first_values(plan: Reduction, data: Array, present: Array) -> Array:
    """The values that the first pass over the rows reduces."""
    if plan.op == "count":
        return present.astype(jnp.int32)
    name = _first_reduction(plan)
    values = data.astype(_sum_dtype(plan)) if name in ("sum", "prod") else data
    return jnp.where(present, values, identity_of_reduction(name, values.dtype))


def _sum_dtype(plan: Reduction) -> np.dtype:
    """The dtype of the accumulator."""
    is_wide, dtype = is_x64_enabled(), plan.dtype
    if dtype.kind == "c":
        return np.dtype(np.complex128 if is_wide else np.complex64)
    if jnp.issubdtype(dtype, jnp.floating) or plan.op not in ("sum", "prod"):
        return np.dtype(np.float64 if is_wide else np.float32)
    return jax.dtypes.canonicalize_dtype(np.uint64 if dtype.kind == "u" else np.int64)


def result_dtype(plan: Reduction) -> np.dtype:
    """The dtype of a result that is not missing."""
    dtype, op = plan.dtype, plan.op
    if op in ("any", "all"):
        return np.dtype(np.bool_)
    if op in ("count", *PLACES):
        return jax.dtypes.canonicalize_dtype(np.int64)
    if op in ("min", "max") or plan.missing == "time":
        return dtype
    if dtype.kind == "c" and op in MOMENTS:
        return wide(np.float64) if op == "sem" else np.dtype(f"f{dtype.itemsize // 2}")
    if dtype == jnp.bfloat16:
        return np.dtype(np.float32)
    is_wider = (op in ("sum", "mean") and dtype == np.float16) or (op, dtype.kind) == ("mean", "c")
    return dtype if dtype.kind in "fc" and not is_wider else _sum_dtype(plan)


def _moments(
    plan: Reduction, column: Column, mean: Array, num_rows: Count, layout: Layout
) -> Parts:
    """Reduces the distances from the mean, in a second pass."""

    def parts(rows: Any, mean: Array) -> tuple[Parts, None]:
        return _distances(plan, *present_values(plan, rows), mean), None

    names = ("sum", *ENDS) if plan.op in SHAPES else ("sum",)
    ops = {name: name for name in names}
    return primitives.reduce(
        column, ops, transform=parts, operands=(mean,), num_valid=num_rows, **layout.on_mesh
    ).values


def _distances(plan: Reduction, data: Array, present: Array, mean: Array) -> Parts:
    """Powers of the distances from the mean, to be summed, and distances for their extremes."""
    distance = jnp.where(present, data.astype(mean.dtype) - mean, mean.dtype.type(0))
    square = jnp.real(distance * jnp.conj(distance))
    if plan.op not in SHAPES:
        return {"sum": (square,)}
    ends = {
        name: jnp.where(present, distance, identity_of_reduction(name, distance.dtype))
        for name in ENDS
    }
    return {"sum": powers_of(distance, square, plan.op), **ends}


def _of_moments(plan: Reduction, count: Array, parts: Parts) -> Array:
    """Computes a variance, deviation, standard error, skewness or kurtosis from its parts."""
    sums = parts["sum"]
    n = count.astype(sums[0].dtype)
    if plan.op in SHAPES:
        # Equal values are at one distance from the mean: its rounding error.
        are_equal = parts["min"] == parts["max"]
        shape = skewness(n, sums) if plan.op == "skew" else kurtosis(n, sums)
        return jnp.where(are_equal, n.dtype.type(np.nan), shape)
    variance = sums[0] / positive(n - plan.ddof)
    if plan.op == "var":
        return variance
    deviation = root_of(variance)
    return deviation if plan.op == "std" else deviation / jnp.sqrt(positive(n))


def _finished(plan: Reduction, value: Array, count: Array, num_rows: Count) -> Reduced:
    """Casts the result, and marks it missing if too few values are present."""
    op = plan.op
    min_counts = {"sum": plan.min_count, "prod": plan.min_count, "count": 0, "any": 0, "all": 0}
    min_counts |= {"skew": 3, "kurt": 4} | dict.fromkeys(("var", "std", "sem"), plan.ddof + 1)
    is_missing = count < np.int32(min_counts.get(op, 1))
    if not plan.skipna and op not in ("count", "any", "all"):
        is_missing = is_missing | (count < num_rows)
    if plan.is_kleene:
        is_missing = (count < num_rows) & (value == np.bool_(op == "all"))
    if op == "mean":
        value = value / positive(count).astype(value.dtype)
    dtype = result_dtype(plan)
    if plan.missing == "time" and op not in ("count", "any", "all", *PLACES):
        if op in ("std", "sem"):
            # A deviation may be past the range of its unit.
            is_missing = is_missing | ~(value <= 2.0**63)
        value = jnp.where(is_missing, value.dtype.type(0), value).astype(dtype)
        return Reduced(jnp.where(is_missing, np.int64(NAT), value), is_missing)
    value = value.astype(dtype)
    if jnp.issubdtype(dtype, jnp.inexact):
        is_both = dtype.kind == "c" and not plan.skipna
        value = jnp.where(
            is_missing, dtype.type(complex(np.nan, np.nan) if is_both else np.nan), value
        )
    elif plan.missing == "code" and op in ("min", "max"):
        value = jnp.where(is_missing, np.int32(-1), value)
    elif op in PLACES:
        value = jnp.where(is_missing, dtype.type(-1), value)
    return Reduced(value, is_missing)
