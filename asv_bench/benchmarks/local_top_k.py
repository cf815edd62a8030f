# SPDX-License-Identifier: Apache-2.0
"""The largest of one device's rows."""

from .implementations import prepared_for
from .measuring import axis


class TopK:
    """How long do the 100 largest keys and their row ids take?"""

    params = (
        axis(2**16, 10_000_000),
        axis("int32", "int64"),
        axis("uniform", "zipf"),
        axis("jaxframes", "jnp", "numpy", "pandas", "polars"),
    )
    param_names = ("rows", "dtype", "distribution", "implementation")

    def setup(self, rows, dtype, distribution, implementation):
        self.run = prepared_for("top_k", implementation, rows, dtype, distribution)

    def time_top_k(self, rows, dtype, distribution, implementation):
        self.run()
