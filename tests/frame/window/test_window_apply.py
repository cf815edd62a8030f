# SPDX-License-Identifier: Apache-2.0
import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame, JaxSeries


def _frame():
    times = pd.date_range("2024-01-01", periods=8, freq="h")
    return pd.DataFrame(
        {"x": [1.0, 2.5, -4.0, 0.5, np.nan, 3.0, 7.0, 2.0], "i": [5, 2, 9, 1, 0, 4, 8, 7]},
        index=times,
    )


def test_functions_of_full_windows_are_traced():
    def each(f):
        return (
            f.rolling(3).apply(lambda w: w[2] - w[0], raw=True),
            f.rolling(3).apply(lambda w: w.max() - w.min()),
            f.x.rolling(2).apply(lambda w, n: w.sum() * n, args=(2,)),
            f.i.rolling(1).apply(lambda w, n: w.sum() * n, raw=True, kwargs={"n": 3}),
            f.i.rolling(20).apply(lambda w: w.sum()),
        )

    assert_parity(each, _frame())
    windows = JaxFrame(_frame()).rolling(3)
    calls = []
    found = windows.apply(lambda w: calls.append(w) or w.max(), raw=True, engine="jax")
    assert len(calls) == 1 * 2
    pd.testing.assert_frame_equal(found.to_pandas(), _frame().rolling(3).max(), check_freq=False)


def test_gradients_flow_through_windows():
    def total(x):
        return JaxSeries(x).rolling(2).apply(lambda w: jnp.sqrt(w[0] * w[1]), raw=True).sum()

    np.testing.assert_allclose(jax.grad(total)(jnp.array([1.0, 4.0, 4.0])), [1.0, 0.75, 0.5])


def test_other_functions_and_windows_run_on_the_host():
    def branch(window):
        return 1.0 if window[-1] > 2 else float(len(window))

    def each(f):
        return (
            f.rolling(3).apply(branch, raw=True),
            f.rolling(3, min_periods=1).apply(lambda w: w.iloc[0]),
            f.rolling(3, center=True).apply(np.ptp, raw=True),
            f.rolling(3, min_periods=2, closed="left").apply(branch, raw=True),
            f.rolling(3, closed="left").apply(lambda w: w[0], raw=True),
            f.rolling(2, step=2).apply(branch, raw=True),
            f.rolling("3h").apply(lambda w: len(w), raw=True),
            f.expanding().apply(lambda w: w[0], raw=True),
            f.expanding(2).x.apply(lambda w: w.index[0].hour, engine="python"),
        )

    def without_engine(f):
        return each(f) if isinstance(f, JaxFrame) else _without_engine(f, each)

    assert_parity(without_engine, _frame(), ways=["eager"])
    with pytest.raises(NotImplementedError, match="full windows"):
        jax.jit(lambda f: f.rolling(3, min_periods=1).apply(branch, raw=True))(JaxFrame(_frame()))


def _without_engine(frame, each):
    before = pd.core.window.expanding.Expanding.apply

    def apply(self, func, raw=False, engine=None):
        return before(self, func, raw)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pd.core.window.expanding.Expanding, "apply", apply)
        return each(frame)


def test_columns_of_times():
    frame = _frame().reset_index(names="t")
    assert_parity(
        lambda f: f.rolling("2h", on="t").apply(lambda w: w.sum(), raw=True), frame, ways=["eager"]
    )


def test_windows_of_groups():
    frame = _frame().assign(k=[2, 1, 2, 1, 2, 1, 1, 2])
    assert_parity(
        lambda f: (
            f.groupby("k").rolling(2).apply(lambda w: w[1] - w[0], raw=True),
            f.groupby("k").x.rolling(2, min_periods=1).apply(len),
            f.groupby("k").expanding().apply(lambda w: w.max()),
        ),
        frame,
        ways=["eager"],
    )


def test_wrong_arguments_are_pandas_errors():
    assert_same_error(lambda f: f.rolling(2).apply(len, raw=1), _frame())
    assert_same_error(lambda f: f.rolling(2).apply(lambda w: w.bogus), _frame())
    with pytest.raises(TypeError, match="func must be a function"):
        JaxFrame(_frame()).rolling(2).apply("sum")


def test_a_trace_of_a_window_that_differs_from_calls_is_not_used():
    numbers = iter(range(100))
    series = pd.Series([1, 2, 0, -3])
    assert_same_error(lambda s: s.rolling(2).apply(lambda w: w[5], raw=True), series)
    assert_parity(
        lambda s: (
            s.rolling(2).apply(lambda w: w[0] // w[1], raw=True),
            s.rolling(2).apply(lambda w: w[0] % w[1], raw=True),
            s.rolling(2).apply(lambda w: (w[0] > 0) + (w[1] > 0), raw=True),
        ),
        series,
        ways=["eager"],
    )
    drawn = JaxSeries(series).rolling(2).apply(lambda w: w[0] * 0 + next(numbers), raw=True)
    assert drawn.tolist()[1:] == [0, 1, 2]
