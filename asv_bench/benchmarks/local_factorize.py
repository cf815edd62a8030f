# SPDX-License-Identifier: Apache-2.0
"""Group ids on one device."""

from .implementations import prepared_for
from .measuring import axis


class Factorize:
    """How long do group ids in key order take, for few, many and all distinct keys?"""

    params = (
        axis(2**16, 10_000_000),
        axis("thousand_values", "million_values", "uniform"),
        axis("jaxframes", "numpy", "pandas", "polars"),
    )
    param_names = ("rows", "distribution", "implementation")

    def setup(self, rows, distribution, implementation):
        self.run = prepared_for("factorize", implementation, rows, "int64", distribution)

    def time_factorize(self, rows, distribution, implementation):
        self.run()


class FactorizeByFirstRow:
    """How long do group ids in the order of first rows take, without a sort?"""

    params = (
        axis(2**16, 10_000_000),
        axis("thousand_values", "million_values", "uniform"),
        axis("jaxframes", "pandas"),
    )
    param_names = ("rows", "distribution", "implementation")

    def setup(self, rows, distribution, implementation):
        operation = "factorize by first row"
        self.run = prepared_for(operation, implementation, rows, "int64", distribution)

    def time_factorize(self, rows, distribution, implementation):
        self.run()
