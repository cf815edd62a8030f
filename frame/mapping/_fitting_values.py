# SPDX-License-Identifier: Apache-2.0
"""Whether a dtype represents all values of an array of another dtype."""

import jax
import jax.numpy as jnp
import numpy as np

from ...primitives.staging import tiered
from ..table._column import Array
from ..table._dtypes import wide
from ..table._table import Count, is_row
from ..table._tracing import answered_at_once
from ..table._types import DtypeLike


@answered_at_once
@tiered
def fits_dtype(other: Array, like: Array, num_rows: Count) -> Array:
    """Whether another dtype can represent all values of an array."""
    valid = is_row(other.shape[0], num_rows)
    if jnp.issubdtype(like.dtype, jnp.floating):
        # In NumPy's comparison dtype, which rounds integers, too.
        both = wide(np.result_type(other.dtype, like.dtype))
        return jnp.all(_is_of_float(other.astype(both), like.dtype) | ~valid)
    cast_back = other.astype(like.dtype)
    if jnp.issubdtype(other.dtype, jnp.integer):
        # Values of different signs may wrap to the same bits.
        same = (cast_back.astype(other.dtype) == other) & (
            (cast_back < cast_back.dtype.type(0)) == (other < other.dtype.type(0))
        )
    else:
        # The first number too large is clamped to the largest, which rounds back to that number.
        # Some limits overflow float16.
        with np.errstate(over="ignore"):
            first_too_large = other.dtype.type(float(jnp.iinfo(like.dtype).max) + 1)
        same = (cast_back.astype(other.dtype) == other) & (other < first_too_large)
    return jnp.all(same | ~valid)


def _is_of_float(x: Array, dtype: DtypeLike) -> Array:
    """Flags the floats that another dtype can represent; True for NaN.

    A cast and its inverse would not do: XLA on GPU removes such pairs.
    """
    limits = jnp.finfo(dtype)
    is_held = (jax.lax.reduce_precision(x, limits.nexp, limits.nmant) == x) | jnp.isnan(x)
    if limits.bits == 32:
        return is_held
    # reduce_precision flushes subnormals to zero, as XLA on CPU always does for float32. Those of
    # a narrower dtype are the multiples of its smallest subnormal.
    multiple = x / x.dtype.type(limits.smallest_subnormal)
    is_subnormal = (jnp.abs(x) < x.dtype.type(limits.tiny)) & (multiple == jnp.round(multiple))
    return is_held | is_subnormal
