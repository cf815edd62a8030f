# SPDX-License-Identifier: Apache-2.0
"""to_timedelta."""

import datetime

import jax
import numpy as np
import pandas as pd
import pytest
from frame_operations import functions_for
from frame_parity import assert_parity, assert_same, assert_same_error, on_device
from jaxframes.frame import JaxSeries, to_timedelta

SPANS = ["1 days", "2h", None, "-00:00:01.5", "1 days", "3us"]


def spans_of(data, *args, **options):
    return functions_for(data).to_timedelta(data, *args, **options)


def test_strings():
    for words in (SPANS, ["1ns", "2D"], [None], ["nat", "P1DT2H"]):
        assert_parity(spans_of, pd.Series(words, dtype="str", name="d"), ways=["eager", "mesh"])
    assert_parity(spans_of, pd.Series(SPANS), ways=["jit"])
    assert_parity(spans_of, pd.Series(SPANS, dtype="category"), ways=["eager"])
    assert_parity(lambda s: spans_of(s, errors="coerce"), pd.Series(["x", "1h"]), ways=["eager"])
    assert_parity(spans_of, pd.Series([], dtype="str"), ways=["eager"])


@pytest.mark.parametrize("dtype", ["int8", "uint32", "int64"])
def test_integers_count_units(dtype):
    assert_parity(
        lambda s: (
            spans_of(s), *(spans_of(s, unit) for unit in ("W", "D", "hours", "min", "us", "ns"))
        ),
        pd.Series([0, 7, 100], dtype=dtype, name="n"),
        ways=["eager"],
    )  # fmt: skip
    assert_parity(lambda s: spans_of(s, "s"), pd.Series([0, 5], dtype=dtype), ways=["jit", "mesh"])


def test_integers_that_do_not_fit():
    for values in ([1, 2**62], [-(2**62), 3], np.array([5, 2**63], np.uint64)):
        series = pd.Series(values)
        assert_same_error(lambda s: spans_of(s, "s"), series)
        assert_parity(lambda s: spans_of(s, "s", "coerce"), series, ways=["eager"])


@pytest.mark.parametrize(
    "values",
    [
        [datetime.timedelta(hours=1), None, datetime.timedelta(microseconds=-5)],
        [pd.Timedelta(1, "ns"), pd.NaT],
        ["1h", None, datetime.timedelta(1)],
        ["1h", "bogus"],
        [None, None],
        [datetime.date(2020, 1, 1)],
        [],
    ],
)
def test_objects(values):
    series = pd.Series(values, dtype=object, name="d")
    for options in ({}, {"errors": "coerce"}):
        try:
            spans_of(series, **options)
        except (TypeError, ValueError):
            assert_same_error(lambda s, o=options: spans_of(s, **o), series)
        else:
            assert_parity(lambda s, o=options: spans_of(s, **o), series, ways=["eager", "mesh"])


def test_what_pandas_takes():
    spans = pd.to_timedelta(pd.Series(SPANS))
    assert_parity(spans_of, spans, ways=["eager"])
    assert to_timedelta("1h") == pd.Timedelta("1h")
    assert to_timedelta(5, "s") == pd.Timedelta(5, unit="s")
    for arg in (["1h", "2h"], pd.Index(["1h"]), np.array([1, 2]), [datetime.timedelta(hours=1)]):
        pd.testing.assert_index_equal(to_timedelta(arg), pd.to_timedelta(arg))


def test_wrong_uses_are_pandas_errors():
    words, numbers = pd.Series(SPANS), pd.Series([1, 2])
    assert_same_error(spans_of, pd.Series(["bogus"]))
    assert_same_error(lambda s: spans_of(s, unit="s"), words)
    assert_same_error(lambda s: spans_of(s, unit="M"), numbers)
    assert_same_error(lambda s: spans_of(s, errors="ignore"), numbers)
    assert_same_error(spans_of, pd.Series([True]))
    assert_same_error(spans_of, pd.to_datetime(numbers))
    assert_same_error(spans_of, numbers.to_frame())


def test_values_of_the_host_go_to_rows_by_position():
    for given in (SPANS, np.array([1, 2]), pd.Index(SPANS)):
        pd.testing.assert_index_equal(to_timedelta(given), pd.to_timedelta(given))
    frame = on_device(pd.DataFrame({"x": [1, 2]}, index=[5, 4]))
    frame["d"] = to_timedelta(["1h", "2h"])
    assert frame.d.tolist() == list(pd.to_timedelta(["1h", "2h"]))


@pytest.mark.filterwarnings("ignore:to_timedelta of floats:pandas.errors.PerformanceWarning")
@pytest.mark.parametrize("values", [[1.5, None], [1.0, 2.0], [None, None]])
@pytest.mark.parametrize("dtype", ["float64", "Float64"])
def test_floats(values, dtype):
    floats = pd.Series(values, index=[5, 6], name="q", dtype=dtype)
    for unit in ("D", "s"):
        assert_same(to_timedelta(JaxSeries(floats), unit=unit), pd.to_timedelta(floats, unit=unit))
    with pytest.raises(NotImplementedError, match="to_timedelta of floats needs rows on the host"):
        jax.jit(to_timedelta)(JaxSeries(floats))
