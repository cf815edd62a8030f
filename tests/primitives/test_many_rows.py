# SPDX-License-Identifier: Apache-2.0
"""The most rows of one device, against closed forms.

With JAXFRAMES_TESTS=all they are 2^31 - 1 rows of uint8, which take 8 GiB and a few minutes;
otherwise fewer, of a length as odd.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from covering import RUNS_ALL
from jaxframes import primitives

NUM_ROWS = 2**31 - 1 if RUNS_ALL else 2**20 - 1
# An odd factor: in each 256 rows every value occurs once. The last value is missing once.
CYCLE = (np.arange(256) * 181 + 7).astype(np.uint8)


@pytest.fixture(scope="module")
def rows():
    whole, rest = divmod(NUM_ROWS, 256)
    host = np.empty(NUM_ROWS, np.uint8)
    host[: 256 * whole].reshape(whole, 256)[:] = CYCLE
    host[256 * whole :] = CYCLE[:rest]
    return jax.device_put(host)


def test_counts_of_each_value(rows):
    expected = np.full(256, NUM_ROWS // 256 + 1)
    expected[CYCLE[-1]] -= 1
    np.testing.assert_array_equal(primitives.digit_histogram(rows, 0, 8), expected)


def test_a_reduction_counts_all_rows(rows):
    reduced = primitives.reduce(rows, "min")
    assert (int(reduced.values), int(reduced.counts)) == (0, NUM_ROWS)


def test_ids_of_selected_rows(rows):
    found = primitives.compact(rows == CYCLE[200], None, capacity=NUM_ROWS // 256 + 1)
    count = int(found.count)
    expected = np.arange(200, NUM_ROWS, 256)
    assert count == len(expected)
    assert found.row_ids is not None
    np.testing.assert_array_equal(found.row_ids[:count], expected)


def test_a_row_more_than_row_ids_can_number():
    too_many = jax.ShapeDtypeStruct((2**31,), jnp.uint8)
    with pytest.raises(ValueError, match=r"a shard must hold fewer than 2\*\*31 rows"):
        jax.eval_shape(primitives.radix_argsort, too_many)
