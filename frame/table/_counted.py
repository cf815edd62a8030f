# SPDX-License-Identifier: Apache-2.0
"""Values that are whole counts with a label: dates, times of day, decimals and periods.

A column of them has int64 counts, NaT where a value is missing, so that rows move, sort, group and
join as times do. The label says what is counted: days since 1970 ("date"), units since midnight
("time"), powers of ten ("decimal", whose scale is the number of digits behind the point), or spans
of a frequency since 1970 ("period").
"""

import datetime
import decimal
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

NAT = np.iinfo(np.int64).min
_DATE_ZERO = datetime.date(1970, 1, 1)
# As many digits as Arrow's decimals of 128 bits have.
MOST_DIGITS = 38


class Label(NamedTuple):
    """What the counts of a column are.

    Attributes:
        kind: "date", "time", "decimal" or "period".
        unit: of times of day.
        digits: the precision and the scale of decimals.
        freq: of periods.
    """

    kind: str
    unit: str | None = None
    digits: tuple[int, int] | None = None
    freq: str | None = None


def label_of(dtype: Any) -> Label | None:
    """The label of the counts of a dtype of pandas or a type of Arrow; None for other dtypes."""
    if isinstance(dtype, pd.PeriodDtype):
        return Label("period", freq=dtype.name.removeprefix("period[").removesuffix("]"))
    kind = dtype.pyarrow_dtype if isinstance(dtype, pd.ArrowDtype) else dtype
    if not isinstance(kind, pa.DataType):
        return None
    if pa.types.is_date32(kind):
        return Label("date")
    if pa.types.is_time(kind):
        return Label("time", unit=kind.unit)
    if pa.types.is_decimal128(kind) and kind.scale >= 0:
        return Label("decimal", digits=(kind.precision, kind.scale))
    return None


def arrow_type(label: Any) -> pa.DataType:
    """The type of Arrow of labelled counts."""
    match label.kind:
        case "date":
            return pa.date32()
        case "time":
            return pa.time32(label.unit) if label.unit in ("s", "ms") else pa.time64(label.unit)
        case "decimal":
            return pa.decimal128(*label.digits)
    raise AssertionError(f"Arrow has no type of {label.kind}.")


def counts_of_arrow(values: pa.Array, name: Hashable) -> np.ndarray:
    """The counts of dates, times of day or decimals of Arrow, NaT where they are null."""
    kind = values.type
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    missing = values.is_null().to_numpy(zero_copy_only=False)
    if pa.types.is_decimal(kind):
        words = np.frombuffer(values.buffers()[1], np.int64)
        words = words[2 * values.offset : 2 * (values.offset + len(values))].reshape(-1, 2)
        low, high = words[:, 0], words[:, 1]
        fits = (high == low >> 63) & (low != NAT)
        if not (fits | missing).all():
            raise OverflowError(
                f"JaxFrame: decimals of column {name!r} must fit 64 bits, got {kind}. Convert it "
                "first, with astype('float64')."
            )
        return np.where(missing, NAT, low)
    width = pa.int32() if kind.bit_width == 32 else pa.int64()
    counts = values.view(width).cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    return np.where(missing, NAT, counts)


def arrow_of_counts(counts: np.ndarray, label: Any) -> pa.Array:
    """Counts as an array of Arrow."""
    if label.kind == "period":
        # pandas' extension type.
        return pa.array(pandas_of_counts(counts, label))
    kind, missing = arrow_type(label), counts == NAT
    if label.kind != "decimal":
        width = np.int32 if kind.bit_width == 32 else np.int64
        whole = np.where(missing, 0, counts).astype(width)
        return pa.array(whole, mask=missing).view(kind)
    words = np.empty((len(counts), 2), np.int64)
    words[:, 0], words[:, 1] = counts, counts >> 63
    bits = pa.array(~missing)
    return pa.Array.from_buffers(kind, len(counts), [bits.buffers()[1], pa.py_buffer(words)])


def pandas_of_counts(counts: np.ndarray, label: Any) -> Any:
    """Counts as pandas' default array: of periods, or of Python's objects."""
    if label.kind == "period":
        return pd.PeriodIndex.from_ordinals(counts, freq=label.freq).array
    objects = np.empty(len(counts), object)
    objects[:] = arrow_of_counts(counts, label).to_pylist()
    return objects


def count_of(value: Any, label: Any) -> tuple[int, Any] | None:
    """A Python value as a count, with its label; None for one of another kind.

    A decimal or a whole number beside decimals has the digits that it needs.
    """
    match label.kind:
        case "date":
            is_date = isinstance(value, datetime.date) and not isinstance(value, datetime.datetime)
            return (value.toordinal() - _DATE_ZERO.toordinal(), label) if is_date else None
        case "time":
            if not isinstance(value, datetime.time) or value.tzinfo is not None:
                return None
            seconds = (value.hour * 60 + value.minute) * 60 + value.second
            return seconds * 10**6 + value.microsecond, Label("time", unit="us")
        case "period":
            if not isinstance(value, pd.Period):
                return None
            return value.ordinal, Label("period", freq=value.freqstr)
    if isinstance(value, (bool, np.bool_)):
        return None
    if isinstance(value, (int, np.integer)):
        # Arrow's decimals beside an integer have the digits of 64 bits.
        return int(value), Label("decimal", digits=(19, 0))
    if not isinstance(value, decimal.Decimal) or not value.is_finite():
        return None
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    scale = max(-exponent, 0)
    count = int("".join(map(str, digits))) * 10 ** max(exponent, 0)
    precision = max(len(str(count)), scale, 1)
    return (-count if sign else count), Label("decimal", digits=(precision, scale))
