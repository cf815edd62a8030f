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
from ._lookups import LOOKUP, is_lookup, looked_up, lookups_of, table_of, with_lookups
from ._methods import apply
from ._node import Call, Node, Step, frozen, given
from ._relations import INDEX, RELATIONS, Labels, needed, origins

_COMPARISONS = frozenset(["==", "!=", "<", "<=", ">", ">=", "eq", "ne", "lt", "le", "gt", "ge"])
_MISSING = frozenset(["isna", "isnull", "notna", "notnull"])
_ARITHMETIC = frozenset(["+", "-", "*", "/", "add", "sub", "mul", "div", "truediv"])
# Their result has the same dtype whatever the values are, and needs no values on the host.
_STAGED = frozenset(["col", "alias", "&", "|", "^", "~", "neg", "pos", "abs", "between", "isin"])
_STAGED |= _ARITHMETIC | _COMPARISONS | _MISSING


# Fields of times: compared with scalars, or assigned, because those of a missing time are missing.
_FIELDS = frozenset([
    "dt.day", "dt.day_of_week", "dt.day_of_year", "dt.dayofweek", "dt.dayofyear", "dt.hour",
    "dt.minute", "dt.month", "dt.quarter", "dt.second", "dt.weekday", "dt.year",
])  # fmt: skip
_CHOICES = frozenset(["where", "mask"])

# The kinds of columns that a stage compares with scalars.
_PLAIN = ("datetime", "timedelta")
# A longer list of values would be a constant of more than a few hundred bytes.
_MOST_VALUES = 32


def is_staged(node: Node) -> bool:
    """Whether a node runs inside a compiled stage.

    A stage holds rowwise calls on numbers, and comparisons of strings and times with scalars. The
    dtypes of their results do not depend on values, so the compiled answer is the eager one.
    """
    if not isinstance(node, Call) or not node.is_frame or not node.inputs[0].is_frame:
        return False
    return all(_is_staged_on(node, frame) for frame in node.inputs[0].outcomes)


def _is_staged_on(node: Call, frame: Any) -> bool:
    """Whether a node runs inside a compiled stage if its input has the dtypes of a frame."""
    if node.method in ("select", "rename"):
        return True
    if node.method == "dropna":
        reads = RELATIONS["dropna"].reads(node, frozenset())
        return all(label in frame and frame._column(label).is_numeric for label in reads)
    if node.method in ("astype", "fillna"):
        return _is_staged_change(node, frame)
    if node.method == "filter":
        return _is_staged_expression(node.arguments["predicate"], frame)
    if node.method == "assign":
        values = node.arguments["values"]
        # A value may read a column assigned before it: only the input's columns have known types.
        return all(
            isinstance(value, Expression)
            and not value.columns() & values.keys() - {label}
            and _is_staged_expression(value, frame)
            for label, value in values.items()
        )
    return False


def _is_staged_change(node: Call, source: Any) -> bool:
    """Whether a cast raises for no value, or missing values of floats are replaced by a number."""
    value = node.arguments["dtype" if node.method == "astype" else "value"]
    if node.arguments.keys() - {"dtype", "value"}:
        return False
    changed = value if isinstance(value, dict) else dict.fromkeys(source._labels, value)
    columns = {label: source._column(label) for label in changed if label in node.labels}
    if not all(one.is_numeric and one.dtype.kind != "c" for one in columns.values()):
        return False
    if node.method == "fillna":
        return all(
            one.dtype == np.float64 and type(changed[label]) in (int, float)
            for label, one in columns.items()
        )
    results = {label: node.empty._column(label) for label in columns}
    return all(
        results[label].is_numeric and _keeps_values(one.dtype, results[label].dtype)
        for label, one in columns.items()
    )


def is_work(calls: Sequence[Call]) -> bool:
    """Whether calls compute anything: selecting and renaming columns needs no program."""
    return any(call.method not in ("select", "rename") for call in calls)


def _is_staged_expression(expression: Expression, frame: Any) -> bool:
    if not expression.columns() <= set(frame._labels):
        return False
    root = expression
    while root.function == "alias":
        root = root.operands[0]
    if root.function == "col":
        return frame._column(root.operands[0]).is_numeric
    if root.function in _FIELDS:
        return _is_column_of(("datetime",), root.operands[0], frame)
    return _is_staged_part(expression, frame)


def _is_staged_part(part: Expression, frame: Any) -> bool:
    """Whether a part of an expression runs inside a stage and has numbers for each row."""
    if part.function == "col":
        column = frame._column(part.operands[0])
        return column.is_numeric and column.dtype.kind != "c"
    if is_lookup(part, frame):
        return True
    if part.keywords or not all(map(_is_short, part.operands)):
        return False
    function, children = part.function, part.children
    if len(children) == 1 and function in _COMPARISONS | _MISSING | {"between", "isin"}:
        (child,) = children
        if child.function in _FIELDS:
            return function not in _MISSING and _is_column_of(
                ("datetime",), child.operands[0], frame
            )
        if _is_column_of(_PLAIN, child, frame):
            return function in _COMPARISONS | _MISSING
    if function in _CHOICES:
        return _is_choice(part, frame)
    if function in ("astype", "fillna"):
        return _is_change(part, frame)
    return function in _STAGED and all(_is_staged_part(child, frame) for child in children)


def _is_column_of(kinds: Sequence[str], part: Any, frame: Any) -> bool:
    is_column = isinstance(part, Expression) and part.function == "col"
    return is_column and frame._column(part.operands[0]).kind in kinds


def _is_choice(part: Expression, frame: Any) -> bool:
    """Whether a `where` has floats, or a column and a constant of floats: then no dtype changes."""
    if len(part.operands) != 3 or not isinstance(part.operands[1], Expression):
        return False
    values, condition, other = part.operands
    if not all(_is_staged_part(child, frame) for child in part.children):
        return False
    are_floats = all(
        one.evaluate(frame).dtype == np.float64
        if isinstance(one, Expression)
        else type(one) is float
        for one in (values, other)
    )
    return are_floats and condition.evaluate(frame).dtype == np.bool_


def _is_change(part: Expression, frame: Any) -> bool:
    """Whether a part casts numbers so that none raises, or replaces missing floats by a number."""
    if (
        len(part.operands) != 2
        or len(part.children) != 1
        or part.children[0] is not part.operands[0]
    ):
        return False
    values, constant = part.operands
    if not _is_staged_part(values, frame):
        return False
    before = values.evaluate(frame).dtype
    if part.function == "fillna":
        return before == np.float64 and type(constant) in (int, float)
    return _keeps_values(before, part.evaluate(frame).dtype)


def _keeps_values(before: Any, after: Any) -> bool:
    """Whether a cast raises for no number."""
    return after.kind == "f" or (after.kind in "iu" and before.kind in "iub")


def can_follow(calls: Sequence[Call], node: Call) -> bool:
    """Whether a staged call may run in the stage of other calls, the first one first.

    Lookups need the strings of the stage's input. Fields of times are masked inside a program, and
    are not computed with.
    """
    if not calls:
        return True
    back = _sources(calls)
    masked = {
        label
        for call in calls
        if call.method == "assign"
        for label, value in call.arguments["values"].items()
        if _is_field(value)
    }
    reads = RELATIONS[node.method].reads(node, frozenset(node.labels))
    known = all(
        label in back
        for expression in _expressions(node)
        for part in lookups_of(expression, node.inputs[0].empty)
        for label in part.columns()
    )
    return known and not any(label in masked for label in reads)


def _is_field(value: Any) -> bool:
    while isinstance(value, Expression) and value.function == "alias":
        value = value.operands[0]
    return isinstance(value, Expression) and value.function in _FIELDS


def _expressions(call: Call) -> list[Expression]:
    if call.method == "filter":
        return [call.arguments["predicate"]]
    return list(call.arguments["values"].values()) if call.method == "assign" else []


def _sources(calls: Sequence[Call]) -> dict[Any, Any]:
    """The input's label of each column that calls leave as it is."""
    back = {label: label for label in calls[0].inputs[0].labels}
    for call in calls:
        (kept,) = origins(call)
        back = {label: back[source] for label, source in kept.items() if source in back}
    return back


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
        """The result for sources without rows; see `Step.empty`."""
        return _selected(self.calls[-1].empty, self.wanted)

    @property
    def narrow(self) -> Any:
        """The result of the eager methods for sources without rows."""
        return _selected(self.calls[-1].narrow, self.wanted)


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

    def __call__(self, frame: Any, tables: tuple[Column, ...] = ()) -> Any:
        """Runs the calls on a frame: with traced arrays inside the compiled program.

        Args:
            frame: the input of the first call.
            tables: the tables of lookups.
        """
        for method, held, wanted in self.steps:
            frame = _step(method, given(held), wanted, frame, tables)
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
    frame = _selected(frame, wanted)
    if not calls:
        return frame
    lookups = _with_tables(calls, frame)
    arguments = [call.frozen for call in calls] if lookups is None else lookups[0]
    methods = [call.method for call in calls]
    stage = Stage(tuple(zip(methods, arguments, wanted_of_each, strict=True)), has_labels)
    computed = _computed(calls, arguments)
    if lookups is None or any(frame._column(label).valid is not None for label in computed):
        # Masks inside a program become floats on the host, and later calls may depend on it.
        return stage(frame, () if lookups is None else lookups[1])
    if not has_labels:
        frame = frame._with_range()
    tables = lookups[1]
    back = _sources(calls)
    carried = {
        label: source
        for label, source in back.items()
        if source not in computed and label in wanted_of_each[-1]
    }
    # Inputs that no call computes with have no dictionary and no unit.
    plain = {label for label in frame._labels if label not in computed}
    anonymous = frame._with_columns(
        bare(column) if label in plain else column
        for label, column in zip(frame._labels, frame._table.columns, strict=True)
    )
    result = _compiled(stage, anonymous, tables)
    # With the masks that the program gave: see `NDFrame._of_tree`.
    result = fitted(result._like(result._stored.with_known_counts()))
    types = {label: frame._column(source).type for label, source in carried.items()}
    num_rows = result._table.num_rows
    return result._with_columns(
        # Bools that are carried along keep their mask, whichever rows are left.
        Column(column.data, column.valid, types[label])
        if label in types
        else settled(column, num_rows)
        for label, column in zip(result._labels, result._table.columns, strict=True)
    )


@functools.partial(tiered, static_argnums=0)
def _compiled(stage: Stage, frame: Any, tables: tuple[Column, ...]) -> Any:
    return stage(frame, tables)


def _with_tables(
    calls: Sequence[Call], frame: Any
) -> tuple[list[Frozen], tuple[Column, ...]] | None:
    """The arguments of calls with lookups in place of conditions on strings, and their tables.

    None if a condition must be evaluated for each row.
    """
    tables: list[Column] = []
    arguments: list[Frozen] = []
    for position, call in enumerate(calls):
        back = _sources(calls[:position]) if position else {one: one for one in frame._labels}
        numbers: dict[int, int] = {}
        expressions = _expressions(call)
        for expression in expressions:
            for part in lookups_of(expression, call.inputs[0].empty):
                (label,) = part.columns()
                table = table_of(part, label, frame._column(back[label]))
                if table is None:
                    return None
                numbers[id(part)] = len(tables)
                tables.append(table)
        if not numbers:
            arguments.append(call.frozen)
        elif call.method == "filter":
            (predicate,) = expressions
            arguments.append(frozen(call, predicate=with_lookups(predicate, numbers)))
        else:
            values = call.arguments["values"]
            values = {label: with_lookups(one, numbers) for label, one in values.items()}
            arguments.append(frozen(call, values=values))
    return arguments, tuple(tables)


def fitted(frame: Any) -> Any:
    """Gives a frame the capacity of its rows."""
    table = frame._table
    capacity = table.layout.capacity_for(table.num_rows_on_host)
    if capacity >= table.capacity:
        return frame
    columns = (*table.columns, *table.index.stored)
    return frame._like(table.with_stored(_front(columns, capacity, table.layout)))


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


def _computed(calls: Sequence[Call], arguments: Sequence[Frozen]) -> frozenset[Any]:
    """The columns of the stage's input that its calls compute with; lookups use codes alone."""
    computed: set[Any] = set()
    for position, (call, held) in enumerate(zip(calls, arguments, strict=True)):
        back = _sources(calls[:position]) if position else None
        if call.method in ("filter", "assign"):
            found = given(held)
            values = [found["predicate"]] if call.method == "filter" else found["values"].values()
            reads = frozenset().union(*(one.columns() for one in values))
            if call.method == "assign":
                # A column that is there keeps its position.
                reads |= found["values"].keys() & set(call.inputs[0].labels)
        else:
            reads = RELATIONS[call.method].reads(call, frozenset(call.labels))
        known = {one: one for one in call.inputs[0].labels} if back is None else back
        computed.update(known[label] for label in reads if label in known)
    return frozenset(computed)


def _step(
    method: str,
    arguments: dict[str, Any],
    wanted: Labels,
    frame: Any,
    tables: tuple[Column, ...],
) -> Any:
    if method == "filter":
        # The filter moves the columns that are needed afterwards.
        return _selected(frame, wanted)[_evaluated(arguments["predicate"], frame, tables)]
    if method == "assign":
        for label, value in arguments["values"].items():
            frame = frame.assign(**{label: _evaluated(value, frame, tables)})
        return frame
    return RELATIONS[method].run((frame,), arguments)


def _evaluated(expression: Expression, frame: Any, tables: tuple[Column, ...]) -> Any:
    """Evaluates an expression with the roundings of eager calls.

    Each of these is a program of its own. In one program XLA contracts `x * y + z` to one
    operation with one rounding, and turns `x / y / z` into `x / (y * z)`.
    """
    values: dict[int, Any] = {}
    for part in expression._bottom_up():
        if part.function == "col":
            value = frame[part.operands[0]]
        elif part.function == LOOKUP:
            label, number = part.operands
            value = frame[label]._with_column(looked_up(tables[number], frame[label]))
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
