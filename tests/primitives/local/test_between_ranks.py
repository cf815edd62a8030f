# SPDX-License-Identifier: Apache-2.0
"""Interpolations between two neighbouring rows, against NumPy."""

from typing import get_args

import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives.local._between_ranks import (
    Interpolation,
    between_ranks,
    from_nearer_end,
)


@pytest.mark.parametrize("interpolation", get_args(Interpolation))
@pytest.mark.parametrize("q", [0.0, 0.25, 0.5, 0.75, 1.0])
def test_quantiles_of_rows_are_those_of_numpy(q, interpolation):
    rows = np.array([1.0, 4.0, 9.0, 16.0, 25.0], np.float32)
    rank = int(q * 4)
    low, high = rows[rank], rows[min(rank + 1, 4)]
    fraction = jnp.float32(q * 4 - rank)
    found = between_ranks(
        jnp.float32(low), jnp.float32(high), fraction, jnp.bool_(rank % 2), interpolation,
        from_nearer_end,
    )  # fmt: skip
    np.testing.assert_allclose(found, np.quantile(rows, q, method=interpolation), rtol=1e-6)
