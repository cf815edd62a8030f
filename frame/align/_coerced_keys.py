# SPDX-License-Identifier: Apache-2.0
"""Keys of a merge whose dtypes differ, which pandas coerces to objects or to values."""

from collections.abc import Sequence

from ..table._column import Column, in_dtype
from ..table._holes import with_holes_elsewhere
from ..table._object_functions import as_objects
from ..table._recode import as_string, category_values, has_strings
from ..table._table import Count
from ..table._take import settled
from ..table._tracing import is_traced
from ._common_types import same_categories

# Categories of these are compared with no values of the other side.
_COUNTED = ("datetime", "timedelta", "period")


def compared_keys(
    left: Column, right: Column, counts: tuple[Count, Count]
) -> tuple[Column, Column] | None:
    """Two key columns that pandas coerces, in types that are compared with each other.

    Returns None if pandas leaves both as they are, or does not merge them.
    """
    if not _are_coerced(left, right):
        return None
    sides = zip((left, right), counts, strict=True)
    return _compared(left, right, [_values(column, count) for column, count in sides], counts)


def coerced(column: Column, num_rows: Count) -> Column:
    """A key that pandas coerces, in the dtype of the result.

    Categories become their values, and all others objects. Outside `jit`, bools with a mask are
    objects.
    """
    if column.kind == "category":
        return _values(column, num_rows)
    if column.is_bool and not column.is_nullable and not is_traced(column, num_rows):
        return with_holes_elsewhere(column)
    return as_objects(column, num_rows, "merge")


def _compared(
    left: Column, right: Column, values: Sequence[Column], counts: tuple[Count, Count]
) -> tuple[Column, Column]:
    """The values of two columns in types that are compared with each other."""
    a, b = values
    if has_strings(a) and has_strings(b):
        return as_string(a), as_string(b)
    if a.is_numeric and b.is_numeric and not (a.is_of_objects or b.is_of_objects):
        return _bools_as_numbers(a, b), _bools_as_numbers(b, a)
    # pandas does not merge all numbers with objects, but it does not look at those of categories.
    if "object" in (left.kind, right.kind) and "category" not in (left.kind, right.kind):
        return a, b
    if {a.kind, b.kind} != {"number"} and a.kind == b.kind:
        return a, b
    a, b = (as_objects(one, count, "merge") for one, count in zip(values, counts, strict=True))
    return a, b


def _bools_as_numbers(column: Column, other: Column) -> Column:
    if not column.is_bool or other.is_bool:
        return column
    (numbers,) = in_dtype([column], other.dtype)
    return numbers


def _are_coerced(left: Column, right: Column) -> bool:
    kinds = {left.kind, right.kind}
    if "category" in kinds:
        return not (same_categories(left, right) or kinds & {*_COUNTED, "list"})
    if kinds <= {"string", "object"}:
        return left.dtype_name != right.dtype_name
    if kinds == {"number"}:
        # Bools with missing values are objects, unless they are nullable. Beside other bools a mask
        # holds both.
        is_masked = left.is_of_objects != right.is_of_objects
        has_nullable = left.is_nullable or right.is_nullable
        return left.is_bool != right.is_bool or (is_masked and has_nullable)
    if kinds <= {"number", "string", "object"}:
        return "object" in kinds or left.is_bool or right.is_bool
    has_zone = left.type.zone is not None or right.type.zone is not None
    return kinds in ({"datetime", "period"}, {"timedelta", "period"}) and not has_zone


def _values(column: Column, num_rows: Count) -> Column:
    """A column; categories as values of their dtype, or as objects."""
    if column.kind != "category":
        return column
    values = category_values(column)
    return as_objects(column, num_rows, "merge") if values is None else settled(values, num_rows)
