# SPDX-License-Identifier: Apache-2.0
"""`local.sample` and `local.segment_sample` against NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes import primitives
from jaxframes.primitives import local
from on_shards import mesh_of

NUM_ROWS = 40
WEIGHTS = np.where(np.arange(NUM_ROWS) % 5 == 2, 0, 1 + np.arange(NUM_ROWS) % 7).astype(np.float32)


def times_of(key, weights):
    """The race of `arrivals`, in float64."""
    high, low = oracles.random_words(key, NUM_ROWS).astype(np.float64).T
    if weights is None:
        return high
    with np.errstate(divide="ignore"):
        return np.where(weights > 0, -np.log1p(-(high + low / 2**32) / 2**32) / weights, np.inf)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["alike", "weighted"])
def test_without_replacement_the_first_of_a_race_are_drawn(weights):
    key = jax.random.key(5)
    times = times_of(key, weights)
    call = jax.jit(lambda valid: local.sample(key, NUM_ROWS, 12, weights=weights, num_valid=valid))
    for valid in (NUM_ROWS, 17, 5, 0):
        order = np.argsort(times[:valid], kind="stable")
        order = order[np.isfinite(times[order])][:12]
        expected = np.full(12, -1, np.int32)
        expected[: len(order)] = order
        oracles.assert_same_bits(tuple(call(np.int32(valid))), (expected, np.int32(len(order))))


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["alike", "weighted"])
def test_segments_have_races_of_their_own(weights):
    key, k = jax.random.key(6), 3
    ids = np.random.default_rng(0).integers(-1, 5, NUM_ROWS).astype(np.int32)
    ids[ids == 3] = 0
    times = times_of(key, weights)
    drawn, count = local.segment_sample(key, ids, 5, k, weights=weights)
    for segment in range(5):
        rows = np.flatnonzero((ids == segment) & np.isfinite(times))
        rows = rows[np.argsort(times[rows], kind="stable")][:k]
        assert drawn[segment].tolist() == [*rows, *[-1] * (k - len(rows))]
        assert count[segment] == len(rows)


def assert_frequencies(row_ids, probabilities):
    """Each row comes as often as it should, within five standard deviations."""
    num_draws = row_ids.size
    counts = np.bincount(row_ids.reshape(-1), minlength=len(probabilities))
    spread = 5 * np.sqrt(num_draws * probabilities * (1 - probabilities))
    assert (np.abs(counts - num_draws * probabilities) <= spread).all()
    assert (counts[probabilities == 0] == 0).all()


def test_with_replacement_rows_come_as_often_as_their_weights_say():
    # Blocks are narrower than the rows, and the last one is partial.
    valid = NUM_ROWS - 3
    for weights in (None, WEIGHTS):
        drawn, count = local.sample(
            jax.random.key(7), NUM_ROWS, 20_000, replace=True, weights=weights, num_valid=valid
        )
        assert count == 20_000
        share = np.where(np.arange(NUM_ROWS) < valid, 1 if weights is None else weights, 0)
        assert_frequencies(np.asarray(drawn), share / share.sum())


def test_without_replacement_a_first_row_comes_as_often_as_its_weight_says():
    keys = jax.random.split(jax.random.key(8), 4000)
    drawn = jax.vmap(lambda key: local.sample(key, 5, 1, weights=WEIGHTS[:5]).row_ids)(keys)
    assert_frequencies(np.asarray(drawn), WEIGHTS[:5] / WEIGHTS[:5].sum())


@pytest.mark.parametrize("scale", [2.0**127, 2.0**64, 2.0**-124])
@pytest.mark.parametrize("replace", [False, True])
def test_weights_of_any_scale_draw_the_same_rows(replace, scale):
    key, weights = jax.random.key(9), np.array([1, 0, 0.25, 1.5, 0.5], np.float32)
    scaled = weights * np.float32(scale)
    expected = local.sample(key, 5, 4, weights=weights, replace=replace)
    # Weights of invalid rows do not count.
    padded = np.append(scaled, np.float32(2**20))
    oracles.assert_same_bits(
        local.sample(key, 6, 4, weights=padded, replace=replace, num_valid=5), expected
    )
    if not replace:
        ids = np.zeros(5, np.int32)
        by_segment = local.segment_sample(key, ids, 1, 4, weights=scaled)
        assert by_segment.row_ids[0].tolist() == expected.row_ids.tolist()


@pytest.mark.parametrize("num_shards", [None, 3])
@pytest.mark.parametrize("replace", [False, True])
def test_weights_outside_of_float32_draw_the_same_rows(replace, num_shards):
    key, weights = jax.random.key(9), np.array([1, 0, 0.25, 1.5, 0.5])
    mesh = None if num_shards is None else mesh_of(num_shards)
    expected = local.sample(key, 5, 4, weights=weights, replace=replace)
    for scale in (2.0**1000, 2.0**200, 2.0**-200, 2.0**-1000):
        drawn = primitives.sample(key, 5, 4, mesh, weights=weights * scale, replace=replace)
        oracles.assert_same_bits(drawn, expected)
    # Too small to be told apart, but not zero.
    apart = np.array([1e300, 1e-300, 0.0])
    assert local.sample(key, 3, 3, weights=apart).row_ids.tolist() == [0, 1, -1]


def test_rows_of_infinite_weight_come_first_and_are_equally_likely():
    weights = np.array([1, np.inf, 3e38, np.inf, np.inf], np.float32)
    keys = jax.random.split(jax.random.key(10), 2000)
    drawn = jax.vmap(lambda key: local.sample(key, 5, 4, weights=weights).row_ids)(keys)
    assert (np.sort(drawn[:, :3], axis=1) == [1, 3, 4]).all()
    likely = np.isinf(weights)
    assert_frequencies(np.asarray(drawn[:, 0]), likely / 3)
    again, _ = local.sample(keys[0], 5, 2000, weights=weights, replace=True)
    assert_frequencies(np.asarray(again), likely / 3)


@pytest.mark.parametrize("replace", [False, True])
def test_nothing_is_drawn_of_nothing(replace):
    for weights in (np.zeros(4, np.float32), np.full(4, -1.0), np.full(4, np.nan)):
        drawn, count = local.sample(jax.random.key(0), 4, 2, weights=weights, replace=replace)
        assert (drawn.tolist(), count) == ([-1, -1], 0)
    empty = local.sample(jax.random.key(0), 0, 2 * replace, replace=replace)
    assert empty.row_ids.tolist() == [-1, -1][: 2 * replace]
    assert local.sample(jax.random.key(0), 3, 2, num_valid=0).count == 0


def test_names_what_is_wrong():
    key = jax.random.key(0)
    with pytest.raises(ValueError, match=r"sample: k must be in \[0, 3\], got 4"):
        local.sample(key, 3, 4)
    with pytest.raises(ValueError, match="sample: weights must have one entry for each of the 3"):
        local.sample(key, 3, 2, weights=jnp.zeros(2))
    with pytest.raises(TypeError, match="segment_sample: weights must be real numbers, got comp"):
        local.segment_sample(key, np.zeros(3, int), 1, 2, weights=jnp.zeros(3, complex))


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_subnormal_weights_are_above_zero(dtype, replace):
    smallest = np.finfo(dtype).smallest_subnormal
    weights = np.array([0.0, smallest, -smallest, 8 * smallest, -0.0], dtype)
    keys = jax.random.split(jax.random.key(0), 100)
    draw = jax.vmap(lambda key: local.sample(key, 5, 2, weights=weights, replace=replace))
    drawn = draw(keys)
    assert (np.asarray(drawn.count) == 2).all()
    assert set(np.unique(drawn.row_ids).tolist()) == {1, 3}
