# SPDX-License-Identifier: Apache-2.0
"""The GPT of the tutorials has one loss and one gradient: on one device and under every plan."""

import functools

import gpt
import jax
import numpy as np
import pytest
from jaxframes import shardings
from jaxframes.primitives import collective

CONFIG = gpt.Config(context=8, width=16, blocks=2)
TENSOR = ("model", shardings.transformer_rules("model"))
PLANS = {
    "data": (shardings.Plan("data"), {"data": 2}),
    "tensor": (shardings.Plan(tensor=TENSOR), {"model": 4}),
    "data, tensor": (shardings.Plan("data", TENSOR), {"data": 2, "model": 2}),
    "stages": (shardings.Plan(pipeline=("stage", 4)), {"stage": 2}),
    "all": (shardings.Plan("data", TENSOR, ("stage", 2)), {"data": 2, "model": 2, "stage": 2}),
}
PIPELINES = {"1f1b": collective.pipeline_1f1b, "gpipe": collective.pipeline_gpipe}

pytestmark = pytest.mark.usefixtures("x64_off")


@functools.cache
def parameters_and_batch():
    ids = gpt.characters()
    assert ids.max() < CONFIG.vocabulary
    return gpt.new_parameters(CONFIG), gpt.windows(ids, 8, CONFIG, seed=1)


@functools.cache
def of_one_device():
    params, batch = parameters_and_batch()
    loss = functools.partial(gpt.next_character_loss, config=CONFIG)
    return jax.device_get(jax.jit(jax.value_and_grad(loss))(params, *batch))


@pytest.mark.parametrize(
    ("plan", "pipeline"),
    [("data", "1f1b"), ("tensor", "1f1b"), ("data, tensor", "1f1b"), ("stages", "1f1b"),
     ("stages", "gpipe"), ("all", "1f1b")],
)  # fmt: skip
def test_loss_and_gradients_are_those_of_one_device(plan, pipeline):
    plan, sizes = PLANS[plan]
    devices = jax.devices()[: int(np.prod(list(sizes.values())))]
    mesh = shardings.mesh_spec(devices=devices, **sizes).build()
    params, batch = parameters_and_batch()
    if plan.pipeline is not None:
        params = collective.stack_stages(gpt.split_stages(params, sizes["stage"]))
    params = shardings.place(params, mesh, gpt.specs_of(params, plan, mesh))
    step = gpt.loss_and_gradients(CONFIG, plan.validate(mesh, 8), mesh, PIPELINES[pipeline])
    loss, gradients = jax.device_get(jax.jit(step)(params, *batch))
    if plan.pipeline is not None:
        # Stages that do not use a layer get no gradient for it.
        assert not gradients["embedding"][1:].any()
        assert not gradients["lm_head"]["kernel"][:-1].any()
        gradients = gpt.join_stages(gradients, sizes["stage"])

    expected_loss, expected = of_one_device()
    np.testing.assert_allclose(loss, expected_loss, rtol=1e-5)
    assert jax.tree.structure(gradients) == jax.tree.structure(expected)
    for (path, leaf), wanted in zip(
        jax.tree_util.tree_leaves_with_path(gradients), jax.tree.leaves(expected), strict=True
    ):
        largest = np.abs(wanted).max()
        assert largest > 0, path
        np.testing.assert_allclose(leaf, wanted, rtol=0, atol=1e-5 * largest, err_msg=str(path))
