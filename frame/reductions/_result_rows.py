# SPDX-License-Identifier: Apache-2.0
"""Reductions of the columns of a frame to the rows of a series, in one compiled call."""

import dataclasses
import functools
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from ...primitives.staging import tiered
from ...shardings._compat import is_x64_enabled
from ..table._column import Array, Column
from ..table._column_labels import Labels
from ..table._dtypes import narrowed
from ..table._from_host import index_from
from ..table._layout import ON_HOST, ONE_DEVICE
from ..table._level_orders import orders_of
from ..table._row_index import RowIndex, frequency_of
from ..table._table import Count, Table, as_count
from ..table._tracing import at_once, is_traced
from ._reduce_columns import ENDS, Reduction, placed, reduce_groups, result_dtype
from ._results import result_type

_NEVER_MISSING = ("count", "any", "all")


def reduce_to_rows(
    columns: Sequence[Column], plans: Sequence[Reduction], table: Table, labels: Labels
) -> Table | None:
    """Reduces each column of a table of one device to a row, without a look of the host.

    Returns None if the dtype of the rows depends on the values, as it does where an integer may be
    missing, or if pandas has another dtype for them than NumPy.
    """
    num_rows = table.all_rows
    if table.layout.mesh is not None or is_traced(columns, num_rows):
        return None
    if any(
        result_type(column.type, plan.op).kind != "number" or _may_miss(column, plan, num_rows)
        for column, plan in zip(columns, plans, strict=True)
    ):
        return None
    dtype = _common_dtype({_dtype_of(plan, is_x64_enabled()) for plan in plans})
    if dtype is None:
        return None
    capacity = ONE_DEVICE.capacity_for(len(columns))
    index = _labels_on_host(labels, tuple(labels.index.names), capacity, is_x64_enabled())
    on_host, structure = jax.tree.flatten(index)
    distinct, places = placed([[column] for column in columns])
    data, on_device = at_once(
        _reduce_to_rows, distinct, num_rows, on_host, tuple(plans), places, dtype
    )
    index = jax.tree.unflatten(structure, on_device)
    # Neither is part of a program.
    freq, orders = frequency_of(labels.index), orders_of(labels.index)
    index = dataclasses.replace(index, freq=freq, orders=orders)
    return Table((Column(data),), index, as_count(len(columns)))


def _may_miss(column: Column, plan: Reduction, num_rows: Count) -> bool:
    """Whether the result of a column may be missing, other than by a NaN."""
    if plan.op in _NEVER_MISSING or _dtype_of(plan, is_x64_enabled()).kind == "f":
        return False
    if plan.op in ("sum", "prod"):
        return plan.min_count > 0 or (not plan.skipna and column.valid is not None)
    return plan.op not in ENDS or column.valid is not None or int(num_rows) == 0


@functools.lru_cache(maxsize=1024)
def _dtype_of(plan: Reduction, x64: bool) -> np.dtype:
    """The dtype of a result."""
    del x64  # part of the cache key
    return result_dtype(plan)


def _common_dtype(dtypes: set[np.dtype]) -> np.dtype | None:
    """The dtype of rows of several dtypes; None if a cast is not exact, or pandas has another."""
    if any(dtype.kind not in "biuf" for dtype in dtypes):
        return None
    common = np.result_type(*dtypes)
    is_one = len(dtypes) == 1
    are_numbers = all(dtype.kind in "iu" or dtype == common for dtype in dtypes)
    return common if is_one or (common == np.float64 and are_numbers) else None


@functools.lru_cache(maxsize=64)
def _labels_on_host(
    labels: Labels, names: tuple[object, ...], capacity: int, x64: bool
) -> RowIndex:
    """The labels of columns as those of rows, in memory of the host."""
    del names, x64  # part of the cache key: the names of an index may change
    return index_from(narrowed(labels.index), capacity, ON_HOST)


@functools.partial(tiered, static_argnums=(3, 4, 5))
def _reduce_to_rows(
    columns: object,
    num_rows: Count,
    labels: list[Array],
    plans: tuple[Reduction, ...],
    places: tuple[tuple[int, ...], ...],
    dtype: np.dtype,
) -> tuple[Array, list[Array]]:
    """The results, padded, and the labels: what a program returns is on the device at once."""
    reduced = reduce_groups(columns, num_rows, plans, places, ONE_DEVICE)
    values = [one.value.astype(dtype).reshape(()) for one in reduced]
    padding = ONE_DEVICE.capacity_for(len(values)) - len(values)
    return jnp.pad(jnp.stack(values), (0, padding)), labels
