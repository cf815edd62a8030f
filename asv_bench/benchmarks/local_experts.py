# SPDX-License-Identifier: Apache-2.0
"""Tokens to the experts of one device and back."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxframes.primitives import local

from .measuring import axis, use_devices, waiting_call

NUM_EXPERTS, WIDTH = 64, 64


def by_argsorts(x, experts):
    """What code for mixtures of experts writes: two argsorts."""
    flat = experts.reshape(-1)
    order = jnp.argsort(flat, stable=True)
    return x[order // 2][jnp.argsort(order)].reshape(*experts.shape, -1).sum(1)


def by_dispatch(x, experts):
    sent = local.dispatch_to_experts(x, experts, NUM_EXPERTS)
    return local.combine_from_experts(sent.rows, sent.slots)


class Experts:
    """How long does the way to two of 64 experts and back take, with its gradient?"""

    params = (axis(2**12, 2**16), axis("dispatch", "argsorts"))
    param_names = ("tokens", "implementation")

    def setup(self, tokens, implementation):
        use_devices(1)
        rng = np.random.default_rng(0)
        x = jax.device_put(rng.standard_normal((tokens, WIDTH)).astype(np.float32))
        experts = jax.device_put(rng.integers(0, NUM_EXPERTS, (tokens, 2)).astype(np.int32))
        layer = by_dispatch if implementation == "dispatch" else by_argsorts
        self.run = waiting_call(jax.grad(lambda x, e: jnp.sum(layer(x, e) ** 2)), x, experts)
        self.run()

    def time_layer(self, tokens, implementation):
        self.run()
