# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame


def spread(s):
    return s.max() - s.min()


def test_series():
    series = mixed_frame()["k"]
    assert_parity(
        lambda s: (s.agg("sum"), s.agg(["min", "mean"]), s.agg(spread), s.agg({"a": "max"})), series
    )
    assert_parity(lambda s: s.agg(np.sum), series, ways=["eager"])
    assert_parity(lambda s: s.agg(["min", "max"]), mixed_frame()["s"], ways=["eager"])


def test_frames():
    frame = mixed_frame()[["k", "x"]]
    assert_parity(lambda f: (f.agg("sum"), f.agg(spread), f.agg({"k": "min", "x": "max"})), frame,
                  ulps=16)  # fmt: skip

    def tables(f):
        return (
            f.agg(["min", "count"]),
            f.agg({"k": ["min", "max"], "x": ["max"]}),
            f.agg({"k": "sum", "x": ["min", "max"]}),
            f.agg(a=("k", "max"), b=("x", "min"), c=("k", "min")),
        )

    assert_parity(tables, frame, ways=["eager"])


def test_numbers_and_strings_in_one_table():
    frame = mixed_frame()[["k", "s"]]
    assert_parity(lambda f: f.agg({"k": "sum", "s": ["max", "count"]}), frame, ways=["eager"])


def test_transform():
    frame = mixed_frame()[["k", "x"]]
    assert_parity(lambda f: (f.transform("cumsum"), f.transform(lambda s: s + 1)), frame, ulps=16)
    assert_parity(lambda f: f.k.transform("cumsum"), frame, ways=["eager"])
    assert_same_error(lambda f: f.transform("sum"), frame)
    assert_same_error(lambda f: f.k.transform("sum"), frame)


def test_wrong_arguments_are_pandas_errors():
    frame = mixed_frame()[["k", "x"]]
    assert_same_error(lambda f: f.agg("bogus"), frame)
    assert_same_error(lambda s: s.agg("bogus"), frame["k"])
    assert "bogus" in assert_same_error(lambda f: f.agg({"bogus": "sum"}), frame)
    assert_same_error(lambda f: f.agg(), frame)
    assert "both" in assert_same_error(lambda f: f.agg({"k": "sum", "x": "cumsum"}), frame)
    assert "nested" in assert_same_error(lambda f: f.agg({"k": {"a": "sum"}}), frame)
    assert_same_error(lambda f: f.agg(a=("bogus", "sum")), frame)


def test_a_list_of_reductions_of_a_frame_inside_jit():
    frame = mixed_frame()[["k", "x"]]
    assert_parity(lambda f: f.agg(["min", "mean", "count"]), frame, ways=["jit"], ulps=8)


def test_the_labels_of_columns_keep_their_names():
    frame = mixed_frame()[["k", "x"]].rename_axis(columns="measure")
    levels = frame.set_axis(
        pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["p", "q"]), axis=1
    )
    for data in (frame, levels):
        assert_parity(lambda f: (f.agg(["max"]), f.agg(["min", "max"])), data)
    assert_parity(lambda f: f.agg({"x": ["max"]}), frame)


@pytest.mark.parametrize("names", [["count", "nunique"], ["count", "size"], ["count", "sum"]])
def test_counts_of_nullable_columns_are_integers(names):
    frame = pd.DataFrame({"i": pd.Series([1, None], dtype="Int64"), "v": [1, 2]})
    assert_parity(lambda f: f.agg(names), frame, ways=["eager"])


NUMPY_FUNCTIONS = (np.sum, np.mean, np.median, np.min, np.std, np.var, np.size, np.ptp, np.argmax)


def test_functions_of_numpy_divide_and_skip_as_numpy_does():
    """np.std divides by the number of values, and np.median and np.ptp of a NaN are NaN."""
    frame = pd.DataFrame({"x": [np.nan, 1.0, 2.0, 3.0, np.nan, 5.5], "i": range(6)})
    frame["k"] = [1, 1, 2, 2, 3, 3]
    for function in NUMPY_FUNCTIONS:
        assert_parity(
            lambda f, g=function: (f.x.agg(g), f.agg(g), f.agg([g]), f.agg({"x": g})),
            frame,
            ways=["eager"],
        )
    for function in (np.median, np.std, np.size):
        for column in ("x", "i"):
            assert_parity(
                lambda f, g=function, c=column: f.groupby("k")[c].agg(g), frame, ways=["eager"]
            )
    assert_parity(lambda f: (np.ptp(f.x), np.ptp(f.i), np.argmax(f.x)), frame, ways=["eager"])


def test_a_named_result_is_a_scalar():
    frame = JaxFrame({"x": [1.0, 2.0]})
    with pytest.raises(NotImplementedError, match="'a' must reduce the column to a scalar"):
        frame.agg(a=("x", np.cumsum))


def test_times_have_the_dtypes_of_their_reductions_also_without_a_value():
    times = pd.Series(pd.to_datetime(["2024-01-01", None]).as_unit("ns"), name="t")
    columns = {
        "t": times, "z": times.dt.tz_localize("UTC"), "d": times - times[0],
        "a": times.astype("timestamp[us][pyarrow]"),
    }  # fmt: skip
    frame = pd.DataFrame(columns)
    for rows in (frame, frame[1:], frame[:0]):
        assert_parity(lambda f: (f.agg(["max"]), f.agg(["std"])), rows, ways=["eager"])


@pytest.mark.parametrize("dtype", ["str", "string", "string[pyarrow]", pd.ArrowDtype(pa.string())])
@pytest.mark.parametrize("values", [["b", None, "a"], [None, None], []])
def test_strings_have_the_dtypes_of_their_reductions_also_without_a_value(dtype, values):
    frame = pd.DataFrame({"a": pd.Series(values, dtype=dtype)})
    assert_parity(
        lambda f: (f.sum(), f.sum(skipna=False), f.max(), f.agg(["min", "max"]), f.agg(["sum"])),
        frame,
        ways=["eager"],
    )


def test_rows():
    frame = pd.DataFrame(
        {"n": [1, 2, 3], "m": [0.5, 1.5, 2.5], "a": ["x", None, "z"], "b": ["p", "q", "r"]}
    )
    assert_parity(
        lambda f: (
            f[["b", "b"]].agg("-".join, axis=1), f[["n", "m"]].agg("sum", axis=1),
            f[["n", "m"]].agg(np.mean, axis="columns"), f[["n", "m"]].agg(spread, axis=1),
            f[["n", "m"]].transform(lambda row: row / row.sum(), axis=1),
            f[["n", "m"]].transform("cumsum", axis=1), f[["a", "b"]].sum(axis=1),
            f[["a", "b"]].max(axis=1), f[["b", "b"]].min(axis=1), f.nunique(axis=1),
            f[["a", "b"]].nunique(axis=1, dropna=False),
        ),
        frame,
        ways=["eager"],
    )  # fmt: skip
    assert_same_error(lambda f: f[["n", "m"]].transform(lambda row: row.sum(), axis=1), frame)


@pytest.mark.filterwarnings("ignore:agg. several functions", "ignore:mode. axis=1")
def test_rows_by_several_functions():
    frame = pd.DataFrame({"n": [1, 2, 2], "m": [2, 2, 1]})
    assert_parity(
        lambda f: (f.agg(["min", "max"], axis=1), f.agg({0: "sum"}, axis=1), f.mode(axis=1)),
        frame,
        ways=["eager"],
    )


def test_labels_keep_their_dtype_and_may_repeat():
    frame = pd.DataFrame({"b": [1, 2], "a": [3.5, 4.5]})
    for labels in (pd.Index(["b", "a"], dtype=object, name="n"), pd.Index(["x", "x"])):
        labelled = frame.set_axis(labels, axis=1)
        assert_parity(lambda f: f.agg(["sum", "max"]), labelled)
        assert_parity(lambda f: f.agg(lambda x: x.sum()), labelled, ways=["eager"])
