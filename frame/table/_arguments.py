# SPDX-License-Identifier: Apache-2.0
"""Checks of arguments that many methods share."""

from typing import Any

import numpy as np

from ._ndframe import FrameBase, NDFrame


def axis_number(axis: Any, owner: NDFrame) -> int:
    """0 for the axis of rows, 1 for that of a frame's columns.

    Raises:
        ValueError: there is no such axis.
    """
    if axis in (0, "index", "rows"):
        return 0
    if isinstance(owner, FrameBase) and axis in (1, "columns"):
        return 1
    kind = "DataFrame" if isinstance(owner, FrameBase) else "Series"
    raise ValueError(f"No axis named {axis} for object type {kind}")


def only_rows(method: str, axis: Any, owner: NDFrame, instead: str) -> None:
    """Raises where an axis is none, or is not that of the rows."""
    if axis_number(axis, owner):
        raise NotImplementedError(f"{method}: axis must be 0, got {axis!r}. {instead}")


def check_flag(value: Any, name: str, *, may_be_int: bool = False) -> bool:
    """The value of a flag; raises for what is no bool."""
    if not isinstance(value, (bool, np.bool_, int) if may_be_int else (bool, np.bool_)):
        raise ValueError(
            f'For argument "{name}" expected type bool, received type {type(value).__name__}.'
        )
    return bool(value)


def no_inplace(method: str, inplace: bool) -> None:
    """Raises where a frame is to be changed in place."""
    if inplace:
        raise NotImplementedError(f"{method}: inplace must be False. Assign the result.")
