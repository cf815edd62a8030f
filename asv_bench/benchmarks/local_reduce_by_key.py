# SPDX-License-Identifier: Apache-2.0
"""Reductions by unsorted keys on one device."""

from .implementations import prepared_for
from .measuring import axis


class ReduceByKey:
    """How long do one sum and several reductions take, for dense, few and many keys?"""

    params = (
        axis(2**16, 10_000_000),
        axis("dense_thousand", "dense_million", "thousand_values", "million_values", "uniform"),
        axis("reduce_by_key", "reduce_by_key of several"),
        axis("jaxframes", "pandas", "polars"),
    )
    param_names = ("rows", "distribution", "operation", "implementation")

    def setup(self, rows, distribution, operation, implementation):
        self.run = prepared_for(operation, implementation, rows, "int64", distribution)

    def time_reduce_by_key(self, rows, distribution, operation, implementation):
        self.run()
