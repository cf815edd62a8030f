# SPDX-License-Identifier: Apache-2.0
"""The methods that plans record, and which rows each of them reads.

`Expression`, `LazySeries`, `LazyGroupBy`, `LazyWindows`, the reductions of `LazyFrame`, what runs
over batches and the reference of plans follow from this table and from `_relations`.
"""

import operator
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from ..table._holes import assumes_values
from ..table._ndframe import SeriesBase
from ._declared import in_dtypes

# The rows that one row of a result depends on: the same row, several rows, or all of them for a
# result that is one value.
Reads: TypeAlias = Literal["row", "rows", "column"]


class Method(NamedTuple):
    """A method or an attribute of an object of a plan.

    Attributes:
        reads: the rows that one row of the result depends on.
        is_attribute: whether it is an attribute.
        by_values: whether pandas takes the dtype from values: integers become floats for a row
            without a value or divided by zero, and get a wider dtype for a value that does not fit.
        looks_up: whether the second operand is a set of values. The method reads all of its rows.
    """

    reads: Reads
    is_attribute: bool = False
    by_values: bool = False
    looks_up: bool = False


# Names that give access to further methods: attributes, and methods with arguments.
ACCESSORS = ("str", "dt", "cat", "list")
GROUPINGS = ("rolling", "expanding", "groupby")
# A prefix of methods of times that read other rows than those of other dtypes; see `_bound`.
OF_TIMES = "times"

# Lines "objects: names", in sections with the fields of `Method`. The objects are frames, series,
# their accessors and groupings, and groups of frames. A new method of an expression, of groups or
# of windows, and a new reduction, is named here alone; a step of frames in `_relations`.
_TABLE = """
[row]
series: abs add between div divide eq ge gt isna isnull le lt mul multiply ne notna notnull pow
series: radd rdiv rmul round rpow rsub rtruediv sub subtract truediv
str: capitalize casefold cat center findall get join ljust lower lstrip normalize pad removeprefix
str: removesuffix repeat replace rjust rsplit rstrip slice slice_replace split strip swapcase title
str: translate upper wrap zfill
dt: as_unit ceil day_name floor month_name normalize round strftime to_period total_seconds
dt: tz_convert tz_localize
list: slice

[row, by values]
series: astype clip fillna floordiv mask mod rfloordiv rmod where
str: contains count endswith find fullmatch isalnum isalpha isascii isdecimal isdigit islower
str: isnumeric isspace istitle isupper len match rfind startswith
list: get len

[row, looks up]
series: isin

[row, looks up, by values]
series: map replace

[row, attribute, by values]
dt: day day_of_week day_of_year dayofweek dayofyear days days_in_month daysinmonth hour
dt: is_leap_year is_month_end is_month_start is_quarter_end is_quarter_start is_year_end
dt: is_year_start microsecond microseconds minute month nanosecond nanoseconds quarter second
dt: seconds weekday year

[rows]
series: duplicated expanding groupby rolling
series groupby groups: bfill cummax cummin cumprod cumsum diff ffill pct_change rank shift
groupby: cumcount ngroup
groupby groups: transform
groups: head tail
times: astype
rolling expanding: count max mean min std sum var
cat: add_categories as_ordered as_unordered remove_categories remove_unused_categories
cat: rename_categories reorder_categories set_categories

[rows, attribute]
cat: codes

[column]
series frame groups: all any count max mean median min nunique prod quantile sem std sum var
series frame: kurt skew
series: argmax argmin corr cov idxmax idxmin kurtosis product
groups: agg first last size

[column, attribute]
series: hasnans is_monotonic_decreasing is_monotonic_increasing is_unique size
"""


def _parsed(table: str) -> dict[str, dict[str, Method]]:
    """The methods of each object by name."""
    methods: dict[str, dict[str, Method]] = {}
    reads: Any = "row"
    flags: list[str] = []
    for line in filter(None, table.strip().splitlines()):
        if line.startswith("["):
            reads, *flags = line.strip("[]").split(", ")
            continue
        objects, _, names = line.partition(": ")
        method = Method(reads, "attribute" in flags, "by values" in flags, "looks up" in flags)
        for one in objects.split():
            methods.setdefault(one, {}).update(dict.fromkeys(names.split(), method))
    return methods


_METHODS = _parsed(_TABLE)
# The methods of expressions; those of accessors, windows and groups have a prefix.
METHODS = {
    name if kind == "series" else f"{kind}.{name}": method
    for kind in ("series", OF_TIMES, *ACCESSORS, *GROUPINGS)
    for name, method in _METHODS[kind].items()
}
# The reductions of frames, and the methods of their groups and windows.
FRAME_REDUCTIONS = tuple(_METHODS["frame"])
GROUP_METHODS = tuple(_METHODS["groups"])
WINDOW_METHODS = tuple(_METHODS["rolling"])
# The methods of groups that keep rows and their labels.
GROUP_TRANSFORMATIONS = frozenset(
    name for name, method in _METHODS["groups"].items() if method.reads == "rows"
)

# The methods and operators whose dtype pandas takes from values. A plan takes such a dtype from all
# rows:
#   - at once, no rule of the optimiser moves rows across the step;
#   - over batches, a first pass finds the dtype, and each batch is cast to it;
#   - `where` and `mask` between two columns are evaluated on all rows for this.
BY_VALUES = frozenset(["//", "%", *(name for name, method in METHODS.items() if method.by_values)])
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


def reads_of(function: str) -> Reads:
    """The rows that a recorded function reads for each row of its result.

    Columns, operators, lists, names and NumPy's functions are not in the table: they read a row.
    """
    return METHODS[function].reads if function in METHODS else "row"


def looks_up(function: str) -> bool:
    """Whether the second operand of a recorded function is a set of values."""
    return function in METHODS and METHODS[function].looks_up


def apply(function: str, operands: list[Any], keywords: dict[str, Any]) -> Any:
    """Calls a recorded function with evaluated operands."""
    known = OPERATORS.get(function) or UNARY_OPERATORS.get(function)
    if known is not None:
        return known.call(*operands)
    if function == "list":
        return operands
    if function == "alias":
        value, label = operands
        return value._made(value._table, label) if isinstance(value, SeriesBase) else value
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
    if function in ("list.get", "list.slice"):
        return target[arguments[0] if name == "get" else slice(*arguments)]
    if reads_of(function) == "column" and assumes_values() and target._only.is_numeric:
        # Five rows have all moments, and no sum of zero.
        target = SeriesBase.series_class(pd.Series([0, 1, 1, 0, 1]).astype(target.dtype))
    attribute = getattr(target, name)
    return attribute if METHODS[function].is_attribute else attribute(*arguments, **keywords)
