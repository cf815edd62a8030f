# SPDX-License-Identifier: Apache-2.0
"""Scans by merges that the kernel knows: it and the portable definition agree."""

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import backend, kernels
from jaxframes.primitives.local import _moments
from scanned_rows import head_flags

function_scan = kernels.scan._function_scan
pytestmark = pytest.mark.skipif(backend().cpu != "native", reason=backend().reason)


def rows_of(merge, num_sums, dtype, shape):
    rng = np.random.default_rng(num_sums)
    x, y, *sums = jnp.asarray(rng.normal(3, 1, (2 + num_sums, *shape)), dtype)
    # Parts without values merge too.
    counts = jnp.asarray(rng.integers(0, 3, shape), dtype)
    if merge is _moments.merge_moments:
        return _moments.Moments(counts, x, tuple(sums))
    return _moments.PairMoments(counts, x, y, *sums)


CASES = [(_moments.merge_moments, n) for n in (1, 2, 3)] + [(_moments.merge_pair_moments, 3)]


def in_order(merge, rows, heads, reverse):
    """The definition, row after row: each operation alone rounds."""
    num_rows = jax.tree.leaves(rows)[0].shape[0]
    states, state = [None] * num_rows, None
    for row in range(num_rows)[:: -1 if reverse else 1]:
        own = jax.tree.map(lambda leaf, row=row: leaf[row], rows)
        state = own if state is None or heads[row] else merge(state, own)
        states[row] = state
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *states)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("merge", "num_sums"), CASES)
def test_moments_have_the_same_bits(merge, num_sums, dtype):
    for shape, mean_length in (((40,), 5), ((6, 2, 3), 3), ((1,), 1), ((20,), None)):
        rows = rows_of(merge, num_sums, dtype, shape)
        heads = np.zeros(shape[0], bool)
        if mean_length is not None:
            heads = head_flags(shape[0], mean_length)
        given = None if mean_length is None else jnp.asarray(heads)
        for reverse in (False, True):
            assert "cpu" in function_scan._kernels(merge, rows)
            found = function_scan.scan_by_function(merge, rows, given, reverse)
            expected = in_order(merge, rows, heads, reverse)
            for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
                oracles.assert_same_bits(one, other)


def test_rows_of_no_other_kind_are_scanned_by_the_kernel():
    moments = rows_of(_moments.merge_moments, 1, "float32", (4,))
    narrow = jax.tree.map(lambda leaf: leaf.astype(jnp.float16), moments)
    mixed = moments._replace(count=moments.count.astype(jnp.float64))
    empty = jax.tree.map(lambda leaf: leaf[:0], moments)
    for rows in (narrow, mixed, empty):
        assert not function_scan._kernels(_moments.merge_moments, rows)
    assert not function_scan._kernels(lambda left, right: left, moments)


def test_a_batch_and_its_derivative():
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.normal(size=(3, 12)))

    def variances(x):
        rows = _moments.Moments(jnp.ones_like(x), x, (jnp.zeros_like(x),))
        scanned = function_scan.scan_by_function(_moments.merge_moments, rows, None, False)
        return scanned.sums[0] / scanned.count

    expected = [[np.var(row[: i + 1]) for i in range(12)] for row in np.asarray(x)]
    np.testing.assert_allclose(jax.vmap(variances)(x), expected, rtol=1e-12, atol=1e-15)
    slopes = jax.grad(lambda x: variances(x)[-1])(x[0])
    np.testing.assert_allclose(slopes, 2 / 12 * (x[0] - x[0].mean()), rtol=1e-12)
