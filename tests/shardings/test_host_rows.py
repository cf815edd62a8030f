# SPDX-License-Identifier: Apache-2.0
"""`host_rows` in one process; `test_two_processes.py` has the others."""

import re

import jax
import numpy as np
import oracles
import pytest
from jax.sharding import AxisType
from jaxframes import shardings

NUM_SHARDS = [1, 2, 3, 4, 8]
AXIS_TYPES = [AxisType.Auto, AxisType.Explicit]


def table(start, stop):
    ids = np.arange(start, stop, dtype=np.int32)
    return {"id": ids, "pair": np.stack([ids, ids**2], axis=1).astype(np.float64)}


@pytest.mark.parametrize("num_shards", NUM_SHARDS)
@pytest.mark.parametrize("axis_type", AXIS_TYPES)
def test_arrays_and_functions_give_the_table_of_shard_rows(num_shards, axis_type):
    mesh = shardings.make_mesh(num_shards, axis_type=axis_type)
    for num_rows in sorted({0, 1, num_shards - 1, num_shards, num_shards + 1, 17}):
        expected = shardings.shard_rows(table(0, num_rows), mesh)
        for sharded in (
            shardings.host_rows(table(0, num_rows), mesh),
            shardings.host_rows(table, mesh, num_rows=num_rows),
        ):
            oracles.assert_same_bits(tuple(sharded), tuple(expected))
            assert sharded.layout.num_rows == num_rows
            for leaf in jax.tree.leaves(tuple(sharded)):
                assert leaf.sharding == shardings.row_sharded(mesh)


@pytest.mark.parametrize("axis_type", AXIS_TYPES)
@pytest.mark.parametrize("axis", [None, "a", "b", ("b", "a")])
def test_meshes_of_two_axes(axis_type, axis):
    mesh = jax.make_mesh((2, 4), ("a", "b"), axis_types=(axis_type, axis_type))
    expected = shardings.shard_rows(table(0, 13), mesh, axis)
    oracles.assert_same_bits(tuple(shardings.host_rows(table(0, 13), mesh, axis)), tuple(expected))
    oracles.assert_same_bits(
        tuple(shardings.host_rows(table, mesh, axis, num_rows=13)), tuple(expected)
    )


@pytest.mark.parametrize("rows", [table(0, 9), table])
def test_capacity_leaves_room(rows):
    mesh = shardings.make_mesh(4)
    num_rows = 9 if callable(rows) else None
    sharded = shardings.host_rows(rows, mesh, num_rows=num_rows, capacity=5)
    expected = shardings.shard_rows(table(0, 9), mesh, capacity=5)
    oracles.assert_same_bits(tuple(sharded), tuple(expected))


def test_a_function_is_asked_once_for_each_shard():
    asked = []

    def read(start, stop):
        asked.append((start, stop))
        return np.arange(start, stop, dtype=np.int32)

    shardings.host_rows(read, shardings.make_mesh(4), num_rows=9)
    assert asked == [(0, 3), (3, 6), (6, 9), (9, 9)]


@pytest.mark.usefixtures("x64_off")
def test_works_without_x64():
    rows = np.arange(9, dtype=np.int32)
    sharded = shardings.host_rows(rows, shardings.make_mesh(4))
    oracles.assert_same_bits(np.asarray(sharded.rows)[np.asarray(sharded.layout.is_valid())], rows)


# Errors


def raises(error, message):
    return pytest.raises(error, match=f"(?m)^{re.escape(message)}$")


def test_a_function_needs_num_rows():
    message = (
        "host_rows: a function of (start, stop) needs num_rows, got none. "
        "Pass the number of rows of the whole table."
    )
    with raises(ValueError, message):
        shardings.host_rows(table, shardings.make_mesh(2))


def test_arrays_say_how_many_they_are():
    message = (
        "host_rows: num_rows requires a function of (start, stop), got num_rows=5 with arrays. "
        "Leave it out."
    )
    with raises(ValueError, message):
        shardings.host_rows(table(0, 5), shardings.make_mesh(2), num_rows=5)


def test_a_function_returns_what_it_was_asked_for():
    message = (
        "host_rows: the function must return the rows from start to stop, got 4 rows for start=0, "
        "stop=3."
    )
    with raises(ValueError, message):
        shardings.host_rows(lambda start, stop: table(0, 4), shardings.make_mesh(2), num_rows=5)


@pytest.mark.parametrize(
    ("rows_of", "got"),
    [
        (lambda start, ids: ids.astype(np.float32 if start else np.int32), "float32[2]"),
        (lambda start, ids: ids[:, None] if start else ids, "int32[2,1]"),
        (lambda start, ids: {"id": ids} if start else ids, "{'id': 'int32[2]'}"),
    ],
)
def test_a_function_returns_rows_of_one_kind(rows_of, got):
    message = (
        "host_rows: the function must return the same structure, dtypes and trailing shapes for "
        f"all rows, got int32[2] for start=0 and {got} for start=2. Convert them in the function."
    )
    with raises(ValueError, message):
        shardings.host_rows(
            lambda start, stop: rows_of(start, np.arange(start, stop, dtype=np.int32)),
            shardings.make_mesh(2),
            num_rows=4,
        )


def test_capacity_holds_the_rows():
    message = (
        "host_rows: 9 rows do not fit 4 shards with a capacity of 2. "
        "Call again with capacity=3 or more."
    )
    for rows, num_rows in ((table(0, 9), None), (table, 9)):
        with raises(ValueError, message):
            shardings.host_rows(rows, shardings.make_mesh(4), num_rows=num_rows, capacity=2)


@pytest.mark.usefixtures("x64_off")
def test_64_bits_need_x64():
    message = (
        "host_rows: 64-bit rows need JAX's x64 mode, got int64[3]. "
        'Call jax.config.update("jax_enable_x64", True) first, or cast to 32 bits.'
    )
    with raises(TypeError, message):
        shardings.host_rows(np.arange(3), shardings.make_mesh(2))


def test_axis_is_one_of_the_mesh():
    message = (
        "host_rows: axis must name axes of the mesh, got 'columns'. "
        "The mesh has the axes ('rows',)."
    )
    with raises(ValueError, message):
        shardings.host_rows(table(0, 4), shardings.make_mesh(2), "columns")
