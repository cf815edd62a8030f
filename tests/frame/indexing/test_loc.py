# SPDX-License-Identifier: Apache-2.0
import datetime
import pickle

import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device
from jaxframes.frame import JaxFrame


def test_masks_and_columns():
    assert_parity(
        lambda f: (
            f.loc[f.k > 1],
            f.loc[f.k > 1, "x"],
            f.loc[f.k > 1, ["x", "s"]],
            f.loc[f.k > 1, ["s", "x", "s"]],
            f.loc[f.k > 1, []],
            f.loc[:, "i":"f"],
            f.loc[:, [True, False] * 5],
            f.x.loc[f.k > 1],
            f.loc[lambda g: g.k > 1, "x"],
        ),
        mixed_frame(),
    )
    repeated = pd.DataFrame([[1, 2, 3], [4, 5, 6]], columns=pd.Index(["a", "b", "a"], name="c"))
    assert_parity(lambda f: (f.loc[:, ["a", "b"]], f.loc[f.b > 2, ["b"]]), repeated)
    days = pd.DatetimeIndex(["2020-01-01", "2020-01-15", "2021-05-01"])
    of_days = pd.DataFrame([[1, 2, 3], [4, 5, 6]], columns=days)
    assert_parity(lambda f: (f.loc[:, ["2020"]], f.loc[:, ["2020-01-15"]]), of_days)
    assert "2021" in assert_same_error(lambda f: f.loc[:, ["2021"]], of_days)


def test_columns_by_flags_of_columns():
    rows = pd.DataFrame({"a": [1, 1], "b": [1, 2], "c": ["x", None]})
    assert_parity(
        lambda f: (
            f.loc[:, f.nunique() > 1],
            f.loc[f.b > 1, f.notna().all()],
            f.loc[:, (f[["a", "b"]] > 1).any().reindex(f.columns, fill_value=False)],
            f.loc[:, f.c.fillna("a").replace("x", "b")],
            f[f.c.fillna("a").replace("x", "b")],
        ),
        rows,
        ways=["eager", "mesh"],
    )


def test_labels_of_rows_and_columns_by_flags():
    rows = pd.DataFrame({"a": [1, 5, 7, 1], "s": list("wxyz")}, pd.RangeIndex(3, 7, name="i"))

    def labels(f):
        wide = f[["a"]].T.set_axis([0, 1, 2, 3], axis=1)
        return (
            f.index[f.a > 2], f.s.index[f.a == 1], f.set_index("a").index[f.a > 2],
            f.drop(f.index[f.a > 2]), f[f.a > 2].index[f[f.a > 2].s == "y"],
            f.index[[0, 2]], f.index[1:], f.index[-1], f.index[f.a.to_numpy() > 2],
            wide.columns[wide.loc["a"] > 2], f.index.copy()[f.a > 2],
        )  # fmt: skip

    assert_parity(labels, rows, ways=["eager", "mesh"])
    nullable = pd.Series([True, None, False], dtype="boolean")
    assert_parity(lambda s: s.index[s], nullable, ways=["eager"])
    index = on_device(rows).index
    assert repr(index) == repr(rows.index)
    assert type(pickle.loads(pickle.dumps(index))[:2]) is type(index)
    assert index.equals(rows.index)
    assert rows.index.equals(index)


def test_labels_of_a_range_and_of_strings():
    frame = mixed_frame()
    named = frame.set_index(pd.Index([f"r{position}" for position in range(37)], name="row"))

    def of_range(f):
        return f.loc[3:7], f.loc[[5, 2]], f.loc[5, "k"], f.x[4], f.loc[30:, ["k"]], f.loc[[]]

    def of_strings(f):
        return (
            f.loc["r3":"r7"],
            f.loc[["r5", "r2"], "k"],
            f.loc["r5", "k"],
            f.k["r4"],
            f.loc[f.index[:2]],
            f.k["r3":"r5"],
        )

    assert_parity(of_range, frame, ways=["eager"])
    assert_parity(of_strings, named, ways=["eager"])
    repeated = frame.set_index("k")
    assert_parity(lambda f: (f.loc[2], f.loc[[3, 1]], f.x.loc[2]), repeated, ways=["eager"])
    times = frame.assign(when=pd.date_range("2020-01-01", periods=37)).set_index("when")
    assert_parity(
        lambda f: (f.loc["2020-01-03":"2020-01-05"], f.loc["2020-02"]), times, ways=["eager"]
    )


def test_at_is_one_value():
    frame = mixed_frame()
    assert_parity(lambda f: (f.at[5, "k"], f.at[3, "s"], f.x.at[4]), frame, ways=["eager"])
    assert_same_error(lambda f: f.at[99, "k"], frame)
    assert_same_error(lambda f: f.at[5, "no"], frame)


def test_a_row_as_a_series():
    frame = mixed_frame()[["i", "x"]]
    assert_parity(lambda f: (f.loc[5], f.iloc[5]), frame, ways=["eager"])


def test_rows_dropped_by_label():
    frame = mixed_frame()
    assert_parity(
        lambda f: (f.drop([1, 5]), f.drop(index=3, columns="x"), f.x.drop(2)), frame, ways=["eager"]
    )
    assert_parity(lambda f: f.drop([1, 99], errors="ignore"), frame)
    assert_parity(lambda f: f.set_index("s").drop("b"), frame, ways=["eager"])


def test_columns_reindexed_and_lists_exploded():
    assert_parity(lambda f: f.reindex(columns=["x", "new", "k"]), mixed_frame())
    frame = pd.DataFrame({"l": [[1, 2], [], None, "x"], "x": [1, 2, 3, 4]}, index=[5, 6, 7, 8])
    assert_parity(
        lambda f: (
            f.explode("l"),
            f.explode("l", ignore_index=True),
            f.l.explode(),
            f.explode("x"),
        ),
        frame,
        ways=["eager"],
    )


def test_wrong_labels_are_pandas_errors():
    frame = pd.DataFrame({"x": [1, 2]}, index=["a", "b"])
    assert "bogus" in assert_same_error(lambda f: f.loc["bogus"], frame)
    assert "bogus" in assert_same_error(lambda f: f.loc[["a", "bogus"]], frame)
    assert "bogus" in assert_same_error(lambda f: f.loc[:, "bogus"], frame)
    assert "bogus" in assert_same_error(lambda f: f.drop("bogus"), frame)
    assert "7" in assert_same_error(lambda f: f.loc[[7]], frame.reset_index())
    assert "7" in assert_same_error(lambda f: f.x[7], frame.reset_index())
    ours = on_device(frame)
    np.testing.assert_array_equal(ours.loc[["b", "a", "b"], "x"].to_numpy(), [2, 1, 2])


def test_rows_from_the_end_inside_jit():
    def ends(f):
        return (f.tail(5), f.tail(99), f.tail(-30), f.x.tail(0), f.head(-30), f.iloc[1::7])

    assert_parity(ends, mixed_frame()[["k", "x"]], ways=["jit"])


def test_a_series_of_labels():
    frame = pd.DataFrame({"k": [1, 1, 2], "x": [3, 5, 4]})

    def best(f):
        return f.loc[f.groupby("k").x.idxmax(), "x"]

    assert_parity(best, frame, ways=["eager"])
    assert_parity(best, frame.set_axis(["u", "v", "w"]), ways=["eager"])


@pytest.mark.filterwarnings("ignore:Inferring datetime64 from data")
def test_dates_are_labels_of_naive_times():
    frame = pd.DataFrame({"x": [1, 2, 3]}, index=pd.date_range("2020", periods=3))
    dates = [datetime.date(2020, 1, 3), datetime.date(2020, 1, 1)]
    times = [*dates, pd.Timestamp("2020-01-02")]
    assert_parity(lambda f: (f.loc[dates], f.loc[times]), frame, ways=["eager"])
    assert_parity(lambda f: f.drop(dates), frame, ways=["eager"])
    zoned = frame.tz_localize("UTC")
    for wrong in (lambda f: f.loc[dates], lambda f: f.drop(dates)):
        with pytest.raises(KeyError):
            wrong(JaxFrame(zoned))


def test_a_span_of_times_beside_missing_ones():
    days = pd.to_datetime(["2020-01-01", "2020-05-01", None])
    frame = pd.DataFrame({"x": [1, 2, 3]}, index=days)
    assert_parity(
        lambda f: (f.loc["2020"], f.loc["2020-01"], f.loc["2021"], f.x["2020"]),
        frame,
        ways=["eager"],
    )
