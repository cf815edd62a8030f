# SPDX-License-Identifier: Apache-2.0
"""Gathers of rows by row id on one device."""

import functools

import jax
import numpy as np
from jaxframes.primitives import local

from .implementations import prepared_for
from .measuring import axis, use_devices, waiting_call


class GatherRows:
    """How long does it take to gather the rows of a column in random order?"""

    params = (
        axis(2**16, 10_000_000),
        axis("int32", "int64"),
        axis("jaxframes", "jnp", "numpy", "pandas", "polars"),
    )
    param_names = ("rows", "dtype", "implementation")

    def setup(self, rows, dtype, implementation):
        self.run = prepared_for("gather_rows", implementation, rows, dtype, "uniform")

    def time_gather_rows(self, rows, dtype, implementation):
        self.run()


class GatherColumns:
    """How long do the columns of a table take, as after a join?

    The ids of a left side ascend, and nine of ten of its rows are kept. Those of a right side are
    random, from a thousandth as many rows, and one of ten is -1. An eager call gathers all columns
    in one pass over the ids, a compiled one each by itself.
    """

    params = (axis(2**16, 10_000_000), axis("left", "right"), axis("eager", "compiled"))
    param_names = ("rows", "side", "call")

    def setup(self, rows, side, call):
        use_devices(1)
        rng = np.random.default_rng(0)
        source_rows = rows if side == "left" else rows // 1000
        columns = [np.arange(source_rows), np.arange(source_rows) / 7] * 3
        if side == "left":
            row_ids = np.flatnonzero(rng.random(rows) < 0.9)
        else:
            row_ids = np.where(rng.random(rows) < 0.9, rng.integers(0, source_rows, rows), -1)
        arrays = jax.device_put((columns, row_ids.astype(np.int32)))
        gather = functools.partial(local.gather_rows, fill_value=-1)
        if call == "eager":
            self.run = lambda: jax.block_until_ready(gather(*arrays))
            self.run()
        else:
            self.run = waiting_call(gather, *arrays)

    def time_gather_rows(self, rows, side, call):
        self.run()
