# SPDX-License-Identifier: Apache-2.0
"""`sample` and `segment_sample` of whole arrays and of shards: those of one device, on every mesh.

`local/test_sample.py` tests these against NumPy.
"""

import functools

import jax
import numpy as np
import oracles
import pytest
from jaxframes import primitives
from jaxframes.primitives import collective, local
from on_shards import SHARD_COUNTS, mesh_of, noting, on_shards, row_counts, valid_rows

NUM_ROWS = 6


def weights_of(num_rows):
    weights = 1 + np.arange(num_rows) % 7 / 3
    weights[2::5] = 0
    return weights.astype(np.float32)


def as_numpy(sampled):
    return jax.tree.map(np.asarray, tuple(sampled))


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("num_shards", [1, 4, 8])
def test_every_mesh_draws_the_rows_of_one_device(num_shards, replace, is_weighted):
    key, num_rows = jax.random.key(3), 43
    weights = weights_of(num_rows) if is_weighted else None
    settings = {"replace": replace, "weights": weights}

    def call(valid, mesh=None):
        return primitives.sample(key, num_rows, 17, mesh, num_valid=valid, **settings)

    one = jax.jit(call)
    many = jax.jit(functools.partial(call, mesh=mesh_of(num_shards)))
    for valid in (num_rows, 20, 3, 0):
        with noting(valid):
            actual = as_numpy(many(np.int32(valid)))
            oracles.assert_same_bits(actual, as_numpy(one(np.int32(valid))))
            assert (actual[0] < valid).all()


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("num_shards", [1, 4, 8])
def test_every_mesh_draws_the_rows_of_one_device_by_segment(num_shards, is_weighted):
    key, num_rows = jax.random.key(4), 43
    weights = weights_of(num_rows) if is_weighted else None
    ids = np.random.default_rng(0).integers(-1, 5, num_rows).astype(np.int32)
    ids[ids == 3] = 0
    for k in (0, 3):
        draw = functools.partial(primitives.segment_sample, key, ids, 5, k, weights=weights)
        actual = as_numpy(draw(mesh_of(num_shards)))
        oracles.assert_same_bits(actual, as_numpy(draw()))


@pytest.mark.parametrize("mesh_size", [1, 3])
def test_few_rows_and_no_rows(mesh_size):
    key, mesh = jax.random.key(5), mesh_of(mesh_size)
    for num_rows in (0, 1, 2):
        weights = np.ones(num_rows, np.float32)
        for settings in ({}, {"replace": True}, {"replace": True, "weights": weights}):
            k = 3 if settings else num_rows
            draw = functools.partial(primitives.sample, key, num_rows, k, **settings)
            oracles.assert_same_bits(as_numpy(draw(mesh)), as_numpy(draw()))
        ids = np.zeros(num_rows, np.int32)
        draw = functools.partial(primitives.segment_sample, key, ids, 2, 2)
        oracles.assert_same_bits(as_numpy(draw(mesh)), as_numpy(draw()))


@pytest.mark.parametrize("num_shards", SHARD_COUNTS)
def test_shards_with_padding(num_shards):
    key, k, num_total = jax.random.key(6), 5, num_shards * NUM_ROWS
    all_weights = weights_of(num_total).reshape(num_shards, NUM_ROWS)
    all_ids = (np.arange(num_total, dtype=np.int32) % 3).reshape(num_shards, NUM_ROWS)
    at = {"axis_name": "rows"}

    def draw(weights, ids, valid):
        plain = collective.sample(key, NUM_ROWS, k, num_valid=valid, **at)
        by_weight = {
            replace: collective.sample(
                key, NUM_ROWS, 40, weights=weights, num_valid=valid, replace=True, **at
            )
            if replace
            else collective.sample(key, NUM_ROWS, k, weights=weights, num_valid=valid, **at)
            for replace in (False, True)
        }
        again = collective.sample(key, NUM_ROWS, 40, replace=True, num_valid=valid, **at)
        segments = collective.segment_sample(key, ids, 3, 2, num_valid=valid, **at)
        return plain, by_weight, again, segments

    call = on_shards(draw, num_shards)
    sequence = np.arange(num_total).reshape(num_shards, NUM_ROWS)
    for name, counts in row_counts(num_shards, NUM_ROWS).items():
        valid = valid_rows(sequence, counts)
        is_valid = np.isin(np.arange(num_total), valid)
        weights = np.where(is_valid, all_weights.reshape(-1), 0)
        ids = np.where(is_valid, all_ids.reshape(-1), -1)
        ones = is_valid.astype(np.float32)
        with noting(name):
            results = jax.tree.map(np.asarray, call(all_weights, all_ids, counts))
            for leaf in jax.tree.leaves(results):
                assert (leaf == leaf[:1]).all()
            plain, by_weight, again, segments = jax.tree.map(lambda leaf: leaf[0], results)
            # Valid rows have the times that they have on one device; invalid ones have no weight.
            expected = as_numpy(local.sample(key, num_total, k, weights=weights))
            oracles.assert_same_bits(tuple(by_weight[False]), expected)
            expected = as_numpy(local.sample(key, num_total, 40, weights=weights, replace=True))
            oracles.assert_same_bits(tuple(by_weight[True]), expected)
            expected = as_numpy(local.segment_sample(key, ids, 3, 2))
            oracles.assert_same_bits(tuple(segments), expected)
            # Draws of equal rows count valid rows.
            position, count = as_numpy(local.sample(key, len(valid), 40, replace=True))
            expected = np.where(position < 0, -1, np.append(valid, 0)[position]).astype(np.int32)
            oracles.assert_same_bits(tuple(again), (expected, count))
            first = as_numpy(local.sample(key, num_total, k, weights=ones))
            assert set(plain.row_ids) == set(first[0])
            assert plain.count == min(k, len(valid)) == first[1]


def test_infinite_weights_on_one_shard_are_known_to_all():
    weights = np.array([1, 2, np.inf, 3, 1, np.inf], np.float32)
    for replace in (False, True):
        draw = functools.partial(
            primitives.sample, jax.random.key(7), 6, 5, weights=weights, replace=replace
        )
        drawn = as_numpy(draw(mesh_of(3)))
        oracles.assert_same_bits(drawn, as_numpy(draw()))
        assert set(drawn[0][: 5 if replace else 2]) == {2, 5}
