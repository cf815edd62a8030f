# SPDX-License-Identifier: Apache-2.0
"""Random samples of the rows of a mesh."""

import jax
import numpy as np
from jaxframes import primitives

from .measuring import (
    axis,
    compiled,
    mesh_of,
    sharded_rows,
    temporary_bytes,
    use_devices,
)

NUM_SEGMENTS = 256
NUM_DRAWN = 1024
CALLS = {
    "sample": lambda key, w, s, mesh: primitives.sample(key, len(w), NUM_DRAWN, mesh, weights=w),
    "sample with replacement": lambda key, w, s, mesh: primitives.sample(
        key, len(w), NUM_DRAWN, mesh, weights=w, replace=True
    ),
    "segment_sample": lambda key, w, s, mesh: primitives.segment_sample(
        key, s, NUM_SEGMENTS, 4, mesh, weights=w
    ),
}


class SampleOverMesh:
    """What do weighted samples cost as rows lie on more shards?"""

    params = (axis(2**14, 1_000_000), axis(*CALLS), axis(1, 4))
    param_names = ("rows", "call", "shards")

    def setup(self, rows, call, shards):
        use_devices(shards)
        mesh = mesh_of(shards)
        row_ids = np.arange(rows)
        weights, segment_ids = (1 + row_ids % 7).astype(np.float32), row_ids % NUM_SEGMENTS
        self.args = sharded_rows(mesh, weights, segment_ids.astype(np.int32))
        key = jax.random.key(0)
        self.run = compiled(lambda w, s: CALLS[call](key, w, s, mesh), *self.args)
        jax.block_until_ready(self.run(*self.args))

    def time_sample(self, rows, call, shards):
        jax.block_until_ready(self.run(*self.args))

    def track_temporary_bytes(self, rows, call, shards):
        return temporary_bytes(self.run)

    track_temporary_bytes.unit = "bytes"
