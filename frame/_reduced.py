# SPDX-License-Identifier: Apache-2.0
"""Columns reduced to a number each, all of them in one compiled call."""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..shardings._compat import is_x64_enabled
from ._column import NAT, Array, Column
from ._layout import Layout
from ._row_blocks import COMBINE, identity_of, reduce_rows
from ._table import Count

MOMENTS = ("var", "std", "sem", "skew", "kurt")
PLACES = ("argmin", "argmax")
NOWHERE = np.int32(np.iinfo(np.int32).max)


class Reduction(NamedTuple):
    """How a column, or several as if they were one, is reduced. Static under `jit`.

    Attributes:
        op: the name of pandas' method.
        skipna: whether missing values are left out; else one of them makes the result missing.
        ddof: what the divisor of a variance is less than the number of values.
        min_count: fewer values than that sum up to a missing value.
        missing: which number stands for a missing value: "code" for a negative one, "time" for
            NaT, "nan", or "" if none does.
        zero: the number that is false.
        dtype: what the columns are cast to.
    """

    op: str
    skipna: bool
    ddof: int
    min_count: int
    missing: str
    zero: int
    dtype: np.dtype


class Reduced(NamedTuple):
    """What a column came to.

    Attributes:
        value: a scalar; of a float NaN where it is missing.
        is_missing: whether pandas shows a missing value.
    """

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
    """How a column is reduced by an operation."""
    missing = "nan" if column.is_float else ""
    zero = 0
    if column.type.has_codes:
        missing = "code"
        # Of strings the empty one is false; the dictionary is sorted.
        is_string = column.kind == "string" and len(column.dictionary) > 0
        zero = 0 if is_string and column.dictionary.values[0] == "" else -2
    elif column.type.is_time:
        missing = "time"
    uses = (ddof if op in MOMENTS else 0, min_count if op in ("sum", "prod") else 0)
    return Reduction(op, skipna, *uses, missing, zero, column.dtype if dtype is None else dtype)


def reduce_columns(
    groups: Sequence[Sequence[Column]],
    plans: Sequence[Reduction],
    num_rows: Count,
    layout: Layout,
) -> tuple[Reduced, ...]:
    """Reduces columns, each group of them to one value, in one compiled call."""
    arrays = tuple(tuple(column.arrays for column in group) for group in groups)
    return _reduce(arrays, num_rows, tuple(plans), layout)


@functools.partial(jax.jit, static_argnums=(2, 3))
def _reduce(
    groups: Any, num_rows: Count, plans: tuple[Reduction, ...], layout: Layout
) -> tuple[Reduced, ...]:
    def sums(rows: Any, is_row: Array, place: Array) -> dict[str, Any]:
        del place
        made: dict[str, Any] = {"sum": {}}
        for i, j, plan, data, present in present_values(rows, plans, is_row):
            made["sum"][f"count {i} {j}"] = present.astype(jnp.int32)
            name, values = first_values(plan, data, present)
            made.setdefault(name, {})[f"{i} {j}"] = values
        return made

    first = reduce_rows(sums, groups, num_rows, layout)
    counts, values = [], []
    for i, (group, plan) in enumerate(zip(groups, plans, strict=True)):
        name = first_reduction(plan)
        counts.append(joined("sum", [first["sum"][f"count {i} {j}"] for j in range(len(group))]))
        values.append(joined(name, [first[name][f"{i} {j}"] for j in range(len(group))]))
    if any(plan.op in MOMENTS for plan in plans):
        values = _moments(groups, plans, counts, values, num_rows, layout)
    if any(plan.op in PLACES for plan in plans):
        values = _places(groups, plans, values, num_rows, layout)
    return tuple(
        finished(plan, value, count, num_rows * np.int32(len(group)))
        for plan, value, count, group in zip(plans, values, counts, groups, strict=True)
    )


def present_values(rows: Any, plans: tuple[Reduction, ...], is_row: Array) -> Any:
    """Of each column: its group and place in it, its plan, the values, and which are there."""
    for i, (group, plan) in enumerate(zip(rows, plans, strict=True)):
        for j, (data, valid) in enumerate(group):
            present = is_row
            if valid is not None:
                present = is_row & valid
            elif plan.missing == "code":
                present = is_row & (data >= 0)
            elif plan.missing == "time":
                present = is_row & (data != np.int64(NAT))
            elif jnp.issubdtype(data.dtype, jnp.inexact):
                present = is_row & ~jnp.isnan(data)
            yield i, j, plan, data.astype(plan.dtype), present


def joined(name: str, parts: Sequence[Array]) -> Array:
    """What the columns of a group came to, as one."""
    return functools.reduce(COMBINE[name], parts)


def first_reduction(plan: Reduction) -> str:
    """The reduction of the first pass over the rows."""
    if plan.op in PLACES:
        return plan.op.removeprefix("arg")
    return plan.op if plan.op in ("min", "max", "prod", "any", "all") else "sum"


def first_values(plan: Reduction, data: Array, present: Array) -> tuple[str, Array]:
    """What the first pass over the rows adds up."""
    name = first_reduction(plan)
    match plan.op:
        case "any":
            is_missing_true = not plan.skipna and plan.missing
            is_true = jnp.where(present, data != data.dtype.type(plan.zero), bool(is_missing_true))
            return name, is_true
        case "all":
            return name, ~present | (data != data.dtype.type(plan.zero))
        case "count":
            return name, present.astype(jnp.int32)
        case "min" | "max" | "argmin" | "argmax":
            return name, jnp.where(present, data, identity_of(name, data.dtype))
    wide = data.astype(sum_dtype(plan))
    return name, jnp.where(present, wide, identity_of(name, wide.dtype))


def sum_dtype(plan: Reduction) -> np.dtype:
    """The dtype in which values are added up."""
    is_wide, dtype = is_x64_enabled(), plan.dtype
    if dtype.kind == "c":
        return np.dtype(np.complex128 if is_wide else np.complex64)
    if jnp.issubdtype(dtype, jnp.floating) or plan.op not in ("sum", "prod"):
        return np.dtype(np.float64 if is_wide else np.float32)
    return jax.dtypes.canonicalize_dtype(np.uint64 if dtype.kind == "u" else np.int64)


def result_dtype(plan: Reduction) -> np.dtype:
    """The dtype of the result, where nothing is missing."""
    dtype, op = plan.dtype, plan.op
    if op in ("any", "all"):
        return np.dtype(np.bool_)
    if op in ("count", *PLACES):
        return jax.dtypes.canonicalize_dtype(np.int64)
    if op in ("min", "max") or plan.missing == "time":
        return dtype
    if dtype.kind == "c" and op in MOMENTS:
        return np.dtype(f"f{dtype.itemsize // 2}")
    if dtype == jnp.bfloat16:
        return np.dtype(np.float32)
    is_wider = op in ("sum", "mean") and dtype == np.float16
    return dtype if dtype.kind in "fc" and not is_wider else sum_dtype(plan)


def _moments(
    groups: Any,
    plans: tuple[Reduction, ...],
    counts: list[Array],
    totals: list[Array],
    num_rows: Count,
    layout: Layout,
) -> list[Array]:
    """Variances and what else is made of distances from the mean, by a second pass."""
    wanted = [i for i, plan in enumerate(plans) if plan.op in MOMENTS]
    means = {i: totals[i] / at_least_one(counts[i]).astype(totals[i].dtype) for i in wanted}

    def powers(rows: Any, is_row: Array, place: Array) -> dict[str, Any]:
        del place
        made: dict[str, Array] = {}
        of_wanted = tuple(plans[i] for i in wanted)
        for k, j, plan, data, present in present_values(rows, of_wanted, is_row):
            for power, values in distances(plan, data, present, means[wanted[k]]).items():
                made[f"{power} {k} {j}"] = values
        return {"sum": made}

    rows = tuple(groups[i] for i in wanted)
    second = reduce_rows(powers, rows, num_rows, layout)["sum"]
    results = list(totals)
    for k, i in enumerate(wanted):
        parts = range(len(groups[i]))
        of_power = {
            power: joined("sum", [second[f"{power} {k} {j}"] for j in parts])
            for power in (2, 3, 4)
            if f"{power} {k} 0" in second
        }
        results[i] = of_powers(plans[i], counts[i], of_power)
    return results


def distances(plan: Reduction, data: Array, present: Array, mean: Array) -> dict[int, Array]:
    """Powers of the distances from the mean, as many as an operation needs."""
    distance = jnp.where(present, data.astype(mean.dtype) - mean, mean.dtype.type(0))
    square = jnp.real(distance * jnp.conj(distance))
    powers = {2: square}
    if plan.op == "skew":
        powers[3] = square * distance
    if plan.op == "kurt":
        powers[4] = square * square
    return powers


def of_powers(plan: Reduction, count: Array, powers: dict[int, Array]) -> Array:
    """A variance or its like of the sums of powers of the distances from the mean."""
    squares = powers[2]
    dtype = squares.dtype
    n = count.astype(dtype)

    def over(divisor: Array) -> Array:
        return jnp.where(divisor > 0, divisor, dtype.type(1))

    if plan.op == "skew":
        spread = over(squares)
        skew = n * jnp.sqrt(over(n - 1)) / over(n - 2) * powers[3] / (spread * jnp.sqrt(spread))
        return jnp.where(squares == 0, dtype.type(0), skew)
    if plan.op == "kurt":
        adjusted = over((n - 2) * (n - 3))
        kurt = n * (n + 1) * (n - 1) * powers[4] / (adjusted * over(squares * squares))
        kurt = kurt - 3 * (n - 1) * (n - 1) / adjusted
        return jnp.where(squares == 0, dtype.type(0), kurt)
    variance = squares / over(n - plan.ddof)
    if plan.op == "var":
        return variance
    deviation = root(variance)
    return deviation if plan.op == "std" else deviation / jnp.sqrt(over(n))


def root(x: Array) -> Array:
    """The square root, whose derivative at zero is finite."""
    is_positive = x > 0
    return jnp.where(is_positive, jnp.sqrt(jnp.where(is_positive, x, x.dtype.type(1))), x)


def _places(
    groups: Any, plans: tuple[Reduction, ...], extremes: list[Array], num_rows: Count, layout: Any
) -> list[Array]:
    """The first row that holds the extreme, by a second pass."""
    wanted = [i for i, plan in enumerate(plans) if plan.op in PLACES]

    def places(rows: Any, is_row: Array, place: Array) -> dict[str, Any]:
        of_wanted = tuple(plans[i] for i in wanted)
        return {
            "min": [
                jnp.where(present & (data == extremes[wanted[k]]), place, NOWHERE)
                for k, _, _, data, present in present_values(rows, of_wanted, is_row)
            ]
        }

    found = reduce_rows(places, tuple(groups[i] for i in wanted), num_rows, layout)["min"]
    results = list(extremes)
    for i, place in zip(wanted, found, strict=True):
        results[i] = place
    return results


def at_least_one(count: Array) -> Array:
    """A divisor that is not zero."""
    return jnp.maximum(count, count.dtype.type(1))


def finished(plan: Reduction, value: Array, count: Array, num_rows: Count) -> Reduced:
    """The result, missing where it is for want of values."""
    op = plan.op
    least = {"sum": plan.min_count, "prod": plan.min_count, "count": 0, "any": 0, "all": 0}
    least |= {"skew": 3, "kurt": 4, "var": plan.ddof + 1}
    least |= {"std": least["var"], "sem": least["var"]}
    is_missing = count < np.int32(least.get(op, 1))
    if not plan.skipna and op not in ("count", "any", "all"):
        is_missing = is_missing | (count < num_rows)
    if op == "mean":
        value = value / at_least_one(count).astype(value.dtype)
    dtype = result_dtype(plan)
    if plan.missing == "time" and op not in ("count", "any", "all", *PLACES):
        value = jnp.where(is_missing, value.dtype.type(0), value).astype(dtype)
        return Reduced(jnp.where(is_missing, np.int64(NAT), value), is_missing)
    value = value.astype(dtype)
    if jnp.issubdtype(dtype, jnp.inexact):
        value = jnp.where(is_missing, dtype.type(np.nan), value)
    elif plan.missing == "code" and op in ("min", "max"):
        value = jnp.where(is_missing, np.int32(-1), value)
    elif op in PLACES:
        value = jnp.where(is_missing, dtype.type(-1), value)
    return Reduced(value, is_missing)
