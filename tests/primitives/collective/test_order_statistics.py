# SPDX-License-Identifier: Apache-2.0
"""`collective.top_k` and `collective.select_rank` against the NumPy oracle."""

import functools

import jax
import numpy as np
import oracles
import pytest
from jaxframes.primitives import collective
from key_distributions import INTEGER_DTYPES, KEY_DTYPES, distributions_for, make_keys
from on_shards import (
    SHARD_COUNTS,
    into_shards,
    noting,
    on_shards,
    row_counts,
    row_ids,
    valid_rows,
)

NUM_ROWS = 19
DTYPES_ON_SHARDS = [
    pytest.param(dtype, (8, 1, 3, 2, 5)[i % 5], id=f"{dtype}-{(8, 1, 3, 2, 5)[i % 5]}")
    for i, dtype in enumerate(KEY_DTYPES)
]


def sharded_keys(distribution, num_shards, dtype):
    keys = make_keys(distribution, num_shards * NUM_ROWS, dtype, num_shards)
    return into_shards(keys, num_shards)


def of_every_shard(result):
    """A result that every shard has; fails where they differ."""
    leaves = [np.asarray(leaf) for leaf in result]
    for leaf in leaves:
        for shard in leaf[1:]:
            oracles.assert_same_bits(shard, leaf[0])
    return tuple(leaf[0] for leaf in leaves)


# top_k


@functools.cache
def top_k_finder(num_shards, k, largest=True):
    def top_k(x, num_valid):
        return collective.top_k(x, k, axis_name="rows", largest=largest, num_valid=num_valid)

    return on_shards(top_k, num_shards)


def check_top_k(x, counts, k, largest=True):
    values, found = of_every_shard(top_k_finder(len(counts), k, largest)(x, counts))
    assert values.shape == found.shape == (k,)
    num_found = min(k, int(counts.sum()))
    rows = valid_rows(x, counts), valid_rows(row_ids(len(counts), NUM_ROWS), counts)
    order = oracles.argsort(rows[0], descending=largest)[:num_found]
    # The rows after the valid ones are padding.
    oracles.assert_same_bits((values[:num_found], found[:num_found]), oracles.take(rows, order))


@pytest.mark.parametrize(("dtype", "num_shards"), DTYPES_ON_SHARDS)
def test_top_k_of_every_dtype_and_distribution(dtype, num_shards):
    largest = KEY_DTYPES.index(dtype) % 2 == 0
    counts = row_counts(num_shards, NUM_ROWS)
    for i, distribution in enumerate(distributions_for(dtype)):
        x = sharded_keys(distribution, num_shards, dtype)
        for name in ("all", list(counts)[i % len(counts)]):
            with noting((distribution, name)):
                check_top_k(x, counts[name], 7, largest)


@pytest.mark.parametrize("num_shards", SHARD_COUNTS)
def test_every_k(num_shards):
    # Fewer than a shard holds, as many, more, and every row.
    x = sharded_keys("zipf", num_shards, np.dtype(np.int32))
    for k in sorted({0, 1, NUM_ROWS, NUM_ROWS + 1, num_shards * NUM_ROWS}):
        if k <= num_shards * NUM_ROWS:
            for name, counts in row_counts(num_shards, NUM_ROWS).items():
                with noting((k, name)):
                    check_top_k(x, counts, k)


def test_padding_never_passes_for_a_row():
    # Padding larger than any row that counts.
    x = np.full((5, NUM_ROWS), np.inf)
    x[:, :3] = -np.inf
    for counts in ([3] * 5, [0, 0, 3, 0, 1], [2, 0, 0, 0, 0]):
        check_top_k(x, np.array(counts, np.int32), 7)


# select_rank


@functools.cache
def selector(num_shards):
    def select_rank(x, ranks, num_valid):
        # The same on every shard, and known to be.
        ranks = jax.lax.pmax(ranks, "rows")
        return collective.select_rank(x, ranks, axis_name="rows", num_valid=num_valid)

    return on_shards(select_rank, num_shards)


def check_select_rank(x, counts, ranks):
    num_shards = len(counts)
    actual = selector(num_shards)(x, np.stack([ranks] * num_shards), counts)
    (actual,) = of_every_shard((actual,))
    last = int(counts.sum()) - 1
    places = [min(max(rank, 0), last) for rank in ranks.reshape(-1).tolist()]
    expected = oracles.sort(valid_rows(x, counts))[places]
    oracles.assert_same_bits(actual, expected.reshape(ranks.shape))


@pytest.mark.parametrize(("dtype", "num_shards"), DTYPES_ON_SHARDS)
def test_select_rank_of_every_dtype_and_distribution(dtype, num_shards):
    # Among equal keys the bits of the selected one tell which row it was: -0.0 or 0.0, which NaN.
    ranks = np.linspace(-3, num_shards * NUM_ROWS + 3, 24).astype(np.int32)
    counts = row_counts(num_shards, NUM_ROWS)
    for i, distribution in enumerate(distributions_for(dtype)):
        x = sharded_keys(distribution, num_shards, dtype)
        for name in ("all", list(counts)[i % len(counts)]):
            if counts[name].any():
                with noting((distribution, name)):
                    check_select_rank(x, counts[name], ranks)


@pytest.mark.parametrize("num_shards", SHARD_COUNTS)
def test_select_rank_of_every_number_of_valid_rows(num_shards):
    x = sharded_keys("four_values", num_shards, np.dtype(np.int32))
    ranks = np.arange(-1, 23, dtype=np.int32)
    for name, counts in row_counts(num_shards, NUM_ROWS).items():
        if counts.any():
            with noting(name):
                check_select_rank(x, counts, ranks)


def test_select_rank_where_no_row_counts():
    x = sharded_keys("uniform", 3, np.dtype(np.float64))
    ranks = np.zeros((3, 2, 2), np.int32)
    selected = selector(3)(x, ranks, np.zeros(3, np.int32))
    oracles.assert_same_bits(selected, np.zeros((3, 2, 2)))


@pytest.mark.parametrize("dtype", INTEGER_DTYPES, ids=str)
def test_ranks_of_every_shape_and_dtype(dtype):
    x = sharded_keys("uniform", 3, np.dtype(np.int16))
    counts = np.full(3, NUM_ROWS, np.int32)
    limits = np.iinfo(dtype)
    check_select_rank(x, counts, np.array([[0, 5, limits.max], [limits.min, 56, 57]], dtype))


def test_one_rank_and_none():
    x = sharded_keys("uniform", 3, np.dtype(np.int16))
    select = on_shards(lambda x: collective.select_rank(x, 28, axis_name="rows"), 3)
    expected = np.sort(x.reshape(-1))[28]
    oracles.assert_same_bits(select(x), np.full(3, expected))
    no_ranks = np.zeros((3, 0), np.int32)
    counts = np.full(3, NUM_ROWS, np.int32)
    oracles.assert_same_bits(selector(3)(x, no_ranks, counts), np.zeros((3, 0), np.int16))
