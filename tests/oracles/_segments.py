# SPDX-License-Identifier: Apache-2.0
"""Reductions, ranks, quantiles and shifts of the rows of each segment."""

import math
from typing import Any

import jax
import numpy as np

from ._keys import columns_of, key_ranks, per_column, take
from ._values import is_float


def segment_reduce(
    x: np.ndarray,
    segment_ids: np.ndarray,
    num_segments: int,
    op: str,
    *,
    num_valid: int | None = None,
    ddof: int = 0,
) -> np.ndarray:
    """One row for each segment; sums, products and moments of floats as wide as NumPy has them."""
    num_valid = len(segment_ids) if num_valid is None else num_valid
    columns = x.reshape(len(x), math.prod(x.shape[1:]))
    table = [
        [
            _reduced(column[members], members, op, ddof)
            for column in columns.T
        ]
        for segment in range(num_segments)
        for members in [np.flatnonzero(segment_ids[:num_valid] == segment)]
    ]  # fmt: skip
    return np.array(table).reshape(num_segments, *x.shape[1:])


def _reduced(rows: np.ndarray, row_ids: np.ndarray, op: str, ddof: int) -> Any:
    """One column of one segment."""
    dtype = rows.dtype
    if op == "count":
        return np.int32(len(rows))
    if op in ("any", "all"):
        with np.errstate(invalid="ignore"):  # signalling NaNs
            return getattr(np, op)(rows != 0)
    if op in ("first", "last"):
        return rows[0 if op == "first" else -1] if len(rows) else dtype.type(0)
    if op in ("min", "max", "argmin", "argmax"):
        return _extreme(rows, row_ids, op)
    if dtype.kind == "c":
        rows = rows.astype(np.complex128)
    elif is_float(dtype) or op in ("mean", "var", "std", "logsumexp"):
        rows = rows.astype(np.float64)
    elif dtype.kind == "b":
        rows = rows.astype(np.int32)
    if op in ("sum", "prod"):
        return getattr(np, op)(rows, dtype=rows.dtype)
    if op == "logsumexp":
        return np.logaddexp.reduce(rows.astype(np.float64), initial=-np.inf)
    if len(rows) - (0 if op == "mean" else ddof) <= 0:
        return rows.dtype.type(np.nan)
    return np.mean(rows) if op == "mean" else getattr(np, op)(rows, ddof=ddof)


def _extreme(rows: np.ndarray, row_ids: np.ndarray, op: str) -> Any:
    with np.errstate(invalid="ignore"):  # signalling NaNs
        numbers = rows.astype(np.float64) if is_float(rows.dtype) else rows
    is_nan = np.isnan(numbers)
    if op.startswith("arg"):
        if not len(rows):
            return np.int32(-1)
        best = np.argmax(is_nan) if is_nan.any() else getattr(np, op)(numbers)
        return np.int32(row_ids[best])
    if not len(rows):
        if is_float(rows.dtype):
            return rows.dtype.type(np.inf if op == "min" else -np.inf)
        if rows.dtype == bool:
            return op == "min"
        return rows.dtype.type(getattr(np.iinfo(rows.dtype), "max" if op == "min" else "min"))
    if is_nan.any():
        return rows.dtype.type(np.nan)
    # Of the zeros, the one with the sign that is further in that direction.
    key = [(number, not np.signbit(number)) if numbers.dtype.kind == "f" else (number, 0)
           for number in numbers]  # fmt: skip
    return rows[key.index({"min": min, "max": max}[op](key))]


def segment_softmax(
    x: np.ndarray, segment_ids: np.ndarray, num_segments: int, *, num_valid: int | None = None
) -> np.ndarray:
    """The exponential of each row divided by the sum of its segment, float64."""
    result = np.zeros(x.shape)
    for segment in range(num_segments):
        rows = np.flatnonzero(segment_ids[:num_valid] == segment)
        if len(rows):
            powers = np.exp(x[rows].astype(np.float64) - x[rows].max(0).astype(np.float64))
            result[rows] = powers / powers.sum(0)
    return result


def segment_normalize(
    x: np.ndarray,
    segment_ids: np.ndarray,
    num_segments: int,
    epsilon: float = 1e-5,
    *,
    num_valid: int | None = None,
) -> np.ndarray:
    """Each row less the mean of its segment, over the root of the variance, float64."""
    result = np.zeros(x.shape)
    for segment in range(num_segments):
        rows = np.flatnonzero(segment_ids[:num_valid] == segment)
        if len(rows):
            own = x[rows].astype(np.float64)
            result[rows] = (own - own.mean(0)) / np.sqrt(own.var(0) + epsilon)
    return result


def rows_of_segment(
    segment_ids: np.ndarray, segment: int, x: Any, num_valid: int | None = None
) -> np.ndarray:
    """The row ids of a segment whose keys are numbers, in row order."""
    is_row = np.asarray(segment_ids) == segment
    is_row[len(segment_ids) if num_valid is None else num_valid :] = False
    for column in columns_of(x):
        # ml_dtypes warns where it compares or casts a NaN.
        with np.errstate(invalid="ignore"):
            is_row &= column == column
    return np.flatnonzero(is_row)


def segment_rank(
    x: Any,
    segment_ids: np.ndarray,
    num_segments: int,
    *,
    method: str = "average",
    descending: Any = False,
    num_valid: int | None = None,
) -> np.ndarray:
    columns = columns_of(x)
    ranks = np.zeros(len(segment_ids))
    directions = per_column(descending, len(columns))
    for segment in range(num_segments):
        row_ids = rows_of_segment(segment_ids, segment, x, num_valid)
        rows = take(columns, row_ids)
        keys = np.stack(list(map(key_ranks, rows, directions)), axis=1)
        order = {tuple(key): None for key in sorted(map(tuple, keys))}
        for place, row_id in enumerate(row_ids):
            before = sum(tuple(key) < tuple(keys[place]) for key in keys)
            is_same = [tuple(key) == tuple(keys[place]) for key in keys]
            ranks[row_id] = {
                "average": before + (sum(is_same) + 1) / 2,
                "min": before + 1,
                "max": before + sum(is_same),
                "first": before + sum(is_same[: place + 1]),
                "dense": list(order).index(tuple(keys[place])) + 1,
            }[method]
    if method == "average":
        return np.where(ranks == 0, np.nan, ranks)
    return ranks.astype(np.int32)


def segment_nunique(
    x: Any, segment_ids: np.ndarray, num_segments: int, *, num_valid: int | None = None
) -> np.ndarray:
    rows = [rows_of_segment(segment_ids, i, x, num_valid) for i in range(num_segments)]
    tuples = [set(zip(*(x[ids].tolist() for x in columns_of(x)), strict=True)) for ids in rows]
    return np.array(list(map(len, tuples)), np.int32)


def beside_infinities(low: Any, high: Any, between: Any) -> Any:
    """The limit of interpolated values, if one of the ends is infinite."""
    is_finite = np.isfinite(low) & np.isfinite(high)
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where(is_finite, between, low + high)


def segment_quantile(
    x: np.ndarray,
    segment_ids: np.ndarray,
    num_segments: int,
    q: Any = 0.5,
    *,
    interpolation: str = "linear",
    num_valid: int | None = None,
) -> np.ndarray:
    """Quantiles in float64, by pandas' rules for finite numbers, which are NumPy's."""
    q = np.asarray(q)
    result = np.full((num_segments, *q.shape), np.nan)
    for segment in range(num_segments):
        rows = np.sort(x[rows_of_segment(segment_ids, segment, x, num_valid)].astype(float))
        if not len(rows):
            continue
        place = (len(rows) - 1) * q
        below = np.floor(place).astype(int)
        fraction = place - below
        low, high = rows[below], rows[np.minimum(below + 1, len(rows) - 1)]
        is_high = (fraction > 0.5) | ((fraction == 0.5) & (below % 2 == 1))
        with np.errstate(invalid="ignore", over="ignore"):
            between = {
                "lower": low,
                "higher": high,
                "nearest": np.where(is_high, high, low),
                "midpoint": (low + high) / 2,
                "linear": beside_infinities(low, high, low + (high - low) * fraction),
            }[interpolation]
        result[segment] = np.where(fraction > 0, between, low)
    return result


def segment_shift(
    x: Any,
    segment_ids: np.ndarray,
    num_segments: int,
    periods: int = 1,
    *,
    fill_value: Any = 0,
    num_valid: int | None = None,
) -> Any:
    def shift(leaf: np.ndarray) -> np.ndarray:
        shifted = np.full_like(leaf, fill_value)
        for segment in range(num_segments):
            row_ids = rows_of_segment(segment_ids, segment, (), num_valid)
            for place, row_id in enumerate(row_ids):
                if 0 <= place - periods < len(row_ids):
                    shifted[row_id] = leaf[row_ids[place - periods]]
        return shifted

    return jax.tree.map(shift, x)
