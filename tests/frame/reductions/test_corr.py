# SPDX-License-Identifier: Apache-2.0
import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import EVERYWHERE, assert_parity, assert_same_error
from jaxframes.frame import JaxFrame

ULPS = 1 << 12


def test_frames():
    frame = mixed_frame()[["k", "i", "x", "b"]]
    frame["constant"] = 0.1
    assert_parity(
        lambda f: (f.corr(), f.cov(), f.corr(min_periods=30)), frame, ways=EVERYWHERE, ulps=ULPS
    )
    whole = frame[["k", "i"]]
    assert_parity(lambda f: (f.cov(ddof=0), f.corr()), whole, ways=["eager"], ulps=ULPS)
    assert_parity(lambda f: f.cov(numeric_only=True), mixed_frame()[["k", "s", "i"]], ulps=ULPS)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_infinities():
    x = [1.0, 2.0, np.inf, 4.0]
    whole = pd.DataFrame({"x": x, "y": [2.0, 1.0, 3.0, 5.0], "b": [True, False, True, True]})
    for y in (whole.y, whole.y.where(whole.y < 5)):
        assert_parity(
            lambda f: (
                f.corr(),
                f.cov(),
                f.cov(ddof=0),
                f.x.corr(f.y),
                f.x.cov(f.y),
                f.y.corr(f.b),
            ),
            whole.assign(y=y),
            ulps=ULPS,
        )


def test_series():
    frame = mixed_frame()

    def together(f):
        return f.k.corr(f.x), f.k.cov(f.x), f.k.cov(f.x, ddof=0), f.k.corr(f.x, min_periods=99)

    assert_parity(together, frame[["k", "i", "x"]], ulps=ULPS)
    assert_parity(
        lambda a, b: a.corr(b), frame["k"], frame["x"][::-1][:20], ways=["eager"], ulps=ULPS
    )


def test_far_from_zero():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"x": 1e8 + rng.normal(size=37), "y": rng.normal(size=37)})
    assert_parity(lambda f: f.corr(), frame, ways=["eager"], ulps=1 << 28)


def test_a_pair_far_from_the_means_of_its_columns():
    # `y` has values in few rows; there one column is constant and one nearly constant.
    rng = np.random.default_rng(6)
    few = np.arange(37) < 7
    y = np.where(few, rng.normal(size=37), np.nan)
    frame = pd.DataFrame(
        {
            "y": y,
            "constant": np.where(few, 0.1, 1e6 * rng.normal(size=37)),
            "near": np.where(few, 0.1 + 1e-3 * rng.normal(size=37), 1e6 * rng.normal(size=37)),
            "one": np.where(np.arange(37) == 6, 3.0, np.nan),
        }
    )
    assert np.isnan(frame.corr().loc["y", "constant"])
    assert_parity(lambda f: (f.corr(), f.cov()), frame, ways=EVERYWHERE, ulps=ULPS)
    near = JaxFrame(frame)["near"]
    gradient = jax.grad(lambda y: JaxFrame({"y": y})["y"].corr(near))(jnp.asarray(y))
    step = np.where(np.arange(37) == 3, 1e-5, 0.0)
    ahead, behind = (frame.assign(y=y + s).corr().loc["y", "near"] for s in (step, -step))
    np.testing.assert_allclose(gradient[3], (ahead - behind) / 2e-5, rtol=1e-6)
    assert not np.any(gradient[7:])


def test_gradient():
    x, y = jnp.array([1.0, 2.0, jnp.nan, 4.0]), jnp.array([1.0, 3.0, 5.0, 4.0])
    gradient = jax.grad(lambda x: JaxFrame({"x": x}).x.cov(JaxFrame({"x": y}).x))(x)
    expected = np.array([1, 3, 0, 4]) - 8 / 3
    expected[2] = 0
    np.testing.assert_allclose(gradient, expected / 2)


def test_wrong_arguments_are_pandas_errors():
    frame = mixed_frame()
    assert "'s'" in assert_same_error(lambda f: f.corr(), frame[["k", "s"]])
    assert_same_error(lambda f: f.corr(method="bogus"), frame[["k"]])
    with pytest.raises(NotImplementedError, match="rank"):
        jax.jit(lambda f: f.corr(method="spearman"))(JaxFrame(frame[["k"]]))


def test_autocorrelations():
    frame = mixed_frame()[["x", "k"]]
    assert_parity(lambda f: (f.x.autocorr(), f.k.autocorr(2)), frame, ulps=64)


def test_a_value_far_from_those_of_a_pair():
    """The mean of all rows of a column rounds the distances of those that a pair has."""
    frame = pd.DataFrame(
        {"w": [1, np.nan, -128, 7], "k": [0.0, -(2.0**63), 1, 5], "x": [np.inf, -np.inf, 1, 2]}
    )
    assert_parity(lambda f: (f.corr(), f.cov()), frame, ulps=8)
