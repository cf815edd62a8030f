# SPDX-License-Identifier: Apache-2.0
"""One value beside a column."""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np


class Scalar(NamedTuple):
    """One value, with which every row of a column is combined.

    Attributes:
        value: a number, a string, a time, or None.
        is_typed: whether its dtype counts as that of a column does; else it gives way.
    """

    value: Any
    is_typed: bool = False

    @property
    def is_number(self) -> bool:
        """Whether it is a number of Python, NumPy or JAX, or a bool."""
        if isinstance(self.value, (bool, int, float, complex)):
            return True
        dtype = getattr(self.value, "dtype", None)
        return isinstance(dtype, np.dtype) and (dtype.kind in "biufc" or dtype == jnp.bfloat16)
