# SPDX-License-Identifier: Apache-2.0
"""What a scan carries from shard to shard, and where it restarts."""

import functools

import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives.collective._shard_carries import (
    ShardSummary,
    carry_into_shard,
    with_carry,
)
from jaxframes.primitives.contract._scan_operators import Scan
from on_shards import on_shards

NUM_SHARDS = 5
TOTALS = np.array([1, 2, 4, 8, 16])
HAS_ROWS = np.array([True, True, False, True, True])


def carries(op, reverse, **flags):
    none = np.zeros(NUM_SHARDS, bool)
    summary = ShardSummary(
        HAS_ROWS, none, none, none, np.zeros(NUM_SHARDS), np.zeros(NUM_SHARDS), TOTALS
    )
    carry = functools.partial(carry_into_shard, scan=Scan(op, reverse, False), axis_name="rows")
    goes_on, found = on_shards(carry, NUM_SHARDS)(summary._replace(**flags))
    return [int(one) if flag else None for flag, one in zip(goes_on, found, strict=True)]


def add(left, right):
    return left + right


@pytest.mark.parametrize("op", ["add", add])
def test_carries_skip_empty_shards_and_stop_at_heads(op):
    # The total of a shard without rows is arbitrary.
    assert carries(op, False) == [None, 1, None, 3, 11]
    assert carries(op, True) == [26, 24, None, 16, None]
    inside = np.array([False, True, False, False, False])
    assert carries(op, False, has_head_inside=inside) == [None, 1, None, 2, 10]
    at_front = np.array([False, False, False, True, False])
    assert carries(op, False, has_head_before=at_front) == [None, 1, None, None, 8]


def test_other_ids_at_the_edge_restart():
    ids = {"first_id": np.array([0, 0, 7, 1, 1]), "last_id": np.array([0, 0, 7, 1, 1])}
    assert carries("add", False, **ids) == [None, 1, None, None, 8]


def test_a_carry_is_combined_with_the_rows_before_the_first_head():
    rows, is_before = jnp.array([1.0, 2.0, 3.0]), jnp.array([True, True, False])
    for goes_on, expected in ((True, [11.0, 12.0, 3.0]), (False, [1.0, 2.0, 3.0])):
        found = with_carry(
            jnp.bool_(goes_on), jnp.float64(10), rows, is_before, jnp.add, jnp.zeros(3)
        )
        assert found.tolist() == expected
