# SPDX-License-Identifier: Apache-2.0
"""`local.join` and `local.join_size` against nested loops, and against pandas."""

import functools
from typing import get_args

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pandas as pd
import pytest
from jaxframes.primitives import local
from jaxframes.primitives.local._join import How
from key_distributions import FLOAT_DTYPES, INTEGER_DTYPES, distributions_for, make_keys
from on_shards import noting

HOWS = get_args(How)
NUM_LEFT, NUM_RIGHT = 50, 35


@functools.partial(jax.jit, static_argnames="capacity")
def join_all_ways(left_keys, right_keys, num_left, num_right, capacity):
    """Every join and its size, compiled as one program."""
    sides = {"num_valid": (num_left, num_right)}
    return {
        how: (
            local.join(left_keys, right_keys, how=how, capacity=capacity, **sides),
            local.join_size(left_keys, right_keys, how=how, **sides),
        )
        for how in HOWS
    }


def assert_joins(left_keys, right_keys, num_valid=None, capacity=NUM_LEFT * NUM_RIGHT + 90):
    num_left, num_right = (len(oracles.columns_of(keys)[0]) for keys in (left_keys, right_keys))
    valid = (num_left, num_right) if num_valid is None else num_valid
    actual = join_all_ways(
        left_keys, right_keys, *(jnp.int32(count) for count in valid), capacity=capacity
    )
    for how in HOWS:
        rows = oracles.join(left_keys, right_keys, how=how, num_valid=valid)
        count = len(rows[0])
        padded = [np.full(capacity, -1, np.int32) for _ in rows]
        for side, expected in zip(padded, rows, strict=True):
            side[:count] = expected[:capacity]
        with noting((how, valid, capacity)):
            joined, size = actual[how]
            assert isinstance(joined, local.Joined)
            unmatched = oracles.unmatched_rows(left_keys, right_keys, how=how, num_valid=valid)
            oracles.assert_same_bits(tuple(joined), (*padded, np.int32(count), *unmatched))
            assert size == count


def make_sides(distribution, dtype):
    keys = make_keys(distribution, NUM_LEFT + NUM_RIGHT, np.dtype(dtype))
    keys = np.random.default_rng(0).permutation(keys)
    return keys[:NUM_LEFT], keys[NUM_LEFT:]


# Matches the oracle


@pytest.mark.parametrize("dtype", [np.dtype(bool), *INTEGER_DTYPES, *FLOAT_DTYPES], ids=str)
def test_joins_keys_of_any_dtype_and_distribution(dtype):
    for distribution in distributions_for(dtype):
        assert_joins(*make_sides(distribution, dtype))


def test_joins_by_several_columns():
    sides = [
        make_sides("four_values", np.int16),
        make_sides("two_valued", np.float64),
        make_sides("four_values", np.int64),
    ]
    left_keys, right_keys = zip(*sides, strict=True)
    assert_joins(left_keys, right_keys)
    assert_joins(left_keys, right_keys, num_valid=(41, 20))


@pytest.mark.parametrize("num_valid", [(0, 0), (0, 35), (50, 0), (1, 1), (49, 34), (20, 35)])
def test_padding_matches_nothing(num_valid):
    left_keys, right_keys = make_sides("four_values", np.int32)
    assert_joins(left_keys, right_keys, num_valid)


@pytest.mark.parametrize("capacity", [0, 1, 17])
def test_a_capacity_cuts_pairs_off_and_not_the_count(capacity):
    assert_joins(*make_sides("zipf", np.int64), capacity=capacity)


@pytest.mark.parametrize(("num_left", "num_right"), [(0, 0), (0, 1), (1, 0), (1, 1), (3, 0)])
def test_edge_sizes(num_left, num_right):
    assert_joins(np.arange(num_left, dtype=np.float32), np.zeros(num_right, np.float32))


@pytest.mark.usefixtures("x64_off")
def test_without_x64():
    assert_joins(*make_sides("zipf", np.int32))
    left, right = make_sides("four_values", np.float32), make_sides("two_valued", np.int32)
    assert_joins((left[0], right[0]), (left[1], right[1]))


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer"])
def test_pairs_come_in_the_order_of_pandas(how):
    left_keys, right_keys = make_sides("zipf", np.float64)
    left_keys[::7] = right_keys[::9] = np.nan
    merged = pd.DataFrame({"key": left_keys, "left": np.arange(NUM_LEFT)}).merge(
        pd.DataFrame({"key": right_keys, "right": np.arange(NUM_RIGHT)}), on="key", how=how
    )
    joined = local.join(left_keys, right_keys, how=how, capacity=len(merged))
    expected = merged[["left", "right"]].fillna(-1).to_numpy().astype(np.int32)
    oracles.assert_same_bits(np.stack(joined[:2], axis=1), expected)


def test_a_cross_join_compares_no_keys():
    left, right = (np.arange(4.0), np.arange(4)), np.zeros(3, np.int8)
    merged = pd.DataFrame({"left": range(4)}).merge(pd.DataFrame({"right": range(3)}), how="cross")
    expected = merged.to_numpy().astype(np.int32).T
    joined = local.join(left, right, how="cross")
    oracles.assert_same_bits(tuple(joined), (*expected, np.int32(12), np.int32(0), np.int32(0)))
    assert local.join_size(left, right, how="cross") == 12
    for num_valid in ((0, 0), (2, 0), (0, 3), (2, 2)):
        with noting(num_valid):
            joined = local.join(left, right, how="cross", num_valid=num_valid)
            assert len(joined.left_rows) == 12
            count = num_valid[0] * num_valid[1]
            padded = np.full((2, 12), -1, np.int32)
            padded[:, :count] = np.indices(num_valid).reshape(2, -1)
            none = [num_valid[0] * (num_valid[1] == 0), num_valid[1] * (num_valid[0] == 0)]
            expected = (*padded, np.int32(count), *map(np.int32, none))
            oracles.assert_same_bits(tuple(joined), expected)


def test_vmap_counts_unmatched_rows():
    left, right = make_sides("four_values", np.int32)
    lefts, rights = left.reshape(5, 10), right.reshape(5, 7)
    for how in HOWS:
        join = functools.partial(local.join, how=how, capacity=80)
        joined = jax.vmap(join)(lefts, rights)
        expected = [
            oracles.unmatched_rows(*sides, how=how) for sides in zip(lefts, rights, strict=True)
        ]
        with noting(how):
            oracles.assert_same_bits(np.stack(joined[-2:], axis=1), np.array(expected))


# More pairs than 32 bits count


@pytest.mark.parametrize("how", ["inner", "left", "outer", "cross"])
def test_the_size_is_exact_and_the_count_of_a_join_saturates(how):
    left_keys, right_keys = np.zeros(2**17, np.int8), np.zeros(2**16 + 1, np.int8)
    size = jax.jit(functools.partial(local.join_size, how=how))(left_keys, right_keys)
    assert size.dtype == np.int64
    assert size == 2**17 * (2**16 + 1)
    join = jax.jit(functools.partial(local.join, how=how, capacity=3))
    joined = join(left_keys, right_keys)
    assert joined.count == 2**31 - 1
    assert joined.left_rows.tolist() == [0, 0, 0]
    assert joined.right_rows.tolist() == [0, 1, 2]
    with jax.enable_x64(False):
        size = jax.jit(functools.partial(local.join_size, how=how))(left_keys, right_keys)
    assert size.dtype == np.int32
    assert size == 2**31 - 1


# Errors, word for word


@pytest.mark.checks_arguments
@pytest.mark.parametrize(
    ("sides", "settings", "error", "message"),
    [
        (
            (np.arange(3), np.arange(4)),
            {"how": "bogus", "capacity": 3},
            ValueError,
            "join: how must be one of 'inner', 'left', 'right', 'outer', 'semi', 'anti', "
            "'cross', got 'bogus'.",
        ),
        (
            (np.arange(3), np.arange(4)),
            {"how": "left"},
            ValueError,
            "join: capacity must be given for how='left', got None. Count the pairs with "
            "join_size, or call jaxframes.primitives.join eagerly, which sizes its result itself.",
        ),
        (
            (np.arange(3), np.arange(4.0)),
            {"capacity": 3},
            TypeError,
            "join: left_keys and right_keys must have the same dtype, got int64[3] and "
            "float64[4]. Cast one of them.",
        ),
        (
            ((np.arange(3), np.arange(3)), np.arange(4)),
            {"capacity": 3},
            ValueError,
            "join: left_keys and right_keys must have the same number of columns, got 2 and 1.",
        ),
        (
            (np.arange(3), np.arange(4)),
            {"capacity": 3, "num_valid": 3},
            TypeError,
            "join: num_valid must be a pair, for a and for b, got int.",
        ),
    ],
)
def test_errors(sides, settings, error, message):
    with pytest.raises(error) as caught:
        local.join(*sides, **settings)
    assert str(caught.value) == message
