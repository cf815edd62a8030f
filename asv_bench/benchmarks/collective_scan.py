# SPDX-License-Identifier: Apache-2.0
"""Segmented scans over 8 shards."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jaxframes.primitives import collective

from .measuring import (
    axis,
    bytes_communicated,
    compiled,
    mesh_of,
    over_shards,
    sharded_rows,
    temporary_bytes,
    use_devices,
)

NUM_SHARDS = 8


@functools.lru_cache(maxsize=1)
def scan_and_rows(rows, segment_rows, implementation):
    """The compiled scan and its arguments, after one run."""
    use_devices(NUM_SHARDS)
    mesh = mesh_of(NUM_SHARDS)

    def scan(x, head_flags):
        op = "add" if implementation == "by_name" else jnp.add
        return collective.segmented_scan(x, op, head_flags=head_flags, axis_name=mesh.axis_names)

    is_head = np.arange(rows) % segment_rows == 0
    args = sharded_rows(mesh, np.arange(rows, dtype=np.float32), is_head)
    run = compiled(over_shards(scan, mesh), *args)
    jax.block_until_ready(run(*args))
    return run, args


class SegmentedScanOverShards:
    """Does it matter how long the segments are, and what does a scan send?

    Segments of 2**20 rows cross shards.
    """

    params = (axis(2**16, 2**22), axis(2**20, 100), axis("by_name", "by_function"))
    param_names = ("rows", "segment_rows", "implementation")

    def setup(self, rows, segment_rows, implementation):
        self.run, self.args = scan_and_rows(rows, segment_rows, implementation)

    def time_scan(self, rows, segment_rows, implementation):
        jax.block_until_ready(self.run(*self.args))

    def track_bytes_communicated(self, rows, segment_rows, implementation):
        return bytes_communicated(self.run, NUM_SHARDS)

    def track_temporary_bytes(self, rows, segment_rows, implementation):
        return temporary_bytes(self.run)

    track_bytes_communicated.unit = "bytes"
    track_temporary_bytes.unit = "bytes"
