# SPDX-License-Identifier: Apache-2.0
"""Random orders and samples of one device's rows."""

import jax
import jax.numpy as jnp
from jaxframes.primitives import local

from .measuring import axis, use_devices, waiting_call

NUM_DRAWN = 1024
CALLS = {
    "jaxframes": {
        "shuffle": local.shuffle,
        "random_permutation": lambda key, x: local.random_permutation(key, len(x)),
        "sample": lambda key, x: local.sample(key, len(x), NUM_DRAWN, weights=x).row_ids,
    },
    "jnp": {
        "shuffle": jax.random.permutation,
        "random_permutation": lambda key, x: jax.random.permutation(key, len(x)),
        "sample": lambda key, x: jax.random.choice(key, len(x), (NUM_DRAWN,), replace=False, p=x),
    },
}


class RandomRows:
    """How long do a shuffle, an order and a weighted sample without replacement take?"""

    params = (axis(2**14, 1_000_000), axis(*CALLS["jaxframes"]), axis(*CALLS))
    param_names = ("rows", "call", "implementation")

    def setup(self, rows, call, implementation):
        use_devices(1)
        weights = jax.device_put(1 + jnp.arange(rows, dtype=jnp.float32) % 7)
        self.run = waiting_call(CALLS[implementation][call], jax.random.key(0), weights)
        self.run()

    def time_random_rows(self, rows, call, implementation):
        self.run()
