# SPDX-License-Identifier: Apache-2.0
"""`local.minhash` and `local.lsh_bands` against sets of Python."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives import local
from on_platforms import ACCELERATORS, traced_as

MASK = 2**32 - 1


def scrambled(word):
    word = (word ^ word >> 16) * 0x85EBCA6B & MASK
    word = (word ^ word >> 13) * 0xC2B2AE35 & MASK
    return word ^ word >> 16


def test_a_signature_has_the_smallest_hash_of_each_function():
    sets = [[4, 9, 4], [], [7]]
    flat = np.array([4, 9, 4, 7, 1, 2], np.int32)
    ragged = local.Ragged.from_lengths(flat, np.array([len(one) for one in sets]))
    signatures = jax.jit(lambda sets: local.minhash(sets, 3, seed=5))(ragged)
    high, low = (lane.tolist() for lane in local.hash_rows(flat, seed=5))
    hashes = {
        element: [scrambled(high[i] + j * (low[i] | 1) & MASK) for j in range(3)]
        for i, element in enumerate(flat.tolist())
    }
    expected = [
        [min([hashes[element][j] for element in one], default=MASK) for j in range(3)]
        for one in sets
    ]
    np.testing.assert_array_equal(signatures, np.array(expected, np.uint32))


@pytest.mark.parametrize("platform", ACCELERATORS)
@pytest.mark.parametrize("capacity", [0, 1, 70, 100])
def test_ways_of_accelerators_have_the_same_bits(platform, capacity):
    rng = np.random.default_rng(3)
    lengths = rng.integers(0, 4, 60) * (rng.random(60) < 0.7)
    flat = rng.integers(0, 2**31, capacity).astype(np.int32)
    ragged = local.Ragged.from_lengths(flat, lengths)
    for num_hashes in (1, 4, 18):
        actual = traced_as(platform, lambda sets, n=num_hashes: local.minhash(sets, n))(ragged)
        np.testing.assert_array_equal(actual, local.minhash(ragged, num_hashes))
    nothing = local.Ragged.from_lengths(flat, lengths[:0])
    assert traced_as(platform, lambda sets: local.minhash(sets, 5))(nothing).shape == (0, 5)


def test_agreement_estimates_similarity():
    # Sets of 60 values that share 60, 40, 20 and 0 with the first one.
    starts = np.array([0, 20, 40, 60])
    flat = (starts[:, None] + np.arange(60)).reshape(-1)
    sets = local.Ragged.from_lengths(flat, np.full(4, 60))
    signatures = np.asarray(local.minhash(sets, 1024))
    agreement = (signatures == signatures[0]).mean(1)
    similarity = (60 - starts) / (60 + starts)
    # Five standard deviations.
    np.testing.assert_allclose(agreement, similarity, atol=5 * 0.5 / 32)


def test_bands_are_hashes_of_their_number_and_values():
    signatures = np.random.default_rng(0).integers(0, 3, (5, 6)).astype(np.uint32)
    high, low = local.lsh_bands(signatures, 3)
    assert high.shape == (5, 3)
    for band in range(3):
        words = (np.full(5, band, np.uint32), *signatures.T[2 * band : 2 * band + 2])
        # The same words as columns of one word each: those of hash_rows have two.
        groups = {tuple(map(int, row)) for row in zip(*words, strict=True)}
        hashes = {*zip(high[:, band].tolist(), low[:, band].tolist(), strict=True)}
        assert len(hashes) == len(groups)
    everywhere = local.lsh_bands(np.zeros((1, 6), np.uint32), 3)
    assert len(set(everywhere[0].reshape(-1).tolist())) == 3


def test_no_sets():
    none = np.zeros(0, np.int32)
    signatures = local.minhash(local.Ragged.from_lengths(none, none), 4)
    assert signatures.shape == (0, 4)
    assert local.lsh_bands(signatures, 2)[0].shape == (0, 2)


def test_names_what_is_wrong():
    with pytest.raises(TypeError, match="lsh_bands: signatures must be uint32, got int32"):
        local.lsh_bands(jnp.zeros((2, 4), jnp.int32), 2)
    with pytest.raises(ValueError, match="lsh_bands: signatures must have shape"):
        local.lsh_bands(jnp.zeros((2, 4), jnp.uint32), 3)


def test_a_batch_on_an_explicit_axis():
    mesh = jax.make_mesh((2,), ("batch",), axis_types=(jax.sharding.AxisType.Explicit,))
    by_batch = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("batch"))
    elements, lengths = np.arange(24).reshape(4, 6) % 5, np.array([[2, 3, 0, 1]] * 4)

    def sign(elements, lengths):
        return local.minhash(local.Ragged.from_lengths(elements, lengths), 3)

    with jax.set_mesh(mesh):
        signatures = jax.jit(jax.vmap(sign))(*jax.device_put((elements, lengths), by_batch))
    expected = [sign(*one) for one in zip(elements, lengths, strict=True)]
    np.testing.assert_array_equal(signatures, expected)
