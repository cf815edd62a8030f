# SPDX-License-Identifier: Apache-2.0
"""Distinct rows over batches by direct addressing: keys are integers of a known small range."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ...primitives._direct_index import DirectIndex
from ..plan._node import Node
from ..table._ndframe import NDFrame
from ..table._types import Options
from ._arrow_rows import arrow_of, frame_of_arrow, in_schema
from ._key_bounds import Bounds, beyond_bounds, key_bounds, num_slots
from ._numbering import can_spill, plain
from ._spilled_rows import SpilledRows, SpillWriter, in_pieces
from ._steps import StepFiles

# The slots of the table, of four bytes each, for each row of a batch: as much as four columns.
SLOTS_PER_ROW = 8
_NONE = np.int32(2**31 - 1)


def bounds_for(node: Node, labels: Sequence[object], batch_rows: int) -> Bounds | None:
    """The bounds of the keys, if `DistinctInRange` finds rows; else None.

    Args:
        node: the step whose rows are compared.
        labels: its key columns.
        batch_rows: the number of rows of a batch.
    """
    if not can_spill(node.empty._table.columns):
        return None
    return key_bounds(node, labels, SLOTS_PER_ROW * batch_rows)


class DistinctInRange:
    """The first row of each key, in the order of the rows.

    A table has a slot for each key that may come. Rows that are found leave memory when they are
    more than a batch. See `_steps.Kept`.
    """

    # Rows are found in their order.
    is_spilled = False

    def __init__(
        self,
        keys: Sequence[int],
        bounds: Bounds,
        most_rows: int,
        files: StepFiles,
    ):
        """Starts without rows.

        Args:
            keys: the positions of the key columns.
            bounds: the least and the greatest value of each.
            most_rows: the number of rows that may stay in memory.
            files: where the other rows are.
        """
        self._keys, self._bounds = list(keys), list(bounds)
        self._most_rows, self._files = most_rows, files
        # The first row of each key in its batch.
        self._first = np.full(num_slots(bounds), _NONE)
        self._schema: pa.Schema | None = None
        self._held: list[pa.Table] = []
        self._paths: list[str] = []

    def add(self, batch: NDFrame) -> None:
        """Adds the rows of a batch whose keys are new."""
        if not len(batch):
            return
        rows = arrow_of(plain(batch), is_default=False)
        found = self._new(self._slots(rows))
        if not len(found):
            return
        self._schema = self._schema or rows.schema
        self._held.append(in_schema(rows, self._schema).take(pa.array(found)))
        if sum(rows.num_rows for rows in self._held) > self._most_rows:
            self._write()

    def _new(self, slots: np.ndarray) -> np.ndarray:
        """The rows that are the first ones of their keys. Their slots are taken afterwards."""
        row_ids = np.flatnonzero(self._first[slots] == _NONE).astype(np.int32)
        slots = slots[row_ids]
        np.minimum.at(self._first, slots, row_ids)
        return row_ids[self._first[slots] == row_ids]

    def _slots(self, rows: pa.Table) -> np.ndarray:
        """The slot of each row's key."""
        keys = [rows.column(key).to_numpy() for key in self._keys]
        for values, (low, high) in zip(keys, self._bounds, strict=True):
            if values.min() < low or values.max() > high:
                found = f"{values.min()} to {values.max()} and a range from {low} to {high}"
                raise beyond_bounds("drop_duplicates", found)
        index = DirectIndex.between(self._bounds, [values.dtype for values in keys])
        return index.numbers(keys, (None,) * len(keys), np.int64)

    def _write(self) -> None:
        """Writes the rows in memory to a file."""
        if not self._held:
            return
        path = self._files.new_path()
        rows = pa.concat_tables(self._held)
        with self._files.writing(path) as name, SpillWriter(name, rows.schema) as file:
            file.write(rows)
        self._paths.append(path)
        self._held = []

    def state(self) -> dict[str, Any]:
        """The names of the files, which have all rows."""
        self._write()
        return {"files": list(map(os.path.basename, self._paths))}

    def restore(self, state: Options) -> None:
        """Takes the rows of files."""
        self._paths = list(map(self._files.path_of, state["files"]))
        for rows in self._tables():
            self._schema = rows.schema
            self._new(self._slots(rows))

    def _tables(self) -> Iterator[pa.Table]:
        for path in self._paths:
            yield SpilledRows(path)[0]
        yield from self._held

    def frames(self) -> Iterator[Any]:
        """The rows in their order, as frames of one capacity."""
        num_rows = 0
        for rows in in_pieces(self._tables(), self._most_rows):
            num_rows = max(num_rows, rows.num_rows)
            yield frame_of_arrow(rows, self._files.layout, num_rows)
