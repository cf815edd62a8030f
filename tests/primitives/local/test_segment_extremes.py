# SPDX-License-Identifier: Apache-2.0
"""The first and the last row of each segment, against NumPy."""

import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives.local._segment_extremes import INT32_MAX, end_rows


@pytest.mark.parametrize("is_last", [False, True])
def test_ends_are_those_of_numpy(is_last):
    ids = np.random.default_rng(9).integers(0, 4, 25).astype(np.int32)
    rows = [np.flatnonzero(ids == one) for one in range(6)]
    none = -1 if is_last else INT32_MAX
    expected = [own[-1 if is_last else 0] if len(own) else none for own in rows]
    np.testing.assert_array_equal(end_rows(jnp.asarray(ids), 6, is_last), expected)
