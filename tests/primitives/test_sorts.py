# SPDX-License-Identifier: Apache-2.0
"""`radix_sort`, `radix_argsort`, `segmented_sort` and `merge` of whole arrays over a mesh.

The results equal those of one device on any mesh, so the oracles sort one sequence. Other files
test the collectives.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from compiled_program import num_signatures
from jax.sharding import AxisType
from jaxframes import primitives, shardings
from key_distributions import KEY_DTYPES, distributions_for, make_keys
from on_shards import compiled, mesh_of, noting


def check_sort(keys, mesh, values=None, axis=None, transport="auto", **settings):
    on_mesh = {"mesh": mesh, "axis": axis, "transport": transport}
    sort = functools.partial(primitives.radix_sort, values=values, **on_mesh, **settings)
    is_bfloat16 = not isinstance(keys, tuple) and keys.dtype == jnp.bfloat16
    actual = (compiled(sort) if is_bfloat16 else sort)(keys)
    oracles.assert_same_bits(actual, oracles.sort(keys, values=values, **settings))
    return actual


# Any length: around the number of shards, its square, and powers of two

LENGTHS = {
    1: [0, 1, 17],
    2: [0, 1, 3, 5],
    3: [0, 1, 2, 3, 4, 8, 10, 31],
    5: [4, 6, 24, 26],
    8: [0, 1, 7, 8, 9, 63, 65, 127, 129],
}


@pytest.mark.parametrize(
    ("num_shards", "num_rows"), [(p, n) for p, lengths in LENGTHS.items() for n in lengths]
)
def test_any_length(num_shards, num_rows):
    ids = np.arange(num_rows, dtype=np.int32)
    for distribution in ("uniform", "all_max", "reversed", "four_values"):
        # Padding by a sentinel at either end would show.
        keys = make_keys(distribution, num_rows, np.dtype(np.int32), num_shards)
        with noting(distribution):
            check_sort(keys, mesh_of(num_shards), ids)


@pytest.mark.parametrize("dtype", KEY_DTYPES, ids=str)
def test_every_dtype_and_distribution(dtype):
    # A length that the shards do not divide.
    i = KEY_DTYPES.index(dtype)
    num_shards = (3, 8, 5)[i % 3]
    for distribution in distributions_for(dtype):
        keys = make_keys(distribution, 101, dtype, num_shards)
        with noting(distribution):
            check_sort(
                keys, mesh_of(num_shards), np.arange(101, dtype=np.int32), descending=i % 2 == 0
            )


@pytest.mark.parametrize(
    ("num_rows", "num_shards", "dtype", "distribution"),
    [(10**6, 8, "int32", "uniform"), (10**6, 3, "float64", "nan_inf_sprinkled")],
)
def test_a_million_rows(num_rows, num_shards, dtype, distribution):
    keys = make_keys(distribution, num_rows, np.dtype(dtype), num_shards)
    check_sort(keys, mesh_of(num_shards), np.arange(num_rows, dtype=np.int32))


def test_a_million_equal_keys_stay_balanced():
    keys = np.zeros(10**6, np.int32)
    order = primitives.radix_argsort(keys, mesh_of(8))
    oracles.assert_same_bits(order, np.arange(10**6, dtype=np.int32))
    assert {shard.data.shape for shard in order.addressable_shards} == {(125_000,)}


# The same as on one device


@pytest.mark.parametrize("num_rows", [96, 101])
def test_the_mesh_does_not_change_the_result(num_rows):
    keys = (
        make_keys("nan_inf_sprinkled", num_rows, np.dtype(np.float32)),
        make_keys("two_valued", num_rows, np.dtype(np.uint8)),
    )
    segment_ids = make_keys("zipf", num_rows, np.dtype(np.int16))
    values = {"matrix": np.arange(2.0 * num_rows).reshape(-1, 2), "flag": keys[1] == 0}
    settings = {"descending": (True, False)}

    def of_mesh(mesh):
        return (
            primitives.radix_sort(keys, mesh, values=values, **settings),
            primitives.radix_argsort(keys, mesh, **settings),
            primitives.segmented_sort(keys, segment_ids, mesh, values=values, **settings),
        )

    expected = (
        oracles.sort(keys, values=values, **settings),
        oracles.argsort(keys, **settings),
        oracles.segmented_sort(keys, segment_ids, values=values, **settings),
    )
    for num_shards in (None, 1, 3, 8):
        with noting(num_shards):
            mesh = None if num_shards is None else mesh_of(num_shards)
            oracles.assert_same_bits(of_mesh(mesh), expected)


@pytest.mark.parametrize("transport", ["ragged", "one_hop", "two_hop"])
def test_every_transport(transport):
    for distribution in ("reversed", "constant", "uniform"):
        keys = make_keys(distribution, 63, np.dtype(np.int64), 8)
        check_sort(keys, mesh_of(8), transport=transport, bits=40)


@pytest.mark.parametrize(("num_a", "num_b"), [(0, 0), (0, 5), (1, 0), (16, 8), (30, 17)])
@pytest.mark.parametrize("num_shards", [3, 8])
def test_merge(num_a, num_b, num_shards):
    a = np.sort(make_keys("four_values", num_a, np.dtype(np.int32), num_shards))
    b = np.sort(make_keys("four_values", num_b, np.dtype(np.int32), num_shards))
    b[: num_b // 2] = a[: num_b // 2] if num_a >= num_b else b[: num_b // 2]
    b = np.sort(b)
    values = np.arange(num_a) + 1, -1 - np.arange(num_b)
    expected = oracles.merge(a, b, values=values)
    for mesh in (None, mesh_of(num_shards)):
        oracles.assert_same_bits(primitives.merge(a, b, mesh, values=values), expected)


# Placement of results


def test_results_are_sharded_by_rows():
    mesh = mesh_of(8)
    keys, values = make_keys("uniform", 64, np.dtype(np.int32)), np.ones((64, 2), np.float32)
    results = (
        primitives.radix_sort(keys, mesh, values=values),
        primitives.radix_argsort(keys, mesh),
        primitives.segmented_sort(keys, keys, mesh),
        primitives.merge(np.sort(keys), np.sort(keys), mesh),
    )
    for leaf in jax.tree.leaves(results):
        assert leaf.sharding.is_equivalent_to(shardings.row_sharded(mesh), leaf.ndim)
    # JAX cannot shard a length that the shards do not divide.
    whole = primitives.radix_sort(keys[:63], mesh)
    assert whole.sharding.is_fully_replicated


def test_takes_rows_wherever_they_lie():
    mesh = mesh_of(8)
    keys = make_keys("uniform", 64, np.dtype(np.int32))
    places = (
        shardings.row_sharded(mesh),
        shardings.replicated(mesh),
        shardings.row_sharded(mesh_of(2)),
        jax.devices()[5],
    )
    for place in places:
        oracles.assert_same_bits(
            primitives.radix_sort(jax.device_put(keys, place), mesh), np.sort(keys)
        )
    assert primitives.radix_sort(list(range(9, 0, -1)), mesh).tolist() == list(range(1, 10))


# Meshes of several axes, Auto and Explicit

MESH_OF_TWO = (2, 3), ("host", "device")


@pytest.mark.parametrize("axis_type", [AxisType.Auto, AxisType.Explicit])
@pytest.mark.parametrize("axis", [None, "device", "host", ("device", "host")])
@pytest.mark.parametrize("num_rows", [66, 65])
def test_meshes_of_two_axes(axis_type, axis, num_rows):
    mesh = jax.make_mesh(*MESH_OF_TWO, axis_types=(axis_type,) * 2)
    keys = make_keys("four_values", num_rows, np.dtype(np.float32), 6)
    ids = np.arange(num_rows, dtype=np.int32)
    sorted_keys, _ = check_sort(keys, mesh, ids, axis=axis)
    if num_rows == 66:
        expected = shardings.row_sharded(mesh, axis)
        assert sorted_keys.sharding.is_equivalent_to(expected, 1)


@pytest.mark.parametrize("num_rows", [64, 61])
def test_inside_jit_on_explicit_axes(num_rows):
    mesh = shardings.make_mesh(8, axis_type=AxisType.Explicit)
    keys = make_keys("zipf", num_rows, np.dtype(np.int32), 8)

    @jax.jit
    def sort_twice(keys):
        keys, ids = primitives.radix_sort(
            keys, mesh, values=jnp.arange(num_rows, dtype=jnp.int32), descending=True
        )
        return primitives.radix_sort(keys * 2, mesh, values=ids)

    order = oracles.argsort(keys, descending=True)
    expected = oracles.sort(keys[order] * 2, values=order)
    with jax.set_mesh(mesh):
        placed = jax.device_put(keys, shardings.replicated(mesh))
        oracles.assert_same_bits(sort_twice(placed), expected)
        if num_rows == 64:
            oracles.assert_same_bits(
                sort_twice(jax.device_put(keys, shardings.row_sharded(mesh))), expected
            )
    oracles.assert_same_bits(sort_twice(keys), expected)


# Compiled once


def test_equal_calls_share_a_program():
    mesh = mesh_of(3)
    keys = make_keys("uniform", 48, np.dtype(np.int32))
    sort = functools.partial(primitives.radix_sort, values=keys)
    sort(keys, mesh)
    with jax.check_tracer_leaks(False), jax.log_compiles(False):
        before = num_signatures(primitives._global._radix_sort._sort_on_mesh)
        sort(keys, mesh)
        sort(keys + 1, shardings.make_mesh(3))
        assert num_signatures(primitives._global._radix_sort._sort_on_mesh) == before
