# SPDX-License-Identifier: Apache-2.0
"""`local.pack` against documents that are placed one by one."""

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import local
from on_platforms import ACCELERATORS, traced_as

FITS = ("next_fit", "first_fit_decreasing", "best_fit_decreasing")
LENGTH = 9


def documents(seed, num_documents):
    """Lengths up to that of a row and one more, and empty ones."""
    rng = np.random.default_rng(seed)
    return np.minimum(rng.integers(0, LENGTH + 2, num_documents), rng.integers(0, 14)).astype(int)


@pytest.mark.parametrize("how", FITS)
@pytest.mark.parametrize("platform", ["cpu", *ACCELERATORS])
def test_matches_the_oracle(platform, how):
    call = traced_as(platform, local.pack, static_argnames=("length", "how", "capacity"))
    for num_documents, capacity in ((0, 3), (1, 1), (24, 24), (24, 5), (24, 0)):
        for seed in range(4):
            lengths = documents(seed, num_documents)
            packed = call(lengths, LENGTH, how=how, capacity=capacity)
            oracles.assert_same_bits(tuple(packed), oracles.pack(lengths, LENGTH, how, capacity))


@pytest.mark.parametrize("how", FITS)
def test_padding_documents_have_no_row(how):
    lengths = documents(1, 20)
    packed = local.pack(lengths, LENGTH, how=how, capacity=20, num_valid=13)
    expected = oracles.pack(lengths[:13], LENGTH, how, 20)
    np.testing.assert_array_equal(packed.row_ids, [*expected[0], *[-1] * 7])
    oracles.assert_same_bits(tuple(packed[2:]), expected[2:])


def test_tokens_move_to_their_places_and_gradients_back():
    lengths = np.array([3, 2, 2])
    values = jnp.arange(1.0, 8.0)

    def place(values):
        ragged = local.Ragged.from_lengths(values, lengths)
        return local.pack(lengths, 5, capacity=2).place(ragged)

    assert place(values).tolist() == [[1, 2, 3, 4, 5], [6, 7, 0, 0, 0]]
    weights = jnp.arange(10.0).reshape(2, 5)
    gradient = jax.grad(lambda values: (place(values) * weights).sum())(values)
    assert gradient.tolist() == [0, 1, 2, 3, 4, 5, 6]


def test_names_what_is_wrong():
    with pytest.raises(ValueError, match="pack: how must be one of next_fit, first_fit_decreas"):
        local.pack(np.array([1]), 2, how="worst_fit")
    with pytest.raises(ValueError, match=r"pack: there must be fewer than 2\*\*31 places, got 4"):
        local.pack(np.array([1] * 4), 2**30)
    with pytest.raises(TypeError, match="pack: lengths must be integers, got float64"):
        local.pack(np.zeros(2), 2)
    with pytest.raises(ValueError, match=r"Packed.place: ragged must have a segment for each of"):
        local.pack(np.ones(3, int), 2).place(local.Ragged.from_lengths(np.ones(2), np.ones(2, int)))
