# SPDX-License-Identifier: Apache-2.0
"""Batches for training: every row once, and the same after a restart."""

import json

import jax
import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_same
from jax.sharding import PartitionSpec
from jaxframes.frame import col, from_pandas, scan_parquet
from jaxframes.shardings import row_sharded

FRAME = pd.DataFrame({"x": np.arange(500), "y": np.arange(500) % 7})


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    path = tmp_path_factory.mktemp("batches") / "rows.parquet"
    FRAME.to_parquet(path, row_group_size=90)
    return scan_parquet(path)


def values(batches):
    return [batch.x.tolist() for batch in batches]


OPTIONS = {
    "in order": {},
    "shuffled": {"shuffle_buffer": 100, "seed": 3},
    "epochs": {"shuffle_buffer": 70, "epochs": 2, "drop_remainder": True},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_a_restart_gives_the_batches_that_would_have_come(name, plan):
    options = {"batch_rows": 64, **OPTIONS[name]}
    filtered = plan[plan.y != 3]
    uninterrupted = values(filtered.batches(32, **options))
    rng = np.random.default_rng(5)
    for step in [0, *rng.integers(0, len(uninterrupted) + 1, 4)]:
        batches = filtered.batches(32, **options)
        before = [next(batches).x.tolist() for _ in range(step)]
        state = json.loads(json.dumps(batches.state()))
        batches.close()
        assert [*before, *values(filtered.batches(32, state=state, **options))] == uninterrupted


def test_every_row_comes_once_in_each_pass(plan):
    first, second = (
        np.concatenate(values(plan.batches(32, shuffle_buffer=128, seed=seed, batch_rows=64)))
        for seed in (0, 1)
    )
    assert sorted(first) == sorted(second) == list(range(500))
    assert list(first) != list(second)
    # Rows are shuffled within buffers.
    assert sorted(first[:128]) == list(range(128))
    passes = np.concatenate(values(plan.batches(50, shuffle_buffer=500, epochs=2)))
    assert sorted(passes[:500]) == sorted(passes[500:]) == list(range(500))
    assert list(passes[:500]) != list(passes[500:])


def test_batches_have_one_capacity(plan):
    batches = list(plan[plan.x > 10].batches(80, batch_rows=64))
    assert [len(batch) for batch in batches] == [80] * 6 + [9]
    assert len({batch._table.capacity for batch in batches}) == 1
    assert_same(batches[-1], FRAME[-9:])
    assert len(list(plan.batches(80, drop_remainder=True))) == 6


def test_plans_that_need_all_rows_are_collected_first(plan):
    ordered = plan.merge(from_pandas(FRAME[["x"]]), on="x", how="right", indicator=True)
    batches = ordered.batches(200)
    next(batches)
    expected = FRAME.x.tolist()
    assert values(ordered.batches(200, state=batches.state())) == [
        expected[200:400],
        expected[400:],
    ]
    with pytest.raises(NotImplementedError, match=r"merge.*collect\(\)"):
        next(ordered.batches(200, batch_rows=64))
    sums = plan.groupby("y", as_index=False).x.sum()
    assert len(next(sums.batches(3, batch_rows=64))) == 3


def test_labels_count_on_after_a_restart(plan):
    numbered = plan[plan.y == 2].reset_index(drop=True)
    batches = numbered.batches(20, batch_rows=64)
    next(batches)
    resumed = next(numbered.batches(20, state=batches.state(), batch_rows=64))
    assert_same(resumed, FRAME[FRAME.y == 2].reset_index(drop=True)[20:40])


def test_endless_batches_of_a_frame_in_memory():
    batches = from_pandas(FRAME).lazy().filter(col("x") < 100).batches(60, epochs=None)
    assert [len(next(batches)) for _ in range(5)] == [60, 40, 60, 40, 60]
    batches.close()
    assert not list(from_pandas(FRAME).lazy().filter(col("x") < 0).batches(60, epochs=None))


def test_batches_are_sharded(plan):
    mesh = jax.make_mesh((4,), ("rows",), devices=jax.devices()[:4])
    batch = next(plan.batches(96, sharding=row_sharded(mesh), batch_rows=64))
    assert batch.sharding.spec == PartitionSpec(*row_sharded(mesh).spec)
    assert_same(batch, FRAME[:96])


def test_wrong_arguments_raise(plan):
    for name in ("shuffle_buffer", "epochs", "batch_rows"):
        with pytest.raises(ValueError, match=f"batches: {name} must be a positive integer, got 0"):
            plan.batches(10, **{name: 0})
    with pytest.raises(ValueError, match=r"batches: size must be a positive integer, got 1\.5"):
        plan.batches(1.5)
    state = plan.batches(10).state()
    with pytest.raises(ValueError, match=r"batches: the state must come from the same plan"):
        plan.batches(20, state=state)
