# SPDX-License-Identifier: Apache-2.0
"""A gather by two sorts takes what a gather takes."""

import jax
import numpy as np
import oracles
import pytest
from jaxframes.primitives.kernels.move import _gather_by_sorts

gather = jax.jit(_gather_by_sorts.gather_by_sorts)


@pytest.mark.parametrize("num_rows", [1, 2, 40])
@pytest.mark.parametrize("num_ids", [0, 1, 3, 40, 90])
def test_rows_come_in_the_order_of_their_ids(num_rows, num_ids):
    rng = np.random.default_rng(num_ids)
    # The differences of neighbours wrap around.
    columns = tuple(rng.integers(-(2**31), 2**31 - 1, (2, num_rows)).astype(np.int32))
    for row_ids in (rng.integers(0, num_rows, num_ids), np.full(num_ids, num_rows - 1)):
        row_ids = row_ids.astype(np.int32)
        for got, column in zip(gather(columns, row_ids), columns, strict=True):
            oracles.assert_same_bits(got, column[row_ids])
