# SPDX-License-Identifier: Apache-2.0
"""Reductions in the memory of the host.

Of few rows they take less time than to call a program. Of up to `MOST_REDUCED` they take no longer
than a compiled program, which the first calls do not have.
"""

from typing import Any

import jax
import numpy as np

from ...primitives.tiers._host_kernels import sum_on_host
from ...shardings._compat import is_under_trace, is_x64_enabled
from ..table._column import NAT, Column
from ..table._deferred import force
from ..table._host_column import HostArrays, is_readable, rows_on_host
from ..table._nodes import Map
from ..table._to_host import missing_on_host
from ._results import host_value

# Integers up to here are added exactly as floats, in any order.
_MOST_EXACT = 2**53
_TIMES = ("datetime", "timedelta")
# Above, the threads of a kernel take less time than NumPy.
MOST_REDUCED = 1 << 21


def reduce_few_rows(column: Column, op: str, num_rows: Any) -> Any:
    """The count, sum, mean, least or greatest value of few plain numbers that are not missing.

    As in a program, to the last bit. Returns None if a program must reduce them: for other types
    and values, other reductions, and where `_rows_to_read` does.
    """
    if op not in _REDUCTIONS or type(num_rows) is not np.int32:
        return None
    is_plain = column.family is None and (
        column.kind == "number" or (column.kind in _TIMES and op in ("min", "max"))
    )
    # Objects may be null.
    if not is_plain and (op != "count" or column.kind in ("object", "list")):
        return None
    arrays = _rows_to_read(column, op) if is_x64_enabled() else None
    if arrays is None:
        return None
    data, valid = arrays
    if op == "count":
        missing = missing_on_host(column.stored, data, valid)
        return np.int64(num_rows - np.count_nonzero(missing[:num_rows]))
    if valid is not None or not num_rows:
        return None
    if column.kind in _TIMES:
        counts = data[:num_rows]
        counts = counts[counts != NAT] if op == "min" else counts
        found = _REDUCTIONS[op](counts, len(counts)) if len(counts) else NAT
        # A program shows what is missing.
        return None if found == NAT else host_value(found, False, column.type)[0]
    return _REDUCTIONS[op](data, int(num_rows))


def _rows_to_read(column: Column, op: str) -> HostArrays | None:
    """`rows_on_host` of a column, also of more rows where no sum is rounded; they must not be kept.

    Deferred bools are computed first, but not the selection of their rows.
    """
    rows = rows_on_host((column,))
    if rows is not None:
        return rows[0]
    if column.kind not in ("number", *_TIMES):
        # Codes, which strings may not have yet.
        return None
    stored = column.stored
    # A program adds the floats of many rows in blocks.
    is_rounded = op in ("sum", "mean") and stored.dtype.kind not in "biu"
    if is_rounded or stored.capacity > MOST_REDUCED or is_under_trace():
        return None
    if stored.node is not None:
        is_cheap = type(stored.node) is Map and stored.dtype == np.bool_
        if not is_cheap or any(operand.node is not None for operand in stored.node.columns()):
            return None
        force((stored,))
    arrays = stored.forced().arrays
    # DLPack has no bfloat16 for NumPy.
    if stored.dtype.kind == "V" or not all(one is None or is_readable(one) for one in arrays):
        return None
    data, valid = (None if array is None else _view(array) for array in arrays)
    assert data is not None
    return data, valid


def _view(array: jax.Array) -> np.ndarray:
    """The array in its memory. `np.asarray` would keep it there, also if it is donated."""
    ready: Any = array.block_until_ready()
    return np.from_dlpack(ready)


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
