# SPDX-License-Identifier: Apache-2.0
"""Ranks of the first rows of shards, past 2^31 too, and the rows that they cut."""

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
from wide_numbers import INT32_MAX, NEAR_POWERS, SHARD_COUNTS, SHARD_ROWS, as_integers, wide

# Every test runs with 64-bit types and, as JAX is by default, without.
pytestmark = pytest.mark.parametrize("x64", [False, True], ids=["x32", "x64"])


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
