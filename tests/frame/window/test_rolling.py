# SPDX-License-Identifier: Apache-2.0
"""rolling and expanding."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from compiled_program import num_signatures
from frame_examples import floats, mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device
from jaxframes.frame import JaxFrame, JaxSeries
from jaxframes.frame.window import _reduce_windows

NAMES = ("sum", "mean", "min", "max", "var", "std", "count")


def quarters(num_rows=37):
    """Values with exact sums, with missing values, an infinity and a run of equal values."""
    rng = np.random.default_rng(0)
    values = rng.integers(-200, 200, num_rows) / 4
    values[rng.random(num_rows) < 0.25] = np.nan
    values[5:6] = np.inf
    values[20:26] = 0.25
    return pd.Series(values, name="x")


def all_of(make):
    return lambda f: tuple(getattr(make(f), name)() for name in NAMES)


@pytest.mark.parametrize("closed", ["right", "left", "both", "neither"])
def test_matches_pandas_for_each_window(closed):
    series = quarters()
    for window in (0, 1, 2, 5, 16, 17, 37, 64, 100):
        for arguments in ({}, {"min_periods": 0}, {"min_periods": min(2, window), "center": True}):
            assert_parity(
                all_of(lambda s, w=window, a=arguments: s.rolling(w, closed=closed, **a)),
                series,
                ways=["eager"],
                ulps=64,
            )


def test_matches_pandas_for_expanding():
    for least in (0, 1, 4):
        assert_parity(
            all_of(lambda s, m=least: s.expanding(m)), quarters(), ways=["eager"], ulps=64
        )


def test_frames_in_jit_and_on_a_mesh():
    frame = mixed_frame()[["k", "f", "b"]].assign(x=quarters())

    def windows(f):
        return f.rolling(3, 1).mean(), f.rolling(20, 2)["x"].var(), f.expanding().max()

    assert_parity(lambda f: f.x.rolling(20, 2, center=True).mean(), frame, ways=["mesh"], ulps=64)
    assert_parity(windows, frame, ways=["jit"], ulps=2**33)
    # Without missing values, counts follow from row positions.
    assert_parity(lambda f: f.k.rolling(3).count(), frame, ways=["mesh"])


def test_other_columns():
    frame = mixed_frame()
    assert_parity(lambda f: f.rolling(3, 1).count(), frame, ways=["eager"])
    some = frame[["i", "b", "s"]]
    assert_parity(lambda f: f.rolling(2).max(numeric_only=True), some, ways=["eager"])
    assert_parity(lambda f: f.rolling(2).i.agg("sum"), some, ways=["eager"])


SEVERAL = {
    "list": lambda w: w.agg(["sum", "min"]),
    "functions": lambda w: w.agg(("max", np.ptp, lambda x: x.sum())),
    "dict": lambda w: w.agg({"a": "sum", "b": "min"}),
    "dict of lists": lambda w: w.agg({"a": "sum", "b": ["min", "max"]}),
    "arguments": lambda w: w.agg("quantile", q=0.25),
    "function": lambda w: w.agg(np.ptp),
    "column": lambda w: w.a.agg(["min", "max"]),
    "names": lambda w: w.a.agg({"lo": "min", "hi": "max"}),
}


@pytest.mark.parametrize("agg", SEVERAL)
def test_several_methods(agg):
    frame = pd.DataFrame({"a": [1.0, 2, 3, np.nan], "b": [3.0, 1, 2, 5], "k": [1, 1, 2, 2]})
    assert_parity(lambda f: SEVERAL[agg](f[["a", "b"]].rolling(2)), frame, ways=["eager"])
    assert_parity(lambda f: SEVERAL[agg](f.groupby("k").rolling(2)), frame, ways=["eager"])


def test_wrong_methods_are_pandas_errors():
    frame = pd.DataFrame({"a": [1.0, 2], "b": [3.0, 1]})
    for wrong in ([], {"z": "min"}, 3):
        assert_same_error(lambda f, func=wrong: f.rolling(2).agg(func), frame)
    assert_same_error(lambda f: f.a.rolling(2).agg({"x": ["min"]}), frame)


def test_few_rows():
    assert_parity(all_of(lambda s: s.rolling(2, 1)), floats()[:0], ways=["eager"])
    assert_parity(all_of(lambda s: s.rolling(2, 1)), quarters()[:1], ways=["eager"])
    assert_parity(all_of(lambda s: s.rolling(2, 1)), pd.Series([np.nan] * 3), ways=["eager"])


def test_no_gaps():
    whole = quarters().fillna(1.0).replace(np.inf, 2.0)
    for window, closed in ((17, "both"), (20, "neither"), (40, "left"), (0, "right")):
        rolled = all_of(lambda s, w=window, c=closed: s.rolling(w, w // 2, closed=c))
        assert_parity(rolled, whole, ways=["eager"], ulps=64)
    assert_parity(all_of(lambda s: s.rolling(21, 3, center=True)), whole, ways=["eager"], ulps=64)


def test_what_has_left_the_window_leaves_nothing():
    series = pd.Series([1e17, 1.0, 2.0, 3.0, 1e-3, 2e-3])
    sums = on_device(series).rolling(2).sum().to_numpy()
    np.testing.assert_array_equal(sums[2:], [3.0, 5.0, 3.001, 0.003])
    spread = on_device(series).rolling(2).var().to_numpy()
    np.testing.assert_allclose(spread[2:], [0.5, 0.5, 2.999**2 / 2, 5e-7], rtol=1e-15)


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()[["i", "s", "t"]]
    for wrong in (
        {"window": -1},
        {"window": "2D"},
        {"window": 2.5},
        {"window": 2, "min_periods": 3},
        {"window": 2, "min_periods": -1},
        {"window": 2, "closed": "bogus"},
        {"window": 2, "center": "bogus"},
    ):
        assert_same_error(lambda f, w=wrong: f.i.rolling(**w).sum(), frame)
    assert_same_error(lambda f: f.expanding(min_periods=-1), frame)
    assert "'s'" in assert_same_error(lambda f: f[["i", "s"]].rolling(2).mean(), frame)
    assert_same_error(lambda f: f.t.rolling(2).max(), frame)
    assert_same_error(lambda f: f.rolling(2)["none"], frame)
    with pytest.raises(NotImplementedError, match="pipe is not supported"):
        JaxFrame(frame).rolling(2).pipe(sum)
    for times in (frame.t, mixed_frame().d):
        assert_same_error(lambda f: f.i.rolling("2D").sum(), frame.set_axis(times, axis=0))


def test_gradient():
    x = np.array([1.0, 4.0, np.nan, 2.0, 8.0, 3.0])
    weights = jnp.arange(1.0, 7.0)

    def loss(data, method):
        taken = getattr(JaxSeries(data).rolling(3, min_periods=2), method)()._only.data[:6]
        return jnp.where(jnp.isnan(taken), 0.0, taken * weights).sum()

    # Row 1 is a mean of two values, rows 2 to 4 of two, row 5 of three.
    expected = np.array([2 / 2, 2 / 2 + 3 / 2 + 4 / 2, 0, 4 / 2 + 5 / 2 + 2, 5 / 2 + 2, 2])
    expected[0] += 3 / 2
    np.testing.assert_allclose(jax.grad(loss)(jnp.asarray(x), "mean"), expected, rtol=1e-15)
    by_scans = jax.grad(
        lambda data: jnp.nansum(JaxSeries(data).rolling(40, min_periods=6).mean()._only.data[:7])
    )
    filled = jnp.ones(7)
    np.testing.assert_allclose(by_scans(filled), [1 / 6 + 1 / 7] * 6 + [1 / 7], rtol=1e-15)
    at, step = jax.grad(loss)(jnp.asarray(x), "std"), 1e-6
    for row in (0, 1, 3, 4, 5):
        moved = [loss(jnp.asarray(x).at[row].add(d), "std") for d in (step, -step)]
        np.testing.assert_allclose(at[row], (moved[0] - moved[1]) / (2 * step), rtol=1e-6)


def test_windows_and_lengths_share_a_program():
    JaxSeries(quarters()).rolling(30).mean()
    before = num_signatures(_reduce_windows.reduce_windows)
    JaxSeries(quarters(50)).rolling(27, min_periods=2).mean()
    assert num_signatures(_reduce_windows.reduce_windows) == before


def test_each_so_many_rows():
    def taken(f):
        return f.rolling(4, step=3).sum(), f.x.rolling(2, min_periods=1, step=5).max()

    assert_parity(taken, mixed_frame()[["k", "x"]], ways=["eager", "jit"], ulps=64)
    assert_same_error(lambda s: s.rolling(2, step=-1), mixed_frame()["x"])
    assert_same_error(lambda s: s.rolling(2, step="2"), mixed_frame()["x"])


def test_several_methods_keep_the_labels_of_columns():
    columns = pd.Index(["y", "x"], dtype=object, name="n")
    frame = pd.DataFrame([[5.0, 2.0], [3.0, 8.0], [4.0, 7.0]], columns=columns)
    assert_parity(
        lambda f: (
            f.rolling(2).agg(["sum", "max"]),
            f.rolling(2).agg({"x": ["sum", "max"]}),
            f.rolling(2).agg({"x": "sum", "y": "max"}),
        ),
        frame,
    )
