# SPDX-License-Identifier: Apache-2.0
"""The rows of one device that a mask flags."""

from .implementations import prepared_for
from .measuring import axis


class Compact:
    """How long does it take to move the flagged half of a column to its front?"""

    params = (
        axis(2**16, 10_000_000),
        axis("int32", "int64"),
        axis("jaxframes", "jnp", "numpy", "pandas", "polars"),
    )
    param_names = ("rows", "dtype", "implementation")

    def setup(self, rows, dtype, implementation):
        self.run = prepared_for("compact", implementation, rows, dtype, "uniform")

    def time_compact(self, rows, dtype, implementation):
        self.run()
