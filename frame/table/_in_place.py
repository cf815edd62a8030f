# SPDX-License-Identifier: Apache-2.0
"""`inplace=True`: a frame or a series holds the result of its own method."""

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from ._arguments import check_flag
from ._ndframe import FrameBase, NDFrame

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def with_inplace(method: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Gives a method its argument `inplace`; the method itself never sees it set."""

    @functools.wraps(method)
    def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        if "inplace" not in kwargs or not check_flag(kwargs.pop("inplace"), "inplace"):
            return method(*args, **kwargs)
        owner: Any = args[0]
        check_concrete(owner, method.__name__)
        return put_in_place(owner, method(*args, **kwargs), method.__name__)

    return call


def check_concrete(owner: NDFrame, method: str) -> None:
    """Raises inside `jit`, whose caller would not see what the frame holds afterwards."""
    if owner._is_traced:
        raise NotImplementedError(f"{method}: inplace must be False inside jit. Assign the result.")


def put_in_place(owner: Any, result: Any, method: str) -> Any:
    """Lets a frame or a series hold a result; returns what pandas' method returns."""
    if isinstance(owner, FrameBase) != isinstance(result, FrameBase):
        raise TypeError(
            f"Cannot {method} inplace on a Series to create a DataFrame. Assign the result."
        )
    owner._table = result._table
    names = "_labels" if isinstance(owner, FrameBase) else "_name"
    owner.__dict__[names] = getattr(result, names)
    return owner if method in _RETURN_THEIR_OBJECT else None


# Methods that replace values; those that change labels or rows return None.
_RETURN_THEIR_OBJECT = frozenset(
    ("bfill", "clip", "ffill", "fillna", "interpolate", "mask", "replace", "where")
)
