# SPDX-License-Identifier: Apache-2.0
"""Draws by running sums: every number of rows, and rows that only blocks tell apart."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives.local._weighted_draws import draw_rows, running_sums


@pytest.mark.parametrize("num_rows", [1, 2, 3, 17])
def test_every_row_with_a_weight_is_drawn_and_no_other(num_rows):
    for kept in (np.arange(num_rows) % 3 == 0, np.arange(num_rows) == num_rows - 1):
        weights = jnp.asarray(kept, jnp.float32)
        rows, can_draw = draw_rows(jax.random.key(0), weights, jnp.int32(num_rows), num_rows, 400)
        assert bool(can_draw)
        assert set(rows.tolist()) == set(np.flatnonzero(kept))


def test_rows_past_the_precision_of_the_sum_are_told_apart():
    num_rows = 2**18
    rows, _ = draw_rows(
        jax.random.key(1), jnp.full(num_rows, 0.1), jnp.int32(num_rows), num_rows, 2**16
    )
    # Low bits of the ids are as likely as others: four standard deviations.
    for bit in range(18):
        share = np.mean((np.asarray(rows) >> bit) & 1)
        assert abs(share - 0.5) < 4 * 0.5 / 2**8


def test_running_sums_grow_at_no_weight_of_zero_and_never_decrease():
    weights = np.random.default_rng(2).random((200, 1024)).astype(np.float32)
    weights[:, 3::4] = weights[:, -100:] = 0
    sums = np.asarray(jax.jit(running_sums)(weights))
    growth = np.diff(sums, axis=1)
    assert (growth >= 0).all()
    assert (growth[weights[:, 1:] == 0] == 0).all()
    np.testing.assert_allclose(sums, np.cumsum(weights, axis=1, dtype=np.float64), rtol=1e-5)
