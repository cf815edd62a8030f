# SPDX-License-Identifier: Apache-2.0
"""Grouping of rows by bucket on one device."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxframes.primitives import local

from .implementations import prepared_for
from .key_distributions import make_keys
from .measuring import axis, use_devices, waiting_call

NUM_EXPERTS = 64


def three_calls(ids):
    """What code for mixtures of experts calls: two argsorts and a count."""
    order = jnp.argsort(ids, stable=True)
    return order, jnp.argsort(order), jnp.bincount(ids, length=NUM_EXPERTS)


ORDERS = {"jaxframes": lambda ids: local.bucket_order(ids, NUM_EXPERTS), "jnp": three_calls}


class Bucket:
    """How long does grouping a column by 64 buckets take, with many rows in some?"""

    params = (
        axis(2**16, 10_000_000),
        axis("uniform", "zipf"),
        axis("jaxframes", "jnp", "numpy_stable", "polars"),
    )
    param_names = ("rows", "distribution", "implementation")

    def setup(self, rows, distribution, implementation):
        self.run = prepared_for("bucket", implementation, rows, "int32", distribution)

    def time_bucket(self, rows, distribution, implementation):
        self.run()


class BucketOrder:
    """How long do order, inverse and counts of tokens by expert take, two experts a token?"""

    params = (axis(2**14, 1_000_000), axis("uniform", "zipf"), axis("jaxframes", "jnp"))
    param_names = ("tokens", "distribution", "implementation")

    def setup(self, tokens, distribution, implementation):
        use_devices(1)
        ids = (make_keys(distribution, 2 * tokens, np.int32) % NUM_EXPERTS).astype(np.int32)
        self.run = waiting_call(ORDERS[implementation], jax.device_put(ids))
        self.run()

    def time_order(self, tokens, distribution, implementation):
        self.run()
