# SPDX-License-Identifier: Apache-2.0
"""Operations on small frames: the overhead of a call."""

import jax
import numpy as np

from .measuring import axis, use_devices

NUM_KEYS = 100


class FrameOverhead:
    """How long does a call take with almost no work?"""

    params = (axis(1000),)
    param_names = ("rows",)

    def setup(self, rows):
        use_devices(1)
        from jaxframes.frame import JaxFrame

        rng = np.random.default_rng(0)
        columns = {"k": rng.integers(0, NUM_KEYS, rows), "x": rng.normal(size=rows)}
        self.frame = JaxFrame(columns)
        self.column = self.frame["x"]
        self.right = JaxFrame({"k": np.arange(NUM_KEYS), "y": rng.normal(size=NUM_KEYS)})
        self.doubled = JaxFrame({"k": np.arange(2 * NUM_KEYS) // 2, "y": np.ones(2 * NUM_KEYS)})

    def time_add(self, rows):
        jax.block_until_ready(self.column + self.column)

    def time_compare(self, rows):
        jax.block_until_ready(self.column > 0.0)

    def time_filter(self, rows):
        jax.block_until_ready(self.frame[self.column > 0.0])

    def time_sort_values(self, rows):
        jax.block_until_ready(self.frame.sort_values("k"))

    def time_groupby_sum(self, rows):
        jax.block_until_ready(self.frame.groupby("k")["x"].sum())

    def time_merge(self, rows):
        jax.block_until_ready(self.frame.merge(self.right, on="k"))

    def time_merge_many_to_many(self, rows):
        jax.block_until_ready(self.frame.merge(self.doubled, on="k"))
