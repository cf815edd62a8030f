# SPDX-License-Identifier: Apache-2.0
"""Tokens to their experts and back."""

import functools

import jax
import numpy as np
from jaxframes.primitives import collective

from .key_distributions import make_keys
from .measuring import (
    axis,
    compiled,
    mesh_of,
    over_shards,
    sharded_rows,
    temporary_bytes,
    use_devices,
)

NUM_SHARDS = 8
WIDTH = 64


@functools.lru_cache(maxsize=1)
def trip_and_tokens(tokens, routing):
    """The compiled way there and back, and its arguments, after one run."""
    use_devices(NUM_SHARDS)
    mesh = mesh_of(NUM_SHARDS)

    def there_and_back(rows, destination):
        sent = collective.dispatch(
            rows, destination, axis_name=mesh.axis_names, capacity=rows.shape[0] * NUM_SHARDS
        )
        return collective.combine(sent.rows, sent.routing)

    destination = make_keys(routing, tokens, np.int32) % NUM_SHARDS
    args = sharded_rows(mesh, np.ones((tokens, WIDTH), np.float32), destination)
    run = compiled(over_shards(there_and_back, mesh), *args)
    jax.block_until_ready(run(*args))
    return run, args


class DispatchSkewedTokens:
    """What does the way there and back cost as more tokens go to one shard?

    A shard has room for every token, so none is dropped under any routing.
    """

    params = (axis(2**13, 2**16), axis("uniform", "zipf", "constant"))
    param_names = ("tokens", "routing")

    def setup(self, tokens, routing):
        self.run, self.args = trip_and_tokens(tokens, routing)

    def time_there_and_back(self, tokens, routing):
        jax.block_until_ready(self.run(*self.args))

    def track_temporary_bytes(self, tokens, routing):
        return temporary_bytes(self.run)

    track_temporary_bytes.unit = "bytes"
