# SPDX-License-Identifier: Apache-2.0
"""Positions of quantiles, with ranks of two words."""

import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives.local._quantile_ranks import quantile_positions


@pytest.mark.parametrize("last", [0, 1, 99, 2**22 + 5, 2**31 - 2, 2**33 + 1])
def test_positions_are_products_of_the_last_rank(last):
    q = np.array([0.0, 0.25, 0.5, 1.0], np.float32)
    words = jnp.uint32(last >> 32), jnp.uint32(last & (2**32 - 1))
    found = quantile_positions(*words, jnp.asarray(q))
    exact = [last * int(4 * one) for one in q]
    ranks = [int(high) * 2**32 + int(low) for high, low in zip(found.high, found.low, strict=True)]
    assert ranks == [one // 4 for one in exact]
    np.testing.assert_array_equal(found.fraction, [one % 4 / 4 for one in exact])
