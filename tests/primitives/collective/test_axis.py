# SPDX-License-Identifier: Apache-2.0
"""The mesh axis of the rows: its shards, and the order of several axes."""

import jax
import numpy as np
import pytest
from jax.sharding import AxisType, PartitionSpec
from jaxframes.primitives.collective._axis import check_mesh_order, num_shards_on

MESH = jax.make_mesh((2, 3), ("a", "b"), axis_types=(AxisType.Auto,) * 2)


def inside(function):
    """Traces a function on a mesh of two by three, without running it."""
    rows = PartitionSpec(("a", "b"))
    mapped = jax.shard_map(function, mesh=MESH, in_specs=rows, out_specs=rows)
    return jax.eval_shape(mapped, np.zeros(6))


@pytest.mark.parametrize(("axis_name", "count"), [("a", 2), ("b", 3), (("a", "b"), 6)])
def test_the_number_of_shards(axis_name, count):
    counts = []

    def traced(rows):
        counts.append(num_shards_on(axis_name, "f"))
        check_mesh_order(axis_name, "f")
        return rows

    inside(traced)
    assert counts == [count]


def test_axes_in_another_order_than_the_mesh():
    message = r"^f: the axes in axis_name must be in the order of the mesh, got \('b', 'a'\)\. "
    with pytest.raises(ValueError, match=message + r"Pass \('a', 'b'\)\."):
        inside(lambda rows: check_mesh_order(("b", "a"), "f") or rows)


@pytest.mark.parametrize("outside", ["c", ("a", "c")])
def test_an_axis_that_is_not_there(outside):
    with pytest.raises(ValueError, match=r"^f: axis_name must name an axis of the enclosing"):
        inside(lambda rows: rows * num_shards_on(outside, "f"))
