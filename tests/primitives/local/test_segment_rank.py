# SPDX-License-Identifier: Apache-2.0
"""Ranks within segments, against pandas."""

from typing import get_args

import numpy as np
import pandas as pd
import pytest
from jaxframes.primitives import local
from jaxframes.primitives.local._segment_rank import RankMethod


@pytest.mark.parametrize("method", get_args(RankMethod))
def test_ranks_are_those_of_pandas(method):
    rng = np.random.default_rng(7)
    keys, ids = rng.integers(0, 4, 30).astype(np.int32), rng.integers(0, 3, 30).astype(np.int32)
    expected = pd.Series(keys).groupby(ids).rank(method=method)
    np.testing.assert_array_equal(local.segment_rank(keys, ids, 3, method=method), expected)
