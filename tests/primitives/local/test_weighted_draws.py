# SPDX-License-Identifier: Apache-2.0
"""Draws by running sums of integers, against Python's integers."""

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import local
from jaxframes.primitives.contract._random_rows import integers_below
from jaxframes.primitives.local._weighted_draws import draw_rows, integer_weights, running_sums

WORD = 2**32


def random_bits(seed, num_draws):
    return tuple(np.random.default_rng(seed).integers(0, WORD, (2, num_draws), np.uint32))


def as_integers(words):
    high, low = (np.asarray(word).astype(object) for word in words)
    return high * WORD + low


@pytest.mark.parametrize("limit", [0, 1, 5, WORD - 1, WORD, 3 * WORD + 7, 2**63 + 1, 2**64 - 1])
def test_integers_below_a_limit_are_the_high_word_of_a_product(limit):
    bits = random_bits(0, 300)
    bits = tuple(np.append(word, np.array([0, WORD - 1], np.uint32)) for word in bits)
    words = np.uint32(limit // WORD), np.uint32(limit % WORD)
    expected = as_integers(bits) * limit // 2**64
    assert (as_integers(jax.jit(integers_below)(bits, words)) == expected).all()


def test_running_sums_carry_into_the_high_word():
    units = np.random.default_rng(1).integers(0, 2**31, 1000).astype(np.uint32)
    units[::7] = 0
    sums = running_sums(jnp.asarray(units), local.inclusive_scan)
    assert (as_integers(sums) == np.cumsum(units.astype(object))).all()


@pytest.mark.parametrize("num_rows", [1, 2, 3, 17])
def test_draws_invert_the_running_sum(num_rows):
    for kept in (np.arange(num_rows) % 3 == 0, np.arange(num_rows) == num_rows - 1):
        weights = np.where(kept, 1 + np.arange(num_rows) / 32, 0).astype(np.float32)
        bits = random_bits(num_rows, 400)
        rows, can_draw = draw_rows(bits, jnp.asarray(weights), jnp.int32(num_rows))
        ends = np.cumsum((weights * 2.0**29).astype(np.int64).astype(object))
        targets = as_integers(bits) * ends[-1] // 2**64
        expected = np.searchsorted(ends.astype(float), targets.astype(float), side="right")
        assert bool(can_draw)
        oracles.assert_same_bits(rows, expected.astype(np.int32))
        assert set(rows.tolist()) == set(np.flatnonzero(kept))


def test_rows_past_the_precision_of_float32_are_told_apart():
    num_rows = 2**18
    bits = random_bits(2, 2**16)
    rows, _ = draw_rows(bits, jnp.full(num_rows, 1.1, jnp.float32), jnp.int32(num_rows))
    # Low bits of the ids are as likely as others: four standard deviations.
    for bit in range(18):
        share = np.mean((np.asarray(rows) >> bit) & 1)
        assert abs(share - 0.5) < 4 * 0.5 / 2**8


def test_weights_are_integers_of_at_least_one():
    weights = jnp.array([0, 1e-30, 1, 3.5, 2.0**60], jnp.float32)
    assert integer_weights(weights, jnp.bool(False), 4)[:4].tolist() == [0, 1, 2**29, 7 * 2**28]
    assert integer_weights(weights, jnp.bool(True), 5).tolist() == [0, 0, 0, 0, 1]
    # The sum of more rows than words of 32 bits can number stays below 2^64.
    assert integer_weights(weights, jnp.bool(False), 2**36)[:4].tolist() == [0, 1, 2**25, 7 * 2**24]
