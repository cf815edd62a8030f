# SPDX-License-Identifier: Apache-2.0
"""Scans on one device."""

import numpy as np

from .implementations import prepared, prepared_for
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


class LinearRecurrence:
    """How long does a recurrence of rows of one number, or of 64, take?"""

    params = (
        axis(2**17),
        axis(1, 64),
        axis("jaxframes", "lax.scan", "associative_scan"),
    )
    param_names = ("rows", "row_numbers", "implementation")

    def setup(self, rows, row_numbers, implementation):
        columns = np.random.default_rng(0).random((2, rows, row_numbers), np.float32)
        self.run = prepared("linear_recurrence", implementation, *columns)

    def time_recurrence(self, rows, row_numbers, implementation):
        self.run()
