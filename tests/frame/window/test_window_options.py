# SPDX-License-Identifier: Apache-2.0
"""Windows with each combination of their options."""

import itertools
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from frame_parity import Bound, assert_parity, assert_same, assert_same_error, on_device

nan, inf = np.nan, np.inf
# Some missing, some infinite, some equal.
ROWS = pd.DataFrame(
    {
        "x": [1.0, -2, 4, 8, -16, 32, 64, -128],
        "gaps": [1, nan, nan, 8, 16, nan, 64, 3],
        "inf": [2, nan, inf, 3, 3, nan, -inf, 3],
        "i": [1, 2, 4, 8, 16, 3, 64, 12],
    }
)
CLOSED = ("right", "left", "both", "neither")
OPTIONS = [
    {"center": center, "closed": closed, "min_periods": least}
    for center, closed, least in itertools.product((False, True), CLOSED, (0, 1, None))
]
EXACT = ("min", "max", "count", "median", "first", "last", "nunique")
# pandas adds and subtracts the powers of values that enter and leave.
CLOSE = Bound(2**14, 1000.0)


def exact(windows):
    return tuple(getattr(windows, name)() for name in EXACT)


def rounded(windows):
    names = ("sum", "mean", "var", "std", "sem", "skew", "kurt")
    return *(getattr(windows, name)() for name in names), windows.quantile(0.3), windows.sem(0)


def assert_each(windows, rows, options=OPTIONS):
    """All methods of windows; those of one kind are computed in one way."""
    ours = on_device(rows)
    for one in options:
        assert_same(exact(windows(ours, one)), exact(windows(rows, one)))
        assert_same(rounded(windows(ours, one)), rounded(windows(rows, one)), CLOSE)


@pytest.mark.parametrize("width", range(7))
def test_rows_by_every_pair_of_options(width):
    options = [one for one in OPTIONS if (one["min_periods"] or 0) <= width]
    assert_each(lambda f, one: f.rolling(width, **one), ROWS, options)


@pytest.mark.parametrize("num_rows", [0, 1, 2])
def test_fewer_rows_than_a_window(num_rows):
    for width in (3, 4):
        assert_each(lambda f, one, w=width: f.rolling(w, **one), ROWS[:num_rows], OPTIONS[::5])


def test_spans_of_time_by_every_pair_of_options():
    """These methods tell which rows a window holds, and which count."""

    def some(windows):
        return windows.sum(), windows.count(), windows.max(), windows.sem()

    for hours in ([0, 1, 2, 3, 4, 5, 6, 7], [-9, -3, -3, -2, 0, 0, 6, 20]):
        times = pd.to_datetime("1970-01-01") + pd.to_timedelta(hours, unit="h")
        rows = ROWS[["x", "inf"]].set_axis(pd.DatetimeIndex(times), axis=0)
        ours = on_device(rows)
        for span, one in itertools.product(("1h", "2h", "4h"), OPTIONS):
            if one["center"] and span == "1h":
                continue
            assert_same(some(ours.rolling(span, **one)), some(rows.rolling(span, **one)), CLOSE)


def test_groups_by_every_pair_of_options():
    rows = ROWS[["x", "inf"]].assign(k=[0, 1, 0, 1, 2, 2, 0, 0])
    for width in (2, 3, 4):
        assert_each(lambda f, one, w=width: f.groupby("k").rolling(w, **one), rows, OPTIONS[1::3])


@pytest.mark.parametrize("least", [0, 1, 2, 5])
def test_expanding(least):
    assert_each(lambda f, _: f.expanding(least), ROWS, [{}])


def test_covariances_by_every_pair_of_options():
    def found(f):
        windows = [f.inf.rolling(w, **one) for w in (2, 3, 4, 5) for one in OPTIONS[2:]]
        return tuple(one for w in windows for one in (w.cov(f.gaps), w.corr(f.gaps)))

    assert_parity(found, ROWS, ways=["eager"], ulps=CLOSE)


def test_ranks_are_those_of_the_last_value_of_the_window():
    """pandas' own repeats the rank of the window before if no value enters."""
    for column, width in itertools.product(("inf", "i"), (1, 3, 4, 6)):
        for one in OPTIONS[1::3]:
            windows = ROWS[column].rolling(width, **one)
            expected = windows.apply(lambda window: window.rank().iloc[-1])
            assert_same(on_device(ROWS[column]).rolling(width, **one).rank(), expected)
    assert_same(
        on_device(ROWS.x[:1]).rolling(1, min_periods=0, closed="left").rank(), ROWS.x[:1] * nan
    )


@pytest.mark.parametrize("way", ["jit", "mesh"])
def test_centered_windows_without_their_ends(way):
    def found(f):
        options = {"min_periods": 1, "center": True, "closed": "neither"}
        windows = [f.rolling(3, **options), f.groupby("k")[["x", "inf"]].rolling(4, **options)]
        return tuple(one for w in windows for one in (w.sum(), w.mean(), w.min(), w.max(), w.sem()))

    rows = ROWS[["x", "inf"]].assign(k=[0, 1, 0, 1, 2, 2, 0, 0])
    assert_parity(found, rows, ways=[way], ulps=CLOSE, num_devices=4)


def test_windows_of_plans():
    rows = ROWS[["x", "inf"]]
    for width in (3, 4):
        options = {"min_periods": 1, "center": True, "closed": "neither"}
        plan, expected = (
            on_device(rows).lazy().rolling(width, **options),
            rows.rolling(width, **options),
        )
        for name in ("sum", "mean", "min", "max"):
            assert_same(getattr(plan, name)().collect(), getattr(expected, name)(), CLOSE)


def test_standard_errors_count_values_alone():
    x = pd.Series([1, nan, 3, 4, 5.0])
    assert_parity(
        lambda s: (s.rolling(3, min_periods=1).sem(), s.expanding(1).sem(),
                   s.to_frame().rolling(2, 1).sem(),
                   s.groupby([0, 0, 0, 1, 1]).rolling(3, 1).sem()),
        x, ways=["eager"], ulps=CLOSE,
    )  # fmt: skip


def test_powers_of_two_show_which_rows_a_window_holds():
    x = pd.Series([1.0, 2, 4, 8, 16, 32])
    for width in (3, 4):
        assert_parity(
            lambda s, w=width: s.rolling(w, min_periods=1, center=True, closed="neither").sum(), x
        )


@pytest.mark.parametrize(
    "values",
    [[1, 2, None, 4], ["1", "2", "5"], [True, False, True], [Decimal("1.5"), Decimal(2), None], []],
)
def test_objects_that_are_numbers_are_floats(values):
    series = pd.Series(values, dtype=object)

    def reduced(s):
        pairs = s.rolling(3).corr(s), s.ewm(alpha=0.4).cov(s)
        return s.rolling(2).sum(), s.expanding().mean(), s.ewm(alpha=0.5).mean(), *pairs

    assert_parity(reduced, series, ways=["eager"], ulps=CLOSE)
    assert_parity(lambda f: f.rolling(2).max(), pd.DataFrame({"a": series}), ways=["eager"])
    for word in ("x", pd.NA):
        mixed = pd.Series([1, word, 2], dtype=object)
        assert_same_error(lambda s: s.rolling(2).sum(), mixed)
