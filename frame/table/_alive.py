# SPDX-License-Identifier: Apache-2.0
"""An error for frames whose arrays are gone: it names the frame and the call."""

import traceback
from collections.abc import Callable
from typing import Any, TypeVar

import jax
from jax.core import Tracer

from ._array_owners import needed_array
from ._column import Column
from ._table import Table

Function = TypeVar("Function", bound=Callable[..., Any])

_PACKAGE = __name__.split(".", maxsplit=1)[0]


def named(function: Function, name: str) -> Function:
    """Gives a function that another one made its name, also where errors and tracebacks show it."""
    function.__name__ = name
    function.__code__ = function.__code__.replace(co_name=name)
    return function


def lost_arrays(owner: Any, table: Table) -> RuntimeError:
    """The error for an array that was donated to a compiled function, or deleted."""
    names = owner._names
    gone = [
        f"column {name!r}" for name, one in zip(names, table.columns, strict=True) if _is_gone(one)
    ]
    gone += ["the index"] * any(_is_gone(level) for level in table.index.stored)
    shown = ", ".join(gone[:3]) + f" and {len(gone) - 3} more" * (len(gone) > 3)
    kind = "frame" if len(names) != 1 or hasattr(owner, "_labels") else "series"
    return RuntimeError(
        f"{_caller(type(owner).__name__)}: the {kind} has lost its arrays: {shown} was deleted, or "
        "donated to a compiled function. Use the result of that function, or leave out its "
        "donate_argnums."
    )


def _is_gone(column: Column) -> bool:
    array = needed_array(column.stored)
    return isinstance(array, jax.Array) and not isinstance(array, Tracer) and array.is_deleted()


def _caller(owner: str) -> str:
    """The public call that led here: the last function of the package before the user's code."""
    name = ""
    for frame, _ in traceback.walk_stack(None):
        module = str(frame.f_globals.get("__name__"))
        if module.startswith(f"{_PACKAGE}."):
            # Wrappers of methods are called otherwise.
            if not module.endswith(("._tracing", "._in_place")):
                code = frame.f_code
                is_method = code.co_varnames[:1] == ("self",)
                name = f"{owner}.{code.co_name}" if is_method else code.co_name
        elif name:
            break
    return name
