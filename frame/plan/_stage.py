# SPDX-License-Identifier: Apache-2.0
"""Stages: the rowwise calls between two breakers, as one compiled program."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...primitives.staging import Frozen, tiered
from ..table._column import Column, bare
from ..table._layout import Layout
from ..table._take import resized, settled
from ..table._tracing import is_traced
from ._expression import Expression
from ._methods import apply
from ._node import Call, Node, Step, given
from ._relations import INDEX, RELATIONS, Labels, needed, origins

_COMPARISONS = frozenset(["==", "!=", "<", "<=", ">", ">=", "eq", "ne", "lt", "le", "gt", "ge"])
_MISSING = frozenset(["isna", "isnull", "notna", "notnull"])
_ARITHMETIC = frozenset(["+", "-", "*", "/", "add", "sub", "mul", "div", "truediv"])
# Their result has the same dtype whatever the values are, and needs no values on the host.
_STAGED = frozenset(["col", "alias", "&", "|", "^", "~", "neg", "pos", "abs", "between", "isin"])
_STAGED |= _ARITHMETIC | _COMPARISONS | _MISSING


# The kinds of columns that a stage compares with scalars.
_PLAIN = ("string", "datetime", "timedelta")
# A longer list of values would be a constant of more than a few hundred bytes.
_MOST_VALUES = 32


def is_staged(node: Node) -> bool:
    """Whether a node runs inside a compiled stage.

    A stage holds rowwise calls on numbers, and comparisons of strings and times with scalars. The
    dtypes of their results do not depend on values, so the compiled answer is the eager one.
    """
    if not isinstance(node, Call) or not node.is_frame or not node.inputs[0].is_frame:
        return False
    if node.method in ("select", "rename"):
        return True
    if node.method == "dropna":
        source = node.inputs[0]
        reads = RELATIONS["dropna"].reads(node, frozenset())
        return all(
            label in source.labels and source.empty._column(label).is_numeric for label in reads
        )
    if node.method == "filter":
        return _is_staged_expression(node.arguments["predicate"], node.inputs[0])
    if node.method == "assign":
        staged = node.inputs[0]
        values = node.arguments["values"]
        # A value may read a column assigned before it: only the input's columns have known types.
        return all(
            isinstance(value, Expression)
            and not value.columns() & values.keys() - {label}
            and _is_staged_expression(value, staged)
            for label, value in values.items()
        )
    return False


def is_work(calls: Sequence[Call]) -> bool:
    """Whether calls compute anything: selecting and renaming columns needs no program."""
    return any(call.method not in ("select", "rename") for call in calls)


def _is_staged_expression(expression: Expression, node: Node) -> bool:
    frame = node.empty
    if not expression.columns() <= set(node.labels):
        return False
    for part in expression._bottom_up():
        if part.function not in _STAGED or part.keywords or not all(map(_is_short, part.operands)):
            return False
        columns = [
            frame._column(child.operands[0]) for child in part.children if child.function == "col"
        ]
        if any(column.dtype.kind == "c" for column in columns):
            return False
        if all(column.is_numeric for column in columns):
            continue
        # Strings and times: compared with scalars only.
        are_plain = all(column.is_numeric or column.kind in _PLAIN for column in columns)
        is_simple = part.function in _MISSING or (
            part.function in _COMPARISONS and len(part.children) == 1
        )
        if not (are_plain and is_simple):
            return False
    root = expression
    while root.function == "alias":
        root = root.operands[0]
    return root.function != "col" or frame._column(root.operands[0]).is_numeric


@dataclass(frozen=True, eq=False)
class Fused(Step):
    """A stage of a plan: several calls that run as one program.

    Attributes:
        calls: the calls, the first one first.
        inputs: the plan of the frame that the first call takes.
        wanted: the columns of the result that the plan needs; `INDEX` for the row labels.
    """

    calls: tuple[Call, ...]
    inputs: tuple[Any, ...]
    wanted: Labels

    def run(self, frame: Any) -> Any:
        """Runs the stage."""
        return run_stage(self.calls, frame, self.wanted)

    @property
    def empty(self) -> Any:
        """The result for sources without rows."""
        return _selected(self.calls[-1].empty, self.wanted)


def _is_short(operand: Any) -> bool:
    return not isinstance(operand, (list, tuple, set)) or len(operand) <= _MOST_VALUES


@dataclass(frozen=True)
class Stage:
    """The calls of a stage without their inputs. Static: equal stages share compiled programs.

    Attributes:
        steps: the method and the arguments of each call, and the columns needed of its result;
            the first call first.
        has_labels: whether the row labels of the result are needed.
    """

    steps: tuple[tuple[str, Frozen, Labels], ...]
    has_labels: bool

    def __call__(self, frame: Any) -> Any:
        """Runs the calls on a frame: with traced arrays inside the compiled program."""
        for method, frozen, wanted in self.steps:
            frame = _step(method, given(frozen), wanted, frame)
        frame = _selected(frame, self.steps[-1][2])
        return frame if self.has_labels else frame._with_range()


def run_stage(calls: Sequence[Call], frame: Any, wanted: Labels) -> Any:
    """Runs staged calls on a frame, in one compiled program.

    Args:
        calls: staged calls, the first one first.
        frame: the input of the first call.
        wanted: the columns of the result that are needed, and `INDEX` for the row labels.
    """
    has_labels = INDEX in wanted
    calls, wanted_of_each, wanted = _narrowed(calls, wanted - {INDEX})
    steps = zip(calls, wanted_of_each, strict=True)
    stage = Stage(tuple((call.method, call.frozen, labels) for call, labels in steps), has_labels)
    frame = _selected(frame, wanted)
    if not calls:
        return frame
    if any(frame._column(label).valid is not None for label in _computed(calls)):
        # Masks inside a program become floats on the host, and later calls may depend on it.
        return stage(frame)
    if not has_labels:
        frame = frame._with_range()
    carried = _carried(calls, frame)
    anonymous = frame._with_columns(
        bare(column) if label in carried.values() else column
        for label, column in zip(frame._labels, frame._table.columns, strict=True)
    )
    result = fitted(_compiled(stage, anonymous))
    types = {label: frame._column(source).type for label, source in carried.items()}
    columns = [
        Column(column.data, column.valid, types.get(label, column.type))
        for label, column in zip(result._labels, result._table.columns, strict=True)
    ]
    num_rows = result._table.num_rows
    return result._with_columns(settled(column, num_rows) for column in columns)


@functools.partial(tiered, static_argnums=0)
def _compiled(stage: Stage, frame: Any) -> Any:
    return stage(frame)


def fitted(frame: Any) -> Any:
    """Gives a frame the capacity of its rows."""
    table = frame._table
    capacity = table.layout.capacity_for(table.num_rows_on_host)
    if capacity >= table.capacity:
        return frame
    columns = (*table.columns, *table.index.stored)
    columns = _front(columns, capacity, table.layout)
    index = table.index
    if index.stored:
        index = index.with_stored(columns[len(table.columns) :])
    return frame._like(table.replace(columns=columns[: len(table.columns)], index=index))


def _front(columns: tuple[Column, ...], capacity: int, layout: Layout) -> tuple[Column, ...]:
    if layout.mesh is not None:
        return resized(columns, capacity, layout)
    arrays = _sliced(tuple(column.arrays for column in columns), capacity)
    return tuple(map(Column.with_arrays, columns, arrays))


@functools.partial(tiered, static_argnums=1)
def _sliced(arrays: Any, capacity: int) -> Any:
    return jax.tree.map(lambda rows: jax.lax.slice_in_dim(rows, 0, capacity), arrays)


def _narrowed(calls: Sequence[Call], wanted: Labels) -> tuple[list[Call], list[Labels], Labels]:
    """The calls without what is not wanted, the columns wanted of each, and of the input."""
    narrowed: list[Call] = []
    wanted_of_each: list[Labels] = []
    for call in reversed(calls):
        kept = RELATIONS[call.method].narrowed(call, wanted)
        if kept is not None:
            narrowed.insert(0, kept)
            wanted_of_each.insert(0, wanted)
        (wanted,) = needed(call, wanted)
    return narrowed, wanted_of_each, wanted


def _selected(frame: Any, wanted: Labels) -> Any:
    """The wanted columns of a frame; all if none is wanted, since they tell the capacity."""
    labels = [label for label in frame._labels if label in wanted]
    return frame[labels] if labels else frame


def _computed(calls: Sequence[Call]) -> frozenset[Any]:
    """The columns of the stage's input that its calls compute with."""
    back = {label: label for label in calls[0].inputs[0].labels}
    computed: set[Any] = set()
    for call in calls:
        relation = RELATIONS[call.method]
        reads = relation.reads(call, frozenset(call.labels))
        computed.update(back[label] for label in reads if label in back)
        (kept,) = origins(call)
        back = {label: back[source] for label, source in kept.items() if source in back}
    return frozenset(computed)


def _carried(calls: Sequence[Call], frame: Any) -> dict[Any, Any]:
    """The result's columns that no call computes with, and their labels in the frame."""
    computed = _computed(calls)
    back = {label: label for label in frame._labels}
    for call in calls:
        (kept,) = origins(call)
        back = {label: back[source] for label, source in kept.items() if source in back}
    return {label: source for label, source in back.items() if source not in computed}


def _step(method: str, arguments: dict[str, Any], wanted: Labels, frame: Any) -> Any:
    if method == "filter":
        # The filter moves the columns that are needed afterwards.
        return _selected(frame, wanted)[_evaluated(arguments["predicate"], frame)]
    if method == "assign":
        for label, value in arguments["values"].items():
            frame = frame.assign(**{label: _evaluated(value, frame)})
        return frame
    return RELATIONS[method].run((frame,), arguments)


def _evaluated(expression: Expression, frame: Any) -> Any:
    """Evaluates an expression with the roundings of eager calls.

    Each of these is a program of its own. In one program XLA contracts `x * y + z` to one
    operation with one rounding, and turns `x / y / z` into `x / (y * z)`.
    """
    values: dict[int, Any] = {}
    for part in expression._bottom_up():
        if part.function == "col":
            value = frame[part.operands[0]]
        else:
            operands, _ = part._filled(values)
            value = apply(part.function, operands, {})
            if part.function in _ARITHMETIC:
                value = _opaque(value)
        values[id(part)] = value
    return values[id(expression)]


def _opaque(series: Any) -> Any:
    """The same values, as results that XLA knows nothing of.

    A barrier is not enough: XLA drops it before LLVM contracts operations.
    """
    column, num_rows = series._only, series._table.num_rows
    if not column.is_float or not is_traced(num_rows):
        return series
    words = jnp.dtype(f"uint{column.dtype.itemsize * 8}")
    # Zero, because a number of rows is not negative: which XLA does not know.
    zero = jax.lax.shift_right_arithmetic(num_rows, np.int32(31)).astype(words)
    bits = jax.lax.bitcast_convert_type(column.data, words) ^ zero
    data = jax.lax.bitcast_convert_type(bits, column.dtype)
    return series._with_column(Column(data, column.valid, column.type))
