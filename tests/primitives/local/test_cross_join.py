# SPDX-License-Identifier: Apache-2.0
"""Every left row with every right row, in order."""

import jax.numpy as jnp
import numpy as np
from jaxframes.primitives.local._cross_join import count_cross, cross_pairs


def test_pairs_are_those_of_two_loops():
    pairs = cross_pairs(jnp.int32(3), jnp.int32(2), 8)
    expected = [(left, right) for left in range(3) for right in range(2)]
    found = list(zip(np.asarray(pairs.left_rows), np.asarray(pairs.right_rows), strict=True))
    assert found[:6] == expected
    assert count_cross(jnp.int32(3), jnp.int32(2)) == 6
    assert count_cross(jnp.int32(3), jnp.int32(0)) == 0
