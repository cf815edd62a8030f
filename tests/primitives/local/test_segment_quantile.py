# SPDX-License-Identifier: Apache-2.0
"""Quantiles of segments, against pandas."""

import numpy as np
import pandas as pd
from jaxframes.primitives import local


def test_quantiles_are_those_of_pandas():
    rng = np.random.default_rng(8)
    rows = rng.normal(size=30).astype(np.float32)
    ids = rng.integers(0, 3, 30).astype(np.int32)
    found = local.segment_quantile(rows, ids, 3, 0.25)
    expected = pd.Series(rows).groupby(ids).quantile(0.25)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
