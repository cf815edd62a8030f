# SPDX-License-Identifier: Apache-2.0
"""clip."""

import itertools
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frame_examples import floats, integers, mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device


def test_without_bounds_nothing_changes():
    frame = mixed_frame()[["i", "y"]]

    def unbounded(f):
        return f.clip(), f.clip(np.nan), f.y.clip(None, np.nan), f.y.clip(-np.inf, np.inf)

    assert_parity(unbounded, frame, ways=["eager"])
    assert_same(on_device(frame).clip(), frame)


def test_clipped_values_lie_inside_and_stay_when_clipped_again():
    ours = on_device(floats())
    once = ours.clip(-1.0, 2.0)
    assert once.to_pandas().dropna().between(-1.0, 2.0).all()
    assert_same(once, floats().clip(-1.0, 2.0))
    assert_same(once.clip(-1.0, 2.0), once.to_pandas())


def test_bounds_may_be_columns_with_holes():
    frame = mixed_frame()[["x", "y", "i", "k"]]

    def bounded(f):
        return f.x.clip(lower=f.y), f.x.clip(f.y, 0.5), f.i.clip(-500, f.k)

    assert_parity(bounded, frame, ways=["jit"])
    assert_parity(lambda s: s.clip(np.arange(37), [20] * 37), frame["i"], ways=["eager"])


def test_a_bound_that_is_missing_leaves_every_digit():
    frame = mixed_frame()[["x", "f"]]
    assert_parity(lambda f: (f.x.clip(f.f), f.x.clip(upper=f.f)), frame, ways=["eager"])


def test_dtypes_follow_column_and_bound():
    def bounded(s):
        return s.clip(1, 3), s.clip(upper=2.5), s.clip(np.int64(2)), s.clip(2.0), s.clip(-1e9, 1e9)

    assert_parity(bounded, integers("int8"), ways=["eager"])
    assert_parity(lambda s: s.clip(-0.5, 0.1), floats("float32"), ways=["eager"])
    for num_rows in (0, 1):
        assert_parity(bounded, integers("int64")[:num_rows], ways=["eager"])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
def test_bounds_that_the_dtype_does_not_hold(dtype):
    least, most = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)

    def bounding_nothing(s):
        return s.clip(least - 1, most + 1), s.clip(-1e30, 2**70), s.clip(-(2**70), np.uint64(2**63))

    assert_parity(bounding_nothing, integers(dtype), ways=["eager", "jit"])
    # pandas has no signed dtype for a bound above int64.
    beyond = [least - 1, np.int16(-9), 1e4] + [most + 1] * (dtype[0] == "u")
    if "64" not in dtype:
        for series in (integers(dtype), integers(dtype)[:0]):
            assert_parity(
                lambda s: tuple(s.clip(b) if b > 0 else s.clip(upper=b) for b in beyond),
                series,
                ways=["eager"],
            )


def test_bools_stay_bools_where_no_value_lies_beyond():
    flags = pd.Series([True, False])
    assert_parity(lambda s: (s.clip(0, 1), s.clip(-0.5, 2), s.clip(True)), flags)
    assert_parity(lambda s: s.clip(1), flags[:1], ways=["eager"])
    with pytest.raises(NotImplementedError, match="astype"):
        on_device(flags).clip(1)
    assert on_device(flags).clip(pd.Series([2, 0]), 3).tolist() == [2, 0]


@pytest.mark.parametrize("ways", [["eager"], ["jit"]])
def test_strings_and_times_of_a_zone(ways):
    strings = pd.Series(["m", None, "a", "z"])
    assert_parity(lambda s: (s.clip("c", "p"), s.clip(upper="b")), strings, ways=ways)
    times = pd.Series(pd.date_range("2024-01-01", periods=4, tz="Europe/Berlin", unit="us"))
    times[2] = pd.NaT
    late = pd.Timestamp("2024-01-02 12:00", tz="UTC").as_unit("us")
    assert_parity(lambda s: (s.clip(late), s.clip(None, late)), times, ways=ways)
    assert_parity(lambda s: s.clip("2024-01-02"), times, ways=["eager"])


@pytest.mark.parametrize("unit", ["s", "us"])
@pytest.mark.parametrize("num_rows", [0, 1, 4])
def test_times(unit, num_rows):
    days = pd.Series(pd.date_range("2024-01-01", periods=4, unit=unit), name="d")
    days[2] = pd.NaT
    frame = pd.DataFrame({"d": days, "waits": days - days[0]})[:num_rows]
    low, high = pd.Timestamp("2024-01-02").as_unit(unit), pd.Timestamp("2024-01-03").as_unit(unit)
    wait = pd.Timedelta("1D").as_unit(unit)

    def by_times(f):
        return (
            f.d.clip(low), f.d.clip(low, high), f.d.clip(high, low), f.d.clip(upper=low),
            f.waits.clip(wait), f.waits.clip(None, wait), f[["d"]].clip(low),
        )  # fmt: skip

    assert_parity(by_times, frame, ways=["eager", "jit"])
    assert_parity(
        lambda f: (f.d.clip("2024-01-02", "2024-01-03"), f.waits.clip("1D")), frame, ways=["eager"]
    )
    bounds = frame.assign(low=low, high=high).ffill()
    assert_parity(
        lambda f: (f.d.clip(f.low, f.high), f.d.clip(f.high, f.low)), bounds, ways=["eager", "jit"]
    )


def test_missing_bounds_of_any_type_have_no_effect():
    frame = mixed_frame()[["i", "x", "s", "t"]]
    for nothing in (pd.NaT, pd.NA, np.nan):
        assert_parity(lambda f, n=nothing: (f.clip(n), f.clip(upper=n)), frame, ways=["eager"])


def test_strings_with_bounds_in_the_wrong_order():
    assert_parity(lambda s: s.clip("p", "c"), pd.Series(["m", None, "a", "z"]))


def test_wrong_bounds():
    frame = mixed_frame()
    assert_same_error(lambda s: s.clip(0, 1), frame["s"])
    assert_same_error(lambda s: s.clip("a"), frame["x"])
    assert_same_error(lambda s: s.clip([1.0, 2.0]), frame["x"])
    assert_parity(lambda f: f.clip(pd.Series([1.0] * 37), axis=0), frame[["x"]], ways=["eager"])


def test_between_and_clip():
    def everything(f):
        return (
            f.x.between(-0.5, 1), f.i.between(-10, 500, inclusive="neither"),
            f.s.between("a", "c", inclusive="right"), f.x.between(f.f, 2.0, inclusive="left"),
            f.t.between(pd.Timestamp("1980-01-01"), pd.Timestamp("1999-01-01")),
            f.x.clip(-0.5, 0.5), f.i.clip(upper=3), f.i.clip(5, -5), f.y.clip(lower=f.x),
            f[["i", "x"]].clip(0, 1), f.f.clip(0.25),
        )  # fmt: skip

    assert_parity(everything, mixed_frame(), ways=["eager", "jit"])


def test_integers_stay_integers_where_no_bound_of_floats_lies_inside():
    frame = pd.DataFrame({"i": [3, 5], "low": [2.5, 5.0], "high": [4.5, np.nan]})
    for few in (frame, frame[:1], frame[:0]):
        assert_parity(
            lambda f: (f.i.clip(f.low, f.high), f.i.clip(upper=f.low), f.i.clip(lower=f.high)),
            few,
            ways=["eager"],
        )


def test_a_column_of_another_dtype_decides_the_dtype_by_its_values():
    frame = pd.DataFrame(
        {
            "x": np.array([1.5, np.nan, -2.0], "float32"), "i": np.array([5, -5, 100], "int8"),
            "u": np.array([5, 0, 200], "uint8"), "k": [1, 1, 2], "minus": [-1, -1, 0],
            "large": [2**40 + 1, 3, 3], "third": [0.1, 0.2, np.nan],
        }
    )  # fmt: skip
    numbers, bounds = ["x", "i", "u", "k"], ["i", "k", "minus", "large", "third"]
    for number, bound in itertools.product(numbers, bounds):
        if number == bound:
            continue
        for few in (frame, frame[1:]):
            assert_parity(
                lambda n, b: (n.clip(b), n.clip(upper=b), n.clip(b, 3), n.clip(-1, b)),
                few[number], few[bound], ways=["eager"],
            )  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_zeros_inside_keep_their_sign(dtype):
    zeros = pd.Series([-0.0, 0.0, -1.0, 1.0, np.nan], dtype=dtype)
    assert_parity(
        lambda s: (s.clip(0), s.clip(0.0, 1), s.clip(-1, 0), s.clip(-0.0), s.clip(upper=-0.0)),
        zeros,
    )


def test_a_number_bounds_what_a_column_has_bounded():
    frame = pd.DataFrame({"i": [1, 2, 9], "low": [5, 1, 5], "x": [0.5, 7.0, -0.0]})
    assert_parity(
        lambda f: (
            f.i.clip(f.low, 2.5), f.i.clip(f.low, 4), f.i.clip(3, f.low), f.x.clip(f.low, 0),
            f.x.clip(f.x, 0), f.i.clip(f.x, 3),
        ),
        frame,
        ways=["eager"],
    )  # fmt: skip
    times = pd.DataFrame(
        {
            "t": pd.to_datetime(["2020-01-01", "2020-01-05"]),
            "low": pd.to_datetime(["2020-01-03", "2020-01-09"]),
        }
    )
    middle = pd.Timestamp("2020-01-02")
    assert_parity(lambda f: (f.t.clip(f.low, middle), f.t.clip(middle, f.low)), times)


NUMBERS = {
    "int64": pd.Series([1, 9, 4]),
    "uint8": pd.Series([200, 3, 4], dtype="uint8"),
    "float64": pd.Series([1.5, np.nan, 8.0]),
    "bool": pd.Series([True, False, True]),
    "Int64": pd.Series([2, None, 9], dtype="Int64"),
    "UInt8": pd.Series([200, None, 3], dtype="UInt8"),
    "Float64": pd.Series([2.0, None, 7.5], dtype="Float64"),
    "boolean": pd.Series([True, None, False], dtype="boolean"),
    "int64[pyarrow]": pd.Series([2, None, 9], dtype="int64[pyarrow]"),
}


@pytest.mark.parametrize("bound", NUMBERS)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_bounds_of_another_dtype_leave_nullable_numbers_nullable(dtype, bound):
    for name in ("lower", "upper"):
        try:
            expected = NUMBERS[dtype].clip(**{name: NUMBERS[bound]})
        except (TypeError, ValueError):
            continue
        try:
            found = on_device(NUMBERS[dtype]).clip(**{name: on_device(NUMBERS[bound])})
        except TypeError as error:
            # Refused where the dtype of the result would depend on the rows.
            assert "Invalid values of dtype" in str(error)  # noqa: PT017
        else:
            assert_same(found, expected)


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "float64[pyarrow]"])
def test_a_bound_of_zero_leaves_nullable_numbers_nullable(dtype):
    numbers = pd.Series([-2, None, 3], dtype=dtype)
    for bounds in ((0, None), (None, 0), (0.0, None), (-1, 0)):
        assert_same(on_device(numbers).clip(*bounds), numbers.clip(*bounds))


def test_decimals_and_periods_have_bounds():
    cents = pd.Series([Decimal("1.50"), None], dtype=pd.ArrowDtype(pa.decimal128(5, 2)))
    for bound in (Decimal("1.10"), Decimal(2), 1):
        assert_same(on_device(cents).clip(upper=bound), cents.clip(upper=bound))
        assert_same(on_device(cents).clip(lower=bound), cents.clip(lower=bound))
    days = pd.Series(pd.PeriodIndex(["2020-01-01", "NaT", "2020-03-01"], freq="D"))
    bound = pd.Period("2020-02-01", freq="D")
    assert_same(on_device(days).clip(lower=bound), days.clip(lower=bound))


@pytest.mark.parametrize(
    ("dtype", "bounds", "error"),
    [
        ("Int64", (-2.25, None), TypeError),
        ("Int64", (None, 2.5), TypeError),
        ("Int64", (np.float32(-2.25), None), TypeError),
        ("Int8", (300, None), OverflowError),
        ("UInt8", (None, -3), OverflowError),
    ],
)
def test_nullable_integers_hold_the_bounds_that_replace_them(dtype, bounds, error):
    series = pd.Series(pd.array([9 if dtype[0] == "U" else -9, 3, None], dtype=dtype))
    with pytest.raises(error) as expected:
        series.clip(*bounds)
    with pytest.raises(error, match=re.escape(str(expected.value))):
        on_device(series).clip(*bounds)
    # A bound that replaces nothing is not looked at.
    assert_parity(lambda s: s.clip(-20.5, 300.5), series, ways=["eager"])
