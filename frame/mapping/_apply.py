# SPDX-License-Identifier: Apache-2.0
"""User functions applied to each value or row: traced once and compiled, or on the host."""

import dataclasses
import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ...shardings._compat import is_x64_enabled
from ..reductions._agg import apply_one
from ..table._arguments import axis_number
from ..table._column import Array, Column, fill_missing, of_family, plain
from ..table._column_labels import Labels
from ..table._dtypes import narrowed, wide
from ..table._exact_trace import exact_trace, passes_missing
from ..table._layout import Layout
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._number_bounds import Rules
from ..table._suggestions import the_columns
from ..table._table import Count, Table, is_row
from ..table._take import any_missing, missing_elsewhere
from ..table._tracing import is_traced
from ..table._types import Axis, Function, Options
from ..table._user_functions import (
    UntraceableError,
    as_frames,
    as_pandas,
    by_engine,
    has_host,
    traced_call,
    unwatched,
)

UNTRACEABLE = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
    UntraceableError,
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
            raise KeyError(f"no column {label!r}. {the_columns(label, self._values)}")
        return self._values[label]

    def __getattr__(self, name: str) -> Any:
        # Python itself looks for names with two underscores.
        if name.startswith("__") or name in ("_values", "_others"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def _all(self) -> Mapping[Hashable, Any]:
        """The values by label; raises if some are no numbers."""
        for label in self._others:
            self[label]
        return self._values

    def __iter__(self) -> Any:
        return iter(self._all().values())

    def __len__(self) -> int:
        return len(self._all())

    def keys(self) -> list[Hashable]:
        """The labels."""
        return list(self._all())

    def get(self, label: Hashable, default: object = None) -> Any:
        """The value of a label, or `default` if the row does not have the label."""
        return self[label] if label in self._values or label in self._others else default

    def to_array(self) -> Array:
        """The row as an array, in the common dtype."""
        return jnp.stack([unwatched(value) for value in self._all().values()])

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


def _as_result(value: object, method: str) -> Array:
    """Casts a function's result, a number, to the dtype of pandas' result column."""
    value = unwatched(value)
    numbers = (jax.Array, np.ndarray, np.generic, bool, int, float, complex)
    if not isinstance(value, numbers) or jnp.ndim(value):
        raise NotImplementedError(
            f"{method}: the function must return a number for each value, got "
            f"{type(value).__name__}. Use where(), or map() with a dict, for strings."
        )
    array = jnp.asarray(value)
    if not is_x64_enabled() or array.dtype == np.bool_:
        return array
    kinds = {"i": np.int64, "u": np.int64, "c": np.complex128}
    return array.astype(kinds.get(np.dtype(array.dtype).kind, np.float64))


def _call(func: Function, method: str, args: Sequence[Any], kwargs: Any) -> Any:
    """Calls a user function; tracing errors become a NotImplementedError with advice."""
    try:
        with jax.numpy_dtype_promotion("standard"):
            return func(*args, **dict(kwargs))
    except UNTRACEABLE as error:
        raise NotImplementedError(
            f"{method}: the function must be JAX-traceable. Use jnp.where instead of if, and "
            "jax.numpy instead of math; or apply it to the result of to_pandas()."
        ) from error


def map_traceable(
    column: Column,
    func: Function,
    na_action: object,
    kwargs: Options,
    table: Table,
    is_exact: bool = False,
) -> Column:
    """Applies a JAX-traceable function to each number of a column.

    With `is_exact`, it raises an error if calls on the host could give other results.
    """
    if column.is_nullable:
        # A function of NA gives NA, as operators do.
        values = plain(column.with_arrays((column.data, None)))
        if (
            is_exact
            and column.dtype.kind in "iuf"
            and wide(_python_dtype(column.dtype)) != column.dtype
        ):
            raise UntraceableError("map: pandas casts results to a narrow dtype, if they fit it.")
        call = ValueFunction(func, tuple(sorted(kwargs.items())))
        if is_exact and na_action != "ignore" and _misses(column, table):
            trace = _exact_of_values(values, call, table)
            if not passes_missing(trace, func):
                raise UntraceableError("map: the function may give a value for NA.")
        results = map_traceable(values, func, na_action, kwargs, table, is_exact)
        if column.can_miss:
            (results,) = missing_elsewhere([results], column.present())
        return of_family(results, column.family)
    if is_exact and column.is_bool and _misses(column, table):
        raise UntraceableError("map: a missing bool is an object.")
    column = fill_missing(column)
    call: Function = ValueFunction(func, tuple(sorted(kwargs.items())))
    dtype = _python_dtype(column.dtype)
    if is_exact:
        dtype = _exact_dtype(column.dtype)
        call = _exact_of_values(column, call, table)
    data = _map_rows((column.data,), table.num_rows, call, dtype, table.layout)
    if na_action == "ignore" and column.is_float and jnp.issubdtype(data.dtype, jnp.floating):
        data = jnp.where(jnp.isnan(column.data), data.dtype.type(np.nan), data)
    return Column(data)


def _misses(column: Column, table: Table) -> bool:
    return column.can_miss and bool(any_missing(column.present(), table.num_rows))


def _exact_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype of the device that holds more of Python's numbers than one of a column."""
    wider = {"i": np.int64, "u": np.int64 if dtype.itemsize < 4 else np.uint64}
    if dtype.kind in wider and dtype.itemsize < 4:
        return wide(wider[dtype.kind])
    return wide(np.float64) if jnp.issubdtype(dtype, jnp.floating) else _python_dtype(dtype)


def _exact_of_values(column: Column, call: Any, table: Table) -> Function:
    dtypes = [_exact_dtype(column.dtype)]
    return exact_trace(call.func, call, [column], dtypes, table, Rules(True, False))


class ValueFunction(NamedTuple):
    """A user function of one value. Static under `jit`."""

    func: Callable[..., Any]
    kwargs: tuple[tuple[str, Any], ...]

    def __call__(self, values: tuple[Array, ...]) -> Array:
        """Calls the function."""

        def call(wrap: Callable[[Any], Any]) -> Array:
            result = _call(self.func, "map", tuple(map(wrap, values)), self.kwargs)
            return _as_result(result, "map")

        return traced_call(call)


@functools.partial(jax.tree_util.register_dataclass, data_fields=["parts"], meta_fields=["labels"])
@dataclasses.dataclass(frozen=True)
class _Labelled:
    """The numbers of a dict in its order. JAX sorts those of its dicts by label."""

    labels: tuple[Hashable, ...]
    parts: tuple[Array, ...]


class RowFunction(NamedTuple):
    """A user function of a row. Static under `jit`."""

    func: Callable[..., Any]
    labels: tuple[Hashable, ...]
    others: tuple[tuple[Hashable, str], ...]
    is_raw: bool
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...]

    def __call__(self, values: tuple[Array, ...]) -> Any:
        """Calls the function; the result is a number, or a tuple or dict of numbers."""
        return traced_call(lambda wrap: self._traced(list(map(wrap, values))))

    def _traced(self, values: Sequence[object]) -> Any:
        row: Any = Row(dict(zip(self.labels, values, strict=True)), dict(self.others))
        row = row.to_array() if self.is_raw else row
        result = unwatched(_call(self.func, "apply", (row, *self.args), self.kwargs))
        if isinstance(result, Row):
            result = result._values
        if isinstance(result, Mapping):
            parts = tuple(_as_result(one, "apply") for one in result.values())
            return _Labelled(tuple(result), parts)
        if isinstance(result, (tuple, list)):
            return tuple(_as_result(one, "apply") for one in result)
        return _as_result(result, "apply")


@functools.partial(tiered, static_argnums=(2, 3, 4))
def _map_rows(
    columns: tuple[Array, ...],
    num_rows: Count,
    call: Function,
    dtype: np.dtype | None,
    layout: Layout,
) -> Any:
    """Calls a function for each row, of values of one dtype, or of Python's if None."""
    cast = []
    for x in columns:
        # Padding gets the first row, or ones over a mesh, where not every shard has that row. Other
        # padding may have an infinite derivative, and zero times infinity is NaN in the gradient of
        # shared arguments.
        first = x[:1] if layout.mesh is None else jnp.ones(1, x.dtype)
        padded = jnp.where(is_row(x.shape[0], num_rows, layout), x, first)
        cast.append(padded.astype(_python_dtype(x.dtype) if dtype is None else dtype))
    return jax.vmap(call)(tuple(cast))


class FrameApply(FrameBase):
    """`apply` of a frame."""

    def apply(
        self,
        func: Any,
        axis: Axis = 0,
        raw: bool = False,
        result_type: object = None,
        args: tuple[Any, ...] = (),
        engine: str | None = None,
        **kwargs: Any,
    ) -> Any:
        """Applies a function to each column, or to each row with `axis=1`.

        A function of rows is traced and runs on all rows together, if it computes a number, or
        with `result_type="expand"` a tuple or a dict of numbers, from the numeric columns, and if
        its code and its equations show that it gives what it gives for each row. Other functions
        run on the host, outside `jit` and in one process, once for each row, which they get as a
        series of pandas.

        Args:
            func: a function, or the name of a method.
            axis: 0 for columns, 1 for rows.
            raw: whether a function of rows gets arrays.
            result_type: "expand", "reduce", "broadcast" or None; see pandas.
            args: further arguments of the function.
            engine: for functions of rows: "jax" for traced functions only, "python" for calls on
                the host only; by default the first that works.
            **kwargs: keyword arguments of the function.

        Differences from pandas:
            As in JAX, a bool times an infinity or NaN may be 0 in a traced function.

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
            found = by_engine(
                "apply",
                engine,
                lambda: self._traced_over_rows(func, raw, result_type, args, kwargs, engine),
                lambda: self._called_for_rows(func, raw, result_type, args, kwargs),
                is_traced=self._is_traced,
            )
            return found._with_attrs_of(self) if isinstance(found, NDFrame) else found
        if not callable(func):
            whole: Any = self
            return whole.agg(func, axis, *args, **kwargs)
        if raw and has_host(self._is_traced):
            return self._called_for_rows(func, raw, result_type, args, kwargs, axis=0)
        results = [func(column, *args, **kwargs) for _, column in self.items()]
        return self._of_columns(results, result_type)._with_attrs_of(self)

    def _of_columns(self, results: list[Any], result_type: object) -> Any:
        is_in_trace = self._is_traced or is_traced(
            [one._table if isinstance(one, NDFrame) else one for one in results]
        )
        if has_host(is_in_trace) and not (
            result_type != "broadcast" and (_are_scalars(results) or self._have_these_rows(results))
        ):
            return self._combined_by_pandas(results, result_type)
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

    def _have_these_rows(self, results: list[Any]) -> bool:
        """Whether all results are series with the index labels of this frame."""
        if not results or not all(isinstance(one, SeriesBase) for one in results):
            return False
        table = self._table
        if all(one._table.index is table.index for one in results):
            return all(one._table.num_rows_on_host == table.num_rows_on_host for one in results)
        labels: Any = self.index
        return all(len(one) == len(labels) and one.index.equals(labels) for one in results)

    def _combined_by_pandas(self, results: list[Any], result_type: object) -> Any:
        """Aligns the results of the columns by label, or makes rows of lists, as pandas does."""
        found = iter([as_pandas(one) for one in results])
        rows: Any = self.to_pandas()
        return as_frames(rows.apply(lambda _: next(found), result_type=result_type), self.sharding)

    def _called_for_rows(
        self,
        func: Function,
        raw: bool,
        result_type: object,
        args: tuple[Any, ...],
        kwargs: Options,
        axis: int = 1,
    ) -> Any:
        def call(row: object, *args: object, **kwargs: Options) -> Any:
            return as_pandas(func(row, *args, **kwargs))

        rows: Any = self.to_pandas()
        found = rows.apply(call, axis, raw, result_type, args, **kwargs)
        return as_frames(found, self.sharding)

    def _traced_over_rows(
        self,
        func: Function,
        raw: bool,
        result_type: object,
        args: tuple[Any, ...],
        kwargs: Options,
        engine: str | None,
    ) -> Any:
        if result_type == "broadcast":
            raise NotImplementedError("apply: result_type must be None, 'reduce' or 'expand'.")
        named = list(zip(self._labels, self._table.columns, strict=True))
        of_numbers = [(label, column) for label, column in named if column.is_numeric]
        numeric = {label: fill_missing(column) for label, column in of_numbers}
        if len(numeric) < len(of_numbers):
            raise UntraceableError("apply: rows of equal labels cannot be traced.")
        others = tuple((label, x.dtype_name) for label, x in named if not x.is_numeric)
        dtype = _row_dtype([column.dtype for column in numeric.values()], bool(others))
        columns, table = tuple(column.data for column in numeric.values()), self._table
        call: Function = RowFunction(
            func, tuple(numeric), others, raw, args, tuple(sorted(kwargs.items()))
        )
        if engine is None and has_host(self._is_traced):
            call = _exact_of_rows(list(numeric.values()), call, dtype, table)
        result = _map_rows(columns, table.num_rows, call, dtype, table.layout)
        if isinstance(result, jax.Array):
            return self._make_series(Column(result), None)
        if result_type != "expand":
            raise NotImplementedError(
                "apply: a function of rows must return a number, got several. "
                'Pass result_type="expand" to get a column for each.'
            )
        if isinstance(result, _Labelled):
            labels, parts = pd.Index(list(result.labels)), list(result.parts)
        else:
            labels, parts = pd.RangeIndex(len(result)), list(result)
        common = _row_dtype([np.dtype(part.dtype) for part in parts], False)
        parts = [part if common is None else part.astype(common) for part in parts]
        return self._make_frame([Column(part) for part in parts], Labels(labels))


def _are_scalars(results: list[Any]) -> bool:
    return all(
        one is None or isinstance(one, (str, bytes)) or (np.ndim(one) == 0 and _is_atom(one))
        for one in results
    )


def _is_atom(value: object) -> bool:
    return pd.api.types.is_scalar(value) or isinstance(value, jax.Array)


def _exact_of_rows(columns: list[Column], call: Any, dtype: Any, table: Table) -> Function:
    """The trace of a function of rows; raises if calls on the host could give other results."""
    if any((x.is_nullable or x.is_bool) and _misses(x, table) for x in columns):
        raise UntraceableError("apply: a missing value of a row is an object.")
    are_nullable = any(column.is_nullable for column in columns)
    # Rows without a common dtype are objects, and those of nullable columns either.
    rules = Rules(dtype is None or are_nullable, dtype is not None or are_nullable)
    dtypes = [_python_dtype(column.dtype) if dtype is None else dtype for column in columns]
    return exact_trace(call.func, call, columns, dtypes, table, rules)


def _row_dtype(dtypes: list[np.dtype], has_others: bool) -> np.dtype | None:
    """The common dtype of a row in pandas, or None if each value keeps its own."""
    if has_others or not dtypes or (len({dtype.kind == "b" for dtype in dtypes}) > 1):
        return None
    if jnp.bfloat16 in dtypes:
        return np.dtype(functools.reduce(jnp.promote_types, dtypes))
    return wide(np.result_type(*dtypes))
