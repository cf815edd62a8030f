# SPDX-License-Identifier: Apache-2.0
"""Dtypes that pandas takes from values: which parts of a plan have them, and their declaration.

Integers become floats where a `where` replaces a value by NaN, a division by zero occurs, or a join
leaves a row without a match. An eager call reads this from all of its rows. A plan must not read it
from fewer: from the rows that a rule of the optimiser leaves, or from those of a batch. So no rule
moves rows across such a step, and a plan over batches finds the dtypes in a first pass over the
rows and casts each batch to them.

A step is found by two calls without rows: one as it is, one that assumes missing values. If their
dtypes are equal, no values can change them.
"""

import contextlib
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ..table._holes import assuming_holes
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ._declared import dtype_names
from ._expression import Expression
from ._methods import BY_VALUES, DECLARED, METHODS, OPERATORS, apply
from ._node import Call, Node, bottom_up
from ._relations import GROUP_TRANSFORMATIONS, RELATIONS, Labels, Slot, all_of
from ._wanted import wanted_columns

# Finds the dtypes of all rows of a plan, by running it.
Find = Callable[[Node], Mapping[Any, str]]
# They map the distinct values of a column, which a plan does not know.
_TABLES = ("map", "replace")
# They choose between two columns.
_CHOICES = ("where", "mask")
# They align by labels, which may be absent.
_OF_LABELS = ("apply", "set", "filter_by")

_known: weakref.WeakKeyDictionary[Call, bool] = weakref.WeakKeyDictionary()


def takes_dtype_from_values(call: Call) -> bool:
    """Whether values decide a dtype of the result of a call, or one within its expressions."""
    if call not in _known:
        _known[call] = any(
            _is_by_values(call, inputs)
            for inputs in (
                tuple(node.narrow for node in call.inputs),
                tuple(node.empty for node in call.inputs),
            )
        )
    return _known[call]


def _is_by_values(call: Call, inputs: tuple[Any, ...]) -> bool:
    frame = inputs[0]
    parts = (
        part
        for expression in _expressions(call.arguments)
        if isinstance(frame, FrameBase)
        for part in _parts_by_values(expression, frame)
    )
    return next(parts, None) is not None or _is_step_by_values(call, inputs)


def declared(
    root: Node,
    find: Find,
    *,
    every_step: bool = False,
    every_column: bool = False,
    leaving: Node | None = None,
) -> Node:
    """The plan with a cast to the dtypes of all rows after each step that takes them from values.

    Args:
        root: a plan, before the optimiser.
        find: finds the dtypes of a plan, whose steps are declared already.
        every_step: whether to declare steps that have all rows at once too, such as groups.
        every_column: whether to declare columns that the plan does not need too, which the
            optimiser drops by default.
        leaving: a step that is not declared.
    """
    new: dict[Node, Node] = {}
    wanted = {} if every_column else wanted_columns(root)
    for node in bottom_up(root):
        new[node] = node.with_inputs(tuple(new[child] for child in node.inputs))
        if isinstance(node, Call) and node != leaving:
            new[node] = _declared_call(new[node], find, every_step, wanted.get(node, all_of(node)))
    return new[root]


def _declared_call(call: Any, find: Find, every_step: bool, wanted: Labels) -> Node:
    arguments = _with_declared(call, find, wanted)
    if arguments is not None:
        call = Call.of(call.method, call.inputs, arguments)
    has_all_rows = (
        RELATIONS[call.method].rows == "makes"
        and call.arguments.get("method") not in GROUP_TRANSFORMATIONS
    )
    if has_all_rows and not every_step:
        return call
    inputs = tuple(node.empty for node in call.inputs)
    outcomes = _outcomes(lambda: call.result_of(inputs))
    part = call
    if every_step and call.method in _OF_LABELS:
        # The labels of the rows decide, too.
        pass
    elif not _differ(outcomes):
        return call
    elif call.is_frame and len(outcomes) > 1:
        labels = [label for label in _differing(outcomes) if label in wanted]
        if not labels:
            return call
        # Other columns need not be read.
        part = Call.of("select", (call,), {"columns": labels})
    found = find(part)
    narrow, widest = dtype_names(call.narrow), dtype_names(call.empty)
    dtypes = {
        label: name
        for label, name in found.items()
        if {narrow.get(label), widest.get(label)} != {name}
    }
    return Call.of("declared", (call,), {"dtypes": dtypes}) if dtypes else call


def _with_declared(call: Call, find: Find, wanted: Labels) -> dict[str, Any] | None:
    """The arguments with expressions whose parts are declared; None if none changes."""
    is_changed = False

    def changed(value: Any, child: Node) -> Any:
        nonlocal is_changed
        if isinstance(value, Expression):
            new = _declared_expression(value, child, find)
            is_changed |= new is not value
            return new
        if isinstance(value, dict):
            return {label: changed(one, child) for label, one in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(changed(one, child) for one in value)
        return value

    arguments = dict(call.arguments)
    if call.method == "assign":
        child, values = call.inputs[0], {}
        narrowed = RELATIONS["assign"].narrowed(call, wanted)
        needed = {} if narrowed is None else narrowed.arguments["values"]
        for label, value in arguments["values"].items():
            values[label] = changed(value, child) if label in needed else value
            # A later value may read an earlier one.
            child = Call.of("assign", (child,), {"values": {label: values[label]}})
        arguments["values"] = values
    elif call.inputs:
        arguments = {name: changed(value, call.inputs[0]) for name, value in arguments.items()}
    return arguments if is_changed else None


def _declared_expression(expression: Expression, child: Node, find: Find) -> Expression:
    frame = child.empty
    if not isinstance(frame, FrameBase):
        return expression
    found = {id(part) for part in _parts_by_values(expression, frame)}
    if not found:
        return expression
    new: dict[int, Expression] = {}
    for part in expression._bottom_up():
        if any(new[id(one)] is not one for one in part.children):
            operands, keywords = part._filled(new)
            new[id(part)] = Expression(part.function, tuple(operands), tuple(keywords.items()))
        else:
            new[id(part)] = part
        if id(part) in found:
            whole = Call.of("column", (child,), {"expression": new[id(part)]})
            (name,) = find(whole).values()
            new[id(part)] = Expression(DECLARED, (new[id(part)], name))
    return new[id(expression)]


def _parts_by_values(expression: Expression, frame: Any) -> Iterator[Expression]:
    """The parts of an expression whose dtypes values decide, given those of their operands."""
    values: dict[int, Any] = {}
    parts = list(expression._bottom_up())
    are_declared = {id(part.operands[0]) for part in parts if part.function == DECLARED}
    for part in parts:
        if not part.children and part.function in ("col", "index"):
            try:
                values[id(part)] = part.evaluate(frame)
            except (ValueError, KeyError):
                return
            continue
        operands, keywords = part._filled(values)
        is_known = part.function in METHODS or part.function in OPERATORS
        outcomes = _outcomes(
            lambda: apply(part.function, operands, keywords),  # noqa: B023
            are_two=part.function in BY_VALUES or not is_known or _reads_rows(part),
        )
        if not outcomes:
            return
        values[id(part)] = outcomes[0]
        is_column = part.function in METHODS and METHODS[part.function].reads == "column"
        if is_column or not isinstance(outcomes[0], SeriesBase):
            continue
        if part.function == DECLARED or id(part) in are_declared:
            continue
        if _differ(outcomes) or (part.function in _TABLES and _has_codes(operands[0])):
            yield part
            values[id(part)] = outcomes[-1]


def _reads_rows(part: Expression) -> bool:
    """Whether a method reads several rows for each, as windows and groups do."""
    return part.function in METHODS and METHODS[part.function].reads == "rows"


def _has_codes(value: Any) -> bool:
    """Whether a method runs on the distinct values of a column, which a plan does not know."""
    return isinstance(value, SeriesBase) and value._only.type.has_codes


def _is_step_by_values(call: Call, inputs: tuple[Any, ...]) -> bool:
    return _differ(_outcomes(lambda: call.result_of(inputs)))


def _outcomes(run: Callable[[], Any], *, are_two: bool = True) -> list[Any]:
    """The results of a call without rows: as it is, and if missing values are assumed.

    A call that raises in one of the two ways has one result, and in both has none. `are_two` tells
    that both may differ.
    """
    results: list[Any] = []
    # Errors are for the caller of the method, when it is recorded or when it runs.
    with contextlib.suppress(Exception):
        results.append(run())
    if not are_two:
        return results * 2
    with contextlib.suppress(Exception), assuming_holes():
        results.append(run())
    return results


def _differ(outcomes: list[Any]) -> bool:
    if len(outcomes) < 2:
        return bool(outcomes) and isinstance(outcomes[0], NDFrame)
    return bool(_differing(outcomes))


def _differing(outcomes: list[Any]) -> list[Any]:
    """The labels of the columns whose dtypes differ in two results."""
    plain, wide = map(dtype_names, outcomes)
    return [label for label in {**plain, **wide} if plain.get(label) != wide.get(label)]


def _expressions(value: Any) -> Iterable[Expression]:
    """The expressions among the arguments of a call."""
    if isinstance(value, Expression):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _expressions(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _expressions(one)


def needs_all_rows(part: Node) -> bool:
    """Whether the dtypes of batches do not give the dtype of all rows.

    A choice between two columns has the dtype of the second one if a value is replaced and a value
    of the second one does not fit the first, maybe in another batch.
    """
    if not isinstance(part, Call) or part.method not in ("column", "apply"):
        return False
    expression = part.arguments.get("expression")
    if expression is not None:
        return expression.function in _CHOICES and len(expression.children) > 2
    slots = [one for one in part.arguments["operands"] if isinstance(one, Slot)]
    return part.arguments["function"] in _CHOICES and len(slots) > 2
