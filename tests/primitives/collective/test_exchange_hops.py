# SPDX-License-Identifier: Apache-2.0
"""Hops on CPU: rows taken by order and put at positions, whichever hops carry them.

Few rows take one hop by "auto". On CPU "ragged" chooses between one hop and two for any number.
"""

import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import collective
from on_shards import mesh_of, noting, on_shards
from sent_rows import adversarial_destinations, nonzero_rows

NUM_ROWS = 37
TRANSPORTS = ("one_hop", "two_hop", "ragged")


def there_and_back(rows, destination, capacity=NUM_ROWS, transport="ragged"):
    sent = collective.dispatch(
        rows, destination, axis_name="rows", capacity=capacity, transport=transport
    )
    return sent.rows, collective.combine(sent.rows, sent.routing), sent.count


def arrivals(destination, capacity):
    """For each shard the flat ids of the rows that it receives; and the true counts."""
    flat = destination.reshape(-1)
    wanted = [np.flatnonzero(flat == shard) for shard in range(len(destination))]
    return [ids[:capacity] for ids in wanted], np.array([len(ids) for ids in wanted])


def zeros_but(leaf, ids):
    """The rows with these flat ids, and zeros in place of all others."""
    flat = leaf.reshape(-1, *leaf.shape[2:])
    kept = np.zeros_like(flat)
    kept[ids] = flat[ids]
    return kept.reshape(leaf.shape)


def payload(num_shards):
    ids = nonzero_rows(num_shards, NUM_ROWS)
    rng = np.random.default_rng(0)
    return {
        "word": ids.astype(np.uint32),
        "row": rng.standard_normal((*ids.shape, 3)).astype(np.float32),
        "half": rng.standard_normal((*ids.shape, 1)).astype(jnp.bfloat16),
        "byte": rng.integers(-128, 127, ids.shape).astype(np.int8),
        "flag": rng.random(ids.shape) < 0.5,
    }


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize(
    ("num_shards", "capacity"), [(2, 30), (3, NUM_ROWS), (8, NUM_ROWS), (8, 5), (8, 8 * NUM_ROWS)]
)
def test_rows_arrive_and_return(num_shards, capacity, transport):
    rows = payload(num_shards)
    call = functools.partial(there_and_back, capacity=capacity, transport=transport)
    run = on_shards(call, num_shards)
    for name, destination in adversarial_destinations(num_shards, NUM_ROWS).items():
        received, back, counts = run(rows, destination)
        fitting, expected_counts = arrivals(destination, capacity)
        with noting(name):
            np.testing.assert_array_equal(counts, expected_counts)
            expected = jax.tree.map(lambda leaf: zeros_but(leaf, np.concatenate(fitting)), rows)  # noqa: B023
            oracles.assert_same_bits(back, expected)
            for shard, ids in enumerate(fitting):
                arrived = jax.tree.map(lambda leaf: leaf[shard, : len(ids)], received)  # noqa: B023
                expected = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:])[ids], rows)  # noqa: B023
                oracles.assert_same_bits(arrived, expected)
                assert not np.any(received["word"][shard, len(ids) :])


@pytest.mark.usefixtures("x64_off")
def test_rows_arrive_and_return_without_x64():
    rows = payload(8)
    destination = adversarial_destinations(8, NUM_ROWS)["half to one"].astype(np.int32)
    _, back, _ = on_shards(there_and_back, 8)(rows, destination)
    fitting, _ = arrivals(destination, NUM_ROWS)
    expected = jax.tree.map(lambda leaf: zeros_but(leaf, np.concatenate(fitting)), rows)
    oracles.assert_same_bits(back, expected)


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("name", ["random", "round robin", "all to the first", "none"])
def test_derivatives_take_the_same_way(name, transport):
    num_shards = 8
    destination = adversarial_destinations(num_shards, NUM_ROWS)[name]
    rows = np.random.default_rng(1).standard_normal((num_shards, NUM_ROWS, 2))

    def trip(rows, destination):
        return there_and_back(rows, destination, transport=transport)[1]

    def derivatives(rows, destination):
        call = functools.partial(trip, destination=destination)
        back, tangents = jax.jvp(call, (rows,), (rows,))
        return back, tangents, jax.vjp(call, rows)[1](rows)[0]

    fitting, _ = arrivals(destination, NUM_ROWS)
    expected = zeros_but(rows, np.concatenate(fitting))
    for found in on_shards(derivatives, num_shards)(rows, destination):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("names", [("random", "round robin"), ("round robin", "all to the last")])
def test_a_batch_takes_one_way(names):
    num_shards = 8
    destinations = adversarial_destinations(num_shards, NUM_ROWS)
    batch = np.stack([destinations[name] for name in names], axis=1)
    rows = np.random.default_rng(2).standard_normal((num_shards, 2, NUM_ROWS, 2))
    found = on_shards(jax.vmap(there_and_back), num_shards)(rows, batch)
    each = on_shards(there_and_back, num_shards)
    for i in range(2):
        expected = each(rows[:, i], batch[:, i])
        oracles.assert_same_bits(jax.tree.map(lambda leaf: leaf[:, i], found), expected)  # noqa: B023


@pytest.mark.parametrize(
    ("num_shards", "capacity", "num_hops"),
    [(2, NUM_ROWS, 1), (8, NUM_ROWS, 2), (8, 10, 1), (8, 8 * NUM_ROWS, 1)],
)
def test_hops_of_the_program(num_shards, capacity, num_hops):
    def partition(rows, destination):
        return collective.partition(
            rows, destination, axis_name="rows", capacity=capacity, transport="ragged"
        ).rows

    by_row = jax.sharding.PartitionSpec("rows")
    mapped = jax.shard_map(partition, mesh=mesh_of(num_shards), in_specs=by_row, out_specs=by_row)
    rows = jnp.ones((num_shards * NUM_ROWS, 5), np.float32)
    destination = jnp.zeros(num_shards * NUM_ROWS, np.int32)
    text = jax.jit(mapped).lower(rows, destination).compile().as_text()
    assert len(re.findall(r" all-to-all\(", text)) == num_hops
