# SPDX-License-Identifier: Apache-2.0
"""Scans on one device."""

from .implementations import prepared_for
from .measuring import axis


class InclusiveScan:
    """How long does a running sum take?"""

    params = (
        axis(2**16, 10_000_000),
        axis("int32", "float32", "float64"),
        axis("jaxframes", "jnp", "associative_scan", "numpy", "pandas", "polars"),
    )
    param_names = ("rows", "dtype", "implementation")

    def setup(self, rows, dtype, implementation):
        self.run = prepared_for("inclusive_scan", implementation, rows, dtype, "uniform")

    def time_scan(self, rows, dtype, implementation):
        self.run()


class SegmentedScan:
    """How long does a segmented sum take, with about a hundred rows per segment?"""

    params = (
        axis(2**16, 10_000_000),
        axis("int32", "float32", "int64", "float64"),
        axis("jaxframes", "associative_scan", "pandas", "polars"),
    )
    param_names = ("rows", "dtype", "implementation")

    def setup(self, rows, dtype, implementation):
        self.run = prepared_for("segmented_scan", implementation, rows, dtype, "uniform")

    def time_scan(self, rows, dtype, implementation):
        self.run()
