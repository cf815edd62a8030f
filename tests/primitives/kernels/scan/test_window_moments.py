# SPDX-License-Identifier: Apache-2.0
"""Moments of windows by one kernel: it and the two scans of the definition agree."""

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import backend, kernels, local
from jaxframes.primitives.local import _moments, _window_moments
from scanned_rows import head_flags

WindowPlaces = kernels.scan._window_moments.WindowPlaces
needs_kernels = pytest.mark.skipif(backend().cpu != "native", reason=backend().reason)

CASES = [(_moments.merge_moments, n) for n in (1, 2, 3)] + [(_moments.merge_pair_moments, 3)]


def places_of(num_rows, width, mean_length):
    """Windows of rows that stop at segments, in blocks as long."""
    starts_segment = head_flags(num_rows, mean_length)
    rows = np.arange(num_rows)
    start = np.maximum.accumulate(np.where(starts_segment, rows, 0))
    heads = starts_segment | (rows % width == 0)
    block = np.maximum.accumulate(np.where(heads, rows, 0))
    first = np.maximum(start, rows - width + 1)
    has_front = rows % 11 != 3
    return WindowPlaces(
        *map(jnp.asarray, (heads, first.astype(np.int32), first < block, has_front))
    )


def rows_of(merge, num_sums, dtype, shape):
    rng = np.random.default_rng(num_sums)
    held = rng.random(shape[0]) < 0.7
    counts = np.broadcast_to(held.reshape(-1, *(1,) * (len(shape) - 1)), shape)
    x, y = (jnp.asarray(rng.normal(3, 1, shape) * counts, dtype) for _ in range(2))
    counts, zeros = jnp.asarray(counts, dtype), jnp.zeros_like(x)
    if merge is _moments.merge_moments:
        return _moments.Moments(counts, x, (zeros,) * num_sums), jnp.asarray(held)
    return _moments.PairMoments(counts, x, y, zeros, zeros, zeros), jnp.asarray(held)


@needs_kernels
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("merge", "num_sums"), CASES)
def test_the_kernel_has_the_bits_of_two_scans(merge, num_sums, dtype):
    for shape, width, mean_length in (((300,), 7, 40), ((60, 2), 100, 9), ((1,), 1, 1)):
        rows, held = rows_of(merge, num_sums, dtype, shape)
        places = places_of(shape[0], width, mean_length)
        found = _window_moments.window_moments(rows, held, places, merge, False)
        # Each operation alone, because a compiled merge may round a product and a sum together.
        expected = _window_moments._by_scans(rows, places, merge, False)
        assert len(found) == len(expected) == num_sums + 1
        for one, other in zip(found, expected, strict=True):
            oracles.assert_same_bits(one, other)


@needs_kernels
def test_float_counts_of_too_many_rows_are_not_used():
    most = 2**24
    assert _window_moments.have_window_kernel(jnp.float32, most)
    assert not _window_moments.have_window_kernel(jnp.float32, most + 1)
    assert _window_moments.have_window_kernel(jnp.float64, most + 1)
    assert not _window_moments.have_window_kernel(jnp.float64, 0)
    assert not _window_moments.have_window_kernel(jnp.float16, 5)


@pytest.mark.parametrize("op", ["var", "skew", "corr"])
def test_windows_of_a_batch_and_their_derivatives(op):
    rng = np.random.default_rng(0)
    x, y = jnp.asarray(rng.normal(size=(2, 3, 14)))

    def values(x, y):
        other = {"other": y} if op == "corr" else {}
        return local.windowed_reduce(x, np.int32(5), op, **other).values[4:]

    batched = jax.vmap(values)(x, y)
    for row in range(3):
        np.testing.assert_allclose(batched[row], values(x[row], y[row]), rtol=1e-14)
    slope = jax.grad(lambda x: values(x, y[0]).sum())(x[0])
    step = 1e-6
    for place in (0, 6, 13):
        ends = [values(x[0].at[place].add(move), y[0]).sum() for move in (step, -step)]
        np.testing.assert_allclose(slope[place], (ends[0] - ends[1]) / (2 * step), rtol=1e-5)
