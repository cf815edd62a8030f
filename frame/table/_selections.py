# SPDX-License-Identifier: Apache-2.0
"""Selected rows of a source: by position, by a mask, or a selection of selected rows.

The columns of a table share one selection, so that their rows are taken in one pass. A selection
of a selection is composed, so that a column that only the last one reads is taken once.
"""

import weakref
from typing import Any

import numpy as np

from ... import primitives
from ...primitives.staging import tiered
from ._column import NAT, Array, nan_unless
from ._tracing import at_once

# So many selections are composed without computing positions: each keeps arrays in memory.
MOST_COMPOSED = 16

# The kind of integers that become floats, as pandas shows missing ones.
WIDENED = "widened"
# The values of missing rows, by `hole_kind`.
_HOLES = {"code": -1, "time": NAT, "float": np.nan}


class Selection:
    """The selected rows of a source. Compared by identity.

    Attributes:
        capacity: the number of selected rows, including padding.
        length: the number of rows of the source; 0 if only a column of it knows.
        depth: the number of earlier selections whose positions are still needed, at most
            `MOST_COMPOSED`.
    """

    def __init__(self, capacity: int, length: int = 0):
        self.capacity, self.length = capacity, length
        self.depth = 0
        # Weak, because a composition refers to this selection.
        self._composed: weakref.WeakValueDictionary[Selection, Selection] = (
            weakref.WeakValueDictionary()
        )

    def find_row_ids(self) -> Array:
        """The position of each row in the source; -1 for a row of missing values."""
        raise NotImplementedError

    def take(self, arrays: object, kinds: tuple[str, ...], *, finds_row_ids: bool) -> Any:
        """Takes the rows of several columns in one pass; see `take_arrays`.

        `finds_row_ids` tells that the positions are read next.
        """
        del finds_row_ids
        return take_arrays(arrays, self.find_row_ids(), kinds)

    def reads(self, arrays: frozenset[int]) -> bool:
        """Whether it still reads an array, by `id`."""
        raise NotImplementedError

    def of(self, earlier: "Selection") -> "Selection":
        """This selection from the rows of an earlier one, as a selection from its source."""
        composed = self._composed.get(earlier)
        if composed is None:
            composed = self._composed.setdefault(earlier, _Composed(earlier, self))
            if composed.depth > MOST_COMPOSED:
                at_once(composed.find_row_ids)
        return composed


class Positions(Selection):
    """Rows by position."""

    def __init__(self, row_ids: Array):
        super().__init__(row_ids.shape[0])
        self._row_ids = row_ids

    def find_row_ids(self) -> Array:
        """The position of each row."""
        return self._row_ids

    def reads(self, arrays: frozenset[int]) -> bool:
        """Whether it reads an array."""
        return id(self._row_ids) in arrays


class Mask(Selection):
    """Rows with a flag, among the first `num_rows`.

    Attributes:
        flags: a flag for each row of the source.
        num_rows: the number of valid rows of the source.
        was_read_in_place: whether an operation has read rows of the source and the mask in place of
            rows of the selection; see `unfiltered`.
    """

    was_read_in_place: bool = False

    def __init__(self, flags: Array, num_rows: Any, capacity: int):
        super().__init__(capacity, flags.shape[0])
        self.flags, self.num_rows = flags, num_rows
        self._row_ids: Array | None = None

    def find_row_ids(self) -> Array:
        """The positions of the flagged rows."""
        # Read once: another thread may find the positions meanwhile.
        row_ids = self._row_ids
        if row_ids is None:
            row_ids = self._row_ids = self._compact(None, True).row_ids
        return row_ids

    def take(self, arrays: object, kinds: tuple[str, ...], *, finds_row_ids: bool) -> Any:
        """Takes the flagged rows; none is missing, so `kinds` do not matter."""
        del kinds
        selected = self._compact(arrays, finds_row_ids and self._row_ids is None)
        if selected.row_ids is not None:
            self._row_ids = selected.row_ids
        return selected.rows

    def reads(self, arrays: frozenset[int]) -> bool:
        """Whether it reads an array."""
        # The index of a frame may hold the computed positions.
        own = (self.flags, self.num_rows, self._row_ids)
        return any(id(array) in arrays for array in own if array is not None)

    def _compact(self, rows: Any, return_index: bool) -> Any:
        return primitives.local.compact(
            self.flags,
            rows,
            capacity=self.capacity,
            num_valid=self.num_rows,
            return_index=return_index,
        )


class _Composed(Selection):
    """A selection from the rows of an earlier one."""

    def __init__(self, earlier: Selection, later: Selection):
        super().__init__(later.capacity, earlier.length)
        # The two selections, until the positions are found.
        self._found: Array | tuple[Selection, Selection] = (earlier, later)
        self.depth = 1 + max(earlier.depth, later.depth)

    def find_row_ids(self) -> Array:
        """The position of each row in the source of the earlier selection."""
        # Read once: another thread may find the positions meanwhile.
        found = self._found
        if not isinstance(found, tuple):
            return found
        earlier, later = found
        (row_ids,) = primitives.local.gather_rows(
            (earlier.find_row_ids(),), later.find_row_ids(), fill_value=(-1,)
        )
        self._found, self.depth = row_ids, 0
        return row_ids

    def reads(self, arrays: frozenset[int]) -> bool:
        """Whether it still reads an array."""
        found = self._found
        if not isinstance(found, tuple):
            return id(found) in arrays
        return any(selection.reads(arrays) for selection in found)


def take_arrays(arrays: Any, row_ids: Array, kinds: tuple[str, ...]) -> Any:
    """Takes rows of the arrays of columns, all in one pass.

    Kinds are those of `hole_kind` for columns where the position -1 gives a missing value, and ""
    for the others; `WIDENED` gives integers as floats, NaN where missing.
    """
    # Not jitted here: an eager call moves all columns in one pass.
    if not any(kinds):
        return primitives.local.gather_rows(arrays, row_ids)
    fills = tuple(
        (_HOLES.get(kind, 0), None if valid is None else False)
        for (_, valid), kind in zip(arrays, kinds, strict=True)
    )
    taken = primitives.local.gather_rows(arrays, row_ids, fill_value=fills)
    need_masks = [
        kind in ("mask", WIDENED) and valid is None
        for (_, valid), kind in zip(taken, kinds, strict=True)
    ]
    is_present = _is_present(row_ids) if any(need_masks) else None
    pairs = [
        (data, is_present if needs_mask else valid)
        for (data, valid), needs_mask in zip(taken, need_masks, strict=True)
    ]
    return tuple(
        (nan_unless(valid, data), None) if kind == WIDENED else (data, valid)
        for (data, valid), kind in zip(pairs, kinds, strict=True)
    )


@tiered
def _is_present(row_ids: Array) -> Array:
    return row_ids >= 0
