# SPDX-License-Identifier: Apache-2.0
"""Reductions of few rows in the memory of the host, which take less time than to call a program."""

from typing import Any

import numpy as np

from ...primitives.tiers._host_kernels import sum_on_host
from ...shardings._compat import is_x64_enabled
from ..table._column import Column
from ..table._host_column import rows_on_host
from ..table._to_host import missing_on_host

# Integers up to here are added exactly as floats, in any order.
_MOST_EXACT = 2**53


def reduce_few_rows(column: Column, op: str, num_rows: Any) -> Any:
    """The count, sum, mean, least or greatest value of few plain numbers that are not missing.

    As in a program, to the last bit. Returns None if a program must reduce them: for other types
    and values, other reductions, and where `rows_on_host` does.
    """
    if op not in _REDUCTIONS or type(num_rows) is not np.int32:
        return None
    is_plain = column.kind == "number" and column.family is None
    # Objects may be null.
    if not is_plain and (op != "count" or column.kind in ("object", "list")):
        return None
    arrays = rows_on_host((column,))
    if arrays is None or not is_x64_enabled():
        return None
    ((data, valid),) = arrays
    if op == "count":
        missing = missing_on_host(column.stored, data, valid)
        return np.int64(num_rows - np.count_nonzero(missing[:num_rows]))
    if valid is not None or not num_rows:
        return None
    return _REDUCTIONS[op](data, int(num_rows))


def _sum(data: np.ndarray, num_rows: int) -> Any:
    kind = data.dtype.kind
    if kind == "b":
        return np.int64(np.count_nonzero(data[:num_rows]))
    if kind in "iu":
        return np.add.reduce(data[:num_rows], dtype=np.uint64 if kind == "u" else np.int64)
    if data.dtype != np.float64:
        return None
    total, _ = _sum_of_floats(data, num_rows)
    return total


def _mean(data: np.ndarray, num_rows: int) -> Any:
    if data.dtype.kind in "iu":
        values = data[:num_rows]
        ends = int(np.minimum.reduce(values)), int(np.maximum.reduce(values))
        if max(map(abs, ends)) * num_rows > _MOST_EXACT:
            return None
        total, count = np.float64(np.add.reduce(values)), num_rows
    elif data.dtype == np.float64:
        total, count = _sum_of_floats(data, num_rows)
        if total is None or not count:
            return None
    else:
        return None
    mean = total / np.float64(count)
    # XLA flushes subnormal numbers.
    is_subnormal = total != 0 and abs(mean) < np.finfo(np.float64).tiny
    return None if is_subnormal else mean


def _sum_of_floats(data: np.ndarray, num_rows: int) -> tuple[Any, int]:
    """The sum of the floats that are not NaN, and their number."""
    is_nan = np.isnan(data[:num_rows])
    num_nans = int(np.count_nonzero(is_nan))
    if num_nans:
        data = data.copy()
        data[:num_rows][is_nan] = 0
    return sum_on_host(data, num_rows), num_rows - num_nans


def _extreme(data: np.ndarray, num_rows: int, of_integers: Any, of_floats: Any) -> Any:
    kind = data.dtype.kind
    if kind in "iu":
        return of_integers.reduce(data[:num_rows])
    if kind != "f":
        return None
    extreme = of_floats.reduce(data[:num_rows])
    # NaN, and zeros and subnormal numbers: XLA has an order of zeros, and flushes the others.
    return extreme if abs(extreme) >= np.finfo(data.dtype).tiny else None


def _min(data: np.ndarray, num_rows: int) -> Any:
    return _extreme(data, num_rows, np.minimum, np.fmin)


def _max(data: np.ndarray, num_rows: int) -> Any:
    return _extreme(data, num_rows, np.maximum, np.fmax)


_REDUCTIONS: dict[str, Any] = {"count": None, "sum": _sum, "mean": _mean, "min": _min, "max": _max}
