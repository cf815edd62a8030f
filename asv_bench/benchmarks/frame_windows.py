# SPDX-License-Identifier: Apache-2.0
"""Order statistics of windows of rows."""

import jax
import numpy as np
import pandas as pd
import polars as pl

from .measuring import axis, use_devices


class RollingMedian:
    """How long do medians of all windows of a column take, by the length of the window?"""

    params = (
        axis(100_000, 1_000_000),
        axis(10, 100, 1000),
        axis("jaxframes", "pandas", "polars"),
    )
    param_names = ("rows", "window", "engine")

    def setup(self, rows, window, engine):
        use_devices(1)
        from jaxframes.frame import JaxSeries

        x = np.random.default_rng(0).standard_normal(rows)
        ours, pandas, polars = JaxSeries(x), pd.Series(x), pl.Series(x)
        engines = {
            "jaxframes": lambda: jax.block_until_ready(ours.rolling(window).median()),
            "pandas": lambda: pandas.rolling(window).median(),
            "polars": lambda: polars.rolling_median(window),
        }
        self.run = engines[engine]
        self.run()

    def time_median(self, rows, window, engine):
        self.run()
