# SPDX-License-Identifier: Apache-2.0
"""Moves by shifts: rows reach their targets, whatever lies between them."""

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives.kernels.move import _log_shift


def sorted_rows(num_rows, num_chosen, seed):
    """Distinct positions in ascending order."""
    rng = np.random.default_rng(seed)
    return np.sort(rng.choice(num_rows, num_chosen, replace=False)).astype(np.int32)


@pytest.mark.parametrize("num_rows", [1, 2, 7, 64, 65])
def test_rows_move_to_any_targets(num_rows):
    for seed in range(20):
        num_chosen = seed * num_rows // 19
        front, back = np.arange(num_chosen), sorted_rows(num_rows, num_chosen, seed)
        columns = np.arange(num_rows, dtype=np.uint32) + 1, np.arange(num_rows) / 7
        for sources, targets, move in (
            (back, front, _log_shift.move_to_front),
            (front, back, _log_shift.move_to_back),
        ):
            distances = np.zeros(num_rows, np.int32)
            distances[sources] = np.abs(sources - targets)
            for column, moved in zip(columns, move(columns, distances), strict=True):
                oracles.assert_same_bits(moved[targets], column[sources])


def test_rows_move_from_anywhere():
    # Not only from the front: the distances do not descend.
    for seed in range(20):
        targets = sorted_rows(40, 20, seed)
        sources = targets + np.sort(np.random.default_rng(seed).integers(0, 10, 20))
        distances = np.zeros(50, np.int32)
        distances[sources] = sources - targets
        (moved,) = _log_shift.move_to_front((jnp.arange(50),), distances)
        oracles.assert_same_bits(moved[targets], sources.astype(int))


@pytest.mark.parametrize("capacity", [0, 3, 40, 41, 60])
def test_compaction_keeps_every_bit(capacity):
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**16, 41).astype(np.uint16)
    rows = (
        bits % 3 == 0, bits.view(jnp.bfloat16), bits.view(np.float16), bits.astype(np.int8),
        bits / 3, (bits + 1j).astype(np.complex64), -bits.astype(np.int64), bits.astype(np.uint32),
    )  # fmt: skip
    for share in (0, 0.3, 1):
        mask = rng.random(41) < share
        compact = jax.jit(_log_shift.compact_by_shifts, static_argnums=2)
        expected, _, _ = oracles.compact(mask, rows, capacity)
        oracles.assert_same_bits(compact(mask, rows, capacity), expected)
