# SPDX-License-Identifier: Apache-2.0
"""Functions whose code shows that one trace cannot stand for a call with each value."""

import collections.abc
import dis
import functools
import random
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

# Names whose calls have an answer for each value, or a new one for each call.
_QUESTIONS = frozenset(
    ("next", "type", "id", "str", "repr", "format", "hash", "isinstance", "print", "input")
)
_CHANGES = frozenset(
    ("append", "extend", "insert", "pop", "popleft", "popitem", "setdefault", "appendleft", "write")
)
_STORES = frozenset(("STORE_GLOBAL", "STORE_SUBSCR", "STORE_ATTR", "DELETE_SUBSCR", "DELETE_ATTR"))
_STATEFUL = (np.random.Generator, np.random.RandomState, random.Random, collections.abc.Iterator)


def calls_differ(function: object) -> bool:
    """Whether the code of a function draws, counts, stores, or asks what its argument is.

    Only its own code is read, not that of the functions that it calls.
    """
    return any(_differs(one) for one in _functions_of(function))


def compares_identity(function: object) -> bool:
    """Whether the code of a function has the operators `is` or `is not`."""
    return any(_code(one).compares_identity for one in _functions_of(function))


class _Code(NamedTuple):
    """What is known of a code object."""

    has_effects: bool
    compares_identity: bool
    names: tuple[str, ...]


def _functions_of(function: Any) -> list[Any]:
    """The functions with code that a call runs: of a partial, a method, an object, a wrapper."""
    while isinstance(function, functools.partial):
        function = function.func
    found = getattr(function, "__func__", function)
    if not hasattr(found, "__code__") and not isinstance(found, type):
        found = next(
            (vars(one)["__call__"] for one in type(found).__mro__ if "__call__" in vars(one)), None
        )
    known = [found] if isinstance(getattr(found, "__code__", None), CodeType) else []
    wrapped = getattr(function, "__wrapped__", None)
    return known if wrapped is None else known + _functions_of(wrapped)


def _differs(function: Any) -> bool:
    code = _code(function)
    if code.has_effects:
        return True
    cells = function.__closure__ or ()
    captured = [cell.cell_contents for cell in cells if _is_filled(cell)]
    captured += [function.__globals__.get(name) for name in code.names]
    # A type has the methods of its objects.
    return any(isinstance(one, _STATEFUL) and not isinstance(one, type) for one in captured)


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def _code(function: Any) -> _Code:
    return _read(function.__code__)


@functools.lru_cache(maxsize=1024)
def _read(code: CodeType) -> _Code:
    has_effects = compares = False
    names: list[str] = []
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            names.append(step.argval)
            has_effects |= step.argval in _QUESTIONS or step.argval == "random"
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            has_effects |= step.argval in _CHANGES or step.argval == "random"
        elif step.opname == "STORE_DEREF":
            has_effects |= step.argval in code.co_freevars
        has_effects |= step.opname in _STORES
        compares |= step.opname == "IS_OP"
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            inner = _read(constant)
            # What an inner function stores may belong to this one: that is no effect.
            has_effects |= inner.has_effects
            compares |= inner.compares_identity
            names += inner.names
    return _Code(has_effects, compares, tuple(names))
