# SPDX-License-Identifier: Apache-2.0
"""Gradients of a batch in microbatches."""

import jax
import jax.numpy as jnp
from jaxframes.primitives.staging import accumulate

from .measuring import axis, compiled, temporary_bytes, use_devices

ROWS = 4096
WIDTH = 256


def loss(weights, rows):
    for weight in weights:
        rows = jnp.tanh(rows @ weight)
    return jnp.mean(rows * rows)


class Accumulate:
    """What do microbatches save in memory, and cost in time?"""

    params = (axis(8, 4, 2, 1),)
    param_names = ("steps",)

    def setup(self, steps):
        use_devices(1)
        weights = [jnp.full((WIDTH, WIDTH), 1 / WIDTH, jnp.float32)] * 4
        rows = jnp.ones((ROWS, WIDTH), jnp.float32)
        self.args = weights, rows

        def gradients(weights, rows):
            return accumulate(jax.value_and_grad(loss), weights, rows, steps)

        self.run = compiled(gradients, *self.args)
        jax.block_until_ready(self.run(*self.args))

    def time_gradients(self, steps):
        jax.block_until_ready(self.run(*self.args))

    def track_temporary_bytes(self, steps):
        return temporary_bytes(self.run)

    track_temporary_bytes.unit = "bytes"
