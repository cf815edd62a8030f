# SPDX-License-Identifier: Apache-2.0
"""`concatenate` on one device and over a mesh, against NumPy."""

import jax
import numpy as np
import oracles
import pytest
from jaxframes import primitives
from jaxframes.primitives import collective
from key_distributions import make_keys
from on_shards import dealt_out, even_shares, mesh_of, noting, on_shards, row_counts, valid_rows

LENGTHS = (7, 0, 12, 5)
COUNTS = {
    "all": None,
    "some": [3, 0, 12, 0],
    "none": [0, 0, 0, 0],
    "mixed": [0, None, np.int32(4), 2],
}


def pieces_of(lengths=LENGTHS):
    return [
        {
            "id": np.arange(2 * length, dtype=np.int32).reshape(length, 2) + 100 * place,
            "bits": make_keys("nan_inf_sprinkled", length, np.float64),
            "flag": np.arange(length) % 2 == 0,
        }
        for place, length in enumerate(lengths)
    ]


def joined(pieces, counts, capacity=None):
    """The rows that count, with zeros up to the capacity."""
    counts = [None] * len(pieces) if counts is None else counts
    kept = [
        jax.tree.map(lambda leaf, count=count: leaf[:count], piece)
        for piece, count in zip(pieces, counts, strict=True)
    ]
    rows = jax.tree.map(lambda *leaves: np.concatenate(leaves), *kept)
    num_rows = len(rows["flag"])
    if capacity is not None:
        rows = oracles.with_zeros_behind(jax.tree.map(lambda leaf: leaf[:capacity], rows), capacity)
    return rows, np.int32(num_rows)


@pytest.mark.parametrize("mesh_size", [None, 1, 3])
def test_matches_numpy(mesh_size):
    mesh = None if mesh_size is None else mesh_of(mesh_size)
    pieces = pieces_of()
    for name, counts in COUNTS.items():
        for capacity in (None, 25):
            actual = primitives.concatenate(pieces, counts, mesh, capacity=capacity)
            with noting((name, capacity)):
                oracles.assert_same_bits(tuple(actual), joined(pieces, counts, capacity))


@pytest.mark.parametrize("mesh_size", [None, 3])
def test_a_traced_call_returns_the_true_count(mesh_size):
    mesh = None if mesh_size is None else mesh_of(mesh_size)
    pieces = pieces_of()
    for capacity in (6, 24):
        call = jax.jit(
            lambda pieces, counts, capacity=capacity: primitives.concatenate(
                pieces, counts, mesh, capacity=capacity
            )
        )
        for counts in ([3, 0, 12, 0], [7, 0, 12, 5], [0, 0, 0, 1]):
            actual = call(pieces, [np.int32(count) for count in counts])
            with noting((capacity, counts)):
                oracles.assert_same_bits(tuple(actual), joined(pieces, counts, capacity))


def test_too_small_a_capacity_names_the_one_that_suffices():
    for mesh in (None, mesh_of(3)):
        with pytest.raises(primitives.CapacityError) as error:
            primitives.concatenate([np.arange(5), np.arange(4)], [5, 2], mesh, capacity=6)
        assert error.value.needed == 7


def test_shards_hold_any_number_of_rows_of_each_piece():
    num_shards, num_rows = 3, 4
    a = np.arange(1, 13, dtype=np.int32).reshape(num_shards, num_rows)
    b = 100 + a
    call = on_shards(
        lambda a, b, counts_a, counts_b: collective.concatenate(
            [a, b], [counts_a, counts_b], axis_name="rows"
        ),
        num_shards,
    )
    counts = list(row_counts(num_shards, num_rows).items())
    for (name_a, counts_a), (name_b, counts_b) in zip(counts, counts[::-1], strict=True):
        sequence = np.concatenate([valid_rows(a, counts_a), valid_rows(b, counts_b)])
        shares = even_shares(len(sequence), num_shards)
        actual = call(a, b, counts_a, counts_b)
        with noting((name_a, name_b)):
            assert np.asarray(actual.count).tolist() == shares
            oracles.assert_same_bits(actual.rows, dealt_out(sequence, shares, 2 * num_rows))


def test_no_rows_at_all():
    for mesh in (None, mesh_of(2)):
        for capacity in (None, 4):
            actual = primitives.concatenate(
                [np.zeros(0), np.zeros(0)], None, mesh, capacity=capacity
            )
            oracles.assert_same_bits(tuple(actual), (np.zeros(capacity or 0), np.int32(0)))


@pytest.mark.parametrize(
    ("pieces", "num_valid", "error", "message"),
    [
        (
            [],
            None,
            ValueError,
            "concatenate: pieces must be a sequence of at least one, got list.",
        ),
        (
            [np.zeros(2), np.zeros(2)],
            [1],
            ValueError,
            "concatenate: num_valid must have an entry for each of the 2 pieces, got list.",
        ),
        (
            [np.zeros(2), np.zeros(2, np.float32)],
            None,
            TypeError,
            "concatenate: pieces must have the same dtypes, got float64[2] and float32[2]. Cast "
            "them to one.",
        ),
        (
            [np.zeros((2, 3)), np.zeros((2, 1))],
            None,
            ValueError,
            "concatenate: pieces must have the same shapes but for their leading axes, got "
            "float64[2,3] and float64[2,1].",
        ),
    ],
)
@pytest.mark.checks_arguments
def test_errors(pieces, num_valid, error, message):
    for mesh in (None, mesh_of(2)):
        with pytest.raises(error) as raised:
            primitives.concatenate(pieces, num_valid, mesh)
        assert str(raised.value) == message
