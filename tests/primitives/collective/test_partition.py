# SPDX-License-Identifier: Apache-2.0
"""`collective.partition` against the NumPy oracle: adversarial destinations, any capacity."""

import functools

import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jaxframes.primitives import collective
from key_distributions import INTEGER_DTYPES
from on_shards import SHARD_COUNTS, noting, on_shards, row_counts, row_ids
from sent_rows import adversarial_destinations, expected_partition, nonzero_rows

NUM_ROWS = 36
TRANSPORTS = ("auto", "ragged", "one_hop", "two_hop")


@functools.cache
def partitioner(num_shards, capacity=None, transport="auto"):
    """Partitions `(rows, destination, num_valid)`."""

    def partition(rows, destination, num_valid):
        return collective.partition(
            rows,
            destination,
            axis_name="rows",
            capacity=capacity,
            num_valid=num_valid,
            transport=transport,
        )

    return on_shards(partition, num_shards)


def check(rows, destination, counts, capacity=None, transport="auto"):
    actual = partitioner(len(counts), capacity, transport)(rows, destination, counts)
    expected = expected_partition(rows, destination, counts, capacity)
    oracles.assert_same_bits(actual, expected)


# Matches the oracle


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("num_shards", [3, 8])
def test_every_transport(transport, num_shards):
    for name, destination in adversarial_destinations(num_shards, NUM_ROWS).items():
        for counted in ("all", "growing", "all on the last shard"):
            counts = row_counts(num_shards, NUM_ROWS)[counted]
            with noting((name, counted)):
                check(nonzero_rows(num_shards, NUM_ROWS), destination, counts, transport=transport)


@pytest.mark.parametrize("num_shards", SHARD_COUNTS)
def test_every_number_of_valid_rows(num_shards):
    destinations = adversarial_destinations(num_shards, NUM_ROWS)
    for counted, counts in row_counts(num_shards, NUM_ROWS).items():
        for name in ("random", "all to the last", "mirrored"):
            with noting((name, counted)):
                check(nonzero_rows(num_shards, NUM_ROWS), destinations[name], counts)


@pytest.mark.parametrize("num_rows", [0, 1, 3])
def test_fewer_rows_than_shards(num_rows):
    for num_shards in (1, 2, 8):
        counts = row_counts(num_shards, num_rows)["all"]
        for name, destination in adversarial_destinations(num_shards, num_rows).items():
            with noting((num_shards, name)):
                check(nonzero_rows(num_shards, num_rows), destination, counts)


def test_moves_rows_of_every_kind():
    ids = row_ids(3, NUM_ROWS)
    rows = {
        "bool": ids % 3 == 0,
        "int8": (ids % 251 - 125).astype(np.int8),
        "float16 matrix": np.stack([ids, -ids, ids + 1], -1).astype(np.float16),
        "pair": (np.where(ids % 5 == 0, np.nan, -0.0 * ids), ids.astype(jnp.bfloat16)),
        "complex64": (ids - 1j * ids).astype(np.complex64),
        "uint64": ids.astype(np.uint64) << np.uint64(40),
        "no column": np.zeros((*ids.shape, 0), np.int16),
        "none": None,
    }
    for name, destination in adversarial_destinations(3, NUM_ROWS).items():
        with noting(name):
            check(rows, destination, row_counts(3, NUM_ROWS)["all"], capacity=2 * NUM_ROWS)


def test_rows_that_hold_no_word_at_all():
    rows = np.zeros((3, NUM_ROWS, 0), np.float32)
    counts = row_counts(3, NUM_ROWS)["all"]
    check(rows, adversarial_destinations(3, NUM_ROWS)["random"], counts)


@pytest.mark.parametrize("dtype", INTEGER_DTYPES, ids=str)
def test_destinations_of_every_integer_dtype(dtype):
    # The extremes of a wide dtype must not wrap into the range of the shards.
    limits = np.iinfo(dtype)
    destination = np.resize(np.array([0, 1, 2, 3, limits.max, limits.min], dtype), (3, NUM_ROWS))
    check(nonzero_rows(3, NUM_ROWS), destination, row_counts(3, NUM_ROWS)["all"])


# Any capacity: what does not fit is counted, what does is in its place


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("capacity", [1, 17, 100])
def test_capacities(capacity, transport):
    num_shards = 3 if capacity == 17 else 8
    for name, destination in adversarial_destinations(num_shards, NUM_ROWS).items():
        for counted in ("all", "growing"):
            counts = row_counts(num_shards, NUM_ROWS)[counted]
            with noting((name, counted)):
                check(nonzero_rows(num_shards, NUM_ROWS), destination, counts, capacity, transport)


def test_no_capacity_counts_only():
    counts = row_counts(8, NUM_ROWS)["growing"]
    for name, destination in adversarial_destinations(8, NUM_ROWS).items():
        with noting(name):
            check(nonzero_rows(8, NUM_ROWS), destination, counts, capacity=0)
    for capacity in (0, 10, 100):
        destination = np.array([[0, 1, 0] * 12])
        check(nonzero_rows(1, NUM_ROWS), destination, np.array([30], np.int32), capacity)


def test_room_for_every_row_of_the_mesh():
    destination = adversarial_destinations(5, NUM_ROWS)["all to the last"]
    counts = row_counts(5, NUM_ROWS)["all"]
    for transport in ("one_hop", "two_hop"):
        check(nonzero_rows(5, NUM_ROWS), destination, counts, 5 * NUM_ROWS, transport)


# The automatic choice


@pytest.mark.parametrize("num_shards", [2, 8])
def test_where_one_hop_gives_way_to_two(num_shards):
    # One hop has room for a quarter above the mean. Runs of that many rows, and of one more, among
    # rows that are too many to have room for all of them in each pair.
    num_rows = (1 << 14) // num_shards + NUM_ROWS
    room = -(-5 * num_rows // (4 * num_shards))
    counts = row_counts(num_shards, num_rows)["all"]
    for longest in (room - 1, room, room + 1):
        rest = np.arange(num_rows - longest) % num_shards
        destination = np.tile(np.concatenate([np.ones(longest, int), rest]), (num_shards, 1))
        with noting(longest):
            check(nonzero_rows(num_shards, num_rows), destination, counts)


# Laws


def test_rows_are_conserved():
    for name, destination in adversarial_destinations(8, NUM_ROWS).items():
        for counted, counts in row_counts(8, NUM_ROWS).items():
            rows = nonzero_rows(8, NUM_ROWS)
            received, count = partitioner(8, 8 * NUM_ROWS)(rows, destination, counts)
            is_sent = (destination >= 0) & (destination < 8)
            is_sent &= np.arange(NUM_ROWS) < counts[:, None]
            received = np.asarray(received)
            with noting((name, counted)):
                assert int(np.asarray(count).sum()) == is_sent.sum()
                assert sorted(received[received > 0]) == sorted(rows[is_sent])


@given(st.data())
def test_any_destinations(data):
    num_shards, capacity = data.draw(st.sampled_from([(2, 5), (3, 7), (8, 12)]))
    transport = data.draw(st.sampled_from(["one_hop", "two_hop"]))
    few = st.sampled_from([-1, 0, num_shards - 1, num_shards])
    entry = data.draw(st.sampled_from([few, st.integers(-1, num_shards)]))
    row = st.lists(entry, min_size=12, max_size=12)
    destination = np.array(
        data.draw(st.lists(row, min_size=num_shards, max_size=num_shards)), np.int32
    )
    counts = data.draw(st.lists(st.integers(0, 12), min_size=num_shards, max_size=num_shards))
    rows = nonzero_rows(num_shards, 12)
    check(rows, destination, np.array(counts, np.int32), capacity, transport)
