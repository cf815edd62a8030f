# SPDX-License-Identifier: Apache-2.0
"""Reductions of columns, compared with pandas, and over a mesh with `jnp` inside `jit`."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from jaxframes import shardings

from .measuring import axis, mesh_of, use_devices, waiting_call

NUM_DEVICES = 4


class Reduction:
    """How long does the sum of a float32 column take, accumulated in float64?"""

    params = (axis(1_000_000, 10_000_000), axis("sum", "mean", "std"), ("frame", "pandas"))
    param_names = ("rows", "op", "engine")

    def setup(self, rows, op, engine):
        use_devices(1)
        from jaxframes.frame import JaxSeries

        values = np.random.default_rng(0).standard_normal(rows).astype(np.float32)
        column = {"frame": JaxSeries, "pandas": pd.Series}[engine](values)
        self.run = getattr(column, op)
        self.run()

    def time_reduce(self, rows, op, engine):
        self.run()


class ReductionOverMesh:
    """What do missing values, counts and a result that pandas would give cost beside `jnp`?

    A frame leaves out NaN and counts rows; `jnp` does neither. Its array has the frame's dtype and
    lies in as many shards, without the padding that a frame has.
    """

    params = (
        axis(1_001, 1_000_000, 10_000_000),
        axis("float64", "float32", "int64"),
        axis("sum", "max", "mean"),
        ("frame", "jnp"),
    )
    param_names = ("rows", "dtype", "op", "engine")

    def setup(self, rows, dtype, op, engine):
        use_devices(NUM_DEVICES)
        from jaxframes.frame import JaxSeries

        values = (np.random.default_rng(0).standard_normal(rows) * 1000).astype(dtype)
        sharding = shardings.row_sharded(mesh_of(NUM_DEVICES))
        if engine == "frame":
            self.run = getattr(JaxSeries(values, sharding=sharding), op)
        else:
            padded = np.pad(values, (0, -rows % NUM_DEVICES))
            self.run = waiting_call(getattr(jnp, op), jax.device_put(padded, sharding))
        self.time_reduce(rows, dtype, op, engine)

    def time_reduce(self, rows, dtype, op, engine):
        self.run()
