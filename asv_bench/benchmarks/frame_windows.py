# SPDX-License-Identifier: Apache-2.0
"""Order statistics, moments and weighted averages of windows of rows."""

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


class WindowStatistics:
    """How long do averages of distances of windows of a column of a million rows take?"""

    params = (
        axis("std", "skew", "kurt", "corr", "ewm mean", "ewm std"),
        axis("jaxframes", "pandas"),
    )
    param_names = ("statistic", "engine")

    def setup(self, statistic, engine):
        use_devices(1)
        from jaxframes.frame import JaxSeries

        x, y = np.random.default_rng(0).standard_normal((2, 1_000_000))
        make = {"jaxframes": JaxSeries, "pandas": pd.Series}[engine]
        columns, (window, method) = (make(x), make(y)), ("", *statistic.split())[-2:]

        def reduce():
            rows = columns[0].ewm(alpha=0.3) if window else columns[0].rolling(20)
            return getattr(rows, method)(*columns[1:] if method == "corr" else ())

        self.run = lambda: jax.block_until_ready(reduce())
        self.run()

    def time_statistic(self, statistic, engine):
        self.run()
