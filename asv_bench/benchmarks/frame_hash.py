# SPDX-License-Identifier: Apache-2.0
"""Hashes of the values of a series."""

import jax
import numpy as np
import pandas as pd

from .measuring import axis, use_devices


class SeriesHash:
    """How long do hashes of numbers and of a thousand distinct strings take, beside pandas?"""

    params = (axis(2**14, 1_000_000), axis("numbers", "strings"), axis("jaxframes", "pandas"))
    param_names = ("rows", "values", "engine")

    def setup(self, rows, values, engine):
        use_devices(1)
        from jaxframes.frame import JaxSeries

        numbers = np.random.default_rng(0).integers(0, 1000, rows)
        column = pd.Series(numbers)
        if values == "strings":
            column = column.map("id{:04}".format).astype("str")
        if engine == "pandas":
            self.run = lambda: pd.util.hash_pandas_object(column, index=False)
        else:
            series = JaxSeries(column)
            self.run = lambda: jax.block_until_ready(series.hash().to_jax())
        self.run()

    def time_hash(self, rows, values, engine):
        self.run()
