# SPDX-License-Identifier: Apache-2.0
"""Percentiles of `describe`."""

from typing import Any

import numpy as np
import pandas as pd


def named_percentiles(percentiles: Any) -> tuple[list[str], np.ndarray]:
    """pandas' names of percentiles, and the quantiles; raises if they are invalid."""
    shell = pd.Series([0.0]).describe(percentiles=percentiles)
    names = list(shell.index[4:-1])
    if percentiles is None:
        return names, np.array([0.25, 0.5, 0.75])
    return names, np.unique(np.asarray(list(percentiles), np.float64))
