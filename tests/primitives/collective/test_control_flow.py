# SPDX-License-Identifier: Apache-2.0
"""A branch gives the results of the function that it takes."""

import jax
import numpy as np
import oracles
import pytest
from jaxframes.primitives.collective._control_flow import choose


@pytest.mark.usefixtures("like_a_tpu")
def test_matrices_enter_and_leave_a_branch_unchanged():
    matrix, vector = np.arange(6, dtype=np.float32).reshape(3, 2), np.arange(4)

    def doubled(operands, *rest):
        return operands[0] * 2, operands[1], *rest

    def with_a_row_more(operands, *rest):
        return operands[0] + operands[0][:1], operands[1] * 3, *rest

    def run(is_first):
        operands = (matrix, vector)
        return choose(is_first, doubled, with_a_row_more, operands, np.float32(7))

    for is_first, one in ((True, doubled), (False, with_a_row_more)):
        expected = one((matrix, vector), np.float32(7))
        oracles.assert_same_bits(jax.jit(run)(is_first), expected)
