# SPDX-License-Identifier: Apache-2.0
"""Order statistics, ranks, distinct values, higher moments and ends of windows."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import Bound, assert_parity, assert_same, assert_same_error, on_device
from jaxframes.frame import JaxSeries

EXACT = ("first", "last", "median", "nunique", "rank")
INTERPOLATIONS = ("linear", "lower", "higher", "nearest", "midpoint")
# pandas adds and subtracts the powers of values that enter and leave.
CLOSE = Bound(2**20, 1.0)


def values(num_rows=43, seed=0):
    """Few distinct values, so that windows have ties; some missing, one infinite."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-6, 6, num_rows) / 2
    x[rng.random(num_rows) < 0.15] = np.nan
    x[7:8] = np.inf
    return pd.DataFrame({"x": x, "i": rng.integers(0, 5, num_rows), "y": rng.normal(size=num_rows)})


def exact(windows):
    ranks = [
        windows.rank(method=method, ascending=ascending, pct=pct)
        for method, ascending, pct in (("min", True, True), ("max", False, False),
                                       ("average", False, True))
    ]  # fmt: skip
    quantiles = [windows.quantile(q, interpolation=one) for one in INTERPOLATIONS for q in (0.3,)]
    ends = [windows.quantile(q) for q in (0, 1.0)]
    return *(getattr(windows, name)() for name in EXACT), *ranks, *quantiles, *ends


@pytest.mark.parametrize("window", [1, 2, 3, 17, 43, 100])
def test_order_statistics_of_rolling_windows(window):
    assert_parity(
        lambda f: (*exact(f.rolling(window)), *exact(f.x.rolling(window, min_periods=1))),
        values(),
        ways=["eager"],
    )


def test_order_statistics_of_expanding_windows():
    assert_parity(lambda f: (*exact(f.expanding()), *exact(f.x.expanding(4))), values())


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("closed", ["right", "left", "both", "neither"])
def test_which_rows_windows_hold(closed, center):
    options = {"closed": closed, "center": center, "min_periods": 1}

    def reduced(f):
        windows = [f.x.rolling(window, **options) for window in (1, 2, 5, 30)]
        return tuple(one for w in windows for one in (w.median(), w.first(), w.last(), w.nunique()))

    assert_parity(reduced, values(), ways=["eager"])


@pytest.mark.parametrize("window", [3, 4, 9, 100])
def test_higher_moments(window):
    def reduced(f):
        windows = f.rolling(window, min_periods=1)
        return windows.skew(), windows.kurt(), windows.sem(), f.expanding().skew()

    frame = values()[["y"]].assign(z=np.random.default_rng(2).gamma(1.0, size=43) * 100)
    assert_parity(reduced, frame, ways=["eager"], ulps=CLOSE)


def test_higher_moments_by_their_formula():
    frame = values(60)
    for window in (5, 23):
        expected = frame.replace(np.inf, np.nan).rolling(window, min_periods=1)
        ours = on_device(frame).rolling(window, min_periods=1)
        skew = expected.apply(lambda s: s[~np.isnan(s)].skew(), raw=False)
        got = ours.skew().to_pandas()
        # Windows of equal values have no skewness, where a series has 0.
        varies = expected.max() > expected.min()
        np.testing.assert_allclose(got, skew.where(varies), rtol=1e-12, atol=1e-12)
        kurt = expected.apply(lambda s: s.kurt()).where(varies)
        np.testing.assert_allclose(ours.kurt().to_pandas(), kurt, rtol=1e-12, atol=1e-12)


def test_large_offsets_lose_nothing():
    x = pd.Series(np.random.default_rng(0).normal(size=50))
    got = on_device(x + 2**20).rolling(10).skew().to_pandas()
    np.testing.assert_allclose(got, on_device(x).rolling(10).skew().to_pandas(), atol=1e-8)


def test_inside_jit_and_on_meshes():
    frame = values(50)

    def reduced(f):
        windows = f.x.rolling(6, min_periods=2)
        return (
            windows.median(), windows.quantile(0.7), windows.nunique(), windows.rank(),
            windows.first(), windows.last(), f.x.expanding().median(),
        )  # fmt: skip

    assert_parity(reduced, frame, ways=["jit"])
    for num_devices in (1, 3, 4):
        assert_parity(
            lambda f: f.x.rolling(6, 2).quantile(0.7), frame, ways=["mesh"], num_devices=num_devices
        )
    assert_parity(
        lambda f: (f.x.expanding().nunique(), f.x.rolling(6, center=True).first()),
        frame,
        ways=["mesh"],
    )
    moments = lambda f: (f.y.rolling(5).skew(), f.y.expanding().kurt(), f.y.rolling(5).sem())  # noqa: E731
    assert_parity(moments, frame, ways=["jit", "mesh"], ulps=CLOSE)


def test_spans_of_time():
    hours = np.sort(np.random.default_rng(0).integers(-40, 40, 43))
    times = pd.to_datetime("1970-01-02") + pd.to_timedelta(hours, unit="h")
    frame = values().set_axis(times.as_unit("us"), axis=0)

    def reduced(f):
        found = []
        for options in ({}, {"closed": "both"}):
            found += exact(f.rolling("6h", **options))
        windows = f.rolling("6h", closed="left", center=True)
        found += [windows.median(), windows.nunique(), windows.first(), windows.last()]
        return tuple(found)

    assert_parity(reduced, frame, ways=["eager"])
    assert_parity(
        lambda f: (f.y.rolling("9h").skew(), f.y.rolling("9h").kurt(), f.rolling("9h").sem()),
        frame,
        ways=["eager"],
        ulps=CLOSE,
    )
    assert_parity(lambda f: f.x.rolling("6h", closed="left").median(), frame, ways=["jit", "mesh"])


def test_windows_of_groups():
    frame = values().assign(k=np.random.default_rng(1).choice([2.0, -1.0, np.nan], 43))

    def reduced(f):
        grouped = f.groupby("k")
        return (
            *exact(grouped.rolling(4, 1)), *exact(grouped.x.expanding()),
            grouped.rolling(5, center=True, min_periods=1).median(),
            f.groupby("k", as_index=False).rolling(3, 1).nunique(),
        )  # fmt: skip

    assert_parity(reduced, frame, ways=["eager"])
    assert_parity(lambda f: f.groupby("k").x.rolling(4, 1).median(), frame, ways=["jit", "mesh"])
    assert_parity(
        lambda f: (f.groupby("k").y.rolling(6).skew(), f.groupby("k").y.expanding().kurt()),
        frame,
        ways=["eager"],
        ulps=CLOSE,
    )


def test_few_rows():
    for num_rows in (0, 1):
        assert_parity(lambda f: exact(f.rolling(2, 1)), values()[:num_rows], ways=["eager"])
    assert_parity(lambda f: exact(f.x.rolling(0)), values(), ways=["eager"])


def test_other_types_and_options():
    frame = mixed_frame()

    def reduced(f):
        return (
            f[["i", "f", "b"]].rolling(3).median(), f.rolling(3).first(numeric_only=True),
            f.rolling(3, step=4).quantile(0.25, numeric_only=True), f.b.rolling(3).nunique(),
            f.x.rolling(3).agg("median"), f[["k", "x"]].rolling(3, on="k").median(),
        )  # fmt: skip

    assert_parity(reduced, frame, ways=["eager"])


def test_gradient_is_that_of_the_values_chosen():
    def loss(x):
        return JaxSeries(x).rolling(3, min_periods=1).median()._only.data[:4].sum()

    # The medians are x[0], the mean of both, x[1] and x[3].
    np.testing.assert_allclose(jax.grad(loss)(jnp.array([1.0, 2.0, 9.0, 4.0])), [1.5, 1.5, 0, 1])


def test_quantile_of_a_number_that_is_traced():
    series = on_device(values().x)
    got = jax.jit(lambda s, q: s.rolling(4, 1).quantile(q))(series, jnp.asarray(0.3))
    assert_same(got, values().x.rolling(4, 1).quantile(0.3))


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()
    for q in (1.5, -0.1, "a"):
        assert_same_error(lambda f, q=q: f.x.rolling(2).quantile(q), frame)
    assert_same_error(lambda f: f.x.rolling(2).quantile(0.5, interpolation="none"), frame)
    assert_same_error(lambda f: f.x.rolling(2).rank(method="dense"), frame)
    assert_same_error(lambda f: f.rolling(2).median(), frame)
    assert_same_error(lambda f: f.s.expanding().first(), frame)
    with pytest.raises(NotImplementedError, match="pipe is not supported"):
        on_device(frame).x.rolling(2).pipe(sum)


def test_missing_objects_are_not_counted():
    frame = pd.DataFrame({"k": [0, 0, 1, 1], "o": pd.Series([1, None, "x", np.nan], dtype=object)})
    assert_parity(
        lambda f: (
            f.o.rolling(2, min_periods=1).count(),
            f.o.expanding().count(),
            f.groupby("k").o.rolling(2, min_periods=1).count(),
        ),
        frame,
        ways=["eager"],
    )
