# SPDX-License-Identifier: Apache-2.0
"""Numbers of distinct keys of segments, against pandas."""

import numpy as np
import pandas as pd
from jaxframes.primitives import local


def test_numbers_are_those_of_pandas():
    rng = np.random.default_rng(6)
    keys, ids = rng.integers(0, 4, 30).astype(np.int32), rng.integers(0, 5, 30).astype(np.int32)
    expected = pd.Series(keys).groupby(ids).nunique().reindex(range(6), fill_value=0)
    np.testing.assert_array_equal(local.segment_nunique(keys, ids, 6), expected)
