# SPDX-License-Identifier: Apache-2.0
"""Times of two units, also past the range of the finer one: exact, or pandas' error."""

import datetime
import itertools
import operator

import jax
import jaxframes.frame as jf
import numpy as np
import pandas as pd
import pytest
from frame_parity import EVERYWHERE, assert_parity, assert_same, assert_same_error, on_device
from jaxframes.frame import JaxFrame, JaxSeries, col, from_pandas

UNITS = ("s", "ms", "us", "ns")
PAIRS = list(itertools.permutations(UNITS, 2))
NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
LATEST = 2**63 - 1
NAT = -(2**63)
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
NEAR = pd.DataFrame({"t": np.array(["2020-01-01", "2020-01-02"], "M8[ns]"), "a": [1, 2]})
FAR = pd.DataFrame({"t": np.array(["9999-12-31", "0001-01-01"], "M8[s]"), "b": [3, 4]})
SPANS = pd.DataFrame({"t": np.array([1, 2], "m8[ns]"), "a": [1, 2]})
LONG = pd.DataFrame({"t": np.array([10**10, -(10**10)], "m8[s]"), "b": [3, 4]})
# Times that pandas compares with a column of nanoseconds, inside and past its range.
SCALARS = [
    "9999-12-31", "0001-01-01", "2020-01-01", pd.Timestamp("9999-12-31"),
    pd.Timestamp("0001-01-01"), np.datetime64("9999-12-31"), np.datetime64("20000-01-01", "s"),
    np.datetime64("20000", "Y"), datetime.datetime(9999, 12, 31), pd.Timestamp.max,
    pd.Timestamp("2020-01-01").as_unit("s"),
]  # fmt: skip


def edges(unit: str) -> list[int]:
    """Counts at the ends of the ranges of a unit and of finer ones, around zero, and NaT."""
    counts = [0, 1, -1, LATEST, -LATEST, LATEST - 1, NAT]
    for finer in UNITS[UNITS.index(unit) + 1 :]:
        most = LATEST // (NANOSECONDS[unit] // NANOSECONDS[finer])
        counts += [most, most + 1, -most, -most - 1]
    for coarser in UNITS[: UNITS.index(unit)]:
        factor = NANOSECONDS[coarser] // NANOSECONDS[unit]
        counts += [factor, -factor, factor + 1, LATEST // factor * factor]
    return counts


def pairs_of_edges(a: str, b: str) -> tuple[list[int], list[int]]:
    left, right = zip(*itertools.product(edges(a), edges(b)), strict=True)
    return list(left), list(right)


def series(counts: list[int], unit: str, letter: str = "M") -> pd.Series:
    return pd.Series(np.array(counts, np.int64).view(f"{letter}8[{unit}]"), name="t")


def compared(op: str, a: list[int], b: list[int], units: tuple[str, str]) -> list[bool]:
    """The comparison in Python's integers of any size."""
    return [
        op == "ne"
        if NAT in (x, y)
        else getattr(operator, op)(x * NANOSECONDS[units[0]], y * NANOSECONDS[units[1]])
        for x, y in zip(a, b, strict=True)
    ]


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


def module_of(frame):
    return pd if isinstance(frame, pd.DataFrame) else jf


FIRST = {"M": FAR.t[0], "m": LONG.t[0]}
OVERFLOWS = {
    "concat": lambda a, b: module_of(a).concat([a, b]),
    "concat of series": lambda a, b: module_of(a).concat([a.t, b.t]),
    "concat of labels": lambda a, b: module_of(a).concat([a.set_index("t"), b.set_index("t")]),
    "concat of columns": lambda a, b: module_of(a).concat(
        [a.set_index("t"), b.set_index("t")], axis=1
    ),
    "join": lambda a, b: a.set_index("t").join(b.set_index("t")),
    "align": lambda a, b: a.set_index("t").a + b.set_index("t").b,
    "merge_ordered": lambda a, b: module_of(a).merge_ordered(
        a.sort_values("t"), b.sort_values("t"), on="t"
    ),
    "where": lambda a, b: a.t.where(a.t.isna(), b.t),
    "mask": lambda a, b: a.t.mask(a.t.notna(), b.t),
    "where of a row that is not far": lambda a, b: a.t.where([True, False], b.t),
    "case_when": lambda a, b: a.t.case_when([(a.t.notna(), b.t)]),
    "case_when of far times": lambda a, b: b.t.case_when([(b.t.isna(), a.t)]),
    "fillna": lambda a, b: a.t.where(a.t.isna()).fillna(b.t),
    "combine_first": lambda a, b: b.t.combine_first(a.t),
    "add": lambda a, b: b.t + pd.Timedelta(1, "ns"),
    "add NumPy's": lambda a, b: b.t + np.timedelta64(1, "ns"),
    "sub": lambda a, b: a.t - b.t,
    "sub reflected": lambda a, b: b.t - a.t,
    "sub of one": lambda a, b: a.t - FIRST[b.t.dtype.kind],
    "astype": lambda a, b: b.t.astype(a.t.dtype),
    "as_unit": lambda a, b: b.t.dt.as_unit("ns"),
    "searchsorted": lambda a, b: a.t.searchsorted(b.t.to_numpy()),
}


# pandas warns before it raises, or before it changes the unit.
changes_unit = pytest.mark.filterwarnings("ignore:'(Date|Time).*' is not supported as a fill value")


@changes_unit
@pytest.mark.parametrize("name", OVERFLOWS)
def test_a_conversion_past_the_range_is_an_error(name):
    operation = OVERFLOWS[name]
    message = assert_same_error(operation, NEAR, FAR)
    if name not in ("sub of one", "searchsorted"):
        assert message.startswith("Out of bounds nanosecond timestamp: ")
        assert message.endswith(". Convert the times to a coarser unit first, with astype.")
    # pandas' error for a choice of timedeltas is that of datetimes.
    with pytest.raises(pd.errors.OutOfBoundsTimedelta, match="Cannot c"):
        operation(on_device(SPANS), on_device(LONG))


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer"])
def test_a_merge_of_keys_past_the_range_is_an_error(how):
    for left, right in ((NEAR, FAR), (FAR, NEAR)):
        assert_same_error(lambda a, b: a.merge(b, on="t", how=how), left, right)
    with pytest.raises(pd.errors.OutOfBoundsTimedelta):
        on_device(SPANS).merge(on_device(LONG), on="t", how=how)


def test_a_time_that_no_row_needs_is_no_error():
    """Padding holds times past the range, too."""
    assert_parity(
        lambda a, b: (
            a.t.where(a.t.notna(), b.t),
            a.t.mask(a.t.isna(), FAR.t[0]),
            a.t.fillna(b.t),
            a.t.fillna("9999-12-31"),
            a.t.combine_first(b.t),
            b.t.where(b.t.isna(), a.t),
            b.t.map({FAR.t[0]: 1}),
        ),
        NEAR,
        FAR,
        ways=["eager"],
    )
    near_rows = FAR.assign(t=series([0, 1], "s"))
    padded = on_device(pd.concat([near_rows, FAR], ignore_index=True)).head(2)
    expected = near_rows.t.astype("M8[ns]")
    assert_same(padded.t.astype("M8[ns]").to_pandas(), expected)
    assert_same((padded.t + pd.Timedelta(0).as_unit("ns")).to_pandas(), expected)


@changes_unit
@pytest.mark.parametrize("units", PAIRS, ids="-".join)
def test_values_within_the_range_match_pandas(units):
    days = ["2020-01-01", "NaT", "2021-05-05T01:02:03", "1969-12-31T23:59:59"]
    a = pd.Series(np.array(days, f"M8[{units[0]}]"), name="t")
    b = pd.Series(np.array(days[::-1], f"M8[{units[1]}]"), name="t")
    odd = b + pd.Timedelta(1, units[1]).as_unit(units[1])

    def operations(x, y):
        return (
            x.where(x.notna(), y), x.where(x.isna(), y), x.mask(x.notna(), y), x.fillna(y),
            x.combine_first(y), x.case_when([(x.isna(), y)]), x - y, x + (y - y), x.isin(y),
            module_of(x.to_frame()).concat([x, y]),
            *(x.to_frame().merge(y.to_frame(), on="t", how=how) for how in ("inner", "left")),
        )  # fmt: skip

    assert_parity(operations, a, b, ways=["eager"])
    assert_parity(operations, a, odd, ways=["eager"])


def test_sums_past_the_range():
    ends = pd.DataFrame(
        {"t": series([LATEST, -LATEST], "ns"), "d": series([LATEST, -LATEST], "ns", "m")}
    )
    for operation in (
        lambda f: f.t + pd.Timedelta(1, "D"), lambda f: f.d + f.d, lambda f: f.t.diff(),
        lambda f: f.d.diff(), lambda f: f.t - pd.Timestamp.min, lambda f: f.d - pd.Timedelta(1),
        lambda f: f.d * 4, lambda f: f.d * 4.0, lambda f: f.d * np.inf, lambda f: f.d / 0.5,
        lambda f: f.d // 0.5, lambda f: f.d * np.uint64(2**63), lambda f: f.d % 0.5,
        lambda f: f.assign(k=1).groupby("k").t.diff(),
    ):  # fmt: skip
        assert_same_error(operation, ends)
    assert_parity(
        lambda f: (
            f.d * -1,
            f.d * 1.0,
            f.d / 2,
            f.d // 3,
            f.d - f.d,
            f.d * 0,
            f.d / 0,
            f.d * np.nan,
        ),
        ends[["d"]] // 2,
    )


def test_inside_jit_a_time_past_the_range_is_missing():
    frame = JaxFrame(
        {"a": series([0, LATEST], "ns"), "b": FAR.t, "d": series([1, LATEST], "ns", "m")}
    )

    def traced(f):
        return {
            "sub": f.a - f.b, "add": f.a + f.d, "mul": f.d * 2, "float": f.d * 2.0,
            "where": f.a.where(f.a != f.a, f.b), "astype": f.b.astype("M8[ns]"),
            "as_unit": f.b.dt.as_unit("ns"), "concat": jf.concat([f.a, f.b]).tail(2),
        }  # fmt: skip

    result = {name: one.isna().tolist() for name, one in jax.jit(traced)(frame).items()}
    some = {"add", "mul", "float"}
    assert result == {name: [name not in some, True] for name in result}


@pytest.mark.parametrize("units", [("s", "ns"), ("ns", "s"), ("ms", "us")], ids="-".join)
@pytest.mark.parametrize("letter", ["M", "m"])
@pytest.mark.parametrize("how", ["inner", "left", "right"])
def test_inside_jit_joins_are_exact_at_the_ends_of_all_ranges(units, letter, how):
    counts = [sorted({*edges(unit)}) for unit in units]
    sides = [
        pd.DataFrame({"t": series(some, unit, letter), name: range(len(some))})
        for some, unit, name in zip(counts, units, "xy", strict=True)
    ]
    # Integers of any size, and a string for NaT, which equals NaT.
    keys = [
        ["NaT" if count == NAT else count * NANOSECONDS[unit] for count in some]
        for some, unit in zip(counts, units, strict=True)
    ]
    pairs = zip(sides, keys, strict=True)
    exact = [side.assign(t=pd.Series(key, dtype=object)) for side, key in pairs]
    expected = exact[0].merge(exact[1], on="t", how=how)[["x", "y"]]
    capacity = len(sides[0]) + len(sides[1])
    merge = jax.jit(lambda a, b: a.merge(b, on="t", how=how, capacity=capacity)[["x", "y"]])
    got = merge(*map(on_device, sides)).to_pandas()
    assert_same(got, expected)


def test_isin_times_of_other_units():
    near, far = NEAR.t, FAR.t
    mixed = [near[0], far[0], datetime.datetime(2020, 1, 2), np.datetime64("NaT", "s")]
    assert_parity(
        lambda s: (s.isin([near[0], far[0]]), s.isin(mixed[:3]), s.isin(["9999-12-31"])), near
    )
    assert_parity(lambda s: (s.isin([far[0], near[0]]), s.isin([pd.NaT, near[0], far[0]])), far)
    # Exact in place of pandas' error.
    assert on_device(near).isin([far[0]]).tolist() == [False, False]
    assert on_device(far).isin(far.tolist()[:1] + near.tolist()).tolist() == [True, False]
    for units in PAIRS:
        left, right = edges(units[0]), edges(units[1])
        known = {count * NANOSECONDS[units[1]] for count in right if count != NAT}
        expected = [c == NAT or c * NANOSECONDS[units[0]] in known for c in left]
        for letter in "Mm":
            a, b = (
                on_device(series(c, u, letter)) for c, u in zip((left, right), units, strict=True)
            )
            assert a.isin(b).tolist() == expected
            assert jax.jit(lambda a, b: a.isin(b))(a, b).tolist() == expected
            assert a.isin(b.to_pandas()).tolist() == expected


def test_searches_between_units():
    seconds = series([1, 2, 3], "s")
    assert_parity(
        lambda s: (
            s.searchsorted(pd.Timestamp(2, unit="s").as_unit("ns")),
            s.searchsorted(np.array([0, 2000, 9000], "M8[ms]"), side="right"),
        ),
        seconds,
        ways=["eager"],
    )
    message = assert_same_error(lambda s: s.searchsorted(np.array([1500], "M8[ms]")), seconds)
    assert message.startswith("Cannot losslessly c")
    assert_same_error(lambda s: s.searchsorted(FAR.t[0]), NEAR.t)


def test_asof_past_the_range_of_the_labels():
    labelled = JaxSeries(pd.Series([1, 2], index=pd.DatetimeIndex(series([-LATEST, LATEST], "ns"))))
    assert labelled.asof(FAR.t[0]) == 2
    assert np.isnan(labelled.asof(FAR.t[1]))


def test_times_of_numpy_of_other_units():
    for unit in ("D", "h", "m", "W", "M", "Y"):
        for letter in "Mm":
            assert_parity(lambda s: s, pd.Series(np.array([3, -3, NAT], f"{letter}8[{unit}]")))
            with pytest.raises(ValueError, match=r"Out of bounds|Cannot convert"):
                JaxSeries(np.array([2**60], f"{letter}8[{unit}]"))
    for unit in ("ps", "fs", "as"):
        values = np.array([10**15 + 1, NAT], f"M8[{unit}]")
        assert_same(JaxSeries(values).to_pandas(), pd.Series(values))
    with pytest.raises(ValueError, match="multiplier"):
        JaxSeries(np.array([5], "M8[10s]"))


def test_streams_join_keys_of_two_units_at_the_ends_of_their_ranges():
    counts = [c for c in edges("us") if abs(c) <= LATEST // 1000]
    micros = pd.DataFrame({"t": series(counts, "us"), "x": range(len(counts))})
    nanos = pd.DataFrame({"t": micros.t.astype("M8[ns]")[::-1], "y": range(len(counts))})
    plan = from_pandas(micros).lazy().merge(from_pandas(nanos).lazy(), on="t", how="inner")
    expected = micros.merge(nanos, on="t", how="inner")
    assert_same(plan.collect(batch_rows=2).to_pandas(), expected)
    far = from_pandas(FAR).lazy().merge(from_pandas(NEAR).lazy(), on="t")
    for options in ({}, {"batch_rows": 1}):
        with pytest.raises(pd.errors.OutOfBoundsDatetime):
            far.collect(**options)
