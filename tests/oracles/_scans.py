# SPDX-License-Identifier: Apache-2.0
"""Scans and recurrences, row after row."""

from typing import Any

import jax
import numpy as np

from ._keys import take
from ._segments import rows_of_segment
from ._values import is_float


def scan(
    x: np.ndarray,
    op: Any,
    *,
    head_flags: np.ndarray | None = None,
    exclusive: bool = False,
    reverse: bool = False,
    initial: Any = None,
    num_valid: int | None = None,
) -> np.ndarray:
    """Row after row. `op` is a name or a function of two rows; sums are as exact as `x`'s dtype."""
    num_rows = len(x)
    num_valid = num_rows if num_valid is None else num_valid
    segments = np.cumsum(np.zeros(num_rows) if head_flags is None else head_flags)
    combine = _COMBINE[op] if isinstance(op, str) else op
    results = np.zeros_like(x)
    total: Any = None
    previous = None
    for row in range(num_valid)[:: -1 if reverse else 1]:
        if previous is None or segments[previous] != segments[row]:
            total = initial
        if exclusive:
            results[row] = scan_identity(op, x.dtype) if total is None else total
        total = x[row] if total is None else combine(total, x[row])
        if not exclusive:
            results[row] = total
        previous = row
    return results


def linear_recurrence(
    a: np.ndarray, b: np.ndarray, *, initial: Any = 0, **settings: Any
) -> np.ndarray:
    """Row after row; `a` and `b` have one shape."""

    def step(before: np.ndarray, row: np.ndarray) -> np.ndarray:
        # A row is (a, b, h); a segment starts with (0, 0, initial).
        return np.stack([row[0], row[1], row[0] * before[2] + row[1]])

    rows = np.stack([a, b, np.zeros_like(b)], axis=1)
    start = np.zeros_like(rows[0]) if len(b) else None
    if start is None:
        return b
    start[2] = initial
    before = scan(rows, step, exclusive=True, initial=start, **settings)[:, 2]
    results = a * before + b
    results[settings.get("num_valid", len(b)) :] = 0
    return results


def scan_of_segments(
    x: Any,
    op: Any,
    segment_ids: np.ndarray,
    num_segments: int,
    *,
    num_valid: int | None = None,
    **settings: Any,
) -> Any:
    """Scans of the rows of each id, adjacent or not; zeros for rows of no segment."""
    rows = [rows_of_segment(segment_ids, i, (), num_valid) for i in range(num_segments)]
    scans = [scan(take(x, row_ids), op, **settings) for row_ids in rows]

    def put(leaf: np.ndarray, *parts: np.ndarray) -> np.ndarray:
        result = np.zeros(leaf.shape, parts[0].dtype)
        for row_ids, part in zip(rows, parts, strict=True):
            result[row_ids] = part
        return result

    return jax.tree.map(put, x, *scans)


def head_flags_of(segment_ids: np.ndarray) -> np.ndarray:
    """Where runs of equal ids begin."""
    return np.concatenate([[True], segment_ids[1:] != segment_ids[:-1]])[: len(segment_ids)]


def scan_identity(op: str, dtype: Any) -> Any:
    dtype = np.dtype(dtype)
    if op in ("add", "mul"):
        return dtype.type(op == "mul")
    if is_float(dtype):
        return dtype.type(np.inf if op == "min" else -np.inf)
    if dtype.kind == "b":
        return op == "min"
    limits = np.iinfo(dtype)
    return limits.max if op == "min" else limits.min


def _first_of(comes_before: Any) -> Any:
    """The extreme of two rows, elementwise: the first of equal ones, NaN in front of all."""

    def combine(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):  # bfloat16
            is_replaced = comes_before(right, left) | ((right != right) & (left == left))
        return np.where(is_replaced, right, left)

    return combine


def _wrapping(function: Any) -> Any:
    def combine(left: Any, right: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(left, right)

    return combine


_COMBINE = {
    "add": _wrapping(np.add),
    "mul": _wrapping(np.multiply),
    "min": _first_of(np.less),
    "max": _first_of(np.greater),
}
