# SPDX-License-Identifier: Apache-2.0
"""The operators of reductions and their identity elements."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..table._column import Array

COMBINE: dict[str, Callable[[Array, Array], Array]] = {
    "sum": jnp.add,
    "prod": jnp.multiply,
    "min": jnp.minimum,
    "max": jnp.maximum,
    "any": jnp.logical_or,
    "all": jnp.logical_and,
}


def identity_of(name: str, dtype: Any) -> Any:
    """The identity element of a reduction for a dtype."""
    dtype = np.dtype(dtype)
    if name in ("sum", "prod", "any", "all"):
        return dtype.type(name in ("prod", "all"))
    if dtype == np.bool_:
        return np.bool_(name == "min")
    if jnp.issubdtype(dtype, jnp.inexact):
        return dtype.type(np.inf if name == "min" else -np.inf)
    info = np.iinfo(dtype)
    return dtype.type(info.max if name == "min" else info.min)
