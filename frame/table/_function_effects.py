# SPDX-License-Identifier: Apache-2.0
"""Functions whose code shows that one trace stands for a call with each value.

A function may ask what its argument is, catch an error that a trace raises, draw, count or store.
Then its trace is another function. So only what is known to do none of this is traced: arithmetic,
comparisons, methods of the argument, functions of NumPy and JAX, some of Python's own, and the
user's functions that are made of these.
"""

import dis
import functools
from collections.abc import Hashable, Iterable
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import jax
import numpy as np

_MODULES = frozenset(("jax", "math", "numpy", "operator"))
_FUNCTIONS = frozenset(
    (
        *(abs, all, any, enumerate, float, int, len, max, min, pow, range, reversed, round, slice),
        *(sum, tuple, list, zip, bool, complex),
    )
)
_COMPILED: type[Any] = type(jax.jit(lambda x: x))
_DISPATCHED: type[Any] = type(np.sum)
# Values that no call changes, and that compute with a trace as with Python's numbers. NumPy's other
# scalars are of a dtype that wins over Python's numbers, not over those of a trace.
_CONSTANTS = (int, float, complex, str, bytes, type(None), np.ndarray, jax.Array)
_CONTAINERS = (tuple, list, dict, set, frozenset)
_MOST_CONSTANTS = 1000
# Attributes that change a container, draw, or tell what has them.
_ATTRIBUTES = frozenset(
    (
        *("add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popitem"),
        *("remove", "reverse", "setdefault", "sort", "update", "random", "write"),
    )
)
_STEPS = frozenset(
    (
        *("STORE_GLOBAL", "STORE_SUBSCR", "STORE_SLICE", "STORE_ATTR", "DELETE_SUBSCR"),
        *("DELETE_ATTR", "DELETE_GLOBAL", "DELETE_DEREF", "IMPORT_NAME", "CONTAINS_OP"),
        *("PUSH_EXC_INFO", "BEFORE_WITH", "LOAD_SPECIAL", "FORMAT_VALUE"),
        *("FORMAT_SIMPLE", "FORMAT_WITH_SPEC", "LOAD_BUILD_CLASS"),
    )
)


def calls_differ(function: object) -> bool:
    """Whether calls of a function may differ from its trace, as far as its code shows.

    The code of the functions that it calls is read too.
    """
    return not _is_plain(function, set())


def compares_identity(function: object) -> bool:
    """Whether the code of a function has the operators `is` or `is not`."""
    code = _code_of(function)
    return code is not None and _read(code).compares_identity


def reads(function: object, attribute: str) -> bool:
    """Whether the code of a function names an attribute."""
    code = _code_of(function)
    return code is not None and attribute in _read(code).attributes


class _Code(NamedTuple):
    """What is known of a code object."""

    has_effects: bool
    compares_identity: bool
    names: frozenset[str]
    attributes: frozenset[str]


def _code_of(function: Any) -> CodeType | None:
    while isinstance(function, functools.partial):
        function = function.func
    found = getattr(function, "__func__", function)
    found = getattr(found, "__wrapped__", found) if isinstance(found, _COMPILED) else found
    return getattr(found, "__code__", None)


def _is_plain(function: Any, known: set[int]) -> bool:
    """Whether all that a call runs is known to have no effect and to ask no question."""
    if id(function) in known:
        return True
    known.add(id(function))
    if isinstance(function, functools.partial):
        given = (*function.args, *function.keywords.values())
        return _is_plain(function.func, known) and _are_plain(given, known)
    if isinstance(function, _COMPILED) or _is_of_modules(function):
        # What is compiled is traced once, too.
        return True
    if isinstance(function, Hashable) and function in _FUNCTIONS:
        return True
    if not isinstance(function, FunctionType):
        return False
    code = _read(function.__code__)
    if code.has_effects:
        return False
    values = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    values += [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
    for name in code.names:
        builtins = function.__builtins__
        if name not in function.__globals__ and name not in builtins:
            return False
        values.append(function.__globals__.get(name, builtins.get(name)))
    return _are_plain(values, known)


def _are_plain(values: Iterable[Any], known: set[int]) -> bool:
    return all(_is_constant(one, known) or _is_plain(one, known) for one in values)


def _is_constant(value: Any, known: set[int]) -> bool:
    """Whether a value computes with a trace as with Python's numbers, and is not changed."""
    if isinstance(value, ModuleType):
        return value.__name__.partition(".")[0] in _MODULES
    if type(value) in (np.float64, np.bool_):
        return True
    if type(value) in _CONTAINERS:
        if len(value) > _MOST_CONSTANTS:
            return False
        items = (*value, *value.values()) if isinstance(value, dict) else value
        return _are_plain(items, known)
    return isinstance(value, _CONSTANTS) and not isinstance(value, np.generic)


def _is_of_modules(function: Any) -> bool:
    """Whether a function is one of JAX, of NumPy or of Python's mathematics."""
    module = getattr(function, "__module__", None)
    if isinstance(function, np.ufunc):
        return True
    if not isinstance(module, str) or "random" in module:
        return False
    is_function = isinstance(function, (FunctionType, BuiltinFunctionType, _DISPATCHED))
    return is_function and module.partition(".")[0] in _MODULES


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


@functools.lru_cache(maxsize=1024)
def _read(code: CodeType) -> _Code:
    has_effects = compares = False
    names: set[str] = set()
    attributes: set[str] = set()
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            names.add(step.argval)
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            attributes.add(step.argval)
        elif step.opname == "STORE_DEREF":
            has_effects |= step.argval in code.co_freevars
        has_effects |= step.opname in _STEPS
        compares |= step.opname == "IS_OP"
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            inner = _read(constant)
            # What an inner function stores may belong to this one: that is no effect.
            has_effects |= inner.has_effects
            compares |= inner.compares_identity
            names |= inner.names
            attributes |= inner.attributes
    has_effects |= any(name in _ATTRIBUTES or name.startswith("__") for name in attributes)
    return _Code(has_effects, compares, frozenset(names), frozenset(attributes))
