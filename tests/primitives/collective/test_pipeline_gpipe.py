# SPDX-License-Identifier: Apache-2.0
"""Two stages that multiply, with all forward passes first: the derivatives by hand."""

import functools

import numpy as np
import pytest
from jaxframes.primitives import collective
from on_shards import on_shards
from product_pipeline import FACTORS, TARGETS, expected, loss, multiply, of_stages


@pytest.mark.parametrize("remat", [False, True])
def test_losses_and_gradients_are_those_of_the_product(remat):
    train = collective.pipeline_gpipe(multiply, loss, axis_name="rows", remat=remat)
    found = on_shards(train, 2, compiler_options=None)(*of_stages())
    value, gradients = expected()
    np.testing.assert_allclose(found.loss, [value, value], rtol=1e-14)
    np.testing.assert_allclose(found.gradients[:, 0], gradients, rtol=1e-14)


def test_a_stage_alone_is_a_model_without_a_pipeline():
    train = functools.partial(collective.pipeline_gpipe, multiply, loss, axis_name="rows")
    factors, xs, targets = of_stages()
    found = on_shards(train(), 1, compiler_options=None)(factors[:1], xs[:1], targets[:1])
    errors = FACTORS[0] * xs[0] - TARGETS
    np.testing.assert_allclose(found.loss, [np.square(errors).mean()], rtol=1e-14)
    np.testing.assert_allclose(found.gradients[:, 0], [(2 * errors * xs[0]).mean()], rtol=1e-14)
