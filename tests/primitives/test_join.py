# SPDX-License-Identifier: Apache-2.0
"""Joins of whole arrays: the same pairs on every mesh, sized by themselves."""

import functools
import re
from typing import get_args

import jax
import numpy as np
import oracles
import pytest
from jaxframes import primitives
from jaxframes.primitives.local._join import How
from key_distributions import make_keys
from on_shards import mesh_of, noting

HOWS = get_args(How)


def make_sides(num_left, num_right, distribution="four_values", dtype=np.float64):
    keys = make_keys(distribution, num_left + num_right, np.dtype(dtype))
    keys = np.random.default_rng(0).permutation(keys)
    return keys[:num_left], keys[num_left:]


@pytest.mark.parametrize(
    ("num_shards", "hows"), [(None, HOWS), (3, ("left", "outer", "semi")), (8, ("inner", "left"))]
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
            oracles.assert_same_bits(tuple(joined), (*expected, np.int32(len(expected[0]))))
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
        oracles.assert_same_bits(tuple(joined), (*padded, np.int32(count)))


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
        count = len(expected[0])
        joined = primitives.join(left, right, mesh, how=how, capacity=lambda pairs: pairs + 3)
        padded = [np.append(rows, np.full(3, -1, np.int32)) for rows in expected]
        oracles.assert_same_bits(tuple(joined), (*padded, np.int32(count)))
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
            oracles.assert_same_bits(tuple(joined), (*expected, np.int32(len(expected[0]))))


def test_several_columns_on_a_mesh():
    sides = [
        make_sides(30, 20, "four_values", np.int16),
        make_sides(30, 20, "two_valued", np.float64),
        make_sides(30, 20, "two_valued", np.int64),
    ]
    left, right = zip(*sides, strict=True)
    joined = primitives.join(left, right, mesh_of(3), how="inner")
    oracles.assert_same_bits(tuple(joined[:2]), oracles.join(left, right, how="inner"))
