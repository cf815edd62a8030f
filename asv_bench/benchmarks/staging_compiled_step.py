# SPDX-License-Identifier: Apache-2.0
"""What `compiled_step` adds to the call of a jitted function."""

import functools

import jax
import jax.numpy as jnp
from jaxframes.primitives.staging import compiled_step, freeze

from .measuring import axis, use_devices


def config():
    """A nested static argument, as small models have it."""
    layers = [{"width": 64, "activation": "relu", "rate": 0.1} for _ in range(2)]
    return {"layers": layers, "names": ("x", "y"), "has_bias": True}


def step(state, config):
    return state * config["layers"][0]["width"]


class CompiledStepOverhead:
    """How much longer does a call take that freezes a nested static argument?"""

    params = (axis("compiled_step", "jit"),)
    param_names = ("implementation",)

    def setup(self, implementation):
        use_devices(1)
        state, static = jnp.ones(3, jnp.float32), config()
        if implementation == "jit":
            self.run = functools.partial(jax.jit(lambda state: step(state, static)), state)
        else:
            self.run = functools.partial(compiled_step(step, static="config"), state, static)
        self.run()

    def time_call(self, implementation):
        self.run()


class Freeze:
    """How long does it take to freeze a nested static argument?"""

    def setup(self):
        self.config = config()

    def time_freeze(self):
        freeze(self.config)
