# SPDX-License-Identifier: Apache-2.0
"""A click model: from a Parquet file to hashed features, embeddings and their sparse updates."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P
from jaxframes.frame import JaxFrame, scan_parquet
from jaxframes.primitives import collective, local
from jaxframes.primitives.local import Ragged

Array: TypeAlias = jax.Array
RATE = 0.1


class State(NamedTuple):
    """The table of embeddings, and the sums of their squared gradients, for Adagrad."""

    table: Array
    squares: Array


class Examples(NamedTuple):
    """The rows of the table of each view, `(views, features)`, and whether it was clicked."""

    ids: Array
    clicked: Array


def write_views(path: Path, num_views: int, seed: int = 0) -> None:
    """Views of advertisements: some users like some sites, and few click."""
    rng = np.random.default_rng(seed)
    user = (500 * rng.random(num_views) ** 2).astype(np.int32)
    site = rng.integers(0, 50, num_views)
    likes = (user * 7 + site * 13) % 10 < 3
    clicked = rng.random(num_views) < np.where(likes, 0.7, 0.05)
    columns = {
        "user": user,
        "site": np.array([f"site-{number}.example" for number in range(50)])[site],
        "hour": rng.integers(0, 24, num_views).astype(np.int32),
        "is_robot": rng.random(num_views) < 0.2,
        "clicked": clicked,
    }
    pd.DataFrame(columns).to_parquet(path, row_group_size=num_views // 4)


def read_views(path: Path) -> JaxFrame:
    """The views of people, in the columns that the model needs; the others are not read."""
    views = scan_parquet(path).query("not is_robot")
    return views[["user", "site", "hour", "clicked"]].collect()


def hash_strings(strings: Any) -> tuple[Array, Array]:
    """The hash of each string's bytes, 64 bits in two columns, the same for any file."""
    encoded = [string.encode() for string in strings]
    values = np.frombuffer(b"".join(encoded), np.uint8)
    lengths = np.array([len(one) for one in encoded], np.int32)
    return local.hash_rows(Ragged.from_lengths(values, lengths))


def hash_features(views: JaxFrame, num_rows: int) -> Examples:
    """The rows of the table for the user, the site, the hour, and the user on the site."""
    sites = views["site"].astype("category").cat
    codes = sites.codes.to_jax().astype(jnp.int32)
    site = tuple(half[codes] for half in hash_strings(sites.categories))
    user, hour = views["user"].to_jax(), views["hour"].to_jax()
    features = (user,), site, (hour,), (user, *site)
    ids = [
        # The number of the feature is the seed: user 7 and hour 7 have different rows.
        local.hash_rows(feature, seed=i)[1] % num_rows
        for i, feature in enumerate(features)
    ]
    clicked = views["clicked"].to_jax().astype(jnp.float32)
    return Examples(jnp.stack(ids, axis=1).astype(jnp.int32), clicked)


def new_state(num_rows: int, width: int, seed: int = 0) -> State:
    """A table of small random embeddings."""
    table = 0.1 * jax.random.normal(jax.random.key(seed), (num_rows, width))
    return State(table, jnp.full_like(table, 1e-6))


def loss(rows: Array, clicked: Array) -> Array:
    """The mean cross entropy of views from their looked-up rows, `(views, features, width)`.

    The first entry of a row is a weight of its own, the others are multiplied in pairs.
    """
    sums = rows[:, :, 1:].sum(axis=1)
    pairs = (sums**2 - (rows[:, :, 1:] ** 2).sum(axis=1)).sum(axis=1) / 2
    logits = rows[:, :, 0].sum(axis=1) + pairs
    return jnp.mean(jax.nn.softplus(logits) - clicked * logits)


def update(state: State, ids: Array, slopes: Array, num_valid: Array | None = None) -> State:
    """A step of Adagrad for the rows of a batch alone, with one gradient for each distinct row."""
    runs = local.reduce_by_key(ids, slopes, "sum", num_valid=num_valid)
    is_run = jnp.arange(len(ids)) < runs.num_runs
    # Rows past the last run are past the table, where nothing is written.
    at = jnp.where(is_run, runs.unique_keys, len(state.table))
    squares = state.squares.at[at].add(runs.values**2, mode="drop")
    scale = RATE * jax.lax.rsqrt(squares.at[at].get(mode="fill", fill_value=1))
    return State(state.table.at[at].add(-scale * runs.values, mode="drop"), squares)


def step(state: State, batch: Examples) -> tuple[State, Array]:
    """The state after one batch, and its loss."""
    value, slopes = jax.value_and_grad(loss)(state.table[batch.ids], batch.clicked)
    return update(state, batch.ids.ravel(), slopes.reshape(batch.ids.size, -1)), value


def plain_step(state: State, batch: Examples) -> tuple[State, Array]:
    """`step` with the gradient of the whole table."""

    def loss_of_table(table: Array) -> Array:
        return loss(table[batch.ids], batch.clicked)

    value, slopes = jax.value_and_grad(loss_of_table)(state.table)
    squares = state.squares + slopes**2
    return State(state.table - RATE * slopes * jax.lax.rsqrt(squares), squares), value


def step_over_mesh(mesh: Mesh) -> Callable[[State, Examples], tuple[State, Array]]:
    """`step` with the rows of the table, and the views of a batch, over the devices of a mesh."""
    (axis_name,) = mesh.axis_names
    by_rows = P(axis_name)

    @functools.partial(
        jax.shard_map, mesh=mesh, in_specs=(by_rows, by_rows), out_specs=(by_rows, P())
    )
    def mapped(state: State, batch: Examples) -> tuple[State, Array]:
        of_shard = len(state.table)
        ids = batch.ids.ravel()
        most = mesh.size * len(ids)
        found = collective.exchange_by_owner(
            lambda ids, count: state.table[ids],
            ids % of_shard,
            ids // of_shard,
            axis_name=axis_name,
            capacity=most,
        )
        rows = found.rows.reshape(*batch.ids.shape, -1)
        value, slopes = jax.value_and_grad(loss)(rows, batch.clicked)
        # The loss of the batch is the mean over the shards.
        slopes = slopes.reshape(ids.size, -1) / mesh.size
        sent = collective.partition(
            (ids % of_shard, slopes), ids // of_shard, axis_name=axis_name, capacity=most
        )
        received, slopes = sent.rows
        return update(state, received, slopes, sent.count), jax.lax.pmean(value, axis_name)

    return mapped


def train(
    step: Callable[[State, Examples], tuple[State, Array]],
    state: State,
    examples: Examples,
    batch_size: int,
) -> tuple[State, Array]:
    """The state after one pass over the examples, and the losses."""
    num_batches = len(examples.clicked) // batch_size

    def batches(leaf: Array) -> Array:
        return leaf[: num_batches * batch_size].reshape(num_batches, batch_size, *leaf.shape[1:])

    return jax.lax.scan(step, state, jax.tree.map(batches, examples))
