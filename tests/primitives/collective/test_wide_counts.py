# SPDX-License-Identifier: Apache-2.0
"""Counts past 2^31 and 2^32, against Python's integers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jaxframes.primitives.collective import _wide_counts
from on_shards import on_shards
from wide_numbers import INT32_MAX, NEAR_POWERS, SHARD_ROWS, as_integers, wide

# Every test runs with 64-bit types and, as JAX is by default, without.
pytestmark = pytest.mark.parametrize("x64", [False, True], ids=["x32", "x64"])

COUNTS = st.one_of(st.integers(0, 2**63), NEAR_POWERS)
SMALL = st.one_of(st.integers(1, 2**16 - 1), st.sampled_from([1, 2, 255, 256, 2**15, 2**16 - 1]))


@given(a=COUNTS, b=COUNTS)
def test_sums_differences_and_comparisons(a, b, x64):
    with jax.enable_x64(x64):
        one, other = wide(a, b, a), wide(b, a, a)
        assert as_integers(_wide_counts.add(one, other)) == [a + b, a + b, 2 * a]
        assert as_integers(_wide_counts.subtract(one, other)) == [max(a - b, 0), max(b - a, 0), 0]
        assert as_integers(_wide_counts.minimum(one, other)) == [min(a, b), min(a, b), a]
        assert _wide_counts.is_less_equal(one, other).tolist() == [a <= b, b <= a, True]
        saturated = _wide_counts.saturated(one)
        assert saturated.dtype == jnp.int32
        assert saturated.tolist() == [min(n, INT32_MAX) for n in (a, b, a)]


@given(a=COUNTS, small=SMALL)
def test_products_and_quotients(a, small, x64):
    with jax.enable_x64(x64):
        quotient, remainder = _wide_counts.divide_small(wide(a), small)
        assert (as_integers(quotient), remainder.tolist()) == ([a // small], [a % small])
        part = a // small
        product = _wide_counts.times_small(wide(part), jnp.array([small], jnp.int32))
        assert as_integers(product) == [part * small]


@given(counts=st.lists(SHARD_ROWS, min_size=1, max_size=40))
def test_sums_along_an_axis(counts, x64):
    with jax.enable_x64(x64):
        counts = counts + [0] * (40 - len(counts))
        column = jnp.array(counts, jnp.int32)
        two = jnp.stack([column, column[::-1]], axis=1)
        assert as_integers(_wide_counts.sum_wide(two, axis=0)) == [sum(counts)] * 2
        running = _wide_counts.cumsum_wide(column, axis=0)
        assert as_integers(running) == np.cumsum(np.array(counts, object)).tolist()


def test_sums_over_shards(x64):
    counts = np.array([[INT32_MAX, 0, s, 2**16 - 1, 2**s] for s in range(8)], np.int32)
    expected = counts.astype(np.uint64).sum(axis=0).tolist()
    assert max(expected) > 2**32
    with jax.enable_x64(x64):
        total = on_shards(lambda counts: _wide_counts.psum_wide(counts, "rows"), 8)(counts)
        for shard in range(8):
            assert as_integers(jax.tree.map(lambda word, s=shard: word[s], total)) == expected


def test_the_most_shards_that_halves_can_sum(x64):
    with jax.enable_x64(x64):
        counts = jnp.full((2**16 - 1,), INT32_MAX, jnp.int32)
        total = _wide_counts.sum_wide(counts[:, None], axis=0)
        assert as_integers(total) == [(2**16 - 1) * INT32_MAX]


def test_widens_every_integer_dtype(x64):
    with jax.enable_x64(x64):
        for dtype in (np.int8, np.uint8, np.int16, np.int32, np.uint32):
            most = int(np.iinfo(dtype).max)
            assert as_integers(_wide_counts.widen(np.array([0, most], dtype))) == [0, most]
        if x64:
            large = np.array([0, 2**32 - 1, 2**32, 2**62 + 5])
            assert as_integers(_wide_counts.widen(large)) == large.tolist()


# The ranks at which the sorted rows of a mesh are cut
