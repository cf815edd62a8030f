# SPDX-License-Identifier: Apache-2.0
"""`segment_softmax` and `segment_normalize` of whole arrays: lengths that no mesh divides."""

import jax
import numpy as np
import oracles
import pytest
from jaxframes import primitives
from on_shards import mesh_of, noting


@pytest.mark.parametrize("mesh_size", [None, 1, 3])
def test_matches_numpy(mesh_size):
    mesh = None if mesh_size is None else mesh_of(mesh_size)
    rng = np.random.default_rng(0)
    for num_rows in (0, 1, 7, 12):
        x = 9 * rng.standard_normal(num_rows)
        ids = rng.integers(-1, 4, num_rows)
        for valid in (None, num_rows // 2):
            with noting((num_rows, valid)):
                np.testing.assert_allclose(
                    primitives.segment_softmax(x, ids, 3, mesh, num_valid=valid),
                    oracles.segment_softmax(x, ids, 3, num_valid=valid),
                    rtol=1e-12,
                )
                np.testing.assert_allclose(
                    primitives.segment_normalize(x, ids, 3, mesh, epsilon=0.1, num_valid=valid),
                    oracles.segment_normalize(x, ids, 3, 0.1, num_valid=valid),
                    rtol=1e-11,
                    atol=1e-12,
                )


def test_epsilon_is_differentiable_over_a_mesh():
    x, ids = np.array([1.0, 2.0, 4.0, 5.0]), np.array([0, 1, 0, 1])

    def first(epsilon, mesh):
        return primitives.segment_normalize(x, ids, 2, mesh, epsilon=epsilon)[0]

    # The rows of segment 0 are 1.5 from their mean.
    expected = 0.75 * (1.5**2 + 0.25) ** -1.5
    for mesh in (None, mesh_of(2)):
        np.testing.assert_allclose(jax.grad(first)(0.25, mesh), expected, rtol=1e-12)
