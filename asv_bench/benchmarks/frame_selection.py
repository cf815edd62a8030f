# SPDX-License-Identifier: Apache-2.0
"""Selections of the rows of wide tables."""

import jax
import numpy as np
import pandas as pd

from .measuring import axis, use_devices


class WideSelection:
    """How long do a filter and a join of a table of 16 columns take, if few of them are read?"""

    params = (
        axis(1_000_000),
        axis("filter", "join"),
        axis("two", "all"),
        axis("jaxframes", "pandas"),
    )
    param_names = ("rows", "selection", "read", "engine")

    def setup(self, rows, selection, read, engine):
        use_devices(1)
        from jaxframes.frame import JaxFrame

        rng = np.random.default_rng(0)
        wide = pd.DataFrame({f"x{i}": rng.normal(size=rows) for i in range(14)})
        wide["k"] = rng.integers(0, 1000, rows)
        wide["flag"] = rng.random(rows) < 0.5
        keys = pd.DataFrame({"k": np.arange(500), "w": rng.normal(size=500)})
        if engine == "jaxframes":
            wide, keys = jax.block_until_ready((JaxFrame(wide), JaxFrame(keys)))
        self.tables = wide, keys
        self.select = getattr(self, f"_{selection}")
        self.read = getattr(self, f"_{read}")
        self.time_select(rows, selection, read, engine)

    def _filter(self, wide, keys):
        return wide[wide["flag"]]

    def _join(self, wide, keys):
        return wide.merge(keys, on="k")

    def _two(self, selected):
        return selected.groupby("k")["x0"].sum()

    def _all(self, selected):
        return selected

    def time_select(self, rows, selection, read, engine):
        jax.block_until_ready(self.read(self.select(*self.tables)))

    def peakmem_select(self, rows, selection, read, engine):
        self.time_select(rows, selection, read, engine)
