# SPDX-License-Identifier: Apache-2.0
"""Stages: one program between two breakers, of the columns that it needs."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_same
from jaxframes.frame import JaxFrame, col
from jaxframes.frame.plan import _stage


def frame_of(seed, num_rows=200):
    rng = np.random.default_rng(seed)
    numbers = {f"c{place}": rng.normal(size=num_rows) for place in range(18)}
    strings = rng.choice([f"{seed}{letter}" for letter in "abc"], num_rows)
    return pd.DataFrame(numbers | {"k": rng.integers(0, 9, num_rows), "s": strings})


def query(frame):
    kept = frame[(frame.c3 > 0) & (frame.k < 7)]
    return kept.assign(y=kept.c3 * 2 + kept.c5)[["y", "k", "s"]]


@pytest.fixture
def stages(monkeypatch):
    """The arguments of each call of a stage's program."""
    calls = []
    compiled = _stage._compiled

    def recorded(stage, frame):
        calls.append((stage, frame))
        return compiled(stage, frame)

    monkeypatch.setattr(_stage, "_compiled", recorded)
    return calls


def test_a_stage_has_the_inputs_that_it_needs_alone(stages):
    plan = query(JaxFrame(frame_of(0)).lazy()).groupby("k")["y"].sum()
    assert_same(plan.collect(), query(frame_of(0)).groupby("k")["y"].sum(), ulps=8)
    ((stage, frame),) = stages
    # Three columns and the number of rows, of twenty columns.
    lowered = jax.jit(stage).lower(frame)
    assert sorted(leaf.dtype.name for leaf in jax.tree.leaves(frame._table.columns)) == [
        "float64", "float64", "int64",
    ]  # fmt: skip
    inputs = [shape for shape in jax.tree.leaves(lowered.compile().in_avals) if shape.ndim]
    assert len(inputs) == 3


def test_a_stage_holds_no_constants(stages):
    strings = JaxFrame(frame_of(1)).lazy()
    plan = query(strings[strings.s == "1a"])[lambda f: f.k.isin([1, 2, 3])]
    assert_same(
        plan.collect(), query(frame_of(1)[lambda f: f.s == "1a"])[lambda f: f.k.isin([1, 2, 3])]
    )
    ((stage, frame),) = stages
    assert all(np.asarray(const).nbytes < 1024 for const in jax.make_jaxpr(stage)(frame).consts)


def test_other_data_of_the_same_capacity_trace_nothing(monkeypatch):
    traces = []
    run = _stage.Stage.__call__
    monkeypatch.setattr(
        _stage.Stage, "__call__", lambda self, frame: (traces.append(self), run(self, frame))[1]
    )
    for seed, num_rows in enumerate((200, 199, 210, 201)):
        # Strings that no step computes with may differ.
        data = frame_of(seed, num_rows)
        plan = query(JaxFrame(data).lazy()).assign(z=col("y") - 1)
        assert_same(plan.collect(), query(data).assign(z=lambda f: f.y - 1), ulps=1)
    assert len(traces) == 1


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_rows_are_rounded_as_in_eager_calls(dtype):
    columns = np.random.default_rng(3).normal(size=(3, 200))
    frame = JaxFrame({name: jnp.asarray(x, dtype) for name, x in zip("abc", columns, strict=True)})
    plan = frame.lazy().assign(y=col("a") * col("b") + col("c"), z=col("a") / 3 / col("b"))
    assert plan.explain().startswith("stage:")
    eager = frame.assign(y=frame.a * frame.b + frame.c, z=frame.a / 3 / frame.b)
    pd.testing.assert_frame_equal(plan.collect().to_pandas(), eager.to_pandas(), check_exact=True)


@pytest.mark.usefixtures("x64_off")
def test_without_x64():
    data = frame_of(4)[["c3", "c5", "k"]].astype({"c3": "float32", "c5": "float32", "k": "int32"})
    frame = JaxFrame(data)
    plan = frame.lazy()[col("c3") > 0].assign(y=col("c3") * col("k") + col("c5"))
    eager = frame[frame.c3 > 0]
    eager = eager.assign(y=eager.c3 * eager.k + eager.c5)
    pd.testing.assert_frame_equal(plan.collect().to_pandas(), eager.to_pandas(), check_exact=True)


def test_a_result_has_the_capacity_of_its_rows():
    result = JaxFrame(frame_of(2)).lazy()[col("k") == 3].collect()
    assert result._table.capacity == 64
    assert_same(result, frame_of(2)[lambda f: f.k == 3])


@pytest.mark.parametrize("text", ["b", "n", "t", "s", "c"])
def test_columns_of_every_kind_pass_through(text):
    data = pd.DataFrame(
        {
            "x": np.arange(40) % 7,
            "b": [None, True, False, True] * 10,
            "n": pd.array([None, 1, 2, 3] * 10, "Float64").to_numpy(float, na_value=np.nan),
            "t": pd.to_datetime(["NaT", "2024-01-01"] * 20).as_unit("us"),
            "s": pd.array([None, "a", "", "z"] * 10, dtype="str"),
            "c": pd.Categorical([None, "u", "v", "w"] * 10, ordered=True),
        }
    )
    plan = JaxFrame(data).lazy()[col("x") > 2].assign(y=col("x") + 1)
    assert_same(plan.collect(), data[data.x > 2].assign(y=lambda f: f.x + 1))
    masked = JaxFrame(data).lazy()
    masked = masked[masked[text].notna() & (masked.x < 6)]
    assert_same(masked.collect(), data[data[text].notna() & (data.x < 6)])
