# SPDX-License-Identifier: Apache-2.0
"""Merge of two sorted sequences on one device."""

from .implementations import prepared_for
from .measuring import axis


class Merge:
    """How long does merging two sorted halves take, compared with sorting them again?"""

    params = (
        axis(2**16, 10_000_000),
        axis("int32", "int64"),
        axis("uniform", "zipf"),
        axis("jaxframes", "jnp", "numpy_stable", "polars"),
    )
    param_names = ("rows", "dtype", "distribution", "implementation")

    def setup(self, rows, dtype, distribution, implementation):
        self.run = prepared_for("merge", implementation, rows, dtype, distribution)

    def time_merge(self, rows, dtype, distribution, implementation):
        self.run()
