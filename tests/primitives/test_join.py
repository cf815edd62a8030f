# SPDX-License-Identifier: Apache-2.0
"""Joins of whole arrays: the same pairs on every mesh, sized by themselves."""

import functools
import operator
import re
from typing import get_args

import jax
import numpy as np
import oracles
import pandas as pd
import pytest
from jaxframes import primitives
from jaxframes.primitives._direct_join import match_directly
from jaxframes.primitives._packed_sides import pack_sides
from jaxframes.primitives.kernels.join._direct_match import SAMPLE_ROWS
from jaxframes.primitives.local._join import How, as_sides
from key_distributions import make_keys
from on_shards import mesh_of, noting

HOWS = get_args(How)


def make_sides(num_left, num_right, distribution="four_values", dtype=np.float64):
    keys = make_keys(distribution, num_left + num_right, np.dtype(dtype))
    keys = np.random.default_rng(0).permutation(keys)
    return keys[:num_left], keys[num_left:]


def counts_of(left, right, how, num_valid=(None, None)):
    """The number of pairs and the numbers of unmatched rows."""
    sides = {"how": how, "num_valid": num_valid}
    count = np.int32(len(oracles.join(left, right, **sides)[0]))
    return count, *oracles.unmatched_rows(left, right, **sides)


@pytest.mark.parametrize(
    ("num_shards", "hows"),
    [(None, HOWS), (3, ("left", "outer", "semi", "cross")), (8, ("inner", "left"))],
)
def test_an_eager_join_is_as_long_as_it_must_be(num_shards, hows):
    # Lengths that neither three nor eight shards divide; by turns a right side that is given to
    # all shards, and one that is not.
    mesh = None if num_shards is None else mesh_of(num_shards)
    for how in hows:
        sides = make_sides(*((50, 5) if how in ("left", "anti") else (13, 22)))
        with noting(how):
            expected = oracles.join(*sides, how=how)
            joined = primitives.join(*sides, mesh, how=how)
            assert isinstance(joined, primitives.Joined)
            oracles.assert_same_bits(tuple(joined), (*expected, *counts_of(*sides, how)))
            assert primitives.join_size(*sides, mesh, how=how) == len(expected[0])


@pytest.mark.parametrize("num_shards", [None, 3])
def test_a_traced_join_has_the_capacity_and_the_true_count(num_shards):
    mesh = None if num_shards is None else mesh_of(num_shards)
    left, right = make_sides(20, 16)
    for capacity in (7, 400):
        run = functools.partial(primitives.join, mesh=mesh, how="left", capacity=capacity)
        joined = jax.jit(run)(left, right)
        expected = oracles.join(left, right, how="left")
        count = len(expected[0])
        padded = np.full((2, capacity), -1, np.int32)
        padded[:, : min(count, capacity)] = np.stack(expected)[:, :capacity]
        oracles.assert_same_bits(tuple(joined), (*padded, *counts_of(left, right, "left")))


@pytest.mark.parametrize("num_shards", [None, 3])
def test_an_eager_join_says_which_capacity_would_do(num_shards):
    mesh = None if num_shards is None else mesh_of(num_shards)
    left, right = np.zeros(5, np.int32), np.zeros(4, np.int32)
    with pytest.raises(primitives.CapacityError) as caught:
        primitives.join(left, right, mesh, capacity=19)
    assert caught.value.needed == 20
    assert str(caught.value) == (
        "join: 20 rows do not fit a capacity of 19. Call again with capacity=20 or more."
    )


def test_an_eager_join_asks_a_function_for_its_capacity():
    left, right = make_sides(20, 16)
    for mesh, how in ((None, "left"), (None, "right"), (mesh_of(3), "left")):
        expected = oracles.join(left, right, how=how)
        joined = primitives.join(left, right, mesh, how=how, capacity=lambda pairs: pairs + 3)
        padded = [np.append(rows, np.full(3, -1, np.int32)) for rows in expected]
        oracles.assert_same_bits(tuple(joined), (*padded, *counts_of(left, right, how)))
        with pytest.raises(primitives.CapacityError):
            primitives.join(left, right, mesh, how=how, capacity=lambda pairs: pairs - 1)


def test_an_eager_join_of_more_pairs_than_a_result_holds():
    keys = np.zeros(50_000, np.int32)
    message = (
        "join: the result must have fewer than 2**31 - 1 pairs, got 2,500,000,000. Drop keys that "
        "many rows of both sides have, or join the left side in parts."
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        primitives.join(keys, keys)


@pytest.mark.parametrize("num_shards", [None, 3])
@pytest.mark.parametrize(("num_left", "num_right"), [(0, 0), (4, 0)])
def test_sides_without_rows(num_shards, num_left, num_right):
    mesh = None if num_shards is None else mesh_of(num_shards)
    sides = make_sides(num_left, num_right, dtype=np.int32)
    for how in ("right", "outer"):
        with noting(how):
            expected = oracles.join(*sides, how=how)
            joined = primitives.join(*sides, mesh, how=how)
            oracles.assert_same_bits(tuple(joined), (*expected, *counts_of(*sides, how)))


# Joins by a direct-address table: distinct integers in a dense range


def assert_eager_joins(left, right, num_valid=None, hows=("left", "inner", "right")):
    valid = (len(left), len(right)) if num_valid is None else num_valid
    for how in hows:
        with noting((how, num_valid)):
            expected = oracles.join(left, right, how=how, num_valid=valid)
            joined = primitives.join(left, right, how=how, num_valid=num_valid)
            counts = counts_of(left, right, how, valid)
            oracles.assert_same_bits(tuple(joined), (*expected, *counts))


def is_direct(left, right, how, num_valid=None):
    return match_directly(as_sides(left, right, how, num_valid, "join"), how) is not None


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint32", "int64", "uint64"])
def test_distinct_close_keys_at_the_ends_of_their_dtype(dtype):
    info = np.iinfo(dtype)
    rng = np.random.default_rng(0)
    for first in (info.min, info.max // 2 - 15, info.max - 35):
        keys = np.array([first + step for step in rng.permutation(36).tolist()], dtype)
        others = np.array([info.min, info.max, info.max // 2, 0], dtype)
        left = rng.permutation(np.concatenate([keys[20:], keys[:30], others]))
        # A key that is repeated only in padding is distinct.
        right = np.append(keys[:27], keys[:3])
        assert is_direct(left, right, "left", (40, 27))
        assert_eager_joins(left, right, (40, 27))
        assert_eager_joins(right, left, (27, 40), ["right"])


def test_keys_that_span_their_whole_dtype():
    left = np.arange(-128, 128).astype(np.int8)
    right = np.random.default_rng(0).permutation(left)
    assert is_direct(left, right, "inner")
    assert_eager_joins(left, right)


@pytest.mark.parametrize(
    ("right", "is_found"),
    [
        (np.array([3, 1, 2, 0]), True),
        (np.array([3, 1, 2, 104]), True),
        (np.array([3, 1, 2, 105]), False),
        (np.array([3, 1, 7, 3]), False),
        (np.array([1, 1, 2, 3]), False),
        (np.array([0, 1, 2, 2**63 - 1]), False),
        (np.array([-(2**63), 1, 2, 2**63 - 1]), False),
        (np.array([], np.int64), False),
        (np.array([3.0, 1.0, 2.0]), False),
        (np.array([True, False]), False),
    ],
)
def test_a_table_is_made_of_distinct_close_integers_only(right, is_found):
    # Eight slots for each of 13 rows.
    left = np.array([1, 5, 3, 2, 3, 0, 104, 105, 4]).astype(right.dtype)
    hows = [how for how in HOWS if is_direct(left, right, how)]
    assert hows == (["inner", "left"] if is_found else [])
    assert is_direct(right, left, "right") == is_found
    assert_eager_joins(left, right, hows=["left", "inner"])
    assert_eager_joins(right, left, hows=["right"])


# Ranges of 2**32, 2**30 and 2 make 2**63 numbers.
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize(
    ("ends", "is_packed"),
    [
        ([(-5, 2**32 - 6), (7, 2**30 + 6), (0, 1)], True),
        ([(-5, 2**32 - 5), (7, 2**30 + 6), (0, 1)], False),
        ([(-(2**63), -(2**63) + 3), (2**63 - 4, 2**63 - 1), (-2, 2)], True),
        ([(-(2**63), 2**63 - 1), (1, 2)], False),
        ([(3, 3), (4, 4)], True),
    ],
)
def test_several_columns_of_integers_of_any_range(how, ends, is_packed):
    def keys(num_rows, seed):
        rng = np.random.default_rng(seed)
        columns = [
            np.array([[low, high][bit] for bit in rng.integers(0, 2, num_rows)])
            for low, high in ends
        ]
        return [
            np.append(column, [low, high])
            for column, (low, high) in zip(columns, ends, strict=True)
        ]

    left, right = tuple(keys(20, 0)), tuple(keys(9, 1))
    sides = as_sides(left, right, how, (22, 11), "join")
    assert (len(pack_sides(sides).a) == 1) == is_packed
    for num_valid in [(22, 11), (20, 9), (22, 0), (0, 11), (0, 0)]:
        joined = primitives.join(left, right, how=how, num_valid=num_valid)
        expected = oracles.join(left, right, how=how, num_valid=num_valid)
        oracles.assert_same_bits(tuple(joined[:2]), expected)


def test_columns_that_are_not_packed():
    wide, narrow = np.arange(5), np.arange(5, dtype=np.int32)
    for columns, is_packed in [
        ((wide, narrow), True),
        ((wide.astype(np.uint64), wide), True),
        ((narrow, narrow), False),
        ((wide, wide * 0.5), False),
        ((wide, wide > 2), False),
    ]:
        sides = as_sides(columns, columns, "inner", None, "join")
        assert (len(pack_sides(sides).a) == 1) == is_packed
        assert_eager_joins(columns, columns, (5, 5))


@pytest.mark.parametrize("num_left", [39, 40, 41])
def test_a_table_may_have_eight_slots_for_each_row_of_both_sides(num_left):
    rng = np.random.default_rng(num_left)
    right = np.array([8 * (40 + 3) - 1, 0, 7])
    left = np.append(rng.integers(-3, 45, num_left - 1), right[0])
    assert is_direct(left, right, "inner") == (num_left >= 40)
    assert is_direct(right, left, "right", (3, num_left)) == (num_left >= 40)
    assert is_direct(np.append(left, right), right, "left", (num_left, 3)) == (num_left >= 40)
    assert_eager_joins(left, right)
    assert_eager_joins(left, np.append(right, 7))


@pytest.mark.parametrize("repeat", [None, 5, SAMPLE_ROWS, 5 * SAMPLE_ROWS - 1])
def test_a_key_that_comes_twice_early_or_late(repeat):
    right = np.random.default_rng(0).permutation(5 * SAMPLE_ROWS + 1)
    left = np.array([right[4], right[-1], len(right), right[-1]])
    if repeat is not None:
        right[repeat] = right[4]
    assert is_direct(left, right, "left") == (repeat is None)
    expected = pd.DataFrame({"key": left}).merge(
        pd.DataFrame({"key": right, "row": np.arange(len(right))}), on="key", how="left"
    )
    joined = primitives.join(left, right, how="left")
    assert joined.right_rows.tolist() == expected["row"].fillna(-1).tolist()


@pytest.mark.parametrize("num_missing", [0, 1, 3])
def test_rows_that_many_left_rows_do_not_match(num_missing):
    # Left rows in several blocks; the last one is short.
    right = np.random.default_rng(0).permutation(SAMPLE_ROWS // 2)
    left = np.random.default_rng(1).permutation(np.resize(right[num_missing:], 9 * SAMPLE_ROWS + 5))
    left[::7] = -1
    assert is_direct(left, right, "left")
    for how in ("left", "inner"):
        joined = primitives.join(left, right, how=how)
        unmatched = len(left[::7]), len(set(right) - set(left))
        assert (joined.num_unmatched_left, joined.num_unmatched_right) == unmatched
    alone = primitives.join(left, np.append(right[:num_missing], 10**4), how="left")
    assert alone.num_unmatched_right == num_missing + 1


def test_a_table_is_made_of_one_column_only():
    keys = np.arange(5, dtype=np.int32)
    assert is_direct(keys, keys, "left")
    assert not is_direct((keys, keys), (keys, keys), "left")


@pytest.mark.parametrize("num_left", [0, 7, 64])
def test_capacities_of_a_join_by_a_table(num_left):
    rng = np.random.default_rng(0)
    left = rng.integers(0, 40, num_left)
    for right in (rng.permutation(30), rng.permutation(40)):
        for how, sides in (
            ("left", (left, right)), ("inner", (left, right)), ("right", (right, left))
        ):  # fmt: skip
            assert is_direct(*sides, how)
            expected = oracles.join(*sides, how=how)
            for spare in (0, 3, 200):
                joined = primitives.join(
                    *sides, how=how, capacity=functools.partial(operator.add, spare)
                )
                padded = [np.append(rows, np.full(spare, -1, np.int32)) for rows in expected]
                oracles.assert_same_bits(tuple(joined), (*padded, *counts_of(*sides, how)))


@pytest.mark.usefixtures("x64_off")
def test_a_table_without_x64():
    left, right = np.array([5, 9, 6, 6, 40], np.int32), np.array([7, 6, 5], np.int32)
    assert is_direct(left, right, "left")
    assert_eager_joins(left, right)


def test_several_columns_on_a_mesh():
    sides = [
        make_sides(30, 20, "four_values", np.int16),
        make_sides(30, 20, "two_valued", np.float64),
        make_sides(30, 20, "two_valued", np.int64),
    ]
    left, right = zip(*sides, strict=True)
    joined = primitives.join(left, right, mesh_of(3), how="inner")
    oracles.assert_same_bits(tuple(joined[:2]), oracles.join(left, right, how="inner"))
