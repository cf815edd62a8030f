# SPDX-License-Identifier: Apache-2.0
"""Groups that need all of their rows at once: rows are sorted by key on disk, then run eagerly.

The rows of a group are in memory at one time, and so is a batch.
"""

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..combining._concat import stacked
from ..plan._declared import dtype_names, in_dtypes
from ..plan._methods import GROUP_TRANSFORMATIONS
from ..plan._node import Call
from ..plan._relation import INDEX, all_of
from ..plan._relations import needed
from ..table._arguments import listed
from ..table._column_labels import Labels
from ..table._from_host import column_from
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._row_index import label_dtype
from ..table._take import any_missing
from ..table._types import Options
from ._numbering import can_spill, like
from ._runs import Order, SortedRuns
from ._spilling_groups import in_order
from ._steps import BatchesFrom, Step, StepFiles, from_first

# The label of the column of row numbers.
_ROW = "number of the row"
_OPTIONS = frozenset(["by", "sort", "dropna", "as_index", "observed"])


def keys_of(node: Call) -> list[Hashable] | None:
    """The key columns of a recorded groupby; None if rows cannot be sorted by them on disk."""
    source, groups = node.inputs[0], node.arguments["groups"]
    if not source.is_frame or groups.keys() - _OPTIONS or groups.get("by") is None:
        return None
    keys = listed(groups["by"])
    if not set(keys) <= set(source.labels) or _ROW in source.labels:
        return None
    columns = [source.empty._column(label) for label in _labels_read(node)]
    return keys if can_spill(columns) else None


def _labels_read(node: Call) -> list[Hashable]:
    """The columns that a groupby needs, in the order of its input."""
    (reads,) = needed(node, all_of(node))
    wanted = reads - {INDEX}
    return [label for label in node.inputs[0].labels if label in wanted]


# The rows in the order of their keys, and the results in that of the rows.
Both = tuple[Step, Step]


def transformed(
    node: Call, batches_from: BatchesFrom, batch_rows: int, steps: Both
) -> Iterator[Any]:
    """The rows of a transformation of groups, in the order of the batches."""
    is_cut = node.arguments["method"] in ("head", "tail")
    # The first rows of groups are chosen with their numbers, and columns selected afterwards.
    call = node.with_arguments(columns=None) if is_cut else node
    template = node.empty

    def results() -> Iterator[Any]:
        for rows, is_any_left_out in _whole_groups(node, batches_from, batch_rows, steps[0]):
            if is_cut:
                yield call.run(rows)
            else:
                result = call.run(rows.drop(columns=[_ROW]))
                if is_any_left_out:
                    # Rows without a key have no value, which decides the dtype of all groups.
                    result = in_dtypes(result, dtype_names(template))
                yield _with_rows(result, rows[_ROW].to_numpy())

    empty = node.inputs[0].empty if is_cut else template
    for rows in _in_row_order(results(), empty, batch_rows, steps[1]):
        yield _selected(rows, template) if is_cut else like(rows, template)


def reduced(node: Call, batches_from: BatchesFrom, batch_rows: int, steps: Both) -> Iterator[Any]:
    """One row for each group, in the order that the groupby asks for."""
    groups, template = node.arguments["groups"], node.empty
    keys = listed(groups["by"])
    whole = (rows for rows, _ in _whole_groups(node, batches_from, batch_rows, steps[0]))
    if groups.get("sort", True):
        for rows in whole:
            yield node.run(rows.drop(columns=[_ROW]))
        return

    def results() -> Iterator[Any]:
        for rows in whole:
            first = rows.groupby(keys, sort=False, dropna=groups.get("dropna", True))[_ROW].min()
            yield _with_rows(node.run(rows.drop(columns=[_ROW])), first.to_numpy())

    for rows in _in_row_order(results(), template, batch_rows, steps[1]):
        yield like(rows, template)


class _RowsByKey:
    """Numbered rows of a groupby in sorted runs; see `_steps.Kept`."""

    def __init__(self, node: Call, batch_rows: int, files: StepFiles):
        keys, empty = listed(node.arguments["groups"]["by"]), node.inputs[0].empty
        is_cut = node.arguments["method"] in ("head", "tail")
        self._labels = None if is_cut else _labels_read(node)
        order = Order(tuple(keys), (True,) * len(keys))
        labels = Labels.of([*(self._labels or _labels_of(empty)), _ROW])
        self.runs = SortedRuns(order, batch_rows, files, labels=labels)
        self._keys, self._num_rows = keys, 0
        self._drops_missing = node.arguments["groups"].get("dropna", True)
        self.is_any_left_out = False

    def add(self, batch: FrameBase) -> None:
        """Adds the rows of a batch."""
        stop = self._num_rows + len(batch)
        if len(batch):
            rows = batch if self._labels is None else batch[self._labels]
            self.runs.add(_with_rows(rows, np.arange(self._num_rows, stop)))
            self.is_any_left_out |= self._drops_missing and _has_missing(batch, self._keys)
        self._num_rows = stop

    def state(self) -> dict[str, Any]:
        """The runs, the number of their rows, and whether a row is in no group."""
        return {
            "runs": self.runs.state(),
            "rows": self._num_rows,
            "is any left out": self.is_any_left_out,
        }

    def restore(self, state: Options) -> None:
        """Takes the runs of a state."""
        self.runs.restore(state["runs"])
        self._num_rows = state["rows"]
        self.is_any_left_out = state["is any left out"]


def _has_missing(batch: FrameBase, keys: Sequence[Hashable]) -> bool:
    """Whether a row of a batch has no value in a key."""
    columns = [column for column in map(batch._column, keys) if column.can_miss]
    num_rows = batch._table.num_rows
    return any(bool(any_missing(column.present(), num_rows)) for column in columns)


def _whole_groups(
    node: Call, batches_from: BatchesFrom, batch_rows: int, step: Step
) -> Iterator[tuple[Any, bool]]:
    """Frames of whole groups, in the order of the keys, with the numbers of their rows.

    Each comes with whether any row is in no group, because it has no value in a key.
    """
    keys = listed(node.arguments["groups"]["by"])
    with step.files() as files:
        rows = _RowsByKey(node, batch_rows, files)
        files.add_batches(rows, batches_from)
        runs = rows.runs
        if not len(runs):
            return
        held: list[Any] = []
        for frame in runs.merged():
            if not len(frame):
                continue
            first = _last_start(held[-1] if held else None, frame, keys)
            if first is None:
                held.append(frame)
                continue
            ended = [*held, frame.iloc[:first]] if first else held
            if ended:
                yield stacked(ended), rows.is_any_left_out
            held = [frame.iloc[first:]]
        yield stacked(held), rows.is_any_left_out


def _last_start(before: Any, frame: NDFrame, keys: Sequence[Hashable]) -> int | None:
    """The row of a sorted frame where its last group starts; None if it starts before."""
    rows = frame[list(keys)].to_pandas().reset_index(drop=True)
    if before is not None:
        last = before[list(keys)].tail(1).to_pandas()
        rows = pd.concat([last, rows], ignore_index=True)
    earlier = rows.shift(1)
    is_same = (rows == earlier) | (rows.isna() & earlier.isna())
    starts = np.flatnonzero(~is_same.all(axis=1).to_numpy(dtype=bool)[1:])
    offset = 0 if before is not None else 1
    if len(starts):
        return int(starts[-1]) + offset
    return None if before is not None else 0


def _in_row_order(frames: Iterator[Any], empty: Any, batch_rows: int, step: Step) -> Iterator[Any]:
    """Rows in the order of their numbers, which are left out. They have the columns of `empty`."""
    order, labels = Order((_ROW,), (True,)), Labels.of([*_labels_of(empty), _ROW])
    for rows in in_order(from_first(frames), order, batch_rows, step, labels):
        yield rows.drop(columns=[_ROW])


def _with_rows(rows: FrameBase, numbers: np.ndarray) -> Any:
    """A frame of all columns and of row numbers."""
    table, labels = rows._table, _labels_of(rows)
    column = column_from(numbers.astype(label_dtype()), table.capacity, table.layout)
    return rows._make_frame((*table.columns, column), Labels.of([*labels, _ROW]))


def _labels_of(rows: FrameBase) -> list[Hashable]:
    return ["value"] if isinstance(rows, SeriesBase) else list(rows._labels)


def _selected(rows: Any, template: Any) -> Any:
    if isinstance(template, SeriesBase):
        return rows[template._name]
    return rows[list(template._labels)]


def is_transformation(node: Call) -> bool:
    """Whether a groupby keeps rows."""
    return node.arguments["method"] in GROUP_TRANSFORMATIONS
