# SPDX-License-Identifier: Apache-2.0
"""`collective.join` and `join_size` against nested loops over the rows of all shards."""

from typing import get_args

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import collective
from jaxframes.primitives.local._join import How
from key_distributions import make_keys
from on_shards import even_shares, into_shards, noting, on_shards, row_ids, valid_rows

HOWS = get_args(How)


def expected_pairs(left, right, num_left, num_right, how):
    """Global ids of both sides, for sides that lie on shards."""
    rows = oracles.join(valid_rows(left, num_left), valid_rows(right, num_right), how=how)

    def global_ids(found, keys, counts):
        num_shards, num_rows = oracles.columns_of(keys)[0].shape
        ids = valid_rows(row_ids(num_shards, num_rows), counts)
        return np.array([-1 if row < 0 else ids[row] for row in found], np.int32)

    return global_ids(rows[0], left, num_left), global_ids(rows[1], right, num_right)


def dealt_pairs(pairs, num_shards, capacity):
    """The share of each shard, with -1 behind what fits, and its true size."""
    shares = even_shares(len(pairs[0]), num_shards)
    starts = np.cumsum([0, *shares])
    dealt = np.full((2, num_shards, capacity), -1, np.int32)
    for shard, share in enumerate(shares):
        fitting = min(share, capacity)
        for side, rows in zip(dealt, pairs, strict=True):
            side[shard, :fitting] = rows[starts[shard] :][:fitting]
    return *dealt, np.array(shares, np.int32)


def join_on_shards(num_shards, how, capacity):
    def run(left, right, num_left, num_right):
        sides = {"how": how, "num_valid": (num_left, num_right), "axis_name": "rows"}
        joined = collective.join(left, right, capacity=capacity, **sides)
        return joined, collective.join_size(left, right, **sides)

    return on_shards(run, num_shards)


def assert_joins(run, left, right, num_left, num_right, how, capacity):
    num_shards = len(num_left)
    joined, sizes = run(left, right, num_left, num_right)
    pairs = expected_pairs(left, right, num_left, num_right, how)
    unmatched = expected_unmatched(left, right, num_left, num_right, how)
    expected = (*dealt_pairs(pairs, num_shards, capacity), *unmatched)
    oracles.assert_same_bits(tuple(joined), expected)
    assert set(sizes.tolist()) == {len(pairs[0])}


def expected_unmatched(left, right, num_left, num_right, how):
    """The number of unmatched rows of each side, which every shard knows."""
    sides = valid_rows(left, num_left), valid_rows(right, num_right)
    return [np.full(len(num_left), n) for n in oracles.unmatched_rows(*sides, how=how)]


def sides_on_shards(num_shards, num_left, num_right, distribution, dtype=np.float32, seed=0):
    total = num_shards * (num_left + num_right)
    keys = make_keys(distribution, total, np.dtype(dtype), num_shards, seed)
    keys = np.random.default_rng(seed).permutation(keys)
    cut = num_shards * num_left
    return into_shards(keys[:cut], num_shards), into_shards(keys[cut:], num_shards)


# Matches the oracle


# A program takes long to compile: each number of shards joins in some of the ways, three in all.
WAYS = [
    *((1, how) for how in ("inner", "outer", "anti")),
    *((2, how) for how in ("left", "semi", "outer")),
    *((3, how) for how in HOWS),
    *((5, how) for how in ("right", "outer")),
    *((8, how) for how in ("inner", "outer", "cross")),
]


@pytest.mark.parametrize(("num_shards", "how"), WAYS)
def test_joins_whatever_the_keys_and_the_counts(num_shards, how):
    # The right side is too large to be given to every shard.
    num_left, num_right, capacity = 7, 9, 80
    run = join_on_shards(num_shards, how, capacity)
    rng = np.random.default_rng(num_shards)
    for distribution in ("uniform", "four_values", "constant", "zipf", "nan_inf_sprinkled"):
        sides = sides_on_shards(num_shards, num_left, num_right, distribution)
        full = np.full(num_shards, num_left, np.int32), np.full(num_shards, num_right, np.int32)
        some = tuple(
            rng.integers(0, most + 1, num_shards).astype(np.int32) for most in (num_left, num_right)
        )
        first = tuple(np.eye(num_shards, dtype=np.int32)[-1] * most for most in (7, 9))
        for counts in (full, some, first):
            with noting((distribution, counts)):
                assert_joins(run, *sides, *counts, how, capacity)


@pytest.mark.parametrize("how", ["inner", "right", "anti"])
def test_a_small_right_side_is_given_to_every_shard(how):
    run = join_on_shards(3, how, 70)
    for distribution in ("uniform", "four_values", "constant"):
        sides = sides_on_shards(3, 12, 3, distribution)
        for num_left, num_right in (([12] * 3, [3] * 3), ([0, 5, 12], [3, 0, 1])):
            counts = np.array(num_left, np.int32), np.array(num_right, np.int32)
            with noting((distribution, counts)):
                assert_joins(run, *sides, *counts, how, 70)


@pytest.mark.parametrize("how", ["inner", "outer"])
def test_several_columns(how):
    columns = [
        sides_on_shards(3, 7, 9, "four_values", np.int64),
        sides_on_shards(3, 7, 9, "two_valued", np.float64, seed=1),
    ]
    left, right = zip(*columns, strict=True)
    counts = np.array([7, 4, 0], np.int32), np.array([9, 9, 2], np.int32)
    assert_joins(join_on_shards(3, how, 60), left, right, *counts, how, 60)


def test_a_cross_join_has_room_for_all_pairs():
    left, right = into_shards(np.arange(6.0), 3), into_shards(np.arange(9), 3)
    counts = np.array([2, 0, 1], np.int32), np.array([1, 3, 2], np.int32)
    assert_joins(join_on_shards(3, "cross", None), left, right, *counts, "cross", 18)


# A hot key


@pytest.mark.parametrize("how", ["inner", "left", "outer"])
def test_a_key_that_both_sides_are_full_of_overloads_no_shard(how):
    left, right = sides_on_shards(5, 6, 8, "constant", np.int32)
    left[0, 0] += 1
    counts = np.full(5, 6, np.int32), np.full(5, 8, np.int32)
    num_pairs = len(expected_pairs(left, right, *counts, how)[0])
    # Room for an even share, and no more: pairs of one key lie on all shards.
    capacity = -(-num_pairs // 5)
    assert_joins(join_on_shards(5, how, capacity), left, right, *counts, how, capacity)


# More pairs than the capacity


@pytest.mark.parametrize("how", ["inner", "outer", "semi"])
@pytest.mark.parametrize("capacity", [0, 4])
def test_a_capacity_cuts_each_share_off_and_not_its_count(how, capacity):
    left, right = sides_on_shards(3, 7, 9, "four_values")
    counts = np.array([7, 7, 3], np.int32), np.array([9, 1, 9], np.int32)
    assert_joins(join_on_shards(3, how, capacity), left, right, *counts, how, capacity)


@pytest.mark.usefixtures("x64_off")
@pytest.mark.parametrize("how", ["right", "outer", "anti", "cross"])
def test_without_x64(how):
    left, right = sides_on_shards(3, 7, 9, "four_values", np.int32)
    counts = np.array([7, 7, 3], np.int32), np.array([9, 1, 9], np.int32)
    run = join_on_shards(3, how, 80)
    joined, sizes = run(left, right, *counts)
    pairs = expected_pairs(left, right, *counts, how)
    unmatched = expected_unmatched(left, right, *counts, how)
    oracles.assert_same_bits(tuple(joined), (*dealt_pairs(pairs, 3, 80), *unmatched))
    assert sizes.dtype == np.int32
    assert set(sizes.tolist()) == {len(pairs[0])}


def test_the_size_is_exact_past_what_32_bits_count():
    # Each shard's 2^16 left rows meet 2^16 right ones of every shard.
    keys = np.zeros((2, 2**16), np.int8)

    def size(left, right):
        return collective.join_size(left, right, axis_name="rows")

    assert on_shards(size, 2)(keys, keys).tolist() == [2**34] * 2
    with jax.enable_x64(False):
        assert on_shards(size, 2)(keys, keys).tolist() == [2**31 - 1] * 2


# Errors, word for word


@pytest.mark.checks_arguments
@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        (
            {"how": "bogus", "capacity": 3},
            ValueError,
            "join: how must be one of 'inner', 'left', 'right', 'outer', 'semi', 'anti', "
            "'cross', got 'bogus'.",
        ),
        (
            {"how": "outer"},
            ValueError,
            "join: capacity must be given for how='outer', got None. Count the pairs with "
            "join_size, or call jaxframes.primitives.join eagerly, which sizes its result itself.",
        ),
        (
            {"capacity": 3, "transport": "pigeon"},
            ValueError,
            "join: transport must be one of 'auto', 'ragged', 'one_hop', 'two_hop', got 'pigeon'.",
        ),
        (
            {"capacity": 3, "axis_name": "columns"},
            ValueError,
            "join: axis_name must name an axis of the enclosing jax.shard_map, got 'columns'. "
            "Call it inside shard_map over that axis, or use the function of the same name in "
            "jaxframes.primitives, which takes a mesh.",
        ),
    ],
)
def test_errors(settings, error, message):
    keys = jnp.zeros((2, 3), jnp.int32)
    settings = {"axis_name": "rows", **settings}
    with pytest.raises(error) as caught:
        on_shards(lambda keys: tuple(collective.join(keys, keys, **settings)), 2)(keys)
    assert str(caught.value) == message
