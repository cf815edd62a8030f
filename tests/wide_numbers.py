# SPDX-License-Identifier: Apache-2.0
"""Integers past 2^31 and 2^32, drawn, and as the words that primitives count with."""

import jax.numpy as jnp
from hypothesis import strategies as st
from jaxframes.primitives.collective._wide_counts import WideCount

INT32_MAX = 2**31 - 1

# Where carries and borrows between the words and their halves happen.
NEAR_POWERS = st.builds(
    lambda power, step: max(2**power + step, 0), st.integers(0, 62), st.integers(-2, 2)
)
SHARD_ROWS = st.one_of(
    st.integers(0, INT32_MAX), st.sampled_from([0, 1, 2**16 - 1, 2**16, INT32_MAX])
)
# Each number of shards is a shape of its own, and compiled once.
SHARD_COUNTS = st.sampled_from([1, 2, 3, 8, 300])


def wide(*numbers):
    low = [number % 2**32 for number in numbers]
    high = [number >> 32 for number in numbers]
    return WideCount(jnp.array(high, jnp.uint32), jnp.array(low, jnp.uint32))


def as_integers(count):
    assert count.high.dtype == count.low.dtype == jnp.uint32
    pairs = zip(count.high.tolist(), count.low.tolist(), strict=True)
    return [(high << 32) + low for high, low in pairs]
