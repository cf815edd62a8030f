# SPDX-License-Identifier: Apache-2.0
"""`make_mesh`, `row_sharded` and `replicated`."""

import re
import types

import jax
import numpy as np
import pytest
from jax.sharding import AxisType, PartitionSpec
from jaxframes import shardings


def raises(error, message):
    return pytest.raises(error, match=f"(?m)^{re.escape(message)}$")


@pytest.mark.parametrize("num_devices", [1, 2, 3, 4, 8, None])
@pytest.mark.parametrize("axis_type", [AxisType.Auto, AxisType.Explicit])
def test_takes_the_first_devices_in_order(num_devices, axis_type):
    mesh = shardings.make_mesh(num_devices, "shards", axis_type=axis_type)
    assert list(mesh.devices.ravel()) == jax.devices()[:num_devices]
    assert mesh.axis_names == ("shards",)
    assert mesh.axis_types == (axis_type,)


@pytest.mark.parametrize(
    ("axis", "rows_per_shard"),
    [(None, 2), ("a", 8), ("b", 4), (("a", "b"), 2), (("b", "a"), 2)],
)
def test_rows_lie_along_the_axes_in_the_order_given(axis, rows_per_shard):
    mesh = jax.make_mesh((2, 4), ("a", "b"), axis_types=(AxisType.Auto, AxisType.Auto))
    rows = np.arange(16)
    placed = jax.device_put(rows, shardings.row_sharded(mesh, axis))
    # Number the shards by hand: the first axis changes slowest.
    places = {
        None: lambda a, b: 4 * a + b,
        "a": lambda a, b: a,
        "b": lambda a, b: b,
        ("a", "b"): lambda a, b: 4 * a + b,
        ("b", "a"): lambda a, b: 2 * b + a,
    }
    place_of = {mesh.devices[a, b]: places[axis](a, b) for a in range(2) for b in range(4)}
    for shard in placed.addressable_shards:
        start = rows_per_shard * place_of[shard.device]
        np.testing.assert_array_equal(shard.data, rows[start : start + rows_per_shard])


def test_row_sharded_leaves_trailing_axes_whole():
    mesh = shardings.make_mesh(4)
    placed = jax.device_put(np.ones((8, 3, 5)), shardings.row_sharded(mesh))
    assert {shard.data.shape for shard in placed.addressable_shards} == {(2, 3, 5)}


def test_replicated_puts_everything_everywhere():
    mesh = shardings.make_mesh(8)
    placed = jax.device_put(np.arange(3), shardings.replicated(mesh))
    assert len(placed.addressable_shards) == 8
    for shard in placed.addressable_shards:
        np.testing.assert_array_equal(shard.data, np.arange(3))


def test_shardings_of_an_abstract_mesh():
    mesh = shardings.make_mesh(4).abstract_mesh
    assert shardings.row_sharded(mesh).spec == PartitionSpec("rows")


@pytest.mark.parametrize(("num_devices", "hosts"), [(8, 2), (6, 3), (None, 8), (3, 1)])
@pytest.mark.parametrize("axis_type", [AxisType.Auto, AxisType.Explicit])
def test_hosts_are_the_first_axis(num_devices, hosts, axis_type):
    mesh = shardings.make_mesh(num_devices, "shards", hosts=hosts, axis_type=axis_type)
    assert list(mesh.devices.ravel()) == jax.devices()[:num_devices]
    assert mesh.axis_names == ("hosts", "shards")
    assert mesh.devices.shape[0] == hosts
    assert mesh.axis_types == (axis_type, axis_type)


# Errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"hosts": 3},
            "make_mesh: hosts must divide the number of devices, got hosts=3 for 8 devices.",
        ),
        ({"hosts": 0}, "make_mesh: hosts must be at least 1, got 0."),
        (
            {"hosts": 2, "axis_name": "hosts"},
            "make_mesh: axis_name must differ from 'hosts', the axis of the hosts, got 'hosts'.",
        ),
    ],
)
def test_hosts_divide_the_devices(options, message):
    with raises(ValueError, message):
        shardings.make_mesh(**options)


def test_a_host_has_whole_processes(monkeypatch):
    devices = [types.SimpleNamespace(process_index=i // 3, id=i) for i in range(6)]
    monkeypatch.setattr(jax, "devices", lambda: devices)
    message = (
        "make_mesh: each process must lie within one host, got hosts=3 with 1 of 3 devices of "
        "process 0 on host 1. Pass a number of hosts that divides the number of processes."
    )
    with raises(ValueError, message):
        shardings.make_mesh(hosts=3)


@pytest.mark.parametrize("num_devices", [0, -1, 9])
def test_as_many_devices_as_there_are(num_devices):
    message = (
        "make_mesh: num_devices must lie in [1, 8], the devices that JAX sees, "
        f"got {num_devices}. On CPU, set jax_num_cpu_devices before the first JAX call to have "
        "more."
    )
    with raises(ValueError, message):
        shardings.make_mesh(num_devices)


@pytest.mark.checks_arguments
def test_num_devices_is_an_integer():
    with raises(TypeError, "make_mesh: num_devices must be a Python integer, got float."):
        shardings.make_mesh(2.0)  # pyright: ignore[reportArgumentType]


@pytest.mark.checks_arguments
def test_the_axis_has_one_name_and_a_type():
    message = (
        "make_mesh: axis_name must be one name, got ('a', 'b'). Make a mesh of several axes with "
        "mesh_spec."
    )
    with raises(TypeError, message):
        shardings.make_mesh(2, ("a", "b"))  # pyright: ignore[reportArgumentType]
    message = (
        "make_mesh: axis_type must be a jax.sharding.AxisType, got 'auto'. Pass AxisType.Auto or "
        "AxisType.Explicit."
    )
    with raises(TypeError, message):
        shardings.make_mesh(2, axis_type="auto")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("axis", ["columns", ("rows", "columns"), ()])
def test_axes_are_those_of_the_mesh(axis):
    message = (
        f"row_sharded: axis must name axes of the mesh, got {axis!r}. "
        "The mesh has the axes ('rows',)."
    )
    with raises(ValueError, message):
        shardings.row_sharded(shardings.make_mesh(2), axis)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("axis_size", lambda mesh: shardings.axis_size(mesh, "rows")),
        ("axis_rank", lambda mesh: shardings.axis_rank(mesh, "rows")),
        ("row_sharded", shardings.row_sharded),
        ("replicated", shardings.replicated),
        ("named", lambda mesh: shardings.named(mesh, "rows")),
        ("shard_rows", lambda mesh: shardings.shard_rows(np.ones(3, np.float32), mesh)),
        ("place", lambda mesh: shardings.place(np.ones(3), mesh, PartitionSpec("rows"))),
        ("constrain", lambda mesh: shardings.constrain(np.ones(3), "rows", mesh=mesh)),
    ],
)
def test_what_is_no_mesh(name, call):
    with pytest.raises(TypeError, match=rf"^{name}: mesh must be a jax.sharding.Mesh, got int"):
        call(4)
