# SPDX-License-Identifier: Apache-2.0
import jax
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frame_examples import complexes, integers, mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error
from jaxframes.frame import JaxFrame

NUMBERS = ["k", "i", "x", "b"]
EXACT = ("min", "max", "count", "size", "first", "last", "nunique", "any", "all")
ROUNDED = ("sum", "mean", "std", "var", "sem", "prod", "median")
# The rounding of a sum of 37 floats in another order; the same for float32.
ULPS = 256
FLOAT32_ULPS = 2**31


def each(grouped, names):
    return tuple(getattr(grouped, name)() for name in names)


def test_exact_reductions_of_numbers():
    frame = mixed_frame()[["k", "i", "y", "b"]]
    assert_parity(lambda f: each(f.groupby("k"), EXACT), frame, ways=["eager"])
    names = [name for name in EXACT if name != "size"]
    assert_parity(lambda f: f.groupby("k")[["i", "y"]].agg(names), frame, ways=["jit"])


def test_rounded_reductions_of_numbers():
    frame = mixed_frame()
    assert_parity(
        lambda f: each(f.groupby("k"), ROUNDED), frame[NUMBERS], ways=["eager"], ulps=ULPS
    )
    assert_parity(
        lambda f: f.groupby("k")[["i", "x"]].agg(list(ROUNDED)), frame, ways=["jit"], ulps=ULPS
    )
    assert_parity(
        lambda f: f.groupby("k").agg(list(ROUNDED)),
        frame[["k", "f"]],
        ways=["eager"],
        ulps=FLOAT32_ULPS,
    )


def test_reductions_on_a_mesh():
    assert_parity(
        lambda f: f.groupby("s")[["x"]].agg(["min", "sum", "median"]),
        mixed_frame(),
        ways=["mesh"],
        ulps=ULPS,
    )


def test_reductions_of_other_types():
    frame = mixed_frame()
    kept = ("min", "max", "first", "last", "count", "nunique", "idxmin", "idxmax")
    assert_parity(
        lambda f: each(f[["k", "s", "c", "t", "d"]].groupby("k"), kept[:-2]), frame, ways=["eager"]
    )
    assert_parity(
        lambda f: (*each(f[["k", "t", "d"]].groupby("k"), kept), f[["k", "d"]].groupby("k").sum()),
        frame,
        ways=["eager"],
    )
    assert_parity(
        lambda f: each(f[["k", "t", "d"]].groupby("k"), ("mean", "median", "quantile", "std")),
        frame,
        ways=["eager"],
    )
    assert_parity(
        lambda f: each(f[["k", "s", "c", "d"]].groupby("k"), ("any", "all")), frame, ways=["eager"]
    )


@pytest.mark.parametrize("dtype", ["int8", "uint64"])
def test_each_integer(dtype):
    frame = pd.DataFrame({"k": np.arange(37) * 7 % 5, "x": integers(dtype)})
    assert_parity(
        lambda f: f.groupby("k").agg(["min", "max", "first", "idxmin", "nunique"]),
        frame,
        ways=["eager"],
    )
    sums = frame.astype({"x": "uint64" if dtype.startswith("u") else "int64"})
    got = JaxFrame(frame).groupby("k").sum().to_pandas()
    pd.testing.assert_frame_equal(got, sums.groupby("k").sum())


def test_arguments():
    frame = mixed_frame()[["k", "i", "x", "b"]]

    def reduced(f):
        grouped = f.groupby("k")
        return (
            grouped.sum(min_count=6),
            grouped[["i", "x"]].max(min_count=6),
            grouped.std(ddof=0),
            grouped.mean(skipna=False),
            grouped.min(skipna=False),
            grouped.first(skipna=False),
            grouped.nunique(dropna=False),
        )

    assert_parity(reduced, frame, ways=["eager"], ulps=ULPS)


def test_quantiles():
    wanted = [(0.0, "linear"), (0.5, "midpoint"), (1.0, "linear")]
    wanted += [(0.3, name) for name in ("linear", "lower", "higher", "nearest")]
    assert_parity(
        lambda f: tuple(f.groupby("k").quantile(q, interpolation=name) for q, name in wanted),
        mixed_frame()[["k", "i", "x"]],
        ways=["eager"],
        ulps=4,
    )


def test_size_and_columns_of_numbers_only():
    assert_parity(
        lambda f: (
            f.groupby("k", as_index=False).size(),
            f.groupby(["k", "b"], as_index=False).x.count(),
            f.groupby("k").max(numeric_only=True),
            f.groupby("k").x.size(),
        ),
        mixed_frame(),
        ways=["eager"],
    )


def test_labels_of_extremes():
    frame = mixed_frame()[["k", "i", "x", "y"]]
    assert_parity(lambda f: each(f.groupby("k"), ("idxmin", "idxmax")), frame)
    labelled = frame.set_index(pd.Index([f"r{i}" for i in range(37)], name="row"))
    assert_parity(lambda f: f.groupby("k").idxmax(), labelled, ways=["eager"])


def test_groups_without_values():
    frame = pd.DataFrame({"k": [1, 1, 2, 2], "x": [np.nan, np.nan, 1.0, np.nan]})
    names = (*EXACT, *ROUNDED)
    names = [name for name in names if name != "size"]
    assert_parity(lambda f: f.groupby("k").agg(names), frame, ways=["eager"])
    assert_same_error(lambda f: f.groupby("k").idxmin(), frame)


def test_wrong_arguments_are_pandas_errors():
    frame = mixed_frame()
    for name in ("mean", "std", "var", "sem", "prod", "median", "quantile"):
        assert "'s'" in assert_same_error(lambda f, n=name: getattr(f.groupby("k").s, n)(), frame)
        assert_same_error(lambda f, n=name: getattr(f.groupby("k").c, n)(), frame)
    for name in ("sum", "prod", "var", "any", "all"):
        assert_same_error(lambda f, n=name: getattr(f.groupby("k").t, n)(), frame)
    assert_same_error(lambda f: f.groupby("k").c.sum(), frame)
    assert_same_error(lambda f: f.groupby("k").b.quantile(), frame)
    assert_same_error(lambda f: f.groupby("k").x.quantile(2.0), frame)


def test_derivatives_are_finite_and_right():
    keys = np.array([0, 1, 0, 2, 1, 0])
    x = np.array([1.0, 2.0, 3.0, np.nan, 5.0, np.nan])
    frame = JaxFrame({"k": keys, "x": x})

    def total(column, name):
        f = JaxFrame({"k": frame["k"], "x": frame["x"]})
        f["x"] = column
        reduced = getattr(f.groupby("k", as_index=False).x, name)()
        return (reduced["x"] * (reduced["k"] + 1)).sum()

    column = frame["x"]._only.data
    expected = {
        "sum": [1, 2, 1, 3, 2, 1],
        "mean": [0.5, 1, 0.5, 0, 1, 0],
        "max": [0, 0, 1, 0, 2, 0],
        "median": [0.5, 1, 0.5, 0, 1, 0],
        # The standard deviation of two values is their distance over the square root of two.
        "std": [-(0.5**0.5), -(2**0.5), 0.5**0.5, 0, 2**0.5, 0],
    }
    for name, derivative in expected.items():
        got = jax.jit(jax.grad(lambda c, n=name: total(c, n)))(column)
        wanted = np.array(derivative, np.float64)
        if name == "sum":
            wanted[np.isnan(x)] = 0
        np.testing.assert_allclose(got[:6], wanted, rtol=1e-12, err_msg=name)


def test_is_traced_once_for_all_lengths_of_a_capacity():
    traces = []

    @jax.jit
    def mean(frame):
        traces.append(0)
        return frame.groupby("s").x.mean()

    frame = mixed_frame()[["s", "x"]].assign(s=pd.array(["a", "b"] * 18 + ["a"], "str"))
    for num_rows in (37, 20, 2):
        expected = frame[:num_rows].groupby("s").x.mean()
        got = mean(JaxFrame(frame[:num_rows])).to_pandas()
        pd.testing.assert_series_equal(got, expected, rtol=1e-13)
    assert len(traces) == 1


def test_too_many_groups_for_a_capacity_are_told():
    frame = JaxFrame({"x": np.arange(1000.0)})
    few = jax.jit(lambda f: f.groupby("x", capacity=64).size())(frame)
    with pytest.raises(ValueError, match="1000"):
        few.to_pandas()


def test_complex_values():
    def reduced(f):
        grouped = f.groupby("k")[["z", "w"]]
        return tuple(
            getattr(grouped, op)()
            for op in ("sum", "mean", "count", "size", "nunique", "any", "all")
        )

    with np.errstate(invalid="ignore"):
        assert_parity(reduced, complexes().replace(np.inf, 3), ways=["jit"], ulps=16)
    assert "'z'" in assert_same_error(lambda f: f.groupby("k").z.min(), complexes())


@pytest.mark.parametrize("name", ["min", "max", "first", "last"])
def test_bools_with_missing_values_stay_objects_where_each_group_has_a_value(name):
    table = pa.table({"k": [1, 1, 2], "b": pa.array([None, True, False])})
    frame, expected = JaxFrame.from_arrow(table), table.to_pandas()

    def runs(f):
        groups = f.groupby("k")["b"]
        return getattr(groups, name)(), groups.agg(name), groups.transform(name), groups.bfill()

    for got, wanted in zip(runs(frame), runs(expected), strict=True):
        assert_same(got, wanted)
    plan = getattr(frame.lazy().groupby("k"), name)()
    wanted = getattr(expected.groupby("k"), name)()
    assert_same(plan.collect(), wanted)
    assert_same(plan.collect(batch_rows=1), wanted)
    assert plan.schema.tolist() == wanted.dtypes.tolist()
