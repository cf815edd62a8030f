# SPDX-License-Identifier: Apache-2.0
"""Reductions of adjacent segments, by scans and shifts or by their ids, against NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives.local._run_segments import (
    Runs,
    end_of_runs,
    reduce_runs,
    rows_of_runs,
    run_lengths,
)

LENGTHS, NUM_SEGMENTS, PADDING = np.array([3, 1, 5, 2]), 6, 4
IDS = np.concatenate([np.repeat(np.arange(4), LENGTHS), np.full(PADDING, -1)]).astype(np.int32)
NUM_VALID = int(LENGTHS.sum())
ROWS = np.random.default_rng(2).integers(-9, 9, len(IDS)).astype(np.int32)
LAST = np.cumsum(LENGTHS) - 1
FIRST = LAST - LENGTHS + 1
OF_RUNS = np.split(ROWS[:NUM_VALID], np.cumsum(LENGTHS)[:-1])


def runs_of_rows():
    is_head = (np.diff(IDS, prepend=-1) != 0) & (np.arange(len(IDS)) < NUM_VALID)
    return Runs(jnp.asarray(IDS), jnp.asarray(is_head), jnp.int32(NUM_VALID))


@pytest.fixture(params=["by ids", "by shifts"])
def way(request, monkeypatch):
    """The way of CPU, and that of TPU as XLA runs it here."""
    if request.param == "by shifts":

        def of_tpu(*arguments, default, **platforms):
            return platforms.get("tpu", default)(*arguments)

        monkeypatch.setattr(jax.lax, "platform_dependent", of_tpu)


def count_ids(ids):
    return jnp.bincount(ids + 1, length=NUM_SEGMENTS + 1)[1:].astype(jnp.int32)


def by_ids(op):
    """A reduction of rows by their ids, which a run may take."""
    reduce = {"add": jax.ops.segment_sum, "max": jax.ops.segment_max}[op]
    return lambda rows, ids: reduce(rows, ids, NUM_SEGMENTS)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(("op", "expected"), [("add", np.sum), ("max", np.max)])
def test_runs_are_reduced_as_by_numpy(op, expected):
    reduced = jax.jit(lambda rows: reduce_runs(op, rows, runs_of_rows(), NUM_SEGMENTS, by_ids(op)))
    np.testing.assert_array_equal(reduced(ROWS)[:4], [expected(run) for run in OF_RUNS])


@pytest.mark.usefixtures("way")
def test_lengths_and_ends_are_those_of_numpy():
    def found(rows):
        runs = runs_of_rows()
        lengths = run_lengths(runs, NUM_SEGMENTS, count_ids)
        firsts = end_of_runs(
            rows, runs, NUM_SEGMENTS, lambda rows, _: rows[np.append(FIRST, [0, 0])], is_last=False
        )
        lasts = end_of_runs(
            rows, runs, NUM_SEGMENTS, lambda rows, _: rows[np.append(LAST, [0, 0])], is_last=True
        )
        return lengths, firsts, lasts

    lengths, firsts, lasts = jax.jit(found)(ROWS)
    np.testing.assert_array_equal(lengths[:4], LENGTHS)
    np.testing.assert_array_equal(firsts[:4], [run[0] for run in OF_RUNS])
    np.testing.assert_array_equal(lasts[:4], [run[-1] for run in OF_RUNS])


@pytest.mark.usefixtures("way")
def test_each_row_gets_the_entry_of_its_run():
    table = np.array([7, -1, 0, 5, 9, 9], np.int32)

    def entries(table):
        return rows_of_runs(table, runs_of_rows(), lambda table, ids: table[ids])

    found = jax.jit(entries)(table)
    np.testing.assert_array_equal(found[:NUM_VALID], table[IDS[:NUM_VALID]])
