# SPDX-License-Identifier: Apache-2.0
"""A scalar operand."""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np


class Scalar(NamedTuple):
    """A scalar operand that is broadcast to the rows of a column.

    Attributes:
        value: a number, a string, a time, or None.
        is_typed: whether its dtype takes part in promotion; otherwise it is weakly typed.
    """

    value: Any
    is_typed: bool = False

    @property
    def is_number(self) -> bool:
        """Whether the value is a bool or a number of Python, NumPy or JAX."""
        if isinstance(self.value, (bool, int, float, complex)):
            return True
        dtype = getattr(self.value, "dtype", None)
        return isinstance(dtype, np.dtype) and (dtype.kind in "biufc" or dtype == jnp.bfloat16)
