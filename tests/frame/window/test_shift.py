# SPDX-License-Identifier: Apache-2.0
"""shift."""

import jax
import numpy as np
import pandas as pd
import pytest
from compiled_program import num_signatures
from frame_examples import INTEGERS, floats, integers, mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxSeries


def numbers():
    return pd.DataFrame({dtype: integers(dtype, seed=n) for n, dtype in enumerate(INTEGERS)})


def test_shift_matches_pandas_for_each_kind_of_column():
    def shifted(f):
        return f.shift(), f.shift(-3), f.shift(0), f.shift(100), f.s.shift(1, fill_value="new")

    assert_parity(shifted, mixed_frame(), ways=["eager", "jit"])
    assert_parity(lambda f: f.shift(-14), mixed_frame()[["i", "x", "b", "s"]], ways=["mesh"])
    assert_parity(lambda f: (f.shift(2), f.shift(1, fill_value=7)), numbers(), ways=["eager"])


def test_fill_values():
    def filled(f):
        return (
            f.k.shift(1, fill_value=None),
            f.b.shift(2, fill_value=True),
            f.c.shift(1, fill_value="w"),
            f.t.shift(-1, fill_value=pd.Timestamp("2020-01-01")),
            f.d.shift(-1, fill_value=pd.Timedelta("1D")),
            f.f.shift(1, fill_value=1.5),
            f.s.shift(1, fill_value="b"),
        )

    assert_parity(filled, mixed_frame(), ways=["eager"])
    with pytest.warns(Warning, match="cannot be held"):
        assert_parity(lambda f: f.i.shift(1, fill_value=0.5), mixed_frame(), ways=["eager"])


def test_few_rows():
    assert_parity(lambda f: (f.shift(), f.diff(), f.pct_change()), floats()[:0], ways=["eager"])
    assert_parity(lambda f: (f.shift(), f.diff(-1)), integers("int8")[:1], ways=["eager"])


def test_periods_are_integers():
    frame = mixed_frame()[["i", "x"]]
    assert_parity(lambda f: (f.shift(True), f.i.shift(False), f.shift(np.int8(2))), frame)
    for periods in ("1", "a", 1.5, 1.0, None, np.True_, np.nan, np.inf, -(2**70)):
        assert_same_error(lambda f, periods=periods: f.i.shift(periods), frame)
    assert_same_error(lambda f: f.shift("a", axis=1), frame)


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()
    assert_same_error(lambda f: f.i.shift(1, None, None), frame)
    assert_same_error(lambda f: f.i.shift(suffix="s"), frame)
    assert_same_error(lambda f: f.i.shift(axis=1), frame)
    assert_same_error(lambda f: f.i.shift(freq="D"), frame)
    assert_same_error(lambda f: f.c.shift(fill_value="none such"), frame)
    assert_same_error(lambda f: f.d.shift(fill_value=3), frame)
    assert "'s'" in assert_same_error(lambda f: f[["i", "s"]].diff(), frame)
    assert_same_error(lambda f: f.c.diff(), frame)
    assert_same_error(lambda f: f.i.diff("a"), frame)
    assert_same_error(lambda f: f.s.pct_change(), frame)
    assert_same_error(lambda f: f.i.pct_change(fill_method="ffill"), frame)


def test_several_periods():
    frame = mixed_frame()[["k", "x", "s", "b"]]
    assert_parity(
        lambda f: (
            f.shift([1, -2]),
            f.rename_axis(columns="c").shift((0, 3), suffix="_lag"),
            f.x.shift([1, 2], fill_value=0),
            f.x.rename(None).shift(range(2)),
        ),
        frame,
        ways=["eager", "jit", "mesh"],
    )
    times = pd.date_range("2000", periods=3, freq="D")[[1, 0, 2]]
    timed = pd.DataFrame({"k": [1, 1, 2], "x": [1, 2, 3]}, index=times)
    with pytest.warns(pd.errors.PerformanceWarning, match="freq="):
        assert_parity(
            lambda f: (f.shift([1, 2], freq="D"), f.groupby("k")[["x"]].shift([0, 1], freq="D")),
            timed,
            ways=["eager"],
        )
    for wrong in ([], [1, "2"], [True], [1.0]):
        assert_same_error(lambda f, periods=wrong: f.shift(periods), frame)
    assert_same_error(lambda f: f.shift([1], axis=1), frame)
    assert_same_error(lambda f: f.shift(1, suffix="_lag"), frame)


def test_gradient():
    def loss(data):
        changes = JaxSeries(data).diff()._only.data[1:4]
        return (changes * np.array([1.0, 10.0, 100.0])).sum()

    gradient = jax.grad(loss)(jax.numpy.array([1.0, 2.0, 4.0, 3.0]))
    np.testing.assert_array_equal(gradient, [-1.0, -9.0, -90.0, 100.0])


def test_periods_share_a_program():
    series = JaxSeries(floats())
    series.shift(1)
    with jax.check_tracer_leaks(False), jax.log_compiles(False):
        from jaxframes.frame.window import _shift

        before = num_signatures(_shift._shift)
        series.shift(5)
        series.shift(-2)
        assert num_signatures(_shift._shift) == before
