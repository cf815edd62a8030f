# SPDX-License-Identifier: Apache-2.0
"""Operators on all pairs of strings, categories and times: results and errors."""

import datetime
import functools
import itertools
import operator
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device
from jaxframes.frame import JaxSeries

OPERATORS = {name: getattr(operator, name) for name in (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "eq", "ne", "lt", "ge", "and_",
)}  # fmt: skip
SCALARS = (
    None, "b", "zz", "1s", "2001-01-01", 3, 2.5, 0, -2, float("nan"), True, pd.NaT,
    pd.Timestamp("2001-01-01"), pd.Timestamp("2001-01-01").as_unit("ns"), pd.Timedelta("7us"),
    pd.Timedelta("3ns"), datetime.datetime(2001, 1, 1), datetime.date(2001, 1, 1),
    datetime.timedelta(hours=1), np.datetime64("2001-01-01"), np.timedelta64(1, "D"),
    np.timedelta64("NaT", "us"), pd.Timestamp("2001-01-01", tz="UTC"),
)  # fmt: skip


def columns():
    frame, other = mixed_frame(), mixed_frame(seed=5)
    times = frame.t.copy()
    times[3] = pd.Timestamp("2001-01-01")
    return {
        "s": frame.s, "s2": other.s + "x", "c": frame.c, "c2": other.c,
        "u": pd.Series(frame.c.cat.as_unordered()),
        "v": pd.Series(other.c.cat.set_categories(["v", "u", "w"]).cat.as_unordered()),
        "n": pd.Series(pd.Categorical(frame.k)), "t": times, "t2": other.t.astype("M8[s]"),
        "d": frame.d, "d2": (other.d % pd.Timedelta("5us")).astype("m8[ns]"), "k": frame.k,
        "x": frame.x, "b": frame.b,
    }  # fmt: skip


def is_left_out(name, x, y):
    """Intended differences: pandas returns objects, or has a bug."""
    kinds = {str(getattr(z, "dtype", type(z).__name__)) for z in (x, y)}
    numbers = {"int64", "float64", "bool"}
    if "str" in kinds:
        return (
            (name in ("mul", "rmul") and "int64" in kinds)
            or (name in ("and_", "rand_") and "bool" in kinds)
            or "datetime64[D]" in kinds
        )
    return bool(kinds & numbers) and (y is pd.NaT or isinstance(y, np.timedelta64))


def outcome(function, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args)
        except Exception as error:
            return error


def turned(function, x, y):
    return function(y, x)


def check(name, function, x, y, ours_x, ours_y):
    if is_left_out(name, x, y):
        return []
    want, got = outcome(function, x, y), outcome(function, ours_x, ours_y)
    if "ArrowStringArray requires" in str(want):
        return []  # pandas fails on its own arrays
    if not isinstance(want, pd.Series):
        is_fine = isinstance(got, type(want)) or not isinstance(want, Exception)
        return [] if is_fine or isinstance(got, TypeError) else [(name, x, y, want, got)]
    if isinstance(got, Exception):
        return [(name, x, y, want, got)]
    try:
        assert_same(got, want)
    except AssertionError as error:
        return [(name, x, y, want, str(error))]
    return []


def test_each_column_with_each():
    ours = {label: on_device(column) for label, column in columns().items()}
    pandas = columns()
    wrong = []
    for (p, q), (name, function) in itertools.product(
        itertools.product(pandas, pandas), OPERATORS.items()
    ):
        if {p, q} <= {"k", "x", "b"}:
            continue
        wrong += check(name, function, pandas[p], pandas[q], ours[p], ours[q])
    assert not wrong, wrong[0]


def test_each_column_with_scalars():
    ours = {label: on_device(column) for label, column in columns().items()}
    wrong = []
    for (label, column), (name, function), scalar in itertools.product(
        columns().items(), OPERATORS.items(), SCALARS
    ):
        if label in ("k", "x", "b") and isinstance(scalar, (int, float)):
            continue
        wrong += check(name, function, column, scalar, ours[label], scalar)
        if isinstance(scalar, str) and name == "mod":
            continue
        wrong += check(
            f"r{name}", functools.partial(turned, function), column, scalar, ours[label], scalar
        )
    assert not wrong, wrong[0]


def test_nat_of_numpy_has_a_unit():
    frame = pd.DataFrame({"t": pd.to_datetime(["2001-01-01", None]).astype("M8[ms]")})
    frame["d"] = frame.t - pd.Timestamp("2000-01-01")
    for unit in ("ps", "ns", "s", "D", "generic"):
        with warnings.catch_warnings():
            # NumPy 2.5 deprecates a NaT without a unit.
            warnings.simplefilter("ignore", DeprecationWarning)
            time, span = np.datetime64("NaT", unit), np.timedelta64("NaT", unit)
        assert_parity(
            lambda f, time=time, span=span: (
                f.t - time, f.t + span, f.t - span, f.d + time, f.d + span, f.d - span, f.d / span,
                f.t == time, f.d < span,
            ),
            frame, ways=["eager"],
        )  # fmt: skip


def test_inside_jit_and_on_a_mesh():
    def everything(f):
        return (
            f.s == "b", f.s < "é", f.s != f.s, f.s + "!", "<" + f.s, f.c >= "v", f.c == f.c,
            f.t - f.t, f.t + f.d, f.d / 2, f.d * f.x, f.d / f.d, f.t > pd.Timestamp("2001-01-01"),
            f.d - pd.Timedelta("1ns"), f[["s", "t"]] == f[["s", "t"]], -f.d, abs(f.d),
            f.s[f.x > 0] > "a", f.d // pd.Timedelta("1ms"),
        )  # fmt: skip

    assert_parity(everything, mixed_frame(), ways=["jit", "mesh"])


@pytest.mark.parametrize("num_rows", [0, 1])
def test_few_rows(num_rows):
    assert_parity(
        lambda f: (f.s == "b", f.s + f.s, f.c == "u", f.t - f.t, f.d * 2, f.s + "a"),
        mixed_frame()[:num_rows],
        ways=["eager"],
    )


def test_the_rest_of_a_span_by_infinity_is_missing():
    frame = pd.DataFrame({"d": np.array([7, -7, 7], "m8[s]"), "x": [np.inf, -np.inf, 2.5]})
    assert_parity(lambda f: (f.d % f.x, f.d % np.inf, f.d // f.x), frame)


def test_objects_without_an_operator_name_the_column():
    objects = JaxSeries(pd.Series([[1], {}], name="odd", dtype=object))
    with pytest.raises(TypeError, match="can only concatenate list") as raised:
        _ = objects + 1
    assert "'odd'" in raised.value.__notes__[0]
    assert_same_error(lambda s: -s, mixed_frame().s)


@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
@pytest.mark.parametrize("unit", ["s", "ms", "us"])
@pytest.mark.parametrize("kind", ["datetime", "timedelta"])
def test_times_are_compared_with_times_of_a_finer_unit(name, unit, kind):
    counts = pd.Series([-2, -1, 0, 1, 2, 10**9, None], dtype="Int64")
    times = counts.to_numpy("int64", na_value=np.iinfo(np.int64).min).view(f"m8[{unit}]")
    one = pd.Timedelta(1, unit).as_unit("ns")
    scalars = [one, -one, one + pd.Timedelta("1ns"), -one - pd.Timedelta("1ns"), one * 0]
    if kind == "datetime":
        times = np.datetime64(0, unit) + times
        scalars = [pd.Timestamp(0).as_unit("ns") + scalar for scalar in scalars]
    compare, column = getattr(operator, name), pd.Series(times)
    ours = JaxSeries(column)
    for scalar in [*scalars, pd.NaT]:
        assert_same(compare(ours, scalar), compare(column, scalar))
        if scalar is not pd.NaT:
            assert_same(compare(scalar, ours), compare(scalar, column))


def test_na_beside_numbers_has_no_order_and_no_sum():
    values = pd.Series([1.5, np.nan], name="x")
    ours = JaxSeries(values)
    for compared in ("lt", "ge", "eq", "ne"):
        expected = getattr(values, compared)(pd.NA)
        pd.testing.assert_series_equal(getattr(ours, compared)(pd.NA).to_pandas(), expected)
    with pytest.raises(NotImplementedError, match=r"add: a column of float64 holds no NA.*Use nan"):
        _ = ours + pd.NA


@pytest.mark.parametrize("ordered", [False, True])
def test_numbers_beside_categories_of_numbers(ordered):
    frame = pd.DataFrame({
        "c": pd.Categorical([1, 5, 7], ordered=ordered), "i": [5, 5, 5],
        "n": pd.array([5, None, 5], "Int64"),
    })  # fmt: skip
    assert_parity(lambda f: (f.n < f.c, f.n >= f.c, f.i == f.c, f.c != f.i), frame, ways=["eager"])
    for compare in (lambda f: f.i < f.c, lambda f: f.c < f.i, lambda f: f.c <= f.n):
        assert_same_error(compare, frame)
    if ordered:
        assert_parity(
            lambda f: (operator.lt(5, f.c), np.int64(5) < f.c, f.c <= 5), frame, ways=["eager"]
        )


UNLIKE = {
    "Int64": pd.Series([1, None, 3, 4], dtype="Int64"),
    "complete": pd.Series([1, 2, 3, 4], dtype="Int64"),
    "Float64": pd.Series([1.0, None, 3.5, 4], dtype="Float64"),
    "boolean": pd.Series([True, False, True, True], dtype="boolean"),
    "int64": pd.Series([1, 2, 5, 4]),
    "str": pd.Series(["a", None, "c", "d"]),
    "string": pd.Series(["a", "b", "c", "d"], dtype="string"),
    "arrow strings": pd.Series(["a", None, "c", "d"], dtype="string[pyarrow]").astype(
        pd.ArrowDtype(pa.string())
    ),
    "arrow integers": pd.Series([1, None, 3, 4], dtype="int64[pyarrow]"),
    "category of integers": pd.Series([1, 2, None, 4], dtype="category"),
    "category of floats": pd.Series([1.5, 2, None, 4], dtype="category"),
    "category of strings": pd.Series(["a", None, "c", "e"], dtype="category"),
}


@pytest.mark.parametrize("left", UNLIKE)
def test_equality_of_unlike_dtypes(left):
    for right in UNLIKE:
        are_categories = "category" in left and "category" in right
        if are_categories or {left, right} == {"boolean", "arrow integers"}:
            continue
        if "category" in left and right == "arrow strings":
            # They have NA, which has no truth value.
            assert_same_error(lambda a, b: a == b, UNLIKE[left], UNLIKE[right])
            continue
        assert_parity(
            lambda a, b: (a == b, a != b), UNLIKE[left], UNLIKE[right], ways=["eager", "mesh"]
        )
