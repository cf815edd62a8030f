# SPDX-License-Identifier: Apache-2.0
"""Times past the range of the finer unit are pandas' error, or NaT inside `jit`."""

import jax
import jaxframes.frame as jf
import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_parity, assert_same, assert_same_error, on_device
from jaxframes.frame import JaxFrame, JaxSeries
from times_of_units import (
    FAR,
    LATEST,
    LONG,
    NANOSECONDS,
    NAT,
    NEAR,
    PAIRS,
    SPANS,
    edges,
    module_of,
    series,
)

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
    # pandas converts the others as well, and raises.
    mixed = JaxSeries(np.array(["9999", "2020"], "M8[s]"))
    chosen = on_device(NEAR).t.where(np.array([True, False]), mixed)
    assert chosen.tolist() == [NEAR.t[0], pd.Timestamp("2020")]
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
