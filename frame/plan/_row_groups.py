# SPDX-License-Identifier: Apache-2.0
"""The row groups of a Parquet dataset that a scan must read."""

import dataclasses
import datetime
import functools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds

from ..io._files._malformed import check_footers
from ..ops._array_ops import COMPARISONS, REFLECTED, SYMBOLS
from ._expression import Expression

# Those that statistics decide: a row group may hold many values beside the one that differs.
_METHODS = {op: SYMBOLS[op] for op in COMPARISONS if op != "ne"}
_COMPARISONS = {symbol: getattr(operator, op) for op, symbol in _METHODS.items()}
_REVERSED = {symbol: SYMBOLS[REFLECTED[op]] for op, symbol in _METHODS.items()}


def as_filter(predicate: Expression, schema: pa.Schema) -> ds.Expression | None:
    """A filter of Arrow that holds for every row for which a predicate is true.

    It may hold for more rows. Statistics of a row group leave out NaN and nulls, so the filter is
    made of comparisons, ranges and sets of values only: NaN and nulls satisfy none of these.
    """
    function, operands = predicate.function, predicate.operands
    if function in ("&", "|"):
        sides = [
            as_filter(side, schema) if isinstance(side, Expression) else None for side in operands
        ]
        known = [side for side in sides if side is not None]
        if function == "|":
            return known[0] | known[1] if len(known) == 2 else None
        return known[0] & known[1] if len(known) == 2 else known[0] if known else None
    if predicate.keywords:
        return None
    function = _METHODS.get(function, function)
    if function in _COMPARISONS and len(operands) == 2:
        return _comparison(function, *operands, schema)
    if function == "between" and len(operands) == 3:
        least, most = (
            _comparison(symbol, operands[0], bound, schema)
            for symbol, bound in ((">=", operands[1]), ("<=", operands[2]))
        )
        return None if least is None or most is None else least & most
    if function == "isin" and len(operands) == 2 and isinstance(operands[1], (list, tuple, set)):
        equal = [_comparison("==", operands[0], value, schema) for value in operands[1]]
        if not equal or any(one is None for one in equal):
            return None
        return functools.reduce(operator.or_, equal)
    return None


def _comparison(symbol: str, left: Any, right: object, schema: pa.Schema) -> ds.Expression | None:
    if isinstance(right, Expression):
        symbol, left, right = _REVERSED[symbol], right, left
    is_column = isinstance(left, Expression) and left.function == "col"
    if not is_column or isinstance(right, Expression):
        return None
    name = left.operands[0]
    value = _scalar(schema.field(name).type, right) if name in schema.names else None
    return None if value is None else _COMPARISONS[symbol](ds.field(name), value)


def _scalar(type: pa.DataType, value: object) -> pa.Scalar | None:
    """A value in Arrow, if Arrow compares it with a column as a frame does; else None."""
    value = value.item() if isinstance(value, np.generic) else value
    is_comparable = False
    match value:
        case bool():
            is_comparable = pa.types.is_boolean(type)
        case int():
            # Greater integers are rounded where the column becomes one of floats.
            is_float = pa.types.is_float32(type) or pa.types.is_float64(type)
            most = 2**24 if pa.types.is_float32(type) else 2**53
            if abs(value) < most and pa.types.is_integer(type):
                return _integer(type, value)
            is_comparable = abs(value) < most and is_float
        case float():
            # A column of float32 is compared in float32.
            is_comparable = value == value and pa.types.is_float64(type)
        case str():
            is_comparable = pa.types.is_string(type) or pa.types.is_large_string(type)
        case datetime.datetime() if pa.types.is_timestamp(type) and type.tz is value.tzinfo is None:
            return _moment(type, value)
    return pa.scalar(value) if is_comparable else None


def _integer(type: object, value: int) -> pa.Scalar | None:
    """An integer in the type of a column: Arrow would cast uint64 to int64 to compare it."""
    try:
        return pa.scalar(value, type)
    except (pa.ArrowInvalid, OverflowError):
        return None


def _moment(type: Any, value: datetime.datetime) -> pa.Scalar | None:
    """A time in the unit of a column; None if it is not a whole number of it."""
    try:
        exact: Any = pd.Timestamp(value)
        exact = exact.as_unit(type.unit, round_ok=False)
    except (ValueError, OverflowError):
        return None
    return pa.scalar(exact.asm8.astype("int64").item(), type)


@dataclasses.dataclass(frozen=True)
class RowGroups:
    """Row groups of a dataset, in the order of its files.

    Attributes:
        fragments: pieces of files, one for each row group.
        positions: the first row of each in the whole dataset.
        num_rows: the number of rows of each.
        num_rows_of_all: the number of rows of the dataset.
    """

    fragments: Sequence[Any]
    positions: Sequence[int]
    num_rows: Sequence[int]
    num_rows_of_all: int

    @property
    def are_all(self) -> bool:
        """Whether no row is left out."""
        return sum(self.num_rows) == self.num_rows_of_all

    def row_ids(self) -> np.ndarray:
        """The positions of the rows in the whole dataset."""
        pieces = [
            np.arange(start, start + size, dtype=np.int64)
            for start, size in zip(self.positions, self.num_rows, strict=True)
        ]
        return np.concatenate(pieces) if pieces else np.empty(0, np.int64)


@dataclasses.dataclass(frozen=True)
class ValueRange:
    """The values of a column in some rows, none of them null.

    Attributes:
        num_rows: the number of rows.
        least: the least value: an integer or a time.
        greatest: the greatest value.
    """

    num_rows: int
    least: Any
    greatest: Any

    def share_within(self, least: object, greatest: object) -> float:
        """The share of values between two bounds, if values are spread evenly."""
        low, high = max(self.least, least), min(self.greatest, greatest)
        if low > high:
            return 0.0
        width = _distance(self.least, self.greatest)
        return _distance(low, high) / width if width else 1.0


def _distance(low: Any, high: Any) -> Any:
    """The difference of integers, or of times in seconds: nanoseconds may not fit 64 bits."""
    return high - low if isinstance(low, int) else high.timestamp() - low.timestamp()


def ranges_of_groups(dataset: Any, name: str) -> tuple[ValueRange, ...] | None:
    """The range of a column of integers or times in each row group with rows.

    None if the footers do not tell, or if a value is null.
    """
    fragments = list(dataset.get_fragments())
    check_footers(fragments)
    ranges: list[ValueRange] = []
    for fragment in fragments:
        metadata = fragment.metadata
        paths = [metadata.schema.column(i).path for i in range(metadata.num_columns)]
        # The folder of a file gives the values of a column of that name, not the file.
        if name not in paths or name in ds.get_partition_keys(fragment.partition_expression):
            return None
        for number in range(metadata.num_row_groups):
            group = metadata.row_group(number)
            known = group.column(paths.index(name)).statistics
            if not group.num_rows:
                continue
            if known is None or not known.has_min_max or known.null_count != 0:
                return None
            bounds = _bounds(known, dataset.schema.field(name).type)
            if bounds is None:
                return None
            ranges.append(ValueRange(group.num_rows, *bounds))
    return tuple(ranges)


def _bounds(known: Any, type: pa.DataType) -> tuple[Any, Any] | None:
    """The least and the greatest value of a footer as plans hold them.

    None if they are neither integers nor times of years from 1 to 9999, which Python's times hold,
    or of another kind than the column, which takes its type from the first file.
    """
    try:
        least, greatest = known.min, known.max
    except (OverflowError, ValueError):
        return None
    match least:
        case int() if pa.types.is_integer(type) and not isinstance(least, bool):
            return least, greatest
        case datetime.datetime(tzinfo=None) if pa.types.is_timestamp(type):
            return pd.Timestamp(least), pd.Timestamp(greatest)
    return None


def row_groups(dataset: Any, condition: object, limit: int | None) -> RowGroups:
    """The row groups whose statistics do not exclude a condition.

    Args:
        dataset: a Parquet dataset.
        condition: a filter of Arrow, or None.
        limit: the number of rows needed from the front of the dataset, or None; a scan has
            either a limit or a condition.
    """
    fragments: list[Any] = []
    positions: list[int] = []
    sizes: list[int] = []
    position = 0
    for fragment in dataset.get_fragments():
        kept = _kept(fragment, condition, dataset.schema)
        for group in fragment.row_groups:
            is_needed = limit is None or position < max(limit, 1)
            if is_needed and (kept is None or group.id in kept):
                fragments.append(fragment.subset(row_group_ids=[group.id]))
                positions.append(position)
                sizes.append(group.num_rows)
            position += group.num_rows
    return RowGroups(fragments, positions, sizes, position)


def _kept(fragment: Any, condition: object, schema: pa.Schema) -> set[int] | None:
    """The ids of a file's row groups that may satisfy a condition; None for all of them."""
    if condition is None:
        return None
    check_footers([fragment])
    return {group.id for group in fragment.subset(condition, schema=schema).row_groups}
