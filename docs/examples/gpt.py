# SPDX-License-Identifier: Apache-2.0
"""A character GPT in plain JAX: on one device, with sharded weights, and in stages.

`next_character_loss` is the model. `loss_and_gradients` runs it over a mesh as a `Plan` says.
"""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec
from jaxframes import shardings
from jaxframes.primitives import collective

TEXT = Path(__file__).with_name("gettysburg.txt")
Tree = Any


@dataclasses.dataclass(frozen=True)
class Config:
    """Sizes of a model. A tensor axis must divide `vocabulary`, `width` and `heads`."""

    vocabulary: int = 32
    context: int = 32
    width: int = 32
    heads: int = 4
    blocks: int = 4


def characters() -> np.ndarray:
    """The ids of the characters of Lincoln's address, in lower case."""
    text = " ".join(TEXT.read_text().lower().split())
    return np.unique(list(text), return_inverse=True)[1].astype(np.int32)


def windows(ids: np.ndarray, rows: int, config: Config, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Random windows of a text, and the same windows one character later."""
    starts = np.random.default_rng(seed).integers(0, len(ids) - config.context, (rows, 1))
    positions = starts + np.arange(config.context)
    return ids[positions], ids[positions + 1]


# The model


def new_parameters(config: Config, seed: int = 0) -> Tree:
    """Random parameters, with the usual names of layers, as NumPy arrays."""
    rng = np.random.default_rng(seed)
    width, hidden = config.width, 4 * config.width

    def normal(inputs: int, outputs: int) -> np.ndarray:
        return rng.standard_normal((inputs, outputs), np.float32) / np.float32(inputs**0.5)

    def ones() -> np.ndarray:
        return np.ones(width, np.float32)

    def new_block() -> Tree:
        projections = ("q_proj", "k_proj", "v_proj", "o_proj")
        return {
            "attention_norm": ones(),
            "attention": {name: {"kernel": normal(width, width)} for name in projections},
            "mlp_norm": ones(),
            "mlp": {
                "up_proj": {"kernel": normal(width, hidden), "bias": np.zeros(hidden, np.float32)},
                "down_proj": {"kernel": normal(hidden, width), "bias": np.zeros(width, np.float32)},
            },
        }

    return {
        "embedding": normal(config.vocabulary, width),
        "positions": normal(config.context, width),
        "blocks": [new_block() for _ in range(config.blocks)],
        "norm": ones(),
        "lm_head": {"kernel": normal(width, config.vocabulary)},
    }


def column(x: jax.Array, layer: Tree, axis_name: str | None) -> jax.Array:
    """A linear layer with sharded columns; without an axis, one with whole weights."""
    kernel, bias = layer["kernel"], layer.get("bias")
    if axis_name is not None:
        return collective.column_linear(x, kernel, bias, axis_name=axis_name)
    return x @ kernel if bias is None else x @ kernel + bias[None, None]


def row(x: jax.Array, layer: Tree, axis_name: str | None) -> jax.Array:
    """A linear layer with sharded rows; without an axis, one with whole weights."""
    if axis_name is not None:
        return collective.row_linear(x, layer["kernel"], layer.get("bias"), axis_name=axis_name)
    return column(x, layer, None)


def normalize(x: jax.Array, scale: jax.Array) -> jax.Array:
    """Scales each row to a root mean square of `scale`."""
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale[None, None]


def attention(layers: Tree, x: jax.Array, config: Config, axis_name: str | None) -> jax.Array:
    """Causal attention; each shard has its part of the heads."""
    rows, length, width = x.shape
    # One matrix in place of three: the derivative by x then needs one all-reduce.
    projections = (layers[name] for name in ("q_proj", "k_proj", "v_proj"))
    joined = jax.tree.map(lambda *parts: jnp.concatenate(parts, -1), *projections)
    heads = column(x, joined, axis_name).reshape(rows, length, 3, -1, width // config.heads)
    q, k, v = (heads[:, :, i] for i in range(3))

    scores = jnp.einsum("rqhw,rkhw->rhqk", q, k) / np.float32((width // config.heads) ** 0.5)
    is_past = np.tri(length, dtype=bool)[None, None]
    weights = jax.nn.softmax(jnp.where(is_past, scores, -jnp.inf))
    mixed = jnp.einsum("rhqk,rkhw->rqhw", weights, v).reshape(rows, length, -1)
    return row(mixed, layers["o_proj"], axis_name)


def mlp(layers: Tree, x: jax.Array, axis_name: str | None) -> jax.Array:
    """Two layers; each shard has its part of the hidden features."""
    return row(jax.nn.gelu(column(x, layers["up_proj"], axis_name)), layers["down_proj"], axis_name)


def block(params: Tree, x: jax.Array, config: Config, axis_name: str | None) -> jax.Array:
    """One block of the transformer."""
    normalized = normalize(x, params["attention_norm"])
    x = x + attention(params["attention"], normalized, config, axis_name)
    return x + mlp(params["mlp"], normalize(x, params["mlp_norm"]), axis_name)


def embed(params: Tree, tokens: jax.Array, axis_name: str | None) -> jax.Array:
    """The features of characters; each shard has its rows of the table."""
    table = params["embedding"]
    if axis_name is None:
        features = table[tokens]
    else:
        own, is_own = own_rows(tokens, len(table), axis_name)
        part = jnp.where(is_own[..., None], table[own], 0)
        features = collective.psum(part, axis_name=axis_name)
    return features + params["positions"][None]


def own_rows(ids: jax.Array, count: int, axis_name: str) -> tuple[jax.Array, jax.Array]:
    """Where ids are among the `count` rows of this shard, and whether they are there."""
    own = ids - count * jax.lax.axis_index(axis_name)
    is_own = (own >= 0) & (own < count)
    return jnp.where(is_own, own, 0), is_own


def cross_entropy(
    params: Tree, x: jax.Array, targets: jax.Array, axis_name: str | None
) -> jax.Array:
    """The mean loss of the next characters; each shard has the scores of its characters."""
    scores = column(normalize(x, params["norm"]), params["lm_head"], axis_name)
    if axis_name is None:
        of_target = jnp.take_along_axis(scores, targets[..., None], -1)[..., 0]
        return jnp.mean(jax.nn.logsumexp(scores, -1) - of_target)
    largest = collective.pmax(jax.lax.stop_gradient(scores.max(-1)), axis_name=axis_name)
    own, is_own = own_rows(targets, scores.shape[-1], axis_name)
    of_target = jnp.where(is_own, jnp.take_along_axis(scores, own[..., None], -1)[..., 0], 0)
    parts = jnp.exp(scores - largest[..., None]).sum(-1), of_target
    total, of_target = collective.psum(parts, axis_name=axis_name)
    return jnp.mean(jnp.log(total) + largest - of_target)


def next_character_loss(
    params: Tree,
    tokens: jax.Array,
    targets: jax.Array,
    config: Config,
    axis_name: str | None = None,
) -> jax.Array:
    """The mean loss of the next characters; without an axis, of whole weights on one device."""
    x = embed(params, tokens, axis_name)
    for of_block in params["blocks"]:
        x = block(of_block, x, config, axis_name)
    return cross_entropy(params, x, targets, axis_name)


# Over a mesh


def specs_of(tree: Tree, plan: shardings.Plan, mesh: Mesh) -> Tree:
    """The partition specs of parameters, or of a state of the optimizer, which has their names."""
    stage = () if plan.pipeline is None else plan.pipeline[:1]
    rules = {glob: PartitionSpec(*stage, *spec) for glob, spec in plan.rules.items()}
    default = PartitionSpec(*stage)
    return shardings.match_specs(rules, tree, mesh, default=default, unmatched="ignore")


def mean_loss(config: Config, plan: shardings.Plan, mesh: Mesh) -> Callable[..., jax.Array]:
    """Makes the function of parameters, tokens and targets that is the mean loss, over a mesh."""
    tensor = plan.axes.get("tensor")

    def of_shard(params: Tree, tokens: jax.Array, targets: jax.Array) -> jax.Array:
        loss = next_character_loss(params, tokens, targets, config, tensor)
        return loss if plan.data is None else collective.pmean(loss, axis_name=plan.data)

    def of_batch(params: Tree, tokens: jax.Array, targets: jax.Array) -> jax.Array:
        rows = PartitionSpec(plan.data)
        in_specs = (specs_of(params, plan, mesh), rows, rows)
        mapped = jax.shard_map(of_shard, mesh=mesh, in_specs=in_specs, out_specs=PartitionSpec())
        return mapped(params, tokens, targets)

    return of_batch


# In stages


def split_stages(params: Tree, num_stages: int) -> list[Tree]:
    """The parameters of each stage: its blocks, and the other layers, which one stage uses."""
    per_stage, remaining = divmod(len(params["blocks"]), num_stages)
    if remaining:
        raise ValueError(
            f"split_stages: every stage must have the same number of blocks, got "
            f"{len(params['blocks'])} blocks for {num_stages} stages."
        )
    return [
        {**params, "blocks": params["blocks"][stage * per_stage :][:per_stage]}
        for stage in range(num_stages)
    ]


def join_stages(stacked: Tree, num_stages: int) -> Tree:
    """Inverts `stack_stages` of `split_stages`; the first and the last stage have the ends."""
    stages = [jax.tree.map(lambda leaf, i=i: leaf[i], stacked) for i in range(num_stages)]
    first, last = stages[0], stages[-1]
    return {
        "embedding": first["embedding"],
        "positions": first["positions"],
        "blocks": [block for stage in stages for block in stage["blocks"]],
        "norm": last["norm"],
        "lm_head": last["lm_head"],
    }


def pipelined(
    config: Config,
    plan: shardings.Plan,
    mesh: Mesh,
    pipeline: Callable[..., Any] = collective.pipeline_1f1b,
) -> Callable[..., tuple[jax.Array, Tree]]:
    """Makes the function of stacked parameters, tokens and targets: the mean loss and gradients."""
    stage_axis, tensor = plan.axes["pipeline"], plan.axes.get("tensor")

    def stage_fn(params: Tree, x: Tree) -> Tree:
        is_first = jax.lax.axis_index(stage_axis) == 0
        h = jax.lax.cond(is_first, lambda: embed(params, x["tokens"], tensor), lambda: x["h"])
        for of_block in params["blocks"]:
            h = block(of_block, h, config, tensor)
        return {"tokens": x["tokens"], "h": h}

    def loss_fn(params: Tree, y: Tree, targets: jax.Array) -> jax.Array:
        return cross_entropy(params, y["h"], targets, tensor)

    def of_shard(params: Tree, tokens: jax.Array, targets: jax.Array) -> tuple[jax.Array, Tree]:
        tokens, targets = (
            ids.reshape(plan.microbatches, -1, config.context) for ids in (tokens, targets)
        )
        xs = {"tokens": tokens, "h": jnp.zeros((*tokens.shape, config.width), jnp.float32)}
        run = pipeline(stage_fn, loss_fn, axis_name=stage_axis)
        loss, gradients = run(params, xs, targets)
        if plan.data is not None:
            loss, gradients = collective.pmean((loss, gradients), axis_name=plan.data)
        # All stages have the same loss; their mean says so to shard_map.
        return collective.pmean(loss, axis_name=stage_axis), gradients

    def of_batch(params: Tree, tokens: jax.Array, targets: jax.Array) -> tuple[jax.Array, Tree]:
        specs, rows = specs_of(params, plan, mesh), PartitionSpec(plan.data)
        out_specs = (PartitionSpec(), specs)
        mapped = jax.shard_map(
            of_shard, mesh=mesh, in_specs=(specs, rows, rows), out_specs=out_specs
        )
        return mapped(params, tokens, targets)

    return of_batch


def loss_and_gradients(
    config: Config,
    plan: shardings.Plan,
    mesh: Mesh,
    pipeline: Callable[..., Any] = collective.pipeline_1f1b,
) -> Callable[..., tuple[jax.Array, Tree]]:
    """Makes the function of parameters, tokens and targets that trains as a plan says."""
    if plan.pipeline is None:
        return jax.value_and_grad(mean_loss(config, plan, mesh))
    return pipelined(config, plan, mesh, pipeline)
