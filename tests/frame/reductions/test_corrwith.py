# SPDX-License-Identifier: Apache-2.0
"""corrwith."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import EVERYWHERE, assert_parity, assert_same, assert_same_error, on_device
from pandas.errors import PerformanceWarning

ULPS = 1 << 12
FRAME = mixed_frame()[["k", "i", "x", "b"]].assign(f=mixed_frame().f.astype("float64"))


def test_columns_of_frames():
    assert_parity(
        lambda f: (
            f.corrwith(f.assign(k=f.i, i=f.x)),
            f.corrwith(f[["x", "i"]]),
            f.corrwith(f[["x"]].assign(z=f.i), drop=True),
            f.corrwith(f * 2 + 1, min_periods=99),
        ),
        FRAME,
        ways=EVERYWHERE,
        ulps=ULPS,
    )


def test_rows_are_aligned():
    other = FRAME[["i", "x", "k"]].sample(frac=1, random_state=0)[:20].set_axis(range(10, 30))
    assert_parity(
        lambda f, g: (f.corrwith(g), f.corrwith(g.x), f[:0].corrwith(g), f[:2].corrwith(g[9:])),
        FRAME,
        other,
        ways=["eager", "mesh"],
        ulps=ULPS,
    )


@pytest.mark.filterwarnings("ignore:invalid value")
def test_with_a_series():
    x = [1.0, 2.0, np.inf, 4.0]
    infinite = pd.DataFrame({"x": x, "y": [2.0, 1.0, 3.0, 5.0], "b": [True, False, True, True]})
    for frame in (FRAME, infinite):
        assert_parity(
            lambda f: (
                f.corrwith(f.x),
                f.corrwith(f.b),
                f.corrwith(f.x, min_periods=30),
                f.corrwith(f.assign(x=f.b)),
                f.assign(x=f.b).corrwith(f),
            ),
            frame,
            ways=EVERYWHERE,
            ulps=ULPS,
        )


def test_rows():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(13, 4)), columns=list("abcd"))
    frame = frame.mask(frame > 1.5).assign(e=np.arange(13))
    assert_parity(
        lambda f: (f.corrwith(f[["e", "b", "c"]] ** 2, axis=1), f.corrwith(-f, axis="columns")),
        frame,
        ways=EVERYWHERE,
        ulps=ULPS,
    )
    assert_parity(
        lambda f: (
            f.corrwith(f[3:] ** 2, axis=1),
            f[:5].corrwith(f[3:] ** 2, axis=1),
            f[:5].corrwith(f[3:] ** 2, axis=1, drop=True),
        ),
        frame,
        ways=["eager"],
        ulps=ULPS,
    )


def test_numeric_only():
    assert_parity(
        lambda f: (
            f.corrwith(f, numeric_only=True),
            f.corrwith(f.x, numeric_only=True),
            f[["s"]].corrwith(f.x, numeric_only=True),
        ),
        mixed_frame()[["s", "k", "x"]],
        ways=["eager"],
        ulps=ULPS,
    )


def test_wrong_uses():
    frame = mixed_frame()[["s", "k", "x"]]
    assert_same_error(lambda f: f.corrwith(f), frame)
    assert_same_error(lambda f: f.corrwith(f.x), frame)
    assert_same_error(lambda f: f[["k"]].corrwith(f, method="none"), frame)
    assert_same_error(lambda f: f.corrwith(f, axis=2), frame)
    ours = on_device(frame)
    with pytest.raises(NotImplementedError, match=r"rank\(\) first"):
        jax.jit(lambda f: f.corrwith(f, method="spearman"))(ours[["k", "x"]])
    with pytest.raises(NotImplementedError, match="Pass a frame"):
        ours.corrwith(ours.x, axis=1)
    with pytest.raises(TypeError, match="got list"):
        ours.corrwith([1, 2])
    with pytest.raises(NotImplementedError, match="inside jit"):
        jax.jit(lambda f, g: f.corrwith(g))(ours[["k"]], ours[["k"]][ours.k > 1])


def test_nullable_columns_have_nullable_correlations():
    frame = FRAME[["k", "x"]].convert_dtypes()
    assert_parity(lambda f: f.corrwith(f[::-1]), frame, ways=["eager"], ulps=ULPS)


def test_ranks_are_correlated_on_the_host():
    frame = FRAME[["k", "x"]]
    with pytest.warns(PerformanceWarning, match=r"rank\(\) first"):
        found = on_device(frame).corrwith(on_device(frame).x, method="spearman")
    assert_same(found, frame.corrwith(frame.x, method="spearman"))


def test_objects_that_are_numbers():
    numbers = pd.DataFrame({"x": [1, 2, 4], "y": [2, 1, 7]})
    objects = numbers.astype(object)
    with pytest.warns(PerformanceWarning, match="columns of objects"):
        found = on_device(objects).corrwith(on_device(numbers))
    assert_same(found, objects.corrwith(numbers), ulps=4)
    found = on_device(objects).corrwith(on_device(numbers.x))
    assert_same(found, objects.corrwith(numbers.x), ulps=4)


def test_columns_of_equal_labels():
    numbers = np.random.default_rng(0)
    repeated = pd.DataFrame(numbers.random((7, 4)), columns=["a", "a", "b", "d"])
    other = pd.DataFrame(numbers.random((7, 3)), columns=["a", "b", "c"])
    assert_parity(
        lambda f, g: (
            f.corrwith(g), g.corrwith(f), f.corrwith(g, drop=True), f.corrwith(g, axis=1),
            f.corrwith(g[["a", "b"]]),
        ),
        repeated,
        other,
        ways=["eager"],
        ulps=ULPS,
    )  # fmt: skip
