# SPDX-License-Identifier: Apache-2.0
"""Shared argument checks."""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
import pandas as pd

from ._layout import Layout
from ._ndframe import FrameBase, NDFrame
from ._tracing import is_traced
from ._types import Axis


def as_scalar(value: object, name: str | None = None) -> Any:
    """Converts a concrete array of one integer without dimensions to an int.

    Other values are returned as they are; other arrays raise a TypeError if `name` is given.
    """
    if not isinstance(value, (np.ndarray, jax.Array)) or is_traced(value):
        return value
    if value.ndim == 0 and value.dtype.kind in "iu":
        return int(value)
    if name is None:
        return value
    raise TypeError(
        "only integer scalar arrays can be converted to a scalar index, got "
        f"{value.dtype}{list(value.shape)} for {name}. Pass one integer."
    )


def listed(value: object) -> list[Any]:
    """One value, or several in a list or a tuple, as a list."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


def piped(of: object, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """What `pipe` returns: a function of an object, which is its first argument or a named one."""
    if not isinstance(func, tuple):
        return func(of, *args, **kwargs)
    func, keyword = func
    if keyword in kwargs:
        raise ValueError(f"{keyword} is both the pipe target and a keyword argument")
    return func(*args, **{keyword: of}, **kwargs)


def listed_labels(labels: Any) -> list[Any]:
    """One label, or several in anything like a list, as a list."""
    return list(labels) if pd.api.types.is_list_like(labels) else [labels]


def given_frame(data: object, caller: str) -> Any:
    """The first argument of a function of frames; raises unless it is one of ours."""
    if isinstance(data, FrameBase):
        return data
    raise TypeError(
        f"{caller}: the first argument must be a JaxFrame, got {type(data).__name__}. "
        "Convert it by from_pandas() or JaxFrame()."
    )


def axis_number(axis: Axis, owner: NDFrame) -> int:
    """Converts an axis to 0 (rows) or 1 (columns of a frame)."""
    axis = as_scalar(axis, "axis")
    if axis in (0, "index", "rows"):
        return 0
    if isinstance(owner, FrameBase) and axis in (1, "columns"):
        return 1
    kind = "DataFrame" if isinstance(owner, FrameBase) else "Series"
    raise ValueError(f"No axis named {axis} for object type {kind}")


def only_rows(method: str, axis: Axis, owner: NDFrame, instead: str) -> None:
    """Raises unless `axis` is valid and is the row axis."""
    if axis_number(axis, owner):
        raise NotImplementedError(f"{method}: axis must be 0, got {axis!r}. {instead}")


def check_flag(value: object, name: str, *, may_be_int: bool = False) -> bool:
    """Validates a boolean argument."""
    if not isinstance(value, (bool, np.bool_, int) if may_be_int else (bool, np.bool_)):
        raise ValueError(
            f'For argument "{name}" expected type bool, received type {type(value).__name__}.'
        )
    return bool(value)


def check_limit(limit: object) -> None:
    """Validates how many missing values in a row are filled at most."""
    if limit is None:
        return
    if not isinstance(limit, (int, np.integer)):
        raise ValueError("Limit must be an integer")
    if limit < 1:
        raise ValueError("Limit must be greater than 0")


# What NumPy's functions pass to methods of the same name, and the values that ask for nothing.
_OF_NUMPY = {"dtype": None, "out": None, "keepdims": False, "initial": None, "where": True}


def check_rest(method: str, rest: Mapping[str, object]) -> None:
    """Raises for keyword arguments that a method does not have.

    NumPy's functions call methods of the same name with arguments of their own.
    """
    for name, value in rest.items():
        if name not in _OF_NUMPY:
            raise TypeError(f"{method}() got an unexpected keyword argument {name!r}")
        if value is not _OF_NUMPY[name] and value is not None:
            raise ValueError(
                f"the '{name}' parameter is not supported in the pandas implementation of "
                f"{method}()"
            )


def no_inplace(method: str, inplace: bool) -> None:
    """Raises if `inplace` is set, where no frame could hold the result."""
    if inplace:
        raise NotImplementedError(f"{method}: inplace must be False. Assign the result.")


def as_row_capacity(capacity: object, layout: Layout, caller: str) -> int:
    """Validates a user's capacity and rounds it up to a multiple of the shards."""
    if not isinstance(capacity, (int, np.integer)) or isinstance(capacity, bool):
        raise TypeError(f"{caller}: capacity must be a static int, got {type(capacity).__name__}.")
    if capacity < 0:
        raise ValueError(f"{caller}: capacity must not be negative, got {capacity}.")
    return layout.divisible(max(int(capacity), 1))
