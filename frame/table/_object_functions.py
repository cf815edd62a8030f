# SPDX-License-Identifier: Apache-2.0
"""Functions of Python objects, which run on the host: pandas calls the objects' own methods."""

from collections.abc import Callable
from typing import Any

import jax
import pandas as pd
from jax.sharding import NamedSharding

from ._column import Array, Column, to_host
from ._distinct_values import column_of_results, through_values
from ._layout import ONE_DEVICE, Layout, layout_of
from ._table import Count
from ._tracing import is_traced


def evaluate_each(
    column: Column, num_rows: Count, function: Callable[[pd.Series], Any], method: str
) -> Column:
    """Applies an element-wise function of a pandas series to the objects of a column.

    The function sees each object of the rows once. Inside `jit` it also sees the objects of rows
    that were dropped before.
    """
    return through_values(column, num_rows, layout_like(column.data), function, method)


def host_series(column: Column, num_rows: Count) -> pd.Series:
    """The first rows of a column as a series of pandas, in pandas' dtype."""
    values = to_host(column, int(num_rows))
    return pd.Series(values, dtype=values.dtype)


def column_like(results: pd.Series, like: Column) -> Column:
    """Converts a series of results, one for each row, to a column on the devices of another."""
    return column_of_results(results, "objects", like.capacity, layout_like(like.data))


def layout_like(data: Array) -> Layout:
    """The layout of an array outside `jit`; inside, JAX places results by itself."""
    sharding = data.sharding if isinstance(data, jax.Array) and not is_traced(data) else None
    is_on_mesh = isinstance(sharding, NamedSharding) and sharding.mesh.size > 1
    return layout_of(sharding, "objects") if is_on_mesh else ONE_DEVICE
