# SPDX-License-Identifier: Apache-2.0
"""Packing of documents into rows of one length."""

import jax
import numpy as np
from jaxframes.primitives import local

from .measuring import axis, use_devices, waiting_call

LENGTH = 2048


class Pack:
    """How long does packing of documents take, beside a sort of their lengths?"""

    params = (
        axis(2**12, 20_000),
        axis("next_fit", "first_fit_decreasing", "best_fit_decreasing", "sort"),
    )
    param_names = ("documents", "call")

    def setup(self, documents, call):
        use_devices(1)
        lengths = np.random.default_rng(0).integers(1, 600, documents).astype(np.int32)
        capacity = 2 * int(lengths.sum()) // LENGTH

        def run(lengths):
            if call == "sort":
                return local.radix_sort(lengths)
            return local.pack(lengths, LENGTH, how=call, capacity=capacity)

        self.run = waiting_call(run, jax.device_put(lengths))
        self.run()

    def time_pack(self, documents, call):
        self.run()
