# SPDX-License-Identifier: Apache-2.0
"""Joins and membership tests on one device."""

from .implementations import prepared_for
from .measuring import axis


class Join:
    """How long does an inner join with a tenth as many distinct keys take?"""

    params = (axis(2**16, 10_000_000), axis("jaxframes", "pandas", "polars"))
    param_names = ("rows", "implementation")

    def setup(self, rows, implementation):
        self.run = prepared_for("join", implementation, rows, "int64", "uniform")

    def time_join(self, rows, implementation):
        self.run()


class JoinManyToMany:
    """How long does a join take, with three rows of each key on both sides?"""

    params = (axis(2**16, 10_000_000), axis("jaxframes", "pandas", "polars"))
    param_names = ("pairs", "implementation")

    def setup(self, pairs, implementation):
        self.run = prepared_for("join many to many", implementation, pairs, "int64", "uniform")

    def time_join(self, pairs, implementation):
        self.run()


class CrossJoin:
    """How long does it take to pair every row with every row, for so many pairs?"""

    params = (axis(2**16, 10_000_000), axis("jaxframes", "pandas", "polars"))
    param_names = ("pairs", "implementation")

    def setup(self, pairs, implementation):
        self.run = prepared_for("cross join", implementation, pairs, "int64", "uniform")

    def time_join(self, pairs, implementation):
        self.run()


class Isin:
    """How long does a membership test take, in a set of a tenth as many keys?"""

    params = (
        axis(2**16, 10_000_000),
        axis("uniform", "million_values"),
        axis("jaxframes", "jnp", "numpy", "pandas", "polars"),
    )
    param_names = ("rows", "distribution", "implementation")

    def setup(self, rows, distribution, implementation):
        self.run = prepared_for("isin", implementation, rows, "int64", distribution)

    def time_isin(self, rows, distribution, implementation):
        self.run()
