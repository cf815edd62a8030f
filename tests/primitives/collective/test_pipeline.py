# SPDX-License-Identifier: Apache-2.0
"""Pipelines over stages: the losses and gradients without one, their memory and their messages."""

import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from compiled_program import CompiledProgram
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P
from jaxframes.primitives import collective

WIDTH = 16
VOCABULARY = 10
PIPELINES = {
    "1f1b": collective.pipeline_1f1b,
    "1f1b, kept": functools.partial(collective.pipeline_1f1b, remat=False),
    "gpipe": collective.pipeline_gpipe,
    "gpipe, remat": functools.partial(collective.pipeline_gpipe, remat=True),
}
all_pipelines = pytest.mark.parametrize("make", PIPELINES.values(), ids=PIPELINES)


def mesh_of(**sizes):
    return jax.make_mesh(
        tuple(sizes.values()), tuple(sizes), axis_types=(AxisType.Auto,) * len(sizes)
    )


# Gradients


def stages_of(num_stages, dtype=np.float32):
    rng = np.random.default_rng(0)
    shapes = {"w": (WIDTH, WIDTH), "b": (WIDTH,), "table": (VOCABULARY, WIDTH)}
    return [
        {name: (rng.standard_normal(shape) / 4).astype(dtype) for name, shape in shapes.items()}
        for _ in range(num_stages)
    ]


def batch_of(num_microbatches, num_rows=3, dtype=np.float32):
    rng = np.random.default_rng(1)
    tokens = rng.integers(0, VOCABULARY, (num_microbatches, num_rows), np.int32)
    xs = {"tokens": tokens, "h": np.zeros((num_microbatches, num_rows, WIDTH), dtype)}
    return xs, rng.integers(0, VOCABULARY, (num_microbatches, num_rows), np.int32)


def embedded(params, x, is_first):
    return jnp.where(is_first, params["table"][x["tokens"]], x["h"])


def layer(params, x, is_first):
    h = embedded(params, x, is_first)
    return {"tokens": x["tokens"], "h": h + jnp.tanh(h @ params["w"] + params["b"][None])}


def cross_entropy(params, y, t):
    logits = y["h"] @ params["table"].T
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), t[:, None], axis=1).mean()


def without_pipeline(params, xs, ts):
    num_stages = params["b"].shape[0]

    own = [jax.tree.map(lambda leaf, i=i: leaf[i], params) for i in range(num_stages)]

    def loss(x, t):
        for i in range(num_stages):
            x = layer(own[i], x, i == 0)
        return cross_entropy(own[-1], x, t)

    return jnp.mean(jax.vmap(loss)(xs, ts))


BY_STAGE, REPLICATED = P("stage"), P()


def pipelined(make, mesh, layer=layer, specs=BY_STAGE, data=REPLICATED):
    """The loss of each stage, and the stacked gradients."""

    def of_shard(params, xs, ts):
        def stage_fn(params, x):
            return layer(params, x, jax.lax.axis_index("stage") == 0)

        result = make(stage_fn, cross_entropy, axis_name="stage")(params, xs, ts)
        if "data" in mesh.axis_names:
            result = collective.pmean(result, axis_name="data")
        return result.loss[None], result.gradients

    return jax.jit(
        jax.shard_map(
            of_shard,
            mesh=mesh,
            in_specs=(specs, data, data),
            out_specs=(P("stage"), specs),
        )
    )


def assert_agree(result, params, xs, ts, tolerance=1e-5):
    losses, gradients = result
    loss, expected = jax.jit(jax.value_and_grad(without_pipeline))(params, xs, ts)
    np.testing.assert_allclose(losses, np.full(len(losses), loss), rtol=tolerance)
    for name, leaf in expected.items():
        np.testing.assert_allclose(gradients[name], leaf, rtol=tolerance, atol=tolerance)


@all_pipelines
@pytest.mark.parametrize(
    ("num_stages", "num_microbatches"), [(1, 1), (1, 3), (2, 1), (2, 5), (4, 2), (4, 8)]
)
def test_gradients_are_those_without_a_pipeline(make, num_stages, num_microbatches):
    params = collective.stack_stages(stages_of(num_stages))
    xs, ts = batch_of(num_microbatches)
    run = pipelined(make, mesh_of(stage=num_stages))
    assert_agree(run(params, xs, ts), params, xs, ts)


@all_pipelines
def test_data_and_stages_on_two_by_two(make):
    params = collective.stack_stages(stages_of(2))
    xs, ts = batch_of(4, num_rows=6)
    run = pipelined(make, mesh_of(data=2, stage=2), data=P(None, "data"))
    assert_agree(run(params, xs, ts), params, xs, ts)


@all_pipelines
def test_sharded_layers_inside_a_stage(make):
    params = collective.stack_stages(stages_of(2))
    xs, ts = batch_of(3)

    def sharded(params, x, is_first):
        h = embedded(params, x, is_first)
        hidden = jnp.tanh(collective.column_linear(h, params["w"], params["b"], axis_name="model"))
        gathered = collective.psum(_own_columns(hidden), axis_name="model")
        return {"tokens": x["tokens"], "h": h + gathered}

    specs = {"w": P("stage", None, "model"), "b": P("stage", "model"), "table": P("stage")}
    run = pipelined(make, mesh_of(stage=2, model=2), sharded, specs)
    assert_agree(run(params, xs, ts), params, xs, ts)


def _own_columns(part):
    """The columns of this shard, with zeros for those of the others."""
    whole = jnp.zeros_like(part, shape=(*part.shape[:-1], WIDTH))
    start = jax.lax.axis_index("model") * part.shape[-1]
    return jax.lax.dynamic_update_slice_in_dim(whole, part, start, -1)


@all_pipelines
def test_other_dtypes(make):
    params = collective.stack_stages(stages_of(2, np.float64))
    xs, ts = batch_of(3, dtype=np.float64)
    run = pipelined(make, mesh_of(stage=2))
    assert_agree(run(params, xs, ts), params, xs, ts, 1e-12)


# What is sent, and what is kept


def compiled(make, num_stages, num_microbatches):
    params = collective.stack_stages(stages_of(num_stages))
    run = pipelined(make, mesh_of(stage=num_stages))
    return run.lower(params, *batch_of(num_microbatches, num_rows=64)).compile()


@all_pipelines
def test_it_sends_to_neighbours_only(make):
    program = CompiledProgram(compiled(make, 4, 6).as_text())
    for other in ("all-reduce", "all-gather", "all-to-all", "reduce-scatter"):
        assert program.results(other) == []
    assert program.results("collective-permute")


@pytest.mark.parametrize("remat", [True, False])
def test_memory_of_1f1b_does_not_grow_with_the_microbatches(remat):
    make = functools.partial(collective.pipeline_1f1b, remat=remat)
    few, many = (compiled(make, 4, count).memory_analysis().temp_size_in_bytes for count in (4, 64))
    assert many <= 1.05 * few
    gpipe = compiled(collective.pipeline_gpipe, 4, 64).memory_analysis().temp_size_in_bytes
    assert gpipe > 2 * many


# Errors


W = np.ones((2, 3, 3), np.float32)
XS = np.ones((4, 2, 3), np.float32)


def multiply(w, x):
    return x @ w


def mean(w, y, t):
    return (y * t).mean()


@pytest.mark.checks_arguments
@pytest.mark.parametrize("name", ["pipeline_1f1b", "pipeline_gpipe"])
@pytest.mark.parametrize(
    ("stage_fn", "loss_fn", "arguments", "message"),
    [
        (
            lambda w, x: x[:, :2],
            mean,
            (W, XS, XS),
            "stage_fn must return the type of its input, because every stage runs it, got "
            "float32[2,2] for float32[2,3]. Map to that type before the pipeline and from it in "
            "loss_fn, for example an embedding and a head.",
        ),
        (
            multiply,
            lambda w, y, t: y,
            (W, XS, XS),
            "loss_fn must return one float, got float32[2,3]. Take the mean over the rows of the "
            "microbatch.",
        ),
        (
            multiply,
            mean,
            (W, XS, XS[:3]),
            "xs and ts must have the same leading axis, of one microbatch or more, got xs "
            "float32[4,2,3] and ts float32[3,2,3]. Reshape to (microbatches, rows, ...).",
        ),
        (
            multiply,
            mean,
            (W, XS[:0], XS[:0]),
            "xs and ts must have the same leading axis, of one microbatch or more, got xs "
            "float32[0,2,3] and ts float32[0,2,3]. Reshape to (microbatches, rows, ...).",
        ),
        (
            multiply,
            mean,
            ({"w": np.concatenate([W, W])}, XS, XS),
            "params['w'] must have a leading axis of length 1, this stage's part of stack_stages, "
            "got float32[2,3,3]{V:stage}. Shard the stacked parameters over the axis of the "
            "stages, one stage on each shard.",
        ),
        (
            multiply,
            mean,
            (W.astype(np.int32), XS, XS),
            "params must be floats, because it gets a gradient, got int32[1,3,3]{V:stage}. Let "
            "stage_fn close over it.",
        ),
        (
            lambda w, x: x * jax.lax.axis_index("model").astype(x.dtype),
            mean,
            (W, XS, XS),
            "stage_fn must return results that vary over the mesh axes of its input only, "
            "('stage',), got also ('model',). Sum partial results over that axis, for example with "
            "row_linear.",
        ),
    ],
)
def test_errors(name, stage_fn, loss_fn, arguments, message):
    run = getattr(collective, name)(stage_fn, loss_fn, axis_name="stage")
    mapped = jax.shard_map(
        run,
        mesh=mesh_of(stage=2, model=2),
        in_specs=(P("stage"), P(), P()),
        out_specs=P("stage"),
    )
    with pytest.raises((TypeError, ValueError)) as raised:
        jax.eval_shape(mapped, *arguments)
    assert str(raised.value) == f"{name}: {message}"


def test_outside_shard_map_it_says_so():
    message = (
        "pipeline_1f1b: it must be called inside jax.shard_map, got axis_name='stage' without any "
        "axis in scope. Map a function that calls it over a mesh with that axis."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        collective.pipeline_1f1b(multiply, mean, axis_name="stage")(W, XS, XS)
