# SPDX-License-Identifier: Apache-2.0
"""Batches for training: every row once, and the same after a restart."""

import json
import os
import subprocess
import sys

import jax
import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_same
from jax.sharding import PartitionSpec
from jaxframes.frame import col, from_pandas, scan_parquet
from jaxframes.frame.plan._node import Scan, in_order
from jaxframes.frame.stream._limits import rows_of_batches
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
    for step in [0, *rng.integers(0, len(uninterrupted) + 1, 10), len(uninterrupted)]:
        batches = filtered.batches(32, **options)
        before = [next(batches).x.tolist() for _ in range(step)]
        state = json.loads(json.dumps(batches.state()))
        batches.close()
        assert [*before, *values(filtered.batches(32, state=state, **options))] == uninterrupted


TRAINING = """
import json, sys
import jax

jax.config.update("jax_enable_x64", True)
from jaxframes.frame import scan_parquet

batches = scan_parquet(sys.argv[1]).batches(20, shuffle_buffer=70, epochs=3, batch_rows=64, seed=2)
for batch in batches:
    print(json.dumps([batch.x.tolist(), batches.state()]), flush=True)
"""


def test_a_killed_process_loses_no_batch(tmp_path):
    path = tmp_path / "rows.parquet"
    FRAME.to_parquet(path, row_group_size=90)
    given = []
    with subprocess.Popen([sys.executable, "-c", TRAINING, path], stdout=subprocess.PIPE) as child:
        for _ in range(31):
            given.append(json.loads(child.stdout.readline()))
        child.kill()
    options = {"shuffle_buffer": 70, "epochs": 3, "batch_rows": 64, "seed": 2}
    plan = scan_parquet(path)
    uninterrupted = values(plan.batches(20, **options))
    assert [batch for batch, _ in given] == uninterrupted[:31]
    for step in (1, 4, 5, 24, 25, 26, 30, 31):
        rest = values(plan.batches(20, state=given[step - 1][1], **options))
        assert rest == uninterrupted[step:]


def test_a_memory_limit_sets_the_rows_that_are_read(plan):
    scans = [node for node in in_order(plan._plan) if isinstance(node, Scan)]
    num_rows = rows_of_batches(scans, None, "1GiB")
    state = plan.batches(50, memory_limit="1GiB").state()
    assert state == plan.batches(50, batch_rows=num_rows).state()
    assert state != plan.batches(50, batch_rows=num_rows + 1).state()
    limited = plan.batches(50, memory_limit="1MiB", shuffle_buffer=100)
    assert sorted(np.concatenate(values(limited))) == list(range(500))
    with pytest.raises(ValueError, match=r"batch_rows= or memory_limit=, not both"):
        plan.batches(50, memory_limit="1MiB", batch_rows=64)


def test_the_state_does_not_depend_on_the_process(plan, tmp_path):
    """Sets of strings have another order in each process, and wide selections a shortened text."""
    script = (
        "import sys; from jaxframes.frame import col, scan_parquet;"
        "plan = scan_parquet(sys.argv[1]);"
        "print(plan[col('s').isin({'a', 'b', 'c', 'd', 'e'})].batches(5).state()['plan'])"
    )
    path = tmp_path / "rows.parquet"
    pd.DataFrame({"s": list("abcdefgh")}).to_parquet(path)
    found = {
        subprocess.run(
            [sys.executable, "-c", script, path], env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True, check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(found) == 1
    wide = from_pandas(pd.DataFrame({f"c{number}": [1] for number in range(12)})).lazy()
    states = [wide[[f"c{n}" for n in range(11)] + [last]] for last in ("c11",)]
    states += [wide[[f"c{n}" for n in range(10)] + ["c11", "c10"]]]
    assert states[0].batches(1).state() != states[1].batches(1).state()


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


@pytest.mark.parametrize("shuffled", [{}, {"shuffle_buffer": 20, "seed": 3}])
def test_arrays_inside_jit_have_the_rows_of_a_batch(shuffled):
    x = np.arange(1.0, 48)
    plan = from_pandas(pd.DataFrame({"x": x, "y": 2 * x})).lazy()
    pair = jax.jit(lambda batch: (batch.x.to_jax(), batch.y.to_jax()))
    batches = plan.batches(10, drop_remainder=True, epochs=1, **shuffled)
    pairs = [pair(batch) for batch in batches]
    assert [len(one) for one, _ in pairs] == [10] * 4
    assert len(np.unique(np.concatenate([one for one, _ in pairs]))) == 40
    assert all((other == 2 * one).all() for one, other in pairs)


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


SHUFFLES = {"in order": {}, "shuffled": {"shuffle_buffer": 100, "seed": 3}}


@pytest.mark.parametrize("name", SHUFFLES)
def test_a_step_compiles_once_for_batches_with_the_labels_of_their_rows(name, plan):
    num_traces = 0

    @jax.jit
    def step(batch):
        nonlocal num_traces
        num_traces += 1
        summed = batch.assign(z=batch.x + batch.y)
        return summed, summed[summed.y > 2], batch.iloc[3:9], batch.reset_index(), batch.x + batch.y

    batches = list(plan.batches(32, batch_rows=64, drop_remainder=True, **SHUFFLES[name]))
    for batch in batches:
        rows = batch.to_pandas()
        assert_same(batch, FRAME.loc[rows.index])
        expected = rows.assign(z=rows.x + rows.y)
        sums = rows.x + rows.y
        oracle = expected, expected[expected.y > 2], rows[3:9], rows.reset_index(), sums
        for result, one in zip(step(batch), oracle, strict=True):
            assert_same(result, one)
        first, kept = step(batch)[:2]
        assert_same(first.iloc[2:5], expected[2:5])
        assert_same(first + batch.assign(z=1), expected + rows.assign(z=1))
        assert kept.index.tolist() == expected.index[expected.y > 2].tolist()
    assert (num_traces, len(batches)) == (1, 15)


def test_batches_of_two_streams_need_labels_that_a_step_sees(plan):
    a, b = (next(plan.batches(10)) for _ in range(2))
    assert (a.x + b.x).tolist() == (2 * FRAME.x[:10]).tolist()
    with pytest.raises(NotImplementedError, match=r"reset_index\(drop=True\)"):
        jax.jit(lambda a, b: a.x + b.x)(a, b)
    a, b = (batch.reset_index(drop=True) for batch in (a, b))
    assert jax.jit(lambda a, b: a.x + b.x)(a, b).tolist() == (2 * FRAME.x[:10]).tolist()
