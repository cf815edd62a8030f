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
from jaxframes.shardings import make_mesh, row_sharded


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

    def recorded(stage, frame, tables):
        calls.append((stage, frame, tables))
        return compiled(stage, frame, tables)

    monkeypatch.setattr(_stage, "_compiled", recorded)
    return calls


def test_a_stage_has_the_inputs_that_it_needs_alone(stages):
    plan = query(JaxFrame(frame_of(0)).lazy()).groupby("k")["y"].sum()
    assert_same(plan.collect(), query(frame_of(0)).groupby("k")["y"].sum(), ulps=8)
    ((stage, frame, _),) = stages
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
    ((stage, frame, tables),) = stages
    program = jax.make_jaxpr(stage)(frame, tables)
    assert all(np.asarray(const).nbytes < 1024 for const in program.consts)


@pytest.fixture
def traces(monkeypatch):
    """The stages that were traced, or run eagerly."""
    traces = []
    run = _stage.Stage.__call__

    def traced(self, *arguments):
        traces.append(self)
        return run(self, *arguments)

    monkeypatch.setattr(_stage.Stage, "__call__", traced)
    return traces


def test_other_data_of_the_same_capacity_trace_nothing(traces):
    for seed, num_rows in enumerate((200, 199, 210, 201)):
        # Strings that no step computes with may differ.
        data = frame_of(seed, num_rows)
        plan = query(JaxFrame(data).lazy()).assign(z=col("y") - 1)
        assert_same(plan.collect(), query(data).assign(z=lambda f: f.y - 1), ulps=1)
    assert len(traces) == 1


def mixed_query(f):
    f = f[f.s.str.contains("a") | (f.s.isin(["1b", "2b", "3c"]) & (f.t.dt.year >= 2021))]
    f = f.assign(
        y=f.c3.where(f.s.str.lower() == "0a", -1.0), month=f.t.dt.month, n=f.k.astype("float64")
    )
    return f.fillna({"y": 0.5}).astype({"k": "float64"})[lambda g: g.s.notna() & (g.y != 7.0)]


def test_strings_times_and_choices_are_one_program(traces):
    for seed in (0, 1, 2):
        data = frame_of(seed)[["c3", "k", "s"]]
        hours = np.random.default_rng(seed).integers(0, 50_000, len(data))
        data["t"] = pd.Timestamp("2019-01-01").as_unit("us") + pd.to_timedelta(hours, unit="h")
        data.loc[5, ["s", "t"]] = None
        # Of strings that occur in each row.
        plan = mixed_query(JaxFrame(data).lazy())
        assert plan.explain().count("stage:") == 1
        assert_same(plan.collect(), mixed_query(data))
    assert len(traces) == 1


def test_conditions_on_strings_that_the_stage_makes_or_renames():
    data = frame_of(3)[["s", "k"]].assign(r=lambda f: f.s.str[1])
    data.loc[3, "s"] = None

    def query(f):
        f = f[f.s != "3a"].rename(columns={"s": "r", "r": "s"})
        f = f[(f.s == "b") | f.r.str.endswith("c") | f.r.isna()]
        f = f.assign(s=f.r.str.upper())
        return f[f.s.fillna("none").str.startswith("n") | (f.s > "3B")]

    assert_same(query(JaxFrame(data).lazy()).collect(), query(data))
    empty = data[:0]
    assert_same(query(JaxFrame(empty).lazy()).collect(), query(empty))


def test_fields_of_missing_times_are_not_computed_with_in_a_stage():
    times = pd.to_datetime(["2024-05-01", None, "2023-01-02"] * 20).as_unit("us")
    data = pd.DataFrame({"t": times, "x": np.arange(60.0)})

    def query(f):
        f = f[f.x > 3].assign(m=f.t.dt.month)
        f = f.assign(d=f.m * 2, is_may=f.t.dt.month == 5, other=f.t.dt.month != 5)
        return f[f.m != 1]

    assert_same(query(JaxFrame(data).lazy()).collect(), query(data))


@pytest.mark.parametrize("num_devices", [1, 4])
def test_lookups_on_meshes(num_devices):
    data = frame_of(5)[["s", "c3"]]
    frame = JaxFrame(data, sharding=row_sharded(make_mesh(num_devices)))
    plan = frame.lazy()[col("s").str.contains("a|b")].assign(x=col("c3") * 2)
    assert_same(plan.collect(), data[data.s.str.contains("a|b")].assign(x=lambda f: f.c3 * 2))


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
