# SPDX-License-Identifier: Apache-2.0
"""Seconds from a Python function to a compiled program."""

import numpy as np
from jaxframes import primitives
from jaxframes.primitives import local

from .key_distributions import make_keys
from .measuring import axis, mesh_of, seconds_to_compile, sharded_rows, use_devices

MAX_SHARDS = 8
ROWS = 2**16

LOCAL = {
    "radix_argsort": local.radix_argsort,
    "radix_sort": local.radix_sort,
    "top_k": lambda keys: local.top_k(keys, 100),
    "radix_argsort of two keys": lambda keys: local.radix_argsort((keys, keys)),
}


class CompileLocal:
    """How long does a program of one local op take to compile?"""

    params = (axis(*LOCAL),)
    param_names = ("operation",)

    def setup(self, operation):
        use_devices(1)
        self.keys = make_keys("uniform", ROWS, np.int32)

    def track_seconds_to_compile(self, operation):
        return seconds_to_compile(LOCAL[operation], self.keys)

    track_seconds_to_compile.unit = "seconds"


class CompileSortOverMesh:
    """Does the time to compile a sort grow with the number of shards?"""

    params = (axis(2, 8),)
    param_names = ("shards",)

    def setup(self, shards):
        use_devices(MAX_SHARDS)
        self.mesh = mesh_of(shards)
        self.args = sharded_rows(self.mesh, make_keys("uniform", ROWS, np.int32))

    def track_seconds_to_compile(self, shards):
        return seconds_to_compile(lambda keys: primitives.radix_sort(keys, self.mesh), *self.args)

    track_seconds_to_compile.unit = "seconds"
