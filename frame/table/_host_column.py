# SPDX-License-Identifier: Apache-2.0
"""Columns of few rows in the memory of the host, and the door to it.

A call of a program takes longer than NumPy takes for some thousand rows, and its results go to a
device that may never need them. Methods of few rows therefore ask `rows_on_host` first, and
calculate what needs no program: rows that only move, counts and extremes.
"""

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import jax
import numpy as np
from jax.core import Tracer

from ...primitives.tiers._placing import on_device
from ...primitives.tiers._tiered import Tiered
from ...shardings._compat import is_under_trace, is_x64_enabled
from ._column import NUMBER, Array, Column, ColumnType
from ._dtypes import wide
from ._tracing import at_once

# XLA and NumPy take equally long for so many rows, without the call: 5 to 10 us for each array.
MOST_ROWS = 1 << 14

# The values of each row, and flags of the rows with a value, as in `Column`.
HostArrays: TypeAlias = tuple[np.ndarray, np.ndarray | None]


class HostColumn(Column):
    """A column whose arrays are in the memory of the host until a program needs them.

    No pytree: a frame that is flattened has the arrays on the device.

    Attributes:
        rows: the arrays. They are read-only.
    """

    rows: HostArrays
    _placed: Column | None

    def __init__(self, rows: HostArrays, type: ColumnType):
        for array in rows:
            if array is not None:
                # pandas and NumPy get views.
                array.flags.writeable = False
        self.__dict__.update(rows=rows, type=type, _placed=None)

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def forced(self) -> Column:
        """The column with its arrays on the device, where they are placed once."""
        if self._placed is None:
            place_together([self])
        placed = self._placed
        assert placed is not None
        return placed

    @property
    def placed_array(self) -> Array | None:
        """The array of the values on the device; None before it is needed there."""
        return None if self._placed is None else self._placed.data

    @property
    def data(self) -> Array:  # pyright: ignore[reportIncompatibleVariableOverride]
        """One value per row, on the device."""
        return self.forced().data

    @property
    def valid(self) -> Array | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The rows with a value, on the device; see `Column`."""
        return None if self.rows[1] is None else self.forced().valid

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the array."""
        return self.rows[0].dtype

    @property
    def capacity(self) -> int:
        """The number of rows, including padding."""
        return len(self.rows[0])


def rows_on_host(columns: Sequence[Column], capacity: int = 0) -> list[HostArrays] | None:
    """The stored arrays of columns of few rows, which are computed and in the host's memory.

    None for more rows, also for a result of a larger `capacity`, on other devices than the default
    CPU, on a mesh, under a trace, and for 64-bit values if x64 mode was turned off.
    """
    if capacity > MOST_ROWS or is_under_trace():
        return None
    arrays = []
    for column in columns:
        stored = column.stored
        # In line, for those of the host and those that were read before: every method asks.
        rows = stored.__dict__.get("rows")
        if rows is None:
            rows = None if stored.node is not None else _read(stored.forced())
        if rows is None or len(rows[0]) > MOST_ROWS:
            return None
        arrays.append(rows)
    return None if _are_narrowed([data for data, _ in arrays]) else arrays


def computed(
    function: Tiered, columns: Sequence[Column], args_of: Callable[[Sequence[Any]], Sequence[Any]]
) -> Any:
    """Calls a function of the stored arrays of columns, for few rows in the host's memory.

    Args:
        function: of `tiered`.
        columns: whose arrays it takes.
        args_of: makes its arguments of the arrays, a pair for each column.

    Returns:
        The results of the function, as arrays of NumPy if it was interpreted; see `column_of`.
    """
    rows = rows_on_host(columns)
    if rows is not None:
        results = function.on_host(*args_of(rows))
        if results is not None:
            return results
    return function(*args_of([column.stored.arrays for column in columns]))


def computed_values(
    function: Tiered, column: Column, args_of: Callable[[Any], Sequence[Any]]
) -> Column:
    """A column of the results of a function of its values, and with its mask; see `computed`.

    `args_of` makes the arguments of the array of values.
    """
    rows = rows_on_host((column,))
    if rows is not None:
        ((values, valid),) = rows
        data = function.on_host(*args_of(values))
        if data is not None:
            return HostColumn((data, valid), NUMBER)
    return Column(function(*args_of(column.data)), column.valid)


def column_of(data: Any, valid: Any = None, type: ColumnType = NUMBER) -> Column:
    """A column with the arrays of NumPy, which stay on the host, or of JAX."""
    if isinstance(data, np.ndarray):
        return HostColumn((data, valid), type)
    return Column(data, valid, type)


def host_column(like: Column, rows: HostArrays) -> Column:
    """A column as another one, with the stored arrays of other rows, on the host."""
    return like.with_stored(HostColumn(rows, like.stored.type))


def moved_column(like: Column, arrays: Any) -> Column:
    """A column as another one, with the stored arrays of other rows, of NumPy or of JAX."""
    is_on_host = isinstance(arrays[0], np.ndarray)
    return host_column(like, arrays) if is_on_host else like.moved(arrays)


def place_together(columns: Iterable[Column]) -> None:
    """Places the arrays of columns that are on the host in one call."""
    on_host = dict.fromkeys(one for one in columns if type(one) is HostColumn)
    waiting = [one for one in on_host if one._placed is None]
    if not waiting:
        return
    arrays = [array for column in waiting for array in column.rows if array is not None]
    placed = iter(at_once(_placed, arrays))
    for column in waiting:
        data = next(placed)
        valid = None if column.rows[1] is None else next(placed)
        column.__dict__["_placed"] = Column(data, valid, column.type)


def _placed(arrays: Sequence[np.ndarray]) -> list[jax.Array]:
    """Places arrays on the device, with their dtypes."""
    if _are_narrowed(arrays):
        with jax.enable_x64(True):
            return on_device(arrays)
    return on_device(arrays)


def _are_narrowed(arrays: Sequence[np.ndarray]) -> bool:
    """Whether JAX would narrow an array: x64 mode was turned off after it was computed."""
    return not is_x64_enabled() and any(wide(array.dtype) != array.dtype for array in arrays)


def _read(column: Column) -> HostArrays | None:
    """Reads the arrays of a column, once, if they are few rows in the host's memory."""
    data, valid = column.arrays
    if not all(array is None or is_readable(array) for array in (data, valid)):
        return None
    if len(data) > MOST_ROWS:
        return None
    # Copies: a view would keep an array that is donated.
    rows = np.array(data), None if valid is None else np.array(valid)
    column.__dict__["rows"] = rows
    return rows


# The classes of concrete arrays that were seen.
_array_types: set[type] = set()


def is_readable(array: Any) -> bool:
    """Whether an array is computed, one row after the other, in the memory of the host."""
    if type(array) not in _array_types:
        if not isinstance(array, jax.Array) or isinstance(array, Tracer):
            return False
        _array_types.add(type(array))
    # The results of committed arrays are on their device.
    return array.ndim == 1 and not array.committed and is_host_memory(array.sharding)


@functools.lru_cache(256)
def is_host_memory(sharding: jax.sharding.Sharding) -> bool:
    """Whether an array with a sharding is on one CPU device."""
    return [device.platform for device in sharding.device_set] == ["cpu"]
