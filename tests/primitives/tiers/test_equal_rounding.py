# SPDX-License-Identifier: Apache-2.0
"""Programs that may round differently from XLA's are refused, each by the rule that names it."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from interpreted_programs import assert_interprets, numbers
from jax import lax
from jaxframes.primitives import backend
from jaxframes.primitives.tiers._equal_rounding import (
    RULES,
    RULES_OF_FLOAT_ARITHMETIC,
    NotInterpretable,
)
from jaxframes.primitives.tiers._program import Program

pytestmark = pytest.mark.skipif(backend().cpu != "native", reason="interpreted with the kernels")

CONSTANT = np.random.default_rng(2).normal(size=40)
# Functions of 40 numbers that a rule refuses.
REFUSED = {
    "of complex numbers, or a dtype that NumPy lacks": [
        lambda x: lax.complex(x, x) * 2, lambda x: jnp.sort(lax.complex(x, x)),
        lambda x: x.astype(jnp.bfloat16),
    ],
    "of a narrowed float": [lambda x: x.astype(np.float32)[::2].astype(np.float64)],
    "in an unspecified order": [jnp.sum, jnp.cumsum, jnp.prod],
    "of 16 bits": [lambda x: x.astype(np.float16) + 1],
    "of a float that was calculated": [
        lambda x: x * x + 1, lambda x: 1 - jnp.where(x > 0, x * x, 0), lambda x: (x + 0.1) + 0.2,
        lambda x: lax.fori_loop(0, 3, lambda i, y: y * x, x) + x,
        lambda x: lax.cond(x[0] > 0, lambda x: x * x, lambda x: x, x) - x,
        lambda x: x / x[::-1] / x, lambda x: 1 / jnp.sqrt(x),
        lambda x: lax.scan(lambda c, r: (c + r, None), x * x, x[None])[0],
        lambda x: jnp.max((x * x)[:, None], 1) + x, lambda x: lax.sort((x * x)[:, None])[:, 0] + x,
    ],
    "of constants, which XLA may simplify": [
        lambda x: x + jnp.concatenate([jnp.zeros(30), jnp.zeros(10)]),
    ],
    "by -1": [lambda x: x * -1],
    "of what was selected from neutral constants": [
        lambda x: x - jnp.where(x[::-1] > 0, x, 0), lambda x: x * jnp.where(x > 0, 1.0, x),
        lambda x: x / jnp.where(x > 0, x, 1.0)[::-1],
    ],
    "remainder by a constant": [lambda x: lax.rem(x, jnp.full(40, 2.0))],
    "of flags, by which XLA may select": [
        lambda x: x * (x > 0).astype(x.dtype)[::-1],
        lambda x: x * (x > 0).astype(np.int32).astype(x.dtype),
    ],
    "by a constant": [
        lambda x: x / 3, lambda x: x / -CONSTANT, lambda x: x / (CONSTANT[::-1] + 1),
        lambda x: lax.cond(x[0] > 0, lambda x: x / CONSTANT, lambda x: x / CONSTANT, x),
    ],
    "by a broadcast": [
        lambda x: x / x[0], lambda x: x / -x[:1], lambda x: x / (x[0] + x[1]),
        lambda x: x[None] / x[:, None],
    ],
}  # fmt: skip


def test_each_rule_has_an_example():
    assert REFUSED.keys() == RULES.keys() | RULES_OF_FLOAT_ARITHMETIC.keys()


@pytest.mark.parametrize(
    ("rule", "function"), [(rule, one) for rule, some in REFUSED.items() for one in some]
)
def test_what_may_round_differently_is_refused(rule, function):
    x = numbers("float64")
    with pytest.raises(NotInterpretable, match=re.escape(f", {rule}") + "$"):
        Program(jax.jit(function).trace(x).jaxpr)


def test_a_branch_knows_that_an_operand_is_a_broadcast():
    def quotient_or_sum(x):
        return lax.cond(x[0] > 0, lambda a, b: a / b, lax.add, x, jnp.broadcast_to(x[0], 40))

    x = numbers("float64")
    with pytest.raises(NotInterpretable):
        Program(jax.jit(quotient_or_sum).trace(x).jaxpr)


def test_single_operations_on_floats():
    x = numbers("float64")
    assert_interprets(lambda x: [x + x[::-1], x * 3.1, x / 4, x / x[::-1], jnp.sqrt(x), -x * x], x)
    assert_interprets(lambda x: [x * 1, x / 1, x + 0, jnp.max(x, ()), lax.max(x, x)], x)
    assert_interprets(lambda x: [x[0] / x, x[0] / x[1], x + jnp.where(x[::-1] > 0, x, 0)], x)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y, z: (x + y) + z, lambda x, y, z: (x + y) * z, lambda x, y, z: (x - y) * z,
        lambda x, y, z: lax.square(x - y), lambda x, y, z: (x + y) / z, lambda x, y, z: x / (y - z),
        lambda x, y, z: jnp.round(x * y) / z, lambda x, y, z: jnp.floor(x * y) + z,
        lambda x, y, z: jnp.sqrt((x + y) / z), lambda x, y, z: (x + y) + (y + z),
        lambda x, y, z: jnp.zeros(9, x.dtype).at[jnp.arange(len(x)) % 9].add(x)[:9] / z[:9],
    ],
)  # fmt: skip
def test_operations_that_nothing_joins(function):
    rng = np.random.default_rng(0)
    for num_rows in (40, 5000):
        assert_interprets(function, *rng.normal(size=(3, num_rows)))
