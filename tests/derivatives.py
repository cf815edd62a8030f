# SPDX-License-Identifier: Apache-2.0
"""First and second derivatives of a function, against each other and finite differences.

`jax.test_util.check_grads` runs a program for each of its many steps; this compiles one.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

# Second derivatives: forward over forward, forward over reverse, reverse over reverse.
WAYS = ("forward", "mixed", "reverse")


def check_derivatives(
    function: Callable[..., Any],
    *arguments: Any,
    ways: Sequence[str] = WAYS,
    step: float = 1e-4,
    compiler_options: dict[str, Any] | None = None,
) -> None:
    """Compares the derivatives of a scalar function of floats along one direction.

    Args:
        function: a function of arrays in float64.
        arguments: where it is differentiated, in all arguments.
        ways: the second derivatives to compare, of WAYS.
        step: of the finite differences.
        compiler_options: of the program.
    """
    x, unravel = ravel_pytree(jax.tree.map(jnp.asarray, arguments))
    direction = jnp.asarray(np.random.default_rng(1).standard_normal(x.shape))

    def value_of(x: Any) -> Any:
        return function(*unravel(x))

    def along(x: Any) -> Any:
        return jax.jvp(value_of, (x,), (direction,))

    value_and_gradient = jax.value_and_grad(jax.checkpoint(value_of))

    def slope(x: Any) -> Any:
        value, gradient = value_and_gradient(x)
        return jnp.vdot(gradient, direction), (value, gradient)

    @functools.partial(jax.jit, compiler_options=compiler_options)
    def derivatives(x: Any) -> Any:
        found: dict[str, Any] = {}
        if "forward" in ways:
            (value, first), (_, second) = jax.jvp(along, (x,), (direction,))
            found["forward"] = value, first, second
        if "mixed" in ways:
            (value, gradient), (first, of_gradient) = jax.jvp(
                value_and_gradient, (x,), (direction,)
            )
            found["mixed"] = value, first, gradient, of_gradient
        if "reverse" in ways:
            (first, (value, gradient)), of_gradient = jax.value_and_grad(slope, has_aux=True)(x)
            found["reverse"] = value, first, gradient, of_gradient
        return found

    at, after, before = (derivatives(x + sign * step * direction) for sign in (0, 1, -1))
    near = functools.partial(np.testing.assert_allclose, rtol=1e-5, atol=1e-5)
    close = functools.partial(np.testing.assert_allclose, rtol=1e-9, atol=1e-9)
    firsts, seconds = [], []
    for way, (_, first, *rest) in at.items():
        after_value, after_first, *after_rest = after[way]
        before_value, before_first, *before_rest = before[way]
        near(first, (after_value - before_value) / (2 * step))
        firsts.append(first)
        if way == "forward":
            (second,) = rest
            near(second, (after_first - before_first) / (2 * step))
        else:
            gradient, of_gradient = rest
            close(first, jnp.vdot(gradient, direction))
            near(of_gradient, (after_rest[0] - before_rest[0]) / (2 * step))
            close(of_gradient, at.get("mixed", at[way])[-1])
            second = jnp.vdot(of_gradient, direction)
        seconds.append(second)
    for found in (firsts, seconds):
        for one in found[1:]:
            close(one, found[0])
