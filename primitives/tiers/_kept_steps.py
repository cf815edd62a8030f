# SPDX-License-Identifier: Apache-2.0
"""The steps of a program as data that pickle takes: rules make their functions anew."""

import enum
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ._elementwise_rules import RULES, Elementwise, Equation, HostArray


class _Recorded(Mapping[str, Any]):
    """Parameters of an equation, and those that were read."""

    def __init__(self, params: Mapping[str, Any]):
        self._params, self.read = params, dict[str, Any]()

    def __getitem__(self, name: str) -> Any:
        self.read[name] = self._params[name]
        return self.read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._params)

    def __len__(self) -> int:
        return len(self._params)


class _Fields:
    """What the rules read of a parameter that is an object of JAX."""

    def __init__(self, fields: Mapping[str, Any]):
        self.__dict__.update(fields)

    def __int__(self) -> int:
        return self.__dict__["value"]


def _plain(param: Any) -> Any:
    """A parameter without classes of JAX, whose modules are not public."""
    if isinstance(param, enum.Enum):
        return _Fields({"name": param.name, "value": param.value})
    if isinstance(param, tuple) and hasattr(param, "_asdict"):
        named: Any = param
        return _Fields(named._asdict())
    return param


class _Aval(NamedTuple):
    """The shape and dtype of a variable."""

    shape: tuple[int, ...]
    dtype: np.dtype


class _Variable(NamedTuple):
    """A variable of an equation."""

    aval: _Aval


class KeptEquation(NamedTuple):
    """An equation, as far as the rules read it.

    Attributes:
        name: that of the primitive.
        params: its parameters, without those that its rule does not read.
        invars: the operands.
        outvars: the results.
    """

    name: str
    params: Mapping[str, Any]
    invars: tuple[_Variable, ...]
    outvars: tuple[_Variable, ...]

    @property
    def primitive(self) -> Any:
        """What has the name of the primitive."""
        return self


class _Repeated(NamedTuple):
    """One number in all places of an array."""

    number: HostArray
    shape: tuple[int, ...]


def kept_function(function: Any, equation: Equation) -> Any:
    """A step with programs of its own, or of a mesh, as it is, and the equation of any other."""
    if isinstance(function, Elementwise):
        return Elementwise(kept_function(function.function, equation))
    if hasattr(function, "over_shards"):
        return function
    name, params = equation.primitive.name, _Recorded(equation.params)
    if name not in RULES:
        return function
    invars, outvars = (
        tuple(_Variable(_Aval(tuple(v.aval.shape), np.dtype(v.aval.dtype))) for v in variables)
        for variables in (equation.invars, equation.outvars)
    )
    RULES[name](KeptEquation(name, params, invars, outvars))
    read = {name: _plain(param) for name, param in params.read.items()}
    return KeptEquation(name, read, invars, outvars)


def function_of_kept(kept: Any) -> Any:
    """The inverse of `kept_function`.

    Raises:
        KeyError: a rule reads a parameter that is not kept.
        ValueError: there is no such rule.
    """
    if isinstance(kept, Elementwise):
        return Elementwise(function_of_kept(kept.function))
    if not isinstance(kept, KeptEquation):
        return kept
    make = RULES.get(kept.name)
    function = None if make is None else make(kept)
    if function is None:
        raise ValueError(f"{kept.name} has no rule for {kept.params}")
    return function


def kept_value(value: Any) -> Any:
    """A constant; one that repeats a number, which may have the size of a column, without it."""
    if value is None or value.size <= 1 or any(value.strides):
        return value
    return _Repeated(value.reshape(-1)[:1].copy(), value.shape)


def own_dtype(dtype: np.dtype) -> np.dtype:
    """NumPy's own object of a dtype: unpickled ones are others, which are not told by identity."""
    return np.dtype(dtype.type)


def value_of_kept(kept: Any) -> Any:
    """The inverse of `kept_value`."""
    if isinstance(kept, _Repeated):
        return np.broadcast_to(kept.number.reshape(()), kept.shape)
    return None if kept is None else read_only(kept)


def read_only(value: HostArray) -> HostArray:
    """A constant that results may show, but nobody may change."""
    view = value.view()
    view.setflags(write=False)
    return view
