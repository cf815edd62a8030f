# SPDX-License-Identifier: Apache-2.0
"""A query on a Parquet file, planned or step by step."""

import os
import tempfile

import jax
import numpy as np
import pandas as pd
import polars as pl

from .measuring import axis, use_devices

NUM_NUMBERS = 12
NUM_GROUPS = 1000


def write_wide_table(path, rows):
    """Writes a table of 20 columns: numbers, integers, times and strings."""
    rng = np.random.default_rng(0)
    made = {f"x{i}": rng.standard_normal(rows) for i in range(NUM_NUMBERS)}
    made |= {f"i{i}": rng.integers(0, rows, rows) for i in range(3)}
    made["k"] = rng.integers(0, NUM_GROUPS, rows)
    made["t"] = rng.integers(0, 10**9, rows).astype("M8[s]")
    names = pd.array([f"name {number:03}" for number in range(NUM_GROUPS)], dtype="str")
    made |= {f"s{i}": names.take(rng.integers(0, NUM_GROUPS, rows)) for i in range(3)}
    pd.DataFrame(made).to_parquet(path)


class QueryOfWideFile:
    """How long do a filter, a projection and sums of groups of 20 columns in Parquet take?

    "plan" and "polars" record the query before they read; "eager" and "pandas" read all columns.
    The keys are integers or strings, and half of the rows pass the filter.
    """

    params = (
        axis(2**16, 10_000_000),
        axis("k", "s0"),
        axis("plan", "eager", "pandas", "polars"),
    )
    param_names = ("rows", "key", "engine")
    # Writing ten million rows takes longer than a call.
    timeout = 300

    def setup(self, rows, key, engine):
        use_devices(1)
        from jaxframes.frame import read_parquet, scan_parquet

        self.folder = tempfile.TemporaryDirectory()
        path = os.path.join(self.folder.name, "wide.parquet")
        write_wide_table(path, rows)

        def query(frame):
            kept = frame[frame["x0"] > 0][[key, "x1", "i0"]]
            return kept.groupby(key).sum()

        def polars():
            kept = pl.scan_parquet(path).filter(pl.col("x0") > 0).select(key, "x1", "i0")
            return kept.group_by(key).agg(pl.all().sum()).sort(key).collect()

        engines = {
            "plan": lambda: jax.block_until_ready(query(scan_parquet(path)).collect()),
            "eager": lambda: jax.block_until_ready(query(read_parquet(path))),
            "pandas": lambda: query(pd.read_parquet(path)),
            "polars": polars,
        }
        self.run = engines[engine]
        self.run()

    def teardown(self, rows, key, engine):
        self.folder.cleanup()

    def time_query(self, rows, key, engine):
        self.run()

    def peakmem_query(self, rows, key, engine):
        self.run()
