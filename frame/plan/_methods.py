# SPDX-License-Identifier: Apache-2.0
"""The methods of a series that an expression can record, and which rows each of them reads."""

import operator
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from ..table._ndframe import SeriesBase
from ._declared import in_dtypes

# The rows that one row of a result depends on: the same row, several rows, or all of them for a
# result that is one value.
Reads: TypeAlias = Literal["row", "rows", "column"]


class Method(NamedTuple):
    """A method or an attribute of a series, of an accessor, of windows or of groups."""

    reads: Reads
    is_attribute: bool = False


# Names that give access to further methods: attributes, and methods with arguments.
ACCESSORS = ("str", "dt", "cat")
GROUPINGS = ("rolling", "expanding", "groupby")

# Lines "prefix: names"; the methods of a series have no prefix. Categories belong to the whole
# column.
_TABLE = """
[row]
: abs add astype between clip div divide eq fillna floordiv ge gt isin isna isnull le lt map mask
: mod mul multiply ne notna notnull pow radd rdiv replace rfloordiv rmod rmul round rpow rsub
: rtruediv sub subtract truediv where
str: capitalize casefold cat center contains count endswith find fullmatch get isalnum isalpha
str: isascii isdecimal isdigit islower isnumeric isspace istitle isupper len ljust lower lstrip
str: match normalize pad removeprefix removesuffix repeat replace rfind rjust rstrip slice
str: slice_replace startswith strip swapcase title translate upper wrap zfill
dt: as_unit ceil day_name floor month_name normalize round strftime total_seconds

[row, attribute]
dt: day day_of_week day_of_year dayofweek dayofyear days days_in_month daysinmonth hour
dt: is_leap_year is_month_end is_month_start is_quarter_end is_quarter_start is_year_end
dt: is_year_start microsecond microseconds minute month nanosecond nanoseconds quarter second
dt: seconds weekday year

[rows]
: bfill cummax cummin cumprod cumsum diff duplicated expanding ffill groupby pct_change rank
: rolling shift
cat: add_categories as_ordered as_unordered remove_categories remove_unused_categories
cat: rename_categories reorder_categories set_categories
rolling expanding: count max mean min std sum var
groupby: bfill cumcount cummax cummin cumprod cumsum diff ffill ngroup pct_change rank shift
groupby: transform

[rows, attribute]
cat: codes

[column]
: all any argmax argmin corr count cov idxmax idxmin kurt kurtosis max mean median min nunique
: prod product quantile sem skew std sum var

[column, attribute]
: hasnans is_monotonic_decreasing is_monotonic_increasing is_unique size
"""


def _parsed(table: str) -> dict[str, Method]:
    methods: dict[str, Method] = {}
    reads: Any = "row"
    is_attribute = False
    for line in filter(None, table.strip().splitlines()):
        if line.startswith("["):
            reads, _, kind = line.strip("[]").partition(", ")
            is_attribute = kind == "attribute"
            continue
        prefixes, _, names = line.partition(":")
        for prefix in prefixes.split() or [""]:
            for name in names.split():
                methods[f"{prefix}.{name}".removeprefix(".")] = Method(reads, is_attribute)
    return methods


METHODS = _parsed(_TABLE)

# The methods and operators whose dtype pandas takes from values: integers become floats for a row
# without a value or divided by zero, and get a wider dtype for a value that does not fit. A plan
# takes such a dtype from all rows:
#   - at once, no rule of the optimiser moves rows across the step;
#   - over batches, a first pass finds the dtype, and each batch is cast to it;
#   - `where` and `mask` between two columns are evaluated on all rows for this.
BY_VALUES = frozenset([
    "where", "mask", "fillna", "astype", "clip", "map", "replace", "//", "floordiv", "rfloordiv",
    "%", "mod", "rmod", "str.count", "str.find", "str.len", "str.rfind", "dt.days",
    "dt.microseconds", "dt.nanoseconds", "dt.seconds",
    *(name for name, method in METHODS.items() if name.startswith("dt.") and method.is_attribute),
])  # fmt: skip
# Casts a result to the dtype of all rows of a plan; see `_declaring`.
DECLARED = "declared"


class Operator(NamedTuple):
    """An operator of Python: what it calls, and how tightly it binds in text."""

    call: Callable[..., Any]
    precedence: int


# Python's precedence. What binds tighter than all operators is an atom.
ATOM = 10
OPERATORS: dict[str, Operator] = {
    "<": Operator(operator.lt, 1),
    "<=": Operator(operator.le, 1),
    ">": Operator(operator.gt, 1),
    ">=": Operator(operator.ge, 1),
    "==": Operator(operator.eq, 1),
    "!=": Operator(operator.ne, 1),
    "|": Operator(operator.or_, 2),
    "^": Operator(operator.xor, 3),
    "&": Operator(operator.and_, 4),
    "+": Operator(operator.add, 6),
    "-": Operator(operator.sub, 6),
    "*": Operator(operator.mul, 7),
    "/": Operator(operator.truediv, 7),
    "//": Operator(operator.floordiv, 7),
    "%": Operator(operator.mod, 7),
    "**": Operator(operator.pow, 9),
}
UNARY_OPERATORS: dict[str, Operator] = {
    "~": Operator(operator.invert, 8),
    "neg": Operator(operator.neg, 8),
    "pos": Operator(operator.pos, 8),
}


def apply(function: str, operands: list[Any], keywords: dict[str, Any]) -> Any:
    """Calls a recorded function with evaluated operands."""
    known = OPERATORS.get(function) or UNARY_OPERATORS.get(function)
    if known is not None:
        return known.call(*operands)
    if function == "list":
        return operands
    if function == "alias":
        value, label = operands
        return value._of(value._table, label) if isinstance(value, SeriesBase) else value
    if function == DECLARED:
        values, name = operands
        return in_dtypes(values, {None: name})
    if function.startswith("np."):
        return getattr(np, function.removeprefix("np."))(*operands)
    # The operand of "rolling.mean" is the result of "rolling", but that of "str.len" a series.
    target, *arguments = operands
    namespace, _, name = function.rpartition(".")
    if namespace in ACCESSORS:
        target = getattr(target, namespace)
    attribute = getattr(target, name)
    return attribute if METHODS[function].is_attribute else attribute(*arguments, **keywords)
