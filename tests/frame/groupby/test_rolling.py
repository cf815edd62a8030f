# SPDX-License-Identifier: Apache-2.0
"""groupby.rolling."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device
from jaxframes.frame import JaxFrame

NAMES = ("sum", "mean", "min", "max", "var", "std", "count")
# pandas' variances keep a rounding error of the values that have left the window.
ULPS = 2**12


def grouped_frame(num_rows=43):
    """Keys with NaN, in no order; values whose sums are exact, with NaN and an infinity."""
    rng = np.random.default_rng(0)
    values = rng.integers(-200, 200, num_rows) / 4
    values[rng.random(num_rows) < 0.2] = np.nan
    values[5:6] = np.inf
    return pd.DataFrame(
        {
            # One group of 24 rows, longer than a window that is read row by row.
            "k": rng.choice([2.0, -1.0, np.nan, 7.0], num_rows, p=[0.6, 0.2, 0.1, 0.1]),
            "x": values,
            "i": rng.integers(-9, 9, num_rows),
            "s": rng.choice(["b", "a"], num_rows),
        },
        index=pd.Index(rng.permutation(num_rows), name="row"),
    )


def all_of(windows):
    return tuple(getattr(windows, name)() for name in NAMES)


@pytest.mark.parametrize("window", [1, 2, 3, 17, 43, 100])
def test_matches_pandas_for_each_window(window):
    # Longer than a group are 17 and more, longer than the frame is 100.
    frame = grouped_frame()[["k", "x", "i"]]
    assert_parity(
        lambda f: all_of(f.groupby("k").rolling(window)), frame, ways=["eager"], ulps=ULPS
    )
    assert_parity(
        lambda f: all_of(f.groupby("k").x.rolling(window, min_periods=1)),
        frame,
        ways=["eager"],
        ulps=ULPS,
    )


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("closed", ["right", "left", "both", "neither"])
def test_which_rows_windows_hold(closed, center):
    frame = grouped_frame()[["k", "x"]]

    def rolled(f):
        grouped, settings = f.groupby("k"), {"closed": closed, "center": center}
        return tuple(
            getattr(grouped.rolling(window, min_periods=least, **settings), name)()
            for window, least, name in ((2, 0, "sum"), (5, 1, "max"), (30, 2, "count"))
        )

    assert_parity(rolled, frame, ways=["eager"])


def test_orders_and_keys():
    def rolled(f):
        some = f[["k", "s", "x", "i"]]
        return (
            some.groupby("k", sort=False)[["x", "i"]].rolling(2).sum(),
            some.groupby("k", dropna=False).i.rolling(3, 1).mean(),
            some.groupby("k", sort=False, dropna=False).i.rolling(3, 1).min(),
            some.groupby(["s", "k"]).rolling(2, 1).max(),
            some.groupby(["s", "k"], sort=False, dropna=False).x.rolling(2, 1).count(),
            f.x.groupby(f.s).rolling(4, 1).sum(),
            f[["x", "i"]].groupby(level=0).rolling(2, 1).sum(),
        )

    assert_parity(rolled, grouped_frame(), ways=["eager"])


def test_which_columns_and_labels():
    def rolled(f):
        grouped = f.groupby("s")
        return (
            grouped[["x"]].rolling(2).sum(),
            grouped["x"].rolling(2).sum(),
            grouped.rolling(2)["x"].sum(),
            grouped.rolling(2)[["i", "x"]].sum(),
            grouped.rolling(2).i.sum(),
            grouped.rolling(2).agg("sum"),
            f.groupby("k").rolling(2).sum(numeric_only=True),
            f.groupby("s", as_index=False).rolling(2).sum(),
            f.groupby("s", as_index=False).x.rolling(2).sum(),
            f[["s", "x"]].groupby(f.s).rolling(2).sum(),
            # pandas drops the keys even if they are selected.
            f[["k", "x"]].groupby("k")[["k", "x"]].rolling(2).sum(),
            f.groupby("k")["k"].rolling(2).sum(),
            f.reset_index(drop=True).groupby("s").x.rolling(2).sum(),
            f.set_index("s", append=True).groupby("k").x.rolling(2).sum(),
        )

    assert_parity(rolled, grouped_frame(), ways=["eager"])


def timed_frame():
    """Times that ascend, with ties, over groups of several sizes."""
    frame = grouped_frame().assign(k=lambda f: f.k.fillna(7.0))
    hours = np.sort(np.random.default_rng(1).integers(-30, 30, len(frame)))
    times = pd.to_datetime("1970-01-02") + pd.to_timedelta(hours, unit="h")
    return frame.assign(t=times)[["x", "k", "t", "i"]]


@pytest.mark.parametrize("closed", ["right", "left", "both", "neither"])
def test_spans_of_time(closed):
    def rolled(f):
        windows = f.groupby("k").rolling("6h", on="t", closed=closed)
        centered = f.groupby("k").rolling("8h", on="t", closed=closed, center=True)
        return windows.sum(), windows[["i", "x"]].sum(), centered.sum(), centered.i.sum()

    assert_parity(rolled, timed_frame(), ways=["eager"], ulps=ULPS)


def test_spans_of_time_with_other_labels():
    def rolled(f):
        indexed = f.set_index("t").groupby("k").rolling("12h", min_periods=2)
        return (
            indexed.sum(), indexed.x.mean(),
            f.groupby("k", sort=False).rolling("6h", on="t").max(),
            f.groupby("k", as_index=False).rolling("6h", on="t").max(),
            f.groupby("k")[["i", "t"]].rolling("6h", on="t").sum(),
            f.groupby("k").rolling(2, on="t").sum(),
            f.groupby("k").rolling(2, on="t").x.sum(),
            f.groupby(["k", "i"]).rolling("6h", on="t").sum(),
            f[:1].groupby("k").rolling("6h", on="t").sum(),
        )  # fmt: skip

    assert_parity(rolled, timed_frame(), ways=["eager"], ulps=ULPS)
    assert_parity(
        lambda f: f.groupby("k").rolling("6h", on="t", closed="left").sum(),
        timed_frame(),
        ways=["jit", "mesh"],
    )
    # pandas groups missing keys, but fails to label them.
    some = on_device(grouped_frame().assign(t=timed_frame().t)).groupby("k").rolling("6h", on="t")
    assert some.x.count().shape == (int(grouped_frame().k.notna().sum()),)


def test_in_jit_and_on_a_mesh():
    frame = grouped_frame()[["k", "x", "i"]]

    def rolled(f):
        return f.groupby("k").rolling(3, 1).mean(), f.groupby("i").x.rolling(20, 2).max()

    assert_parity(rolled, frame, ways=["jit"], ulps=2)
    assert_parity(lambda f: f.groupby("k").rolling(3, 1).sum(), frame, ways=["mesh"])
    assert_parity(lambda f: f.groupby("k").x.rolling(9, 1, center=True).max(), frame, ways=["mesh"])


def test_few_rows():
    frame = grouped_frame()[["k", "x", "i"]]
    for num_rows in (0, 1):
        assert_parity(
            lambda f: all_of(f.groupby("k").rolling(2, 1)), frame[:num_rows], ways=["eager"]
        )


def test_no_group():
    # pandas fails if no row is in a group.
    counts = on_device(grouped_frame().assign(k=np.nan)).groupby("k").rolling(2, 1).count()
    assert counts.shape == (0, 3)


def test_other_types():
    frame = mixed_frame()
    assert_parity(lambda f: f.groupby("k")[["i", "f", "b"]].rolling(2).max(), frame, ways=["eager"])
    assert_parity(lambda f: f.groupby("s").x.rolling(3, 1).min(), frame, ways=["eager"])
    assert_parity(lambda f: f.groupby("k").rolling(3, 1).count(), frame, ways=["eager"])


def test_nothing_of_another_group_is_in_a_window():
    frame = pd.DataFrame({"k": [1, 2, 1, 2], "x": [1e17, 1.0, np.inf, 2.0]})
    sums = on_device(frame).groupby("k").x.rolling(2, 1).sum()
    assert sums.tolist() == [1e17, 1e17, 1.0, 3.0]


def test_gradient():
    frame = JaxFrame({"k": jnp.array([1, 0, 1, 1]), "x": jnp.arange(4.0)})

    def loss(x):
        means = frame.assign(x=x).groupby("k").x.rolling(2, min_periods=1).mean()
        return (means._only.data[:4] * jnp.array([1.0, 10.0, 100.0, 1000.0])).sum()

    # The rows of the result are row 1, then rows 0, 2 and 3.
    expected = [10 + 100 / 2, 1, 100 / 2 + 1000 / 2, 1000 / 2]
    np.testing.assert_allclose(jax.grad(loss)(jnp.arange(4.0)), expected, rtol=1e-15)


def test_wrong_uses_are_pandas_errors():
    frame = grouped_frame()
    for wrong in ({"window": -1}, {"window": 2.5}, {"window": 2, "min_periods": 3}):
        assert_same_error(lambda f, w=wrong: f.groupby("k").x.rolling(**w).sum(), frame)
    assert_same_error(lambda f: f.groupby("k").rolling(2).sum(), frame)
    assert_same_error(lambda f: f.groupby("k").rolling(2, step=2), frame)
    assert_same_error(lambda f: f.groupby("k").rolling(2)["none"], frame)
    times = timed_frame()
    assert_same_error(lambda f: f.groupby("k").rolling("2h", on="none"), times)
    assert_same_error(lambda f: f.groupby("k").x.rolling("2h", on="t"), times)
    assert_same_error(lambda f: f.groupby("k")[["x"]].rolling("2h", on="t"), times)
    message = assert_same_error(
        lambda f: f.sort_values("i").groupby("k").rolling("2h", on="t"), times
    )
    assert "Each group within t must be monotonic" in message
    with pytest.raises(NotImplementedError, match="corr: windows of groups take no other"):
        on_device(frame).groupby("k").rolling(2).corr(on_device(frame).x)


def test_repr_is_that_of_pandas():
    frame = grouped_frame()
    windows = on_device(frame).groupby("k").rolling(3)
    assert repr(windows) == repr(frame.groupby("k").rolling(3))
