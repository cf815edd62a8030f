# SPDX-License-Identifier: Apache-2.0
"""A mixture-of-experts layer: on one device, over a mesh, and with two argsorts."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P
from jaxframes.primitives import collective, local

Array: TypeAlias = jax.Array
Parameters: TypeAlias = dict[str, Array]
EXPERTS_OF_TOKEN = 2


class Mixed(NamedTuple):
    """The tokens after the layer, and the number of copies of tokens for each expert."""

    tokens: Array
    counts: Array


def new_parameters(width: int, num_experts: int, seed: int = 0) -> Parameters:
    """Random weights: a router, and two matrices for each expert."""
    keys = jax.random.split(jax.random.key(seed), 3)
    shapes = {
        "router": (width, num_experts),
        "up": (num_experts, width, 2 * width),
        "down": (num_experts, 2 * width, width),
    }
    return {
        name: jax.random.normal(key, shape) / np.sqrt(shape[-2])
        for key, (name, shape) in zip(keys, shapes.items(), strict=True)
    }


def route(tokens: Array, router: Array) -> tuple[Array, Array]:
    """The experts of each token, and their weights, which add up to one."""
    weights, experts = jax.lax.top_k(jax.nn.softmax(tokens @ router), EXPERTS_OF_TOKEN)
    return weights / weights.sum(axis=1, keepdims=True), experts


def feed_forward(blocks: Array, params: Parameters) -> Array:
    """Applies each expert to its own block of rows, `(experts, capacity, width)`."""
    hidden = jax.nn.gelu(jnp.einsum("ecw,ewh->ech", blocks, params["up"]))
    return jnp.einsum("ech,ehw->ecw", hidden, params["down"])


def layer(params: Parameters, tokens: Array, capacity: int) -> Mixed:
    """The layer on one device, with `capacity` copies of tokens for each expert."""
    weights, experts = route(tokens, params["router"])
    num_experts = params["up"].shape[0]
    sent = local.dispatch_to_experts(tokens, experts, num_experts, capacity=capacity)
    results = feed_forward(sent.rows, params)
    return Mixed(local.combine_from_experts(results, sent.slots, weights), sent.counts)


def layer_over_shards(params: Parameters, tokens: Array, capacity: int, axis_name: str) -> Mixed:
    """The layer inside `shard_map`: a shard has some of the tokens and some of the experts.

    A copy of each token travels to the shard of each of its experts, and the result returns.
    """
    weights, experts = route(tokens, params["router"])
    of_shard = params["up"].shape[0]
    num_experts = of_shard * jax.lax.axis_size(axis_name)

    def apply_experts(rows: Any, count: Array) -> Array:
        copies, ids = rows
        sent = local.dispatch_to_experts(copies, ids, of_shard, capacity=capacity, num_valid=count)
        return local.combine_from_experts(feed_forward(sent.rows, params), sent.slots)

    ids = experts.reshape(-1)
    copies = jnp.repeat(tokens, EXPERTS_OF_TOKEN, axis=0)
    answered = collective.exchange_by_owner(
        apply_experts,
        (copies, ids % of_shard),
        ids // of_shard,
        axis_name=axis_name,
        capacity=of_shard * capacity,
    )
    results = answered.rows.reshape(*experts.shape, -1)
    counts = collective.segment_count(ids, num_experts, axis_name=axis_name)
    return Mixed((results * weights[:, :, None]).sum(axis=1), counts)


def over_mesh(mesh: Mesh) -> Callable[[Parameters, Array, int], Mixed]:
    """The layer with tokens and experts over the devices of a mesh."""
    (axis_name,) = mesh.axis_names
    specs = {"router": P(), "up": P(axis_name), "down": P(axis_name)}
    out_specs: Any = P(axis_name), P()

    def mapped_layer(params: Parameters, tokens: Array, capacity: int) -> Mixed:
        mapped = jax.shard_map(
            functools.partial(layer_over_shards, capacity=capacity, axis_name=axis_name),
            mesh=mesh,
            in_specs=(specs, P(axis_name)),
            out_specs=Mixed(*out_specs),
        )
        return mapped(params, tokens)

    return mapped_layer


def plain_layer(params: Parameters, tokens: Array, capacity: int) -> Mixed:
    """The layer of `jax.numpy` alone."""
    weights, experts = route(tokens, params["router"])
    blocks, places, counts = plain_dispatch(tokens, experts, params["up"].shape[0], capacity)
    return Mixed(plain_combine(feed_forward(blocks, params), places, weights), counts)


def plain_dispatch(
    tokens: Array, experts: Array, num_experts: int, capacity: int
) -> tuple[Array, Array, Array]:
    """Blocks of tokens, the place of each copy in them, and counts, by two argsorts."""
    ids = experts.reshape(-1)
    order = jnp.argsort(ids, stable=True)
    rank = jnp.argsort(order, stable=True)
    counts = jnp.bincount(ids, length=num_experts)
    first = jnp.cumsum(counts) - counts
    slot = rank - first[ids]
    places = jnp.where(slot < capacity, ids * capacity + slot, num_experts * capacity)
    sources = first[:, None] + jnp.arange(capacity)
    is_row = jnp.arange(capacity) < counts[:, None]
    copies = tokens.at[order[sources] // experts.shape[1]].get(mode="clip")
    blocks = jnp.where(is_row[:, :, None], copies, 0)
    return blocks, places.reshape(experts.shape), counts


def plain_combine(results: Array, places: Array, weights: Array) -> Array:
    """The weighted sum of the results of each token's experts."""
    flat = results.reshape(-1, results.shape[-1])
    copies = flat.at[places].get(mode="fill", fill_value=0)
    return (copies * weights[:, :, None]).sum(axis=1)
