# SPDX-License-Identifier: Apache-2.0
"""Two stages that multiply, with a forward and a backward pass in each tick: derivatives by hand.

One microbatch, fewer than stages need to fill, and more.
"""

import numpy as np
import pytest
from jaxframes.primitives import collective
from on_shards import on_shards
from product_pipeline import expected, loss, multiply, of_stages


@pytest.mark.parametrize("remat", [False, True])
@pytest.mark.parametrize("num_microbatches", [1, 2, 5])
def test_losses_and_gradients_are_those_of_the_product(remat, num_microbatches):
    train = collective.pipeline_1f1b(multiply, loss, axis_name="rows", remat=remat)
    found = on_shards(train, 2, compiler_options=None)(*of_stages(num_microbatches))
    value, gradients = expected(num_microbatches)
    np.testing.assert_allclose(found.loss, [value, value], rtol=1e-14)
    np.testing.assert_allclose(found.gradients[:, 0], gradients, rtol=1e-14)
