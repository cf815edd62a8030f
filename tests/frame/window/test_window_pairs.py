# SPDX-License-Identifier: Apache-2.0
"""cov and corr of rolling and expanding windows."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from frame_examples import pairs
from frame_parity import Bound, assert_parity, assert_same_error, on_device
from jaxframes.frame import JaxSeries

# pandas adds and subtracts the products of values that enter and leave.
CLOSE = Bound(2**20, 1.0)


def both(windows, other, **options):
    return windows.cov(other, **options), windows.corr(other, **options)


@pytest.mark.parametrize("window", [2, 5, 17, 60])
def test_series_and_frames(window):
    def found(f):
        windows = f.x.rolling(window, min_periods=2)
        return (
            *both(windows, f.y), *both(f.x.rolling(window), f.i), windows.cov(f.z, ddof=0),
            *both(f[["x", "z"]].rolling(window, 1), f.y), *both(windows, f[["y", "i"]]),
            *both(windows, None), *both(f.y.expanding(3), f.z),
            *both(f.x.rolling(window), f.y.rename("x")),
        )  # fmt: skip

    assert_parity(found, pairs(), ways=["eager"], ulps=CLOSE)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("closed", ["right", "left", "both", "neither"])
def test_which_rows_windows_hold(closed, center):
    options = {"closed": closed, "center": center, "min_periods": 2}
    assert_parity(
        lambda f: both(f.x.rolling(7, **options), f.y), pairs(), ways=["eager"], ulps=CLOSE
    )


def test_inside_jit_on_meshes_and_of_spans():
    frame = pairs()
    assert_parity(
        lambda f: (*both(f.x.rolling(6, 2), f.y), f.expanding().corr(f.z)),
        frame,
        ways=["jit"],
        ulps=CLOSE,
    )
    assert_parity(
        lambda f: f.x.rolling(6, 2).corr(f.y), frame, ways=["mesh"], ulps=CLOSE, num_devices=4
    )
    hours = np.sort(np.random.default_rng(0).integers(0, 40, len(frame)))
    times = pd.to_datetime("2020") + pd.to_timedelta(hours, unit="h")
    timed = frame.set_axis(times, axis=0)
    assert_parity(
        lambda f: (
            *both(f.x.rolling("9h"), f.y),
            f[["x", "z"]].rolling("9h", closed="left").cov(f.y),
        ),
        timed,
        ways=["eager"],
        ulps=CLOSE,
    )


def test_few_rows():
    for num_rows in (0, 1):
        assert_parity(lambda f: both(f.x.rolling(2, 1), f.y), pairs()[:num_rows], ways=["eager"])


def test_large_offsets_and_equal_values():
    x, y = (np.random.default_rng(seed).normal(size=50) for seed in (0, 1))
    got = JaxSeries(x + 2**20).rolling(9).corr(JaxSeries(y - 2**20)).to_pandas()
    np.testing.assert_allclose(got, pd.Series(x).rolling(9).corr(pd.Series(y)), atol=1e-8)
    assert np.isnan(JaxSeries(np.full(6, 0.1)).rolling(4).corr(JaxSeries(x[:6])).tolist()).all()


def test_gradient_is_finite():
    def loss(x):
        return JaxSeries(x).rolling(3, min_periods=1).corr(JaxSeries(jnp.arange(5.0))).sum()

    assert np.isfinite(jax.grad(loss)(jnp.array([1.0, 2.0, 2.0, 2.0, 5.0]))).all()


def test_wrong_uses():
    frame = pairs()
    assert_same_error(lambda f: f.x.rolling(2).cov(3), frame)
    assert_same_error(lambda f: f.x.rolling(2, step=2).corr(f.y), frame)
    ours = on_device(frame)
    with pytest.raises(pd.errors.DataError, match="No numeric types"):
        ours.x.rolling(2).corr(on_device(frame.x.astype("str")))
    with pytest.raises(NotImplementedError, match="windows of groups"):
        ours.groupby("i").rolling(2).corr(ours.x)
    with pytest.raises(NotImplementedError, match=r"align\(\)"):
        ours.x.rolling(2).corr(ours.y[5:])
