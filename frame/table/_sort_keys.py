# SPDX-License-Identifier: Apache-2.0
"""Keys of a column: numbers that are equal, and ordered, as its values are."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from ...primitives.staging import tiered
from ._column import Array, Column, zero_unless


def ordered_keys(
    column: Column, *, descending: bool = False, missing_first: bool = False
) -> tuple[tuple[Array, bool], ...]:
    """Sort keys for the values of a column, each with its direction.

    Missing values come last in both directions, or first. Uses a single key where possible.
    """
    if column.kind == "list":
        raise unhashable(column)
    data, missing = column.data, ()
    if missing_first and column.can_miss:
        missing = ((column.present(), False),)
    elif column.valid is not None:
        missing = ((column.missing(), False),)
    if column.is_numeric:
        key = data if column.valid is None else zero_unless(column.valid, data)
        keys = _parts(key) if column.dtype.kind == "c" else (key,)
        return (*missing, *((one, descending) for one in keys))
    return (*missing, (_unsigned_order(data, column.type.has_codes, descending), False))


def unhashable(column: Column) -> TypeError:
    """pandas' error for lists as keys."""
    lists = column.type.lists
    name = "list" if lists is None or lists.form in ("list", "nullable") else "numpy.ndarray"
    return TypeError(
        f"unhashable type: '{name}', got a column of lists for keys. Use explode() for a row for "
        "each value, or .list.len() and .list[i]."
    )


def group_keys(column: Column) -> tuple[Array, ...]:
    """Keys that are equal for equal values. Missing values are equal, too, and sort last."""
    return tuple(key for key, _ in ordered_keys(column))


def distinct_keys(column: Column) -> tuple[Array, ...]:
    """Like `group_keys`, but complex numbers differ if different parts of them are NaN.

    Matches the methods of pandas that compare numbers without testing for missing values.
    """
    if column.dtype.kind == "c":
        return column.missing(), column.data.real, column.data.imag
    return group_keys(column)


def _parts(data: Array) -> tuple[Array, Array]:
    """Real and imaginary parts, both NaN if either is."""
    is_missing = jnp.isnan(data)
    nan = data.real.dtype.type(np.nan)
    return jnp.where(is_missing, nan, data.real), jnp.where(is_missing, nan, data.imag)


@functools.partial(tiered, static_argnums=(1, 2))
def _unsigned_order(data: Array, has_codes: bool, descending: bool) -> Array:
    """Maps codes or times to unsigned keys of their order, the greatest if missing."""
    if has_codes:
        key = jax.lax.bitcast_convert_type(data, jnp.uint32)
    else:
        # Flipping the sign bit maps NaT to 0; subtracting 1 wraps it to the greatest key.
        bits = jax.lax.bitcast_convert_type(data, jnp.uint64)
        key = (bits ^ np.uint64(1 << 63)) - np.uint64(1)
    if not descending:
        return key
    # Reverse all but the greatest key, which encodes a missing value.
    greatest = key.dtype.type(np.iinfo(key.dtype).max)
    return jnp.where(key == greatest, greatest, greatest - key.dtype.type(1) - key)
