# SPDX-License-Identifier: Apache-2.0
"""`dot`: matrix products."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ... import primitives
from ...primitives.staging import tiered
from ..align._align import in_capacity_of, positions_of_labels, same_labels
from ..ops._array_ops import common_dtype
from ..table._by_pandas import by_pandas
from ..table._column import NUMBER, Array, Column, as_floats, of_family
from ..table._column_labels import Labels
from ..table._layout import Layout
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._nullable import Family
from ..table._table import Count, Table, is_row
from ..table._take import take_columns
from ..table._to_host import host_array
from ..table._tracing import at_once, is_traced
from ..table._user_functions import as_pandas
from ._results import table_of_series, traced_table

_NOT_ALIGNED = "matrices are not aligned"


class FrameDot(FrameBase):
    """Matrix products of a frame."""

    def dot(self, other: object) -> Any:
        """The matrix product with a frame, a series or an array; also `frame @ other`.

        The rows of `other` align with the columns by label; the rows of an array by position.

        Differences from pandas:
            Products of floats may differ by rounding. Inside `jit`, `other` must be an array.

        Example:
            >>> import jax.numpy as jnp
            >>> from jaxframes.frame import JaxFrame
            >>> frame = JaxFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]})
            >>> (frame @ jnp.array([1.0, 10.0])).tolist()
            [31.0, 42.0]
        """
        if _has_objects(self, other):
            return _of_objects(self, other)
        other = _on_device(other, self._layout)
        left = _numbers(self._table.columns)
        if not left or (isinstance(other, FrameBase) and not other._table.columns):
            raise NotImplementedError(
                "dot: both sides must have a column, got a frame without one. The product is zeros."
            )
        if isinstance(other, NDFrame):
            if is_traced(other._table.index, other._table.num_rows):
                raise NotImplementedError(
                    "dot: the labels of other are not known inside jit. Pass an array."
                )
            positions = other.index.get_indexer(self._labels.index)
            if len(positions) != len(other) or (positions < 0).any():
                raise ValueError(_NOT_ALIGNED)
            right = _rows_at(_numbers(other._table.columns), positions.astype(np.int32))
        else:
            right = _as_array(other)
            if right.shape[0] != len(left):
                raise ValueError(f"Dot product shape mismatch, {self.shape} vs {right.shape}")
        products = _products(left, right, self._table.num_rows, self._layout)
        family = _family(self._table, other)
        columns = [of_family(Column(product), family) for product in products]
        if getattr(other, "ndim", 1) == 1:
            return self._make_series(columns[0], None)
        is_frame = isinstance(other, FrameBase)
        labels = other._labels if is_frame else Labels(pd.RangeIndex(len(columns)))
        return self._make_frame(columns, labels)


class SeriesDot(SeriesBase):
    """Dot products of a series."""

    def dot(self, other: object) -> Any:
        """The dot product with a series or an array, or with each column of a frame.

        Rows align by label; the rows of an array by position. Also `series @ other`.

        Differences from pandas:
            Products of floats may differ by rounding. Inside `jit` labels must be the same array.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> float(JaxSeries([1.0, 2.0]).dot(JaxSeries([3.0, 4.0])))
            11.0
        """
        if _has_objects(self, other):
            return _of_objects(self, other)
        other, table = _on_device(other, self._layout), self._table
        if isinstance(other, NDFrame):
            columns = _aligned(other._table, table)
        else:
            array = _as_array(other)
            num_rows = table.capacity if is_traced(table.num_rows) else len(self)
            if array.shape[0] != num_rows:
                raise ValueError(f"Dot product shape mismatch, ({num_rows},) vs {array.shape}")
            columns = [Column(column) for column in _columns_of(array, table.capacity)]
        (left, *right) = _numbers([self._only, *columns])
        values = _dot_products(left, tuple(right), table.all_rows, self._layout)
        values = [table.unless_lost(value) for value in values]
        is_in_jit = is_traced(values)
        if getattr(other, "ndim", 1) == 1:
            return values[0] if is_in_jit else host_array(values[0])[()]
        if not isinstance(other, FrameBase):
            return jnp.stack(values) if is_in_jit else np.stack([host_array(v) for v in values])
        labels = other._labels.index
        family = _family(table, other)
        if is_in_jit:
            pairs = [(value, False) for value in values]
            found = traced_table(pairs, [NUMBER] * len(pairs), labels, "dot")
        else:
            found = table_of_series(pd.Series([host_array(v)[()] for v in values], labels))
        return self._make_series(of_family(found.columns[0], family), self._name, found)


def _has_objects(*sides: Any) -> bool:
    """Whether a column of one of two sides holds Python objects."""
    return any(
        any(column.kind == "object" for column in side._table.columns)
        if isinstance(side, NDFrame)
        else getattr(side, "dtype", None) == np.dtype(object)
        for side in sides
    )


def _of_objects(owner: NDFrame, other: object) -> Any:
    return by_pandas(
        owner, "dot: objects", "Convert them with astype first.",
        lambda data: data.dot(as_pandas(other)),
    )  # fmt: skip


def _on_device(other: object, layout: Layout) -> Any:
    if isinstance(other, pd.DataFrame):
        return NDFrame.frame_class(other, sharding=layout)
    if isinstance(other, pd.Series):
        return NDFrame.series_class(other, sharding=layout)
    if isinstance(other, (NDFrame, jax.Array, np.ndarray, list)):
        return other
    raise TypeError(f"unsupported type: {type(other)}")


def _family(table: Table, other: object) -> Family | None:
    """The family of the dtype of products: that of the first nullable column."""
    columns = [*table.columns, *(other._table.columns if isinstance(other, NDFrame) else ())]
    return next((column.family for column in columns if column.is_nullable), None)


def _numbers(columns: Sequence[Column]) -> tuple[Array, ...]:
    """Columns of numbers; NaN for missing values."""
    if other := [column.dtype_name for column in columns if not column.is_numeric]:
        raise TypeError(f"dot: columns must be numbers, got {other}. Select numeric columns first.")
    return tuple(as_floats(column).data for column in columns)


def _as_array(other: Any) -> Array:
    return jax.device_put(other) if isinstance(other, np.ndarray) else jnp.asarray(other)


def _aligned(other: Table, table: Table) -> Sequence[Column]:
    """The columns of another table in the order of the rows of a table, with equal labels."""
    other = in_capacity_of(other, table)
    if same_labels(other, table):
        return other.columns
    if is_traced(other.index, other.num_rows, table.index, table.num_rows):
        raise NotImplementedError("dot: inside jit the labels must be the same array.")
    row_ids = at_once(positions_of_labels, table, other)
    num_rows = table.num_rows_on_host
    if other.num_rows_on_host != num_rows or (host_array(row_ids)[:num_rows] < 0).any():
        raise ValueError(_NOT_ALIGNED)
    return take_columns(other.columns, row_ids, table.layout)


@functools.partial(tiered, static_argnums=3)
def _products(
    left: tuple[Array, ...], right: Array, num_rows: Count, layout: Layout
) -> tuple[Array, ...]:
    """The columns of a matrix product."""
    # Padding adds nothing to the derivative.
    rows = is_row(left[0].shape[0], num_rows, layout)
    left = tuple(jnp.where(rows, x, x.dtype.type(0)) for x in _in_common_dtype(left))
    product = _matmul(jnp.stack(left, 1), right[:, None] if right.ndim == 1 else right)
    return tuple(layout.constrain(product[:, at]) for at in range(product.shape[1]))


@functools.partial(tiered, static_argnums=3)
def _dot_products(
    left: Array, right: tuple[Array, ...], num_rows: Count, layout: Layout
) -> tuple[Array, ...]:
    """The dot product of a column with each of several others."""
    left, *others = _in_common_dtype((left, *right))
    products = tuple(left * other for other in others)
    op = "any" if left.dtype == np.bool_ else "sum"
    dtype = None if op == "any" else left.dtype
    reduced = primitives.reduce(products, op, dtype=dtype, num_valid=num_rows, **layout.on_mesh)
    return reduced.values


@tiered
def _rows_at(columns: tuple[Array, ...], positions: Array) -> Array:
    """Rows of columns, as a matrix."""
    return jnp.stack([column[positions] for column in _in_common_dtype(columns)], axis=1)


@functools.partial(tiered, static_argnums=1)
def _columns_of(array: Array, capacity: int) -> tuple[Array, ...]:
    """The columns of a matrix, or a vector as one, padded to a capacity."""
    matrix = array[:, None] if array.ndim == 1 else array
    matrix = jnp.pad(matrix, [(0, capacity - matrix.shape[0]), (0, 0)])
    return tuple(matrix[:, at] for at in range(matrix.shape[1]))


def _in_common_dtype(arrays: tuple[Array, ...]) -> tuple[Array, ...]:
    dtype = functools.reduce(common_dtype, (np.dtype(array.dtype) for array in arrays))
    return tuple(array.astype(dtype) for array in arrays)


def _matmul(left: Array, right: Array) -> Array:
    dtype = common_dtype(np.dtype(left.dtype), np.dtype(right.dtype))
    return jnp.matmul(left.astype(dtype), right.astype(dtype), precision=jax.lax.Precision.HIGHEST)
