# SPDX-License-Identifier: Apache-2.0
"""Sums and maxima of all integers up to each row: XLA makes many passes of them on CPU."""

import functools
from typing import Literal

import jax
import jax.numpy as jnp

from ...contract._platform import by_platform
from ...contract._scan_operators import Scan
from ...contract._typing import Array
from ..base._library import is_native
from ._segmented_scan import scan_rows


def running_count(flags: Array) -> Array:
    """The number of true flags up to each row, int32."""
    return running("add", flags.astype(jnp.int32))


def running(op: Literal["add", "max"], values: Array) -> Array:
    """Combines the integers up to each row, in their dtype of 32 or 64 bits."""

    def by_kernel(values: Array) -> Array:
        num_rows = jnp.asarray(values.shape[0], jnp.int32)
        return scan_rows(values, None, num_rows, Scan(op, False, False))

    cumulated = functools.partial(jnp.cumsum, dtype=values.dtype) if op == "add" else jax.lax.cummax
    kernels = {"cpu": by_kernel} if is_native() and values.size else {}
    return by_platform(values, default=cumulated, **kernels)
