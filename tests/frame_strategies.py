# SPDX-License-Identifier: Apache-2.0
"""Frames drawn by Hypothesis: each dtype with its awkward values, each kind of index.

A column is known by its name, which says its dtype, so that an operation can ask for it:

    i8 ... u64      integers with both extremes
    f32, f64        floats with NaN, both infinities, both zeros, great ones
    k               few int64 keys, one of them most often
    x, w            floats of which sums are exact in any order (multiples of 1/8), some missing
    y               few floats: NaN, infinities and both zeros
    b               bools
    s               strings: missing, empty, beyond ASCII
    t, d            datetimes and timedeltas with NaT
    c, o            categories without and with an order, more of them than are used
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

INTEGERS = {
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
}
FLOATS = {"f32": "float32", "f64": "float64"}
NUMBERS = (*INTEGERS, *FLOATS, "b")
COLUMNS = (*NUMBERS, "k", "x", "w", "y", "s", "t", "d", "c", "o")

STRINGS = ["", "a", "b", "Z", "é", "straße", "日本", " b ", "ab", "10"]
SOME_FLOATS = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.25]
CATEGORIES = ["w", "v", "é", "u"]
MOMENTS = ["NaT", "1970-01-01", "1969-12-31T23:59:59.999999", "2024-02-29T12:30:01", "1582-10-15"]
SPANS = ["NaT", "0us", "-1us", "1 days", "-3 days 02:00:00.000001", "90s"]
# All fit one capacity, so that eager programs are compiled once.
MOST_ROWS = 64
INDEXES = ("range", "shifted", "strings", "datetimes", "duplicates")


def special_values(column: str) -> list[Any]:
    """The values of a column that implementations trip over: drawn often."""
    if column in INTEGERS:
        info = np.iinfo(INTEGERS[column])
        return sorted({info.min, info.max, 0, 1, info.max - 1, 7, max(info.min, -1)})
    if column in FLOATS:
        info = np.finfo(FLOATS[column])
        return [*SOME_FLOATS, float(info.max) / 8, 1e-3, 3.0]
    return {
        "b": [False, True],
        "k": [0, 1, 2, -3, 40],
        "x": [np.nan, 0.0, 0.125, -7.5, 100.25, 3.0, 3.0],
        "w": [np.nan, 1.0, -0.5, 8.0],
        "y": SOME_FLOATS,
        "s": [None, *STRINGS],
        "t": [np.datetime64(moment, "us") for moment in MOMENTS],
        "d": list(pd.to_timedelta(SPANS).to_numpy().astype("m8[us]")),
        "c": [None, "v", "é", "u"],
        "o": [None, "v", "é", "u"],
    }[column]


def _values(column: str) -> st.SearchStrategy[Any]:
    special = st.sampled_from(special_values(column))
    if column in INTEGERS:
        info = np.iinfo(INTEGERS[column])
        return special | st.integers(int(info.min), int(info.max))
    if column in FLOATS:
        # Far from the least floats: XLA on CPU takes subnormal ones for zero.
        return special | st.floats(2**-20, 2**30, width=32 if column == "f32" else 64)
    if column in ("x", "w"):
        return special | st.integers(-8000, 8000).map(lambda eighths: eighths / 8)
    if column == "s":
        return special | st.text("abZ é", max_size=3)
    if column in ("t", "d"):
        letter = "M" if column == "t" else "m"
        moments = st.integers(-(10**15), 10**15)
        return special | moments.map(lambda count: np.array(count).astype(f"{letter}8[us]")[()])
    return special


def as_column(column: str, values: Sequence[Any]) -> Any:
    """Values as an array of pandas of the column's dtype."""
    if column in INTEGERS:
        return np.array(values, INTEGERS[column])
    if column in FLOATS:
        return np.array(values, FLOATS[column])
    if column == "s":
        return pd.array(list(values), dtype="str")
    if column in ("c", "o"):
        return pd.Categorical(list(values), categories=CATEGORIES, ordered=column == "o")
    dtype = {"b": bool, "k": np.int64, "x": float, "w": float, "y": float}
    times = {"t": "datetime64[us]", "d": "timedelta64[us]"}
    return np.array(list(values), dtype.get(column) or times[column])


@st.composite
def frames(
    draw: st.DrawFn,
    columns: Sequence[str] = COLUMNS,
    num_rows: st.SearchStrategy[int] | None = None,
    indexes: Sequence[str] = INDEXES,
) -> pd.DataFrame:
    """A frame of some columns: each takes its rows from a few drawn values, often the first."""
    sizes = st.sampled_from([0, 1, 2, 37, MOST_ROWS]) | st.integers(0, MOST_ROWS)
    size = draw(sizes if num_rows is None else num_rows)
    kind = draw(st.sampled_from(indexes))
    named, skewed = draw(st.booleans()), draw(st.booleans())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    data = {}
    for column in columns:
        pool = draw(st.lists(_values(column), min_size=1, max_size=6))
        if column not in ("k", "s", "c", "o") or size > 30:
            pool = [*pool, *special_values(column)]
        places = rng.integers(0, len(pool), size)
        if skewed:
            places[rng.random(size) < 0.8] = 0
        data[column] = as_column(column, [pool[place] for place in places])
    index = _index(kind, size, rng)
    index.name = "label" if named else None
    return pd.DataFrame(data, index=index, columns=pd.Index(list(columns), dtype="str"))


def _index(kind: str, size: int, rng: np.random.Generator) -> pd.Index:
    if kind == "range":
        return pd.RangeIndex(size)
    if kind == "shifted":
        return pd.RangeIndex(5, 5 - 2 * size, -2)
    if kind == "strings":
        return pd.Index([f"é{place}" for place in rng.permutation(size)], dtype="str")
    if kind == "datetimes":
        days = rng.permutation(size).astype("timedelta64[D]")
        return pd.DatetimeIndex((np.datetime64("2024-02-27", "us") + days).astype("M8[us]"))
    return pd.Index(rng.integers(0, 4, size))


def special_frame(
    columns: Sequence[str] = COLUMNS, num_rows: int = 61, seed: int = 0
) -> pd.DataFrame:
    """A frame of nothing but special values, each of them there if there is room.

    Frames of equal columns have equal dictionaries and capacities: one compiled program.
    """
    rng = np.random.default_rng(seed)
    data = {}
    for column in columns:
        values = special_values(column)
        places = np.concatenate([np.arange(len(values)), rng.integers(0, len(values), num_rows)])
        data[column] = as_column(
            column, [values[place] for place in rng.permutation(places[:num_rows])]
        )
    index = pd.Index(rng.integers(0, 9, num_rows), name=None if seed % 2 else "label")
    return pd.DataFrame(data, index=index, columns=pd.Index(list(columns), dtype="str"))
