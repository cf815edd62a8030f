# SPDX-License-Identifier: Apache-2.0
"""Counts past 2^31 and 2^32, and the ranks made of them, against Python's integers."""

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jaxframes.primitives.collective import _splitters, _wide_counts
from jaxframes.primitives.collective._wide_counts import WideCount
from on_shards import on_shards

INT32_MAX = 2**31 - 1

# Every test runs with 64-bit types and, as JAX is by default, without.
pytestmark = pytest.mark.parametrize("x64", [False, True], ids=["x32", "x64"])

# Where carries and borrows between the words and their halves happen.
NEAR_POWERS = st.builds(
    lambda power, step: max(2**power + step, 0), st.integers(0, 62), st.integers(-2, 2)
)
COUNTS = st.one_of(st.integers(0, 2**63), NEAR_POWERS)
SMALL = st.one_of(st.integers(1, 2**16 - 1), st.sampled_from([1, 2, 255, 256, 2**15, 2**16 - 1]))
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


@given(total=st.one_of(st.integers(0, 2**46), NEAR_POWERS), num_shards=SHARD_COUNTS)
def test_even_ranks(total, num_shards, x64):
    total = min(total, num_shards * INT32_MAX)
    with jax.enable_x64(x64):
        (total_,) = jax.tree.leaves(wide(total), is_leaf=lambda leaf: isinstance(leaf, WideCount))
        scalar = WideCount(total_.high[0], total_.low[0])
        ranks = as_integers(_splitters.even_ranks(scalar, num_shards))
        shards = jnp.arange(num_shards, dtype=jnp.int32)
        shares = _wide_counts.even_share_of(scalar, num_shards, shards)
    assert shares.dtype == jnp.int32
    shares = shares.tolist()
    # The law: the shares add up, differ by one at most, and the ranks are where they begin.
    assert sum(shares) == total
    assert max(shares) - min(shares) <= 1
    assert shares == sorted(shares, reverse=True)
    assert ranks == np.cumsum(np.array(shares, object)).tolist()[:-1]


@given(
    num_shards=SHARD_COUNTS,
    capacity=st.one_of(st.integers(0, 40), SHARD_ROWS),
    filled=st.fractions(0, 1),
)
def test_full_ranks(num_shards, capacity, filled, x64):
    total = int(filled * num_shards * capacity)
    with jax.enable_x64(x64):
        scalar = WideCount(jnp.uint32(total >> 32), jnp.uint32(total % 2**32))
        ranks = as_integers(_splitters.full_ranks(scalar, num_shards, capacity))
    assert ranks == [min(shard * capacity, total) for shard in range(1, num_shards)]
    shares = np.diff([0, *ranks, total])
    assert ((shares >= 0) & (shares <= capacity)).all()


def test_where_ranks_cut_each_shard(x64):
    # Ties are dealt out in the order of the shards: the cuts add up to the ranks, exactly.
    rng = np.random.default_rng(0)
    ranks = [0, 1, 7, 8, 50, 51, 99, 100, 10**6, 2**33]
    num_valid = np.array([40, 0, 25, 35], np.int32)
    for num_keys in (1, 3, 50):
        keys = np.sort(rng.integers(0, num_keys, (4, 40)).astype(np.uint32), axis=1)
        with jax.enable_x64(x64):

            def cut(word, valid):
                column = _splitters.OrderedWord(word, 0, 32)
                return _splitters.rows_before_ranks((column,), valid, wide(*ranks), "rows")

            before = np.asarray(on_shards(cut, 4)(keys, num_valid))
        is_valid = np.arange(40) < num_valid[:, None]
        order = np.argsort(keys[is_valid], kind="stable")
        shard_of_row = np.repeat(np.arange(4), num_valid)[order]
        expected = [np.bincount(shard_of_row[:rank], minlength=4) for rank in ranks]
        oracles.assert_same_bits(before, np.array(expected, np.int32).T)
