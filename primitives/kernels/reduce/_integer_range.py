# SPDX-License-Identifier: Apache-2.0
"""The range of integers: the portable definition, and the C++ kernel on CPU."""

import jax
import jax.numpy as jnp

from ...contract._platform import by_platform
from ...contract._typing import Array
from ..base._foreign import call
from ..base._library import is_native

_WORD_DTYPES = ("int32", "uint32", "int64", "uint64")


def range_of_integers(x: Array, num_valid: Array) -> tuple[Array, Array]:
    """The smallest and the largest of the first `num_valid` integers.

    Without valid rows they are the largest and the smallest number of the dtype.
    """

    def xla(x: Array, num_valid: Array) -> tuple[Array, Array]:
        info = jnp.iinfo(x.dtype)
        least, greatest = x.dtype.type(info.min), x.dtype.type(info.max)
        is_valid = jax.lax.iota(jnp.int32, x.shape[0]) < num_valid
        return (
            jnp.min(jnp.where(is_valid, x, greatest), initial=greatest),
            jnp.max(jnp.where(is_valid, x, least), initial=least),
        )

    def native(x: Array, num_valid: Array) -> tuple[Array, Array]:
        least, greatest = call(
            "jaxframes_integer_range_v1",
            (x[None], num_valid[None]),
            (((), x.dtype), ((), x.dtype)),
        )
        return least, greatest

    if x.dtype.name not in _WORD_DTYPES or x.shape[0] == 0 or not is_native():
        return xla(x, num_valid)
    return by_platform(x, num_valid, cpu=native, default=xla)
