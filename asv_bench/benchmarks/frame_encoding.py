# SPDX-License-Identifier: Apache-2.0
"""Columns of strings from Python objects."""

import numpy as np
import pandas as pd

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
        self.encode = JaxSeries if engine == "jaxframes" else pd.factorize
        self.encode(self.strings)

    def time_encode(self, rows, distinct, dtype, engine):
        self.encode(self.strings)
