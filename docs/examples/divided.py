# SPDX-License-Identifier: Apache-2.0
"""Segments divided over the devices of a mesh."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxframes.primitives.local import Ragged


def divide(ragged: Ragged, num_shards: int) -> Ragged:
    """The same number of whole segments for each shard, with the arrays of all shards stacked.

    Give its arrays to `shard_map` by rows: there each device has a `Ragged` of its own. Segments
    are added at the end, without values, if the shards do not divide their number.
    """
    of_shard = -(-ragged.num_segments // num_shards)
    ids = np.arange(of_shard * num_shards, dtype=np.int32).reshape(num_shards, of_shard)
    offsets = np.append(ragged.offsets, np.full(ids.size, ragged.offsets[-1]))
    capacity = int((offsets[ids[:, -1] + 1] - offsets[ids[:, 0]]).max())
    pieces = [ragged.take(of_one, capacity=capacity) for of_one in ids]
    return jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *pieces)
