# SPDX-License-Identifier: Apache-2.0
"""Columns of several dtypes travel as words of one matrix, and tangents with them."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jaxframes.primitives.collective._exchange_runs import plan_runs
from jaxframes.primitives.collective._moving import move_rows, send_runs
from on_shards import on_shards, row_ids


def test_rows_of_each_dtype_are_moved_bit_for_bit():
    rows = {
        "float": np.array([[-0.0, np.nan], [1.5, np.inf]]),
        "half": np.array([1.0, -2.0], np.float16),
        "flags": np.array([[[True, False]], [[False, True]]]),
        "wide": np.array([2**63 + 1, 0], np.uint64),
    }
    moved = jax.jit(lambda rows: move_rows(rows, None, lambda words, _: words[::-1]))(rows)
    for name, column in rows.items():
        assert moved[name].dtype == column.dtype
        assert np.asarray(moved[name]).tobytes() == column[::-1].tobytes()


def test_runs_arrive_in_the_order_of_their_shards_with_their_tangents():
    num_shards, counts = 3, np.array([[2, 0, 3], [1, 4, 0], [0, 2, 3]], np.int32)
    rows = row_ids(num_shards, 5).astype(np.float64)

    @functools.partial(on_shards, num_shards=num_shards, compiler_options=None)
    def sent(rows, send_counts):
        runs = plan_runs(send_counts, 8, "rows")

        def send(rows):
            return send_runs(rows, runs, 8, "rows", "auto")

        return runs.count, *jax.jvp(send, (rows,), (rows * 2,))

    received, values, tangents = sent(rows, jnp.asarray(counts))
    np.testing.assert_array_equal(received, counts.sum(axis=0))
    starts = np.cumsum(counts, axis=1) - counts
    for shard in range(num_shards):
        own = [
            rows[source, starts[source, shard] :][: counts[source, shard]]
            for source in range(num_shards)
        ]
        expected = np.pad(np.concatenate(own), (0, 8 - received[shard]))
        np.testing.assert_array_equal(values[shard], expected)
        np.testing.assert_array_equal(tangents[shard], expected * 2)
