# SPDX-License-Identifier: Apache-2.0
"""Segments that do not begin at zero, and the range of integers that says where they do."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jax.test_util import check_grads
from jaxframes.primitives import local
from key_distributions import INTEGER_DTYPES, distributions_for, make_keys

NUM_ROWS, NUM_SEGMENTS = 300, 9


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64"])
def test_first_id(dtype):
    info = np.iinfo(dtype)
    rng = np.random.default_rng(0)
    x = rng.standard_normal(NUM_ROWS)
    integers = rng.integers(-(2**31), 2**31, NUM_ROWS).astype(np.int32)

    @jax.jit
    def reduce(ids, first_id, num_valid):
        at = {"first_id": first_id, "num_valid": num_valid}
        sums = local.segment_reduce((x, integers), ids, NUM_SEGMENTS, "sum", **at)
        counts = local.segment_reduce(None, ids, NUM_SEGMENTS, "count", **at)
        return *sums, counts, local.segment_reduce(x, ids, NUM_SEGMENTS, "max", **at)

    for first in (0, 5, int(info.min), int(info.max) - 3, int(info.max)):
        near = range(max(first - 2, info.min), min(first + NUM_SEGMENTS + 2, info.max))
        known = [*near, info.min, info.max]
        ids = np.array(rng.choice(np.array(known, object), NUM_ROWS), dtype)
        for num_valid in (NUM_ROWS, NUM_ROWS // 2):
            places = ids[:num_valid].astype(object) - first
            is_in = ((places >= 0) & (places < NUM_SEGMENTS)).astype(bool)
            places = places[is_in].astype(np.int64)
            sums, whole_sums, counts, greatest = reduce(ids, ids.dtype.type(first), num_valid)
            expected = oracles.exact_sums(x[:num_valid][is_in], places, NUM_SEGMENTS)
            oracles.assert_same_sums(sums, expected, rtol=1e-12, atol=1e-12)
            expected = np.zeros(NUM_SEGMENTS, np.int32)
            np.add.at(expected, places, integers[:num_valid][is_in])
            oracles.assert_same_bits(whole_sums, expected)
            counted = np.bincount(places, minlength=NUM_SEGMENTS).astype(np.int32)
            oracles.assert_same_bits(counts, counted)
            expected = np.full(NUM_SEGMENTS, -np.inf)
            np.maximum.at(expected, places, x[:num_valid][is_in])
            oracles.assert_same_bits(greatest, expected)


def test_first_id_is_transformed():
    ids = np.array([[7, 9, 7, 3], [8, 8, 12, 9]])
    x = np.array([[1.0, 2.0, np.nan, 4.0], [0.5, 1.5, np.inf, 8.0]])[:, [0, 1, 3, 2]]

    def total(x, ids):
        return local.segment_reduce(x, ids, 3, "sum", first_id=7)

    batched = jax.jit(jax.vmap(total))(x, ids)
    np.testing.assert_array_equal(batched, [[1 + 4, 0, 2], [0, 2, np.inf]])
    # What is in no segment has no derivative, though it is no number.
    weights = np.array([2.0, 3.0, 5.0])
    gradient = jax.jit(jax.grad(lambda x: jnp.sum(total(x, ids[0]) * weights)))(x[0])
    np.testing.assert_array_equal(gradient, [2, 5, 2, 0])
    check_grads(functools.partial(total, ids=ids[0]), (np.arange(4.0),), 2, ["fwd", "rev"])


@pytest.mark.checks_arguments
@pytest.mark.parametrize(
    ("first_id", "error", "message"),
    [
        (300, ValueError, "first_id must be a number of int8, the dtype of segment_ids, got 300."),
        (1.5, TypeError, "first_id must be one integer, got"),
        (np.arange(2), TypeError, "first_id must be one integer, got"),
        (jnp.int32(1), TypeError, "first_id must be of int8, the dtype of segment_ids, got"),
    ],
)
def test_first_id_is_checked(first_id, error, message):
    with pytest.raises(error, match="segment_reduce: " + message):
        local.segment_reduce(np.zeros(3), np.zeros(3, np.int8), 2, "sum", first_id=first_id)


@pytest.mark.parametrize("dtype", INTEGER_DTYPES, ids=str)
def test_integer_range(dtype):
    info = np.iinfo(dtype)
    find = jax.jit(lambda x, num_valid: local.integer_range(x, num_valid=num_valid))
    for distribution in distributions_for(dtype):
        x = make_keys(distribution, NUM_ROWS, dtype)
        for num_valid in (NUM_ROWS, 7, 1):
            least, greatest = find(x, num_valid)
            oracles.assert_same_bits(least, x[:num_valid].min())
            oracles.assert_same_bits(greatest, x[:num_valid].max())
        for found in (find(x, 0), local.integer_range(x[:0])):
            assert [int(end) for end in found] == [info.max, info.min]
