# SPDX-License-Identifier: Apache-2.0
"""groupby.shift."""

import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error
from jaxframes.frame import JaxFrame


def test_no_periods_and_more_than_there_are_rows():
    def shifted(f):
        grouped = f.groupby("k")
        return tuple(grouped.shift(periods) for periods in (0, 50, -50))

    assert_parity(shifted, mixed_frame()[["k", "x", "s", "t"]], ways=["eager"])


GAPS = pd.DataFrame(
    {
        "k": [1, 1, 2, None, 1],
        "i": [1, 2, 3, 4, 5],
        "x": [0.5, None, 1.5, 2.0, 3.0],
        "s": ["a", None, "b", "c", "a"],
        "b": [True, False, True, True, False],
        "t": pd.date_range("2024", periods=5),
        "c": pd.Categorical(list("xyxyx")),
        "n": pd.array([1, 2, None, 4, 3], dtype="Int64"),
    }
)


def filled(frame):
    groups = frame.groupby("k")
    return (
        groups.i.shift(fill_value=0),
        groups.i.shift(-1, fill_value=0),
        groups.i.shift(0, fill_value=9),
        groups[["i", "x"]].shift(2, fill_value=-1),
        groups.s.shift(fill_value="none"),
        groups.b.shift(fill_value=False),
        groups.t.shift(-1, fill_value=pd.Timestamp("2020-01-01")),
        groups.c.shift(fill_value="y"),
        groups.n.shift(fill_value=0),
        groups.x.shift(fill_value=np.nan),
    )


def test_gaps_are_filled():
    assert_parity(filled, GAPS, ways=["eager", "jit", "mesh"])


def test_gaps_are_filled_in_plans_and_over_batches():
    plan = JaxFrame(GAPS).lazy().assign(r=lambda f: f.groupby("k").i.shift(fill_value=0))
    expected = GAPS.assign(r=GAPS.groupby("k").i.shift(fill_value=0))
    assert str(plan.schema["r"]) == "int64"
    assert_same(plan.collect(), expected)
    assert_same(plan.collect(batch_rows=2), expected)


def test_down_and_up_again_only_loses_ends():
    frame = JaxFrame(mixed_frame()[["k", "i"]])
    back = frame.assign(i=frame.groupby("k").i.shift(2)).groupby("k").i.shift(-2).to_pandas()
    kept = back.dropna()
    pd.testing.assert_series_equal(kept, mixed_frame().i[kept.index].astype("float64"))
    assert len(kept) == 37 - 2 * 5


def test_integers_with_holes_become_floats():
    frame = pd.DataFrame({"k": [1, 2, 1], "i": [1, 2, 3], "x": [0.5, 1.5, 2.5]})
    assert_parity(lambda f: f.groupby("k").shift(-1), frame, ways=["jit"])


def test_periods_are_an_integer():
    frame = mixed_frame()[["k", "x"]]
    assert_same_error(lambda f: f.groupby("k").shift("2"), frame)
    for wrong in ([], [1, "2"], [True], [1.0]):
        assert_same_error(lambda f, periods=wrong: f.groupby("k").shift(periods), frame)
    assert_same_error(lambda f: f.groupby("k").shift(1, suffix="_lag"), frame)


def test_several_periods():
    frame = mixed_frame()[["k", "x", "i"]]
    assert_parity(
        lambda f: (
            f.groupby("k").shift([1, -2]),
            f.groupby("k").x.shift([0, 3], suffix="_lag"),
            f.groupby("k")[["i"]].shift((2,), fill_value=0),
        ),
        frame,
        ways=["eager", "jit", "mesh"],
    )


@pytest.mark.filterwarnings("ignore:groupby. shift with freq")
def test_labels_move_by_a_frequency():
    times = pd.date_range("2024-01-01", periods=6, freq="h")
    frame = pd.DataFrame({"k": list("aabbab"), "x": range(6)}, index=times)
    assert_parity(
        lambda f: (
            f.groupby("k").shift(1, freq="D"),
            f.groupby("k").x.shift(-2, freq="h"),
        ),
        frame,
        ways=["eager"],
    )


def test_no_periods_leave_rows_in_no_group_as_they_are():
    frame = pd.DataFrame(
        {"k": [1.0, None, 1.0, None], "i": [1, 2, 3, 4], "s": ["a", None, "b", ""]}
    )
    assert_parity(lambda f: f.groupby("k").shift(0), frame, ways=["eager", "jit"])
