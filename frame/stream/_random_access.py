# SPDX-License-Identifier: Apache-2.0
"""Rows of a plan by their positions, if the plan neither drops nor moves rows."""

import bisect
import collections
import itertools
import threading
from typing import Any

import pyarrow as pa

from ..io._dataset_schema import stored_names
from ..plan._node import Call, Node, Scan, in_order
from ..plan._optimize import optimized
from ..plan._relations import RELATIONS
from ..plan._row_groups import row_groups
from ..plan._sources import Memory, ParquetFiles
from ._files import WatchedFiles, naming
from ._pipeline import pipeline
from ._reader import Rows, at_capacity, check_sources, frame_of

# Decoded row groups that are kept: a loop over shuffled batches comes back to them.
MOST_KEPT = 8


class RowsByPosition:
    """Reads any slice of the result of a plan. May be called by several threads.

    Raises:
        NotImplementedError: the number of rows is not known before the plan runs.
    """

    def __init__(self, plan: Node, batch_rows: int):
        check_sources(plan)
        self._root = optimized(plan, None)
        self._batch_rows = batch_rows
        self._scan = _scan_of(self._root)
        source: Any = self._scan.source
        self._lock = threading.Lock()
        self._kept: collections.OrderedDict[int, pa.Table] = collections.OrderedDict()
        if isinstance(source, Memory):
            self._frame = self._scan.run()
            self._num_rows = len(self._frame)
            return
        dataset = source._dataset()
        self._watched = WatchedFiles(dataset.files)
        self._schema = dataset.schema
        self._names = stored_names(dataset.schema, self._scan.columns)
        with naming(source.paths[0]):
            groups = row_groups(dataset, None, None)
        self._fragments = groups.fragments
        self._starts = [0, *itertools.accumulate(groups.num_rows)]
        self._num_rows = groups.num_rows_of_all

    def __len__(self) -> int:
        return self._num_rows

    def read(self, first: int, last: int) -> Any:
        """The rows from position `first` up to `last`."""
        rows = self._read(first, last)
        return pipeline(self._root, lambda scan: iter([rows]), self._batch_rows).whole()

    def _read(self, first: int, last: int) -> Any:
        source: Any = self._scan.source
        if isinstance(source, Memory):
            return at_capacity(self._frame.iloc[first:last], self._batch_rows)
        number = bisect.bisect_right(self._starts, first) - 1
        pieces: list[pa.Table] = []
        while number < len(self._fragments) and self._starts[number] < last:
            start = self._starts[number]
            pieces.append(
                self._group(number).slice(max(first - start, 0), last - max(first, start))
            )
            number += 1
        rows = Rows(pa.concat_tables(pieces), ((first, last - first),))
        columns = self._scan.columns
        return frame_of(rows, self._batch_rows, source.layout, columns, nulls=source.nulls)

    def _group(self, number: int) -> pa.Table:
        """A decoded row group."""
        with self._lock:
            if number in self._kept:
                self._kept.move_to_end(number)
                return self._kept[number]
        fragment = self._fragments[number]
        self._watched.check(fragment.path)
        with naming(fragment.path):
            table = fragment.to_table(schema=self._schema, columns=self._names)
        with self._lock:
            self._kept[number] = table
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return table


def _scan_of(root: object) -> Scan:
    """The scan below steps that keep each row where it is."""
    for node in in_order(root):
        if isinstance(node, Call) and not _keeps_rows(node):
            raise NotImplementedError(
                f"to_grain: the number of rows is not known before {node.method} runs. Omit "
                "random_access=, or write the result with to_parquet() and scan it."
            )
    (scan,) = (node for node in in_order(root) if isinstance(node, Scan))
    if not isinstance(scan.source, (Memory, ParquetFiles)):
        raise NotImplementedError(
            f"to_grain: {scan.source.text()} cannot be read by position. Omit random_access=, or "
            "write it with to_parquet() and scan that."
        )
    return scan


def _keeps_rows(call: Call) -> bool:
    is_each = RELATIONS[call.method].rows == "each" and len(call.inputs) == 1
    return is_each and call.is_mapped
