# SPDX-License-Identifier: Apache-2.0
"""Python functions over the rows of an array."""

import hashlib
import time

import jax
import numpy as np
from jaxframes.primitives.staging import host_map

from .measuring import axis, use_devices

WORKERS = 2
ITEMS = 8
BLOCK = bytes(64 * 2**20)


def hash_block(seed):
    """Work that releases Python's lock."""
    digest = hashlib.sha256(BLOCK)
    digest.update(bytes([seed]))
    return np.int32(digest.digest()[0])


def count(seed):
    """Work that holds Python's lock."""
    total = 0
    for i in range(500_000):
        total ^= i + int(seed)
    return np.int32(total)


def sleep(seed):
    """A wait, such as for a file or another process."""
    time.sleep(0.02)
    return seed


WORK = {"hash": hash_block, "python": count, "sleep": sleep}


class HostMap:
    """What do threads, and a mesh of two devices, gain for work with and without Python's lock?"""

    params = (axis(*WORK), axis("threads", "mesh", "sequential"))
    param_names = ("work", "strategy")

    def setup(self, work, strategy):
        use_devices(WORKERS)
        fn, workers = WORK[work], None if strategy == "sequential" else WORKERS
        out = jax.ShapeDtypeStruct((), np.int32)
        self.seeds = np.arange(ITEMS, dtype=np.int32)
        self.run = jax.jit(lambda xs: host_map(fn, xs, out, strategy=strategy, workers=workers))
        jax.block_until_ready(self.run(self.seeds))

    def time_map(self, work, strategy):
        jax.block_until_ready(self.run(self.seeds))


class HostMapOverhead:
    """How long does a call take for items without work?"""

    params = (axis(16, 1024), axis("sequential", "threads"))
    param_names = ("items", "strategy")

    def setup(self, items, strategy):
        use_devices(WORKERS)
        workers = None if strategy == "sequential" else WORKERS
        out = jax.ShapeDtypeStruct((), np.int32)
        self.xs = np.arange(items, dtype=np.int32)
        self.run = jax.jit(
            lambda xs: host_map(lambda x: x, xs, out, strategy=strategy, workers=workers)
        )
        jax.block_until_ready(self.run(self.xs))

    def time_map(self, items, strategy):
        jax.block_until_ready(self.run(self.xs))
