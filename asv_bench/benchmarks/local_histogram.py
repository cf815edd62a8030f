# SPDX-License-Identifier: Apache-2.0
"""Histograms by bin and by digit on one device."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxframes.primitives import local

from .implementations import prepared_for
from .measuring import axis, use_devices, waiting_call


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


FEATURES, BINS = 16, 256


def by_scatter(bin_ids, weights):
    """What code for boosting writes."""
    sums = jnp.zeros((FEATURES, BINS, 2), weights.dtype)
    return sums.at[jnp.arange(FEATURES), bin_ids].add(weights[:, None])


class Bincount:
    """How long do the histograms of gradients of 16 features take?"""

    params = (axis(2**14, 2**18), axis("jaxframes", "jnp"))
    param_names = ("rows", "implementation")

    def setup(self, rows, implementation):
        use_devices(1)
        rng = np.random.default_rng(0)
        bin_ids = rng.integers(0, BINS, (rows, FEATURES)).astype(np.int32)
        weights = rng.standard_normal((rows, 2)).astype(np.float32)

        def count(bin_ids, weights):
            return local.bincount(bin_ids, BINS, weights=weights)

        call = count if implementation == "jaxframes" else by_scatter
        self.run = waiting_call(call, *jax.device_put((bin_ids, weights)))
        self.run()

    def time_bincount(self, rows, implementation):
        self.run()


def bins_by_sort(x):
    """Edges by a sort of the column, and a search for each row."""
    edges = jnp.sort(x)[(jnp.arange(1, BINS) * (len(x) - 1)) // BINS]
    return jnp.searchsorted(edges, x), edges


class QuantileBins:
    """How long do 256 bins of equally many rows take?"""

    params = (axis(2**14, 1_000_000), axis("jaxframes", "jnp"))
    param_names = ("rows", "implementation")

    def setup(self, rows, implementation):
        use_devices(1)
        x = np.random.default_rng(0).standard_normal(rows).astype(np.float32)
        is_own = implementation == "jaxframes"
        call = (lambda x: local.quantile_bins(x, BINS)) if is_own else bins_by_sort
        self.run = waiting_call(call, jax.device_put(x))
        self.run()

    def time_quantile_bins(self, rows, implementation):
        self.run()
