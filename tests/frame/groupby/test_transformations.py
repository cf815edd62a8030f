# SPDX-License-Identifier: Apache-2.0
import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame

# The rounding of a sum of 37 floats in another order.
ULPS = 256


@pytest.mark.parametrize("op", ["cumsum", "cumprod", "cummin", "cummax"])
def test_cumulative(op):
    assert_parity(
        lambda f: (
            getattr(f[["k", "i", "x", "b"]].groupby("k"), op)(),
            getattr(f[["s", "i", "x", "b"]].groupby("s"), op)(),
        ),
        mixed_frame(),
        ways=["eager"],
        ulps=ULPS,
    )


def test_cumulative_times():
    assert_parity(
        lambda f: (
            f.groupby("k")[["t", "d"]].cummax(),
            f.groupby("k").d.cumsum(),
            f[["k", "x", "s"]].groupby("k").cumsum(numeric_only=True),
        ),
        mixed_frame(),
        ways=["eager"],
        ulps=ULPS,
    )


def test_shift_and_fill_every_type():
    def moved(f):
        by_k, by_s = f.groupby("k"), f.groupby("s")
        return (
            by_k.shift(),
            by_s.shift(-2),
            by_k.ffill(),
            by_s.bfill(),
            by_k.ffill(limit=1),
            by_s.x.shift(3),
        )

    assert_parity(moved, mixed_frame(), ways=["eager"])


def test_changes():
    assert_parity(
        lambda f: (
            f[["k", "i", "x", "t", "d"]].groupby("k").diff(),
            f.groupby("s").x.diff(-1),
            f[["k", "i", "x"]].groupby("k").pct_change(),
        ),
        mixed_frame(),
        ways=["eager"],
        ulps=4,
    )


@pytest.mark.parametrize("method", ["average", "min", "max", "first", "dense"])
def test_ranks(method):
    def ranks(f):
        grouped = f.groupby("k")[["y", "s"]]
        return (
            grouped.rank(method=method, ascending=False, na_option="top"),
            grouped.rank(method=method, pct=True),
        )

    assert_parity(ranks, mixed_frame(), ways=["eager"], ulps=2)


def test_ranks_of_each_type():
    assert_parity(
        lambda f: (
            f.groupby("k")[["i", "b", "t"]].rank(na_option="bottom"),
            f.groupby("s").x.rank(),
        ),
        mixed_frame(),
        ways=["eager"],
    )


@pytest.mark.parametrize(
    "how",
    [
        {"by": "k"},
        {"by": ["c", "k"], "sort": False},
        {"by": "s", "dropna": False, "sort": False},
    ],
)
def test_rows_picked_and_numbered(how):
    def picked(f):
        grouped = f.groupby(**how)
        return (
            grouped.head(2),
            grouped.head(-2),
            grouped.tail(2),
            grouped.tail(-2),
            grouped.nth(1),
            grouped.nth([0, -1]),
            grouped.nth(slice(-3, -1)),
            grouped.x.head(1),
            grouped[["x"]].nth(0),
            grouped.cumcount(),
            grouped.cumcount(ascending=False),
            grouped.ngroup(),
            grouped.ngroup(ascending=False),
        )

    assert_parity(picked, mixed_frame(), ways=["eager"])


def of_each_row(f):
    return (
        f.groupby("s")[["x", "i"]].cumsum(),
        f.groupby("s")[["x", "i", "b"]].shift(),
        f.groupby("k").x.rank(),
        f.groupby("k").head(2),
        f.groupby("s").cumcount(),
        f.groupby("s").x.transform("mean"),
    )


def test_inside_jit():
    assert_parity(of_each_row, mixed_frame(), ways=["jit"], ulps=ULPS)


def test_on_a_mesh():
    assert_parity(
        lambda f: (f.groupby("s").x.cumsum(), f.groupby("s").x.transform("mean")),
        mixed_frame()[["s", "x"]],
        ways=["mesh"],
        ulps=ULPS,
    )


@pytest.mark.parametrize("num_rows", [0, 1])
def test_few_rows(num_rows):
    assert_parity(
        lambda f: (f.groupby("k").x.cumsum(), f.groupby("k").x.rank(), f.groupby("k").head(1)),
        mixed_frame()[:num_rows],
        ways=["eager"],
    )


def test_wrong_arguments_are_pandas_errors():
    frame = mixed_frame()
    assert_same_error(lambda f: f.groupby("k").x.rank(method="bogus"), frame)
    assert_same_error(lambda f: f.groupby("k").x.rank(na_option="bogus"), frame)
    assert_same_error(lambda f: f.groupby("k").x.shift(1.5), frame)
    assert_same_error(lambda f: f.groupby("k").nth("a"), frame)
    for name in ("cumsum", "cumprod", "cummin", "diff", "pct_change"):
        assert "'s'" in assert_same_error(lambda f, n=name: getattr(f.groupby("k").s, n)(), frame)
    assert "'t'" in assert_same_error(lambda f: f.groupby("k").t.cumsum(), frame)


def test_derivatives_are_finite_and_right():
    x = jnp.array([1.0, 2.0, 3.0, np.nan, 5.0, np.nan])
    frame = JaxFrame({"k": np.array([0, 1, 0, 2, 1, 0]), "x": x})
    expected = {
        "cumsum": [2, 2, 1, 0, 1, 0],
        "mean": [1.5, 1, 1.5, 0, 1, 0],
        "shift": [1, 1, 1, 0, 0, 0],
    }
    for name, derivative in expected.items():

        def total(x, name=name):
            f = JaxFrame({"k": frame["k"], "x": x})
            return jnp.nansum(f.groupby("k").x.transform(name)._only.data[:6])

        got = jax.jit(jax.grad(total))(frame["x"]._only.data)
        wanted = np.where(np.isnan(x), 0, np.array(derivative, np.float64))
        if name == "shift":
            wanted = np.array(derivative, np.float64)
        np.testing.assert_allclose(got[:6], wanted, rtol=1e-12, err_msg=name)


def test_columns_of_bools_whose_rows_are_in_no_group():
    frame = pd.DataFrame({"k": [1.0, np.nan, 1.0], "b": [True, False, False]})
    assert_parity(
        lambda f: (f.groupby("k").b.cummin(), f.groupby("k").b.transform("max")),
        frame,
        ways=["eager"],
    )
