# SPDX-License-Identifier: Apache-2.0
"""Operations on one core and on two, and over devices that share the cores."""

import os

import jax
import numpy as np
from jaxframes import primitives, shardings

from .measuring import axis, mesh_of, sharded_rows, use_devices


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


class OverDevices:
    """What does an eager call cost over devices of one host, which share its memory and cores?

    One device has all cores, too.
    """

    params = (axis(2**16, 2**20), axis(1, 4, 8))
    param_names = ("rows", "devices")

    def setup(self, rows, devices):
        use_devices(devices)
        from jaxframes.frame import JaxFrame

        rng = np.random.default_rng(0)
        groups = max(rows // 10, 1)
        columns = {
            "k": rng.integers(0, 2**30, rows).astype(np.uint32),
            "x": rng.random(rows),
            "g": rng.integers(0, groups, rows),
        }
        self.mesh = mesh_of(devices)
        self.keys, self.values, self.groups = sharded_rows(self.mesh, *columns.values())
        sharding = shardings.row_sharded(self.mesh)
        self.frame = JaxFrame(columns, sharding=sharding)
        others = {"g": rng.permutation(groups), "y": rng.random(groups)}
        self.other = JaxFrame(others, sharding=sharding)
        for name in dir(self):
            if name.startswith("time_"):
                getattr(self, name)(rows, devices)

    def time_radix_sort(self, rows, devices):
        jax.block_until_ready(primitives.radix_sort(self.keys, self.mesh, values=self.values))

    def time_reduce_by_key(self, rows, devices):
        sums = primitives.reduce_by_key(self.groups, self.values, "sum", self.mesh)
        jax.block_until_ready(sums)

    def time_frame_sort(self, rows, devices):
        jax.block_until_ready(self.frame.sort_values("k"))

    def time_frame_groupby(self, rows, devices):
        jax.block_until_ready(self.frame.groupby("g").x.sum())

    def time_frame_merge(self, rows, devices):
        jax.block_until_ready(self.frame.merge(self.other, on="g"))

    def time_frame_filter(self, rows, devices):
        jax.block_until_ready(self.frame[self.frame.x > 0.5])
