# SPDX-License-Identifier: Apache-2.0
"""`collective.searchsorted` and the global call against the NumPy oracle."""

import functools

import jax
import numpy as np
import oracles
import pytest
from jax.sharding import AxisType
from jaxframes import primitives, shardings
from jaxframes.primitives import collective
from jaxframes.primitives.collective._axis import as_shards
from jaxframes.primitives.collective._exchange import TRANSPORTS
from jaxframes.primitives.collective._meeting import meet
from key_distributions import make_keys
from on_shards import (
    SHARD_COUNTS,
    dealt_out,
    into_shards,
    mesh_of,
    noting,
    on_shards,
    row_counts,
)

NUM_ROWS, NUM_QUERIES = 20, 12
SIDES = ("left", "right")


@functools.cache
def search_both_sides(num_shards, descending=False, transport="auto"):
    """Both sides in one program."""

    def search(keys, queries, num_valid):
        settings = {"descending": descending, "transport": transport}
        at = {"axis_name": "rows", "num_valid": num_valid, **settings}
        return {side: collective.searchsorted(keys, queries, side=side, **at) for side in SIDES}

    return on_shards(search, num_shards)


def check(keys, queries, counts, descending=False, transport="auto"):
    """Sorts the keys over shards that hold so many of them, and searches on all shards at once."""
    num_shards = len(counts)
    total = int(sum(counts))
    first_keys = oracles.take(keys, np.arange(total))
    in_order = oracles.sort(first_keys, descending=descending)
    # What lies behind the keys that count would be found if it were looked at.
    padding = jax.tree.map(lambda leaf: leaf.reshape(num_shards, -1), keys)
    is_key = np.arange(NUM_ROWS) < counts[:, None]
    shards = jax.tree.map(
        lambda dealt, leaf: np.where(is_key, dealt, leaf),
        dealt_out(in_order, list(counts), NUM_ROWS),
        padding,
    )
    actual = search_both_sides(num_shards, descending, transport)(
        shards, into_shards(queries, num_shards), counts
    )
    for side in SIDES:
        expected = oracles.searchsorted(in_order, queries, side=side, descending=descending)
        oracles.assert_same_bits(actual[side], into_shards(expected, num_shards))


def keys_and_queries(distribution, num_shards, dtype):
    """Keys in any order, and queries; half of them are among the keys."""
    keys = make_keys(distribution, num_shards * NUM_ROWS, np.dtype(dtype), num_shards)
    queries = make_keys(distribution, num_shards * NUM_QUERIES, np.dtype(dtype), num_shards, seed=1)
    queries[::2] = np.random.default_rng(0).choice(keys, len(queries[::2]))
    return keys, queries


# Matches the oracle


@pytest.mark.parametrize("num_shards", SHARD_COUNTS)
def test_every_distribution_and_number_of_valid_rows(num_shards):
    for distribution in ("zipf", "all_max", "shard_constant"):
        keys, queries = keys_and_queries(distribution, num_shards, np.int32)
        for counted, counts in row_counts(num_shards, NUM_ROWS).items():
            with noting((distribution, counted)):
                check(keys, queries, counts)


@pytest.mark.parametrize("dtype", ["bfloat16", "float64", "uint64", "bool"])
def test_dtypes(dtype):
    dtype = np.dtype(jax.numpy.bfloat16 if dtype == "bfloat16" else dtype)
    names = ["uniform", "two_valued"]
    if oracles.is_float(dtype):
        names += ["signed_zeros", "nan_inf_sprinkled", "denormals"]
    for distribution in names:
        keys, queries = keys_and_queries(distribution, 3, dtype)
        for counted in ("all", "growing", "every second shard empty"):
            with noting((distribution, counted)):
                check(keys, queries, row_counts(3, NUM_ROWS)[counted])


@pytest.mark.parametrize("descending", [True, (True, False, True)])
def test_descending_keys_and_several_columns(descending):
    dtypes = (np.float32,) if descending is True else (np.int8, np.float64, np.int64)
    names = ("nan_inf_sprinkled", "signed_zeros", "four_values")
    columns = [
        keys_and_queries(name, 3, dtype)
        for name, dtype in zip(names, dtypes, strict=False)
        if dtype != np.int8
    ] + [keys_and_queries("two_valued", 3, dtype) for dtype in dtypes if dtype == np.int8]
    keys, queries = zip(*columns, strict=True)
    if descending is True:
        keys, queries = keys[0], queries[0]
    for counts in row_counts(3, NUM_ROWS).values():
        check(keys, queries, counts, descending)


@pytest.mark.parametrize("transport", TRANSPORTS[1:])
def test_every_transport(transport):
    keys, queries = keys_and_queries("zipf", 3, np.int32)
    check(keys, queries, row_counts(3, NUM_ROWS)["growing"], transport=transport)


@pytest.mark.usefixtures("x64_off")
def test_without_x64():
    keys, queries = keys_and_queries("nan_inf_sprinkled", 3, np.float32)
    search_both_sides.cache_clear()
    check(keys, queries, row_counts(3, NUM_ROWS)["growing"])
    search_both_sides.cache_clear()


# Global calls


@pytest.mark.parametrize(
    ("num_shards", "num_rows", "num_queries"),
    [(None, 29, 24), (1, 24, 5), (8, 29, 24), (3, 0, 5), (3, 5, 0), (3, 1, 1)],
)
def test_whole_arrays_of_any_length(num_shards, num_rows, num_queries):
    mesh = None if num_shards is None else mesh_of(num_shards)
    keys = np.sort(make_keys("two_valued", num_rows, np.int32))
    queries = make_keys("two_valued", num_queries, np.int32, seed=1)
    actual = primitives.searchsorted(keys, queries, mesh, side="right")
    oracles.assert_same_bits(actual, oracles.searchsorted(keys, queries, side="right"))


def test_explicit_axes_of_a_mesh_of_two():
    mesh = jax.make_mesh((2, 3), ("host", "device"), axis_types=(AxisType.Explicit,) * 2)
    keys, queries = keys_and_queries("zipf", 2, np.int32)
    keys = np.sort(keys)
    for axis in (None, "device"):
        actual = primitives.searchsorted(keys, queries, mesh, axis=axis)
        oracles.assert_same_bits(actual, oracles.searchsorted(keys, queries))


def test_positions_lie_where_the_queries_do():
    keys, queries = keys_and_queries("zipf", 2, np.int32)
    places = primitives.searchsorted(np.sort(keys), queries, mesh_of(8))
    assert places.sharding.is_equivalent_to(shardings.row_sharded(mesh_of(8)), 1)


def test_a_shard_gets_its_share_of_distinct_keys_whatever_the_rows():
    # All shards hold one key in most rows and ask for it in most: each sends it once.
    keys, queries = (make_keys("zipf", 8 * n, np.int32) for n in (NUM_ROWS, NUM_QUERIES))
    shards = into_shards((queries, keys), 8)

    def load(queries, keys):
        counts = np.int32(NUM_QUERIES), np.int32(NUM_ROWS)
        counts = as_shards(jax.tree.map(jax.numpy.asarray, counts), "rows")
        return meet((queries,), (keys,), *counts, "rows", "auto", "searchsorted").sent.count

    sent = sum(len(np.unique(np.concatenate(shard))) for shard in zip(*shards, strict=True))
    loads = on_shards(load, 8)(*shards)
    assert loads.sum() == sent
    assert loads.max() <= sent // 8 + 8
