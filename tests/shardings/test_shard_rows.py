# SPDX-License-Identifier: Apache-2.0
"""`shard_rows` keeps all rows for any length and mesh."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jax.sharding import AxisType
from jax.test_util import check_grads
from jaxframes import shardings

NUM_SHARDS = [1, 2, 3, 4, 8]
AXIS_TYPES = [AxisType.Auto, AxisType.Explicit]


def rows_of(num_rows):
    return {
        "key": np.arange(num_rows, dtype=np.int32) - 3,
        "matrix": np.linspace(0, 1, 6 * num_rows).reshape(num_rows, 2, 3).astype(np.float32),
        "flag": np.arange(num_rows) % 2 == 0,
    }


def assert_holds(sharded, rows, num_shards, capacity=None):
    """Each shard holds its block of the rows, padded with zeros."""
    num_rows = len(jax.tree.leaves(rows)[0])
    capacity = -(-num_rows // num_shards) if capacity is None else capacity
    counts = [min(max(num_rows - i * capacity, 0), capacity) for i in range(num_shards)]
    assert sharded.layout.capacity == capacity
    assert sharded.layout.num_shards == num_shards
    oracles.assert_same_bits(sharded.layout.counts, np.array(counts, np.int32))

    def padded(leaf):
        whole = np.zeros((num_shards * capacity, *leaf.shape[1:]), leaf.dtype)
        whole[:num_rows] = leaf
        return whole

    oracles.assert_same_bits(sharded.rows, jax.tree.map(padded, rows))
    for leaf in jax.tree.leaves((sharded.rows, sharded.layout.counts)):
        assert leaf.sharding.is_equivalent_to(sharded.layout.sharding, leaf.ndim)


# Matches the oracle


@pytest.mark.parametrize("num_shards", NUM_SHARDS)
@pytest.mark.parametrize("axis_type", AXIS_TYPES)
@pytest.mark.parametrize("on_device", [False, True])
def test_lengths_that_the_mesh_divides_or_not(num_shards, axis_type, on_device):
    mesh = shardings.make_mesh(num_shards, axis_type=axis_type)
    for num_rows in sorted({0, 1, num_shards - 1, num_shards, num_shards + 1, 17}):
        rows = rows_of(num_rows)
        given = jax.tree.map(jnp.asarray, rows) if on_device else rows
        assert_holds(shardings.shard_rows(given, mesh), rows, num_shards)


@pytest.mark.parametrize("axis_type", AXIS_TYPES)
@pytest.mark.parametrize(
    ("axis", "num_shards"), [(None, 8), ("a", 2), ("b", 4), (("b", "a"), 8), (("a", "b"), 8)]
)
def test_meshes_of_two_axes(axis_type, axis, num_shards):
    mesh = jax.make_mesh((2, 4), ("a", "b"), axis_types=(axis_type, axis_type))
    for num_rows in (0, 1, 8, 13):
        rows = rows_of(num_rows)
        assert_holds(shardings.shard_rows(rows, mesh, axis), rows, num_shards)


@pytest.mark.parametrize("axis_type", AXIS_TYPES)
def test_moves_rows_from_one_mesh_to_another(axis_type):
    rows = rows_of(16)
    for source, target in [(8, 3), (2, 8), (8, 8), (4, 3)]:
        there = shardings.shard_rows(rows, shardings.make_mesh(source, axis_type=axis_type)).rows
        mesh = shardings.make_mesh(target, axis_type=axis_type)
        assert_holds(shardings.shard_rows(there, mesh), rows, target)


def test_capacity_leaves_room():
    rows = rows_of(9)
    mesh = shardings.make_mesh(4)
    assert_holds(shardings.shard_rows(rows, mesh, capacity=7), rows, 4, capacity=7)


@pytest.mark.usefixtures("x64_off")
def test_works_without_x64():
    rows = rows_of(9)
    assert_holds(shardings.shard_rows(rows, shardings.make_mesh(4)), rows, 4)


def test_every_dtype_keeps_its_bits():
    mesh = shardings.make_mesh(3)
    dtypes = ["bool", "int8", "uint64", "float16", "bfloat16", "float64", "complex128"]
    rows = [np.arange(5).astype(jnp.dtype(name)) for name in dtypes]
    assert_holds(shardings.shard_rows(rows, mesh), rows, 3)


# Transformations


@pytest.mark.parametrize("num_shards", NUM_SHARDS)
@pytest.mark.parametrize("axis_type", AXIS_TYPES)
def test_inside_jit(num_shards, axis_type):
    mesh = shardings.make_mesh(num_shards, axis_type=axis_type)
    place = jax.jit(lambda rows: shardings.shard_rows(rows, mesh))
    # XLA ignores the sharding of empty arrays.
    for num_rows in sorted({1, num_shards, num_shards + 1, 17}):
        rows = rows_of(num_rows)
        sharded = place(jax.tree.map(jnp.asarray, rows))
        assert_holds(sharded, rows, num_shards)


def test_gradient_reaches_every_row():
    mesh = shardings.make_mesh(4)
    x = jnp.linspace(-1.0, 1.0, 9)
    check_grads(lambda x: jnp.sin(shardings.shard_rows(x, mesh).rows), (x,), order=2)


# Errors


def raises(error, message):
    return pytest.raises(error, match=f"(?m)^{re.escape(message)}$")


def test_leaves_have_the_same_length():
    message = (
        "shard_rows: every leaf of rows must have the same number of rows along its leading axis, "
        "got int32[3], float32[4,1]."
    )
    rows = (np.zeros(3, np.int32), np.zeros((4, 1), np.float32))
    with raises(ValueError, message):
        shardings.shard_rows(rows, shardings.make_mesh(2))


def test_a_scalar_has_no_rows():
    message = (
        "shard_rows: every leaf of rows must have the same number of rows along its leading axis, "
        "got float32[]."
    )
    with raises(ValueError, message):
        shardings.shard_rows(jnp.float32(1), shardings.make_mesh(2))


def test_no_leaf_at_all():
    message = "shard_rows: rows must hold at least one array, got an empty pytree."
    with raises(ValueError, message):
        shardings.shard_rows({}, shardings.make_mesh(2))


@pytest.mark.parametrize(
    ("rows", "shown"),
    [
        (np.array(["a", "b"]), "<U1[2]"),
        (np.array([None, 1]), "object[2]"),
        (np.array(["2013-01-01"], "datetime64[s]"), "datetime64[s][1]"),
    ],
)
def test_rows_are_numbers(rows, shown):
    message = (
        f"shard_rows: rows must be arrays of numbers, got {shown}. Encode them as integers first."
    )
    with raises(TypeError, message):
        shardings.shard_rows(rows, shardings.make_mesh(2))


def test_random_keys_are_not_numbers():
    message = (
        "shard_rows: rows must be arrays of numbers, got key<fry>[2]. "
        "Encode them as integers first."
    )
    with raises(TypeError, message):
        shardings.shard_rows(jax.random.split(jax.random.key(0)), shardings.make_mesh(2))


@pytest.mark.usefixtures("x64_off")
@pytest.mark.parametrize("dtype", ["int64", "uint64", "float64", "complex128"])
def test_64_bits_need_x64(dtype):
    message = (
        f"shard_rows: 64-bit rows need JAX's x64 mode, got {dtype}[3]. "
        'Call jax.config.update("jax_enable_x64", True) first, or cast to 32 bits.'
    )
    with raises(TypeError, message):
        shardings.shard_rows(np.zeros(3, dtype), shardings.make_mesh(2))


def test_capacity_holds_the_rows():
    message = (
        "shard_rows: 9 rows do not fit 4 shards with a capacity of 2. "
        "Call again with capacity=3 or more."
    )
    with raises(ValueError, message):
        shardings.shard_rows(rows_of(9), shardings.make_mesh(4), capacity=2)


def test_capacity_is_not_negative():
    with raises(ValueError, "shard_rows: capacity must be at least 0, got -1."):
        shardings.shard_rows(rows_of(0), shardings.make_mesh(4), capacity=-1)


@pytest.mark.checks_arguments
def test_capacity_is_known_while_tracing():
    def place(capacity):
        rows = np.zeros(4, np.int32)
        return shardings.shard_rows(rows, shardings.make_mesh(2), capacity=capacity).rows

    message = (
        "shard_rows: capacity must be a Python integer, because shapes depend on it, got the "
        "traced int64[]. Mark it static (static_argnames in jax.jit)."
    )
    with raises(TypeError, message):
        jax.jit(place)(np.int64(4))


def test_a_shard_holds_fewer_than_2_to_the_31_rows():
    message = (
        "shard_rows: a shard must hold fewer than 2**31 rows, got a capacity of 2147483648. "
        "Spread the rows over more devices."
    )
    with raises(ValueError, message):
        shardings.shard_rows(np.broadcast_to(np.int8(0), 2**32), shardings.make_mesh(2))


def test_axis_is_one_of_the_mesh():
    message = (
        "shard_rows: axis must name axes of the mesh, got 'columns'. "
        "The mesh has the axes ('rows',)."
    )
    with raises(ValueError, message):
        shardings.shard_rows(rows_of(4), shardings.make_mesh(2), "columns")
