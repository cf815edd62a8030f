# SPDX-License-Identifier: Apache-2.0
"""Partition of rows by destination shard."""

import functools

import jax
import numpy as np
from jaxframes import shardings
from jaxframes.primitives import collective

from .key_distributions import make_keys
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


def partition_rows(transport, axis_name):
    """The partition of a shard's rows, as a function to run over a mesh."""

    def partition(rows, destination):
        sent = collective.partition(rows, destination, axis_name=axis_name, transport=transport)
        return sent.rows, sent.count[None]

    return partition


@functools.lru_cache(maxsize=1)
def partition_and_rows(rows, distribution, transport):
    """The compiled partition and its arguments, after one run."""
    use_devices(NUM_SHARDS)
    mesh = mesh_of(NUM_SHARDS)
    destination = make_keys(distribution, rows, np.int32) % NUM_SHARDS
    args = sharded_rows(mesh, np.arange(rows, dtype=np.int32), destination)
    run = compiled(over_shards(partition_rows(transport, mesh.axis_names), mesh), *args)
    jax.block_until_ready(run(*args))
    return run, args


class PartitionSkewedKeys:
    """What does each transport cost as fewer shards are sent more rows?

    The capacity of a shard is the number of rows it sends. With `constant` all rows go to one
    shard; two hops still carry them.
    """

    params = (
        axis(2**16, 2**22),
        axis("zipf", "uniform", "constant"),
        axis("auto", "one_hop", "two_hop"),
    )
    param_names = ("rows", "distribution", "transport")

    def setup(self, rows, distribution, transport):
        self.run, self.args = partition_and_rows(rows, distribution, transport)

    def time_partition(self, rows, distribution, transport):
        jax.block_until_ready(self.run(*self.args))


class PartitionVolume:
    """How many bytes does each transport send, and how much memory does it need?

    Shapes are static, so neither depends on the destinations. `auto` counts as the dearer of the
    ways that it chooses from.
    """

    params = (axis(2**16, 2**22), axis("auto", "one_hop", "two_hop"))
    param_names = ("rows", "transport")

    def setup(self, rows, transport):
        self.run, _ = partition_and_rows(rows, "uniform", transport)

    def track_bytes_communicated(self, rows, transport):
        return bytes_communicated(self.run, NUM_SHARDS)

    def track_temporary_bytes(self, rows, transport):
        return temporary_bytes(self.run)

    track_bytes_communicated.unit = "bytes"
    track_temporary_bytes.unit = "bytes"


class PartitionOverHosts:
    """What do the two levels of a mesh of hosts cost beside one axis of the same devices?

    The devices of one machine are equally near, so this shows the price alone: a second copy of the
    blocks. A level between hosts sends fewer and larger messages, which only a network rewards.
    """

    params = (
        axis(2**16, 2**22),
        axis("uniform", "constant"),
        axis("one axis", "2 hosts", "4 hosts"),
    )
    param_names = ("rows", "distribution", "mesh")

    def setup(self, rows, distribution, mesh):
        use_devices(NUM_SHARDS)
        hosts = None if mesh == "one axis" else int(mesh.split()[0])
        over = shardings.make_mesh(NUM_SHARDS, hosts=hosts)
        destination = make_keys(distribution, rows, np.int32) % NUM_SHARDS
        self.args = sharded_rows(over, np.arange(rows, dtype=np.int32), destination)
        self.run = compiled(over_shards(partition_rows("auto", over.axis_names), over), *self.args)
        jax.block_until_ready(self.run(*self.args))

    def time_partition(self, rows, distribution, mesh):
        jax.block_until_ready(self.run(*self.args))

    def track_temporary_bytes(self, rows, distribution, mesh):
        return temporary_bytes(self.run)

    track_temporary_bytes.unit = "bytes"
