# SPDX-License-Identifier: Apache-2.0
"""Argument checks of the calls that place rows."""

import difflib
import operator
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ._compat import is_x64_enabled

# Row ids on a shard are int32.
MAX_SHARD_ROWS = 2**31 - 1


def type_of(value: Any) -> str:
    """Formats an argument for an error message: `int32[5]`, or its Python type."""
    if isinstance(value, jax.Array):
        return str(jax.typeof(value))
    if isinstance(value, np.ndarray):
        return f"{value.dtype}[{','.join(map(str, value.shape))}]"
    return type(value).__name__


def did_you_mean(name: Any, known: Sequence[str]) -> str:
    """A hint at the known name that a name resembles, for the end of a message, or nothing."""
    nearest = difflib.get_close_matches(str(name), known, n=1)
    return f" Did you mean {nearest[0]!r}?" if nearest else ""


def as_static_int(
    value: Any, caller: str, name: str, lowest: int | None = 0, highest: int | None = None
) -> int:
    """Validates a concrete integer that shapes depend on."""
    if isinstance(value, Tracer):
        raise TypeError(
            f"{caller}: {name} must be a Python integer, because shapes depend on it, "
            f"got the traced {type_of(value)}. Mark it static (static_argnames in jax.jit)."
        )
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(
            f"{caller}: {name} must be a Python integer, got {type_of(value)}."
        ) from None
    is_low = lowest is not None and number < lowest
    if is_low or (highest is not None and number > highest):
        limits = f"at least {lowest}" if highest is None else f"in [{lowest}, {highest}]"
        raise ValueError(f"{caller}: {name} must be {limits}, got {number}.")
    return number


def as_rows(rows: Any, caller: str) -> tuple[Any, int]:
    """Checks that the leaves of a pytree have the same number of rows; returns both."""
    rows = jax.tree.map(lambda leaf: _as_array(leaf, caller), rows)
    leaves = jax.tree.leaves(rows)
    if not leaves:
        raise ValueError(f"{caller}: rows must hold at least one array, got an empty pytree.")
    if len({leaf.shape[:1] for leaf in leaves}) > 1 or leaves[0].ndim == 0:
        raise ValueError(
            f"{caller}: every leaf of rows must have the same number of rows along its leading "
            f"axis, got {', '.join(type_of(leaf) for leaf in leaves)}."
        )
    return rows, leaves[0].shape[0]


def as_capacity(capacity: Any, num_rows: int, num_shards: int, caller: str) -> int:
    """Validates the capacity of a shard; by default the smallest one that holds all rows."""
    needed = -(-num_rows // num_shards)
    number = needed if capacity is None else as_static_int(capacity, caller, "capacity")
    if number < needed:
        raise ValueError(
            f"{caller}: {num_rows} rows do not fit {num_shards} shards with a capacity of "
            f"{number}. Call again with capacity={needed} or more."
        )
    if number > MAX_SHARD_ROWS:
        raise ValueError(
            f"{caller}: a shard must hold fewer than 2**31 rows, got a capacity of {number}. "
            "Spread the rows over more devices."
        )
    return number


def check_fits(value: Any, caller: str, name: str) -> None:
    """Checks that JAX takes a value as an array, and does not wrap its integers around.

    Without x64 mode JAX halves the width of 64-bit arrays. Floats are rounded then.
    """
    if isinstance(value, jax.Array):
        return
    array = np.asarray(value)
    if array.dtype.kind in "OSUMm" or array.dtype.fields:
        raise TypeError(
            f"{caller}: {name} must be an array of numbers, got {type_of(value)}. Encode it as "
            "integers first, or keep it out of the tree."
        )
    if array.dtype.kind in "iu" and array.size and not is_x64_enabled():
        limits = np.iinfo(jax.dtypes.canonicalize_dtype(array.dtype))
        if array.min() < limits.min or array.max() > limits.max:
            raise TypeError(
                f"{caller}: integers that need 64 bits need JAX's x64 mode, got {type_of(array)} "
                f'at {name}. Call jax.config.update("jax_enable_x64", True) first.'
            )


def _as_array(value: Any, caller: str) -> jax.Array | np.ndarray:
    array = value if isinstance(value, jax.Array) else np.asarray(value)
    if jnp.issubdtype(array.dtype, jax.dtypes.extended) or array.dtype.kind in "OSUMm":
        raise TypeError(
            f"{caller}: rows must be arrays of numbers, got {type_of(array)}. "
            "Encode them as integers first."
        )
    # A complex number has two parts.
    part_bytes = array.dtype.itemsize // (2 if array.dtype.kind == "c" else 1)
    if part_bytes == 8 and not is_x64_enabled():
        raise TypeError(
            f"{caller}: 64-bit rows need JAX's x64 mode, got {type_of(array)}. "
            'Call jax.config.update("jax_enable_x64", True) first, or cast to 32 bits.'
        )
    return array
