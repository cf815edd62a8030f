# SPDX-License-Identifier: Apache-2.0
"""A plan as a pipeline: rowwise steps run over batches, breakers merge partial states."""

import dataclasses
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any

from ..combining._concat import concat
from ..plan._expression import Expression
from ..plan._node import Call, Scan
from ..plan._relations import RELATIONS
from ..plan._stage import Fused
from ..table._column_labels import Labels
from ..table._ndframe import SeriesBase
from ..table._row_index import RowIndex
from ._aligned import ALIGNED, aligned
from ._by_key import is_transformation, keys_of, reduced, transformed
from ._distinct import NumberedDistinctRows
from ._groups import REDUCTIONS as MERGEABLE
from ._groups import Grouping, Output, grouped, grouping, grouping_of, in_dtypes
from ._merge import JoinSteps, is_streamed, merged
from ._numbering import ROW, like, names, positions_of
from ._quantiles import QUANTILES, are_streamed, quantiles
from ._reductions_first import (
    is_reduction,
    is_value,
    reduction_of_series,
    reductions_of,
    with_values,
)
from ._runs import Order
from ._spilling_groups import SpillingGroups, in_order, in_order_of_rows
from ._spilling_groups import numbered as with_rows
from ._steps import Step, Steps, from_first
from ._windows import are_windows_streamed, windows_of

# Frames are concatenated in groups of this many, so that few programs serve all numbers of batches.
_FAN_IN = 8


@dataclasses.dataclass(frozen=True)
class Stage:
    """How the result of a step is made.

    Attributes:
        run: gives an iterator of batches, or the whole result.
        is_whole: whether `run` gives the whole result.
        empty: the result for sources without rows.
        pieces: gives a whole result as batches, if it may be larger than memory.
        later: gives the batches from a number on, without those before; None unless each is made of
            one batch of a source.
        unordered: gives the batches with their rows in any order, if this saves a sort on disk.
    """

    run: Callable[[], Any]
    is_whole: bool
    empty: Any
    pieces: Callable[[], Iterator[Any]] | None = None
    later: Callable[[int], Iterator[Any]] | None = None
    unordered: Callable[[], Iterator[Any]] | None = None

    def batches(self) -> Iterator[Any]:
        """The result as batches."""
        if not self.is_whole:
            return self.run()
        return iter([self.run()]) if self.pieces is None else self.pieces()

    def in_any_order(self) -> Iterator[Any]:
        """The result as batches, with its rows in any order."""
        return self.in_any_order_from(0)[0]

    def batches_from(self, number: int) -> tuple[Iterator[Any], int]:
        """Batches, and the number of the first one: `number` where those before can be left out."""
        if self.later is None:
            return self.batches(), 0
        return self.later(number), number

    def in_any_order_from(self, number: int) -> tuple[Iterator[Any], int]:
        """The same as `batches_from`, with the rows of all batches in any order."""
        return self.batches_from(number) if self.unordered is None else (self.unordered(), 0)

    def whole(self) -> Any:
        """The whole result."""
        return self.run() if self.is_whole else joined(self.run(), self.empty)


# Reads a source from a batch on, by default from the first one.
Read = Callable[..., Iterator[Any]]


def pipeline(node: Any, read: Read, batch_rows: int, steps: Steps | None = None) -> Stage:
    """Builds the pipeline of an optimised plan; nothing runs yet.

    Args:
        node: the last step.
        read: reads a source in batches.
        batch_rows: the number of rows of a batch, and of the states that stay in memory.
        steps: where rows on disk and states are; in temporary folders if None.

    Raises:
        NotImplementedError: a method cannot run over batches.
    """
    built: dict[Any, Stage] = {}
    steps = steps or Steps()

    def build(one: Any) -> Stage:
        if one not in built:
            built[one] = _stage(one, build, read, batch_rows, steps)
        return built[one]

    return build(node)


def _stage(
    node: Any,
    build: Callable[[Any], Stage],
    read: Read,
    batch_rows: int,
    steps: Steps,
) -> Stage:
    """The stage of a node, with those of its inputs made by `build`."""
    if isinstance(node, Scan):
        return Stage(lambda: read(node), False, node.empty, later=lambda first: read(node, first))
    if node.inputs and isinstance(node, Call) and node.method == "concat":
        return _concatenated(node, [build(child) for child in node.inputs])
    first, *others = map(build, node.inputs)
    are_whole = first.is_whole and all(other.is_whole for other in others)
    if isinstance(node, Call) and node.method in ALIGNED and not are_whole:
        reduction = reduction_of_series(node)
        if reduction is not None:
            return _step(reduction, first, batch_rows, steps)
        return _aligned(node, first, others, build)
    is_each = isinstance(node, Fused) or (isinstance(node, Call) and is_mapped(node))
    if first.is_whole and first.pieces is not None and is_each and not others:
        return _mapped_pieces(node, first, first.pieces)
    if first.is_whole:
        return _whole(node, lambda: node.run(first.run(), *(one.whole() for one in others)))
    if isinstance(node, Fused):
        return _mapped(node, first)
    if node.method == "merge":
        return _merged(node, first, others[0], batch_rows, steps)
    reductions = None if is_mapped(node) else reductions_of(node)
    if reductions is not None and not is_reduction(node):
        return _with_reductions(
            node, first, [(one, build(_column(node, one))) for one in reductions]
        )
    return _step(node, first, batch_rows, steps)


def _step(node: Call, stage: Stage, batch_rows: int, steps: Steps) -> Stage:
    """A call on the batches of one input."""
    arguments, method = node.arguments, node.method
    if is_mapped(node):
        return _mapped(node, stage)
    match method:
        case "dropna":
            return _numbered(node, stage)
        case "reset_index":
            return _numbered(node, stage)
        case "head" if arguments["n"] >= 0:
            return Stage(lambda: _first(stage.run(), arguments["n"]), False, node.empty)
        case "tail" if arguments["n"] >= 0:
            return _folded(node, stage)
        case "nlargest" | "nsmallest":
            return _folded(node, stage)
        case "drop_duplicates" if _is_mergeable(arguments):
            return _distinct(node, stage, batch_rows, steps)
        case "sort_values" if _order_of(node) is not None:
            return _sorted(node, stage, batch_rows, steps)
        case "unique":
            rows = _distinct_rows(stage, {}, batch_rows, steps)
            return _whole(node, lambda: node.run(joined(rows(), stage.empty)))
        case "value_counts":
            return _counted(node, stage, batch_rows, steps)
        case "groupby" if is_transformation(node) and keys_of(node) is not None:
            both = _two_of(steps, stage)
            return Stage(
                lambda: transformed(node, stage.batches_from, batch_rows, both), False, node.empty
            )
        case "groupby" if not is_transformation(node):
            return _groups(node, stage, batch_rows, steps)
        case "windows" if are_windows_streamed(node):
            return Stage(lambda: windows_of(node, stage.run()), False, node.empty)
        case "column":
            return _reduced_column(node, stage, batch_rows, steps)
        case _ if method in MERGEABLE:
            return _reduced(node, stage, method, arguments, batch_rows, steps)
        case _ if method in QUANTILES:
            return _quantiles(node, stage, node, arguments, batch_rows)
        case "groupby":
            raise unstreamed(f"groupby.{arguments['method']}")
        case _:
            raise unstreamed(method)


def is_mapped(node: Call) -> bool:
    """Whether a call of each batch gives the call of all rows."""
    arguments, relation = node.arguments, RELATIONS[node.method]
    match node.method:
        case "set_index":
            return not arguments.get("verify_integrity")
        case "astype" if _makes_categories(arguments["dtype"]):
            return False
        case "dropna" if arguments.get("ignore_index"):
            return False
        case _:
            return relation.rows in ("each", "drops") and relation.is_rowwise(node)


def unstreamed(method: str) -> NotImplementedError:
    """The error for a method that needs all rows at once."""
    return NotImplementedError(
        f"{method}: cannot run over batches of rows, because it needs all rows at once. Call "
        "collect() without batch_rows= and memory_limit=."
    )


def _whole(node: Any, run: Callable[[], Any]) -> Stage:
    return Stage(run, True, node.empty)


def _makes_categories(dtype: Any) -> bool:
    given = dtype.values() if isinstance(dtype, dict) else [dtype]
    return any(str(one) == "category" for one in given)


# Rows.


def _mapped(node: Any, stage: Stage) -> Stage:
    """A rowwise call of each batch."""
    return _applied(_of_any_start(node) if isinstance(node, Fused) else node.run, stage, node.empty)


def _applied(run: Callable[[Any], Any], stage: Stage, empty: Any) -> Stage:
    """A function of each batch."""
    later, unordered = stage.later, stage.unordered
    return Stage(
        lambda: _each(run, stage.run()),
        False,
        empty,
        later=None if later is None else lambda first: _each(run, later(first)),
        unordered=None if unordered is None else lambda: _each(run, unordered()),
    )


def _of_any_start(stage: Fused) -> Callable[[Any], Any]:
    """Runs a stage on labels from 0 on: the first label of a range is compiled in."""
    if any(call.arguments.get("ignore_index") for call in stage.calls):
        return stage.run

    def run(batch: Any) -> Any:
        index = batch._table.index
        if not index.is_range or not index.start:
            return stage.run(batch)
        start = index.start
        index = dataclasses.replace(index, start=0)
        result = stage.run(batch._like(batch._table.replace(index=index)))
        table = result._table
        # Rows that a filter keeps have positions in the range.
        if table.index.is_range or table.index.has_positions:
            index = dataclasses.replace(table.index, start=table.index.start + start)
            return result._like(table.replace(index=index))
        return result

    return run


def _mapped_pieces(node: Any, stage: Stage, pieces: Callable[[], Iterator[Any]]) -> Stage:
    """A rowwise call of a whole result, or of its pieces."""

    def run() -> Iterator[Any]:
        return _each(node.run, pieces())

    return Stage(lambda: node.run(stage.run()), True, node.empty, run)


def _each(call: Callable[[Any], Any], batches: Iterator[Any]) -> Iterator[Any]:
    """Calls a function with each batch; closing the result closes the batches."""
    try:
        yield from map(call, batches)
    finally:
        close(batches)


def _numbered(node: Call, stage: Stage) -> Stage:
    """A rowwise call of each batch, with new row labels 0, 1, ..."""
    return Stage(lambda: numbered(_each(node.run, stage.run())), False, node.empty)


def numbered(batches: Iterable[Any]) -> Iterator[Any]:
    """Labels the rows of all batches 0, 1, ..."""
    start = 0
    for batch in batches:
        yield batch._like(batch._table.replace(index=RowIndex((), (None,), start)))
        start += len(batch)


def _first(batches: Iterator[Any], num_rows: int) -> Iterator[Any]:
    """The first rows; later batches are not read."""
    left = num_rows
    try:
        for batch in batches:
            yield batch.head(left)
            left -= len(batch)
            if left <= 0:
                return
    finally:
        close(batches)


def close(batches: Any) -> None:
    """Ends the thread that reads ahead of an iterator."""
    if hasattr(batches, "close"):
        batches.close()


def _concatenated(node: Call, stages: list[Stage]) -> Stage:
    """The batches of one input after those of another, with the columns of all."""
    if all(stage.is_whole for stage in stages):
        return _whole(node, lambda: node.run(*(stage.run() for stage in stages)))

    def run() -> Iterator[Any]:
        for position, stage in enumerate(stages):
            for batch in stage.batches():
                # Inputs without rows give the batch the common columns and dtypes.
                parts = [one.empty for one in stages]
                parts[position] = batch
                yield node.run(*parts)

    if node.arguments.get("ignore_index"):
        return Stage(lambda: numbered(run()), False, node.empty)
    return Stage(run, False, node.empty)


def _merged(node: Call, left: Stage, right: Stage, batch_rows: int, steps: Steps) -> Stage:
    """Joins two streams."""
    if not is_streamed(node):
        raise unstreamed(f"merge(how={node.arguments.get('how', 'inner')!r})")

    layout = node.empty._layout
    steps_of_join = JoinSteps(*(steps.following(layout) for _ in range(3)))

    def run(in_order: bool = True) -> Iterator[Any]:
        sides = left.batches_from, right.batches_from
        rows = merged(node, *sides, batch_rows, joined, steps_of_join, in_order=in_order)
        return numbered(rows)

    return Stage(run, False, node.empty, unordered=lambda: run(in_order=False))


def _aligned(node: Call, first: Stage, others: list[Stage], build: Callable[[Any], Stage]) -> Stage:
    """A call of several series or frames that have the rows of one plan."""
    run = aligned(node, build)
    if run is not None:
        return Stage(run, False, node.empty)
    if first.is_whole:
        return _whole(node, lambda: node.run(first.run(), *(one.whole() for one in others)))
    raise unstreamed(node.method)


def _column(node: Call, expression: Expression) -> Call:
    return Call.of("column", node.inputs, {"expression": expression})


def _with_reductions(node: Call, stage: Stage, reductions: list[tuple[Expression, Stage]]) -> Stage:
    """A call of expressions with reductions over all rows: a pass for each, then one over rows."""

    def call() -> Callable[[Any], Any]:
        return with_values(node, {id(one): reduced.whole() for one, reduced in reductions})

    if is_value(node):
        return _whole(node, lambda: call()(stage.empty))
    return Stage(lambda: _each(call(), stage.run()), False, node.empty)


# States.


def joined(batches: Iterable[Any], empty: Any) -> Any:
    """Concatenates batches; `empty` if there are none."""
    parts = list(batches)
    parts = [part for part in parts if len(part)] or parts[:1] or [empty]
    while len(parts) > 1:
        groups = [parts[start : start + _FAN_IN] for start in range(0, len(parts), _FAN_IN)]
        parts = [concat(group) if len(group) > 1 else group[0] for group in groups]
    return parts[0]


def _folded(node: Call, stage: Stage) -> Stage:
    """A call that may be applied to its own results with more rows."""

    def run() -> Any:
        state = None
        for batch in stage.run():
            part = node.run(batch)
            state = part if state is None else node.run(concat([state, part]))
        return node.empty if state is None else state

    return _whole(node, run)


def _is_mergeable(arguments: dict[str, Any]) -> bool:
    is_kept = arguments.get("keep", "first") in ("first", "last")
    return is_kept and not arguments.get("ignore_index")


def _distinct(node: Call, stage: Stage, batch_rows: int, steps: Steps) -> Stage:
    pieces = _distinct_rows(stage, node.arguments, batch_rows, steps)
    return Stage(lambda: joined(pieces(), node.empty), True, node.empty, pieces)


def _distinct_rows(
    stage: Stage, options: Mapping[str, Any], batch_rows: int, steps: Steps
) -> Callable[[], Iterator[Any]]:
    """Gives the distinct rows of all batches in their order."""
    subset = options.get("subset")
    keys = [names(len(stage.empty._names))[i] for i in positions_of(subset, stage.empty)]
    keep: Any = options.get("keep", "first")
    first, second = _two_of(steps, stage)

    def pieces() -> Iterator[Any]:
        with first.files() as files:
            rows = NumberedDistinctRows(keys, batch_rows, files, keep)
            files.add_batches(rows, stage.batches_from)
            found = rows.frames()
            if rows.is_spilled:
                found = in_order_of_rows(found, batch_rows, second)
            for frame in found:
                yield like(frame, stage.empty)

    return pieces


def _two_of(steps: Steps, stage: Stage) -> tuple[Step, Step]:
    """Two steps for the rows of a stage."""
    layout = stage.empty._layout
    return steps.following(layout), steps.following(layout)


def _groups(node: Call, stage: Stage, batch_rows: int, steps: Steps) -> Stage:
    """Groups: partial states in memory, or on disk if there are many."""
    found = grouping_of(node)
    if found is None:
        return _groups_at_once(node, stage, batch_rows, steps)
    groups = node.arguments["groups"]
    is_sorted = groups.get("sort", True)
    needs_order = not is_sorted or any(one.function in ("first", "last") for one in found.outputs)
    batches_from = stage.batches_from if needs_order else stage.in_any_order_from
    first, second = _two_of(steps, stage)

    def pieces() -> Iterator[Any]:
        with first.files() as files:
            grouping = found if is_sorted else with_rows(found)
            states = SpillingGroups(grouping, batch_rows, files)
            files.add_batches(states, batches_from)
            if states.is_empty:
                yield node.empty
                return
            rows = states.rows()
            if states.is_spilled and not is_sorted:
                rows = in_order_of_rows(rows, batch_rows, second)
            for frame in rows:
                yield grouped(node, frame, found.key_names)

    def batches() -> Iterator[Any]:
        has_labels = groups.get("as_index", True)
        return pieces() if has_labels else numbered(pieces())

    return Stage(lambda: joined(batches(), node.empty), True, node.empty, batches)


def _groups_at_once(node: Call, stage: Stage, batch_rows: int, steps: Steps) -> Stage:
    """Groups whose reductions need all rows of a group at once."""
    if keys_of(node) is None:
        raise unstreamed(f"groupby.{node.arguments['method']}")
    both = _two_of(steps, stage)

    def batches() -> Iterator[Any]:
        rows = reduced(node, stage.batches_from, batch_rows, both)
        return rows if node.arguments["groups"].get("as_index", True) else numbered(rows)

    return Stage(lambda: joined(batches(), node.empty), True, node.empty, batches)


def _order_of(node: Call) -> Order | None:
    """The order of a recorded sort; None if it is not one of columns."""
    arguments, source = node.arguments, node.inputs[0]
    known = {"by", "ascending", "kind", "na_position", "ignore_index"}
    if not source.is_frame or arguments.keys() - known:
        return None
    by = tuple(_listed(arguments["by"]))
    columns = source.empty._table.columns
    is_plain = all(c.kind not in ("category", "object") and c.dtype.kind != "V" for c in columns)
    if not set(by) <= set(source.labels) or not is_plain:
        return None
    ascending = arguments.get("ascending", True)
    directions = ascending if isinstance(ascending, (list, tuple)) else [ascending] * len(by)
    return Order(by, tuple(map(bool, directions)), arguments.get("na_position", "last"))


def _sorted(node: Call, stage: Stage, batch_rows: int, steps: Steps) -> Stage:
    """An external sort: a sorted run on disk for each batch, merged."""
    order = _order_of(node)
    assert order is not None
    step, labels = steps.following(stage.empty._layout), stage.empty._labels

    def run() -> Iterator[Any]:
        return in_order(stage.batches_from, order, batch_rows, step, labels)

    if node.arguments.get("ignore_index"):
        return Stage(lambda: numbered(run()), False, node.empty)
    return Stage(run, False, node.empty)


def _counted(node: Call, stage: Stage, batch_rows: int, steps: Steps) -> Stage:
    """The number of rows with each combination of values."""
    arguments, empty = node.arguments, stage.empty
    is_series = isinstance(empty, SeriesBase)
    subset = arguments.get("subset")
    labels = list(empty._names) if subset is None else _listed(subset)
    columns = [empty._only] if is_series else [empty._column(label) for label in labels]
    if any(column.kind == "category" for column in columns) or arguments.get("bins") is not None:
        raise unstreamed("value_counts of categories or bins")
    keys = [f"k{position}" for position in range(len(labels))]
    is_ascending = bool(arguments.get("ascending", False))
    dropna = arguments.get("dropna", True)
    grouping = Grouping(tuple(keys), (), (Output(0, "size"),), dropna, is_numbered=True)
    # Equal counts are in the order of the first rows.
    by, directions = (ROW,), (True,)
    if arguments.get("sort", True):
        by, directions = ("o0", ROW), (is_ascending, True)
    order = Order(by, directions)
    keyed = _applied(lambda batch: _keyed(batch, labels, keys), stage, empty)
    step, layout = steps.following(empty._layout), empty._layout
    # The total is that of the frames that pass, so these are not left out.
    ordering = Step(layout) if arguments.get("normalize") else steps.following(layout)

    def pieces() -> Iterator[Any]:
        with step.files() as files:
            states = SpillingGroups(grouping, batch_rows, files)
            files.add_batches(states, keyed.batches_from)
            if states.is_empty:
                yield node.run(empty)
                return
            total = [0]
            rows = _summed(states.rows(), total)
            is_spilled = states.is_spilled
            if is_spilled:
                rows = in_order(from_first(rows), order, batch_rows, ordering)
            for frame in rows:
                yield finished(frame if is_spilled else order.sorted(frame), total[0])

    def finished(rows: Any, total: int) -> Any:
        counts = rows.set_index(keys)["o0"]
        if arguments.get("normalize"):
            counts = counts / total
        table = counts._table
        labels = node.empty._table.index.names
        return counts._of(table.replace(index=table.index.named(labels)), node.empty._name)

    return Stage(lambda: joined(pieces(), node.empty), True, node.empty, pieces)


def _summed(frames: Iterable[Any], total: list[int]) -> Iterator[Any]:
    """Adds up the counts of frames as they pass."""
    for frame in frames:
        total[0] += int(frame["o0"].sum())
        yield frame


def _keyed(batch: Any, labels: list[Hashable], keys: list[str]) -> Any:
    """The batch with its columns under other names."""
    is_series = isinstance(batch, SeriesBase)
    columns = [batch._only] if is_series else [batch._column(label) for label in labels]
    return batch._make_frame(columns, Labels.of(keys))


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


# Reductions.


def _reduced_column(node: Call, stage: Stage, batch_rows: int, steps: Steps) -> Stage:
    """A reduction of an expression of each row."""
    expression = node.arguments["expression"]
    function = expression.function
    inner, *others = expression.operands
    options = dict(expression.keywords)
    if function == "quantile" and others:
        options |= dict(zip(("q", "interpolation"), others, strict=False))
        others = []
    is_one = isinstance(inner, Expression) and inner.is_rowwise() and not others
    is_known = function in MERGEABLE or function in QUANTILES
    if not is_known or not is_one or isinstance(stage.empty, SeriesBase):
        raise unstreamed(str(function))
    column = Call.of("column", node.inputs, {"expression": inner})
    rows = _applied(column.run, stage, column.empty)
    if function in QUANTILES:
        reduction = Call.of(function, (column,), options)
        return _quantiles(node, rows, reduction, options, batch_rows)
    return _reduced(node, rows, function, options, batch_rows, steps)


def _quantiles(
    node: Call, stage: Stage, call: Call, options: dict[str, Any], batch_rows: int
) -> Stage:
    """Exact quantiles and medians, by several passes over the batches."""
    if not are_streamed(stage.empty, call.method, options):
        raise unstreamed(call.method)
    return _whole(node, lambda: quantiles(stage.in_any_order, stage.empty, call, batch_rows))


def _reduced(
    node: Call, stage: Stage, method: str, options: dict[str, Any], batch_rows: int, steps: Steps
) -> Stage:
    """A reduction over all rows: a group with one key."""
    is_series = isinstance(stage.empty, SeriesBase)
    known = {"numeric_only"} | ({"ddof"} if method in ("var", "std", "sem") else set())
    if options.keys() - known:
        raise unstreamed(f"{method} with {sorted(options.keys() - known)[0]}=")
    labels = [stage.empty._name] if is_series else list(node.empty.index)
    values = [f"v{position}" for position in range(len(labels))]
    keyed = _keyed(stage.empty, labels, values).assign(k=0)
    found = grouping(["k"], [(name, method) for name in values], options, True, _Empty(keyed))
    if found is None:
        raise unstreamed(method)

    rows_of = _applied(lambda batch: _keyed(batch, labels, values).assign(k=0), stage, keyed)
    step = steps.following(stage.empty._layout)

    def run() -> Any:
        with step.files() as files:
            states = SpillingGroups(found, batch_rows, files)
            files.add_batches(states, rows_of.in_any_order_from)
            if states.is_empty:
                return getattr(stage.empty, method)(**options)
            (rows,) = states.rows()
        outputs = rows[[f"o{position}" for position in range(len(labels))]]
        if is_series:
            value, dtype = outputs["o0"].max(), getattr(node.empty, "dtype", None)
            is_wide = dtype is not None and value.dtype.kind == dtype.kind != "O"
            return value.astype(dtype) if is_wide else value
        columns = outputs._table.columns
        reduced = outputs._make_frame(columns, stage.empty[labels]._labels).max()
        table = reduced._table
        return reduced._with_columns(in_dtypes(table.columns, node.empty._table.columns, table))

    return _whole(node, run)


@dataclasses.dataclass(frozen=True)
class _Empty:
    """The part of a node that a grouping asks for."""

    empty: Any

    @property
    def labels(self) -> tuple[Hashable, ...]:
        return tuple(self.empty._labels)
