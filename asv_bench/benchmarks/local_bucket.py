# SPDX-License-Identifier: Apache-2.0
"""Grouping of rows by bucket on one device."""

from .implementations import prepared_for
from .measuring import axis


class Bucket:
    """How long does grouping a column by 64 buckets take, with many rows in some?"""

    params = (
        axis(2**16, 10_000_000),
        axis("uniform", "zipf"),
        axis("jaxframes", "jnp", "numpy_stable", "polars"),
    )
    param_names = ("rows", "distribution", "implementation")

    def setup(self, rows, distribution, implementation):
        self.run = prepared_for("bucket", implementation, rows, "int32", distribution)

    def time_bucket(self, rows, distribution, implementation):
        self.run()
