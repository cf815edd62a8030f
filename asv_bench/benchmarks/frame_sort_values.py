# SPDX-License-Identifier: Apache-2.0
"""Sorts, filters and rowwise functions of frames."""

from .implementations import prepared_for
from .measuring import axis

ENGINES = ("jaxframes", "pandas", "polars")


class SortValues:
    """How long does it take to sort three columns by one of them?"""

    params = (axis(2**16, 10_000_000), axis("int64", "float64"), axis(*ENGINES))
    param_names = ("rows", "dtype", "engine")

    def setup(self, rows, dtype, engine):
        self.run = prepared_for("frame sort_values", engine, rows, dtype, "uniform")

    def time_sort_values(self, rows, dtype, engine):
        self.run()

    def peakmem_sort_values(self, rows, dtype, engine):
        self.run()


class Filter:
    """How long does a filter by a comparison take, for all and for two columns?"""

    params = (
        axis(2**16, 10_000_000),
        axis("frame filter", "frame filter by loc"),
        axis(*ENGINES),
    )
    param_names = ("rows", "operation", "engine")

    def setup(self, rows, operation, engine):
        self.run = prepared_for(operation, engine, rows, "int64", "uniform")

    def time_filter(self, rows, operation, engine):
        self.run()


class ApplyRows:
    """How long does a function of a row take, for a hundredth as many rows?"""

    params = (axis(2**16, 10_000_000), axis("jaxframes", "pandas"))
    param_names = ("rows", "engine")

    def setup(self, rows, engine):
        self.run = prepared_for("frame apply rows", engine, rows, "int64", "uniform")

    def time_apply_rows(self, rows, engine):
        self.run()
