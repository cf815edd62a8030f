# SPDX-License-Identifier: Apache-2.0
"""Gradients ignore rows without a value and padding."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxframes.frame import JaxFrame, JaxSeries

X = np.array([1.0, np.nan, 2.0, 4.0])
Y = np.array([2.0, 3.0, np.nan, 8.0])
HAS_BOTH = np.array([True, False, False, True])
FRAME = JaxFrame({"x": X, "y": Y})


def test_a_missing_row_has_no_part_in_the_gradient_of_what_all_rows_share():
    def loss(weights, frame):
        predicted = weights[0] * frame["x"] + frame["x"] ** weights[1] / weights[2]
        return ((frame["y"] - predicted) ** 2).sum()

    def plain(weights, x, y):
        return jnp.sum((y - (weights[0] * x + x ** weights[1] / weights[2])) ** 2)

    weights = jnp.array([0.5, 1.5, 3.0])
    x, y = X[HAS_BOTH], Y[HAS_BOTH]
    for differentiate in (jax.grad, jax.jacfwd, jax.hessian):
        got = jax.jit(differentiate(loss))(weights, FRAME)
        expected = differentiate(plain)(weights, x, y)
        np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_padding_that_divides_by_zero_has_none_either():
    def loss(weight, frame):
        filtered = frame[frame["x"] > 1]
        return (1.0 / (filtered["x"] * weight)).sum()

    # From the rows 2 and 4: -(1/2 + 1/4) / weight**2.
    assert jax.jit(jax.grad(loss))(2.0, FRAME) == -0.75 / 4


def test_functions_of_numpy():
    def loss(weight, frame):
        scaled = frame["x"] * weight
        return (np.log(scaled) + np.sqrt(scaled) + np.arccosh(scaled + 1.0) + abs(scaled)).sum()

    def plain(weight):
        scaled = weight * X[~np.isnan(X)]
        result = jnp.log(scaled) + jnp.sqrt(scaled) + jnp.arccosh(scaled + 1.0) + jnp.abs(scaled)
        return jnp.sum(result)

    got = jax.jit(jax.grad(loss))(0.7, FRAME)
    np.testing.assert_allclose(got, jax.grad(plain)(0.7), rtol=1e-12)


def test_the_gradient_of_a_column_is_zero_where_it_is_missing():
    def loss(x):
        frame = JaxFrame({"x": x, "y": jnp.asarray(Y)})
        return (frame["x"] * frame["y"] / frame["x"].max()).sum()

    got = jax.grad(loss)(jnp.asarray(X))
    # (1 * 2 + 4 * 8) / 4, whose divisor 4 depends on the input, too.
    np.testing.assert_allclose(got, [2 / 4, 0, 0, 8 / 4 - (2 + 32) / 16], rtol=1e-12)


def test_a_row_that_is_left_out_has_no_part_where_its_derivative_is_infinite():
    frame = JaxFrame({"z": [0.0, 2.0, 4.0], "i": [0, 1, 2]})

    def loss(x):
        f = frame.assign(x=x)
        chosen = (f["x"] / f["z"] + np.sqrt(f["z"] * f["x"])).where(f["z"] > 0, 0.0)
        filtered = f.assign(q=f["x"] ** 2 / f["i"])[lambda g: g["i"] > 0]
        return chosen.sum() + filtered["q"].sum() + f["x"].pct_change().sum()

    def plain(x):
        filtered, z, i = x[1:], jnp.array([2.0, 4.0]), jnp.array([1.0, 2.0])
        result = filtered / z + jnp.sqrt(z * filtered) + filtered**2 / i + filtered / x[:-1]
        return jnp.sum(result)

    x = jnp.array([2.0, 3.0, 4.0])
    for differentiate in (jax.grad, jax.jacfwd, jax.hessian):
        got, expected = jax.jit(differentiate(loss))(x), differentiate(plain)(x)
        np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_where_a_derivative_is_infinite_it_stays():
    def loss(x):
        return (1.0 / JaxSeries(x)).sum()

    np.testing.assert_array_equal(jax.grad(lambda x: loss(x) + x[1])(jnp.zeros(2)), [-np.inf] * 2)
