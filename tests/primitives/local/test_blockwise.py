# SPDX-License-Identifier: Apache-2.0
"""Rows reduced block by block, against NumPy."""

import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives.local._blockwise import (
    COMBINE,
    LEAST_BLOCK,
    REDUCE,
    identity_of_reduction,
    reduce_blocks,
)


@pytest.mark.parametrize("name", sorted(COMBINE))
def test_the_identity_element_changes_nothing(name):
    dtype = np.bool_ if name in ("any", "all") else np.int32
    rows = jnp.array([0, 1, 5], dtype)
    identity = jnp.full_like(rows, identity_of_reduction(name, dtype))
    np.testing.assert_array_equal(COMBINE[name](identity, rows), rows)


@pytest.mark.parametrize("num_rows", [1, LEAST_BLOCK + 3])
def test_blocks_reduce_to_the_value_of_all_rows(num_rows):
    rows = np.random.default_rng(5).integers(-9, 9, num_rows).astype(np.int32)
    parts = reduce_blocks(lambda x, row_ids: {"sum": {0: x}, "max": {0: x}}, jnp.asarray(rows))
    found = parts["sum"][0], parts["max"][0], REDUCE["sum"](jnp.asarray(rows))
    np.testing.assert_array_equal(found, [rows.sum(), rows.max(), rows.sum()])


@pytest.mark.parametrize("num_rows", [1, 2, 5, 64, 1001, LEAST_BLOCK + 7])
def test_floats_are_multiplied_half_by_half(num_rows):
    x = np.random.default_rng(num_rows).normal(1, 0.01, num_rows)
    product = reduce_blocks(lambda x, row_ids: {"prod": {0: x}}, jnp.asarray(x))["prod"][0]
    np.testing.assert_allclose(product, np.prod(x, dtype=np.longdouble), rtol=1e-15 * num_rows)
    if num_rows <= LEAST_BLOCK:
        while len(x) > 1:
            half = (len(x) + 1) // 2
            x = np.append(x, 1.0)[: 2 * half]
            x = x[:half] * x[half:]
        assert product == x[0]
