# SPDX-License-Identifier: Apache-2.0
"""Distinct keys on one device."""

from .implementations import prepared_for
from .measuring import axis


class Unique:
    """How long do the distinct keys take, for few and for all distinct?"""

    params = (
        axis(2**16, 10_000_000),
        axis("int32", "int64"),
        axis("uniform", "zipf"),
        axis("jaxframes", "jnp", "numpy", "pandas", "polars"),
    )
    param_names = ("rows", "dtype", "distribution", "implementation")

    def setup(self, rows, dtype, distribution, implementation):
        self.run = prepared_for("unique", implementation, rows, dtype, distribution)

    def time_unique(self, rows, dtype, distribution, implementation):
        self.run()
