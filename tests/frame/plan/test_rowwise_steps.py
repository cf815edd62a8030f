# SPDX-License-Identifier: Apache-2.0
"""Rowwise steps of plans: the rows, the dtypes and the roundings of eager calls."""

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_same
from jaxframes.frame import JaxFrame, col
from jaxframes.shardings import make_mesh, row_sharded


def frame_of(seed, num_rows=200):
    rng = np.random.default_rng(seed)
    numbers = {f"c{place}": rng.normal(size=num_rows) for place in range(18)}
    strings = rng.choice([f"{seed}{letter}" for letter in "abc"], num_rows)
    return pd.DataFrame(numbers | {"k": rng.integers(0, 9, num_rows), "s": strings})


def mixed_query(f):
    f = f[f.s.str.contains("a") | (f.s.isin(["1b", "2b", "3c"]) & (f.t.dt.year >= 2021))]
    f = f.assign(
        y=f.c3.where(f.s.str.lower() == "0a", -1.0), month=f.t.dt.month, n=f.k.astype("float64")
    )
    return f.fillna({"y": 0.5}).astype({"k": "float64"})[lambda g: g.s.notna() & (g.y != 7.0)]


def test_strings_times_and_choices():
    for seed in (0, 1, 2):
        data = frame_of(seed)[["c3", "k", "s"]]
        hours = np.random.default_rng(seed).integers(0, 50_000, len(data))
        data["t"] = pd.Timestamp("2019-01-01").as_unit("us") + pd.to_timedelta(hours, unit="h")
        data.loc[5, ["s", "t"]] = None
        # Of strings that occur in each row.
        assert_same(mixed_query(JaxFrame(data).lazy()).collect(), mixed_query(data))


def test_conditions_on_strings_that_a_step_makes_or_renames():
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


def test_fields_of_missing_times():
    times = pd.to_datetime(["2024-05-01", None, "2023-01-02"] * 20).as_unit("us")
    data = pd.DataFrame({"t": times, "x": np.arange(60.0)})

    def query(f):
        f = f[f.x > 3].assign(m=f.t.dt.month)
        f = f.assign(d=f.m * 2, is_may=f.t.dt.month == 5, other=f.t.dt.month != 5)
        return f[f.m != 1]

    assert_same(query(JaxFrame(data).lazy()).collect(), query(data))


@pytest.mark.parametrize("num_devices", [1, 4])
def test_conditions_on_strings_on_meshes(num_devices):
    data = frame_of(5)[["s", "c3"]]
    frame = JaxFrame(data, sharding=row_sharded(make_mesh(num_devices)))
    plan = frame.lazy()[col("s").str.contains("a|b")].assign(x=col("c3") * 2)
    assert_same(plan.collect(), data[data.s.str.contains("a|b")].assign(x=lambda f: f.c3 * 2))


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_rows_are_rounded_as_in_eager_calls(dtype):
    columns = np.random.default_rng(3).normal(size=(3, 200))
    frame = JaxFrame({name: jnp.asarray(x, dtype) for name, x in zip("abc", columns, strict=True)})
    plan = frame.lazy().assign(y=col("a") * col("b") + col("c"), z=col("a") / 3 / col("b"))
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


@pytest.mark.parametrize("values", [["1", "a"], ["1", None], ["1", 3], []], ids=str)
@pytest.mark.parametrize("method", ["isdigit", "contains", "startswith", "fullmatch"])
def test_flags_of_objects_are_bools_if_all_rows_have_strings(method, values):
    data = pd.DataFrame({"s": pd.Series(values, dtype=object)})
    arguments = () if method == "isdigit" else ("a",)
    plan = JaxFrame(data).lazy()
    plan = plan.assign(flag=getattr(plan["s"].str, method)(*arguments))
    expected = data.assign(flag=getattr(data["s"].str, method)(*arguments))
    assert plan.schema.tolist() == expected.dtypes.tolist()
    for result in (plan.collect(), plan.collect(batch_rows=1), plan.collect(batch_rows=3)):
        assert_same(result, expected)


@pytest.mark.parametrize("num_rows", [3, 0])
@pytest.mark.parametrize("reduction", ["min", "mean", "sum", "std"])
@pytest.mark.parametrize("operator", ["-", "*", "//"])
def test_operators_on_reductions_have_the_dtype_of_the_number(operator, reduction, num_rows):
    # A nullable column without rows, or of NA alone, is reduced to NA, which fits every dtype.
    data = pd.DataFrame(
        {
            "a": pd.array([1, 2, None], "Int8"),
            "b": pd.array([1.5, 2, None], "Float64"),
            "none": pd.array([None] * 3, "Float64"),
        }
    )[:num_rows]
    for other in ("b", "none"):

        def query(f, other=other):
            number = getattr(f[other], reduction)()
            return f.assign(v={"-": f.a - number, "*": f.a * number, "//": f.a // number}[operator])

        expected = query(data)
        plan = query(JaxFrame(data).lazy())
        assert plan.schema.tolist() == expected.dtypes.tolist()
        for result in (plan.collect(), plan.collect(batch_rows=1)):
            assert_same(result, expected)


@pytest.mark.parametrize("operator", ["sub", "floordiv"])
def test_a_plan_takes_numbers_of_nullable_columns_beside_plain_integers(operator):
    data = pd.DataFrame({"i": np.array([1, 2], np.int8), "b": pd.array([1, 2], "Int64")})

    def query(f):
        return f.assign(v=getattr(f.i, operator)(f.b.sum()), w=getattr(f.i, operator)(f.b.max()))

    expected, plan = query(data), query(JaxFrame(data).lazy())
    assert plan.schema.tolist() == expected.dtypes.tolist()
    assert_same(plan.collect(batch_rows=1), expected)
