# SPDX-License-Identifier: Apache-2.0
"""Groups over batches that leave memory when there are many."""

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from ..table._ndframe import FrameBase
from ..table._types import Options
from ._distinct import DistinctRows
from ._groups import Grouping, GroupState, Output, merged_groups
from ._groups_in_range import GroupsInRange
from ._key_bounds import Bounds
from ._numbering import ROW, can_spill
from ._runs import Order, SortedRuns
from ._steps import BatchesFrom, Step, StepFiles, from_first
from ._taken import Taken


class SpillingGroups:
    """The groups of the batches so far: in memory, or in runs on disk that are sorted by key.

    For outputs `nunique` the distinct pairs of a key and a value are kept apart
    (`DistinctRows`) and counted when all batches are there.
    """

    def __init__(
        self,
        grouping: Grouping,
        most_rows: int,
        files: StepFiles,
        bounds: Bounds | None = None,
    ):
        """Starts without groups.

        Args:
            grouping: the keys and the reductions.
            most_rows: the number of groups, and of pairs, that may stay in memory.
            files: where groups and pairs on disk are.
            bounds: those of the keys, if `GroupsInRange` finds the groups.
        """
        self._grouping, self._most_rows, self._files = grouping, most_rows, files
        self._state = GroupState(grouping)
        self._in_range = None if bounds is None else GroupsInRange(grouping, bounds)
        self.num_rows = 0
        keys = grouping.key_names
        self._runs = SortedRuns(Order(tuple(keys), (True,) * len(keys)), most_rows, files)
        self._pairs = {
            column: DistinctRows([*keys, f"v{column}"], most_rows, files)
            for column in grouping.counted
        }

    def add(self, batch: FrameBase) -> None:
        """Adds the groups of a batch."""
        if not len(batch):
            return
        rows = self._grouping.named(batch, self.num_rows)
        self.num_rows += len(rows)
        if self._in_range is not None:
            self._in_range.add(rows)
            return
        partials = self._state.reduced(rows)
        if len(self._runs) and 2 * len(partials) > len(rows):
            # Rows of mostly distinct keys: merging them in memory would save few rows. Those
            # of earlier batches go first, for what depends on the order of the rows.
            if not self._state.is_empty:
                self._runs.add(self._state.taken())
            self._runs.add(partials)
        else:
            self._state.add(partials)
        for column, pairs in self._pairs.items():
            pairs.add(rows[[*self._grouping.key_names, f"v{column}"]])
        if self._state.num_groups > self._most_rows and can_spill(self._state.columns):
            self._runs.add(self._state.taken())

    def _collect(self) -> None:
        """Moves the groups of the table to the state."""
        if self._in_range is not None and not self._in_range.is_empty:
            self._state.add(self._in_range.taken())

    @property
    def is_empty(self) -> bool:
        """Whether no batch had rows."""
        return not self.num_rows

    def state(self) -> dict[str, Any] | None:
        """The files of all groups and pairs; None if a file would change keys or values."""
        self._collect()
        if not self._state.is_empty and not can_spill(self._state.columns):
            return None
        pairs = {str(column): pairs.state() for column, pairs in self._pairs.items()}
        if None in pairs.values():
            return None
        groups = [] if self._state.is_empty else [self._files.write(self._state.rows())]
        self._take(groups)
        memory = {"files": groups, "rows": self.num_rows}
        return {"memory": memory, "runs": self._runs.state(), "pairs": pairs}

    def restore(self, state: Options) -> None:
        """Takes groups and pairs of files; see `_steps.Kept`."""
        self.num_rows = state["memory"]["rows"]
        self._take(state["memory"]["files"])
        self._runs.restore(state["runs"])
        for column, pairs in self._pairs.items():
            pairs.restore(state["pairs"][str(column)])

    def _take(self, names: Sequence[str]) -> None:
        """Takes the partial rows of a file in place of those in memory."""
        for name in names:
            self._state = GroupState.of(self._grouping, self._files.read(name))

    @property
    def is_spilled(self) -> bool:
        """Whether groups or pairs are on disk."""
        return bool(len(self._runs)) or any(pairs.is_spilled for pairs in self._pairs.values())

    def rows(self, *, is_sorted: bool = False) -> Iterator[Any]:
        """One row for each group: keys `k0`, outputs `o0` and, if kept, the row number.

        One frame in the order of the groups' first rows; frames in the order of the keys if
        `is_spilled`, or if `is_sorted` asks for it.
        """
        self._collect()
        if not self.is_spilled and not is_sorted:
            counts = {column: self._counts_in_memory(column) for column in self._pairs}
            yield self._state.finished(counts)
            return
        if not self._state.is_empty:
            self._runs.add(self._state.taken())
        with contextlib.ExitStack() as stack:
            counts = {column: Taken(self._sorted_counts(column, stack)) for column in self._pairs}
            for state in merged_groups(self._grouping, self._runs.merged()):
                parts = {column: taken.rows(state.num_groups) for column, taken in counts.items()}
                yield state.finished(parts)

    def _counts_in_memory(self, column: int) -> Any:
        (pairs,) = self._pairs[column].frames()
        groups = pairs.groupby(
            self._grouping.key_names, sort=False, dropna=self._grouping.dropna, as_index=False
        )
        return groups.agg(n=(f"v{column}", "nunique"))["n"]

    def _sorted_counts(self, column: int, stack: contextlib.ExitStack) -> Iterator[Any]:
        """The number of distinct values of each group, in the order of the keys."""
        keys = tuple(self._grouping.key_names)
        counting = Grouping(keys, (f"v{column}",), (Output(0, "count"),), self._grouping.dropna)
        files = stack.enter_context(self._files.temporary())
        groups = SpillingGroups(counting, self._most_rows, files)
        for pairs in self._pairs[column].frames():
            groups.add(pairs)
        for rows in groups.rows(is_sorted=True):
            yield rows["o0"]


def in_order_of_rows(frames: Iterator[Any], most_rows: int, step: Step) -> Iterator[Any]:
    """Sorts frames on disk by their row numbers."""
    return in_order(from_first(frames), Order((ROW,), (True,)), most_rows, step)


def in_order(
    frames_from: BatchesFrom, order: Order, most_rows: int, step: Step, labels: Any = None
) -> Iterator[Any]:
    """Sorts frames on disk."""
    with step.files() as files:
        runs = SortedRuns(order, most_rows, files, labels=labels)
        files.add_batches(runs, frames_from)
        yield from runs.merged()


def numbered(grouping: Grouping) -> Grouping:
    """The same groups, with the numbers of their first rows."""
    return dataclasses.replace(grouping, is_numbered=True)
