# SPDX-License-Identifier: Apache-2.0
"""searchsorted."""

import bisect

import jax
import numpy as np
import pandas as pd
import pytest
from exact_numbers import KEYS, NUMBERS, as_python
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device
from jaxframes.frame import JaxSeries
from jaxframes.shardings import make_mesh, row_sharded


def test_the_side_tells_equal_values_apart():
    values = pd.Series([1.0, 2.0, 2.0, 5.0], index=list("dcba"))
    assert_parity(
        lambda s: (
            s.searchsorted(2.0),
            s.searchsorted(2.0, side="right"),
            s.searchsorted([0.0, 9.0, np.inf, -np.inf, np.nan]),
            s[:0].searchsorted([1.0]),
        ),
        values,
        ways=["eager"],
    )
    assert_parity(lambda s: s.searchsorted([2.0, 0.0], "right"), values, ways=["jit"])


def test_counts_the_values_below_and_up_to_it():
    column = on_device(mixed_frame()).i.sort_values()
    for value in (-300, int(column.iloc[7])):
        assert column.searchsorted(value) == (column < value).sum()
        assert column.searchsorted(value, side="right") == (column <= value).sum()


def test_wrong_uses_are_pandas_errors():
    values = pd.Series([1, 2])
    assert_same_error(lambda s: s.searchsorted(1, side="middle"), values)
    assert_same_error(lambda s: s.searchsorted(), values)
    with pytest.raises(NotImplementedError, match="sorter"):
        JaxSeries([2, 1]).searchsorted(1, sorter=[1, 0])


def test_places_in_sorted_values():
    numbers = pd.Series([1, 2, 2, 4])
    assert_parity(
        lambda s: (
            s.searchsorted(2),
            s.searchsorted([2, 0, 9], side="right"),
            s.searchsorted(2.5),
        ),
        numbers,
        ways=["eager"],
    )
    assert_parity(lambda s: (s.searchsorted("b"), s.searchsorted(["a", "c", "d"], side="right")),
                  pd.Series(["a", "c", "c"]), ways=["eager"])  # fmt: skip
    times = pd.Series(pd.to_datetime(["2020-01-01", "2021-01-01"]))
    assert_parity(lambda s: s.searchsorted(pd.Timestamp("2020-06-01")), times, ways=["eager"])
    sizes = pd.Series(pd.Categorical(["s", "s", "l"], ["s", "m", "l"], ordered=True))
    assert_parity(lambda s: (s.searchsorted("m"), s.searchsorted(["s", "l"], side="right")), sizes,
                  ways=["eager"])  # fmt: skip


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_no_number_is_rounded(dtype, side):
    values = NUMBERS[dtype]
    ours = JaxSeries(values)
    insert = bisect.bisect_left if side == "left" else bisect.bisect_right
    expected = [insert(values.tolist(), as_python(key)) for key in KEYS]
    assert [ours.searchsorted(key, side=side) for key in KEYS] == expected
    assert ours.searchsorted(KEYS, side=side).tolist() == expected
    on_mesh = on_device(pd.Series(values), row_sharded(make_mesh(3)))
    assert on_mesh.searchsorted(KEYS, side=side).tolist() == expected
    for keys in NUMBERS.values():
        expected = [insert(values.tolist(), key) for key in keys.tolist()]
        assert ours.searchsorted(keys, side=side).tolist() == expected


def test_past_the_range_of_the_dtype():
    values = pd.Series([1, 2])
    assert_parity(
        lambda s: (s.searchsorted(2**64), s.searchsorted(-(2**70))), values, ways=["eager"]
    )
    assert_parity(
        lambda s: s.searchsorted(np.array([np.nan, 0.5, np.inf, -np.inf])), values, ways=["eager"]
    )
    for wrong in ([1, None], None, pd.Timestamp(0)):
        assert_same_error(lambda s: s.searchsorted(wrong), values)  # noqa: B023
    with pytest.raises(TypeError, match="searchsorted: values for a series of int64 must be num"):
        JaxSeries(values).searchsorted(1j)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("kind", ["times", "zoned", "spans", "periods"])
def test_missing_times_are_last(kind, side):
    times = pd.Series(list(pd.date_range("2020", periods=3)) + [pd.NaT] * 2)
    series = {
        "times": times,
        "zoned": times.dt.tz_localize("UTC"),
        "spans": times - times[0],
        "periods": times.dt.to_period("D"),
    }[kind]
    wanted = [series[1], pd.NaT, series[0], series[2]]
    ours = JaxSeries(series)
    np.testing.assert_array_equal(
        ours.searchsorted(wanted, side=side), series.searchsorted(wanted, side=side)
    )
    assert ours.searchsorted(pd.NaT, side=side) == series.searchsorted(pd.NaT, side=side)
    inside = jax.jit(lambda s: s.searchsorted(wanted[0], side=side))(ours)
    assert inside == series.searchsorted(wanted[0], side=side)


def test_periods():
    months = pd.Series(pd.period_range("2020-01", periods=4, freq="M"))
    ours = JaxSeries(months)
    for value in ("2020-03", ["2020-03"], pd.Period("2020-02", "M"), months):
        np.testing.assert_array_equal(ours.searchsorted(value), months.searchsorted(value))
    for value in (pd.Period("2020-03", "D"), 3, pd.Timestamp("2020-03-01")):
        assert_same_error(lambda s: s.searchsorted(value), months)  # noqa: B023


@pytest.mark.parametrize("dtype", ["str", "string", "Int64", "Float64"])
def test_missing_values_that_cannot_be_sorted(dtype):
    series = pd.Series(["1", "2", None]).astype("str" if dtype == "str" else "string")
    series = series if dtype in ("str", "string") else series.astype(dtype)
    with pytest.raises(ValueError, match="impossible with NAs present"):
        series.searchsorted(series[0])
    with pytest.raises(ValueError, match=r"impossible with NAs present\. Drop the missing"):
        JaxSeries(series).searchsorted(series[0])
