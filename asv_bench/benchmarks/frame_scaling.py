# SPDX-License-Identifier: Apache-2.0
"""Operations on one core and on two."""

import os

import jax
import numpy as np
from jaxframes import shardings

from .measuring import axis, mesh_of, use_devices


class RowByRow:
    """How much do two devices on two cores save over one on one, for rowwise operations?

    Threads run on the cores that a process has when JAX starts, so each number of devices needs
    a process of its own, which asv gives it.
    """

    params = (axis(2**16, 10_000_000), axis(1, 2))
    param_names = ("rows", "devices")

    def setup(self, rows, devices):
        cores = sorted(os.sched_getaffinity(0))
        if len(cores) < devices:
            raise NotImplementedError("a core for each device")
        os.sched_setaffinity(0, cores[:devices])
        use_devices(devices)
        from jaxframes.frame import JaxFrame

        rng = np.random.default_rng(0)
        columns = {"x": rng.standard_normal(rows), "y": rng.standard_normal(rows)}
        frame = JaxFrame(columns, sharding=shardings.row_sharded(mesh_of(devices)))
        self.x, self.y = frame["x"], frame["y"]
        self.time_add_and_sum(rows, devices)
        self.time_exp_and_sum(rows, devices)

    def time_add_and_sum(self, rows, devices):
        jax.block_until_ready((self.x * 2.0 + self.y).sum())

    def time_exp_and_sum(self, rows, devices):
        jax.block_until_ready((np.exp(self.x) * self.y).sum())
