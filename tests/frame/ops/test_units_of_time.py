# SPDX-License-Identifier: Apache-2.0
"""Comparisons of times of two units are exact, also past the range of the finer one."""

import datetime
import itertools
import operator

import jax
import jaxframes.frame as jf
import numpy as np
import pandas as pd
import pytest
from frame_parity import EVERYWHERE, assert_parity, assert_same, assert_same_error, on_device
from jaxframes.frame import JaxFrame, JaxSeries, col
from times_of_units import (
    FAR,
    LONG,
    NANOSECONDS,
    NAT,
    NEAR,
    PAIRS,
    SPANS,
    UNITS,
    edges,
    series,
)

COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
# Times that pandas compares with a column of nanoseconds, inside and past its range.
SCALARS = [
    "9999-12-31", "0001-01-01", "2020-01-01", pd.Timestamp("9999-12-31"),
    pd.Timestamp("0001-01-01"), np.datetime64("9999-12-31"), np.datetime64("20000-01-01", "s"),
    np.datetime64("20000", "Y"), datetime.datetime(9999, 12, 31), pd.Timestamp.max,
    pd.Timestamp("2020-01-01").as_unit("s"),
]  # fmt: skip


def pairs_of_edges(a: str, b: str) -> tuple[list[int], list[int]]:
    left, right = zip(*itertools.product(edges(a), edges(b)), strict=True)
    return list(left), list(right)


def compared(op: str, a: list[int], b: list[int], units: tuple[str, str]) -> list[bool]:
    """The comparison in Python's integers of any size."""
    return [
        op == "ne"
        if NAT in (x, y)
        else getattr(operator, op)(x * NANOSECONDS[units[0]], y * NANOSECONDS[units[1]])
        for x, y in zip(a, b, strict=True)
    ]


def test_small_cases():
    second = np.array(["2020-01-01"], "M8[s]")
    wrapped = (second.astype("i8") + 2**55).astype("M8[s]")
    assert_parity(lambda a, b: (a < b, b < a), NEAR.t, FAR.t, ways=["eager"])
    assert_parity(lambda a, b: a < b, SPANS.t, LONG.t, ways=["eager"])
    assert not (JaxSeries(second.astype("M8[ns]")) == JaxSeries(wrapped)).any()


@pytest.mark.parametrize("units", PAIRS, ids="-".join)
@pytest.mark.parametrize("letter", ["M", "m"])
def test_comparisons_are_exact_at_the_ends_of_all_ranges(units, letter):
    left, right = pairs_of_edges(*units)
    frame = JaxFrame({"x": series(left, units[0], letter), "y": series(right, units[1], letter)})

    def compare(f):
        return {op: getattr(f.x, op)(f.y) for op in COMPARISONS}

    eager, traced = compare(frame), jax.jit(compare)(frame)
    for op in COMPARISONS:
        expected = compared(op, left, right, units)
        assert eager[op].tolist() == expected, op
        assert traced[op].tolist() == expected, op


def test_comparisons_that_are_computed_later():
    left, right = pairs_of_edges("s", "ns")
    repeats = -(-(2**15) // len(left))
    frame = JaxFrame({"x": series(left * repeats, "s"), "y": series(right * repeats, "ns")})
    for a, b, units in ((frame.x, frame.y, ("s", "ns")), (frame.y, frame.x, ("ns", "s"))):
        x, y = (left, right) if units[0] == "s" else (right, left)
        expected = compared("lt", x, y, units)
        assert ((a < b) & (a == a)).tolist() == expected * repeats


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("other", UNITS)
def test_comparisons_with_one_time_at_the_ends_of_all_ranges(unit, other):
    counts = edges(unit)
    frame = JaxSeries(series(counts, unit))
    for count in edges(other):
        if count == NAT:
            continue
        scalar = pd.Timestamp(np.datetime64(count, other))
        for op in COMPARISONS:
            expected = compared(op, counts, [count] * len(counts), (unit, other))
            assert getattr(frame, op)(scalar).tolist() == expected, (count, op)
            reflected = getattr(operator, op)(scalar, frame)
            expected = compared(op, [count] * len(counts), counts, (other, unit))
            assert reflected.tolist() == expected, (count, op)


@pytest.mark.parametrize("scalar", SCALARS, ids=repr)
def test_one_time_past_the_range_compares_as_in_pandas(scalar):
    assert_parity(
        lambda f: tuple(getattr(f.t, op)(scalar) for op in COMPARISONS),
        NEAR,
        ways=EVERYWHERE,
    )
    assert_parity(lambda f: (f[f.t < scalar], f.t.between("2000", scalar)), NEAR)
    limit = {"limit": scalar}
    assert_parity(lambda f: f.query("t < @limit", local_dict=limit), NEAR, ways=["eager"])
    plan = on_device(NEAR).lazy()
    kept = plan[(col("t") < scalar) & (col("a") > 0)].collect()
    assert_same(kept.to_pandas(), NEAR[NEAR.t < scalar])


def test_a_filter_of_a_file_by_a_time_past_the_range(tmp_path):
    path = tmp_path / "near.parquet"
    NEAR.to_parquet(path)
    for scalar in SCALARS:
        kept = jf.scan_parquet(path)[col("t") < scalar]
        expected = NEAR[NEAR.t < scalar].reset_index(drop=True)
        assert_same(kept.collect().to_pandas().reset_index(drop=True), expected)
        in_batches = kept.collect(batch_rows=1).to_pandas().reset_index(drop=True)
        assert_same(in_batches, expected)


def test_times_that_are_none_of_the_calendar():
    for operation in (lambda f: f.t < "10000-01-01", lambda f: f.t < datetime.date(9999, 12, 31)):
        assert_same_error(operation, NEAR)
    assert_parity(lambda f: (f.t == "10000-01-01", f.t != datetime.date(9999, 12, 31)), NEAR)
    with pytest.raises(pd.errors.OutOfBoundsDatetime, match="Out of bounds second timestamp"):
        on_device(NEAR).t.eq(np.datetime64(10**15, "D"))
