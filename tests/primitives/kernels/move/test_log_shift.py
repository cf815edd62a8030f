# SPDX-License-Identifier: Apache-2.0
"""Moves by shifts: rows reach their targets, whatever lies between them."""

import functools

import interpreted
import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives.kernels.move import _log_shift, _log_shift_tpu


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


def moved_in_blocks(columns, distances, to_front):
    """A move as on TPU, with the kernel interpreted."""
    num_steps = _log_shift_tpu.num_steps_in_blocks(distances.size)
    others = _log_shift._steps(distances)[num_steps:]
    in_blocks = functools.partial(_log_shift_tpu.move_in_blocks, interpret=True)
    if to_front:
        columns, distances = in_blocks(columns, distances, True, is_last=not others)
        for step in others:
            columns, distances = _log_shift._shifted_rows(columns, distances, step, -step)
        return columns
    for step in reversed(others):
        kept = [jnp.where((distances & step) != 0, 0, column) for column in columns]
        columns, distances = _log_shift._shifted_rows(columns, distances, step, step, kept)
    return in_blocks(columns, distances, False, is_last=True)[0]


@pytest.mark.parametrize("to_front", [True, False])
@pytest.mark.parametrize(("num_rows", "block_lines"), [(1, 8), (1500, 512), (5000, 8)])
def test_the_kernel_moves_rows_in_blocks(num_rows, block_lines, to_front, monkeypatch):
    # 5,000 rows are five blocks of 1,024, the last of them in part.
    monkeypatch.setattr(_log_shift_tpu, "BLOCK_LINES", block_lines)
    move = jax.jit(moved_in_blocks, static_argnums=2)
    for seed, num_chosen in ((0, num_rows), (1, num_rows // 2), (2, num_rows // 50)):
        front, back = np.arange(num_chosen), sorted_rows(num_rows, num_chosen, seed)
        sources, targets = (back, front) if to_front else (front, back)
        distances = np.zeros(num_rows, np.int32)
        distances[sources] = np.abs(sources - targets)
        is_row = np.isin(np.arange(num_rows), sources)
        rows = np.where(is_row, np.arange(num_rows) + 1, 0)
        columns = tuple(map(jnp.asarray, (rows.astype(np.uint32), (rows / 7).astype(np.float32))))
        for column, moved in zip(columns, move(columns, distances, to_front), strict=True):
            oracles.assert_same_bits(moved[targets], column[sources])
            if not to_front:
                assert np.count_nonzero(moved) == num_chosen


def test_programs_for_tpu_move_many_rows_by_the_kernel():
    def text(num_rows):
        column = jax.ShapeDtypeStruct((num_rows,), np.int32)
        return interpreted.lowered_with_kernels(_log_shift.move_to_back, (column,) * 5, column)

    assert "tpu_custom_call" not in text(1000)
    # Four columns, and one.
    assert text(5000).count("tpu_custom_call") == 2
