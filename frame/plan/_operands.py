# SPDX-License-Identifier: Apache-2.0
"""The operands of expressions that are no expressions: their checks, keys and text."""

from collections.abc import Callable, Hashable
from typing import Any

import jax
import numpy as np
import pandas as pd

from ..table._ndframe import NDFrame
from ..table._tracing import is_traced

# Methods with an argument that is a set of values, or a mapping between values.
_OF_VALUES = ("isin", "map", "replace")
# Methods of others with an argument that is a list; elsewhere a list has one element per row.
_OF_LISTS = ("str", "cat", "groupby", "list")
_COLLECTIONS = (list, tuple, set, frozenset, range)


def as_literal(value: object, function: str) -> Any:
    """A value as an operand of a function: a scalar, a dtype, a function, or a copied collection.

    Raises:
        NotImplementedError: the value has one element per row.
    """
    if isinstance(value, np.ndarray) and not value.ndim:
        return value[()]
    if pd.api.types.is_scalar(value) or isinstance(value, (type, np.dtype, slice)):
        return value
    if isinstance(value, (jax.Array, np.generic)) and not value.ndim:
        return value
    if isinstance(value, pd.api.extensions.ExtensionDtype):
        return value
    is_of_values = function in _OF_VALUES
    if is_of_values and isinstance(value, (np.ndarray, pd.Index)) and value.ndim == 1:
        return pd.Index(value).tolist()
    is_of_lists = is_of_values or function.partition(".")[0] in _OF_LISTS
    if is_of_lists and isinstance(value, dict):
        return dict(value)
    if is_of_lists and isinstance(value, _COLLECTIONS):
        return type(value)(value) if not isinstance(value, range) else value
    if callable(value) and not isinstance(value, (NDFrame, jax.Array)):
        return value
    raise NotImplementedError(
        f"{function}: operands of expressions must be expressions, scalars or lists, got "
        f"{type(value).__name__}. Assign it to a column first, and name it by col()."
    )


def literal_key(value: object) -> Hashable:
    """A hashable key of an operand, equal only for operands of the same type and value.

    Raises:
        TypeError: the value is traced.
    """
    kind = type(value)
    if isinstance(value, jax.Array):
        if is_traced(value):
            raise TypeError(
                "unhashable expression: an operand is traced. Pass its value as a column or from "
                "outside jit."
            )
        return jax.Array, str(value.dtype), value.weak_type, repr(np.asarray(value)[()])
    if isinstance(value, (float, complex, np.inexact)):
        # Distinguishes -0.0 from 0.0, and makes NaN equal to itself.
        return kind, repr(value)
    if isinstance(value, (pd.Timestamp, pd.Timedelta)):
        return kind, value.unit, value
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return kind, str(value.dtype), value.astype(np.int64).item()
    if isinstance(value, dict):
        return kind, tuple((literal_key(x), literal_key(y)) for x, y in value.items())
    if isinstance(value, (list, tuple)):
        return kind, tuple(literal_key(one) for one in value)
    if isinstance(value, (set, frozenset)):
        return kind, frozenset(literal_key(one) for one in value)
    if isinstance(value, slice):
        return kind, value.start, value.stop, value.step
    return kind, value


def literal_text(value: object) -> str:
    """The text of an operand, which Python reads with the names of NumPy and pandas in scope."""
    if isinstance(value, (float, np.floating)) and not np.isfinite(value):
        kind = f"np.{type(value).__name__}" if isinstance(value, np.generic) else "float"
        return f"{kind}({str(value)!r})"
    if isinstance(value, type):
        return f"np.{value.__name__}" if issubclass(value, np.generic) else value.__name__
    if isinstance(value, dict):
        items = (f"{literal_text(x)}: {literal_text(y)}" for x, y in value.items())
        return f"{{{', '.join(items)}}}"
    if isinstance(value, (list, set)) and value:
        items = [literal_text(one) for one in value]
        # Sets of strings have another order in each process.
        return (
            f"[{', '.join(items)}]"
            if isinstance(value, list)
            else f"{{{', '.join(sorted(items))}}}"
        )
    if isinstance(value, frozenset) and value:
        return f"frozenset({literal_text(set(value))})"
    if isinstance(value, np.dtype):
        return f"np.{value!r}"
    if isinstance(value, (pd.Timestamp, pd.Timedelta)) and value is not pd.NaT:
        text = f"pd.{type(value).__name__}({str(value)!r})"
        parsed: Any = type(value)(str(value))
        is_known = parsed.unit == value.unit
        return text if is_known else f"{text}.as_unit({value.unit!r})"
    if value is pd.NaT or value is pd.NA:
        return f"pd.{'NaT' if value is pd.NaT else 'NA'}"
    named = value if isinstance(value, Callable) else None
    return getattr(named, "__qualname__", None) or repr(value)
