# SPDX-License-Identifier: Apache-2.0
"""Arrow tables for the tests that compare modes: awkward dtypes, and where their holes lie.

A kind of column is a dtype; `u8h` is `u8` with holes, as Arrow and Parquet have them. pandas shows
holes in integers as float64 and in bools as objects, so does the default frame.
"""

import datetime
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

_INTEGERS = {f"{sign}{bits}": pa.type_for_alias(f"{name}{bits}")
             for sign, name in (("i", "int"), ("u", "uint")) for bits in (8, 64)}  # fmt: skip
_FLOATS = {"f32": pa.float32(), "f64": pa.float64()}
UNITS = ("s", "ms", "us", "ns")
_TIMES = {
    **{f"t{unit}": pa.timestamp(unit) for unit in UNITS},
    **{f"d{unit}": pa.duration(unit) for unit in UNITS},
}
# Clocks of the first change by an hour, those of the second by half an hour.
_ZONED = {
    "zus": pa.timestamp("us", "Europe/Berlin"), "zns": pa.timestamp("ns", "Australia/Lord_Howe"),
}  # fmt: skip
# Dtypes of Arrow, which metadata of the table name, and periods, an extension type of Arrow.
ARROW = {"D": "date32[day][pyarrow]", "T": "time64[us][pyarrow]"}
PERIOD = "P"
# pandas has bytes as objects.
_OBJECTS = [b"a", b"b", b"\xff", b""]
CATEGORIES = ["w", "v", "é", "u"]

TYPES: dict[str, pa.DataType] = {
    "k": pa.int64(),
    **_INTEGERS,
    **_FLOATS,
    "b": pa.bool_(),
    "s": pa.string(),
    **_TIMES,
    **_ZONED,
    "y": pa.binary(),
    "c": pa.dictionary(pa.int8(), pa.string()),
    "o": pa.dictionary(pa.int8(), pa.string(), ordered=True),
}
# Those of pandas' nullable dtypes, which metadata of the table name.
NULLABLE = {"I8": "Int8", "U64": "UInt64", "I64": "Int64", "F64": "Float64", "B": "boolean",
            "S": "string"}  # fmt: skip
# `k` is a key: it has few values.
KINDS = (*TYPES, *(f"{kind}h" for kind in TYPES if kind != "k"))
NULLABLE_KINDS = (*NULLABLE, *(f"{kind}h" for kind in NULLABLE))
LABELLED_KINDS = tuple(f"{kind}{holes}" for kind in (*ARROW, PERIOD) for holes in ("", "h"))
NUMBERS = tuple(kind for kind in KINDS if kind.removesuffix("h") in (*_INTEGERS, *_FLOATS))
# Floats with exact sums, so that the order of adding does not matter.
_EXACT_FLOATS = [float("nan"), np.inf, -np.inf, 0.0, -0.0, 1.5, -2.25, 3.0, 5.0]
_DAYS = [datetime.date(*day) for day in ((1970, 1, 1), (2024, 2, 29), (1, 1, 1), (9999, 12, 31))]
_TIMES_OF_DAY = [datetime.time(), datetime.time(12, 30, 1), datetime.time(23, 59, 59, 999999)]
_FAR = {"s": "9999-12-31", "ms": "9999-12-31", "us": "9999-12-31", "ns": "2262-04-11"}

# Where holes lie, and which values the others are.
PATTERNS = ("any", "ends", "ties", "all missing", "holes in one batch", "infinities", "few")


def values_of(kind: str) -> list[Any]:
    """The values of a kind: both ends of its range, and what is near zero."""
    kind = kind.removesuffix("h")
    if kind in NULLABLE:
        # Sums of narrow integers, whose dtype depends on the data in pandas, stay small; NaN is NA.
        small = {"I8": [-3, 0, 1, 2], "F64": _EXACT_FLOATS[1:]}
        return small.get(kind) or values_of(kind.lower())
    if kind in ARROW:
        return _DAYS if kind == "D" else _TIMES_OF_DAY
    if kind == PERIOD:
        return [0, 650, -23, 649]
    if kind == "k":
        return [0, 1, 2, 3]
    if kind in _INTEGERS:
        info = np.iinfo(_INTEGERS[kind].to_pandas_dtype())
        return sorted({int(info.min), int(info.max), int(info.max) - 1, 0, 1, 3, 100})
    if kind in _FLOATS:
        return _EXACT_FLOATS
    if kind in _TIMES:
        return _moments(kind)
    if kind in _ZONED:
        return _changes_of_clock(kind)
    return {"b": [False, True], "s": ["a", "b", "é", ""], "y": _OBJECTS}.get(kind, CATEGORIES[1:])


def _moments(kind: str) -> list[Any]:
    unit = kind[1:]
    if kind.startswith("d"):
        far = np.iinfo(np.int64).max // (1 if unit == "ns" else 10**3)
        spans = [0, 1, -1, far, -far, 90]
        return [np.timedelta64(span, unit) for span in spans]
    low = "1677-09-22" if unit == "ns" else "0001-01-01"
    texts = ["1970-01-01", "2024-02-29T12:30:01", low, _FAR[unit], "2024-03-01"]
    return [np.datetime64(text, unit) for text in texts]


def _changes_of_clock(kind: str) -> list[Any]:
    """Instants around changes of clock, two of which clocks show as one time."""
    texts = {
        "zus": ["1970-01-01", "2024-03-31T00:59:59", "2024-03-31T01", "2024-10-27T00:30",
                "2024-10-27T01:30"],
        "zns": ["1970-01-01", "2024-10-05T15:29:59", "2024-10-05T15:30", "2024-04-06T14:45",
                "2024-04-06T15:15"],
    }[kind]  # fmt: skip
    return [np.datetime64(text, kind[1:]) for text in texts]


def table_of(
    rng: np.random.Generator, columns: dict[str, str], num_rows: int, pattern: str = "any"
) -> pa.Table:
    """A table of columns of the given kinds."""
    arrays = [_column(rng, kind, num_rows, pattern) for kind in columns.values()]
    table = pa.table(arrays, names=list(columns))
    named = NULLABLE | ARROW
    dtypes = {
        name: named[kind.removesuffix("h")]
        for name, kind in columns.items()
        if kind.removesuffix("h") in named
    }
    if not dtypes:
        return table
    empty = table.schema.empty_table().to_pandas().astype(dtypes)
    metadata = pa.Schema.from_pandas(empty, preserve_index=False).metadata
    return table.replace_schema_metadata(metadata)


def _column(rng: np.random.Generator, kind: str, num_rows: int, pattern: str) -> pa.Array:
    has_holes = kind.endswith("h")
    pool = values_of(kind)
    if pattern == "ends":
        is_integer = kind.lower().removesuffix("h") in _INTEGERS
        pool = sorted(pool)[-2:] if is_integer else pool[-3:]
    elif pattern == "ties":
        pool = [pool[rng.integers(len(pool))] for _ in range(2)]
    elif pattern == "infinities" and kind.removesuffix("h") in _FLOATS:
        pool = [np.inf, -np.inf, 1.5]
    elif pattern == "few":
        pool = pool[:3]
    values = [pool[place] for place in rng.integers(0, len(pool), num_rows)]
    if has_holes:
        is_hole = rng.random(num_rows) < 0.3
        if pattern == "all missing":
            is_hole[:] = True
        if pattern == "holes in one batch":
            is_hole = np.arange(num_rows) // 2 == rng.integers(0, max(num_rows // 2, 1))
        values = [None if hole else value for hole, value in zip(is_hole, values, strict=True)]
    kind = kind.removesuffix("h")
    return _array(kind.lower() if kind in NULLABLE else kind, values)


def _array(kind: str, values: Sequence[Any]) -> pa.Array:
    if kind in ("c", "o"):
        codes = [None if value is None else CATEGORIES.index(value) for value in values]
        return pa.DictionaryArray.from_arrays(
            pa.array(codes, pa.int8()), pa.array(CATEGORIES), ordered=kind == "o"
        )
    if kind in _ZONED:
        return pa.array(list(values), pa.timestamp(kind[1:])).cast(TYPES[kind])
    if kind in ARROW:
        return pa.array(list(values), pa.date32() if kind == "D" else pa.time64("us"))
    if kind == PERIOD:
        months = [pd.NaT if value is None else pd.Period(ordinal=value, freq="M")
                  for value in values]  # fmt: skip
        return pa.array(pd.array(months, "period[M]"))
    return pa.array(list(values), TYPES[kind])


def text_of_table(table: pa.Table) -> str:
    """The columns of a table with their values, short enough for a report."""
    shown = {}
    for label, column in zip(table.column_names, table.columns, strict=True):
        is_time = pa.types.is_temporal(column.type)
        values = column.to_numpy().astype(str).tolist() if is_time else column.to_pylist()
        shown[label] = f"{column.type} {values}"
    return str(shown)
