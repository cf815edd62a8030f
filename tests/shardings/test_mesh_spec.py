# SPDX-License-Identifier: Apache-2.0
"""Descriptions of meshes, and sizes and positions along their axes."""

import math
import re

import jax
import numpy as np
import pytest
from jax.sharding import AxisType, PartitionSpec
from jaxframes import shardings
from two_processes import run_all


@pytest.mark.parametrize(
    ("sizes", "shape"),
    [
        ({"data": None, "model": 2}, (4, 2)),
        ({"data": 2, "model": None}, (2, 4)),
        ({"data": None}, (8,)),
        ({"data": None, "model": None}, (4, 2)),
        ({"a": None, "b": None, "c": None}, (2, 2, 2)),
        ({"a": None, "b": 8, "c": None}, (1, 8, 1)),
        ({"data": 8, "model": 1}, (8, 1)),
    ],
)
def test_sizes_are_inferred_and_balanced(sizes, shape):
    mesh = shardings.mesh_spec(**sizes).build()
    assert mesh.axis_names == tuple(sizes)
    assert mesh.devices.shape == shape
    assert sorted(device.id for device in mesh.devices.flat) == list(range(8))


@pytest.mark.parametrize(
    ("number", "num_factors", "expected"),
    [(64, 2, (8, 8)), (64, 3, (4, 4, 4)), (8, 2, (4, 2)), (7, 2, (7, 1)), (36, 3, (4, 3, 3))],
)
def test_several_sizes_are_balanced(number, num_factors, expected):
    balanced = shardings._mesh_spec._balanced(number, num_factors)
    assert balanced == expected
    assert math.prod(balanced) == number


def test_devices_and_axis_types_are_the_callers():
    devices = jax.devices()[2:6]
    types = {"model": AxisType.Explicit}
    spec = shardings.mesh_spec(data=None, model=2, devices=devices, axis_types=types)
    mesh = spec.build()
    assert mesh.axis_types == (AxisType.Auto, AxisType.Explicit)
    assert set(mesh.devices.flat) == set(devices)
    mesh = shardings.mesh_spec(data=None, axis_types=AxisType.Explicit).build()
    assert mesh.axis_types == (AxisType.Explicit,)
    assert hash(spec) == hash(
        shardings.mesh_spec(data=None, model=2, devices=devices, axis_types=types)
    )


def test_it_is_described():
    spec = shardings.mesh_spec(data=None, model=2)
    assert spec.describe() == "data=4 (inferred) x model=2: 8 cpu devices of 1 process"


def test_all_processes_build_the_same():
    said = run_all(
        """
mesh = shardings.mesh_spec(data=None, model=2).build()
print([[device.id for device in row] for row in mesh.devices])
print(shardings.axis_rank(mesh, "data"), shardings.mesh_spec(data=None).describe())
""",
        num_processes=2,
        num_devices=2,
    )
    first, second = (output.splitlines() for output in said)
    assert first[-2] == second[-2]
    assert first[-1] == "0 data=4 (inferred): 4 cpu devices of 2 processes"
    assert second[-1].startswith("1 ")


@pytest.mark.checks_arguments
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: shardings.mesh_spec(),
            "mesh_spec: a mesh must have at least one axis, each with a name of its own, got ().",
        ),
        (
            lambda: shardings.MeshSpec((("data", None), ("data", 2))),
            "mesh_spec: a mesh must have at least one axis, each with a name of its own, got "
            "('data', 'data').",
        ),
        (
            lambda: shardings.mesh_spec(data=3, model=2).build(),
            "mesh_spec: the sizes must multiply to the number of devices, got data=3, model=2, "
            "which is 6, for 8 devices. Pass None for one of the sizes, or the devices to use.",
        ),
        (
            lambda: shardings.mesh_spec(data=None, model=3).build(),
            "mesh_spec: the given sizes must divide the number of devices, got data=None, model=3, "
            "which is 3, for 8 devices. Choose sizes that divide it, or pass the devices to use.",
        ),
        (
            lambda: shardings.mesh_spec(data=0),
            "mesh_spec: data must be at least 1, got 0.",
        ),
        (
            lambda: shardings.mesh_spec(data=None, devices=[jax.devices()[0]] * 2),
            "mesh_spec: devices must be distinct, got 2 with 1 distinct ones. Leave the copies "
            "out.",
        ),
        (
            lambda: shardings.mesh_spec(data=None, axis_types={"model": AxisType.Auto}),
            "mesh_spec: axis_types must name axes of the mesh, ('data',), got 'model'.",
        ),
        (
            lambda: shardings.axis_size(shardings.make_mesh(2), "model"),
            "axis_size: axis must name axes of the mesh, got 'model'. The mesh has the axes "
            "('rows',).",
        ),
        (
            lambda: shardings.axis_rank(shardings.make_mesh(2), "rows"),
            "axis_rank: the devices of this process must have one position along 'rows', got "
            "[0, 1]. Pass the device.",
        ),
        (
            lambda: shardings.axis_rank(shardings.make_mesh(2), "rows", jax.devices()[3]),
            f"axis_rank: the device must be on the mesh, got {jax.devices()[3]}.",
        ),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        call()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"devices": 3},
            TypeError,
            "mesh_spec: devices must be a list of devices, got int. Pass for example "
            "jax.devices()[:4].",
        ),
        (
            {"devices": []},
            ValueError,
            "mesh_spec: a mesh must have at least one device, got none. Leave devices out for all "
            "of them.",
        ),
        (
            {"axis_types": "auto"},
            TypeError,
            "mesh_spec: axis_types must be a jax.sharding.AxisType, got 'auto'. Pass AxisType.Auto "
            "or AxisType.Explicit.",
        ),
        (
            {"axis_types": {"data": "auto"}},
            TypeError,
            "mesh_spec: the type of 'data' must be a jax.sharding.AxisType, got 'auto'. Pass "
            "AxisType.Auto or AxisType.Explicit.",
        ),
    ],
)
def test_options_of_another_form(options, error, message):
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        shardings.mesh_spec(data=None, **options)


@pytest.mark.parametrize("axis", ["data", "model", ("data", "model"), ("model", "data")])
def test_size_and_rank_are_those_of_jax(axis):
    mesh = shardings.mesh_spec(data=2, model=2, devices=jax.devices()[:4]).build()

    def index():
        return jax.numpy.full((1, 1), jax.lax.axis_index(axis))

    mapped = jax.shard_map(
        index, mesh=mesh, in_specs=(), out_specs=PartitionSpec("data", "model"), check_vma=False
    )
    for shard in jax.jit(mapped)().addressable_shards:
        assert np.asarray(shard.data).item() == shardings.axis_rank(mesh, axis, shard.device)
    assert shardings.axis_size(mesh, axis) == (2 if isinstance(axis, str) else 4)
