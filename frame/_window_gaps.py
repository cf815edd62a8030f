# SPDX-License-Identifier: Apache-2.0
"""Whether windows must count their values: not where every row has one."""

import functools

import jax
import jax.numpy as jnp

from ._column import Array
from ._known import at_once
from ._table import Count, is_row, is_traced


def has_gaps(data: tuple[Array, ...], missing: tuple[Array | None, ...], num_rows: Count) -> bool:
    """Whether some value is missing or infinite: looked up where that can be."""
    floats = tuple(x for x in data if jnp.issubdtype(x.dtype, jnp.floating))
    flags = tuple(gaps for gaps in missing if gaps is not None)
    if not floats and not flags:
        return False
    if is_traced(floats, flags, num_rows):
        return True
    return bool(at_once(_any_gap, floats, flags, num_rows))


@jax.jit
def _any_gap(floats: tuple[Array, ...], flags: tuple[Array, ...], num_rows: Count) -> Array:
    gaps = [~jnp.isfinite(x) for x in floats] + list(flags)
    valid = is_row(gaps[0].shape[0], num_rows)
    return functools.reduce(jnp.logical_or, [jnp.any(one & valid) for one in gaps])
