# SPDX-License-Identifier: Apache-2.0
"""Functions of the user: traced first, and called on the host if JAX cannot trace them."""

import contextlib
import operator
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...shardings._compat import is_x64_enabled
from ._dtypes import narrowed
from ._function_effects import calls_differ
from ._ndframe import NDFrame
from ._types import Function, Sharding

ENGINES = (None, "jax", "python")


class _Plans(threading.local):
    is_running: bool = False


_plans = _Plans()


class _Numbers(threading.local):
    are_of_python: bool = False


_numbers = _Numbers()


@contextlib.contextmanager
def with_python_numbers() -> Iterator[None]:
    """Watched bools refuse operators within that make integers of Python's bools."""
    before, _numbers.are_of_python = _numbers.are_of_python, True
    try:
        yield
    finally:
        _numbers.are_of_python = before


@contextlib.contextmanager
def traced_only() -> Iterator[None]:
    """Functions are not called on the host within: a step of a plan, which may run over batches.

    Each batch would have the dtype of its own results.
    """
    before, _plans.is_running = _plans.is_running, True
    try:
        yield
    finally:
        _plans.is_running = before


class UntraceableError(NotImplementedError):
    """A function asked a traced value for what only a concrete value can tell."""


def by_engine(
    caller: str,
    engine: str | None,
    trace: Callable[[], object],
    on_host: Callable[[], object],
    *,
    is_traced: bool,
    function: object = None,
) -> Any:
    """The result of a user's function: of its trace, or of calls on the host.

    Args:
        caller: the method, for errors.
        engine: None traces the function and calls it on the host if that fails; "jax" traces
            only; "python" does not trace.
        trace: computes the result of a traced function; raises if it cannot be traced.
        on_host: computes the result of calls on the host.
        is_traced: whether the rows are traced, so that the host cannot have them.
        function: the user's function, which is not traced if its calls may differ; None if
            `trace` looks itself.
    """
    if engine not in ENGINES:
        raise ValueError(f"{caller}: engine must be None, 'jax' or 'python', got {engine!r}.")
    may_call = has_host(is_traced)
    if engine == "python" and not may_call:
        raise NotImplementedError(
            f"{caller}: engine='python' needs rows on the host of one process, outside jit and "
            "plans. Pass a function that JAX can trace, and leave engine out."
        )
    is_host_only = engine is None and may_call and function is not None and calls_differ(function)
    if engine != "python" and not is_host_only:
        try:
            return trace()
        except Exception:
            if engine == "jax" or not may_call:
                raise
    return on_host()


def has_host(is_traced: bool) -> bool:
    """Whether the host of one process has the rows: outside `jit` and plans."""
    return not is_traced and not _plans.is_running and jax.process_count() == 1


def as_pandas(value: object) -> Any:
    """A result of a user's function in the types of pandas: frames, series and scalars."""
    if isinstance(value, NDFrame):
        return value.to_pandas()
    if isinstance(value, jax.Array):
        return np.asarray(value)[()]
    if isinstance(value, (list, tuple)) and any(isinstance(one, jax.Array) for one in value):
        return type(value)(map(as_pandas, value))
    return value


def as_frames(value: object, sharding: Sharding = None) -> Any:
    """A result of pandas as a frame or a series of ours; other values as they are."""
    if isinstance(value, pd.DataFrame):
        return NDFrame.frame_class(_narrowed(value), sharding=sharding)
    if isinstance(value, pd.Series):
        return NDFrame.series_class(_with_narrow_labels(narrowed(value)), sharding=sharding)
    return value


def _narrowed(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame of the host in the dtypes of the device."""
    if is_x64_enabled():
        return frame
    columns = [narrowed(frame.iloc[:, at]) for at in range(frame.shape[1])]
    if all(one.dtype == dtype for one, dtype in zip(columns, frame.dtypes, strict=True)):
        return _with_narrow_labels(frame)
    return _with_narrow_labels(pd.concat(columns, axis=1, keys=frame.columns))


def _with_narrow_labels(rows: Any) -> Any:
    index = rows.index
    if is_x64_enabled():
        return rows
    if isinstance(index, (pd.RangeIndex, pd.MultiIndex)) or narrowed(index).dtype == index.dtype:
        return rows
    return rows.set_axis(narrowed(index))


class Watched:
    """A traced number that notices questions whose answer a trace does not know.

    `str(x)` of a traced number is text about the trace, `isinstance(x, float)` is false, and
    `bool(x)` raises an error that the function may catch. A function that asked has no valid
    trace, even if it returned a result.
    """

    __slots__ = ("_asked", "_value")
    # NumPy's scalars leave operators to this class.
    __array_ufunc__ = None

    def __init__(self, value: object, asked: list[str]):
        self._value, self._asked = value, asked

    def __getattr__(self, name: str) -> Any:
        if _numbers.are_of_python and name not in ("real", "imag", "conjugate"):
            # Those of an array: Python's numbers do not have them, or other ones.
            _note(self, name)
            raise UntraceableError(f"the function asks a traced number for {name}")
        return getattr(self._value, name)

    @property
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride]
        _note(self, "isinstance")
        return Watched


def _note(value: Watched, question: str) -> None:
    """Notes a question, unless JAX asks it, which then raises an error of its own."""
    frame: Any = sys._getframe(2)
    # These ask for their callers.
    while frame is not None and _module(frame) in ("abc", "typing", "numpy"):
        frame = frame.f_back
    if frame is None or _module(frame) not in ("jax", "jaxlib"):
        value._asked.append(question)


def _module(frame: Any) -> str:
    return frame.f_globals.get("__name__", "").split(".")[0]


def _question(name: str) -> Callable[..., Any]:
    def ask(self: Watched, *_: object) -> Any:
        _note(self, name)
        raise UntraceableError(f"the function calls {name} of a traced number")

    return ask


def _operator(function: Function, *, is_reflected: bool = False) -> Callable[..., Any]:
    def operate(self: Watched, *others: object) -> Any:
        values = [self._value, *map(unwatched, others)]
        if any(isinstance(value, str) or value is None for value in values):
            return NotImplemented
        if _numbers.are_of_python:
            _check_operands(self, function, values)
        return Watched(function(*(reversed(values) if is_reflected else values)), self._asked)

    return operate


# JAX computes bools of bools with them, which Python does not.
_ON_BOOLS = (operator.__add__, operator.__mul__, operator.__pos__, operator.__abs__)


def _check_operands(of: Watched, function: Function, values: list[Any]) -> None:
    """Refuses operators of bools and of integers that JAX computes in another dtype."""
    if function in _ON_BOOLS and all(map(_is_bool, values)):
        _note(of, "an operator of integers")
        raise UntraceableError("the function computes integers of bools")
    dtypes = [np.dtype(value.dtype) for value in values if hasattr(value, "dtype")]
    limits = [np.iinfo(dtype) for dtype in dtypes if dtype.kind in "iu"]
    numbers = [value for value in values if type(value) is int]
    if any(not one.min <= number <= one.max for one in limits for number in numbers):
        _note(of, "an operator of a larger integer")
        raise UntraceableError("JAX wraps an integer that does not fit the dtype")


def _is_bool(value: object) -> bool:
    return isinstance(value, bool) or getattr(value, "dtype", None) == np.bool_


_QUESTIONS = (
    *("__str__", "__repr__", "__format__", "__hash__", "__bool__", "__int__", "__float__"),
    *("__index__", "__complex__", "__array__", "__round__", "__trunc__", "__floor__", "__ceil__"),
)
_BINARY = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"),
    *("lshift", "rshift"),
)
for _name in _QUESTIONS:
    setattr(Watched, _name, _question(_name))
for _name in ("neg", "pos", "abs", "invert", "lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Watched, f"__{_name}__", _operator(getattr(operator, f"__{_name}__")))
for _name in _BINARY:
    _function = getattr(operator, f"__{_name}__")
    setattr(Watched, f"__{_name}__", _operator(_function))
    setattr(Watched, f"__r{_name}__", _operator(_function, is_reflected=True))


def unwatched(value: object) -> Any:
    """The traced number of a watched one; other values as they are."""
    return value._value if type(value) is Watched else value


def traced_call(call: Function) -> Any:
    """Calls a function with watched numbers, or with plain ones if it calls JAX with them.

    Args:
        call: calls the user's function. It gets a function that wraps each traced number.

    Raises:
        UntraceableError: the function asked for what a trace does not know.
    """
    asked: list[str] = []
    try:
        result = call(lambda value: Watched(value, asked))
    except Exception:
        if asked:
            raise
        # JAX takes no watched numbers.
        return call(lambda value: value)
    if asked:
        raise UntraceableError(f"the function calls {asked[0]} of a traced number")
    return result


def known_reduction(function: Function) -> tuple[str, dict[str, Any]] | None:
    """The name and arguments of the reduction that a NumPy, JAX or Python function computes."""
    try:
        return _KNOWN.get(function)
    except TypeError:
        return None


def is_of_numpy(function: object) -> bool:
    """Whether a function is one of NumPy's, by its own name."""
    return getattr(np, getattr(function, "__name__", ""), None) is function


_KNOWN: dict[Any, tuple[str, dict[str, Any]]] = {
    **{len: ("size", {}), np.size: ("size", {}), min: ("min", {}), max: ("max", {})},
    **{function: (function.__name__, {"skipna": False}) for function in (sum, any, all)},
    **{
        getattr(module, name): (name, {})
        for module in (np, jnp)
        for name in ("sum", "prod", "mean", "min", "max", "any", "all")
    },
    # NumPy divides by the number of values, and calls no method for a median.
    **{getattr(module, op): (op, {"ddof": 0}) for module in (np, jnp) for op in ("std", "var")},
    **{module.median: ("median", {"skipna": False}) for module in (np, jnp)},
}
