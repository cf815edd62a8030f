# SPDX-License-Identifier: Apache-2.0
"""User functions applied to each value or row: traced once and compiled."""

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...shardings._compat import is_x64_enabled
from ..reductions._agg import apply_one
from ..table._arguments import axis_number
from ..table._column import Array, Column, fill_missing
from ..table._column_labels import Labels
from ..table._dtypes import narrowed, wide
from ..table._layout import Layout
from ..table._ndframe import FrameBase, SeriesBase
from ..table._table import Count, Table, is_row

UNTRACEABLE = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
)


class Row:
    """The argument of a function of rows: values by label, as attribute or item."""

    def __init__(self, values: Mapping[Hashable, Any], others: Mapping[Hashable, str]):
        self._values, self._others = values, others

    def __getitem__(self, label: Hashable) -> Any:
        if label in self._others:
            raise TypeError(
                f"apply: rows contain numeric columns only, got column {label!r} of dtype "
                f"{self._others[label]}. Convert it to numbers first."
            )
        if label not in self._values:
            raise KeyError(f"no column {label!r}. The columns are {[*self._values]}.")
        return self._values[label]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __iter__(self) -> Any:
        return iter(self._values.values())

    def __len__(self) -> int:
        return len(self._values)

    def keys(self) -> list[Hashable]:
        """The labels."""
        return list(self._values)

    def get(self, label: Hashable, default: Any = None) -> Any:
        """The value of a label, or `default` if the row does not have the label."""
        return self[label] if label in self._values or label in self._others else default

    def to_array(self) -> Array:
        """The row as an array, in the common dtype."""
        return jnp.stack(list(self._values.values()))

    def sum(self) -> Array:
        """The sum without missing values."""
        return jnp.nansum(self.to_array())

    def mean(self) -> Array:
        """The mean without missing values."""
        return jnp.nanmean(self.to_array())

    def min(self) -> Array:
        """The minimum without missing values."""
        return jnp.nanmin(self.to_array())

    def max(self) -> Array:
        """The maximum without missing values."""
        return jnp.nanmax(self.to_array())


def _python_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype of the Python number that pandas passes to a function."""
    if not is_x64_enabled():
        return dtype
    wide = {"i": np.int64, "u": np.uint64, "f": np.float64, "c": np.complex128}
    return np.dtype(wide.get(dtype.kind, np.float64 if dtype == jnp.bfloat16 else dtype))


def _as_result(value: Any) -> Array:
    """Casts a function's result to the dtype of pandas' result column."""
    array = jnp.asarray(value)
    if not is_x64_enabled() or array.dtype == np.bool_:
        return array
    kinds = {"i": np.int64, "u": np.int64, "c": np.complex128}
    return array.astype(kinds.get(np.dtype(array.dtype).kind, np.float64))


def _with_advice(func: Callable[..., Any], method: str) -> Any:
    """Wraps a function so that tracing errors become a NotImplementedError with advice."""

    @functools.wraps(func, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            with jax.numpy_dtype_promotion("standard"):
                return func(*args, **kwargs)
        except UNTRACEABLE as error:
            raise NotImplementedError(
                f"{method}: the function must be JAX-traceable. Use jnp.where instead of if, and "
                "jax.numpy instead of math; or apply it to the result of to_pandas()."
            ) from error

    return call


def map_traceable(column: Column, func: Any, na_action: Any, kwargs: Any, table: Table) -> Column:
    """Applies a JAX-traceable function to each number of a column."""
    column = fill_missing(column)
    static = tuple(sorted(kwargs.items()))
    data = _map_values(column.data, table.num_rows, func, static, table.layout)
    if data is None:
        raise NotImplementedError("map: the function must return a number.")
    if na_action == "ignore" and column.is_float and jnp.issubdtype(data.dtype, jnp.floating):
        data = jnp.where(jnp.isnan(column.data), data.dtype.type(np.nan), data)
    return Column(data)


@functools.partial(jax.jit, static_argnums=(2, 3, 4))
def _map_values(
    data: Array, num_rows: Count, func: Any, kwargs: tuple[tuple[str, Any], ...], layout: Layout
) -> Any:
    (data,) = _with_safe_padding((data,), num_rows, layout)
    call = _with_advice(func, "map")

    def map_value(value: Array) -> Any:
        return _as_result(_check_number(call(value, **dict(kwargs)), "map"))

    return jax.vmap(map_value)(data.astype(_python_dtype(np.dtype(data.dtype))))


def _with_safe_padding(
    columns: Sequence[Array], num_rows: Count, layout: Layout
) -> tuple[Array, ...]:
    """Inside a compiled function: pads columns with their first row, or with ones over a mesh.

    The derivative at other padding may be infinite, and zero times infinity is NaN in the gradient
    of shared arguments. Over a mesh not every shard has the first row.
    """
    padded = []
    for x in columns:
        first = x[:1] if layout.mesh is None else jnp.ones(1, x.dtype)
        padded.append(jnp.where(is_row(x.shape[0], num_rows, layout), x, first))
    return tuple(padded)


def _check_number(value: Any, method: str) -> Any:
    numbers = (jax.Array, np.ndarray, np.generic, bool, int, float, complex)
    if isinstance(value, numbers) and not jnp.ndim(value):
        return value
    raise NotImplementedError(
        f"{method}: the function must return a number for each value, got {type(value).__name__}. "
        "Use where(), or map() with a dict, for strings."
    )


class FrameApply(FrameBase):
    """`apply` of a frame."""

    def apply(
        self,
        func: Any,
        axis: Any = 0,
        raw: bool = False,
        result_type: Any = None,
        args: tuple[Any, ...] = (),
        **kwargs: Any,
    ) -> Any:
        """Applies a function to each column, or to each row with `axis=1`.

        Differences from pandas:
            A function of rows must be JAX-traceable. It is traced once and runs on all rows
            together; pass the same function object again to avoid recompilation. Rows contain
            numeric columns only; access to other columns raises. The function returns a number, or
            with `result_type="expand"` a tuple or a dict of numbers. As in JAX, a bool times an
            infinity or NaN may be 0.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [1, 2], "y": [3, 4]}).apply(lambda r: r.x * r.y, axis=1).tolist()
            [3, 8]
        """
        if isinstance(func, str):
            is_method = hasattr(self, func)
            how = {"axis": axis} if is_method and axis not in (0, "index") else {}
            return apply_one(self, func, args, kwargs | how)
        if result_type not in (None, "expand", "reduce", "broadcast"):
            raise ValueError(
                "invalid value for result_type, must be one of {None, 'reduce', 'broadcast', "
                "'expand'}"
            )
        if axis_number(axis, self):
            return self._apply_to_rows(func, raw, result_type, args, kwargs)
        results = [func(column, *args, **kwargs) for _, column in self.items()]
        return self._of_columns(results)

    def _of_columns(self, results: list[Any]) -> Any:
        if results and all(isinstance(one, SeriesBase) for one in results):
            table = results[0]._table
            return self._make_frame([one._only for one in results], self._labels, table)
        if any(isinstance(one, jax.Array) for one in results):
            numbers = [jnp.asarray(one) for one in results]
            if any(one.ndim for one in numbers):
                raise NotImplementedError(
                    "apply: a function of columns must return a series or a number."
                )
            return self.series_class(jnp.stack(numbers), index=self._labels.index)
        return self.series_class(narrowed(pd.Series(results, index=self._labels.index)))

    def _apply_to_rows(
        self, func: Any, raw: bool, result_type: Any, args: tuple[Any, ...], kwargs: Any
    ) -> Any:
        if result_type == "broadcast":
            raise NotImplementedError("apply: result_type must be None, 'reduce' or 'expand'.")
        numeric = {
            label: fill_missing(column)
            for label, column in zip(self._labels, self._table.columns, strict=True)
            if column.is_numeric
        }
        others = tuple(
            (label, column.dtype_name)
            for label, column in zip(self._labels, self._table.columns, strict=True)
            if not column.is_numeric
        )
        dtype = _row_dtype([column.dtype for column in numeric.values()], bool(others))
        result = _apply_rows(
            tuple(column.data for column in numeric.values()),
            self._table.num_rows, self._table.layout, func, tuple(numeric), others, dtype, raw,
            args, tuple(sorted(kwargs.items())),
        )  # fmt: skip
        if isinstance(result, jax.Array):
            return self._make_series(Column(result), None)
        if result_type != "expand":
            raise NotImplementedError(
                "apply: a function of rows must return a number, got several. "
                'Pass result_type="expand" to get a column for each.'
            )
        labels = pd.Index(list(result)) if isinstance(result, dict) else pd.RangeIndex(len(result))
        parts = list(result.values()) if isinstance(result, dict) else list(result)
        common = _row_dtype([np.dtype(part.dtype) for part in parts], False)
        parts = [part if common is None else part.astype(common) for part in parts]
        return self._make_frame([Column(part) for part in parts], Labels(labels))


def _row_dtype(dtypes: list[np.dtype], has_others: bool) -> np.dtype | None:
    """The common dtype of a row in pandas, or None if each value keeps its own."""
    if has_others or not dtypes or (len({dtype.kind == "b" for dtype in dtypes}) > 1):
        return None
    if jnp.bfloat16 in dtypes:
        return np.dtype(functools.reduce(jnp.promote_types, dtypes))
    return wide(np.result_type(*dtypes))


@functools.partial(jax.jit, static_argnums=(2, 3, 4, 5, 6, 7, 8, 9))
def _apply_rows(
    columns: tuple[Array, ...],
    num_rows: Count,
    layout: Layout,
    func: Any,
    labels: tuple[Hashable, ...],
    others: tuple[tuple[Hashable, str], ...],
    dtype: np.dtype | None,
    raw: bool,
    args: tuple[Any, ...],
    kwargs: tuple[tuple[str, Any], ...],
) -> Any:
    call = _with_advice(func, "apply")

    def of_row(values: tuple[Array, ...]) -> Any:
        row: Any = Row(dict(zip(labels, values, strict=True)), dict(others))
        result = call(row.to_array() if raw else row, *args, **dict(kwargs))
        if isinstance(result, Row):
            result = dict(result._values)
        if isinstance(result, Mapping):
            return {label: _as_result(_check_number(one, "apply")) for label, one in result.items()}
        if isinstance(result, (tuple, list)):
            return tuple(_as_result(_check_number(one, "apply")) for one in result)
        return _as_result(_check_number(result, "apply"))

    cast = tuple(
        column.astype(_python_dtype(np.dtype(column.dtype)) if dtype is None else dtype)
        for column in _with_safe_padding(columns, num_rows, layout)
    )
    return jax.vmap(of_row)(cast)
