# SPDX-License-Identifier: Apache-2.0
"""Rules of derivatives: they hold inside of loops, in batches and twice."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import PartitionSpec
from jaxframes.primitives import local
from jaxframes.primitives.contract._custom_jvp import custom_jvp
from on_shards import mesh_of

X = np.array([0.5, 2.0, -1.0])
DIRECTION = np.array([1.0, 2.0, 3.0])


@functools.partial(custom_jvp, nondiff_argnums=(2,))
def weighted_cubes(x, count, power):
    """A sum of powers; the rule is that of twice the sum, so that a lost rule shows."""
    return {"sum": jnp.sum(count * x**power), "count": count}


@weighted_cubes.defjvp
def _(power, primals, tangents, result):
    x, count = primals
    assert set(result) == {"sum", "count"}
    slope = 2 * power * count * x ** (power - 1)
    return {"sum": jnp.vdot(slope, tangents[0]), "count": tangents[1]}


def value(x, scale=1.0):
    return weighted_cubes(x * scale, 3, 3)["sum"]


def in_scan(function, x):
    _, values = jax.lax.scan(lambda carry, scale: (carry, function(x, scale)), 0, jnp.array([1.0]))
    return values[0]


PLACES = {
    "alone": lambda x: value(x),
    "jit": lambda x: jax.jit(value)(x),
    "vmap": lambda x: jax.vmap(value)(jnp.stack([x, x]))[1],
    "vmap of a scale": lambda x: jax.vmap(value, (None, 0))(x, jnp.ones(2))[1],
    "scan": lambda x: in_scan(value, x),
    "vmap in scan": lambda x: in_scan(
        lambda x, scale: jax.vmap(value, (0, None))(jnp.stack([x]), scale)[0], x
    ),
    "scan in vmap": lambda x: jax.vmap(lambda x: in_scan(value, x))(jnp.stack([x, 2 * x]))[0],
    "cond": lambda x: jax.lax.cond(x[0] > 0, value, lambda x: x[0], x),
    "checkpoint": lambda x: jax.checkpoint(value)(x),
    "shard_map": lambda x: jax.shard_map(
        value, mesh=mesh_of(2), in_specs=PartitionSpec(), out_specs=PartitionSpec()
    )(x),
}


@pytest.mark.parametrize("place", PLACES)
def test_the_rule_holds_to_the_second_order(place):
    function = PLACES[place]
    gradient = jax.grad(function)
    # The rule has a derivative of 2 x 3 x 3 x^2, and that of it is 36 x.
    np.testing.assert_allclose(function(X), 3 * np.sum(X**3), rtol=1e-12)
    np.testing.assert_allclose(gradient(X), 18 * X**2, rtol=1e-12)
    (same, first), second = jax.jvp(jax.value_and_grad(function), (X,), (DIRECTION,))
    np.testing.assert_allclose(first, 18 * X**2, rtol=1e-12)
    np.testing.assert_allclose(same, function(X), rtol=1e-12)
    np.testing.assert_allclose(second[0], np.vdot(18 * X**2, DIRECTION), rtol=1e-12)
    np.testing.assert_allclose(second[1], 36 * X * DIRECTION, rtol=1e-12)
    twice = jax.grad(lambda x: jnp.vdot(gradient(x), DIRECTION))
    np.testing.assert_allclose(twice(X), 36 * X * DIRECTION, rtol=1e-12)
    hessian = jax.jacfwd(gradient)(X)
    np.testing.assert_allclose(hessian, np.diag(36 * X), rtol=1e-12)
    forward = jax.jvp(lambda x: jax.jvp(function, (x,), (DIRECTION,))[1], (X,), (DIRECTION,))
    np.testing.assert_allclose(forward[1], np.vdot(36 * X, DIRECTION**2), rtol=1e-12)


@custom_jvp
def scaled(x, factor):
    return x * factor


@scaled.defjvp
def _(primals, tangents, result):
    return tangents[0] * primals[1]


def test_without_tangents_nothing_is_differentiated():
    value, tangent = jax.jvp(lambda x: scaled(X, 3.0) + x, (1.0,), (1.0,))
    np.testing.assert_array_equal(value, 3 * X + 1)
    np.testing.assert_array_equal(tangent, np.ones(3))


IDS = np.array([0, 1, 0, 2, 1, 7], np.int32)
ROWS = np.array([1.5, 0.4, 0.3, -0.7, 2.0, 1.1])
OPS = {
    "segment_sum": lambda x: local.segment_sum(x, IDS, 3),
    "segment_prod": lambda x: local.segment_prod(x, IDS, 3),
    "radix_sort": lambda x: local.radix_sort(x),
    "radix_sort with values": lambda x: local.radix_sort(x, values=x * x)[1],
    "gather_rows": lambda x: local.gather_rows(x, IDS),
    "inclusive_scan": lambda x: local.inclusive_scan(x, "mul"),
    "linear_recurrence": lambda x: local.linear_recurrence(x, x),
    "pairwise_sum": lambda x: local.pairwise_sum(x),
    "reduce": lambda x: local.reduce(x, "var").values,
    "top_k": lambda x: local.top_k(x, 2).values,
}


@pytest.mark.parametrize("op", OPS)
def test_ops_have_their_second_derivative_in_a_scan(op):
    weights = np.arange(1.0, 7.0)

    def summed(x, scale):
        result = OPS[op](jnp.sin(scale * x))
        return jnp.sum(weights[: result.size] * jnp.ravel(result) ** 2)

    direction = np.cos(ROWS)

    @jax.jit
    def derivatives(x):
        of_scan, alone = (
            jax.jvp(jax.value_and_grad(function), (x,), (direction,))
            for function in (lambda x: in_scan(summed, x), lambda x: summed(x, 1.0))
        )
        return of_scan, alone

    of_scan, alone = derivatives(ROWS)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-11), of_scan, alone)
    assert alone[1][0] != 0
    assert np.any(alone[1][1] != 0)
