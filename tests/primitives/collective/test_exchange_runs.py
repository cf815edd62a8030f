# SPDX-License-Identifier: Apache-2.0
"""Rows that NumPy moves to the positions of an exchange arrive by source, in their order."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives.collective._exchange_blocks import BY_ROW
from jaxframes.primitives.collective._exchange_runs import (
    destination_sources,
    exclusive,
    plan_runs,
    returning,
    run_positions,
    run_sources,
    stripe_capacity,
    stripe_positions,
    way_sources,
)
from on_shards import on_shards

SHARDS = 4


def found_on_shards(function, lengths):
    """The results of a function on each shard, which has a row of the lengths."""
    return jax.tree.map(np.asarray, on_shards(function, SHARDS)(jnp.asarray(lengths)))


def lengths_of(kind):
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 9, (SHARDS, SHARDS))
    if kind == "one owner":
        lengths = np.zeros_like(lengths)
        lengths[:, 2] = [5, 0, 7, 3]
    if kind == "an empty shard":
        lengths[1] = lengths[:, 3] = 0
    return lengths.astype(np.int32)


KINDS = ["random", "one owner", "an empty shard"]


@pytest.mark.parametrize("capacity", [0, 5, 100])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_past_a_capacity_are_counted_and_not_sent(kind, capacity):
    lengths = lengths_of(kind)
    plan = functools.partial(plan_runs, capacity=capacity, axis_name="rows")
    runs = found_on_shards(plan, lengths)
    np.testing.assert_array_equal(runs.count, lengths.sum(axis=0))
    np.testing.assert_array_equal(runs.starts, np.cumsum(lengths, axis=1) - lengths)
    for sent in runs.sent:
        assert np.all(sent <= lengths)
        np.testing.assert_array_equal(sent.sum(axis=0), np.minimum(lengths.sum(axis=0), capacity))
        # The first sources come first.
        for destination in range(SHARDS):
            full = np.cumsum(lengths[:, destination]).clip(max=capacity)
            np.testing.assert_array_equal(np.cumsum(sent[:, destination]), full)


@pytest.mark.parametrize("kind", KINDS)
def test_the_return_trip_has_the_runs_turned_around(kind):
    lengths = lengths_of(kind)
    runs = found_on_shards(lambda row: returning(plan_runs(row, 100, "rows"), "rows"), lengths)
    np.testing.assert_array_equal(runs.sent[0], lengths.T)
    np.testing.assert_array_equal(runs.count, lengths.sum(axis=1))
    np.testing.assert_array_equal(runs.starts, (np.cumsum(lengths, axis=0) - lengths).T)


def rows_of(lengths):
    """The rows of each shard, which say whence, whither and which they are."""
    return [
        [(source, d, row) for d in range(SHARDS) for row in range(lengths[source, d])]
        for source in range(SHARDS)
    ]


def received(lengths):
    return [
        [(source, d, row) for source in range(SHARDS) for row in range(lengths[source, d])]
        for d in range(SHARDS)
    ]


def taken(rows, positions):
    """The rows at positions; None past the end, where blocks have no row."""
    return [rows[at] if 0 <= at < len(rows) else None for at in positions]


@pytest.mark.parametrize("kind", KINDS)
def test_one_hop(kind):
    lengths = lengths_of(kind)
    pair_rows, capacity = int(lengths.max()), int(lengths.sum(axis=0).max())

    def positions(row):
        runs = plan_runs(row, capacity, "rows")
        results = jnp.arange(capacity, dtype=jnp.int32)
        sources = run_sources(runs, pair_rows)
        return sources, run_positions(runs, results, pair_rows, "rows", BY_ROW)

    sources, found = found_on_shards(positions, lengths)
    blocks = [
        [taken(rows, sources[shard][d]) for d in range(SHARDS)]
        for shard, rows in enumerate(rows_of(lengths))
    ]
    for shard, expected in enumerate(received(lengths)):
        arrived = [row for source in range(SHARDS) for row in blocks[source][shard]]
        assert taken(arrived, found[shard])[: len(expected)] == expected


@pytest.mark.parametrize("kind", KINDS)
def test_two_hops(kind):
    lengths = lengths_of(kind)
    num_rows, capacity = int(lengths.sum(axis=1).max()), int(lengths.sum(axis=0).max())
    first, second = stripe_capacity(num_rows, SHARDS), stripe_capacity(capacity, SHARDS)

    def positions(row):
        runs = plan_runs(row, capacity, "rows")
        shards = jnp.arange(SHARDS, dtype=jnp.int32)
        results = jnp.arange(capacity, dtype=jnp.int32)
        return (
            way_sources(runs, shards, first, "rows", BY_ROW),
            destination_sources(runs, shards, first, second, "rows", BY_ROW),
            stripe_positions(runs, results, shards, second, "rows", BY_ROW),
        )

    to_way, to_destination, found = found_on_shards(positions, lengths)

    def swapped(rows, sources):
        blocks = [[taken(own, block) for block in sources[s]] for s, own in enumerate(rows)]
        return [[row for s in range(SHARDS) for row in blocks[s][d]] for d in range(SHARDS)]

    arrived = swapped(swapped(rows_of(lengths), to_way), to_destination)
    for shard, expected in enumerate(received(lengths)):
        assert taken(arrived[shard], found[shard])[: len(expected)] == expected


def test_a_stripe_fits_its_block():
    rng = np.random.default_rng(1)
    for shards in (2, 3, 8):
        for _ in range(50):
            runs = rng.integers(0, 30, shards)
            # Stripe k of run d has the rows u with u mod p = k; a block has one of each run.
            stripes = [[len(range(k, length, shards)) for k in range(shards)] for length in runs]
            for way in range(shards):
                block = sum(stripes[d][(way - d) % shards] for d in range(shards))
                assert block <= stripe_capacity(int(runs.sum()), shards)


def test_exclusive():
    counts = jnp.array([[3, 0, 2], [1, 1, 1]], jnp.int32)
    np.testing.assert_array_equal(exclusive(counts, axis=1), [[0, 3, 3], [0, 1, 2]])
