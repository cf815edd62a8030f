# SPDX-License-Identifier: Apache-2.0
"""`choose`: keeps the faster of an eager and a compiled call."""

import re
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.core import Tracer
from jaxframes.primitives.staging import choose, compiled_step

SECONDS = 0.2


def raises(error, message):
    return pytest.raises(error, match=f"(?m)^{re.escape(message)}$")


WAITS = []


def waiting(x):
    def wait(x):
        WAITS.append(x)
        time.sleep(SECONDS)
        return np.asarray(x)

    return jax.pure_callback(wait, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def loses_compiled(x):
    return waiting(x) if isinstance(x, Tracer) else x


def loses_eager(x):
    return x if isinstance(x, Tracer) else waiting(x)


X = np.arange(3.0)


@pytest.mark.parametrize("given", [lambda f: f, jax.jit, compiled_step])
@pytest.mark.parametrize(("fn", "mode"), [(loses_compiled, "eager"), (loses_eager, "compiled")])
def test_keeps_the_faster(fn, mode, given):
    chosen = choose(given(fn), [X])
    assert chosen.mode == mode
    slower = {"eager": chosen.compiled_seconds, "compiled": chosen.eager_seconds}[mode]
    assert slower >= SECONDS
    waits = len(WAITS)
    np.testing.assert_array_equal(chosen(X), X)
    assert len(WAITS) == waits


def test_what_cannot_be_traced_stays_eager():
    chosen = choose(lambda x: x[x > 0], (jnp.asarray(X),))
    assert chosen.mode == "eager"
    assert chosen.compiled_seconds is None
    np.testing.assert_array_equal(chosen(jnp.asarray(X)), [1, 2])


def test_a_shape_of_a_traced_number_stays_eager():
    chosen = choose(lambda n: jnp.zeros(n), [3])
    assert chosen.mode == "eager"
    assert chosen(2).shape == (2,)


def test_donated_arguments_stay_with_the_caller():
    x = jnp.asarray(X)
    choose(compiled_step(lambda x: x + 1, donate="x"), [x])
    np.testing.assert_array_equal(x, X)


def test_errors_of_the_function_are_raised():
    def wrong(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        choose(wrong, [X])


@pytest.mark.checks_arguments
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: choose(X, [X]),
            "choose: fn must be callable, got float64[3]. Pass the function and a list of its "
            "arguments.",
        ),
        (
            lambda: choose(jnp.sort, X),
            "choose: args must be a list or tuple of arguments, got float64[3]. "
            "Put a single argument into a list.",
        ),
        (
            lambda: jax.jit(lambda x: choose(jnp.sort, [x])(x))(X),
            "choose: args must be concrete, got the traced float64[3] at args[0]. "
            "Call it outside jit.",
        ),
    ],
)
def test_wrong_uses(call, message):
    with raises(TypeError, message):
        call()
