# SPDX-License-Identifier: Apache-2.0
"""Columns without flags have the values of the passes by blocks."""

import numpy as np
import pytest
from jaxframes.primitives import local


@pytest.mark.parametrize("op", ["sum", "min", "max", "mean", "var", "argmax"])
@pytest.mark.parametrize("skip_nan", [False, True])
def test_a_mask_of_all_rows_changes_no_value(op, skip_nan):
    rows = np.random.default_rng(10).normal(size=2**14).astype(np.float32)
    plain = local.reduce(rows, op, skip_nan=skip_nan)
    masked = local.reduce(rows, op, skip_nan=skip_nan, where=np.ones(len(rows), bool))
    np.testing.assert_allclose(plain.values, masked.values, rtol=1e-5)
    assert plain.counts == masked.counts == len(rows)
