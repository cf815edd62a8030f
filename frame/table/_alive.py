# SPDX-License-Identifier: Apache-2.0
"""An error for frames whose arrays are gone: it names the frame and the call."""

import sys
from collections.abc import Hashable, Sequence
from types import FrameType
from typing import Any

import numpy as np
from jax.core import Tracer

from ._array_owners import needed_array
from ._column import Column
from ._table import Table

_PACKAGE = __name__.split(".", maxsplit=1)[0]


# The types of arrays that were seen, and whether they can be deleted: traced ones and those of the
# host cannot.
_can_be_deleted: dict[type, bool] = {np.ndarray: False}


def check_alive(table: Table, owner: Any) -> None:
    """Raises if an array of a table was donated to a compiled function, or deleted."""
    # Every call of every method passes here several times.
    stored = table.index.stored
    for column in (*table.columns, *stored) if stored else table.columns:
        data = column.data if type(column) is Column else needed_array(column.stored)
        can_be = _can_be_deleted.get(type(data))
        if can_be is None:
            can_be = _remember(type(data))
        if can_be and data.is_deleted():
            raise _error(owner, table, owner._names)


def _remember(kind: type) -> bool:
    _can_be_deleted[kind] = hasattr(kind, "is_deleted") and not issubclass(kind, Tracer)
    return _can_be_deleted[kind]


def _is_gone(column: Column) -> bool:
    data = needed_array(column.stored)
    return _can_be_deleted.get(type(data), False) and data.is_deleted()


def _error(owner: Any, table: Table, names: Sequence[Hashable]) -> RuntimeError:
    gone = [
        f"column {name!r}" for name, one in zip(names, table.columns, strict=True) if _is_gone(one)
    ]
    gone += ["the index"] * any(_is_gone(level) for level in table.index.stored)
    shown = ", ".join(gone[:3]) + f" and {len(gone) - 3} more" * (len(gone) > 3)
    kind = "frame" if len(names) != 1 or hasattr(owner, "_labels") else "series"
    return RuntimeError(
        f"{_caller(type(owner))}: the {kind} has lost its arrays: {shown} was deleted, or "
        "donated to a compiled function. Use the result of that function, or leave out its "
        "donate_argnums."
    )


def _caller(owner: type) -> str:
    """The public call that led here: the last function of the package before the user's code."""
    frame, caller = sys._getframe(1), ""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.split(".", maxsplit=1)[0] == _PACKAGE:
            # Wrappers of methods are called otherwise.
            if not module.endswith("._tracing"):
                is_method = frame.f_code.co_varnames[:1] == ("self",)
                name = _method_name(owner, frame) if is_method else frame.f_code.co_name
                caller = f"{owner.__name__}.{name}" if is_method else name
        elif caller:
            break
        frame = frame.f_back
    return caller


def _method_name(owner: type, frame: FrameType) -> str:
    """The name of a running method; several made by one function share its code."""
    code = frame.f_code
    for kind in owner.__mro__:
        for name, method in vars(kind).items():
            if getattr(method, "__code__", None) is code:
                cells = zip(code.co_freevars, method.__closure__ or (), strict=True)
                if all(cell.cell_contents == frame.f_locals.get(free) for free, cell in cells):
                    return name
    return code.co_name
