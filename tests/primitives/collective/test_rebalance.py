# SPDX-License-Identifier: Apache-2.0
"""`collective.rebalance` and `collective.compact` against the NumPy oracle."""

import functools

import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jax.test_util import check_grads
from jaxframes.primitives import collective
from jaxframes.primitives.collective._rebalance import deal_out_rows
from jaxframes.primitives.collective._sorted_runs import Dealing
from on_shards import (
    SHARD_COUNTS,
    dealt_out,
    even_shares,
    noting,
    on_shards,
    row_counts,
    row_ids,
    valid_rows,
)

NUM_ROWS = 36


@functools.cache
def rebalancer(num_shards, capacity=None, transport="auto"):
    def rebalance(rows, num_valid):
        return collective.rebalance(
            rows, num_valid=num_valid, axis_name="rows", capacity=capacity, transport=transport
        )

    return on_shards(rebalance, num_shards)


@functools.cache
def compactor(num_shards, capacity=None, return_index=False):
    def compact(mask, rows, num_valid):
        return collective.compact(
            mask,
            rows,
            axis_name="rows",
            capacity=capacity,
            num_valid=num_valid,
            return_index=return_index,
        )

    return on_shards(compact, num_shards)


@functools.cache
def filler(num_shards, capacity):
    """Deals out so that each shard is full before the next gets a row."""
    dealing = Dealing("rows", "full", "auto", capacity)
    return on_shards(lambda rows, num_valid: deal_out_rows(rows, num_valid, dealing), num_shards)


def dealt(sequence, shares, capacity):
    """The result that has these shares of a sequence; what passes the capacity is left behind."""
    starts = np.cumsum([0, *shares])
    kept = [
        sequence[start:][: min(share, capacity)]
        for start, share in zip(starts, shares, strict=False)
    ]
    rows = dealt_out(np.concatenate(kept), [len(part) for part in kept], capacity)
    return rows, np.array(shares, np.int32)


def sequence_of(rows, counts, mask=None):
    flags = np.ones(rows.shape, bool) if mask is None else mask
    return valid_rows(rows, counts)[valid_rows(flags, counts)]


# Matches the oracle; rows are conserved, being compared one by one


@pytest.mark.parametrize("num_shards", SHARD_COUNTS)
def test_every_number_of_valid_rows(num_shards):
    rows = row_ids(num_shards, NUM_ROWS) + 1
    masks = {
        "random": np.random.default_rng(0).random(rows.shape) < 0.5,
        "first shard": np.indices(rows.shape)[0] == 0,
        "none": np.zeros(rows.shape, bool),
    }
    for name, counts in row_counts(num_shards, NUM_ROWS).items():
        with noting(name):
            shares = even_shares(int(counts.sum()), num_shards)
            expected = dealt(sequence_of(rows, counts), shares, NUM_ROWS)
            actual = rebalancer(num_shards)(rows, counts)
            assert isinstance(actual, collective.Partitioned)
            oracles.assert_same_bits(tuple(actual), expected)
            for mask_name, mask in masks.items():
                with noting(mask_name):
                    sequence = sequence_of(rows, counts, mask)
                    shares = even_shares(len(sequence), num_shards)
                    actual = compactor(num_shards)(mask, rows, counts)
                    assert isinstance(actual, collective.Compacted)
                    kept, share_sizes = dealt(sequence, shares, NUM_ROWS)
                    oracles.assert_same_bits(tuple(actual), (kept, None, share_sizes))


def test_compact_returns_global_row_ids():
    ids = row_ids(3, NUM_ROWS)
    mask = ids % 3 != 1
    for name, counts in row_counts(3, NUM_ROWS).items():
        sequence = sequence_of(ids, counts, mask)
        kept, sizes = dealt(sequence, even_shares(len(sequence), 3), NUM_ROWS)
        with noting(name):
            beside = compactor(3, return_index=True)(mask, ids + 1, counts)
            rows = np.where(np.arange(NUM_ROWS) < sizes[:, None], kept + 1, 0)
            oracles.assert_same_bits(tuple(beside), (rows.astype(ids.dtype), kept, sizes))
            alone = compactor(3)(mask, None, counts)
            oracles.assert_same_bits(tuple(alone), (None, kept, sizes))


@pytest.mark.parametrize("transport", ["ragged", "one_hop", "two_hop"])
def test_every_transport(transport):
    rows = row_ids(5, NUM_ROWS) + 1
    for name in ("all", "all on the last shard", "growing"):
        counts = row_counts(5, NUM_ROWS)[name]
        expected = dealt(sequence_of(rows, counts), even_shares(int(counts.sum()), 5), NUM_ROWS)
        with noting(name):
            actual = rebalancer(5, transport=transport)(rows, counts)
            oracles.assert_same_bits(tuple(actual), expected)


@pytest.mark.parametrize("capacity", [1, 10, 40])
def test_capacities(capacity):
    rows = row_ids(3, NUM_ROWS) + 1
    for name, counts in row_counts(3, NUM_ROWS).items():
        with noting(name):
            sequence = sequence_of(rows, counts)
            shares = even_shares(len(sequence), 3)
            actual = rebalancer(3, capacity)(rows, counts)
            oracles.assert_same_bits(tuple(actual), dealt(sequence, shares, capacity))
            mask = rows % 2 == 0
            sequence = sequence_of(rows, counts, mask)
            actual = compactor(3, capacity)(mask, rows, counts)
            kept, share_sizes = dealt(sequence, even_shares(len(sequence), 3), capacity)
            oracles.assert_same_bits(tuple(actual), (kept, None, share_sizes))


@pytest.mark.parametrize("capacity", [1, 20])
def test_fills_one_shard_after_the_other(capacity):
    rows = row_ids(5, NUM_ROWS) + 1
    for name, counts in row_counts(5, NUM_ROWS).items():
        total = int(counts.sum())
        shares = [min(max(total - shard * capacity, 0), capacity) for shard in range(4)]
        expected = dealt(sequence_of(rows, counts), [*shares, total - sum(shares)], capacity)
        with noting(name):
            actual = filler(5, capacity)(rows, counts)
            oracles.assert_same_bits(actual, expected)


@pytest.mark.parametrize("num_rows", [0, 1, 3])
def test_fewer_rows_than_shards(num_rows):
    for num_shards in (1, 8):
        rows = row_ids(num_shards, num_rows) + 1
        for name, counts in row_counts(num_shards, num_rows).items():
            shares = even_shares(int(counts.sum()), num_shards)
            with noting((num_shards, name)):
                actual = rebalancer(num_shards)(rows, counts)
                expected = dealt(sequence_of(rows, counts), shares, num_rows)
                oracles.assert_same_bits(tuple(actual), expected)


def test_moves_rows_of_every_kind():
    ids = row_ids(3, NUM_ROWS)
    rows = {
        "bool": ids % 3 == 0,
        "pair": (np.where(ids % 5 == 0, np.nan, -0.0 * ids), ids.astype(jnp.bfloat16)),
        "uint64 matrix": np.stack([ids, ids + 1], -1).astype(np.uint64) << np.uint64(40),
        "none": None,
    }
    counts = row_counts(3, NUM_ROWS)["growing"]
    expected = dealt_out(valid_rows(rows, counts), even_shares(int(counts.sum()), 3), NUM_ROWS)
    oracles.assert_same_bits(rebalancer(3)(rows, counts).rows, expected)


@pytest.mark.usefixtures("x64_off")
def test_without_x64():
    rows = row_ids(3, NUM_ROWS) + 1
    counts = row_counts(3, NUM_ROWS)["growing"]
    mask = rows % 2 == 0
    sequence = sequence_of(rows, counts, mask)
    actual = compactor(3, 30)(mask, rows, counts)
    kept, share_sizes = dealt(sequence, even_shares(len(sequence), 3), 30)
    oracles.assert_same_bits(tuple(actual), (kept, None, share_sizes))


# Derivatives


def test_derivatives_match_finite_differences():
    counts = row_counts(2, 4)["growing"]
    mask = row_ids(2, 4) % 3 != 1
    weights = np.arange(1.0, 9).reshape(2, 4)
    compact = on_shards(
        lambda mask, rows, num_valid: collective.compact(
            mask, rows, axis_name="rows", num_valid=num_valid, transport="one_hop"
        ),
        2,
        compiler_options=None,
    )

    def weighted(rows):
        return jnp.sum(weights * compact(mask, jnp.sin(rows), counts).rows ** 2)

    check_grads(weighted, (weights / 5,), order=2, modes=("fwd", "rev"))
