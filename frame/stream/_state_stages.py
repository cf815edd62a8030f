# SPDX-License-Identifier: Apache-2.0
"""Stages with states: distinct rows, groups, sorts and counts, in memory or on disk."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from ..combining._concat import stacked
from ..plan._node import Call, Node
from ..sorting._value_counts import counts_missing_last
from ..table._arguments import listed
from ..table._column import Column, of_family
from ..table._column_labels import Labels
from ..table._from_host import column_from
from ..table._holes import with_holes_elsewhere
from ..table._ndframe import SeriesBase
from ..table._object_functions import as_objects, host_series
from ..table._recode import look_up
from ..table._table import Table
from ..table._types import Options
from ._by_key import keys_of, reduced
from ._distinct import NumberedDistinctRows
from ._distinct_in_range import DistinctInRange, bounds_for
from ._groups import Grouping, Output, grouped, grouping_of
from ._groups_in_range import bounds_for as bounds_of_groups
from ._numbering import ROW, like, names, positions_of
from ._runs import Order
from ._spilling_groups import SpillingGroups, in_order, in_order_of_rows
from ._spilling_groups import numbered as with_rows
from ._stage import Stage, applied, joined, numbered, unstreamed, whole_stage
from ._steps import Step, Steps, from_first


def folded(node: Call, stage: Stage) -> Stage:
    """A call that takes `n` rows by position or rank, of those that it took before and more."""
    # One more row tells whether rows are left out, on which the order of equal ones depends.
    more = node.with_arguments(n=node.arguments["n"] + 1)

    def run() -> Any:
        rows = node.inputs[0].empty
        for batch in stage.run():
            rows = stacked([rows, batch]) if len(rows) else batch
            taken = more.run(rows._with_range()).index.to_numpy()
            rows = rows.iloc[np.sort(taken)]
        return node.run(rows)

    return whole_stage(node, run)


def is_mergeable(arguments: Options) -> bool:
    is_kept = arguments.get("keep", "first") in ("first", "last")
    return is_kept and not arguments.get("ignore_index")


def distinct(node: Call, stage: Stage, batch_rows: int, steps: Steps) -> Stage:
    pieces = distinct_rows(stage, node.arguments, batch_rows, steps, node.inputs[0])
    return Stage(lambda: joined(pieces(), node.empty), True, node.empty, pieces)


def distinct_rows(
    stage: Stage, options: Options, batch_rows: int, steps: Steps, node: Node
) -> Callable[[], Iterator[Any]]:
    """Gives the distinct rows of all batches in their order.

    Args:
        stage: gives the batches.
        options: the arguments of `drop_duplicates`.
        batch_rows: the number of rows of a batch.
        steps: where rows on disk are.
        node: the plan of the batches, whose footers may tell the range of the keys.
    """
    positions = positions_of(options.get("subset"), stage.empty)
    keys = [names(len(stage.empty._names))[position] for position in positions]
    keep: Any = options.get("keep", "first")
    first, second = two_of(steps, stage)
    bounds = None
    if keep == "first":
        labels = [stage.empty._names[position] for position in positions]
        bounds = bounds_for(node, labels, batch_rows)

    def pieces() -> Iterator[Any]:
        with first.files() as files:
            if bounds is None:
                rows = NumberedDistinctRows(keys, batch_rows, files, keep)
            else:
                rows = DistinctInRange(positions, bounds, batch_rows, files)
            files.add_batches(rows, stage.batches_from)
            found = rows.frames()
            if rows.is_spilled:
                found = in_order_of_rows(found, batch_rows, second)
            for frame in found:
                yield like(frame, stage.empty)

    return pieces


def two_of(steps: Steps, stage: Stage) -> tuple[Step, Step]:
    """Two steps for the rows of a stage."""
    layout = stage.empty._layout
    return steps.following(layout), steps.following(layout)


def groups_stage(node: Call, stage: Stage, batch_rows: int, steps: Steps) -> Stage:
    """Groups: partial states in memory, or on disk if there are many."""
    found = grouping_of(node)
    if found is None:
        return _groups_at_once(node, stage, batch_rows, steps)
    groups = node.arguments["groups"]
    is_sorted = groups.get("sort", True)
    needs_order = not is_sorted or found.depends_on_order(stage.empty)
    batches_from = stage.batches_from if needs_order else stage.in_any_order_from
    first, second = two_of(steps, stage)
    grouping = found if is_sorted else with_rows(found)
    bounds = bounds_of_groups(grouping, node.inputs[0], batch_rows)

    def pieces() -> Iterator[Any]:
        with first.files() as files:
            states = SpillingGroups(grouping, batch_rows, files, bounds)
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
    both = two_of(steps, stage)

    def batches() -> Iterator[Any]:
        rows = reduced(node, stage.batches_from, batch_rows, both)
        return rows if node.arguments["groups"].get("as_index", True) else numbered(rows)

    return Stage(lambda: joined(batches(), node.empty), True, node.empty, batches)


def order_of(node: Call) -> Order | None:
    """The order of a recorded sort; None if it is not one of columns."""
    arguments, source = node.arguments, node.inputs[0]
    known = {"by", "ascending", "kind", "na_position", "ignore_index"}
    if not source.is_frame or arguments.keys() - known:
        return None
    by = tuple(listed(arguments["by"]))
    columns = source.empty._table.columns
    is_plain = all(c.kind not in ("category", "object") and c.dtype.kind != "V" for c in columns)
    if not set(by) <= set(source.labels) or not is_plain:
        return None
    ascending = arguments.get("ascending", True)
    directions = ascending if isinstance(ascending, (list, tuple)) else [ascending] * len(by)
    return Order(by, tuple(map(bool, directions)), arguments.get("na_position", "last"))


def sorted_stage(node: Call, stage: Stage, batch_rows: int, steps: Steps) -> Stage:
    """An external sort: a sorted run on disk for each batch, merged."""
    order = order_of(node)
    assert order is not None
    step, labels = steps.following(stage.empty._layout), stage.empty._labels

    def run() -> Iterator[Any]:
        return in_order(stage.batches_from, order, batch_rows, step, labels)

    if node.arguments.get("ignore_index"):
        return Stage(lambda: numbered(run()), False, node.empty)
    return Stage(run, False, node.empty)


def counted(node: Call, stage: Stage, batch_rows: int, steps: Steps) -> Stage:
    """The number of rows with each combination of values."""
    arguments, empty = node.arguments, stage.empty
    is_series = isinstance(empty, SeriesBase)
    subset = arguments.get("subset")
    labels = list(empty._names) if subset is None else listed(subset)
    columns = [empty._only] if is_series else [empty._column(label) for label in labels]
    if any(column.kind == "category" for column in columns) or arguments.get("bins") is not None:
        raise unstreamed("value_counts of categories or bins")
    keys = [f"k{position}" for position in range(len(labels))]
    dropna = arguments.get("dropna", True)
    # Keys of groups have one missing value, objects have several.
    has_nulls = is_series and not dropna and columns[0].kind == "object"
    is_ascending = bool(arguments.get("ascending", False))
    grouping = Grouping(
        (*keys, *([_NULL] if has_nulls else ())), (), (Output(0, "size"),), dropna, is_numbered=True
    )
    # Equal counts are in the order of the first rows.
    by, directions = (ROW,), (True,)
    flags_missing = is_series and not dropna and counts_missing_last(columns[0])
    if flags_missing:
        by, directions = (_IS_MISSING, *by), (True, *directions)
    if arguments.get("sort", True):
        by, directions = ("o0", *by), (is_ascending, *directions)
    order = Order(by, directions)

    def keyed_rows(batch: Any) -> Any:
        rows = keyed_columns(batch, labels, keys)
        if not has_nulls:
            return rows
        return rows.assign(**{_NULL: rows._make_series(_nulls_of(batch._only), _NULL)})

    keyed = applied(keyed_rows, stage, empty)
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
            if flags_missing:
                rows = (frame.assign(**{_IS_MISSING: frame["k0"].isna()}) for frame in rows)
            is_spilled = states.is_spilled
            if is_spilled:
                rows = in_order(from_first(rows), order, batch_rows, ordering)
            for frame in rows:
                yield finished(frame if is_spilled else order.sorted(frame), total[0])

    def finished(rows: Any, total: int) -> Any:
        counts = rows.set_index(keys)["o0"]
        if arguments.get("normalize"):
            counts = counts / total
        counts = counts._with_column(of_family(counts._only, node.empty._only.family))
        table = counts._table
        index = table.index.named(node.empty._table.index.names)
        if has_nulls:
            nulls = rows[_NULL].to_numpy()
            labels = as_objects(index.levels[0], table.num_rows, "value_counts")
            index = index.with_stored([_with_nulls(labels, nulls, table)])
        if is_series and columns[0].is_bool and columns[0].valid is not None:
            # Missing bools in rows that are left out make objects of the others.
            index = index.with_stored([with_holes_elsewhere(index.levels[0])])
        return in_labels_of_objects(counts._of(table.replace(index=index), node.empty._name))

    def in_labels_of_objects(counts: Any) -> Any:
        """The counts of objects, whose labels stay objects: an index of rows infers a dtype."""
        if not is_series or columns[0].kind != "object":
            return counts
        index = counts._table.index
        labels = as_objects(index.levels[0], counts._table.num_rows, "value_counts")
        return counts._with_index(index.with_stored([labels]))

    return Stage(
        lambda: in_labels_of_objects(joined(pieces(), node.empty)), True, node.empty, pieces
    )


# The second key: the kind of missing object, its position in `_NULLS` from 1 on; 0 for a value.
_NULL = "k1"
_NULLS = (None, np.nan, pd.NaT, pd.NA)


def _nulls_of(column: Column) -> Column:
    """The kind of missing object of each row."""
    objects: Any = column.type.dictionary
    kinds = np.zeros(len(objects), np.int8)
    for at in np.flatnonzero(pd.isna(objects.values)):
        found = (number for number, null in enumerate(_NULLS, 1) if objects.values[at] is null)
        kinds[at] = next(found, _NULLS.index(np.nan) + 1)
    return Column(look_up(column.data, kinds, np.int8(_NULLS.index(np.nan) + 1)))


def _with_nulls(labels: Column, nulls: np.ndarray, table: Table) -> Column:
    """Labels that are objects, with the missing object of each kind."""
    objects = host_series(labels, table.num_rows).to_numpy(object, copy=True)
    for number, null in enumerate(_NULLS, 1):
        objects[nulls == number] = null
    return column_from(pd.Series(objects, dtype=object), labels.capacity, table.layout)


# The column that sorts the missing value behind equal counts.
_IS_MISSING = "is missing"


def _summed(frames: Iterable[Any], total: list[int]) -> Iterator[Any]:
    """Adds up the counts of frames as they pass."""
    for frame in frames:
        total[0] += int(frame["o0"].sum())
        yield frame


def keyed_columns(batch: Any, labels: list[Hashable], keys: list[str]) -> Any:
    """The batch with its columns under other names."""
    is_series = isinstance(batch, SeriesBase)
    columns = [batch._only] if is_series else [batch._column(label) for label in labels]
    return batch._make_frame(columns, Labels.of(keys))
