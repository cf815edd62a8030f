# SPDX-License-Identifier: Apache-2.0
"""ewm."""

import itertools

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import Bound, assert_parity, assert_same_error, on_device

# Positive, so that no mean is near zero.
FRAME = mixed_frame()[["x", "f", "k"]].abs()
WAYS = (
    {"alpha": 0.3},
    {"span": 4, "adjust": False},
    {"com": 2, "ignore_na": True},
    {"halflife": 3, "adjust": False, "ignore_na": True, "min_periods": 3},
)


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_means(how):
    assert_parity(
        lambda f: (f.ewm(**how).mean(), f.x.ewm(**how).mean()),
        FRAME,
        ways=["eager", "jit"],
        ulps=256,
    )


# Values that come and go, and one that stays.
GAPS = mixed_frame()[["x", "f", "k"]].assign(
    y=lambda f: f.x.where(f.k != f.k.iloc[0]) + 1000, inf=lambda f: f.x / (f.k > f.k.min())
)


@pytest.mark.parametrize("how", WAYS, ids=str)
@pytest.mark.parametrize("bias", [False, True])
def test_variances(how, bias):
    assert_parity(
        lambda f: (f.ewm(**how).var(bias=bias), f.x.ewm(**how).std(bias)),
        GAPS,
        ways=["eager", "jit"],
        ulps=1 << 22,
    )


@pytest.mark.parametrize("how", [how for how in WAYS if how.get("adjust", True)], ids=str)
def test_sums(how):
    assert_parity(
        lambda f: (f.ewm(**how).sum(), f.x.ewm(**how).sum()),
        GAPS.abs(),
        ways=["eager", "jit"],
        ulps=256,
    )


def test_methods_by_name():
    assert_parity(lambda f: f.ewm(span=3).agg("mean"), FRAME, ways=["eager"], ulps=256)
    assert_parity(lambda f: f.ewm(span=3).agg(["mean", "std"]), FRAME, ways=["eager"], ulps=2**22)


def test_a_sum_without_adjustment_is_pandas_error():
    assert_same_error(lambda f: f.ewm(span=2, adjust=False).sum(), FRAME)


def test_meshes_and_few_rows():
    assert_parity(
        lambda f: (f.ewm(alpha=0.2).mean(), f.ewm(alpha=0.2, adjust=False).var()),
        FRAME,
        ways=["mesh"],
        ulps=1 << 22,
    )
    assert_parity(
        lambda f: (
            f[:0].ewm(span=2).mean(),
            f[:1].ewm(span=2).mean(),
            f[:0].ewm(span=2).var(),
            f[:1].ewm(span=2).std(),
            f.ewm(span=2)["x"].mean(),
            (f.x / 0).ewm(span=2, min_periods=None).mean(),
        ),
        FRAME,
        ways=["eager"],
        ulps=256,
    )


def test_wrong_uses_are_pandas_errors():
    for how in ({}, {"alpha": 2}, {"com": -1}, {"span": 2, "com": 1}):
        assert_same_error(lambda f, o=how: f.ewm(**o).mean(), FRAME)
    assert_same_error(lambda f: f.ewm(span=2).mean(), mixed_frame()[["s"]])
    with pytest.raises(NotImplementedError, match="online is not supported"):
        on_device(FRAME).ewm(span=2).online()


def by_definition(values, alpha, adjust, ignore_na):
    """The mean, the biased and the unbiased variance of the values up to each row."""
    decay = np.longdouble(1 - alpha)
    own = np.longdouble(1 if adjust else alpha)
    weights, held, last, results = np.zeros(0, np.longdouble), [], 0, []
    for row, value in enumerate(values):
        if np.isfinite(value):
            weights = weights * decay ** (1 if ignore_na else row - last)
            weights = np.append(weights, own if held else np.longdouble(1))
            if not adjust:
                weights = weights / weights.sum()
            held, last = [*held, np.longdouble(value)], row
        if not held:
            results.append((np.nan,) * 3)
            continue
        shares = weights / weights.sum()
        mean = (shares * held).sum()
        square = (shares * (held - mean) ** 2).sum()
        # One minus the squares of shares, without cancellation.
        rest = sum(2 * shares[i] * shares[:i].sum() for i in range(len(shares)))
        var = square / rest if rest > np.finfo(np.float64).eps else np.nan
        results.append((mean, square, var))
    return (np.array(one, np.float64) for one in zip(*results, strict=True))


def with_gap(num_missing):
    x = np.random.default_rng(3).normal(size=num_missing + 8) + 3
    x[3 : num_missing + 3] = np.nan
    return pd.Series(x)


SPARSE = {
    "few": pd.Series([np.nan, 1, np.nan, np.nan, 3, 4, np.nan, 5, np.inf, 5, np.nan, 2, np.nan]),
    "one": pd.Series([np.nan, np.nan, 2.0, np.nan, np.nan]),
    "gap": with_gap(60),
    "long gap": with_gap(4000),
}


@pytest.mark.parametrize("name", SPARSE)
@pytest.mark.parametrize("adjust", [False, True])
@pytest.mark.parametrize("ignore_na", [False, True])
def test_missing_values_by_definition(name, adjust, ignore_na):
    x = SPARSE[name]
    for alpha in (1.0, 1 - 2.0**-50, 0.999999, 0.5, 0.1, 1e-3, 1e-9):
        windows = on_device(x).ewm(alpha=alpha, adjust=adjust, ignore_na=ignore_na)
        mean, square, var = by_definition(x, alpha, adjust, ignore_na)
        close = {"rtol": 1e-12, "atol": 1e-14}
        np.testing.assert_allclose(windows.mean().to_numpy(), mean, **close)
        np.testing.assert_allclose(windows.var(bias=True).to_numpy(), square, **close)
        np.testing.assert_allclose(windows.var().to_numpy(), var, **close)
        np.testing.assert_allclose(windows.std().to_numpy(), var**0.5, **close)
        np.testing.assert_allclose(windows.cov(on_device(x)).to_numpy(), var, **close)


@pytest.mark.parametrize("name", SPARSE)
def test_means_and_sums_at_missing_values(name):
    x = SPARSE[name]
    ways = ({"alpha": 1}, {"halflife": 1e-3}, {"halflife": 1e-300}, {"com": 0}, {"alpha": 0.3})
    for how, ignore_na in itertools.product(ways, (False, True)):
        assert_parity(
            lambda s, how=how, ignore_na=ignore_na: (
                s.ewm(**how, ignore_na=ignore_na).mean(),
                s.ewm(**how, ignore_na=ignore_na).sum().abs(),
                s.ewm(**how, ignore_na=ignore_na, adjust=False, min_periods=2).mean(),
            ),
            x,
            ways=["eager"],
            ulps=Bound(256, 1.0),
        )  # fmt: skip


def test_missing_values_of_groups_and_modes():
    frame = pd.DataFrame({"k": [0, 1, 0, 1, 0, 1, 0, 1], "x": [1, 1e200, *[np.nan] * 4, 3, 2]})

    def means(f):
        groups = f.groupby("k").x
        return f.x.ewm(alpha=1).mean(), groups.ewm(alpha=1).mean(), groups.ewm(alpha=0.3).mean()

    assert_parity(means, frame, ways=["eager", "jit", "mesh"], ulps=256)
    # A value of another group, or none, has no part in a variance.
    small = frame[frame.k == 0].reset_index(drop=True).x
    got = on_device(frame).groupby("k").x.ewm(alpha=0.3).var().to_numpy()[:4]
    np.testing.assert_allclose(got, small.ewm(alpha=0.3).var(), rtol=1e-12)
    assert_parity(lambda s: s.ewm(alpha=0.3).var(bias=True), frame.x[1:6], ways=["eager"])


TIMES = pd.Series(
    pd.Timestamp("2024-01-01")
    + pd.to_timedelta(np.random.default_rng(5).integers(0, 9000, len(GAPS)).cumsum(), "s")
)
WAYS_OF_TIMES = (
    {"halflife": "1h"},
    {"halflife": pd.Timedelta("20min"), "adjust": False},
    {"halflife": "1D", "ignore_na": True, "min_periods": 3},
    {"halflife": np.timedelta64(30, "m"), "adjust": False, "ignore_na": True},
    {"halflife": "1h", "alpha": 0.3},
    {"halflife": "1h", "span": 5},
)


@pytest.mark.parametrize("how", WAYS_OF_TIMES, ids=str)
def test_means_by_time(how):
    frame = GAPS.abs().assign(t=TIMES.set_axis(GAPS.index))
    values = list(GAPS)
    assert_parity(
        lambda f: (
            f[values].ewm(times=f.t, **how).mean(),
            f.x.ewm(times=f.t, **how).mean(),
            f[values].ewm(times=f.t, **how)["y"].mean(),
        ),
        frame,
        ways=["eager", "jit", "mesh"],
        ulps=1024,
    )
    assert_parity(
        lambda f: (
            f.ewm(times=TIMES, **how).mean(),
            f.ewm(times=TIMES.to_numpy(), **how).mean(),
            f.ewm(times=pd.DatetimeIndex(TIMES).tz_localize("UTC"), **how).mean(),
            f[:1].ewm(times=TIMES[:1], **how).agg("mean"),
            f[:0].ewm(times=TIMES[:0], **how).mean(),
        ),
        GAPS.abs(),
        ways=["eager"],
        ulps=1024,
    )


def test_times_are_those_of_the_rows():
    how = {"halflife": "1h"}
    short, missing = TIMES[:5], TIMES.where(TIMES.index != 4)
    for call in (
        lambda f: f.ewm(times=short, **how),
        lambda f: f.ewm(times=missing, **how),
        lambda f: f.ewm(times=TIMES, halflife=2),
        lambda f: f.ewm(times=TIMES, span=2),
        lambda f: f.ewm(times=TIMES, span=2, adjust=False, **how),
        lambda f: f.ewm(times=f.k, **how),
        lambda f: f.ewm(times=list(TIMES), **how),
        lambda f: f.ewm(**how),
        lambda f: f.ewm(times=TIMES, **how).sum(),
        lambda f: f.ewm(times=TIMES, **how).std(),
        lambda f: f.ewm(times=TIMES, **how).var(),
        lambda f: f.ewm(times=TIMES, **how).cov(),
        lambda f: f.ewm(times=TIMES, **how).corr(),
    ):
        assert_same_error(call, FRAME)


@pytest.mark.parametrize("adjust", [True, False])
def test_derivatives_of_means_by_time(adjust):
    # The rows are fewer than the capacity, whose other times are before those of the rows.
    days = ["2024-01-01 00:00", "2024-01-02 00:00", "2024-01-02 12:00", "2500-01-01 00:00"]
    times = pd.Series(pd.to_datetime(days))
    how = {"halflife": "1D", "adjust": adjust}
    frame, on = on_device(pd.DataFrame({"x": [1.0, 2.0, 4.0, 3.0]})), on_device(times)

    def total(x):
        return frame.assign(x=x).x.ewm(times=on, **how).mean().sum()

    # Means are linear in the values.
    units = [pd.Series(row).ewm(times=times, **how).mean().sum() for row in np.eye(4)]
    for function in (jax.grad(total), jax.jit(jax.grad(total))):
        np.testing.assert_allclose(function(frame.x.to_jax()), units, rtol=1e-12)
