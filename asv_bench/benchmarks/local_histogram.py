# SPDX-License-Identifier: Apache-2.0
"""Histograms by bin and by digit on one device."""

from .implementations import prepared_for
from .measuring import axis


class Histogram:
    """How long do the counts of 256 equal bins take, with an unknown range?"""

    params = (
        axis(2**16, 10_000_000),
        axis("float32", "float64"),
        axis("jaxframes", "jnp", "numpy"),
    )
    param_names = ("rows", "dtype", "implementation")

    def setup(self, rows, dtype, implementation):
        self.run = prepared_for("histogram", implementation, rows, dtype, "uniform")

    def time_histogram(self, rows, dtype, implementation):
        self.run()


class DigitHistogram:
    """How long do the counts of the 256 values of a byte take, with many rows in some?"""

    params = (
        axis(2**16, 10_000_000),
        axis("uniform", "zipf"),
        axis("jaxframes", "jnp", "numpy"),
    )
    param_names = ("rows", "distribution", "implementation")

    def setup(self, rows, distribution, implementation):
        self.run = prepared_for("digit_histogram", implementation, rows, "uint8", distribution)

    def time_digit_histogram(self, rows, distribution, implementation):
        self.run()
