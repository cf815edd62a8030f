# SPDX-License-Identifier: Apache-2.0
"""Reductions on one device: of all rows, of windows, and of segments."""

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


class SegmentSumOfFew:
    """How long do the sums of ten segments take, which wait for each other?"""

    params = (axis(2**16, 10_000_000), axis("jaxframes", "jnp", "numpy", "pandas", "polars"))
    param_names = ("rows", "implementation")

    def setup(self, rows, implementation):
        self.run = prepared_for("segment_sum of few", implementation, rows, "int32", "uniform")

    def time_segment_sum(self, rows, implementation):
        self.run()


class Reduce:
    """How long does the sum of a column take?"""

    params = (
        axis(2**16, 10_000_000),
        axis("int64", "float64"),
        axis("jaxframes", "jnp", "numpy", "pandas", "polars"),
    )
    param_names = ("rows", "dtype", "implementation")

    def setup(self, rows, dtype, implementation):
        self.run = prepared_for("reduce", implementation, rows, dtype, "uniform")

    def time_reduce(self, rows, dtype, implementation):
        self.run()


class ReduceWithMask:
    """How long does the variance of the flagged half of a column take?"""

    params = (axis(2**16, 10_000_000), axis("jaxframes", "jnp", "numpy", "pandas", "polars"))
    param_names = ("rows", "implementation")

    def setup(self, rows, implementation):
        self.run = prepared_for("reduce with a mask", implementation, rows, "float64", "uniform")

    def time_reduce(self, rows, implementation):
        self.run()


class WindowedReduce:
    """How long do the maxima of windows of 1000 rows take?"""

    params = (axis(2**16, 10_000_000), axis("jaxframes", "pandas", "polars"))
    param_names = ("rows", "implementation")

    def setup(self, rows, implementation):
        self.run = prepared_for("windowed_reduce", implementation, rows, "float64", "uniform")

    def time_windowed_reduce(self, rows, implementation):
        self.run()


class Concatenate:
    """How long does it take to put four pieces of a column into one?"""

    params = (axis(2**16, 10_000_000), axis("jaxframes", "jnp", "numpy", "pandas", "polars"))
    param_names = ("rows", "implementation")

    def setup(self, rows, implementation):
        self.run = prepared_for("concatenate", implementation, rows, "int64", "uniform")

    def time_concatenate(self, rows, implementation):
        self.run()
