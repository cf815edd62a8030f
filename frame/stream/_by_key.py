# SPDX-License-Identifier: Apache-2.0
"""Groups that need all of their rows at once: rows are sorted by key on disk, then run eagerly.

The rows of a group are in memory at one time, and so is a batch.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..combining._concat import concat
from ..plan._node import Call
from ..plan._relations import GROUP_TRANSFORMATIONS, INDEX, all_of, listed, needed
from ..table._column_labels import Labels
from ..table._from_host import column_from
from ..table._ndframe import SeriesBase
from ..table._row_index import label_dtype
from ._runs import Order, SortedRuns

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
    is_plain = all(
        column.kind not in ("category", "object") and column.dtype.kind not in "Vc"
        for column in columns
    )
    return keys if is_plain else None


def _labels_read(node: Call) -> list[Hashable]:
    """The columns that a groupby needs, in the order of its input."""
    (reads,) = needed(node, all_of(node))
    wanted = reads - {INDEX}
    return [label for label in node.inputs[0].labels if label in wanted]


def transformed(node: Call, batches: Iterable[Any], batch_rows: int) -> Iterator[Any]:
    """The rows of a transformation of groups, in the order of the batches."""
    is_cut = node.arguments["method"] in ("head", "tail")
    # The first rows of groups are chosen with their numbers, and columns selected afterwards.
    call = node.with_arguments(columns=None) if is_cut else node
    template = node.empty

    def results() -> Iterator[Any]:
        for rows in _whole_groups(node, batches, batch_rows):
            if is_cut:
                yield call.run(rows)
            else:
                result = call.run(rows.drop(columns=[_ROW]))
                yield _with_rows(result, rows[_ROW].to_numpy())

    for rows in _in_row_order(results(), batch_rows):
        yield _selected(rows, template) if is_cut else _like(rows, template)


def reduced(node: Call, batches: Iterable[Any], batch_rows: int) -> Iterator[Any]:
    """One row for each group, in the order that the groupby asks for."""
    groups, template = node.arguments["groups"], node.empty
    keys = listed(groups["by"])
    whole = _whole_groups(node, batches, batch_rows)
    if groups.get("sort", True):
        for rows in whole:
            yield node.run(rows.drop(columns=[_ROW]))
        return

    def results() -> Iterator[Any]:
        for rows in whole:
            first = rows.groupby(keys, sort=False, dropna=groups.get("dropna", True))[_ROW].min()
            yield _with_rows(node.run(rows.drop(columns=[_ROW])), first.to_numpy())

    for rows in _in_row_order(results(), batch_rows):
        yield _like(rows, template)


def _whole_groups(node: Call, batches: Iterable[Any], batch_rows: int) -> Iterator[Any]:
    """Frames of whole groups, in the order of the keys, with the numbers of their rows."""
    keys, labels = listed(node.arguments["groups"]["by"]), _labels_read(node)
    is_cut = node.arguments["method"] in ("head", "tail")
    with SortedRuns(Order(tuple(keys), (True,) * len(keys)), batch_rows) as runs:
        start = 0
        for batch in batches:
            if len(batch):
                rows = batch if is_cut else batch[labels]
                runs.add(_with_rows(rows, np.arange(start, start + len(batch))))
            start += len(batch)
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
                yield concat(ended) if len(ended) > 1 else ended[0]
            held = [frame.iloc[first:]]
        yield concat(held) if len(held) > 1 else held[0]


def _last_start(before: Any, frame: Any, keys: Sequence[Hashable]) -> int | None:
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


def _in_row_order(frames: Iterable[Any], batch_rows: int) -> Iterator[Any]:
    """Rows in the order of their numbers, which are left out."""
    with SortedRuns(Order((_ROW,), (True,)), batch_rows) as runs:
        for frame in frames:
            if len(frame):
                runs.add(frame)
        if len(runs):
            for rows in runs.merged():
                yield rows.drop(columns=[_ROW])


def _with_rows(rows: Any, numbers: np.ndarray) -> Any:
    """A frame of all columns and of row numbers."""
    table = rows._table
    labels = list(rows._labels) if not isinstance(rows, SeriesBase) else ["value"]
    column = column_from(numbers.astype(label_dtype()), table.capacity, table.layout)
    return rows._make_frame((*table.columns, column), Labels.of([*labels, _ROW]))


def _like(rows: Any, template: Any) -> Any:
    """A frame as the frame or the series that the plan gives."""
    if isinstance(template, SeriesBase):
        return rows._make_series(rows._table.columns[0], template._name)
    return rows._make_frame(rows._table.columns, template._labels)


def _selected(rows: Any, template: Any) -> Any:
    if isinstance(template, SeriesBase):
        return rows[template._name]
    return rows[list(template._labels)]


def is_transformation(node: Call) -> bool:
    """Whether a groupby keeps rows."""
    return node.arguments["method"] in GROUP_TRANSFORMATIONS
