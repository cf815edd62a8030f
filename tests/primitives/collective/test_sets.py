# SPDX-License-Identifier: Apache-2.0
"""`isin` and the sets of keys over shards against dictionaries, and their global calls."""

import functools

import jax
import numpy as np
import oracles
import pytest
from jax.sharding import AxisType
from jaxframes import primitives
from jaxframes.primitives import collective
from key_distributions import make_keys
from on_shards import SHARD_COUNTS, mesh_of, noting, on_shards, row_counts, valid_rows

OPS = ("union", "intersection", "difference")
NUM_A, NUM_B = 14, 9


@functools.cache
def look_up_all_ways(num_shards, transport="auto", capacity=None):
    """Both flags and every set, compiled as one program."""

    def look_up(a, b, num_a, num_b):
        at = {"axis_name": "rows", "num_valid": (num_a, num_b), "transport": transport}
        flags = [collective.isin(a, b, invert=invert, **at) for invert in (False, True)]
        at["capacity"] = capacity
        return flags, [getattr(collective, f"set_{op}")(a, b, **at) for op in OPS]

    return on_shards(look_up, num_shards)


def check(a, b, counts_a, counts_b, transport="auto"):
    num_shards = len(counts_a)
    flags, sets = look_up_all_ways(num_shards, transport)(a, b, counts_a, counts_b)
    in_a, in_b = valid_rows(a, counts_a), valid_rows(b, counts_b)
    for invert, actual in zip((False, True), flags, strict=True):
        actual = np.asarray(actual)
        expected = oracles.isin(in_a, in_b, invert=invert)
        oracles.assert_same_bits(valid_rows(actual, counts_a), expected)
        assert not actual[np.arange(NUM_A) >= counts_a[:, None]].any()
    for op, found in zip(OPS, sets, strict=True):
        assert isinstance(found, collective.KeySet)
        keys, counts = jax.tree.map(np.asarray, (found.unique_keys, found.count))
        with noting((op, counts)):
            expected, count = oracles.set_operation(op, in_a, in_b, counts.sum())
            assert count == counts.sum()
            oracles.assert_same_bits(valid_rows(keys, counts), expected)
            for leaf in oracles.columns_of(keys):
                assert not leaf[np.arange(leaf.shape[1]) >= counts[:, None]].any()


def sides_of(distribution, num_shards, dtype):
    keys = make_keys(distribution, num_shards * (NUM_A + NUM_B), np.dtype(dtype), num_shards)
    a, b = np.split(np.random.default_rng(0).permutation(keys), [num_shards * NUM_A])
    return a.reshape(num_shards, NUM_A), b.reshape(num_shards, NUM_B)


# Matches the oracle


@pytest.mark.parametrize("num_shards", SHARD_COUNTS)
def test_every_number_of_valid_rows(num_shards):
    counts_b = list(row_counts(num_shards, NUM_B).values())
    for distribution in ("zipf", "all_max"):
        a, b = sides_of(distribution, num_shards, np.int32)
        for i, (counted, counts_a) in enumerate(row_counts(num_shards, NUM_A).items()):
            with noting((distribution, counted)):
                check(a, b, counts_a, counts_b[-i % len(counts_b)])


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64"])
def test_keys_have_the_bits_of_the_first_row_of_a(dtype):
    dtype = np.dtype(jax.numpy.bfloat16 if dtype == "bfloat16" else dtype)
    names = ("signed_zeros", "nan_inf_sprinkled") if oracles.is_float(dtype) else ("uniform",)
    for distribution in names:
        a, b = sides_of(distribution, 3, dtype)
        for counts_a in row_counts(3, NUM_A).values():
            check(a, b, counts_a, np.array([9, 8, 0], np.int32))


@pytest.mark.parametrize("transport", ["one_hop", "two_hop"])
def test_several_columns_by_every_transport(transport):
    columns = [sides_of("four_values", 3, np.int64), sides_of("signed_zeros", 3, np.float64)]
    a, b = zip(*columns, strict=True)
    check(a, b, row_counts(3, NUM_A)["all"], row_counts(3, NUM_B)["growing"], transport)
    check(a, b, row_counts(3, NUM_A)["growing"], row_counts(3, NUM_B)["all"], transport)


def test_a_capacity_cuts_keys_off_and_not_the_count():
    a, b = sides_of("zipf", 3, np.int32)
    counts = np.full(3, NUM_A, np.int32), np.full(3, NUM_B, np.int32)
    _, whole = look_up_all_ways(3)(a, b, *counts)
    _, cut = look_up_all_ways(3, capacity=2)(a, b, *counts)
    for found, few in zip(whole, cut, strict=True):
        oracles.assert_same_bits(few.count, found.count)
        assert np.max(found.count) > 2
        oracles.assert_same_bits(few.unique_keys, np.asarray(found.unique_keys)[:, :2])


def test_the_default_capacity_holds_more_keys_than_a_shard_had_of_either_side():
    # What both sides share is a third of their keys, the least of them: few shards get it all.
    a = np.array([[0], [1], [2]], np.int32)
    b = np.array([[0, 1, 2, 11, 12, 13], [0, 1, 2, 21, 22, 23], [0, 1, 2, 31, 32, 33]], np.int32)
    check_sets = on_shards(
        lambda a, b: [getattr(collective, f"set_{op}")(a, b, axis_name="rows") for op in OPS], 3
    )
    for op, found in zip(OPS, check_sets(a, b), strict=True):
        expected, _ = oracles.set_operation(op, a.reshape(-1), b.reshape(-1), found.count.sum())
        found = jax.tree.map(np.asarray, found)
        assert found.count.max() > a.shape[1] or op == "difference"
        oracles.assert_same_bits(valid_rows(found.unique_keys, found.count), expected)


# Global calls


@pytest.mark.parametrize(
    ("num_shards", "num_a", "num_b"), [(None, 29, 17), (1, 29, 17), (8, 29, 17), (3, 0, 5)]
)
def test_whole_arrays_of_any_length(num_shards, num_a, num_b):
    mesh = None if num_shards is None else mesh_of(num_shards)
    a, b = (make_keys("nan_inf_sprinkled", n, np.float32, seed=n) for n in (num_a, num_b))
    b[: num_b // 2] = np.random.default_rng(0).permutation(a)[: num_b // 2] if num_a else b[0]
    oracles.assert_same_bits(primitives.isin(a, b, mesh), oracles.isin(a, b))
    for op in OPS:
        call = getattr(primitives, f"set_{op}")
        _, count = oracles.set_operation(op, a, b, 0)
        expected = oracles.set_operation(op, a, b, int(count))
        oracles.assert_same_bits(tuple(call(a, b, mesh)), expected)
        traced = jax.jit(functools.partial(call, mesh=mesh, capacity=2))(a, b)
        oracles.assert_same_bits(tuple(traced), oracles.set_operation(op, a, b, 2))


def test_whole_arrays_without_rows():
    # XLA takes them for constants.
    empty = np.zeros(0, np.int8)
    for op in OPS:
        call = functools.partial(getattr(primitives, f"set_{op}"), mesh=mesh_of(3), capacity=2)
        found = jax.jit(call)(empty, empty)
        oracles.assert_same_bits(tuple(found), oracles.set_operation(op, empty, empty, 2))


def test_explicit_axes_of_a_mesh_of_two():
    mesh = jax.make_mesh((2, 3), ("host", "device"), axis_types=(AxisType.Explicit,) * 2)
    a, b = make_keys("zipf", 29, np.int32), make_keys("zipf", 12, np.int32, seed=1)
    oracles.assert_same_bits(primitives.isin(a, b, mesh, axis="device"), oracles.isin(a, b))
    found = primitives.set_intersection(a, b, mesh)
    expected = oracles.set_operation("intersection", a, b, int(found.count))
    oracles.assert_same_bits(tuple(found), expected)


def test_too_small_a_capacity_names_the_one_that_suffices():
    message = "set_union: 5 rows do not fit a capacity of 4. Call again with capacity=5 or more."
    for mesh in (None, mesh_of(3)):
        with pytest.raises(primitives.CapacityError) as error:
            primitives.set_union(np.arange(3), np.arange(2, 5), mesh, capacity=4)
        assert str(error.value) == message
