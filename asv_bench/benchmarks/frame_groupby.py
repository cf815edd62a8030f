# SPDX-License-Identifier: Apache-2.0
"""Sums of groups."""

from .implementations import prepared_for
from .measuring import axis

ENGINES = ("jaxframes", "pandas", "polars")


class GroupbySum:
    """How long does the sum of a column take, by the number of distinct integer keys?"""

    params = (
        axis(2**16, 10_000_000),
        axis("dense_thousand", "dense_million", "thousand_values", "million_values"),
        axis(*ENGINES),
    )
    param_names = ("rows", "distribution", "engine")

    def setup(self, rows, distribution, engine):
        self.run = prepared_for("frame groupby sum", engine, rows, "int64", distribution)

    def time_groupby_sum(self, rows, distribution, engine):
        self.run()

    def peakmem_groupby_sum(self, rows, distribution, engine):
        self.run()


class GroupbyStrings:
    """How long does it take by strings, a million of them distinct?"""

    params = (axis(2**16, 10_000_000), axis(*ENGINES))
    param_names = ("rows", "engine")

    def setup(self, rows, engine):
        self.run = prepared_for("frame groupby strings", engine, rows, "int64", "uniform")

    def time_groupby_strings(self, rows, engine):
        self.run()


class GroupbyProducts:
    """How long do the moments of columns take: sums of products, and the number of rows?"""

    params = (
        axis(2**16, 10_000_000),
        axis("dense_thousand", "dense_million"),
        axis(*ENGINES),
    )
    param_names = ("rows", "distribution", "engine")

    def setup(self, rows, distribution, engine):
        operation = "frame groupby sums of products"
        self.run = prepared_for(operation, engine, rows, "int64", distribution)

    def time_groupby_products(self, rows, distribution, engine):
        self.run()

    def peakmem_groupby_products(self, rows, distribution, engine):
        self.run()
