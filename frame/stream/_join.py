# SPDX-License-Identifier: Apache-2.0
"""Joins of parts: pieces of both sides paired in memory, with the rows that have no match.

Rows carry their numbers on both sides, so that a sort by these gives the row order of pandas.
"""

import dataclasses
import functools
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..align._common_types import joins_missing_first
from ..align._join_types import JoinType
from ..combining._concat import concat
from ..plan._joins import join_type
from ..plan._node import Call
from ..table._column import Column
from ..table._column_labels import Labels
from ..table._holes import with_holes_elsewhere
from ..table._ndframe import FrameBase, NDFrame
from ..table._take import settled
from ..table._to_host import host_array
from ..table._types import Function
from ..table._units import in_zone
from ._numbering import names, plain, with_column, with_numbers
from ._reader import at_capacity
from ._runs import Order

LEFT, RIGHT = "left row number", "right row number"

Pieces = Callable[[], Iterator[Any]]


@dataclasses.dataclass(frozen=True)
class Join:
    """A recorded merge of frames that carry row numbers.

    Attributes:
        call: the merge.
        left_keys: the labels of the left key columns.
        right_keys: the labels of the right ones.
        most_rows: the number of rows of a result, unless one row alone has more matches.
    """

    call: Call
    left_keys: Sequence[Hashable]
    right_keys: Sequence[Hashable]
    most_rows: int

    @functools.cached_property
    def type(self) -> JoinType:
        """Which rows without a match the result has, and their order."""
        return join_type(self.call)

    @property
    def _key_names(self) -> list[str]:
        """The labels of copies of the keys, by which an outer join is sorted."""
        return [f"key {i}" for i in range(len(self.left_keys))] if self.type.order is None else []

    @property
    def order(self) -> Order:
        """pandas' order of the result: by the rows of one side, or by the keys."""
        numbers = (RIGHT, LEFT) if self.type.order == 1 else (LEFT, RIGHT)
        by = (*self._key_names, *numbers)
        left = self.call.inputs[0].empty
        missing_first = frozenset(
            name
            for name, key in zip(self._key_names, self.left_keys, strict=False)
            if joins_missing_first(left._column(key))
        )
        return Order(by, (True,) * len(by), missing_first=missing_first)

    def left_side(self, frame: FrameBase, first_row: int) -> Any:
        """A frame of the left side with row numbers, and copies of the keys if needed."""
        keys = [_ordered(frame._column(key)) for key in self.left_keys]
        for name, column in zip(self._key_names, keys, strict=False):
            frame = with_column(frame, name, column)
        return with_numbers(frame._with_range(), LEFT, first_row)

    def right_side(self, frame: NDFrame, first_row: int) -> Any:
        """A frame of the right side with row numbers."""
        return with_numbers(frame._with_range(), RIGHT, first_row)

    def run(self, how: str, left: NDFrame, right: NDFrame) -> Any:
        """Merges two frames, with or without row numbers."""
        arguments = {**self.call.arguments, "how": how}
        return Call.of("merge", self.call.inputs, arguments).run(left, right)

    @functools.cached_property
    def _empty_sides(self) -> tuple[Any, Any]:
        left, right = (node.empty for node in self.call.inputs)
        return self.left_side(left, 0), self.right_side(right, 0)

    @property
    def key_positions(self) -> tuple[list[int], list[int]]:
        """The positions of the key columns of both sides."""
        left, right = (frame._labels for frame in self._empty_sides)
        return list(map(left.position, self.left_keys)), list(map(right.position, self.right_keys))

    @functools.cached_property
    def template(self) -> Any:
        """The result without rows: plain columns, copies of the keys, and both row numbers."""
        # A file of rows of integers becomes one of floats with the first row without a match.
        empty = self.call.narrow
        rows = self.pairs(*self._empty_sides)
        columns = list(empty._table.columns)
        left, right = self._empty_sides
        if self.type.order is None:
            # A key of both sides has their common type.
            copies = [
                concat([_alone(left, a), _alone(right, b)])._table.columns[0]
                for a, b in zip(self.left_keys, self.right_keys, strict=True)
            ]
            for a, b, copy in zip(self.left_keys, self.right_keys, copies, strict=True):
                if a == b:
                    position = empty._labels.position(a)
                    zone = columns[position].type.zone
                    columns[position] = copy if zone is None else in_zone(copy, zone)
            columns += copies
        return rows._with_columns([*columns, *rows._table.columns[len(columns) :]])

    def pairs(self, left: NDFrame, right: NDFrame) -> Any:
        """Rows with a match."""
        return self._arranged(self.run("inner" if self.left_keys else "cross", left, right))

    def of_left(self, left: NDFrame) -> Any:
        """Left rows without a match."""
        rows = self.run("left", left, self._empty_sides[1])
        return self._arranged(rows, {RIGHT: np.zeros(len(rows), np.int32)})

    def of_right(self, right: FrameBase) -> Any:
        """Right rows without a match."""
        rows = self.run("right", self._empty_sides[0], right)
        keys = [_ordered(right._column(key)) for key in self.right_keys]
        replaced = dict(zip(self._key_names, keys, strict=False))
        return self._arranged(rows, {LEFT: np.zeros(len(rows), np.int32), **replaced})

    def _arranged(self, rows: Any, replaced: Any = None) -> Any:
        """The columns of the result, then those that order it."""
        last = [*self._key_names, LEFT, RIGHT]
        columns = dict(zip(rows._labels, rows._table.columns, strict=True))
        kept = [
            column
            for label, column in zip(rows._labels, rows._table.columns, strict=True)
            if label not in last
        ]
        for name, values in (replaced or {}).items():
            columns[name] = with_column(rows, "new", values)._column("new")
        columns = [*kept, *(columns[name] for name in last)]
        return rows._make_frame(columns, Labels.of([*names(len(kept)), *last]))._with_range()

    def finished(self, rows: NDFrame) -> Any:
        """The result of the merge, without the columns that ordered it."""
        template = self.call.narrow
        columns = list(rows._table.columns[: len(template._table.columns)])
        for position, like in enumerate(template._table.columns):
            if like.is_bool and like.valid is not None:
                # Bools that a side misses are objects, also in a batch that misses none.
                columns[position] = with_holes_elsewhere(columns[position])
            elif position in self._positions_with_holes:
                # Integers without a match are floats, also if a later step drops them.
                columns[position] = settled(columns[position], rows._table.num_rows)
        return rows._make_frame(columns, template._labels)

    @property
    def _positions_with_holes(self) -> range:
        """The columns of the result whose side may have no row for one of the other side."""
        num_columns = len(self.call.empty._table.columns)
        num_left = len(self.call.inputs[0].empty._table.columns)
        keeps_left, keeps_right = self.type.keeps
        first, last = 0 if keeps_right else num_left, num_columns if keeps_left else num_left
        return range(first, last)

    def joined(self, left_pieces: Pieces, right_pieces: Iterable[object]) -> Iterator[Any]:
        """The result of two parts that hold all rows of their keys, in any order.

        Each right piece is joined with all left pieces, which are asked for once for each. In
        between, one bit for each left row tells whether it had a match.
        """
        matched_left: dict[int, np.ndarray] = {}
        has_right = False
        for piece, is_last in _with_last(right_pieces):
            has_right = True
            held = Held(piece, self)
            matched_right = np.zeros(len(piece), bool)
            for position, batch in enumerate(left_pieces()):
                matched = np.zeros(len(batch), bool)
                if position in matched_left:
                    matched = np.unpackbits(matched_left[position], count=len(batch)).astype(bool)
                for rows in held.slices(batch):
                    pairs = self.pairs(rows, piece)
                    if any(self.type.keeps):
                        _mark(matched, batch, pairs, LEFT)
                        _mark(matched_right, piece, pairs, RIGHT)
                    yield pairs
                if self.type.keeps[0]:
                    if is_last:
                        yield from self._of_unmatched(batch, matched, self.of_left)
                    else:
                        matched_left[position] = np.packbits(matched)
            if self.type.keeps[1]:
                yield from self._of_unmatched(piece, matched_right, self.of_right)
        if not has_right and self.type.keeps[0]:
            yield from map(self.of_left, left_pieces())

    def _of_unmatched(self, frame: Any, matched: np.ndarray, make: Function) -> Iterator[Any]:
        if not matched.all():
            yield make(frame.iloc[np.flatnonzero(~matched)])


class Held:
    """A right piece in memory, and the number of its rows for each key."""

    def __init__(self, piece: FrameBase, join: Join):
        self.piece, self._join = piece, join
        self._most, self._counts = len(piece), None
        keys = [piece._column(key) for key in join.right_keys]
        self._names = [f"k{position}" for position in range(len(keys))]
        if not keys or not len(piece):
            return
        frame = piece._make_frame(keys, Labels.of(self._names))._with_range().assign(n=1)
        groups = frame.groupby(self._names, sort=False, dropna=False, as_index=False, observed=True)
        counts = groups.agg(n=("n", "sum"))
        # Labels of groups have the dtype that pandas infers, keys that of their column.
        kinds = zip(self._names, keys, strict=True)
        objects = {name: object for name, key in kinds if key.kind == "object"}
        self._counts = counts.astype(objects) if objects else counts
        self._most = int(counts["n"].max())

    def counts(self, batch: FrameBase) -> np.ndarray:
        """The number of matches of each row of a left batch."""
        if self._counts is None:
            return np.full(len(batch), self._most)
        keys = [batch._column(key) for key in self._join.left_keys]
        rows = batch._make_frame(keys, Labels.of(self._names))._with_range()
        found = rows.merge(self._counts, how="left", on=self._names)["n"].fillna(0)
        return found.to_numpy().astype(np.int64)

    def slices(self, batch: Any) -> Iterator[Any]:
        """Cuts a left batch so that each slice has few matches."""
        most_rows = self._join.most_rows
        if self._most * len(batch) <= most_rows:
            yield batch
            return
        ends = np.cumsum(self.counts(batch))
        first = 0
        while first < len(batch):
            before = ends[first - 1] if first else 0
            last = max(int(np.searchsorted(ends, before + most_rows, "right")), first + 1)
            yield at_capacity(batch.iloc[first:last], len(batch))
            first = last


def _alone(frame: FrameBase, label: Hashable) -> Any:
    return plain(frame._make_frame([_ordered(frame._column(label))], Labels.of(["c"])))


def _ordered(key: Column) -> Column:
    """A key in the form that orders rows: times of two zones are in one."""
    return key if key.type.zone is None else in_zone(key, None)


def _numbers(frame: FrameBase, label: str) -> np.ndarray:
    return host_array(frame._column(label).stored.data)[: len(frame)]


def _mark(matched: np.ndarray, frame: FrameBase, pairs: Any, label: str) -> None:
    """Marks the rows of a frame that are in some pairs, by their ascending numbers."""
    matched[np.searchsorted(_numbers(frame, label), _numbers(pairs, label))] = True


def _with_last(items: Iterable[object]) -> Iterator[tuple[Any, bool]]:
    """Items, each with whether it is the last one."""
    items = iter(items)
    item = next(items, None)
    while item is not None:
        following = next(items, None)
        yield item, following is None
        item = following
