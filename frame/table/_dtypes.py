# SPDX-License-Identifier: Apache-2.0
"""Dtypes of 64 bits, and what stands for them where JAX has none."""

from typing import Any, TypeVar

import jax
import numpy as np
import pandas as pd

Labelled = TypeVar("Labelled", pd.Series, pd.Index)


def wide(dtype: Any) -> np.dtype:
    """The dtype as the device holds it: of 32 bits without JAX's x64 mode."""
    return np.dtype(jax.dtypes.canonicalize_dtype(dtype))


def is_held(value: Any) -> bool:
    """Whether the device has room for a number: an integer of more than 32 bits needs x64."""
    return not isinstance(value, np.integer) or bool(value.astype(wide(value.dtype)) == value)


def narrowed(results: Labelled) -> Labelled:
    """Numbers calculated on the host, of a dtype that the device holds where that has room."""
    dtype = results.dtype
    if not isinstance(dtype, np.dtype) or dtype.kind not in "iufc" or wide(dtype) == dtype:
        return results
    with np.errstate(over="ignore"):
        found = results.astype(wide(dtype))
    is_exact = dtype.kind in "fc" or bool((found == results).all())
    return found if is_exact else results
