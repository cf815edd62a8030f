# SPDX-License-Identifier: Apache-2.0
"""`divide_ragged` and `collect_ragged` against lists."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes import primitives
from jaxframes.primitives import Ragged
from on_shards import mesh_of, noting

MESH_SIZES = (1, 4, 8)
LENGTHS = {
    "none": [],
    "one": [5],
    "all empty": [0, 0, 0],
    "one long among empty ones": [0, 0, 17, 0, 0],
    "even": [2] * 16,
    "random": np.random.default_rng(0).integers(0, 7, 23).tolist(),
    "growing": list(range(12)),
}


def ragged_of(lengths, padding=3):
    """Values that name their place, and padding behind them."""
    values = np.arange(sum(lengths) + padding, dtype=np.float32) + 1
    return Ragged.from_lengths((values, values[:, None] * [1, -1]), np.array(lengths, np.int32))


def segments_of(ragged):
    offsets = np.asarray(ragged.offsets)
    return [
        np.asarray(jax.tree.leaves(ragged.values)[0])[start:end].tolist()
        for start, end in itertools.pairwise(offsets)
    ]


def piece_of(divided, shard):
    return jax.tree.map(lambda leaf: leaf[shard], divided)


@pytest.mark.parametrize("mesh_size", MESH_SIZES)
def test_pieces_are_whole_segments_with_an_even_share_of_values(mesh_size):
    mesh = mesh_of(mesh_size)
    for name, lengths in LENGTHS.items():
        with noting(name):
            ragged = ragged_of(lengths)
            divided = primitives.divide_ragged(ragged, mesh)
            pieces = []
            for shard in range(mesh_size):
                piece, first, count = piece_of(divided, shard)
                assert int(first) == len(pieces)
                segments = segments_of(piece)
                assert segments[count:] == [[]] * (len(segments) - int(count))
                pieces += segments[:count]
                share = sum(map(len, segments[:count]))
                assert abs(share - sum(lengths) / mesh_size) < max([1, *lengths])
                # Padding is zero.
                assert not np.asarray(piece.values[1])[share:].any()
            assert pieces == segments_of(ragged)


@functools.partial(jax.jit, static_argnums=1)
def there_and_back(ragged, mesh):
    divided = primitives.divide_ragged(ragged, mesh)
    segments = ragged.num_segments
    return primitives.collect_ragged(divided, mesh, segments, capacity=ragged.capacity)


@pytest.mark.parametrize("mesh_size", MESH_SIZES)
def test_collects_what_it_divides(mesh_size):
    mesh = mesh_of(mesh_size)
    for name, lengths in LENGTHS.items():
        with noting(name):
            ragged = ragged_of(lengths)

            back = there_and_back(ragged, mesh)
            oracles.assert_same_bits(back.offsets, ragged.offsets)
            expected = jax.tree.map(np.array, ragged.values)
            for leaf in expected:
                leaf[sum(lengths) :] = 0
            oracles.assert_same_bits(back.values, expected)


def test_pieces_are_a_batch_and_results_may_have_other_lengths():
    mesh, lengths = mesh_of(4), LENGTHS["random"]
    ragged = ragged_of(lengths)

    def without_odd_values(piece):
        values, _ = piece.values
        kept = (values % 2 == 0) & (piece.segment_ids >= 0)
        return Ragged.from_segment_ids(
            values, jnp.where(kept, piece.segment_ids, -1), piece.num_segments
        )

    @jax.jit
    def call(ragged):
        divided = primitives.divide_ragged(ragged, mesh)
        even = divided._replace(pieces=jax.vmap(without_odd_values)(divided.pieces))
        return primitives.collect_ragged(even, mesh, len(lengths))

    expected = [[value for value in segment if value % 2 == 0] for segment in segments_of(ragged)]
    assert segments_of(call(ragged)) == expected


def test_what_does_not_fit_has_its_true_number():
    mesh, lengths = mesh_of(4), [3, 1, 0, 2, 6, 1, 1, 4]
    ragged = ragged_of(lengths)
    whole = primitives.divide_ragged(ragged, mesh)
    cut = primitives.divide_ragged(ragged, mesh, capacity=4, segment_capacity=2)
    assert cut.num_segments.tolist() == whole.num_segments.tolist()
    assert max(whole.num_segments.tolist()) > 2
    for shard in range(4):
        full, part = piece_of(whole.pieces, shard), piece_of(cut.pieces, shard)
        oracles.assert_same_bits(part.offsets, np.asarray(full.offsets)[:3])
        oracles.assert_same_bits(
            part.values, jax.tree.map(lambda leaf: np.asarray(leaf)[:4], full.values)
        )


@pytest.mark.parametrize("mesh_size", MESH_SIZES)
def test_gradients_return_to_the_values(mesh_size):
    mesh, ragged = mesh_of(mesh_size), ragged_of(LENGTHS["growing"])
    values, _ = ragged.values
    weights = np.linspace(1, 2, len(values)).astype(np.float32)

    def loss(values):
        one = Ragged(values, ragged.offsets)
        divided = primitives.divide_ragged(one, mesh)
        square = jax.vmap(lambda piece: piece.with_values(piece.values**2))
        squared = divided._replace(pieces=square(divided.pieces))
        back = primitives.collect_ragged(squared, mesh, one.num_segments, capacity=len(values))
        return jnp.sum(back.values * weights)

    is_value = np.arange(len(values)) < sum(LENGTHS["growing"])
    actual = jax.jit(jax.grad(loss))(jnp.asarray(values))
    np.testing.assert_allclose(actual, np.where(is_value, 2 * values * weights, 0), rtol=1e-6)


def test_names_what_is_wrong():
    mesh, ragged = mesh_of(2), ragged_of([1, 2])
    with pytest.raises(TypeError, match="divide_ragged: ragged must be Ragged, got"):
        primitives.divide_ragged(jnp.arange(3), mesh)
    divided = primitives.divide_ragged(ragged, mesh)
    with pytest.raises(ValueError, match="must have a piece for each of 4 shards, got 2"):
        primitives.collect_ragged(divided, mesh_of(4), 2)
    with pytest.raises(TypeError, match="collect_ragged: divided must be pieces of divide_ragged"):
        primitives.collect_ragged(ragged, mesh, 2)
