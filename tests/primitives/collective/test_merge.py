# SPDX-License-Identifier: Apache-2.0
"""`collective.merge` against the NumPy oracle."""

import functools

import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import collective
from key_distributions import KEY_DTYPES, distributions_for, make_keys
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

A_ROWS, B_ROWS = 23, 14


@functools.cache
def merger(num_shards, **settings):
    """Merges `(a, b, num_valid)`, where `a` and `b` are `(keys, values)`."""

    def merge(a, b, num_valid):
        (a_keys, a_values), (b_keys, b_values) = a, b
        return collective.merge(
            a_keys,
            b_keys,
            values=(a_values, b_values),
            num_valid=num_valid,
            axis_name="rows",
            **settings,
        )

    return on_shards(merge, num_shards)


def sorted_keys(distribution, counts, num_rows, dtype, descending=False, seed=0):
    """Keys that are sorted over the valid rows, with noise behind them on every shard."""
    num_shards, total = len(counts), int(counts.sum())
    keys = make_keys(distribution, num_shards * num_rows, dtype, num_shards, seed)
    in_order = oracles.sort(keys[:total], descending=descending)
    shards = np.resize(keys[total:], (num_shards, num_rows)) if total < keys.size else None
    shards = np.zeros((num_shards, num_rows), dtype) if shards is None else shards
    dealt = dealt_out(in_order, counts.tolist(), num_rows)
    return np.where(np.arange(num_rows) < counts[:, None], dealt, shards)


def check(a, b, counts, transport="auto", **settings):
    """Merges `(keys, values)` of both, of which `counts` rows are valid."""
    num_shards = len(counts[0])
    actual = merger(num_shards, transport=transport, **settings)(a, b, counts)
    (a_keys, a_values), (b_keys, b_values) = valid_rows(a, counts[0]), valid_rows(b, counts[1])
    sequence = oracles.merge(a_keys, b_keys, values=(a_values, b_values), **settings)
    shares = even_shares(int(counts[0].sum() + counts[1].sum()), num_shards)
    oracles.assert_same_bits(actual, dealt_out(sequence, shares, A_ROWS + B_ROWS))


def ids_of_both(num_shards):
    """Values that tell which sequence, and which row of it, a row was."""
    return row_ids(num_shards, A_ROWS) + 1, -1 - row_ids(num_shards, B_ROWS)


def row_counts_of_both(num_shards):
    """Pairs of counts: each way to fill one sequence, beside some way to fill the other."""
    of_a = row_counts(num_shards, A_ROWS, seed=1)
    of_b = row_counts(num_shards, B_ROWS, seed=2)
    for i, (name, counts) in enumerate(of_a.items()):
        other = list(of_b)[-1 - i % len(of_b)]
        yield f"{name}, {other}", (counts, of_b[other])


DTYPES_ON_SHARDS = [
    pytest.param(dtype, (8, 1, 3, 2, 5)[i % 5], id=f"{dtype}-{(8, 1, 3, 2, 5)[i % 5]}")
    for i, dtype in enumerate(KEY_DTYPES)
]


# Matches the oracle


@pytest.mark.parametrize(("dtype", "num_shards"), DTYPES_ON_SHARDS)
def test_merges_every_dtype_and_distribution(dtype, num_shards):
    a_ids, b_ids = ids_of_both(num_shards)
    descending = KEY_DTYPES.index(dtype) % 2 == 1
    pairs = list(row_counts_of_both(num_shards))
    for i, distribution in enumerate(distributions_for(dtype)):
        for name, counts in (pairs[0], pairs[i % len(pairs)]):
            a = sorted_keys(distribution, counts[0], A_ROWS, dtype, descending)
            b = sorted_keys(distribution, counts[1], B_ROWS, dtype, descending, seed=1)
            with noting((distribution, name)):
                check((a, a_ids), (b, b_ids), counts, descending=descending)


@pytest.mark.parametrize("num_shards", SHARD_COUNTS)
def test_every_number_of_valid_rows(num_shards):
    # Few keys, so that ties of `a` and `b` lie across every border of shards.
    a_ids, b_ids = ids_of_both(num_shards)
    for name, counts in row_counts_of_both(num_shards):
        a = sorted_keys("two_valued", counts[0], A_ROWS, np.dtype(np.int32))
        b = sorted_keys("two_valued", counts[1], B_ROWS, np.dtype(np.int32), seed=1)
        with noting(name):
            check((a, a_ids), (b, b_ids), counts)


@pytest.mark.parametrize("transport", ["ragged", "one_hop", "two_hop"])
def test_every_transport(transport):
    a_ids, b_ids = ids_of_both(5)
    for name, counts in row_counts_of_both(5):
        a = sorted_keys("four_values", counts[0], A_ROWS, np.dtype(np.int32))
        b = sorted_keys("zipf", counts[1], B_ROWS, np.dtype(np.int32))
        with noting(name):
            check((a, a_ids), (b, b_ids), counts, transport=transport)


def test_merges_by_several_columns():
    counts = (np.full(3, A_ROWS, np.int32), np.full(3, B_ROWS, np.int32))
    descending = (True, False, True)
    sides = []
    for num_rows, seed in ((A_ROWS, 0), (B_ROWS, 9)):
        columns = tuple(
            make_keys(distribution, 3 * num_rows, jnp.dtype(dtype), 3, seed + column)
            for column, (distribution, dtype) in enumerate(
                [("two_valued", "float64"), ("four_values", "int64"), ("signed_zeros", "bfloat16")]
            )
        )
        values = {"id": np.arange(3 * num_rows) + seed, "flag": np.arange(3 * num_rows) % 2 == 0}
        in_order = oracles.sort(columns, values=values, descending=descending)
        sides.append(dealt_out(in_order, [num_rows] * 3, num_rows))
    check(*sides, counts, descending=descending)


def test_merges_keys_alone():
    counts = (np.full(3, A_ROWS, np.int32), np.full(3, B_ROWS, np.int32))
    a = sorted_keys("zipf", counts[0], A_ROWS, np.dtype(np.int16))
    b = sorted_keys("zipf", counts[1], B_ROWS, np.dtype(np.int16), seed=1)
    merge = on_shards(lambda a, b: collective.merge(a, b, axis_name="rows"), 3)
    expected = oracles.merge(a.reshape(-1), b.reshape(-1)).reshape(3, -1)
    oracles.assert_same_bits(merge(a, b), expected)
    of_tuples = on_shards(lambda a, b: collective.merge((a,), (b,), axis_name="rows"), 3)
    oracles.assert_same_bits(of_tuples(a, b), (expected,))


@pytest.mark.parametrize(("a_rows", "b_rows"), [(0, 0), (0, 3), (3, 0), (1, 1)])
def test_short_sequences(a_rows, b_rows):
    a = np.arange(8 * a_rows, dtype=np.uint8).reshape(8, a_rows)
    b = np.arange(8 * b_rows, dtype=np.uint8).reshape(8, b_rows)
    merge = on_shards(lambda a, b: collective.merge(a, b, axis_name="rows"), 8)
    expected = np.sort(np.concatenate([a.reshape(-1), b.reshape(-1)]))
    oracles.assert_same_bits(merge(a, b), expected.reshape(8, a_rows + b_rows))
