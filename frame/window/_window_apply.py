# SPDX-License-Identifier: Apache-2.0
"""`apply` of windows: a function of the user for the window of each row."""

import functools
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ..table._column import Array, Column, as_floats
from ..table._dtypes import wide
from ..table._exact_trace import confirmed_trace
from ..table._function_effects import reads
from ..table._layout import ONE_DEVICE
from ..table._ndframe import NDFrame, SeriesBase
from ..table._number_bounds import Rules, agree, any_of
from ..table._row_index import RANGE
from ..table._table import Count, Table, as_count, is_row
from ..table._types import Function
from ..table._user_functions import UntraceableError, as_frames, as_pandas, by_engine, has_host

# The values of all windows are gathered at once: a GiB of float64.
MOST_VALUES = 2**27


class WindowApply:
    """`apply` of rolling and expanding windows."""

    _of: Any
    _window: int | None
    _min_periods: int
    _center: bool
    _closed: str
    _step: int
    _on: Any
    _span: Any

    def apply(
        self,
        func: Callable[..., Any],
        raw: bool = False,
        engine: str | None = None,
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] = MappingProxyType({}),
    ) -> Any:
        """Calls a function with each window; missing for fewer than `min_periods` values.

        A function that JAX can trace is traced once and runs on all windows together, if these are
        full windows of rows: with the default `min_periods`, on one device. Other functions and
        windows run on the host, outside `jit` and in one process, once for each window.

        Args:
            func: a function of a window that returns a number.
            raw: whether the function gets an array in place of a series.
            engine: "jax" for traced functions only, "python" for calls on the host only; by
                default the first that works.
            args: further arguments of the function.
            kwargs: keyword arguments of the function.

        Cost:
            Traced: work and memory O(rows times window), up to 1 GiB a column. On the host: a call
            for each window; without `raw` each makes a series, which takes longer than most
            functions.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([1, 2, 6]).rolling(2).apply(lambda w: w[1] - w[0], raw=True).tolist()
            [nan, 1.0, 4.0]
        """
        if not isinstance(raw, (bool, np.bool_)):
            raise ValueError("raw parameter must be `True` or `False`")
        if not callable(func):
            raise TypeError(f"apply: func must be a function of a window, got {func!r}.")
        call = functools.partial(_call, func, args, tuple(sorted(kwargs.items())))
        return by_engine(
            "apply",
            engine,
            lambda: self._traced_over_windows(func, call, raw, engine),
            lambda: self._called_for_windows(call, raw),
            is_traced=self._of._is_traced,
            function=func,
        )

    def _groups_of(self, of: object) -> Any:
        """The rows, or their groups, that windows are made of, in pandas."""
        return of

    def _called_for_windows(self, call: Function, raw: bool) -> Any:
        def with_series(window: object) -> Any:
            return as_pandas(call(window if raw else as_frames(window)))

        source, on = self._of, self._on
        rows: Any = source.to_pandas()
        if on is not None:
            column = source._make_series(on.column, on.name).to_pandas()
            rows.insert(on.place(list(rows.columns)), on.name, column.array)
        rows = self._groups_of(rows)
        if self._window is None:
            windows = rows.expanding(self._min_periods)
        else:
            name = None if on is None else on.name
            of_time: dict[str, Any] = {} if self._span is None else {"closed": self._closed}
            of_rows: dict[str, Any] = (
                {} if self._span is not None or self._step == 1 else {"step": self._step}
            )
            if self._span is None and self._closed != "right":
                of_rows["closed"] = self._closed
            windows = rows.rolling(
                self._length(), self._min_periods, self._center, on=name, **of_time, **of_rows
            )
        return as_frames(windows.apply(with_series, raw=raw), source.sharding)

    def _length(self) -> Any:
        if self._span is None:
            return self._window
        return pd.Timedelta(self._span.length, self._span.times.type.unit)

    def _traced_over_windows(
        self, func: Function, call: Function, raw: bool, engine: str | None
    ) -> Any:
        of, window = self._of, self._window
        is_full = window is not None and self._min_periods == window and self._span is None
        is_plain = not self._center and self._closed == "right" and self._on is None
        is_plain = is_plain and self._step == 1 and type(self)._groups_of is WindowApply._groups_of
        table = of._table
        if not (window and is_full and is_plain) or table.layout.mesh is not None:
            raise UntraceableError(
                "apply: only full windows of rows on one device can be traced. Leave out "
                "min_periods, center, closed, step and on."
            )
        if table.capacity * (window or 0) > MOST_VALUES:
            raise UntraceableError(
                f"apply: windows of {window} rows of {table.capacity} have more than {MOST_VALUES} "
                "values. Use the methods of windows, or shorter ones."
            )
        if not all(column.is_numeric and column.dtype.kind != "c" for column in table.columns):
            raise UntraceableError("apply: columns must hold real numbers.")
        is_exact = engine is None and has_host(of._is_traced)
        if is_exact and not raw and any(reads(func, name) for name in ("index", "loc", "name")):
            raise UntraceableError("apply: traced windows have no labels of their own.")
        call = call if raw else functools.partial(_call_with_series, call, of.series_class)
        if is_exact and window <= len(of):
            call = _exact(call, raw, window)
        columns = [as_floats(column).data for column in table.columns]
        results = [
            _reduce_full_windows(data, table.num_rows, call, min(window, data.size + 1))
            for data in columns
        ]
        return of._with_columns([Column(one) for one in results])


def _exact(call: Function, raw: bool, window: int) -> Function:
    """The trace of a function of a window; raises if calls on the host could differ."""
    aval = jax.ShapeDtypeStruct((window,), wide(np.float64))
    trace = confirmed_trace(lambda values: call(*values), [aval])
    if trace is None:
        return call
    if raw:
        agree(trace.closed, [any_of(aval.dtype)], Rules(False, True))
    return functools.partial(_of_one, trace)


def _of_one(trace: Function, window: Array) -> Any:
    return trace((window,))


def _call(func: Function, args: Any, kwargs: Any, window: Any) -> Any:
    return func(window, *args, **dict(kwargs))


def _call_with_series(call: Function, kind: type[NDFrame], window: Array) -> Any:
    """Calls a function with a series of the values of a window, which all count."""
    capacity = ONE_DEVICE.capacity_for(window.size)
    padded = jnp.pad(window, (0, capacity - window.size))
    table = Table((Column(padded),), RANGE, as_count(window.size), layout=ONE_DEVICE)
    of: Any = kind
    result = call(of._of(table, None))
    if isinstance(result, SeriesBase):
        raise UntraceableError("apply: a function of windows must return a number.")
    return result


@functools.partial(tiered, static_argnums=(2, 3))
def _reduce_full_windows(data: Array, num_rows: Count, call: Function, window: int) -> Array:
    """The result of each window of rows, NaN for short windows and those with missing values."""
    values = data.astype(wide(np.float64))
    is_value = jnp.isfinite(values) & is_row(values.size, num_rows)
    values = jnp.where(is_value, values, jnp.nan)
    padded = jnp.concatenate([jnp.full(window - 1, jnp.nan, values.dtype), values])

    def reduce(end: Array) -> Array:
        rows = jax.lax.dynamic_slice_in_dim(padded, end, window)
        is_full = ~jnp.any(jnp.isnan(rows))
        # A function of other values, whose derivative may be infinite, is not called with NaN.
        with jax.numpy_dtype_promotion("standard"):
            result = jnp.asarray(call(jnp.where(is_full, rows, 1.0)))
        if result.ndim:
            raise UntraceableError("apply: a function of windows must return a number.")
        return jnp.where(is_full, result.astype(values.dtype), jnp.nan)

    return jax.vmap(reduce)(jnp.arange(values.size))
