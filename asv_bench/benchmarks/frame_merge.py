# SPDX-License-Identifier: Apache-2.0
"""Joins of two frames."""

from .implementations import prepared_for
from .measuring import axis

ENGINES = ("jaxframes", "pandas", "polars")


class Merge:
    """How long does an inner merge with a tenth as many unique keys take?"""

    params = (axis(2**16, 10_000_000), axis(*ENGINES))
    param_names = ("rows", "engine")

    def setup(self, rows, engine):
        self.run = prepared_for("frame merge", engine, rows, "int64", "uniform")

    def time_merge(self, rows, engine):
        self.run()

    def peakmem_merge(self, rows, engine):
        self.run()


class MergeLeft:
    """How long does a left merge take, with each number below a million once on the right?"""

    params = (axis(2**22, 10_000_000), axis(*ENGINES))
    param_names = ("rows", "engine")

    def setup(self, rows, engine):
        self.run = prepared_for("frame merge left", engine, rows, "int64", "dense_million")

    def time_merge(self, rows, engine):
        self.run()

    def peakmem_merge(self, rows, engine):
        self.run()


class MergeManyToMany:
    """How long does a merge take, with three rows of each key on both sides?"""

    params = (axis(2**16, 10_000_000), axis(*ENGINES))
    param_names = ("rows", "engine")

    def setup(self, rows, engine):
        self.run = prepared_for("frame merge many to many", engine, rows, "int64", "uniform")

    def time_merge(self, rows, engine):
        self.run()
