# SPDX-License-Identifier: Apache-2.0
"""Dtypes that pandas takes from values: which parts of a plan have them.

Integers become floats where a `where` replaces a value by NaN, a division by zero occurs, or a join
leaves a row without a match. An eager call reads this from all of its rows. A plan must not read it
from fewer: from the rows that a rule of the optimiser leaves, or from those of a batch. So no rule
moves rows across such a step, and a plan over batches declares the dtypes; see `_declaring`.

A step is found by two calls without rows: one as it is, one that assumes missing values. If their
dtypes are equal, no values can change them.
"""

import contextlib
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from ..table._holes import assuming_holes, assuming_values
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ._bound import expressions_in
from ._declared import dtype_names
from ._expression import Expression
from ._masks import MASKS
from ._methods import BY_VALUES, DECLARED, METHODS, OPERATORS, apply, reads_of
from ._node import Call, Node
from ._relation import Slot

# They map the distinct values of a column, which a plan does not know.
_TABLES = ("map", "replace")
# They have floats where an integer is divided by zero.
_DIVISIONS = ("//", "%", "floordiv", "mod", "rfloordiv", "rmod")
# They choose between two columns.
_CHOICES = ("where", "mask")

_known: weakref.WeakKeyDictionary[Call, bool] = weakref.WeakKeyDictionary()


def takes_dtype_from_values(call: Call) -> bool:
    """Whether values decide a dtype of the result of a call, or one within its expressions."""
    if call not in _known:
        outcomes = [node.outcomes for node in call.inputs]
        ends = (-1, 0) if any(len(one) > 1 for one in outcomes) else (0,)
        _known[call] = any(_is_by_values(call, tuple(one[end] for one in outcomes)) for end in ends)
    return _known[call]


def _is_by_values(call: Call, inputs: tuple[object, ...]) -> bool:
    frame = inputs[0]
    parts = (
        part
        for expression in expressions_in(call.arguments)
        if isinstance(frame, FrameBase)
        for part in parts_by_values(expression, frame)
    )
    return next(parts, None) is not None or differ(outcomes_of(lambda: call.result_of(inputs)))


def parts_by_values(expression: Expression, frame: object) -> Iterator[Expression]:
    """The parts of an expression whose dtypes values decide, given those of their operands."""
    values: dict[int, Any] = {}
    parts = list(expression._bottom_up())
    are_declared = {id(part.operands[0]) for part in parts if part.function == DECLARED}
    are_compared = _compared(parts)
    # The numbers that columns are reduced to, and whether they may be missing.
    reduced: dict[int, bool] = {}
    for part in parts:
        if not part.children and part.function in ("col", "index"):
            try:
                values[id(part)] = part.evaluate(frame)
            except (ValueError, KeyError):
                return
            continue
        operands, keywords = part._filled(values)
        is_known = part.function in METHODS or part.function in OPERATORS
        outcomes = outcomes_of(
            lambda: apply(part.function, operands, keywords),  # noqa: B023
            are_two=part.function in BY_VALUES or not is_known or reads_of(part.function) != "row",
        )
        if not outcomes:
            return
        values[id(part)] = outcomes[0]
        is_reduced = reads_of(part.function) == "column" or not isinstance(outcomes[0], SeriesBase)
        reads = {reduced.get(id(child)) for child in part.children}
        if is_reduced:
            reduced[id(part)] = True in reads or _may_be_missing(outcomes)
            continue
        if part.function == DECLARED or id(part) in are_declared:
            continue
        if id(part) in are_compared and _is_exact_in_floats(outcomes[0]):
            continue
        is_looked_up = part.function in _TABLES and _is_looked_up(part, operands[0])
        # A number that is zero or missing without rows has another one with them.
        divides = part.function in _DIVISIONS and reads != {None}
        takes = True in reads and not outcomes[0]._only.is_bool
        if differ(outcomes) or is_looked_up or divides or takes:
            yield part
            values[id(part)] = outcomes[-1]


def _may_be_missing(outcomes: list[Any]) -> bool:
    """Whether a column is reduced to a number of rows, and to NA or a float without."""
    of_rows, of_none = outcomes[0], outcomes[-1]
    is_float = isinstance(of_none, (float, np.floating))
    return of_none is pd.NA or (is_float and isinstance(of_rows, (int, np.integer)))


def _compared(parts: list[Expression]) -> set[int]:
    """The ids of the parts that are compared with constants, and nothing else."""
    read = {id(child) for part in parts if part.function not in MASKS for child in part.children}
    read |= {id(child) for part in parts if len(part.children) > 1 for child in part.children}
    return {id(part) for part in parts[:-1]} - read


def _is_exact_in_floats(value: SeriesBase) -> bool:
    """Whether float64 represents all numbers of a dtype, so that a comparison is the same in it."""
    column = value._only
    return column.is_numeric and column.dtype.kind in "iu" and column.dtype.itemsize <= 4


def _is_looked_up(part: Expression, value: object) -> bool:
    """Whether pandas infers the dtype of a `map` or `replace` from the results for the values."""
    if not isinstance(value, SeriesBase):
        return False
    column = value._only
    return column.type.has_codes or (part.function == "map" and column.is_nullable)


def outcomes_of(run: Callable[[], object], *, are_two: bool = True) -> list[Any]:
    """The results of a call without rows: as it is, and if missing values are assumed.

    A call that raises in one of the two ways has one result, and in both has none. `are_two` tells
    that both may differ.
    """
    results: list[Any] = []
    # Errors are for the caller of the method, when it is recorded or when it runs.
    with contextlib.suppress(Exception), assuming_values():
        results.append(run())
    if not are_two:
        return results * 2
    with contextlib.suppress(Exception), assuming_holes():
        results.append(run())
    return results


def differ(outcomes: list[object]) -> bool:
    """Whether two results differ in a dtype. One result alone counts if it is a frame or series."""
    if len(outcomes) < 2:
        return bool(outcomes) and isinstance(outcomes[0], NDFrame)
    return bool(differing_labels(outcomes))


def differing_labels(outcomes: list[object]) -> list[Any]:
    """The labels of the columns whose dtypes differ in two results."""
    plain, wide = map(dtype_names, outcomes)
    return [label for label in {**plain, **wide} if plain.get(label) != wide.get(label)]


def needs_all_rows(part: Node) -> bool:
    """Whether the dtypes of batches do not give the dtype of all rows.

    A choice between two columns has the dtype of the second one if a value is replaced and a value
    of the second one does not fit the first, maybe in another batch. A `map` of nullable integers
    has floats if it finds some of them and misses others, maybe in another batch.
    """
    if not isinstance(part, Call) or part.method not in ("column", "apply"):
        return False
    expression = part.arguments.get("expression")
    if expression is not None:
        if expression.function == "map":
            return _is_nullable(expression.children[0].evaluate, part.inputs[0].empty)
        return expression.function in _CHOICES and len(expression.children) > 2
    slots = [one for one in part.arguments["operands"] if isinstance(one, Slot)]
    if part.arguments["function"] == "map":
        return _is_nullable(lambda mapped: mapped, part.inputs[slots[0].position].empty)
    return part.arguments["function"] in _CHOICES and len(slots) > 2


def _is_nullable(evaluate: Callable[[Any], object], rows: Any) -> bool:
    """Whether a column that is evaluated of a frame without rows has a nullable dtype."""
    with contextlib.suppress(Exception):
        column = evaluate(rows)
        return isinstance(column, SeriesBase) and column._only.is_nullable
    return False
