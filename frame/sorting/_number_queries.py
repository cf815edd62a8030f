# SPDX-License-Identifier: Apache-2.0
"""Numbers to search in a sorted column of numbers, without rounding either."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..table._column import Array, Column
from ..table._exact_numbers import index_of, lower_neighbours
from ..table._from_host import column_from
from ..table._layout import ONE_DEVICE

_REAL = (bool, int, float, np.bool_, np.integer, np.floating)


def number_queries(column: Column, value: Any) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """The search keys of one number or several, and those of a column of real numbers.

    A number between two of the column's dtype is the lower one with a second key, which is 0 for
    all rows.
    """
    numbers = index_of([value] if np.ndim(value) == 0 else value)
    if numbers.dtype == np.bool_:
        numbers = numbers.astype(np.int8)
    are_real = numbers.dtype.kind in "iuf"
    if numbers.dtype == object:
        are_real = all(isinstance(number, _REAL) for number in numbers)
    if not are_real:
        raise TypeError(
            f"searchsorted: values for a series of {column.dtype_name} must be numbers, "
            f"got {value!r}."
        )
    data = column.data.astype(jnp.int8) if column.is_bool else column.data
    lower, gaps = lower_neighbours(numbers, np.dtype(data.dtype))
    queries = placed(lower)
    if not gaps.any():
        return (queries,), (data,)
    return (queries, placed(gaps)), (data, jnp.zeros_like(data, jnp.int8))


def placed(values: np.ndarray) -> Array:
    """Values of the host on one device, padded."""
    return column_from(values, ONE_DEVICE.capacity_for(len(values)), ONE_DEVICE).data
