# SPDX-License-Identifier: Apache-2.0
"""asof."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import EVERYWHERE, assert_parity, assert_same, assert_same_error, on_device

TIMES = pd.date_range("2024-01-01", periods=40, freq="7h", name="when")
# pandas has no missing bools in the result.
BOOLS = mixed_frame(40)[["b", "x"]].set_index(TIMES)
FRAME = mixed_frame(40)[["k", "i", "x", "f", "s", "c", "t"]].set_index(TIMES)
WHERE = pd.DatetimeIndex(
    ["2024-01-03 02:00", "2023-12-31", "2024-01-02 04:00:00.5", "2024-02-01", "2024-01-01"]
)


def test_lists_of_times():
    def found(f):
        return (
            f.asof(WHERE), f.asof(WHERE, subset=["k", "x"]), f.asof(list(WHERE[[0, 2]]), "s"),
            f.asof(WHERE.rename("at").as_unit("s")), f.x.asof(WHERE), f.s.asof(WHERE[3:]),
            f.i.asof(WHERE), f.i.asof(WHERE[[0, 3]]), f.t.asof(WHERE[:0]),
        )  # fmt: skip

    assert_parity(found, FRAME, ways=["eager", "mesh"])
    seconds = FRAME.set_index(TIMES.as_unit("s"))
    assert_parity(lambda f: f.asof(WHERE.floor("s")), seconds, ways=["eager"])
    assert_same(on_device(seconds).x.asof(WHERE), FRAME.x.asof(WHERE))


def test_bools():
    assert_parity(lambda f: (f.asof(WHERE[[0, 3]]), f.b.asof(WHERE[[2, 3]])), BOOLS)
    assert on_device(BOOLS).b.asof(WHERE[1:3]).isna().tolist() == [True, False]


def test_inside_jit():
    assert_parity(lambda f: (f.asof(WHERE), f.x.asof(WHERE), f.i.asof(WHERE)), FRAME, ways=["jit"])


def test_labels_of_each_type():
    values = {"x": [1.0, np.nan, 3.0, np.nan, 5.0], "n": range(5)}
    for labels in (
        [-3, 0, 0, 4, 9], np.array([-128, 0, 3, 100, 127], np.int8), [-np.inf, -0.0, 0.1, 2, 1e30],
        np.array([0.1, 0.2, 0.3, 1, 2], np.float32), pd.RangeIndex(-4, 6, 2),
        np.array([0, 1, 2, 2**63, 2**64 - 1], np.uint64),
    ):  # fmt: skip
        where = [
            [-500, 0, 2, 3, 127, 10_000], [0.1, 0.25, np.float64(0.3), -0.0, 1e31, -1e31],
            np.array([5, 1, 2**63], np.uint64),
        ]  # fmt: skip
        assert_parity(
            lambda f, where=where: tuple(f.asof(one) for one in where),
            pd.DataFrame(values, index=labels), ways=EVERYWHERE,
        )  # fmt: skip
    spans = pd.DataFrame(values, index=pd.to_timedelta([-5, 0, 2, 2, 7], unit="h"))
    assert_parity(lambda f: f.asof(pd.to_timedelta([-1, 3, -9], unit="h")), spans)


def test_one_label():
    def found(f):
        return (
            f.asof(WHERE[0]), f.asof("2024-01-05", subset="k"), f.asof("2020-01-01"),
            f.x.asof(WHERE[2]), f.s.asof("2024-01-04"), f.i.asof(WHERE[3]), f.x.asof("2020-01-01"),
            f.t.asof(WHERE[0]), f.x.iloc[:1].asof(WHERE[0]),
        )  # fmt: skip

    assert_parity(found, FRAME, ways=["eager", "mesh"])


def test_no_values():
    nothing = FRAME[["x", "t", "s"]].where(np.zeros((40, 3), bool))
    assert_parity(
        lambda f: (f.asof(WHERE), f.t.asof(WHERE), f.t.asof(WHERE[0]), f.asof(WHERE[0])), nothing,
        ways=["eager"],
    )  # fmt: skip
    assert_parity(lambda f: (f.asof(WHERE), f.x.asof(WHERE)), FRAME[:0], ways=["eager"])


def test_wrong_uses_are_pandas_errors():
    assert_same_error(lambda f: f.asof(WHERE), FRAME[::-1])
    assert_same_error(lambda f: f.x.asof(WHERE, subset="x"), FRAME)
    assert_same_error(lambda f: f.asof(WHERE, subset="none"), FRAME)
    assert_same_error(lambda f: f.asof([3]), FRAME)
    assert_same_error(lambda f: f.x.asof(3), FRAME)
    assert_same_error(lambda f: f.asof("2024-01-01"), FRAME[:0])
    with pytest.raises(NotImplementedError, match="numbers or times"):
        on_device(FRAME.set_index("s")).x.asof(["a"])
    with pytest.raises(NotImplementedError, match="must be a list"):
        jax.jit(lambda f: f.x.asof(WHERE[0]))(on_device(FRAME))
