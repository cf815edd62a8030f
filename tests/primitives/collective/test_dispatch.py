# SPDX-License-Identifier: Apache-2.0
"""Tokens to their experts and back, against a dense layer."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jax.sharding import PartitionSpec as P
from jaxframes.primitives import collective, local
from on_shards import mesh_of, on_shards

NUM_SHARDS = 8
# The shape of public layers, 32,768 tokens of width 5,120 to two of 32 experts, scaled down.
NUM_TOKENS, WIDTH, NUM_EXPERTS, HIDDEN = 64, 10, 32, 16
ROUTINGS = ("uniform", "zipf", "all to one")


def experts_of(routing, num_tokens=NUM_SHARDS * NUM_TOKENS):
    """Two experts of each token."""
    rng = np.random.default_rng(0)
    if routing == "all to one":
        first = np.full(num_tokens, 5)
    else:
        weights = 1 / np.arange(1, NUM_EXPERTS + 1) if routing == "zipf" else np.ones(NUM_EXPERTS)
        first = rng.choice(NUM_EXPERTS, num_tokens, p=weights / weights.sum())
    second = (first + rng.integers(1, NUM_EXPERTS, num_tokens)) % NUM_EXPERTS
    return np.stack([first, second], 1).astype(np.int32)


def batch(routing):
    rng = np.random.default_rng(1)
    x = rng.standard_normal((NUM_SHARDS * NUM_TOKENS, WIDTH))
    weights = rng.random((len(x), 2))
    params = {
        "up": rng.standard_normal((NUM_EXPERTS, WIDTH, HIDDEN)),
        "down": rng.standard_normal((NUM_EXPERTS, HIDDEN, WIDTH)),
    }
    return params, x, experts_of(routing), weights


def dense(params, x, experts, weights):
    hidden = jnp.tanh(jnp.einsum("td,edh->teh", x, params["up"]))
    y = jnp.einsum("teh,ehd->ted", hidden, params["down"])
    return (jnp.take_along_axis(y, experts[:, :, None], 1) * weights[:, :, None]).sum(1)


def sparse_of_shard(params, x, experts, weights, capacity):
    num_own = params["up"].shape[0]
    flat = experts.reshape(-1)
    copies = {"x": jnp.repeat(x, 2, axis=0), "expert": flat % num_own}
    sent = collective.dispatch(copies, flat // num_own, axis_name="rows", capacity=capacity)
    order, inverse, offsets = local.bucket_order(sent.rows["expert"], num_own, num_valid=sent.count)
    counts = jnp.diff(offsets)
    hidden = jnp.tanh(jax.lax.ragged_dot(sent.rows["x"][order], params["up"], counts))
    y = jax.lax.ragged_dot(hidden, params["down"], counts)[inverse]
    back = collective.combine(y, sent.routing).reshape(-1, 2, WIDTH)
    return (back * weights[:, :, None]).sum(1), sent.count[None]


def sparse(capacity):
    return jax.jit(
        jax.shard_map(
            functools.partial(sparse_of_shard, capacity=capacity),
            mesh=mesh_of(NUM_SHARDS),
            in_specs=P("rows"),
            out_specs=P("rows"),
        )
    )


ALL = 2 * NUM_SHARDS * NUM_TOKENS


@pytest.mark.parametrize("routing", ROUTINGS)
def test_a_mixture_of_experts_is_the_dense_one(routing):
    arguments = batch(routing)
    y, counts = sparse(ALL)(*arguments)
    np.testing.assert_allclose(y, dense(*arguments), rtol=1e-6, atol=1e-6)
    owners = arguments[2].reshape(-1) // (NUM_EXPERTS // NUM_SHARDS)
    np.testing.assert_array_equal(counts, np.bincount(owners, minlength=NUM_SHARDS))

    def gradient(layer):
        loss = lambda params, x: (layer(params, x, *arguments[2:]) ** 2).mean()  # noqa: E731
        return jax.jit(jax.grad(loss, argnums=(0, 1)))(*arguments[:2])

    actual = gradient(lambda *args: sparse(ALL)(*args)[0])
    jax.tree.map(
        functools.partial(np.testing.assert_allclose, rtol=1e-6, atol=1e-8),
        actual,
        gradient(dense),
    )


@pytest.mark.parametrize("routing", ROUTINGS)
@pytest.mark.parametrize("capacity", [0, 1, 40, 2 * NUM_TOKENS, ALL])
def test_no_row_is_lost_that_fits_and_the_count_is_exact(routing, capacity):
    destination = experts_of(routing)[:, 0].reshape(NUM_SHARDS, -1) % NUM_SHARDS
    destination[:, ::7] = -1
    rows = 1 + np.arange(destination.size, dtype=np.int32).reshape(destination.shape)

    def there_and_back(rows, destination):
        sent = collective.dispatch(rows, destination, axis_name="rows", capacity=capacity)
        return sent.rows, sent.count, collective.combine(-sent.rows, sent.routing)

    received, counts, back = on_shards(there_and_back, NUM_SHARDS)(rows, destination)
    expected = np.zeros_like(rows)
    for shard in range(NUM_SHARDS):
        wanted = rows[destination == shard]
        assert counts[shard] == len(wanted)
        fitting = wanted[:capacity]
        np.testing.assert_array_equal(received[shard][: len(fitting)], fitting)
        expected[np.isin(rows, fitting)] = -rows[np.isin(rows, fitting)]
    np.testing.assert_array_equal(back, expected)


@pytest.mark.parametrize("transport", ["auto", "one_hop", "two_hop"])
@pytest.mark.parametrize("num_shards", [1, 3, 8])
def test_every_bit_returns_with_padding_and_other_dtypes(num_shards, transport):
    num_rows, num_valid = 9, 7
    rng = np.random.default_rng(0)
    rows = {
        "x": np.array([-0.0, np.nan, np.inf])[rng.integers(0, 3, (num_shards, num_rows))],
        "flag": rng.random((num_shards, num_rows)) < 0.5,
        "half": rng.standard_normal((num_shards, num_rows, 2)).astype(jnp.bfloat16),
        "empty": np.zeros((num_shards, num_rows, 0), np.int8),
    }
    destination = rng.integers(0, num_shards, (num_shards, num_rows)).astype(np.int16)

    def there_and_back(rows, destination):
        sent = collective.dispatch(
            rows,
            destination,
            axis_name="rows",
            capacity=num_shards * num_rows,
            num_valid=num_valid,
            transport=transport,
        )
        return collective.combine(sent.rows, sent.routing)

    back = on_shards(there_and_back, num_shards)(rows, destination)
    is_row = np.arange(num_rows) < num_valid
    expected = jax.tree.map(
        lambda leaf: np.where(
            is_row.reshape(1, -1, *[1] * (leaf.ndim - 2)), leaf, np.zeros_like(leaf)
        ),
        rows,
    )
    oracles.assert_same_bits(back, expected)


# Errors


@pytest.mark.checks_arguments
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda x: collective.dispatch(x, x, axis_name="rows"),
            "dispatch: destination must be integers, got float64[4]{V:rows}.",
        ),
        (
            lambda x: collective.dispatch(x, jnp.arange(3), axis_name="rows"),
            "dispatch: destination must have one entry for each of the 4 rows, got int64[3].",
        ),
        (
            lambda x: collective.dispatch(x, jnp.arange(4), axis_name="expert"),
            "dispatch: axis_name must be among the axes of the enclosing jax.shard_map, ('rows',), "
            "got 'expert'. Choose one of them.",
        ),
        (
            lambda x: collective.combine(
                x[:3], collective.dispatch(x, jnp.arange(4), axis_name="rows").routing
            ),
            "combine: every leaf of rows must have 4 rows along its leading axis, got "
            "float64[3]{V:rows}.",
        ),
        (
            lambda x: collective.combine(x, x),
            "combine: routing must be that of dispatch, got float64[4]{V:rows}.",
        ),
        (
            lambda x: collective.exchange_by_owner(lambda x, _: x, x, x, axis_name="rows").rows,
            "exchange_by_owner: owner must be integers, got float64[4]{V:rows}.",
        ),
        (
            lambda x: (
                collective.exchange_by_owner(
                    lambda x, _: x[1:], x, jnp.arange(4), axis_name="rows"
                ).rows
            ),
            "exchange_by_owner: every leaf of the result of function must have 4 rows along its "
            "leading axis, got float64[3]{V:rows}.",
        ),
    ],
)
def test_errors(call, message):
    mapped = jax.shard_map(call, mesh=mesh_of(2), in_specs=P("rows"), out_specs=P("rows"))
    with pytest.raises((TypeError, ValueError)) as raised:
        jax.eval_shape(mapped, np.ones(8))
    assert str(raised.value) == message
