# SPDX-License-Identifier: Apache-2.0
"""The exchange of two levels on a mesh of hosts and their devices: the bits of one axis."""

import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from compiled_program import CompiledProgram
from jax.sharding import AxisType, PartitionSpec
from jaxframes import primitives, shardings
from jaxframes.primitives import collective
from on_shards import noting
from quick_compilation import QUICK
from sent_rows import adversarial_destinations, nonzero_rows
from two_processes import run_both

GRIDS = [(2, 4), (3, 2)]
# Of each shard: few rows travel in one hop for any runs, and more in one hop or two.
FEW, MANY = 36, 1500


@functools.cache
def mesh_of(hosts, devices, axis_type=AxisType.Auto):
    """A mesh of hosts; of one axis for no hosts."""
    num_devices = (hosts or 1) * devices
    return shardings.make_mesh(num_devices, hosts=hosts, axis_type=axis_type)


@functools.cache
def partitioner(hosts, devices, transport):
    mesh = mesh_of(hosts, devices)

    def partition(rows, destination):
        axis_name = mesh.axis_names if hosts else "rows"
        sent = collective.partition(
            rows, destination, axis_name=axis_name, capacity=rows["id"].shape[0],
            transport=transport,
        )  # fmt: skip
        return sent.rows, sent.count[None]

    by_row = PartitionSpec(mesh.axis_names)
    mapped = jax.shard_map(partition, mesh=mesh, in_specs=by_row, out_specs=by_row)
    return jax.jit(mapped, compiler_options=QUICK)


@pytest.mark.parametrize("num_rows", [FEW, MANY])
@pytest.mark.parametrize("transport", ["auto", "one_hop", "two_hop"])
@pytest.mark.parametrize(("hosts", "devices"), GRIDS)
def test_a_partition_over_hosts_has_the_bits_of_one_over_one_axis(
    hosts, devices, transport, num_rows
):
    num_shards = hosts * devices
    ids = nonzero_rows(num_shards, num_rows).ravel()
    rows = {"id": ids, "pair": np.stack([-ids, ids], -1) / 8}
    for name, destination in adversarial_destinations(num_shards, num_rows).items():
        flat = destination.ravel().astype(np.int32)
        with noting(name):
            expected = partitioner(None, num_shards, transport)(rows, flat)
            oracles.assert_same_bits(partitioner(hosts, devices, transport)(rows, flat), expected)


@pytest.mark.parametrize("axis_type", [AxisType.Auto, AxisType.Explicit])
@pytest.mark.parametrize(("hosts", "devices"), GRIDS)
def test_ops_over_hosts_give_the_rows_of_numpy(hosts, devices, axis_type):
    mesh = mesh_of(hosts, devices, axis_type)
    rng = np.random.default_rng(0)
    # A length that the mesh does not divide, and a hot key.
    keys = np.where(rng.random(7001) < 0.5, 3, rng.integers(-50, 50, 7001))
    row_ids = np.arange(7001, dtype=np.int32)
    order = np.argsort(keys, kind="stable")
    sorted_keys, sorted_ids = primitives.radix_sort(keys, mesh, values=row_ids)
    np.testing.assert_array_equal(sorted_keys, keys[order])
    np.testing.assert_array_equal(sorted_ids, order)
    wanted = rng.integers(0, 7001, 500)
    np.testing.assert_array_equal(primitives.gather_rows(keys, wanted, mesh), keys[wanted])
    found = primitives.unique(keys, mesh)
    np.testing.assert_array_equal(found.unique_keys[: int(found.count)], np.unique(keys))


@pytest.mark.parametrize(("hosts", "devices"), GRIDS)
def test_a_gradient_goes_back_through_both_levels(hosts, devices):
    mesh, num_shards = mesh_of(hosts, devices), hosts * devices
    destination = np.random.default_rng(0).integers(0, num_shards, num_shards * MANY)
    weights = np.arange(destination.size) / 8

    def weighted(rows):
        sent = primitives.partition(rows, destination, mesh, capacity=2 * MANY, transport="two_hop")
        return jnp.sum(sent.rows[: weights.size] * weights)

    gradient = jax.jit(jax.grad(weighted), compiler_options=QUICK)(weights)
    # Each row is multiplied by the weight of the position at which it arrives.
    order = np.argsort(destination, kind="stable")
    counts = np.bincount(destination, minlength=num_shards)
    starts = np.cumsum(counts) - counts
    arrived = 2 * MANY * destination[order] + np.arange(order.size) - starts[destination[order]]
    expected = np.zeros(destination.size)
    is_weighted = arrived < weights.size
    expected[order[is_weighted]] = weights[arrived[is_weighted]]
    np.testing.assert_array_equal(gradient, expected)


# Replica groups: each device has one peer for each device of its host, and one for each other host


def groups_of(rest):
    """The replica groups of a collective, from the text of its instruction."""
    listed = re.search(r"replica_groups=\{(\{[\d,{}]*\})\}", rest)
    if listed:
        return [
            [int(device) for device in group.split(",")]
            for group in re.findall(r"\{([\d,]+)\}", listed[1])
        ]
    named = re.search(r"replica_groups=mesh\[(.*?)\] ?\{(.*?)\}", rest)
    if named:
        # The axes of a mesh, and those along which messages go.
        sizes = {name: int(size) for name, size in re.findall(r"'(\w+)'=(\d+)", named[1])}
        within = re.findall(r"'(\w+)'", named[2])
        axes = [list(sizes).index(name) for name in [*(sizes.keys() - within), *within]]
        devices = np.arange(np.prod([*sizes.values()])).reshape(*sizes.values()).transpose(axes)
        return devices.reshape(-1, np.prod([sizes[name] for name in within])).tolist()
    found = re.search(r"replica_groups=\[([\d,]+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?", rest)
    assert found, rest
    shape, dims = ([int(n) for n in text.split(",")] for text in found.groups()[:2])
    devices = np.arange(np.prod(dims)).reshape(dims)
    if found[3]:
        devices = devices.transpose([int(n) for n in found[3].split(",")])
    return devices.reshape(shape).tolist()


@pytest.mark.parametrize(("transport", "hops"), [("one_hop", 1), ("two_hop", 2), ("auto", 2)])
@pytest.mark.parametrize(("hosts", "devices"), GRIDS)
def test_messages_go_within_a_host_or_between_hosts(hosts, devices, transport, hops):
    mesh = mesh_of(hosts, devices)
    rows = jax.ShapeDtypeStruct(
        (hosts * devices * 4096,), jnp.int32, sharding=shardings.row_sharded(mesh)
    )
    sort = jax.jit(functools.partial(primitives.radix_sort, mesh=mesh, transport=transport))
    program = CompiledProgram(sort.lower(rows).compile().as_text())
    assert program.collectives_in_control_flow() == []
    groups = [
        sorted(sorted(group) for group in groups_of(rest))
        for instructions in program.computations.values()
        for _, opcode, rest in instructions
        if opcode == "all-to-all"
    ]
    grid = np.arange(hosts * devices).reshape(hosts, devices)
    within, between = grid.tolist(), grid.T.tolist()
    assert sorted(groups) == sorted([within, between] * hops)


def test_one_host_or_one_device_a_host_has_one_level():
    for hosts, devices in ((1, 4), (4, 1)):
        mesh = mesh_of(hosts, devices)
        rows = jax.ShapeDtypeStruct((4 * 4096,), jnp.int32, sharding=shardings.row_sharded(mesh))
        sort = jax.jit(functools.partial(primitives.radix_sort, mesh=mesh, transport="two_hop"))
        program = CompiledProgram(sort.lower(rows).compile().as_text())
        assert program.most_executed("all-to-all") == 2


def test_two_processes_are_two_hosts():
    run_both(
        """
hosts = shardings.make_mesh(hosts=2)
assert [[d.process_index for d in host] for host in hosts.devices] == [[0, 0], [1, 1]]
# Few rows travel in one hop for any runs, and more in one hop or two.
for num_rows in (64, 40_000):
    keys = np.random.default_rng(0).integers(-50, 50, num_rows)
    row_ids = np.arange(num_rows, dtype=np.int32)
    own = slice(num_rows // 2 * process_id, num_rows // 2 * (process_id + 1))
    results = []
    for over in (mesh, hosts):
        rows = shardings.host_rows({"key": keys[own], "id": row_ids[own]}, over).rows
        results.append(primitives.radix_sort(rows["key"], over, values=rows["id"]))
    for flat, two_level in zip(*results):
        for own_flat, own_two in zip(flat.addressable_shards, two_level.addressable_shards):
            np.testing.assert_array_equal(own_flat.data, own_two.data)
    order = np.argsort(keys, kind="stable")
    np.testing.assert_array_equal(whole(results[1][1]), order)
"""
    )
