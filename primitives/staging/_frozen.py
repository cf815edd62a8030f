# SPDX-License-Identifier: Apache-2.0
"""Nested Python objects as hashable keys, and back."""

import dataclasses
import functools
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import jax
import numpy as np

from ..contract._arguments import type_of

# Values of these types differ from values of all other untagged types, so they are their own key.
# `True == 1 == 1.0` in Python, so of the numbers only integers go without a tag.
_UNTAGGED = frozenset({str, int, bytes, type(None)})


class Frozen:
    """A hashable snapshot of a nested Python object, as `freeze` makes it.

    Two of them are equal if their objects have the same types and values throughout. `thaw` gives
    the object back.
    """

    __slots__ = ("_hash", "_key")

    def __init__(self, key: Any):
        self._key = key
        self._hash = hash(key)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Frozen):
            return NotImplemented
        return self._hash == other._hash and self._key == other._key

    def __repr__(self) -> str:
        return f"Frozen({thaw(self)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Hashes of strings differ between processes.
        return freeze, (thaw(self),)


def freeze(obj: Any) -> Frozen:
    """Turns a nested Python object into a hashable key that remembers every type.

    Lists, tuples, named tuples, dicts, sets and frozensets are taken apart; everything else is a
    leaf. Use the key as a static argument of `jax.jit`, or of a cache, and `thaw` it inside.

    Args:
        obj: lists, tuples, dicts and sets around hashable leaves, nested to any depth.

    Returns:
        A `Frozen`. It holds leaves by reference and no container of `obj`, so later changes to
        `obj` do not reach it.

    Raises:
        TypeError: a leaf is not hashable, such as an array; the message gives its path.
        ValueError: a container contains itself.

    Cost:
        One visit of each container and leaf, and one hash of the result.

    Guarantees:
        `thaw(freeze(obj)) == obj`, with the same types. Objects with equal content have equal keys.
        `1`, `True` and `1.0` have different keys, as have `0.0` and `-0.0`, in the fields of a
        frozen dataclass too; all NaNs of Python are equal. The order of a dict is part of its key,
        because a program may depend on it; the order of a set is not. Leaves of other types count
        as equal where `==` says so.

    Example:
        >>> from jaxframes.primitives import staging
        >>> config = {"layers": [64, 64], "bias": True}
        >>> staging.freeze(config) == staging.freeze({"layers": [64, 64], "bias": True})
        True
        >>> staging.freeze(config) == staging.freeze({"layers": [64, 64], "bias": 1})
        False
        >>> staging.thaw(staging.freeze(config))
        {'layers': [64, 64], 'bias': True}
    """
    return frozen_argument(obj, "freeze", "obj")


def thaw(frozen: Frozen) -> Any:
    """Rebuilds the object that `freeze` was given.

    Args:
        frozen: a result of `freeze`.

    Returns:
        An equal object of the same types, with new containers and the same leaves.

    Raises:
        TypeError: `frozen` is not a `Frozen`.

    Cost:
        One visit of each container and leaf.

    Guarantees:
        `freeze(thaw(frozen)) == frozen`. Each call builds new containers, so changes to one result
        do not reach another.

    Example:
        >>> from jaxframes.primitives import staging
        >>> staging.thaw(staging.freeze([1, (2.0, None), {"three"}]))
        [1, (2.0, None), {'three'}]
    """
    if not isinstance(frozen, Frozen):
        raise TypeError(
            f"thaw: frozen must be a Frozen, got {type_of(frozen)}. Call freeze on it first."
        )
    return _value(frozen._key)


def frozen_argument(obj: Any, caller: str, name: str) -> Frozen:
    """Freezes an argument of `caller`; errors name the argument and the path of the leaf."""
    try:
        return Frozen(_key(obj))
    except RecursionError:
        raise ValueError(
            f"{caller}: {name} must not contain itself, got {type_of(obj)} nested without end. "
            "Refer to the repeated part by a name or an index."
        ) from None
    except TypeError:
        for path, leaf in _leaves(obj, name):
            try:
                hash(leaf)
            except TypeError:
                raise TypeError(
                    f"{caller}: {name} must consist of hashable leaves, got {type_of(leaf)} at "
                    f"{path}. {_remedy(leaf)}"
                ) from None
        raise


def _remedy(leaf: Any) -> str:
    if isinstance(leaf, (jax.Array, np.ndarray)):
        return "Pass arrays as arguments that are not static."
    return "Convert it to lists, tuples and dicts, for example with dataclasses.asdict."


def _key(value: Any) -> Any:
    """The key of a value: itself, or a tuple of its type and its parts."""
    kind = type(value)
    if kind in _UNTAGGED:
        return value
    if kind is tuple or kind is list:
        return (kind, *_keys(value))
    if kind is dict:
        return (dict, *_keys(value), *_keys(value.values()))
    if kind is set or kind is frozenset:
        return kind, frozenset(map(_key, value))
    if kind is float:
        # As text, because 0.0 == -0.0 and NaN != NaN.
        return float, value.hex()
    if kind is complex:
        return complex, value.real.hex(), value.imag.hex()
    if issubclass(kind, np.inexact):
        return kind, value.tobytes()
    if _is_named_tuple(kind):
        return (kind, *map(_key, value))
    if dataclasses.is_dataclass(kind):
        # Its own `==` takes 1, True and 1.0 for the same.
        return kind, value, *(_field_key(value, name) for name in _compared(kind))
    return kind, value


@functools.cache
def _compared(kind: type) -> tuple[str, ...]:
    """Names of the fields of a dataclass that its `==` compares."""
    if kind.__eq__ is object.__eq__:
        return ()
    return tuple(field.name for field in dataclasses.fields(kind) if field.compare)


def _field_key(value: Any, name: str) -> Any:
    """The key of a field; None for one that only the hash of its dataclass knows to leave out."""
    key = _key(getattr(value, name))
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _keys(values: Collection[Any]) -> Iterable[Any]:
    # Most containers hold strings or integers alone: those need no call each.
    return values if _UNTAGGED.issuperset(map(type, values)) else map(_key, values)


def _value(key: Any) -> Any:
    if type(key) is not tuple:
        return key
    kind, *parts = key
    if kind is tuple or kind is list:
        return kind(map(_value, parts))
    if kind is dict:
        half = len(parts) // 2
        return dict(zip(map(_value, parts[:half]), map(_value, parts[half:]), strict=True))
    if kind is set or kind is frozenset:
        return kind(map(_value, parts[0]))
    if kind is float:
        return float.fromhex(parts[0])
    if kind is complex:
        return complex(float.fromhex(parts[0]), float.fromhex(parts[1]))
    if issubclass(kind, np.inexact):
        return np.frombuffer(parts[0], kind)[0]
    if _is_named_tuple(kind):
        return kind._make(map(_value, parts))
    return parts[0]


def _is_named_tuple(kind: type) -> bool:
    return issubclass(kind, tuple) and hasattr(kind, "_make")


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The leaves of a nested object with their paths. Items of sets are hashable already."""
    kind = type(value)
    if kind is tuple or kind is list:
        for position, item in enumerate(value):
            yield from _leaves(item, f"{path}[{position}]")
    elif kind is dict:
        for name, item in value.items():
            yield from _leaves(item, f"{path}[{name!r}]")
    elif _is_named_tuple(kind):
        for field, item in zip(kind._fields, value, strict=True):
            yield from _leaves(item, f"{path}.{field}")
    elif kind is not set and kind is not frozenset:
        yield path, value
