# SPDX-License-Identifier: Apache-2.0
"""Collectives in control flow, on meshes of other shapes, and where transformations meet.

Each transformation by itself is in test_matrix.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from derivatives import check_derivatives
from jax.sharding import AxisType, NamedSharding, PartitionSpec
from jaxframes.primitives import collective
from key_distributions import make_keys
from on_shards import into_shards, mesh_of, on_shards, row_ids, sorted_on_shards

NUM_ROWS = 12


def test_without_jit():
    keys = into_shards(make_keys("zipf", 3 * NUM_ROWS, np.dtype(np.int32), 3), 3)
    by_row = PartitionSpec("rows")
    sort = jax.shard_map(
        functools.partial(collective.radix_sort, axis_name="rows"),
        mesh=mesh_of(3),
        in_specs=by_row,
        out_specs=by_row,
    )
    oracles.assert_same_bits(sort(keys.reshape(-1)), np.sort(keys.reshape(-1)))


@pytest.mark.parametrize("transport", ["auto", "two_hop"])
def test_vmap_sorts_each_row_of_the_batch(transport):
    # Shards of `[batch, rows]`, each batch element with its own number of valid rows.
    keys = make_keys("nan_inf_sprinkled", 3 * 4 * NUM_ROWS, np.dtype(np.float32))
    keys = keys.reshape(3, 4, NUM_ROWS)
    values = np.arange(keys.size).reshape(keys.shape)
    counts = np.random.default_rng(0).integers(0, NUM_ROWS + 1, (3, 4)).astype(np.int32)

    def sort(keys, values, num_valid):
        return collective.radix_sort(
            keys, values=values, num_valid=num_valid, axis_name="rows", transport=transport
        )

    actual = on_shards(jax.vmap(sort), 3)(keys, values, counts)
    expected = [
        sorted_on_shards(keys[:, element], counts[:, element], values[:, element])
        for element in range(4)
    ]
    oracles.assert_same_bits(actual, jax.tree.map(lambda *leaves: np.stack(leaves, 1), *expected))


def test_a_scan_body_and_a_branch_sort():
    keys = into_shards(make_keys("uniform", 3 * NUM_ROWS, np.dtype(np.int32)), 3)
    num_valid = np.array([5, 12, 0, 11], np.int32)

    def scan(keys, num_valid):
        def step(keys, num_valid):
            # The same branch is taken on every shard.
            keys = jax.lax.cond(
                jax.lax.pmax(num_valid, "rows") % 2 == 0,
                lambda keys: collective.radix_sort(keys, num_valid=num_valid, axis_name="rows"),
                lambda keys: collective.radix_sort(
                    keys, num_valid=num_valid, axis_name="rows", descending=True
                ),
                keys,
            )
            return keys, keys[0]

        return jax.lax.scan(step, keys, num_valid)

    actual = on_shards(scan, 3)(keys, np.stack([num_valid] * 3))
    firsts = []
    for valid in num_valid:
        keys = sorted_on_shards(keys, np.full(3, valid), descending=bool(valid % 2))
        firsts.append(keys[:, 0])
    oracles.assert_same_bits(actual, (keys, np.stack(firsts, 1)))


@pytest.mark.usefixtures("x64_off")
def test_without_x64():
    dtypes = ("uint8", "float16", "int32", "float32")
    keys = tuple(
        into_shards(make_keys("four_values", 8 * NUM_ROWS, np.dtype(dtype)), 8) for dtype in dtypes
    )
    ids = row_ids(8, NUM_ROWS)
    counts = np.full(8, NUM_ROWS, np.int32)
    descending = (True, False, True, False)

    def sort(keys, values):
        return collective.radix_sort(keys, values=values, axis_name="rows", descending=descending)

    expected = sorted_on_shards(keys, counts, ids, descending=descending)
    oracles.assert_same_bits(on_shards(sort, 8)(keys, ids), expected)


# Rows along one axis of a mesh of two, along both, and along both the other way round


def sort_along(mesh, axis_name, spec, keys, values):
    keys, values = jax.device_put((keys, values), NamedSharding(mesh, spec))

    @functools.partial(jax.shard_map, mesh=mesh, in_specs=spec, out_specs=spec)
    def sort(keys, values):
        sorted_rows = collective.radix_sort(
            keys.reshape(-1), values=values.reshape(-1), axis_name=axis_name
        )
        return jax.tree.map(lambda leaf: leaf.reshape(keys.shape), sorted_rows)

    return jax.jit(sort)(keys, values)


@pytest.mark.parametrize("axis_type", [AxisType.Auto, AxisType.Explicit])
def test_rows_along_the_axes_of_a_mesh_of_two(axis_type):
    mesh = jax.make_mesh((2, 3), ("host", "device"), axis_types=(axis_type,) * 2)
    keys = make_keys("four_values", 6 * NUM_ROWS, np.dtype(np.float64), 6)
    values = np.arange(keys.size)

    both = PartitionSpec(("host", "device"))
    actual = sort_along(mesh, ("host", "device"), both, keys, values)
    oracles.assert_same_bits(actual, oracles.sort(keys, values=values))

    swapped = PartitionSpec(("device", "host"))
    actual = sort_along(mesh, ("device", "host"), swapped, keys, values)
    oracles.assert_same_bits(actual, oracles.sort(keys, values=values))

    # Along one axis, each row of the other sorts by itself.
    matrix = keys.reshape(2, -1), values.reshape(2, -1)
    one = PartitionSpec("host", "device")
    actual = sort_along(mesh, "device", one, *matrix)
    expected = [oracles.sort(*row[:1], values=row[1]) for row in zip(*matrix, strict=True)]
    oracles.assert_same_bits(actual, jax.tree.map(lambda *rows: np.stack(rows), *expected))


def test_rows_that_are_the_same_on_every_shard():
    # JAX knows replicated rows for such; the sort takes every copy for rows of its shard.
    keys = make_keys("uniform", NUM_ROWS, np.dtype(np.int32))
    sort = jax.jit(
        jax.shard_map(
            functools.partial(collective.radix_sort, axis_name="rows"),
            mesh=mesh_of(3),
            in_specs=PartitionSpec(),
            out_specs=PartitionSpec("rows"),
        )
    )
    oracles.assert_same_bits(sort(keys), np.sort(np.tile(keys, 3)))


# Derivatives: against finite differences, forward and reverse, first and second order


def on_flat_shards(function, num_shards=3):
    by_row = PartitionSpec("rows")
    return jax.jit(
        jax.shard_map(function, mesh=mesh_of(num_shards), in_specs=by_row, out_specs=by_row)
    )


def check_weighted_derivatives(function, *arguments):
    def weighted(*arguments):
        leaves = [leaf for leaf in jax.tree.leaves(function(*arguments)) if leaf.dtype == float]
        # Each place has a weight of its own: a derivative in the wrong place shows.
        return sum(
            jnp.vdot(jnp.arange(1.0, leaf.size + 1) / leaf.size, leaf.reshape(-1))
            for leaf in leaves
        )

    check_derivatives(weighted, *arguments)


def distinct_keys(num_rows, seed=0):
    """Keys that lie further apart than a finite difference moves them."""
    return np.random.default_rng(seed).permutation(num_rows) / 4.0


VALUES = np.random.default_rng(1).standard_normal((15, 2))


def test_derivatives_of_a_sort():
    def sort(keys, values):
        return collective.radix_sort(
            jnp.sin(keys / 4),
            values={"cubes": values**3, "halves": values.astype(jnp.float32), "id": keys < 0},
            axis_name="rows",
            num_valid=4,
            descending=True,
        )

    check_weighted_derivatives(on_flat_shards(sort), distinct_keys(15), VALUES)


@pytest.mark.parametrize("capacity", [None, 3, 20])
def test_derivatives_of_a_partition(capacity):
    destination = jnp.array([0, 2, 2, 5, 1, 2, 2, 2, 2, 2, 0, 0, -1, 1, 2], jnp.int32)

    def partition(rows, destination):
        sent = collective.partition(
            {"cubes": rows**3, "destination": destination},
            destination,
            axis_name="rows",
            capacity=capacity,
        )
        return sent.rows

    check_weighted_derivatives(lambda rows: on_flat_shards(partition)(rows, destination), VALUES)


def test_derivatives_under_vmap_and_checkpoint():
    def sort(keys, values):
        return collective.radix_sort(jnp.sin(keys / 4), values=values**2, axis_name="rows")

    keys = np.stack([distinct_keys(15), distinct_keys(15, seed=1)], axis=1)
    batched = on_flat_shards(jax.checkpoint(jax.vmap(sort, in_axes=1, out_axes=1)))
    check_weighted_derivatives(batched, keys, VALUES)


def test_gradients_of_replicated_values_are_summed_over_shards():
    by_row = PartitionSpec("rows")

    @functools.partial(
        jax.shard_map, mesh=mesh_of(3), in_specs=(by_row, PartitionSpec()), out_specs=by_row
    )
    def sort(keys, scale):
        _, values = collective.radix_sort(
            keys, values=jnp.broadcast_to(scale, keys.shape), axis_name="rows"
        )
        return values

    weights = jnp.arange(15.0)
    gradient = jax.jit(jax.grad(lambda scale: jnp.vdot(weights, sort(distinct_keys(15), scale))))
    assert gradient(2.0) == weights.sum()
