# SPDX-License-Identifier: Apache-2.0
"""Sorts on one device, compared with `jnp`, NumPy, pandas and Polars."""

from .implementations import prepared_for
from .measuring import axis

ROWS = axis(2**16, 10_000_000)
IMPLEMENTATIONS = axis("jaxframes", "jnp", "numpy_stable", "pandas", "polars")
SKEWED = axis("zipf", "sixteen_bits", "four_values", "constant", "sorted", "reversed")


class Argsort:
    """How long does the permutation that sorts take, by the dtype of the keys?"""

    params = (
        ROWS,
        axis("int32", "uint32", "float32", "int64", "float64"),
        IMPLEMENTATIONS,
    )
    param_names = ("rows", "dtype", "implementation")

    def setup(self, rows, dtype, implementation):
        self.run = prepared_for("radix_argsort", implementation, rows, dtype, "uniform")

    def time_argsort(self, rows, dtype, implementation):
        self.run()


class ArgsortSkewedKeys:
    """How much time do non-uniform keys cost or save?"""

    params = (ROWS[-1:], axis("int32", "int64"), SKEWED, IMPLEMENTATIONS[:2])
    param_names = ("rows", "dtype", "distribution", "implementation")

    def setup(self, rows, dtype, distribution, implementation):
        self.run = prepared_for("radix_argsort", implementation, rows, dtype, distribution)

    def time_argsort(self, rows, dtype, distribution, implementation):
        self.run()


class SortKeys:
    """How long do keys alone take, and how much memory?"""

    params = (ROWS, axis("int32", "float32", "int64"), IMPLEMENTATIONS)
    param_names = ("rows", "dtype", "implementation")

    def setup(self, rows, dtype, implementation):
        self.run = prepared_for("radix_sort", implementation, rows, dtype, "uniform")

    def time_sort(self, rows, dtype, implementation):
        self.run()

    def peakmem_sort(self, rows, dtype, implementation):
        self.run()


class SortWithValues:
    """How long does a sort with a column of values take?"""

    params = (ROWS, axis("int32", "int64"), IMPLEMENTATIONS)
    param_names = ("rows", "dtype", "implementation")

    def setup(self, rows, dtype, implementation):
        self.run = prepared_for("radix_sort with values", implementation, rows, dtype, "uniform")

    def time_sort(self, rows, dtype, implementation):
        self.run()
