# SPDX-License-Identifier: Apache-2.0
"""Segment reductions on one device."""

from .implementations import prepared_for
from .measuring import axis


class SegmentSum:
    """How long do the sums of 1000 segments take, with many rows in some?"""

    params = (
        axis(2**16, 10_000_000),
        axis("uniform", "zipf"),
        axis("jaxframes", "jnp", "numpy", "pandas", "polars"),
    )
    param_names = ("rows", "distribution", "implementation")

    def setup(self, rows, distribution, implementation):
        self.run = prepared_for("segment_sum", implementation, rows, "int32", distribution)

    def time_segment_sum(self, rows, distribution, implementation):
        self.run()


class SegmentSumOfMany:
    """How long do the sums of a million segments take, which exceed the cache?"""

    params = (axis(2**16, 10_000_000), axis("jaxframes", "jnp", "numpy", "pandas", "polars"))
    param_names = ("rows", "implementation")

    def setup(self, rows, implementation):
        self.run = prepared_for("segment_sum of many", implementation, rows, "int32", "uniform")

    def time_segment_sum(self, rows, implementation):
        self.run()
