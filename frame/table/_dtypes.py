# SPDX-License-Identifier: Apache-2.0
"""64-bit dtypes, and their 32-bit counterparts without x64 mode."""

import functools
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ._types import DtypeLike

Labelled = TypeVar("Labelled", pd.Series, pd.Index)


def wide(dtype: DtypeLike) -> np.dtype:
    """The device's dtype: 32 bits wide without JAX's x64 mode."""
    return np.dtype(jax.dtypes.canonicalize_dtype(dtype))


@functools.partial(tiered, static_argnums=1)
def cast_exactly(data: jax.Array, dtype: Any) -> jax.Array:
    """Casts numbers; float32 to float64 exactly, subnormal numbers included.

    XLA on CPU flushes subnormal operands to zero, also in conversions.
    """
    cast = data.astype(dtype)
    if (data.dtype, cast.dtype) != (np.float32, np.float64):
        return cast
    bits = jax.lax.bitcast_convert_type(data, jnp.uint32)
    mantissa = bits & np.uint32(0x7FFFFF)
    is_subnormal = (bits & np.uint32(0x7F800000) == 0) & (mantissa != 0)
    size = mantissa.astype(jnp.float64) * np.float64(2.0**-149)
    exact = jnp.where(bits >> np.uint32(31) == 0, size, -size)
    # The derivative with respect to `data` stays 1.
    return jnp.where(is_subnormal, cast + jax.lax.stop_gradient(exact - cast), cast)


def as_dtype(data: jax.Array, dtype: Any) -> jax.Array:
    """`cast_exactly`, or the array itself if it has the dtype."""
    return data if data.dtype == dtype else cast_exactly(data, np.dtype(dtype))


def is_held(value: object) -> bool:
    """Whether the device represents a number exactly: wide integers need x64 mode."""
    return not isinstance(value, np.integer) or bool(value.astype(wide(value.dtype)) == value)


def narrowed(results: Labelled) -> Labelled:
    """Casts host results to the device's dtype, unless integers would change."""
    dtype = results.dtype
    if not isinstance(dtype, np.dtype) or dtype.kind not in "iufc" or wide(dtype) == dtype:
        return results
    with np.errstate(over="ignore"):
        cast = results.astype(wide(dtype))
    is_exact = dtype.kind in "fc" or bool((cast == results).all())
    return cast if is_exact else results
