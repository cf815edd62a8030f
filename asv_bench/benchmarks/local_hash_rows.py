# SPDX-License-Identifier: Apache-2.0
"""Hashes of rows and signatures of sets on one device."""

import jax
import numpy as np
import pandas as pd
from jaxframes.primitives import local

from .measuring import axis, use_devices, waiting_call


class HashRows:
    """How long do hashes of two columns take, beside those of pandas?"""

    params = (axis(2**14, 1_000_000), axis("jaxframes", "pandas"))
    param_names = ("rows", "implementation")

    def setup(self, rows, implementation):
        use_devices(1)
        rng = np.random.default_rng(0)
        columns = [rng.integers(0, 2**31, rows).astype(np.int32) for _ in range(2)]
        if implementation == "pandas":
            frame = pd.DataFrame(dict(enumerate(columns)))
            self.run = lambda: pd.util.hash_pandas_object(frame, index=False)
        else:
            self.run = waiting_call(lambda *pair: local.hash_rows(pair), *jax.device_put(columns))
        self.run()

    def time_hash_rows(self, rows, implementation):
        self.run()


class MinHash:
    """How long do 64 hashes of sets of 100 elements take?"""

    params = (axis(2**14, 1_000_000),)
    param_names = ("elements",)

    def setup(self, elements):
        use_devices(1)
        values = jax.device_put(np.arange(elements, dtype=np.int32))
        lengths = np.full(elements // 100, 100, np.int32)
        sets = local.Ragged.from_lengths(values, lengths)
        self.run = waiting_call(lambda sets: local.minhash(sets, 64), sets)
        self.run()

    def time_minhash(self, elements):
        self.run()


class LSHBands:
    """How long do the hashes of 16 bands of signatures of 64 hashes take?"""

    params = (axis(2**10, 2**17),)
    param_names = ("sets",)

    def setup(self, sets):
        use_devices(1)
        rng = np.random.default_rng(0)
        signatures = rng.integers(0, 2**32, (sets, 64), dtype=np.uint32)
        self.run = waiting_call(lambda x: local.lsh_bands(x, 16), jax.device_put(signatures))
        self.run()

    def time_lsh_bands(self, sets):
        self.run()
