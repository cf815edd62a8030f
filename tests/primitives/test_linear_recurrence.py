# SPDX-License-Identifier: Apache-2.0
"""`linear_recurrence` of whole arrays: lengths that no mesh divides, and derivatives over it."""

import jax
import numpy as np
import oracles
import pytest
from jaxframes import primitives
from on_shards import mesh_of, noting


@pytest.mark.parametrize("mesh_size", [None, 1, 3])
def test_matches_the_oracle(mesh_size):
    mesh = None if mesh_size is None else mesh_of(mesh_size)
    rng = np.random.default_rng(0)
    for num_rows, reverse in ((0, False), (1, True), (7, False), (12, True)):
        a, b = rng.uniform(-1, 1, (2, num_rows))
        heads = rng.random(num_rows) < 0.3
        for valid in (None, num_rows // 2):
            with noting((num_rows, valid)):
                options = {"head_flags": heads, "initial": 2.0, "reverse": reverse}
                np.testing.assert_allclose(
                    primitives.linear_recurrence(a, b, mesh, num_valid=valid, **options),
                    oracles.linear_recurrence(
                        a, b, num_valid=num_rows if valid is None else valid, **options
                    ),
                    rtol=1e-9,
                    atol=1e-12,
                )


def test_derivatives_do_not_depend_on_the_mesh():
    a, b = np.random.default_rng(0).uniform(-1, 1, (2, 11))

    def last(a, b, initial, mesh):
        return primitives.linear_recurrence(a, b, mesh, initial=initial)[-1]

    alone, over_mesh = (
        jax.jit(jax.grad(last, argnums=(0, 1, 2)), static_argnums=3)(a, b, 0.5, mesh)
        for mesh in (None, mesh_of(3))
    )
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-12), alone, over_mesh)
