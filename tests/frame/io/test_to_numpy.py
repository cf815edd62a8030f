# SPDX-License-Identifier: Apache-2.0
"""to_numpy."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import INTEGERS, integers, mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device
from jaxframes.frame import JaxSeries


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_keep_their_width(dtype):
    got = on_device(integers(dtype)).to_numpy()
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, integers(dtype).to_numpy())


def test_columns_meet_in_one_dtype():
    def arrays(f):
        return f[["k", "x"]].to_numpy(), f[["f"]].to_numpy(), f[["k", "b"]].to_numpy(bool)

    assert_parity(arrays, mixed_frame(), ways=["eager"])
    for num_rows in (0, 1):
        assert_parity(arrays, mixed_frame()[:num_rows], ways=["eager"])


def test_a_dtype_may_be_asked_for():
    def arrays(f):
        return f.k.to_numpy("float32"), f.x.to_numpy(object), f.b.to_numpy(np.int8)

    assert_parity(arrays, mixed_frame(), ways=["eager"])


def test_copies_and_missing_values():
    frame = pd.DataFrame(
        {
            "x": [1.0, np.nan],
            "i": pd.array([1, None], dtype="Int64"),
            "s": ["a", None],
            "t": pd.to_datetime(["2024-01-01", None]),
        }
    )
    other = pd.Timestamp("2020-01-01")

    def arrays(f):
        return (
            f.x.to_numpy(na_value=-1.0), f.i.to_numpy("int64", na_value=0),
            f.i.to_numpy("float64", copy=True, na_value=np.nan), f.s.to_numpy(na_value="-"),
            f.t.to_numpy(na_value=other), f[["x", "i"]].to_numpy("float32", na_value=7),
            f.x.to_numpy(None, True), f[["x"]].to_numpy(copy=True),
        )  # fmt: skip

    assert_parity(arrays, frame, ways=["eager"])
    ours = on_device(frame)
    for copied in (ours.x.to_numpy(copy=True), ours[["x"]].to_numpy(copy=True)):
        copied[:] = 5
        assert ours.x.to_numpy()[0] == 1


def test_wrong_uses():
    frame = mixed_frame()[["s", "x"]]
    assert_same_error(lambda f: f.to_numpy(float), frame[frame.s == "a"])
    with pytest.raises(NotImplementedError, match="jit"):
        jax.jit(lambda f: f.x.to_numpy())(on_device(frame))


def test_numpy_shuffles_a_copy_of_a_series():
    for values in ([3, 1, 2, 5], [0.5, 1.5, None], ["a", "b", None], [True, False]):
        ours, theirs = JaxSeries(values), pd.Series(values)
        for of_host in (ours, ours[ours.notna()].head(9)):
            expected = theirs if of_host is ours else theirs.dropna()
            assert_same(
                np.random.default_rng(0).permutation(of_host),
                np.random.default_rng(0).permutation(expected),
            )
            assert_same(of_host, expected)
