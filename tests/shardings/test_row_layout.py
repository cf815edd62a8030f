# SPDX-License-Identifier: Apache-2.0
"""`RowLayout`: its properties, and its behaviour under JAX's transformations."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType
from jaxframes import shardings
from jaxframes.frame.table._layout import Layout
from jaxframes.primitives._over_mesh import RowMesh


def layout_of(counts, capacity, mesh=None):
    mesh = shardings.make_mesh(len(counts)) if mesh is None else mesh
    counts = jax.device_put(np.asarray(counts, np.int32), shardings.row_sharded(mesh))
    return shardings.RowLayout(mesh, mesh.axis_names, capacity, counts)


@pytest.mark.parametrize(
    ("counts", "capacity"),
    [
        ([3], 4),
        ([0], 0),
        ([2, 0], 2),
        ([1, 3, 0], 3),
        ([4, 4, 4, 4], 4),
        ([0, 5, 0, 1, 2, 5, 3, 0], 5),
    ],
)
@pytest.mark.parametrize("axis_type", [AxisType.Auto, AxisType.Explicit])
def test_marks_the_rows_that_count(counts, capacity, axis_type):
    mesh = shardings.make_mesh(len(counts), axis_type=axis_type)
    layout = layout_of(counts, capacity, mesh)
    expected = np.concatenate([np.arange(capacity) < count for count in counts])
    np.testing.assert_array_equal(layout.is_valid(), expected)
    np.testing.assert_array_equal(jax.jit(lambda layout: layout.is_valid())(layout), expected)
    assert layout.num_rows == sum(counts)
    assert layout.num_shards == len(counts)


def test_num_rows_is_exact_past_32_bits():
    assert layout_of([2**31 - 1] * 8, 2**31 - 1).num_rows == 8 * (2**31 - 1)


@pytest.mark.usefixtures("x64_off")
def test_num_rows_is_exact_without_x64():
    assert layout_of([2**31 - 1] * 3, 2**31 - 1).num_rows == 3 * (2**31 - 1)


def test_num_shards_of_several_axes():
    mesh = jax.make_mesh((2, 4), ("a", "b"), axis_types=(AxisType.Auto, AxisType.Auto))
    counts = np.zeros(4, np.int32)
    layout = shardings.RowLayout(mesh, ("b",), 1, jnp.asarray(counts))
    assert layout.num_shards == 4
    assert layout.sharding == shardings.row_sharded(mesh, "b")


def test_counts_are_data_and_the_rest_is_static():
    num_traces = 0

    @jax.jit
    def grown(layout):
        nonlocal num_traces
        num_traces += 1
        return shardings.RowLayout(layout.mesh, layout.axis, layout.capacity, layout.counts + 1)

    layout = layout_of([1, 0], 4)
    result = grown(grown(layout))
    assert (result.mesh, result.axis, result.capacity) == (layout.mesh, layout.axis, 4)
    np.testing.assert_array_equal(result.counts, [3, 2])
    assert num_traces == 1
    grown(layout_of([1, 0], 5))
    assert num_traces == 2


def test_axis_must_be_one_of_the_mesh():
    message = (
        "RowLayout: axis must name axes of the mesh, got ('columns',). "
        "The mesh has the axes ('rows',)."
    )
    with pytest.raises(ValueError, match=f"(?m)^{re.escape(message)}$"):
        shardings.RowLayout(shardings.make_mesh(2), ("columns",), 1, jnp.zeros(2, jnp.int32))


@pytest.mark.parametrize("axis_type", [AxisType.Auto, AxisType.Explicit])
def test_global_calls_and_frames_describe_rows_as_a_layout_does(axis_type):
    mesh = jax.make_mesh((2, 4), ("a", "b"), axis_types=(axis_type, axis_type))
    layout = shardings.RowLayout(mesh, ("b",), 1, jnp.zeros(4, jnp.int32))
    for described in (RowMesh(mesh, "b", "sort"), Layout(mesh, ("b",))):
        assert (described.mesh, described.axes) == (layout.mesh, layout.axis)
        assert described.num_shards == layout.num_shards
        assert described.sharding == layout.sharding
        assert described.is_explicit == (axis_type == AxisType.Explicit)
        assert described.on_mesh == {"mesh": mesh, "axis": ("b",)}


def test_row_axes_of_one_device():
    assert (Layout().num_shards, Layout().sharding, Layout().on_mesh) == (1, None, {})
    assert Layout() == Layout()
    assert hash(Layout()) == hash(Layout())
