# SPDX-License-Identifier: Apache-2.0
"""Plans over batches whose steps cast each batch to the dtypes of all rows.

A first pass over the rows finds these where values decide them; see `_value_dtypes`.
"""

from collections.abc import Callable, Mapping
from typing import Any

from ..table._ndframe import FrameBase
from ._bound import with_expressions
from ._declared import BOOLS_WITH_HOLES, dtype_names
from ._expression import Expression
from ._joins import join_type, merge_keys
from ._methods import DECLARED, GROUP_TRANSFORMATIONS
from ._node import Call, Node, bottom_up
from ._relation import Labels, all_of
from ._relations import RELATIONS
from ._value_dtypes import differ, differing_labels, outcomes_of, parts_by_values
from ._wanted import wanted_columns

# Finds the dtypes of all rows of a plan, by running it.
Find = Callable[[Node], Mapping[Any, str]]
# They align by labels, which may be absent.
_OF_LABELS = ("apply", "set", "filter_by")
# Of no rows they are NaN, and so floats.
_OF_NO_ROWS = ("min", "max", "agg")


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
    is_beside_objects = joins_objects(call)
    if has_all_rows and not every_step and not is_beside_objects:
        return call
    inputs = tuple(node.empty for node in call.inputs)
    outcomes = outcomes_of(lambda: call.result_of(inputs))
    part = call
    if is_beside_objects or (
        every_step and (call.method in (*_OF_LABELS, *_OF_NO_ROWS) or _merges_two_dtypes(call))
    ):
        # The labels of the rows decide too, or whether there are rows.
        pass
    elif not differ(outcomes):
        return call
    elif call.is_frame and len(outcomes) > 1:
        labels = [label for label in differing_labels(outcomes) if label in wanted]
        if not labels:
            return call
        # Other columns need not be read.
        part = Call.of("select", (call,), {"columns": labels})
    found = find(part)
    narrow, widest = dtype_names(call.narrow), dtype_names(call.empty)
    # Bools that miss values are objects, also where no row that is left misses one.
    dtypes = {
        label: name
        for label, name in found.items()
        if {narrow.get(label), widest.get(label)} not in ({name}, {BOOLS_WITH_HOLES})
    }
    return Call.of("declared", (call,), {"dtypes": dtypes}) if dtypes else call


def _merges_two_dtypes(call: Call) -> bool:
    """Whether a key column of a join has the dtype of one side if no row of the other is left."""
    # Bools that a side may miss are objects, whatever rows are left.
    pairs = [pair for pair in _keys_of_two_dtypes(call) if pair != {"bool", BOOLS_WITH_HOLES}]
    return bool(pairs) and join_type(call).keeps[1]


def joins_objects(call: Call) -> bool:
    """Whether keys of another dtype are objects in the result, unless a side has no rows."""
    return any("object" in pair for pair in _keys_of_two_dtypes(call))


def _keys_of_two_dtypes(call: Call) -> list[set[str | None]]:
    """The dtypes of both sides of the keys of a join of matches, where they differ."""
    keys = merge_keys(call) if call.method == "merge" else None
    if keys is None or not join_type(call).has_matches:
        return []
    left, right = (dtype_names(node.empty) for node in call.inputs)
    pairs = [{left.get(a), right.get(b)} for a, b in zip(*keys, strict=True)]
    return [pair for pair in pairs if len(pair) > 1]


def _with_declared(call: Call, find: Find, wanted: Labels) -> dict[str, Any] | None:
    """The arguments with expressions whose parts are declared; None if none changes."""
    is_changed = False

    def changed(value: object, child: Node) -> Any:
        def declare(expression: Expression) -> Expression:
            nonlocal is_changed
            new = _declared_expression(expression, child, find)
            is_changed |= new is not expression
            return new

        return with_expressions(value, declare)

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
    found = {id(part) for part in parts_by_values(expression, frame)}
    if not found:
        return expression

    def declare(part: Expression, new: dict[int, Any]) -> Expression:
        rebuilt = part._rebuilt(new)
        if id(part) not in found:
            return rebuilt
        whole = Call.of("column", (child,), {"expression": rebuilt})
        (name,) = find(whole).values()
        return Expression(DECLARED, (rebuilt, name))

    return expression._rewritten(declare)
