# SPDX-License-Identifier: Apache-2.0
"""Statistics of few segments take one call on CUDA, against NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import oracles
from emulated_cuda import run_emulated
from jaxframes.primitives import local

NUM_ROWS = 200
STATISTICS = ("prod", "mean", "var", "std", "logsumexp")


def test_statistics_of_few_segments_take_one_call():
    rng = np.random.default_rng(23)
    ids = rng.integers(-1, 12, NUM_ROWS).astype(np.int32)
    ids[ids == 7] = 12
    rows = rng.integers(-2, 3, NUM_ROWS).astype(np.float32)
    is_odd = (ids == 3) | (ids == 4)
    rows[ids == 3], rows[ids == 4] = -np.inf, np.nan

    def statistics(x, ids):
        found = {op: local.segment_reduce(x, ids, 12, op, ddof=1) for op in STATISTICS}
        return found, local.segment_softmax(x, ids, 12), local.segment_normalize(x, ids, 12)

    (found, softmax, normal), called = run_emulated(statistics, rows, ids)
    assert called == ["segment_statistic"] * 7
    with np.errstate(invalid="ignore"):
        for op in STATISTICS:
            expected = oracles.segment_reduce(rows, ids, 12, op, ddof=1)
            np.testing.assert_allclose(found[op], expected, rtol=1e-5)
    others = np.where(is_odd, -1, ids)
    expected = oracles.segment_softmax(rows, others, 12)
    np.testing.assert_allclose(softmax[~is_odd], expected[~is_odd], rtol=1e-5)
    assert not np.any(softmax[ids == 3])
    expected = oracles.segment_normalize(rows, others, 12)
    np.testing.assert_allclose(normal[~is_odd], expected[~is_odd], atol=1e-5)


def test_derivatives_of_statistics_are_those_of_the_definitions():
    rng = np.random.default_rng(24)
    ids = np.append(np.arange(4), rng.integers(0, 4, 20)).astype(np.int32)
    rows, weights = rng.random((2, 24))

    def total(x):
        scaled = local.segment_softmax(x, ids, 4) @ weights
        return scaled + jnp.sum(jnp.sin(local.segment_std(x, ids, 4)))

    actual, called = run_emulated(jax.grad(total), rows)
    assert called.count("segment_statistic") == 2
    np.testing.assert_allclose(actual, jax.jit(jax.grad(total))(rows), rtol=1e-9)
