# SPDX-License-Identifier: Apache-2.0
"""`collective.factorize` and the global call against a dictionary of keys."""

import functools

import jax
import numpy as np
import oracles
import pandas as pd
import pytest
from jax.sharding import AxisType
from jaxframes import primitives
from jaxframes.primitives import collective
from key_distributions import make_keys
from on_shards import (
    SHARD_COUNTS,
    into_shards,
    mesh_of,
    noting,
    on_shards,
    row_counts,
    row_ids,
    valid_rows,
)

NUM_ROWS = 20


@functools.cache
def factorize_both_ways(num_shards, transport="auto", capacity=None):
    """By key and by first row, compiled as one program."""

    def run(keys, num_valid):
        at = {"axis_name": "rows", "num_valid": num_valid, "transport": transport}
        at |= {"capacity": capacity, "return_first": True}
        return [collective.factorize(keys, sort=s, **at) for s in (True, False)]

    return on_shards(run, num_shards)


def check(keys, counts, transport="auto"):
    sequence = valid_rows(keys, counts)
    for sort, groups in zip(
        (True, False), factorize_both_ways(len(counts), transport)(keys, counts), strict=True
    ):
        assert isinstance(groups, collective.Factorized)
        groups = jax.tree.map(np.asarray, groups)
        expected = oracles.factorize(sequence, sort=sort, return_first=True)
        group_ids, unique_keys, first_rows, count = expected
        with noting(sort):
            oracles.assert_same_bits(valid_rows(groups.group_ids, counts), group_ids)
            is_padding = np.arange(NUM_ROWS) >= counts[:, None]
            assert (groups.group_ids[is_padding] == -1).all()
            assert groups.count.sum() == count
            in_order = valid_rows(groups.unique_keys, groups.count)
            oracles.assert_same_bits(in_order, oracles.take(unique_keys, np.arange(count)))
            own_ids = valid_rows(row_ids(len(counts), NUM_ROWS), counts)
            oracles.assert_same_bits(
                valid_rows(groups.row_ids, groups.count), own_ids[first_rows[:count]]
            )
            for leaf in (groups.row_ids, *oracles.columns_of(groups.unique_keys)):
                assert not leaf[np.arange(NUM_ROWS) >= groups.count[:, None]].any()
            if not sort:
                # Each key is where its first row is.
                shard_of_row = np.repeat(np.arange(len(counts)), counts)
                firsts = [shard_of_row[group[0]] for group in oracles.groups_of(sequence)]
                expected = np.bincount(firsts, minlength=len(counts))
                np.testing.assert_array_equal(groups.count, expected)


def shards_of(distribution, num_shards, dtype):
    keys = make_keys(distribution, num_shards * NUM_ROWS, np.dtype(dtype), num_shards)
    return into_shards(keys, num_shards)


# Matches the oracle


@pytest.mark.parametrize("num_shards", SHARD_COUNTS)
def test_every_number_of_valid_rows(num_shards):
    for distribution in ("zipf", "all_max", "reversed", "shard_constant"):
        keys = shards_of(distribution, num_shards, np.int32)
        for counted, counts in row_counts(num_shards, NUM_ROWS).items():
            with noting((distribution, counted)):
                check(keys, counts)


@pytest.mark.parametrize("dtype", ["bfloat16", "float64", "bool"])
def test_keys_have_the_bits_of_their_first_rows(dtype):
    dtype = np.dtype(jax.numpy.bfloat16 if dtype == "bfloat16" else dtype)
    names = ("signed_zeros", "nan_inf_sprinkled") if oracles.is_float(dtype) else ("uniform",)
    for distribution in names:
        for counts in row_counts(3, NUM_ROWS).values():
            check(shards_of(distribution, 3, dtype), counts)


@pytest.mark.parametrize("transport", ["one_hop", "two_hop"])
def test_several_columns_by_every_transport(transport):
    keys = (shards_of("four_values", 3, np.int64), shards_of("signed_zeros", 3, np.float64))
    for counts in row_counts(3, NUM_ROWS).values():
        check(keys, counts, transport)


def test_a_capacity_cuts_keys_off_and_nothing_else():
    keys, counts = shards_of("zipf", 3, np.int32), np.full(3, NUM_ROWS, np.int32)
    whole, cut = (factorize_both_ways(3, capacity=room)(keys, counts) for room in (None, 2))
    for groups, few in zip(whole, cut, strict=True):
        assert np.max(groups.count) > 2
        oracles.assert_same_bits((few.group_ids, few.count), (groups.group_ids, groups.count))
        oracles.assert_same_bits(few.unique_keys, np.asarray(groups.unique_keys)[:, :2])
        oracles.assert_same_bits(few.row_ids, np.asarray(groups.row_ids)[:, :2])


# Global calls


@pytest.mark.parametrize("sort", [True, False])
@pytest.mark.parametrize(("num_shards", "num_rows"), [(None, 29), (8, 29), (3, 0)])
def test_whole_arrays_of_any_length(num_shards, num_rows, sort):
    mesh = None if num_shards is None else mesh_of(num_shards)
    keys = make_keys("nan_inf_sprinkled", num_rows, np.float32)
    *_, count = oracles.factorize(keys, sort=sort)
    expected = oracles.factorize(keys, sort=sort, return_first=True, capacity=int(count))
    factorize = functools.partial(primitives.factorize, mesh=mesh, sort=sort)
    oracles.assert_same_bits(tuple(factorize(keys, return_first=True)), expected)
    traced = jax.jit(functools.partial(factorize, capacity=4))
    expected = oracles.factorize(keys, sort=sort, capacity=4)
    oracles.assert_same_bits(tuple(traced(keys)), expected)


def test_agrees_with_pandas():
    keys = np.random.default_rng(0).integers(0, 300, 1_001)
    for sort in (True, False):
        groups = primitives.factorize(keys, mesh_of(3), sort=sort)
        group_ids, unique_keys = pd.factorize(keys, sort=sort)
        np.testing.assert_array_equal(groups.group_ids, group_ids)
        np.testing.assert_array_equal(groups.unique_keys, unique_keys)


def test_explicit_axes_of_a_mesh_of_two():
    mesh = jax.make_mesh((2, 3), ("host", "device"), axis_types=(AxisType.Explicit,) * 2)
    keys = make_keys("zipf", 29, np.int32)
    groups = primitives.factorize(keys, mesh, sort=False, axis="device")
    expected = oracles.factorize(keys, sort=False, capacity=int(groups.count))
    oracles.assert_same_bits(tuple(groups), expected)


def test_too_small_a_capacity_names_the_one_that_suffices():
    message = "factorize: 5 rows do not fit a capacity of 4. Call again with capacity=5 or more."
    for mesh in (None, mesh_of(3)):
        with pytest.raises(primitives.CapacityError) as error:
            primitives.factorize(np.arange(5), mesh, capacity=4)
        assert str(error.value) == message
