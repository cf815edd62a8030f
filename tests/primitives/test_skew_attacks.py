# SPDX-License-Identifier: Apache-2.0
"""Attacks by skew on every op that moves rows: nothing is lost, and no shard holds too much.

Each op takes the same attacks over 8 shards, and is compared with NumPy or pandas. A shard holds at
most 1.1 times the mean load, and 8 rows.
"""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from jaxframes.primitives import collective
from on_shards import even_shares, noting, on_shards, row_ids, valid_rows

SHARDS = 8
# Of a shard: n < p^2 rows in all, a few more, and so many that the exchange has two hops to choose.
SIZES = (3, 24, 600)


class Attack(NamedTuple):
    """Keys `[shards, rows]` and the number of valid rows of each shard."""

    keys: np.ndarray
    counts: np.ndarray


def attacks(num_rows):
    shape = (SHARDS, num_rows)
    rng = np.random.default_rng(num_rows)
    shard, row = np.indices(shape)
    every = np.full(SHARDS, num_rows, np.int32)
    one = np.where(np.arange(SHARDS) == 5, num_rows, 0).astype(np.int32)
    mixed = rng.integers(-20, 20, shape)
    hot = np.where(rng.random(shape) < 0.9, 7, mixed)
    named = {
        "uniform": (mixed, every),
        "all rows one key": (np.full(shape, 7), every),
        "all rows on one shard": (mixed, one),
        "one key on one shard": (np.full(shape, 7), one),
        "one hot key": (hot, every),
        "empty shards": (hot, every * (np.arange(SHARDS) % 2)),
        "one row": (mixed, np.minimum(one, 1)),
        "no rows": (mixed, every * 0),
        "a key for each shard": (shard, every),
        "sorted": (shard * num_rows + row, every),
        "reversed": (-shard * num_rows - row, every),
        # The least and greatest keys, which padding must not be taken for.
        "extremes": (np.where(row % 2, 2**31 - 1, -(2**31)), every),
    }
    return {name: Attack(*(one.astype(np.int32) for one in pair)) for name, pair in named.items()}


class Moved(NamedTuple):
    """Columns of a shard's rows after an op, and how many of them count."""

    rows: Any
    count: Any


def even(rows, valid, factor=1):
    """Rows whose number on each shard is its share of all."""
    return Moved(rows, collective.even_share(factor * valid, axis_name="rows"))


AXIS: dict[str, Any] = {"axis_name": "rows"}


def both(valid):
    return {**AXIS, "num_valid": (valid, valid)}


# Each op: a call with a shard's keys, its row ids and its number of valid rows, and the oracle,
# which takes the valid keys and ids of all shards as one sequence.


def radix_sort(keys, ids, valid):
    return even(collective.radix_sort(keys, values=ids, num_valid=valid, **AXIS), valid)


def expected_sort(keys, ids):
    order = np.argsort(keys, kind="stable")
    return keys[order], ids[order]


def segmented_sort(keys, ids, valid):
    rows = collective.segmented_sort(keys, ids % 3, values=ids, num_valid=valid, **AXIS)
    return even(rows, valid)


def expected_segmented_sort(keys, ids):
    order = np.lexsort((keys, ids % 3))
    return keys[order], ids[order]


def merge(keys, ids, valid):
    a, a_ids = collective.radix_sort(keys, values=ids, num_valid=valid, **AXIS)
    share = collective.even_share(valid, axis_name="rows")
    rows = collective.merge(a, a, values=(a_ids, -1 - a_ids), **both(share))
    return even(rows, share, 2)


def expected_merge(keys, ids):
    order = np.argsort(keys, kind="stable")
    twice, both_ids = np.tile(keys[order], 2), np.concatenate([ids[order], -1 - ids[order]])
    order = np.argsort(twice, kind="stable")
    return twice[order], both_ids[order]


def compact(keys, ids, valid):
    kept = collective.compact(keys % 2 != 0, (keys, ids), num_valid=valid, **AXIS)
    return Moved(kept.rows, kept.count)


def expected_compact(keys, ids):
    return keys[keys % 2 != 0], ids[keys % 2 != 0]


def concatenate(keys, ids, valid):
    pieces = [(keys, ids), (keys, -1 - ids)]
    capacity = 2 * keys.shape[0]
    return Moved(*collective.concatenate(pieces, (valid, valid), capacity=capacity, **AXIS))


def expected_concatenate(keys, ids):
    return np.tile(keys, 2), np.concatenate([ids, -1 - ids])


def rebalance(keys, ids, valid):
    return Moved(*collective.rebalance((keys, ids), num_valid=valid, **AXIS))


def partition(keys, ids, valid):
    # Row by row to the next shard: the shards receive the same, wherever the rows are.
    is_row = (jnp.arange(ids.size, dtype=jnp.int32) < valid).astype(jnp.int32)
    before = collective.exclusive_scan(is_row, "add", **AXIS)
    capacity = 2 * keys.shape[0]
    sent = collective.partition(
        (keys, ids), before % SHARDS, capacity=capacity, num_valid=valid, **AXIS
    )
    return Moved(*sent)


def expected_partition(keys, ids):
    order = np.argsort(np.arange(keys.size) % SHARDS, kind="stable")
    return keys[order], ids[order]


def unique(keys, ids, valid):
    found = collective.unique(
        keys, return_index=True, return_counts=True, num_valid=valid, **AXIS,
    )  # fmt: skip
    return Moved((found.unique_keys, found.row_ids, found.counts), found.count)


def expected_unique(keys, ids):
    found, first, counts = np.unique(keys, return_index=True, return_counts=True)
    return found, ids[first], counts


def reduce_by_key(keys, ids, valid):
    runs = collective.reduce_by_key(
        keys, [ids, ids, ids], ["sum", "min", "count"], num_valid=valid, **AXIS
    )
    return Moved((runs.unique_keys, *runs.values), runs.num_runs)


def expected_reduce_by_key(keys, ids):
    groups = pd.Series(ids).groupby(keys)
    sums = groups.agg(["sum", "min", "count"])
    return sums.index.to_numpy(), *(sums[name].to_numpy() for name in sums)


def factorize(keys, ids, valid):
    found = collective.factorize(keys, return_first=True, num_valid=valid, **AXIS)
    return Moved((found.unique_keys, found.row_ids), found.count)


def expected_factorize(keys, ids):
    return expected_unique(keys, ids)[:2]


def set_union(keys, ids, valid):
    found = collective.set_union(keys, keys + 1, capacity=2 * keys.shape[0], **both(valid))
    return Moved((found.unique_keys,), found.count)


def expected_set_union(keys, ids):
    return (np.union1d(keys, keys + 1),)


def set_difference(keys, ids, valid):
    found = collective.set_difference(keys, keys + 1, **both(valid))
    return Moved((found.unique_keys,), found.count)


def expected_set_difference(keys, ids):
    return (np.setdiff1d(keys, keys + 1),)


def join(how):
    def call(keys, ids, valid):
        # Each row of the right side has the key of a left row; a hot key is hot on both sides.
        size = keys.shape[0]
        capacity = {"inner": size * size * SHARDS, "semi": size}[how]
        pairs = collective.join(keys, keys, how=how, capacity=capacity, **both(valid))
        rows = (pairs.left_rows,) if how == "semi" else (pairs.left_rows, pairs.right_rows)
        return Moved(rows, pairs.count)

    return call


def expected_join(keys, ids):
    left = pd.DataFrame({"key": keys, "left": ids})
    pairs = left.merge(left.rename(columns={"left": "right"}), on="key")
    return pairs["left"].to_numpy(), pairs["right"].to_numpy()


def expected_semi_join(keys, ids):
    return (ids,)


# Rows that stay on their shard, with an answer that is asked of others.


def gather_rows(keys, ids, valid):
    # All shards ask for rows of one shard, and most for the same row.
    wanted = jnp.where(ids % 3 == 0, 5 * keys.shape[0], 5 * keys.shape[0] + ids % 2)
    rows = collective.gather_rows((keys, ids), wanted.astype(jnp.int32), num_valid=valid, **AXIS)
    return Moved((*rows, ids), valid)


def join_asof(keys, ids, valid):
    times, _ = collective.radix_sort(keys, values=ids, num_valid=valid, **AXIS)
    share = collective.even_share(valid, axis_name="rows")
    return Moved((collective.join_asof(times, times, **both(share)), times), share)


def expected_join_asof(keys, ids):
    times = np.sort(keys)
    return np.searchsorted(times, times, side="right") - 1, times


OPS = {
    "radix_sort": (radix_sort, expected_sort),
    "segmented_sort": (segmented_sort, expected_segmented_sort),
    "merge": (merge, expected_merge),
    "compact": (compact, expected_compact),
    "concatenate": (concatenate, expected_concatenate),
    "rebalance": (rebalance, lambda keys, ids: (keys, ids)),
    "partition": (partition, expected_partition),
    "unique": (unique, expected_unique),
    "reduce_by_key": (reduce_by_key, expected_reduce_by_key),
    "factorize": (factorize, expected_factorize),
    "set_union": (set_union, expected_set_union),
    "set_difference": (set_difference, expected_set_difference),
    "join": (join("inner"), expected_join),
    "semi join": (join("semi"), expected_semi_join),
}


@functools.cache
def over_shards(call):
    return on_shards(call, SHARDS)


def moved_by(call, attack):
    """The valid rows after an op, as one sequence, and how many of them each shard has."""
    ids = row_ids(SHARDS, attack.keys.shape[1])
    moved = over_shards(call)(attack.keys, ids, attack.counts)
    for column in jax.tree.leaves(moved.rows):
        # Nothing was cut off.
        assert (moved.count <= column.shape[1]).all()
    columns = [np.asarray(column) for column in jax.tree.leaves(moved.rows)]
    return valid_rows(columns, np.asarray(moved.count)), np.asarray(moved.count)


@pytest.mark.parametrize("num_rows", SIZES)
@pytest.mark.parametrize("op", OPS)
def test_nothing_is_lost_and_no_shard_holds_too_much(op, num_rows):
    call, oracle = OPS[op]
    if op == "join" and num_rows == max(SIZES):
        # A hot key on both sides has as many pairs as rows squared.
        num_rows = 60
    for name, attack in attacks(num_rows).items():
        with noting(name):
            actual, loads = moved_by(call, attack)
            ids = row_ids(SHARDS, num_rows)
            expected = oracle(*valid_rows([attack.keys, ids], attack.counts))
            for ours, theirs in zip(actual, expected, strict=True):
                np.testing.assert_array_equal(ours, theirs)
            assert loads.max() <= 1.1 * loads.mean() + SHARDS


@pytest.mark.parametrize("num_rows", [3, 600])
def test_rows_asked_of_one_shard(num_rows):
    ids = row_ids(SHARDS, num_rows)
    for name, attack in attacks(num_rows).items():
        with noting(name):
            (keys, rows, asked_by), _ = moved_by(gather_rows, attack)
            wanted = np.where(asked_by % 3 == 0, 0, asked_by % 2)
            # A padding row is zero.
            is_there = wanted < attack.counts[5]
            np.testing.assert_array_equal(keys, np.where(is_there, attack.keys[5, wanted], 0))
            np.testing.assert_array_equal(rows, np.where(is_there, ids[5, wanted], 0))


@pytest.mark.parametrize("num_rows", [3, 600])
def test_times_that_tie_on_all_shards(num_rows):
    for name, attack in attacks(num_rows).items():
        with noting(name):
            (found, times), counts = moved_by(join_asof, attack)
            keys = np.sort(valid_rows([attack.keys], attack.counts)[0])
            last = np.searchsorted(keys, times, side="right") - 1
            # The ids are of padded shards.
            starts = np.cumsum(counts) - counts
            shard = np.searchsorted(starts + counts, last, side="right")
            np.testing.assert_array_equal(found, shard * num_rows + last - starts[shard])


def test_all_rows_to_one_shard():
    num_rows = 600
    destination = np.full((SHARDS, num_rows), 3, np.int32)

    def send(rows, destination):
        capacity = SHARDS * num_rows
        return collective.partition(rows, destination, capacity=capacity, **AXIS)

    ids = row_ids(SHARDS, num_rows)
    sent = on_shards(send, SHARDS)(ids, destination)
    assert sent.count.tolist() == [0, 0, 0, SHARDS * num_rows, 0, 0, 0, 0]
    np.testing.assert_array_equal(sent.rows[3], ids.ravel())
    assert not np.asarray(sent.rows)[[0, 1, 2, 4, 5, 6, 7]].any()


# Counts past 2^31 over a mesh, without 64-bit types. A shard names more rows than fit its memory:
# only the counts are computed.


@pytest.mark.usefixtures("x64_off")
def test_shares_of_more_rows_than_32_bits_count():
    counts = np.array([2**31 - 1, 0, 2**31 - 1, 7, 2**30, 1, 0, 2**31 - 2], np.int32)
    shares = on_shards(lambda valid: collective.even_share(valid, axis_name="rows"), SHARDS)(counts)
    assert shares.dtype == np.int32
    assert shares.tolist() == even_shares(int(counts.astype(np.int64).sum()), SHARDS)
