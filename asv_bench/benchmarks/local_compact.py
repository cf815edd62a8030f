# SPDX-License-Identifier: Apache-2.0
"""Stable selection by a mask on one device."""

import functools

import jax
import numpy as np
from jaxframes.primitives import local

from .implementations import prepared, prepared_for
from .key_distributions import make_keys
from .measuring import axis, use_devices, waiting_call


class Compact:
    """How long does it take to move the flagged half of a column to its front?"""

    params = (
        axis(2**16, 10_000_000),
        axis("int32", "int64"),
        axis("jaxframes", "jnp", "numpy", "pandas", "polars"),
    )
    param_names = ("rows", "dtype", "implementation")

    def setup(self, rows, dtype, implementation):
        self.run = prepared_for("compact", implementation, rows, dtype, "uniform")

    def time_compact(self, rows, dtype, implementation):
        self.run()


class CompactColumns:
    """How long do three columns and the ids of their rows take?

    An eager call moves them in one pass over the mask, a compiled one each by itself.
    """

    params = (axis(2**16, 10_000_000), axis("eager", "compiled"))
    param_names = ("rows", "call")

    def setup(self, rows, call):
        use_devices(1)
        select = functools.partial(local.compact, capacity=rows // 16 * 9, return_index=True)
        mask = np.random.default_rng(0).random(rows) < 0.5
        columns = [np.arange(rows), np.arange(rows) / 7, np.arange(rows)]
        arrays = jax.device_put((mask, columns))
        if call == "eager":
            self.run = lambda: jax.block_until_ready(select(*arrays))
            self.run()
        else:
            self.run = waiting_call(select, *arrays)

    def time_compact(self, rows, call):
        self.run()


class CompactFew:
    """How long does a sparse selection from a column take?"""

    params = (
        axis(2**16, 10_000_000),
        axis(20, 60, 200),
        axis("int32", "int64"),
        axis("jaxframes", "numpy", "pandas", "polars"),
    )
    param_names = ("rows", "one_in", "dtype", "implementation")

    def setup(self, rows, one_in, dtype, implementation):
        mask = np.random.default_rng(0).random(rows) * one_in < 1
        keys = make_keys("uniform", rows, dtype)
        if implementation == "jaxframes":
            use_devices(1)
            select = functools.partial(local.compact, capacity=rows // one_in * 9 // 8)
            self.run = waiting_call(select, *jax.device_put((mask, keys)))
        else:
            self.run = prepared("compact", implementation, mask, keys)

    def time_compact(self, rows, one_in, dtype, implementation):
        self.run()
