# SPDX-License-Identifier: Apache-2.0
"""JaxFrame and JaxSeries of every kind of data that pandas accepts."""

import datetime

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_same, on_device
from jaxframes.frame import JaxFrame, JaxSeries
from jaxframes.shardings import make_mesh, row_sharded

LEVELS = pd.MultiIndex.from_tuples([(1, "a"), (2, "b")], names=["n", None])

FRAMES = {
    "nothing": {},
    "no columns": {"data": {}},
    "no rows": {"columns": ["a", "b"]},
    "labels of rows alone": {"index": [1, 2]},
    "labels alone": {"index": [1, 2], "columns": ["a"]},
    "lists": {"data": {"a": [1, 2], "b": ["x", None], "c": [1.5, None], "d": [True, False]}},
    "a scalar beside a list": {"data": {"a": [1, 2], "b": 7, "c": "z"}},
    "scalars and labels": {"data": {"a": 1, "b": "x"}, "index": [0, 1]},
    "one scalar": {"data": 5, "index": [0, 1], "columns": ["a"]},
    "times": {"data": {"t": [pd.Timestamp(0), None], "d": [datetime.timedelta(1), pd.NaT]}},
    "arrays": {"data": {"a": np.array([1, 2], "int8"), "b": np.array(["x", "y"])}},
    "a category": {"data": {"a": pd.Categorical(["u", None]), "b": range(2)}},
    "large integers": {"data": {"a": [2**63, 0], "b": [-(2**63), 1]}},
    "objects": {"data": {"a": [1, "x"], "b": [[1], None], "c": [None, None]}},
    "series, brought together": {
        "data": {"a": pd.Series([1, 2], index=[0, 1]), "b": pd.Series([3, 4], index=[1, 2])}
    },
    "dicts, brought together": {"data": {"a": {1: 2, 3: 4}, "b": {3: "x"}}},
    "records": {"data": [{"a": 1, "b": 2}, {"a": 3}]},
    "tuples": {"data": [(1, "a"), (2, "b")], "columns": ["x", "y"]},
    "lists of lists": {"data": [[1, 2], [3, 4]]},
    "a matrix": {"data": np.arange(6).reshape(3, 2), "columns": ["a", "b"]},
    "a vector": {"data": np.arange(3)},
    "a structured array": {"data": np.array([(1, 2.5)], dtype=[("a", "i4"), ("b", "f8")])},
    "some of the columns": {"data": {"a": [1], "b": [2]}, "columns": ["b", "c"]},
    "a dtype": {"data": {"a": [1, 2], "b": [0.5, 1]}, "dtype": "float32"},
    "labels twice": {"data": [[1, 2]], "columns": ["a", "a"]},
    "labels of tuples": {"data": {("a", "b"): [1], ("a", "c"): [2]}},
    "levels of rows": {"data": {"a": [1, 2]}, "index": LEVELS},
    "named labels": {"data": {"a": [1, 2]}, "index": pd.Index(["p", "q"], name="n")},
    "a frame": {"data": mixed_frame()},
    "columns of a frame": {"data": mixed_frame(), "columns": ["x", "k", "no"]},
    "rows of a frame": {"data": mixed_frame(), "index": [3, 99, 0]},
    "a series": {"data": mixed_frame()["s"]},
}
WRONG_FRAMES = {
    "scalars alone": {"data": {"a": 1}},
    "different lengths": {"data": {"a": [1], "b": [1, 2]}},
    "too few labels of rows": {"data": {"a": [1, 2]}, "index": [0]},
    "too few labels of columns": {"data": [[1, 2]], "columns": ["a"]},
    "three dimensions": {"data": np.zeros((2, 2, 2))},
    "a scalar alone": {"data": 5},
    "a string": {"data": "abc"},
    "what is no number": {"data": {"a": ["x"]}, "dtype": float},
}
SERIES = {
    "nothing": {},
    "no values": {"data": [], "dtype": "int32"},
    "a list": {"data": [1, 2], "name": "n"},
    "a dict": {"data": {"a": 1, "b": 2}},
    "some of a dict": {"data": {"a": 1, "b": 2}, "index": ["b", "c"]},
    "a scalar": {"data": 5, "index": [1, 2]},
    "a string": {"data": "abc", "index": [0, 1]},
    "some of a series": {"data": pd.Series([1, 2]), "index": [1, 2]},
    "an array": {"data": np.arange(3, dtype="int8"), "dtype": "float32"},
    "strings": {"data": ["a", None]},
    "a category": {"data": ["a", "b", "a"], "dtype": "category"},
    "an index": {"data": pd.Index([1, 2], name="q")},
    "times": {"data": pd.date_range("2020", periods=2)},
    "bools and none": {"data": [True, None]},
    "nones": {"data": [None, None]},
    "levels of rows": {"data": [1.5, None], "index": LEVELS, "name": ("a", 1)},
}
WRONG_SERIES = {
    "a matrix": {"data": np.zeros((2, 2))},
    "too few labels": {"data": [1, 2], "index": [1]},
    "what is no number": {"data": ["x"], "dtype": int},
    "a set": {"data": {1, 2}},
    "a name that is a list": {"data": [1], "name": [1]},
}


@pytest.mark.parametrize("case", FRAMES)
def test_a_frame_is_what_pandas_makes(case):
    assert_same(JaxFrame(**FRAMES[case]), pd.DataFrame(**FRAMES[case]))


@pytest.mark.parametrize("case", SERIES)
def test_a_series_is_what_pandas_makes(case):
    assert_same(JaxSeries(**SERIES[case]), pd.Series(**SERIES[case]))


@pytest.mark.parametrize("case", WRONG_FRAMES)
def test_what_is_no_frame_is_pandas_error(case):
    with pytest.raises((ValueError, TypeError)) as expected:
        pd.DataFrame(**WRONG_FRAMES[case])
    with pytest.raises(expected.type):
        JaxFrame(**WRONG_FRAMES[case])


@pytest.mark.parametrize("case", WRONG_SERIES)
def test_what_is_no_series_is_pandas_error(case):
    with pytest.raises((ValueError, TypeError)) as expected:
        pd.Series(**WRONG_SERIES[case])
    with pytest.raises(expected.type):
        JaxSeries(**WRONG_SERIES[case])


def test_arrays_of_jax_stay_where_they_are():
    x, matrix = jnp.arange(5.0), jnp.arange(6).reshape(3, 2)
    assert_same(JaxFrame({"x": x, "i": [1, 2, 3, 4, 5]}), pd.DataFrame({"x": x, "i": range(1, 6)}))
    assert_same(JaxFrame(matrix, columns=["a", "b"]), pd.DataFrame(matrix, columns=["a", "b"]))
    assert_same(JaxSeries(x, index=list("abcde")), pd.Series(x, index=list("abcde")))
    for wrong in ({"x": x, "i": [1]}, jnp.zeros((2, 2, 2))):
        with pytest.raises(ValueError, match=r"Must pass 2-d|same length"):
            JaxFrame(wrong)


def test_frames_and_series_of_ours():
    frame = mixed_frame()[["k", "x"]]
    ours = on_device(frame)
    assert_same(JaxFrame(ours), frame)
    assert_same(JaxFrame(ours, columns=["x"], dtype="float32"), frame[["x"]].astype("float32"))
    assert_same(JaxSeries(ours.k, name="new"), frame.k.rename("new"))
    columns = {"b": ours.x, "a": ours.k * 2}
    assert_same(JaxFrame(columns), pd.DataFrame({"b": frame.x, "a": frame.k * 2}))
    assert_same(JaxFrame(ours, index=[1, 99]), pd.DataFrame(frame, index=[1, 99]))
    assert_same(JaxSeries(ours.k, index=[1, 99]), pd.Series(frame.k, index=[1, 99]))
    absent = ["x", "absent"]
    assert_same(JaxFrame(ours, columns=absent), pd.DataFrame(frame, columns=absent))


def test_inside_jit_of_columns_that_are_there():
    frame = mixed_frame()[["k", "x"]]
    result = jax.jit(lambda f: JaxFrame({"twice": f.k * 2, "x": f.x}))(on_device(frame))
    assert_same(result, pd.DataFrame({"twice": frame.k * 2, "x": frame.x}))


def test_constructors_of_the_class():
    columns = {"x": [1, 2], "s": ["a", None]}
    rows = {"r": [1, "a"], "q": [2, "b"]}
    records = [(1, "a"), (2, "b")]
    tight = pd.DataFrame(columns, index=["p", "q"]).to_dict(orient="tight")
    for make in (
        lambda kind: kind.from_dict(columns),
        lambda kind: kind.from_dict({"x": [1, 2]}, dtype="float64"),
        lambda kind: kind.from_dict(rows, orient="index", columns=["x", "s"]),
        lambda kind: kind.from_dict(tight, orient="tight"),
        lambda kind: kind.from_records(records, columns=["x", "s"]),
        lambda kind: kind.from_records([{"x": 1, "y": 2}], index="y"),
        lambda kind: kind.from_records(iter(records), nrows=1, exclude=[1]),
        lambda kind: kind.from_arrow(pa.table(columns)),
    ):
        pd.testing.assert_frame_equal(make(JaxFrame).to_pandas(), make(pd.DataFrame))
    for wrong in (
        lambda kind: kind.from_dict(rows, columns=["x", "s"]),
        lambda kind: kind.from_dict(rows, orient="none"),
        lambda kind: kind.from_arrow([1]),
    ):
        with pytest.raises((ValueError, TypeError)) as theirs:
            wrong(pd.DataFrame)
        with pytest.raises(type(theirs.value)):
            wrong(JaxFrame)


def test_a_series_from_arrow():
    times = pd.date_range("2024", periods=3)

    class Exported:
        def __arrow_c_array__(self, requested_schema=None):
            return pa.array([1, 2]).__arrow_c_array__(requested_schema)

    for data in (
        pa.array([1, 2, 3], pa.int8()), pa.array([1.5, None]), pa.array(["a", None, "b"]),
        pa.array([True, None]), pa.array(times), pa.array(["u", "w", "u"]).dictionary_encode(),
        pa.chunked_array([[1], [], [2, None]]), pa.array([], pa.int64()), Exported(),
    ):  # fmt: skip
        theirs = pd.Series.from_arrow(data)
        theirs = theirs.where(theirs.notna())  # Missing bools are NaN.
        assert_same(JaxSeries.from_arrow(data), theirs)
        on_mesh = JaxSeries.from_arrow(data, sharding=row_sharded(make_mesh(3)))
        assert_same(on_mesh, theirs)
    with pytest.raises(TypeError, match=r"array-like object .* got 'list'"):
        pd.Series.from_arrow([1])  # pyright: ignore
    with pytest.raises(TypeError, match=r"array-like object .* got 'list'"):
        JaxSeries.from_arrow([1])


def test_a_frame_of_a_series_of_ours():
    for series in (pd.Series([1, 2], [3, 4], name="x"), pd.Series(["a", None])):
        assert_same(JaxFrame(on_device(series)), pd.DataFrame(series))
        for columns in (["x"], ["y"], ["x", "y"], ["y", "x"], ["x", "x"]):
            for index in (None, [3, 9]):
                try:
                    expected = pd.DataFrame(series, columns=columns, index=index)
                except ValueError:
                    with pytest.raises(ValueError, match="Shape of passed values"):
                        JaxFrame(on_device(series), columns=columns, index=index)
                else:
                    found = JaxFrame(on_device(series), columns=columns, index=index)
                    assert_same(found, expected)


def test_series_of_ours_are_rows_whose_labels_are_aligned():
    rows = [pd.Series([1, 2], ["a", "b"], name="x"), pd.Series([3, 4], ["b", "c"], name="y")]
    assert_same(JaxFrame([on_device(row) for row in rows]), pd.DataFrame(rows))


ONE = pd.Series([1, 2, 3], name="one")
OTHER = pd.Series([10.0, 20.0], index=[2, 5])
TEXTS = pd.Series(["u", "v"], index=["d", "c"])
# What pandas and we make a frame of, given a function that makes a series of ours.
OF_SERIES = {
    "two series": lambda made: {"a": made(ONE), "b": made(OTHER)},
    "one of pandas": lambda made: {"a": made(ONE), "b": OTHER},
    "one of pandas first": lambda made: {"b": OTHER, "a": made(ONE)},
    "an array of all labels": lambda made: {"a": made(ONE), "b": made(OTHER), "c": np.arange(4)},
    "a constant": lambda made: {"a": made(ONE), "b": made(OTHER), "c": 7},
    "labels of strings": lambda made: {
        "a": made(pd.Series([1, 2], index=["c", "a"])),
        "b": made(TEXTS),
    },
    "no rows": lambda made: {"a": made(ONE.iloc[:0]), "b": made(OTHER)},
    "equal labels": lambda made: {"a": made(OTHER), "b": made(OTHER * 2)},
    "repeated labels": lambda made: {"a": made(OTHER.set_axis([0, 0])), "b": [1, 2]},
}


@pytest.mark.parametrize("num_devices", [1, 3])
@pytest.mark.parametrize("name", OF_SERIES)
def test_columns_are_aligned_to_the_labels_of_all(name, num_devices):
    sharding = row_sharded(make_mesh(num_devices)) if num_devices > 1 else None
    ours = OF_SERIES[name](lambda series: on_device(series, sharding))
    assert_same(JaxFrame(ours), pd.DataFrame(OF_SERIES[name](lambda series: series)))


@pytest.mark.parametrize("index", [[2, 0, 7], [0, 1, 2], []])
def test_an_index_selects_rows_of_series(index):
    expected = pd.DataFrame({"a": ONE, "b": OTHER}, index=index)
    assert_same(JaxFrame({"a": JaxSeries(ONE), "b": JaxSeries(OTHER)}, index=index), expected)


def test_an_array_of_jax_beside_a_series_of_pandas():
    expected = pd.DataFrame({"a": np.arange(2), "b": OTHER})
    assert_same(JaxFrame({"a": jnp.arange(2), "b": OTHER}), expected)


def test_arrays_of_another_length_are_refused():
    with pytest.raises(ValueError, match="does not match length of index"):
        JaxFrame({"a": JaxSeries(ONE), "b": np.arange(2)})
    repeated = JaxSeries(OTHER.set_axis([0, 0]))
    with pytest.raises(ValueError, match="cannot reindex on an axis with duplicate labels"):
        JaxFrame({"a": repeated, "b": JaxSeries(ONE)})


def test_columns_of_an_index_or_a_series_keep_its_dtype_and_name():
    labels = pd.Index(["x", "y"], dtype=object, name="n")
    letters = pd.Series(["x", "y"], name="n", dtype="category")
    data = {"x": [1, 2], "y": [3, 4]}
    for columns, ours in ((labels, labels), (letters, JaxSeries(letters)), (letters, letters)):
        expected = pd.DataFrame(data, columns=columns)
        on_columns = {name: JaxSeries(values) for name, values in data.items()}
        for given in (data, on_columns, JaxFrame(data)):
            assert_same(JaxFrame(given, columns=ours), expected)
        assert_same(JaxFrame(jnp.array([[1, 3], [2, 4]]), columns=ours), expected)
        assert_same(JaxFrame(data).set_axis(ours, axis=1), expected)
