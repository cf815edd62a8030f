# SPDX-License-Identifier: Apache-2.0
"""Tables from Parquet."""

import os
import tempfile

import jax
import numpy as np
import pandas as pd
import polars as pl

from .measuring import axis, use_devices


class TableLoading:
    """How long does a table take from Parquet until its columns are on the device?

    "numbers" are six columns of numbers, "times" two, "codes" three columns of few strings, and
    "text" one column of free text, where short strings repeat and long ones do not.
    """

    params = (
        axis(1_000_000),
        axis("numbers", "times", "codes", "text"),
        axis("jaxframes", "pandas", "polars"),
    )
    param_names = ("rows", "columns", "engine")

    def setup(self, rows, columns, engine):
        use_devices(1)
        from jaxframes.frame import read_parquet

        self.folder = tempfile.TemporaryDirectory()
        path = os.path.join(self.folder.name, "table.parquet")
        self._table(rows, columns).to_parquet(path)
        load = {
            "jaxframes": lambda: jax.block_until_ready(read_parquet(path)),
            "pandas": lambda: pd.read_parquet(path),
            "polars": lambda: pl.read_parquet(path),
        }
        self.load = load[engine]
        self.load()

    def _table(self, rows, columns):
        rng = np.random.default_rng(0)
        match columns:
            case "numbers":
                made = {f"x{i}": rng.normal(size=rows) for i in range(3)}
                made |= {f"i{i}": rng.integers(0, rows, rows) for i in range(3)}
            case "times":
                seconds = rng.integers(0, 10**9, (2, rows))
                made = {f"t{i}": row.astype("M8[s]") for i, row in enumerate(seconds)}
            case "codes":
                made = {f"s{i}": pd.array(rng.choice(["a", "b", "c"], rows)) for i in range(3)}
            case _:
                letters = rng.choice(np.array(list("abcdefghij"), "U1"), 3 * rows)
                text = "".join(letters.tolist())
                starts, sizes = rng.integers(0, 3 * rows - 40, rows), rng.integers(3, 40, rows)
                pairs = zip(starts.tolist(), sizes.tolist(), strict=True)
                made = {"s": pd.array([text[at : at + size] for at, size in pairs], dtype="str")}
        return pd.DataFrame(made)

    def teardown(self, rows, columns, engine):
        self.folder.cleanup()

    def time_load(self, rows, columns, engine):
        self.load()

    def peakmem_load(self, rows, columns, engine):
        self.load()
