# SPDX-License-Identifier: Apache-2.0
"""`reduce_by_key`, `unique` and `run_length_encode` over shards against the NumPy oracle."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes import primitives
from jaxframes.primitives import collective
from jaxframes.primitives.collective._key_ranges import send_to_key_ranges
from jaxframes.primitives.local._unique import unique_columns_of
from key_distributions import make_keys
from on_shards import SHARD_COUNTS, mesh_of, noting, on_shards, row_counts, valid_rows

NUM_ROWS = 24
OPS = ("sum", "prod", "min", "max", "count", "mean", "var", "std", "first", "last", "any", "all")


@functools.cache
def encoder(num_shards, capacity=None, is_sorted=False, transport="auto"):
    """The expected runs, distinct keys and reduced values."""
    everything = dict.fromkeys(("return_index", "return_inverse", "return_counts"), True)

    def encode(keys, values, num_valid):
        at = {"axis_name": "rows", "capacity": capacity, "num_valid": num_valid}
        return {
            "runs": collective.run_length_encode(keys, **at),
            "unique": collective.unique(keys, **everything, transport=transport, **at),
            "reduced": collective.reduce_by_key(
                keys,
                [values] * len(OPS),
                list(OPS),
                is_sorted=is_sorted,
                transport=transport,
                **at,
            ),
        }

    return on_shards(encode, num_shards)


def check(keys, values, counts, transport="auto", is_sorted=False):
    num_shards = len(counts)
    encode = encoder(num_shards, None, is_sorted, transport)
    actual = encode(keys, values, counts)
    sequence, rows = valid_rows(keys, counts), valid_rows(values, counts)
    total = len(rows)

    runs = actual["runs"]
    assert isinstance(runs, collective.RunLengths)
    expected = oracles.run_length_encode(sequence)
    assert_sequence(runs[:2], runs.num_runs, expected)
    # Each run is where it begins.
    shard_of_row = np.repeat(np.arange(num_shards), counts)
    heads = [shard_of_row[run[0]] for run in oracles.runs_of(sequence)]
    np.testing.assert_array_equal(runs.num_runs, np.bincount(heads, minlength=num_shards))
    assert int(np.sum(runs.run_lengths)) == total

    found = actual["unique"]
    unique_keys, row_ids, inverse, run_lengths, count = oracles.unique(sequence)
    global_ids = (np.arange(num_shards)[:, None] * NUM_ROWS + np.arange(NUM_ROWS)).astype(np.int32)
    row_ids = np.where(np.arange(total) < count, valid_rows(global_ids, counts)[row_ids], 0)
    known = (found.unique_keys, found.row_ids, found.counts)
    expected = (unique_keys, row_ids.astype(np.int32), run_lengths, count)
    assert_sequence(known, found.count, expected)
    np.testing.assert_array_equal(valid_rows(np.asarray(found.inverse), counts), inverse)
    assert not np.asarray(found.inverse)[np.arange(NUM_ROWS) >= counts[:, None]].any()

    reduced = actual["reduced"]
    assert isinstance(reduced, collective.ReducedRuns)
    oracles.assert_same_bits(reduced.unique_keys, found.unique_keys)
    oracles.assert_same_bits(reduced.num_runs, found.count)
    for op, leaf in zip(OPS, reduced.values, strict=True):
        _, wanted, _ = oracles.reduce_by_key(sequence, rows, op)
        leaf = np.asarray(leaf)
        with noting(op):
            assert not leaf[np.arange(leaf.shape[1]) >= np.asarray(found.count)[:, None]].any()
            in_order = valid_rows(leaf, np.asarray(found.count))
            if np.issubdtype(leaf.dtype, np.floating):
                np.testing.assert_allclose(in_order, wanted[:count], rtol=1e-12, atol=1e-12)
            else:
                oracles.assert_same_bits(in_order, wanted[:count].astype(leaf.dtype))
    if np.issubdtype(rows.dtype, np.integer):
        assert int(np.sum(reduced.values[0])) == int(rows.sum())


def assert_sequence(known, num_runs, expected):
    """The first rows of each shard in sequence, padded with zeros."""
    *expected, total = expected
    num_runs = np.asarray(num_runs)
    assert num_runs.sum() == total
    known = jax.tree.map(np.asarray, tuple(known))
    in_order = valid_rows(known, num_runs)
    oracles.assert_same_bits(in_order, oracles.take(tuple(expected), np.arange(total)))
    for leaf in jax.tree.leaves(known):
        assert not leaf[np.arange(leaf.shape[1]) >= num_runs[:, None]].any()


def shards_of(distribution, num_shards, dtype, num_rows=NUM_ROWS):
    keys = make_keys(distribution, num_shards * num_rows, dtype, num_shards)
    return keys.reshape(num_shards, num_rows)


def values_on(num_shards):
    rng = np.random.default_rng(1)
    return rng.integers(0, 9, (num_shards, NUM_ROWS))


# Match the oracle


@pytest.mark.parametrize("num_shards", SHARD_COUNTS)
def test_every_distribution_and_number_of_valid_rows(num_shards):
    # Sorted and constant keys make runs that cross shards, and shards without rows.
    for distribution in ("zipf", "uniform", "constant", "sorted", "two_valued", "all_max"):
        keys = shards_of(distribution, num_shards, np.int32)
        for counted, counts in row_counts(num_shards, NUM_ROWS).items():
            with noting((distribution, counted)):
                check(keys, values_on(num_shards), counts)


@pytest.mark.parametrize("distribution", ["signed_zeros", "nan_inf_sprinkled"])
def test_equal_keys_of_different_bits_are_one(distribution):
    keys = shards_of(distribution, 3, np.float32)
    for counts in row_counts(3, NUM_ROWS).values():
        check(keys, values_on(3) / 8, counts)


def test_several_columns():
    keys = (shards_of("four_values", 2, np.int64), shards_of("sorted", 2, np.float64) // 64)
    check(keys, values_on(2), row_counts(2, NUM_ROWS)["growing"])
    check(keys, values_on(2), row_counts(2, NUM_ROWS)["all"])


@pytest.mark.parametrize("transport", ["one_hop", "two_hop"])
def test_every_transport(transport):
    keys = shards_of("zipf", 3, np.int32)
    for counts in row_counts(3, NUM_ROWS).values():
        check(keys, values_on(3), counts, transport, is_sorted=False)


def test_shards_that_are_sorted_already():
    keys = np.sort(shards_of("zipf", 3, np.int32), axis=1)
    check(keys, values_on(3), row_counts(3, NUM_ROWS)["growing"], is_sorted=True)


def test_runs_that_cross_several_shards():
    encode = on_shards(
        lambda keys, valid: collective.run_length_encode(keys, axis_name="rows", num_valid=valid),
        8,
    )
    rng = np.random.default_rng(0)
    for case in range(60):
        # Few keys and few rows: most shards continue the run of another, or are empty.
        counts = rng.integers(0, 4, 8).astype(np.int32)
        keys = np.sort(rng.integers(0, 1 + case % 4, (8, 3)).ravel()).reshape(8, 3)
        keys = keys if case % 2 else rng.integers(0, 2, (8, 3))
        runs = encode(keys, counts)
        with noting((keys.tolist(), counts.tolist())):
            expected = oracles.run_length_encode(valid_rows(keys, counts))
            assert_sequence(runs[:2], runs.num_runs, expected)


@pytest.mark.parametrize("capacity", [1, 6])
def test_capacities(capacity):
    keys, counts = shards_of("zipf", 3, np.int32), row_counts(3, NUM_ROWS)["all"]
    whole = encoder(3)(keys, values_on(3), counts)
    kept = encoder(3, capacity)(keys, values_on(3), counts)
    for name in ("runs", "reduced"):
        oracles.assert_same_bits(kept[name].num_runs, whole[name].num_runs)
    oracles.assert_same_bits(kept["unique"].inverse, whole["unique"].inverse)
    oracles.assert_same_bits(kept["runs"].run_lengths, whole["runs"].run_lengths[:, :capacity])
    oracles.assert_same_bits(kept["unique"].row_ids, whole["unique"].row_ids[:, :capacity])
    for one, other in zip(kept["reduced"].values, whole["reduced"].values, strict=True):
        oracles.assert_same_bits(one, other[:, :capacity])


@pytest.mark.parametrize("num_rows", [0, 1])
def test_hardly_any_rows(num_rows):
    keys = np.full((3, num_rows), 7)
    reduce = on_shards(
        lambda keys: (
            collective.reduce_by_key(keys, keys, "sum", axis_name="rows"),
            collective.run_length_encode(keys, axis_name="rows"),
            collective.unique(keys, axis_name="rows", return_inverse=True),
        ),
        3,
    )
    reduced, runs, found = reduce(keys)
    assert int(np.sum(reduced.values)) == 21 * num_rows
    assert runs.run_lengths.ravel().tolist() == [3, 0, 0][: 3 * num_rows]
    assert int(np.sum(found.count)) == num_rows


# Laws: no shard is overloaded, for any keys


def test_no_shard_gets_more_than_its_part_of_the_partials():
    num_shards, num_rows = 8, 2000

    def load(keys):
        valid = jnp.asarray(num_rows, jnp.int32)
        columns, *_, count = unique_columns_of((keys,), valid, num_rows, (False,) * 3)
        _, _, runs = send_to_key_ranges(columns, None, count, "rows", "auto")
        return count, runs.count

    rng = np.random.default_rng(0)
    shape = (num_shards, num_rows)
    zipf = np.minimum(rng.zipf(1.1, shape), 2**40)
    uniform = rng.integers(0, 2**40, shape)
    loads = on_shards(load, num_shards)
    for name, keys in {
        "uniform": uniform,
        "zipf": zipf,
        "half of one key": np.where(rng.random(shape) < 0.5, 7, uniform),
        "one shard's keys": np.where(np.arange(num_shards)[:, None] == 3, uniform, 7),
        "the same on every shard": np.tile(uniform[0], (num_shards, 1)),
        "one key": np.full(shape, 7),
    }.items():
        sent, received = loads(keys)
        mean = int(np.sum(sent)) / num_shards
        with noting((name, received.tolist())):
            assert int(np.sum(received)) == int(np.sum(sent))
            assert int(np.max(received)) <= np.ceil(mean) + num_shards - 1
            if mean > 10 * num_shards:
                assert int(np.max(received)) <= 1.1 * mean


# Whole arrays; the matrix puts them on every mesh


def test_whole_arrays_of_any_length():
    for num_rows in (0, 29):
        keys = make_keys("zipf", num_rows, np.int16)
        values = np.arange(num_rows)
        for mesh in (None, mesh_of(3)):
            with noting((num_rows, mesh)):
                reduced = primitives.reduce_by_key(keys, values, "sum", mesh)
                unique_keys, totals, count = oracles.reduce_by_key(keys, values, "sum")
                expected = (unique_keys[:count], totals[:count], count)
                oracles.assert_same_bits(tuple(reduced), expected)
                runs = primitives.run_length_encode(keys, mesh)
                *expected, count = oracles.run_length_encode(keys)
                expected = (*oracles.take(tuple(expected), np.arange(count)), count)
                oracles.assert_same_bits(tuple(runs), expected)


def test_too_small_a_capacity_names_the_one_that_suffices():
    keys = np.arange(30) % 10
    calls = {
        "reduce_by_key": lambda mesh: primitives.reduce_by_key(keys, keys, "sum", mesh, capacity=9),
        "unique": lambda mesh: primitives.unique(keys, mesh, capacity=9),
    }
    for caller, call in calls.items():
        for mesh in (None, mesh_of(3)):
            with pytest.raises(primitives.CapacityError) as error:
                call(mesh)
            assert str(error.value) == (
                f"{caller}: 10 rows do not fit a capacity of 9. Call again with capacity=10 or "
                "more."
            )
