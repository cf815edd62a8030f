# SPDX-License-Identifier: Apache-2.0
"""Kernels of joins refuse arguments that would make them access memory outside their arrays."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives import backend
from jaxframes.primitives.kernels.base._foreign import call

pytestmark = pytest.mark.skipif(backend().cpu != "native", reason=backend().reason)

# JAX raises the first if a small program ran before the call returned.
REFUSALS = (ValueError, jax.errors.JaxRuntimeError)
LEFT_ROWS = 3
# Left rows in groups 0, 1, 0; right row 1 in group 0, right row 0 in group 1.
GROUPS, OFFSETS, RIGHT_OF_GROUPS = [0, 1, 0, 1, 0], [0, 1, 2, 2, 2, 2, 2], [1, 0]


def key_table(num_sampled):
    keys = jnp.array([5, 7, 6], jnp.int32)
    arrays = keys, jnp.int32(3), jnp.int32(5)
    results = ((4,), jnp.int32), ((), jnp.int32)
    return call(
        "jaxframes_key_table_v1",
        tuple(array[None] for array in arrays),
        results,
        num_sampled=np.int64(num_sampled),
    )


def pairs(groups=GROUPS, offsets=OFFSETS, how=0, num_left=LEFT_ROWS, num_groups=2):
    arrays = groups, offsets, RIGHT_OF_GROUPS, num_left, num_groups
    return call(
        "jaxframes_pairs_v1",
        tuple(jnp.array(array, jnp.int32)[None] for array in arrays),
        (((8,), jnp.int32), ((8,), jnp.int32)),
        how=np.int32(how),
    )


@pytest.mark.parametrize("num_sampled", [-1, -(2**40), np.iinfo(np.int64).min])
def test_a_key_table_of_a_negative_sample_is_refused(num_sampled):
    with pytest.raises(REFUSALS, match=f"key_table_v1.*got {num_sampled}"):
        jax.block_until_ready(key_table(num_sampled))


@pytest.mark.parametrize("num_sampled", [0, 2, 3, 2**62])
def test_a_key_table_of_any_other_sample_has_every_key(num_sampled):
    table, num_distinct = key_table(num_sampled)
    np.testing.assert_array_equal(table[:3], [0, 2, 1])
    assert num_distinct == 3


def test_sound_groups_are_paired():
    left_rows, right_rows = pairs()
    np.testing.assert_array_equal(left_rows[:3], [0, 1, 2])
    np.testing.assert_array_equal(right_rows[:3], [1, 0, 1])


@pytest.mark.parametrize("how", range(5))
@pytest.mark.parametrize(
    "wrong",
    [
        {"groups": [0, 2, 0, 1, 0]},
        {"groups": [0, -1, 0, 1, 0]},
        {"groups": [0, 2**31 - 1, 0, 1, 0]},
        {"offsets": [-1, 1, 2, 2, 2, 2, 2]},
        {"offsets": [0, 1, 3, 3, 3, 3, 3]},
        {"offsets": [0, 2, 1, 2, 2, 2, 2]},
        {"offsets": [0, 2**31 - 1, 2, 2, 2, 2, 2]},
        {"offsets": [2, 1, 0, 0, 0, 0, 0]},
        {"num_groups": 0},
    ],
    ids=str,
)
def test_pairs_of_groups_of_another_match_are_refused(wrong, how):
    with pytest.raises(REFUSALS, match=r"pairs_v1.*of the same match"):
        jax.block_until_ready(pairs(how=how, **wrong))


def test_one_wrong_row_of_a_batch_is_refused():
    groups = jnp.array([GROUPS, [0, 9, 0, 1, 0]], jnp.int32)
    with pytest.raises(REFUSALS, match=r"pairs_v1.*of the same match"):
        jax.block_until_ready(jax.vmap(lambda groups: pairs(groups=groups))(groups))


def test_groups_in_padding_are_not_read():
    left_rows, _ = pairs(groups=[0, 1, -7, 99, 2**31 - 1], num_left=2)
    np.testing.assert_array_equal(left_rows[:2], [0, 1])


def is_member(num_slots):
    arrays = [5, 6], [6, 7, 9], 2, 3
    flags, _ = call(
        "jaxframes_membership_v1",
        tuple(jnp.array(array, jnp.int32)[None] for array in arrays),
        (((2,), jnp.bool_), ((num_slots,), jnp.uint32)),
        flip=np.int64(0),
    )
    return flags


@pytest.mark.parametrize("num_slots", [0, 3, 4, 7])
def test_a_table_with_less_than_two_slots_a_member_is_refused(num_slots):
    with pytest.raises(REFUSALS, match=f"membership_v1.*twice the members, got {num_slots}"):
        jax.block_until_ready(is_member(num_slots))


def test_a_table_with_two_slots_a_member_finds_all():
    np.testing.assert_array_equal(is_member(8), [False, True])
