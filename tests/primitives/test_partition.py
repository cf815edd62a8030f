# SPDX-License-Identifier: Apache-2.0
"""`partition` of whole arrays over a mesh; its transports are tested with the collective."""

import jax
import numpy as np
import oracles
import pytest
from jax.sharding import AxisType
from jaxframes import primitives, shardings
from on_shards import mesh_of, noting
from sent_rows import adversarial_destinations, expected_partition


def padded(rows, num_shards):
    """Rows as `[shards, rows]` and the valid rows of each; all padding is at the end."""
    capacity = -(-len(rows) // num_shards)
    counts = np.clip(len(rows) - capacity * np.arange(num_shards), 0, capacity)
    rows = np.pad(rows, (0, num_shards * capacity - len(rows)))
    return rows.reshape(num_shards, capacity), counts.astype(np.int32)


def expected_of(rows, destination, num_shards, capacity):
    shards, counts = padded(rows, num_shards)
    sent = expected_partition(shards, padded(destination, num_shards)[0], counts, capacity)
    return primitives.Partitioned(sent.rows.reshape(-1), sent.count)


@pytest.mark.parametrize("num_rows", [0, 1, 24, 29])
@pytest.mark.parametrize("num_shards", [1, 3, 8])
def test_an_eager_call_finds_the_room_that_it_needs(num_rows, num_shards):
    rows = np.arange(1, num_rows + 1, dtype=np.int32)
    capacity_of = {}
    for name, destination in adversarial_destinations(num_shards, num_rows).items():
        destination = destination.reshape(-1)[:num_rows]
        counts = np.bincount(destination[(destination >= 0) & (destination < num_shards)])
        capacity = capacity_of[name] = max(counts, default=0)
        with noting(name):
            actual = primitives.partition(rows, destination, mesh_of(num_shards))
            expected = expected_of(rows, destination, num_shards, capacity)
            oracles.assert_same_bits(actual, expected)
            sharding = shardings.row_sharded(mesh_of(num_shards))
            # XLA replicates empty arrays.
            assert capacity == 0 or actual.rows.sharding.is_equivalent_to(sharding, 1)
    assert capacity_of["none"] == 0


def test_a_traced_call_gives_a_shard_the_room_that_it_sends():
    rows = np.arange(1, 30, dtype=np.int32)
    destination = np.where(rows % 3 == 0, 2, rows % 8)
    actual = jax.jit(lambda r, d: primitives.partition(r, d, mesh_of(8)))(rows, destination)
    oracles.assert_same_bits(actual, expected_of(rows, destination, 8, capacity=4))
    assert actual.count.max() > 4


@pytest.mark.parametrize("transport", ["auto", "ragged", "one_hop", "two_hop"])
def test_every_transport_on_explicit_axes_of_a_mesh_of_two(transport):
    mesh = jax.make_mesh((2, 3), ("host", "device"), axis_types=(AxisType.Explicit,) * 2)
    rows = np.arange(1, 27, dtype=np.int32)
    destination = np.minimum(rows % 8, 5)
    for axis, num_shards in ((None, 6), ("device", 3)):
        actual = primitives.partition(
            rows, destination, mesh, capacity=20, axis=axis, transport=transport
        )
        with noting(axis):
            oracles.assert_same_bits(actual, expected_of(rows, destination, num_shards, 20))


def test_too_small_a_capacity_names_the_one_that_suffices():
    rows = np.arange(100)
    destination = np.where(rows < 76, 1, 0)
    message = "partition: 76 rows do not fit a capacity of 64. Call again with capacity=76 or more."
    with pytest.raises(primitives.CapacityError) as error:
        primitives.partition(rows, destination, mesh_of(3), capacity=64)
    assert str(error.value) == message
    assert error.value.needed == 76
    assert isinstance(error.value, ValueError)
    fits = primitives.partition(rows, destination, mesh_of(3), capacity=error.value.needed)
    assert fits.count.tolist() == [24, 76, 0]
