# SPDX-License-Identifier: Apache-2.0
"""Layers with sharded weights: the dense results and derivatives, and the messages they send."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from compiled_program import CompiledProgram
from jax.sharding import PartitionSpec as P
from jaxframes.primitives import collective
from on_shards import mesh_of

NUM_SHARDS = 4
MESSAGES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")


def parameters():
    rng = np.random.default_rng(0)
    shapes = {"w1": (6, 8), "b1": (8,), "w2": (8, 5), "b2": (5,)}
    return {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


SPECS = {"w1": P(None, "rows"), "b1": P("rows"), "w2": P("rows"), "b2": P()}
TOKENS = np.random.default_rng(1).standard_normal((2, 8, 6)).astype(np.float32)


def dense(weights, x):
    hidden = jnp.tanh(x @ weights["w1"] + weights["b1"][None, None])
    return hidden @ weights["w2"] + weights["b2"][None, None]


def pair(is_scattered):
    """Two layers over the shards; `is_scattered` shards the tokens between the pairs."""

    def of_shard(weights, x):
        axis = 1 if is_scattered else None
        column = functools.partial(collective.column_linear, gather_axis=axis)
        row = functools.partial(collective.row_linear, scatter_axis=axis)
        hidden = jnp.tanh(column(x, weights["w1"], weights["b1"], axis_name="rows"))
        return row(hidden, weights["w2"], weights["b2"], axis_name="rows")

    spec = P(None, "rows") if is_scattered else P()
    return jax.jit(
        jax.shard_map(of_shard, mesh=mesh_of(NUM_SHARDS), in_specs=(SPECS, spec), out_specs=spec)
    )


@pytest.mark.parametrize("is_scattered", [False, True])
def test_a_pair_equals_the_dense_layers(is_scattered):
    weights = parameters()
    run = pair(is_scattered)
    np.testing.assert_allclose(run(weights, TOKENS), dense(weights, TOKENS), rtol=1e-5, atol=1e-5)

    def derivative(function):
        return jax.jit(jax.grad(lambda *args: (function(*args) ** 2).sum(), argnums=(0, 1)))

    expected = derivative(dense)(weights, TOKENS)
    for actual, wanted in zip(
        jax.tree.leaves(derivative(run)(weights, TOKENS)), jax.tree.leaves(expected), strict=True
    ):
        np.testing.assert_allclose(actual, wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())


def messages_of(function, *arguments):
    program = CompiledProgram(jax.jit(function).lower(*arguments).compile().as_text())
    sent = {message: program.most_executed(message) for message in MESSAGES}
    return {message: count for message, count in sent.items() if count}


def test_a_pair_sends_one_all_reduce():
    arguments = parameters(), TOKENS
    assert messages_of(pair(False), *arguments) == {"all-reduce": 1}
    loss = lambda *arguments: (pair(False)(*arguments) ** 2).sum()  # noqa: E731
    assert messages_of(jax.grad(loss), *arguments) == {"all-reduce": 1}
    # The derivative with respect to x needs the sum over all columns.
    assert messages_of(jax.grad(loss, argnums=(0, 1)), *arguments) == {"all-reduce": 2}


def test_scattered_tokens_are_gathered_and_scattered_once():
    sent = messages_of(pair(True), *(parameters(), TOKENS))
    assert sent in ({"all-gather": 1, "reduce-scatter": 1}, {"all-gather": 1, "all-reduce": 1})


@pytest.mark.parametrize("shape", [(6,), (0, 6), (3, 6)])
def test_other_ranks(shape):
    x = np.ones(shape, np.float32)
    weights = parameters()
    expected = jnp.tanh(x @ weights["w1"]) @ weights["w2"]

    def of_shard(weights, x):
        hidden = jnp.tanh(collective.column_linear(x, weights["w1"], axis_name="rows"))
        return collective.row_linear(hidden, weights["w2"], axis_name="rows")

    run = jax.shard_map(of_shard, mesh=mesh_of(NUM_SHARDS), in_specs=(SPECS, P()), out_specs=P())
    np.testing.assert_allclose(jax.jit(run)(weights, x), expected, rtol=1e-5, atol=1e-5)


# Errors

X = np.ones((2, 3, 4), np.float32)
W = np.ones((4, 2), np.float32)


@pytest.mark.checks_arguments
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: collective.column_linear(X, W[:3], axis_name="rows"),
            "column_linear: the last axis of x must have the length of the first of the matrix w, "
            "got x float32[2,3,4] and w float32[3,2]. Check how each is sharded.",
        ),
        (
            lambda: collective.row_linear(X, W, W[0, :1], axis_name="rows"),
            "row_linear: b must have one entry for each column of w, got b float32[1] and w "
            "float32[4,2].",
        ),
        (
            lambda: collective.row_linear(X, W.astype(np.float16), axis_name="rows"),
            "row_linear: x, w and b must have the same dtype, got float16, float32. Cast them "
            "first.",
        ),
        (
            lambda: collective.row_linear(X, W, axis_name="rows", scatter_axis=1),
            "row_linear: scatter_axis 1 must have a length of a multiple of 2, the number of "
            "shards, got float32[2,3,2]{V:rows}. Pad it first.",
        ),
        (
            lambda: collective.column_linear(X, W, axis_name="rows", gather_axis=2),
            "column_linear: gather_axis must be in [0, 1], got 2.",
        ),
        (
            lambda: collective.row_linear(
                X, W, jax.lax.pcast(W[0], "rows", to="varying"), axis_name="rows"
            ),
            "row_linear: b must be the same on every shard of 'rows', got float32[2]{V:rows}, "
            "which varies. Pass it with a partition spec that does not name the axis.",
        ),
        (
            lambda: collective.row_linear(X, W, axis_name="row"),
            "row_linear: axis_name must be among the axes of the enclosing jax.shard_map, "
            "('rows',), got 'row'. Did you mean 'rows'?",
        ),
    ],
)
def test_errors(call, message):
    mapped = jax.shard_map(call, mesh=mesh_of(2), in_specs=(), out_specs=P())
    with pytest.raises((TypeError, ValueError)) as raised:
        jax.eval_shape(mapped)
    assert str(raised.value) == message
