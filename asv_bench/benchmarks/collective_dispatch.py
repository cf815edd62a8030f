# SPDX-License-Identifier: Apache-2.0
"""Tokens to their experts and back, and rows to the owners of a table."""

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


class LookUpByOwner:
    """What does a lookup in a divided table cost, beside one that gathers the table?"""

    params = (axis(2**13, 2**16), axis("exchange_by_owner", "all_gather"))
    param_names = ("ids", "implementation")

    def setup(self, ids, implementation):
        use_devices(NUM_SHARDS)
        mesh = mesh_of(NUM_SHARDS)
        names = mesh.axis_names

        def by_owner(table, ids):
            rows = table.shape[0]

            def look_up(ids, count):
                return table[ids % rows]

            return collective.exchange_by_owner(look_up, ids, ids // rows, axis_name=names).rows

        def by_gather(table, ids):
            return jax.lax.all_gather(table, names, tiled=True)[ids]

        row_ids = make_keys("uniform", ids, np.int32) % ids
        self.args = sharded_rows(mesh, np.ones((ids, WIDTH), np.float32), row_ids)
        call = by_owner if implementation == "exchange_by_owner" else by_gather
        self.run = compiled(over_shards(call, mesh), *self.args)
        jax.block_until_ready(self.run(*self.args))

    def time_look_up(self, ids, implementation):
        jax.block_until_ready(self.run(*self.args))

    def track_temporary_bytes(self, ids, implementation):
        return temporary_bytes(self.run)

    track_temporary_bytes.unit = "bytes"
