# SPDX-License-Identifier: Apache-2.0
"""Ragged values divided over a mesh, and collected."""

import numpy as np
from jaxframes import primitives

from .measuring import axis, mesh_of, sharded_rows, use_devices, waiting_call

NUM_SHARDS = 8
# Values of a segment, on average.
MEAN_LENGTH = 16


class DivideRagged:
    """What do `divide_ragged` and `collect_ragged` cost, for segments of equal and skewed lengths?

    A piece holds twice an even share. With `zipf` one segment has a tenth of all values.
    """

    params = (axis(2**16, 2**20), axis("uniform", "zipf"))
    param_names = ("values", "lengths")

    def setup(self, values, lengths):
        use_devices(NUM_SHARDS)
        mesh = mesh_of(NUM_SHARDS)
        num_segments = values // MEAN_LENGTH
        counts = np.full(num_segments, MEAN_LENGTH, np.int32)
        if lengths == "zipf":
            weights = 1 / np.arange(1, num_segments + 1)
            counts = np.floor(weights / weights.sum() * values).astype(np.int32)
        (rows,) = sharded_rows(mesh, np.arange(values, dtype=np.float32))
        ragged = primitives.Ragged.from_lengths(rows, counts)

        def divided(ragged):
            return primitives.divide_ragged(ragged, mesh, capacity=2 * values // NUM_SHARDS)

        def collected(pieces):
            return primitives.collect_ragged(pieces, mesh, num_segments, capacity=values)

        self.divide = waiting_call(divided, ragged)
        self.collect = waiting_call(collected, self.divide())
        self.collect()

    def time_divide(self, values, lengths):
        self.divide()

    def time_collect(self, values, lengths):
        self.collect()
