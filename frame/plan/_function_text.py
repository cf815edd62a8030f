# SPDX-License-Identifier: Apache-2.0
"""A text that identifies a Python function, the same in every process."""

import dis
import functools
import hashlib
import types
from collections.abc import Iterator, Mapping
from typing import Any

import jax
import numpy as np

from ._expression import Expression


def functions_in(value: object) -> Iterator[Any]:
    """The functions among the arguments of a step, and in its expressions."""
    if isinstance(value, Expression):
        for part in value._bottom_up():
            own = (*part.operands, *(operand for _, operand in part.keywords))
            yield from functions_in([one for one in own if not isinstance(one, Expression)])
    elif isinstance(value, Mapping):
        yield from functions_in(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from functions_in(one)
    elif callable(value) and not isinstance(value, type):
        yield value


def function_text(function: object) -> str:
    """Describes what a function does: its instructions and the values that it refers to.

    Functions of Python are described by their code, their defaults, and the variables around them
    that they name: numbers, strings, arrays, and further functions.
    """
    return _text(function, set())


def _text(value: object, seen: set[int]) -> str:
    if isinstance(value, (np.ndarray, jax.Array)):
        array = np.asarray(value)
        digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
        return f"array{array.shape} of {array.dtype}: {digest}"
    if isinstance(value, types.CodeType):
        constants = [_text(one, seen) for one in value.co_consts]
        return f"code({value.co_code.hex()}, {constants}, {value.co_names}, {value.co_varnames})"
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}{[_text(one, seen) for one in value]}"
    if isinstance(value, (set, frozenset)):
        # Sets of strings have another order in each process.
        return f"{type(value).__name__}{sorted(_text(one, seen) for one in value)}"
    if isinstance(value, Mapping):
        return f"dict{[(_text(x, seen), _text(y, seen)) for x, y in value.items()]}"
    if isinstance(value, functools.partial):
        return f"partial{_text((value.func, value.args, value.keywords), seen)}"
    if isinstance(value, types.MethodType):
        return f"method{_text((value.__func__, value.__self__), seen)}"
    if isinstance(value, types.ModuleType):
        return value.__name__
    if isinstance(value, types.FunctionType):
        return _function_text(value, seen)
    if isinstance(value, type) or (callable(value) and hasattr(value, "__qualname__")):
        return f"{getattr(value, '__module__', None)}.{value.__qualname__}"
    return f"{type(value).__qualname__}({value!r})"


def _function_text(function: types.FunctionType, seen: set[int]) -> str:
    if id(function) in seen:
        return function.__qualname__
    seen.add(id(function))
    code = function.__code__
    around = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    values: dict[str, Any] = {}
    for name, cell in around.items():
        try:
            values[name] = cell.cell_contents
        except ValueError:
            # The variable has no value yet.
            values[name] = None
    values |= {
        name: function.__globals__[name] for name in _names_in(code) if name in function.__globals__
    }
    defaults = (function.__defaults__, function.__kwdefaults__)
    return f"function({_text((code, defaults, values), seen)})"


def _names_in(code: types.CodeType) -> list[str]:
    """The names of the globals that a function and those inside it read."""
    names = {one.argval for one in dis.get_instructions(code) if one.opname == "LOAD_GLOBAL"}
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            names.update(_names_in(one))
    return sorted(names)
