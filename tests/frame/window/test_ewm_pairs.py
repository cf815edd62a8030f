# SPDX-License-Identifier: Apache-2.0
"""cov and corr of ewm."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from frame_examples import pairs
from frame_parity import Bound, assert_parity, assert_same_error, on_device
from jaxframes.frame import JaxSeries

CLOSE = Bound(2**20, 1.0)
WAYS = (
    {"alpha": 0.3},
    {"span": 4, "adjust": False},
    {"com": 2, "ignore_na": True},
    {"halflife": 3, "adjust": False, "ignore_na": True, "min_periods": 3},
)


def with_float32(frame):
    return frame.assign(z=frame.z.astype("float32"))


def both(windows, other, **options):
    return (
        windows.cov(other, **options), windows.corr(other, **options),
        windows.cov(other, bias=True),
    )  # fmt: skip


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_series_and_frames(how):
    def found(f):
        return (
            *both(f.x.ewm(**how), f.y), *both(f.i.ewm(**how), f.z), *both(f.x.ewm(**how), None),
            *both(f[["x", "z"]].ewm(**how), f.i), *both(f.x.ewm(**how), f[["y", "i"]]),
            *both(f.y.ewm(**how), f.z.rename("y")), *both(f.x.ewm(**how), f.y, pairwise=False),
        )  # fmt: skip

    assert_parity(found, with_float32(pairs()), ways=["eager"], ulps=CLOSE)


def test_inside_jit_and_on_meshes():
    def found(f):
        return (*both(f.x.ewm(span=5), f.y), f.ewm(span=5, adjust=False).corr(f.z))

    assert_parity(found, with_float32(pairs()), ways=["jit", "mesh"], ulps=CLOSE, num_devices=4)


def test_few_rows_and_other_columns():
    for num_rows in (0, 1, 2):
        assert_parity(
            lambda f: both(f.x.ewm(span=2), f.y),
            with_float32(pairs())[:num_rows],
            ways=["eager"],
            ulps=CLOSE,
        )
    assert_parity(
        lambda f: f.ewm(span=2).cov(f.x, numeric_only=True), with_float32(pairs()).assign(s="a"),
        ways=["eager"], ulps=CLOSE,
    )  # fmt: skip


def test_large_offsets_and_equal_values():
    x, y = (np.random.default_rng(seed).normal(size=50) for seed in (0, 1))
    got = JaxSeries(x + 2**20).ewm(span=9).corr(JaxSeries(y - 2**20)).to_pandas()
    np.testing.assert_allclose(got, pd.Series(x).ewm(span=9).corr(pd.Series(y)), atol=1e-8)
    assert np.isnan(JaxSeries(np.full(6, 0.1)).ewm(span=4).corr(JaxSeries(x[:6])).tolist()).all()


def test_gradient_is_finite():
    def loss(x):
        return JaxSeries(x).ewm(span=3).corr(JaxSeries(jnp.arange(5.0))).sum()

    assert np.isfinite(jax.grad(loss)(jnp.array([1.0, 2.0, 2.0, 2.0, 5.0]))).all()


def test_wrong_uses():
    frame = with_float32(pairs())
    assert_same_error(lambda f: f.x.ewm(span=2).cov(3), frame)
    ours = on_device(frame)
    with pytest.raises(pd.errors.DataError, match="non-numeric type"):
        ours.x.ewm(span=2).corr(on_device(frame.x.astype("str")))
    with pytest.raises(NotImplementedError, match=r"align\(\)"):
        ours.x.ewm(span=2).corr(ours.y[5:])
    with pytest.raises(NotImplementedError, match="windows of groups"):
        ours.groupby("i").x.ewm(span=2).corr(ours.y)
