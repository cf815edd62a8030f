# SPDX-License-Identifier: Apache-2.0
"""Columns of strings from Python objects and from Parquet."""

import os
import tempfile

import jax
import numpy as np
import pandas as pd
import polars as pl

from .measuring import axis, use_devices


class StringEncoding:
    """How long do codes of strings take, by how many of them are distinct?

    pandas runs `factorize`, with unsorted codes.
    """

    params = (
        axis(1_000_000),
        axis(1000, 1_000_000),
        axis("objects", "str"),
        axis("jaxframes", "pandas"),
    )
    param_names = ("rows", "distinct", "dtype", "engine")

    def setup(self, rows, distinct, dtype, engine):
        use_devices(1)
        from jaxframes.frame import JaxSeries

        words = np.array([f"word {number:07}" for number in range(distinct)], object)
        strings = words[np.random.default_rng(0).integers(0, distinct, rows)]
        self.strings = strings if dtype == "objects" else pd.Series(strings)
        self.encode = pd.factorize
        if engine == "jaxframes":
            # Reading the codes encodes near-unique strings.
            self.encode = lambda strings: jax.block_until_ready(JaxSeries(strings).to_jax())
        self.encode(self.strings)

    def time_encode(self, rows, distinct, dtype, engine):
        self.encode(self.strings)


class DistinctStringLoading:
    """How long does a column of distinct strings take from Parquet, as it is or with its codes?

    Codes are a categorical of Polars, and a category of pandas.
    """

    params = (axis(1_000_000), axis("strings", "codes"), axis("jaxframes", "pandas", "polars"))
    param_names = ("rows", "result", "engine")

    def setup(self, rows, result, engine):
        use_devices(1)
        self.folder = tempfile.TemporaryDirectory()
        path = os.path.join(self.folder.name, "strings.parquet")
        numbers = np.random.default_rng(0).permutation(rows)
        pd.DataFrame({"s": pd.Series(numbers).map("id{:010}".format)}).to_parquet(path)
        self.load = getattr(self, f"_{engine}")(path, result == "codes")
        self.load()

    def teardown(self, rows, result, engine):
        self.folder.cleanup()

    def _jaxframes(self, path, with_codes):
        from jaxframes.frame import read_parquet

        def load():
            series = read_parquet(path)["s"]
            return jax.block_until_ready(series.to_jax() if with_codes else series)

        return load

    def _pandas(self, path, with_codes):
        dtype = "category" if with_codes else "str"
        return lambda: pd.read_parquet(path)["s"].astype(dtype)

    def _polars(self, path, with_codes):
        dtype = pl.Categorical if with_codes else pl.String
        return lambda: pl.read_parquet(path)["s"].cast(dtype)

    def time_load(self, rows, result, engine):
        self.load()
