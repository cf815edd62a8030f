# SPDX-License-Identifier: Apache-2.0
"""`collective.exchange_by_owner`: a lookup over shards against one in the whole table."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives import collective
from on_shards import SHARD_COUNTS, on_shards

NUM_ROWS = 4


@pytest.mark.parametrize("num_shards", SHARD_COUNTS)
def test_a_lookup_over_shards(num_shards):
    rng = np.random.default_rng(num_shards)
    ids = rng.integers(0, num_shards * NUM_ROWS, (num_shards, 6)).astype(np.int32)
    ids[0, 0] = -NUM_ROWS
    table = 1 + np.arange(num_shards * NUM_ROWS * 2.0).reshape(num_shards, NUM_ROWS, 2)

    def look_up(table, ids):
        return collective.exchange_by_owner(
            lambda ids, count: table[ids % NUM_ROWS],
            ids,
            ids // NUM_ROWS,
            axis_name="rows",
            capacity=6 * num_shards,
        )

    found, count = on_shards(look_up, num_shards)(table, ids)
    flat = np.concatenate([table.reshape(-1, 2), np.zeros((1, 2))])
    is_row = ids >= 0
    np.testing.assert_array_equal(found, flat[np.where(is_row, ids, -1)])
    owners = ids[is_row] // NUM_ROWS
    np.testing.assert_array_equal(count, np.bincount(owners, minlength=num_shards))

    # The gradient of a table is the sum over the rows that asked.
    call = on_shards(look_up, num_shards, compiler_options=None)
    gradient = jax.jit(jax.grad(lambda table: jnp.sum(call(table, ids)[0])))(table)
    asked = np.bincount(ids[is_row], minlength=num_shards * NUM_ROWS)
    np.testing.assert_array_equal(gradient.reshape(-1, 2), np.repeat(asked[:, None], 2, 1))


def test_a_function_answers():
    def forget(ids):
        return collective.exchange_by_owner(lambda rows, _: None, ids, ids % 2, axis_name="rows")

    message = (
        "exchange_by_owner: function must return a row for each received row, got None. Return an "
        "array, or a pytree of arrays."
    )
    with pytest.raises(ValueError, match=f"(?m)^{re.escape(message)}$"):
        on_shards(forget, 2)(np.zeros((2, 3), np.int32))
