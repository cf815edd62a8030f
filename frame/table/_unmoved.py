# SPDX-License-Identifier: Apache-2.0
"""Columns of selected rows, which are moved when an operation reads them.

Queries select rows of tables with many columns and read few of them. Outside `jit`, on one device,
a selection of many rows therefore keeps the source of each column beside the selection, and moves
the rows of a column when they are read. A selection of a selection is composed, so that the columns
that only the last one reads are moved once.
"""

import functools
import threading
import weakref
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from ... import primitives
from ...primitives.staging import tiered
from ...shardings._compat import is_under_trace
from ._column import NAT, Array, Column, ColumnType
from ._tracing import at_once, is_looking

# Fewer rows are moved at once, which takes little.
LEAST_UNMOVED = 1 << 16
# So are rows of a source that is more than so many times as long: it would stay in memory.
LONGEST_SOURCE = 4
# So many selections are composed without computing positions: each keeps arrays in memory.
MOST_COMPOSED = 16

# The values of missing rows, by `hole_kind`.
_HOLES = {"code": -1, "time": NAT, "float": np.nan}


class Selection:
    """The selected rows of a source. Compared by identity.

    Attributes:
        capacity: the number of selected rows, including padding.
        length: the number of rows of the source; 0 if a column of it knows.
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

    @property
    def row_ids(self) -> Array:
        """The position of each row in the source; -1 for a row of missing values."""
        raise NotImplementedError

    def move(self, arrays: Any, kinds: tuple[str, ...]) -> Any:
        """Moves the rows of several columns in one pass; see `take_arrays`."""
        return take_arrays(arrays, self.row_ids, kinds)

    def reads(self, arrays: frozenset[int]) -> bool:
        """Whether it still reads an array, by `id`."""
        raise NotImplementedError

    def of(self, earlier: "Selection") -> "Selection":
        """This selection from the rows of an earlier one, as a selection from its source."""
        composed = self._composed.get(earlier)
        if composed is None:
            composed = self._composed.setdefault(earlier, _Composed(earlier, self))
            if composed.depth > MOST_COMPOSED:
                at_once(getattr, composed, "row_ids")
        return composed


class Taken(Selection):
    """Rows by position."""

    def __init__(self, row_ids: Array):
        super().__init__(row_ids.shape[0])
        self._row_ids = row_ids

    @property
    def row_ids(self) -> Array:
        """The position of each row."""
        return self._row_ids

    def reads(self, arrays: frozenset[int]) -> bool:
        """Whether it reads an array."""
        return id(self._row_ids) in arrays


class Flagged(Selection):
    """Rows with a flag, among the first `num_rows`."""

    def __init__(self, mask: Array, num_rows: Any, capacity: int):
        super().__init__(capacity, mask.shape[0])
        self._mask, self._num_rows = mask, num_rows

    @functools.cached_property
    def row_ids(self) -> Array:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The positions of the flagged rows."""
        return self._compact(None).row_ids

    def move(self, arrays: Any, kinds: tuple[str, ...]) -> Any:
        """Moves the flagged rows; none is missing, so `kinds` do not matter."""
        return self._compact(arrays).rows

    def reads(self, arrays: frozenset[int]) -> bool:
        """Whether it reads an array."""
        # The index of a frame may hold the computed positions.
        own = (self._mask, self._num_rows, self.__dict__.get("row_ids"))
        return any(id(array) in arrays for array in own if array is not None)

    def _compact(self, rows: Any) -> Any:
        return primitives.local.compact(
            self._mask, rows, capacity=self.capacity, num_valid=self._num_rows
        )


class _Composed(Selection):
    """A selection from the rows of an earlier one."""

    def __init__(self, earlier: Selection, later: Selection):
        super().__init__(later.capacity, earlier.length)
        self._parts: tuple[Selection, Selection] | None = (earlier, later)
        self.depth = 1 + max(earlier.depth, later.depth)

    @functools.cached_property
    def row_ids(self) -> Array:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The position of each row in the source of the earlier selection."""
        earlier, later = self._parts or (None, None)
        if earlier is None or later is None:
            # Another thread has computed them; cached_property does not lock.
            return self.__dict__["row_ids"]
        (row_ids,) = primitives.local.gather_rows(
            (earlier.row_ids,), later.row_ids, fill_value=(-1,)
        )
        self.__dict__["row_ids"] = row_ids
        self.depth, self._parts = 0, None
        return row_ids

    def reads(self, arrays: frozenset[int]) -> bool:
        """Whether it still reads an array."""
        row_ids = self.__dict__.get("row_ids")
        if row_ids is not None:
            return id(row_ids) in arrays
        return any(part.reads(arrays) for part in self._parts or ())


def take_arrays(arrays: Any, row_ids: Array, kinds: tuple[str, ...]) -> Any:
    """Takes rows of the arrays of columns, all in one pass.

    Kinds are those of `hole_kind` for columns where the position -1 gives a missing value, and ""
    for the others.
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
        kind == "mask" and valid is None for (_, valid), kind in zip(taken, kinds, strict=True)
    ]
    is_present = _is_present(row_ids) if any(need_masks) else None
    return tuple(
        (data, is_present if needs_mask else valid)
        for (data, valid), needs_mask in zip(taken, need_masks, strict=True)
    )


@tiered
def _is_present(row_ids: Array) -> Array:
    return row_ids >= 0


@jax.tree_util.register_pytree_node_class
class UnmovedColumn(Column):
    """The rows of a column that are moved when `data` or `valid` is first read. A pytree.

    As a pytree it is the moved column.
    """

    _waiting: tuple[Column | None, Selection, str] | None
    _moved: Column | None
    # What is known of the moved column before that.
    _type: ColumnType
    _dtype: np.dtype
    _has_mask: bool
    _capacity: int

    def __init__(self, source: Column | None, selection: Selection, kind: str = ""):
        """The rows of a source, or for None their positions in it; `kind` as in `take_arrays`."""
        for name, value in (
            ("_type", Column.type if source is None else source.type),
            ("_dtype", np.dtype(np.int32) if source is None else source.dtype),
            ("_has_mask", source is not None and (source.valid is not None or kind == "mask")),
            ("_capacity", selection.capacity),
            ("_waiting", (source, selection, kind)),
            ("_moved", None),
        ):
            object.__setattr__(self, name, value)
        with _LOCK:
            _waiting_columns.add(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def __reduce__(self) -> Any:
        return Column, (self.data, self.valid, self.type)

    def tree_flatten(self) -> tuple[tuple[Column, ...], None]:
        # Concrete arrays, so `is_traced` need not wait for them.
        return () if is_looking() else (self.in_place,), None

    @classmethod
    def tree_unflatten(cls, _: None, children: tuple[Column]) -> "UnmovedColumn":
        column = object.__new__(cls)
        (moved,) = children
        object.__setattr__(column, "_moved", moved)
        object.__setattr__(column, "_waiting", None)
        return column

    @property
    def in_place(self) -> Column:
        """The column with its rows in place."""
        move_together((self,))
        assert self._moved is not None
        return self._moved

    @property
    def data(self) -> Array:  # pyright: ignore[reportIncompatibleVariableOverride]
        """One value per row."""
        return self.in_place.data

    @property
    def array_held(self) -> Any:
        """The array that the column needs: that of the source, if any, while its rows wait."""
        waiting = self._waiting
        if waiting is None:
            return self.data
        source = waiting[0]
        return None if source is None else source.data

    @property
    def valid(self) -> Array | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The rows with a value; see `Column`."""
        return None if self._moved is None and not self._has_mask else self.in_place.valid

    @property
    def type(self) -> ColumnType:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The type of the values."""
        return self._type if self._moved is None else self._moved.type

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the array."""
        return self._dtype if self._moved is None else self._moved.dtype

    @property
    def capacity(self) -> int:
        """The number of rows, including padding."""
        return self._capacity if self._moved is None else self._moved.capacity


_LOCK = threading.Lock()
_waiting_columns: weakref.WeakSet[UnmovedColumn] = weakref.WeakSet()
# Arrays that callers hold and may donate by themselves, by `id`.
_arrays_of_callers: weakref.WeakValueDictionary[int, Array] = weakref.WeakValueDictionary()


def share_with_caller(array: Any) -> None:
    """Records that a caller holds an array of a column: no selection may wait for it."""
    if _is_concrete(array):
        _arrays_of_callers[id(array)] = array


def is_waiting(column: Column) -> bool:
    """Whether the rows of a stored column have not been moved yet."""
    return isinstance(column, UnmovedColumn) and column._moved is None


def may_wait(columns: Sequence[Column], selected: Array, capacity: int) -> bool:
    """Whether a selection of rows of one device may wait, or has to be composed with another.

    All arrays must be concrete, and outside a trace.
    """
    stored = [column.stored for column in columns]
    if capacity < LEAST_UNMOVED and not any(map(is_waiting, stored)):
        return False
    if is_under_trace() or not _is_lasting(selected):
        return False
    return all(is_waiting(column) or all(map(_is_lasting, column.arrays)) for column in stored)


def _is_lasting(array: Any) -> bool:
    """Whether an array is concrete, and only frames hold it."""
    return array is None or (_is_concrete(array) and id(array) not in _arrays_of_callers)


def _is_concrete(array: Any) -> bool:
    return isinstance(array, jax.Array) and not isinstance(array, Tracer)


def select_later(
    columns: Sequence[Column], selection: Selection, kinds: Sequence[str]
) -> tuple[Column, ...]:
    """Selects rows of columns: in place if they are few, otherwise when they are read."""
    selected = [
        _selected(column.stored, selection, kind)
        for column, kind in zip(columns, kinds, strict=True)
    ]
    stored = _unless_small(selected)
    return tuple(column.with_stored(own) for column, own in zip(columns, stored, strict=True))


def positions_later(selection: Selection) -> Column:
    """The positions of selected rows, as a column."""
    return _unless_small([UnmovedColumn(None, selection)])[0]


def _unless_small(columns: Sequence[UnmovedColumn]) -> list[Column]:
    """Moves the rows of columns with few of them."""
    move_together([column for column in columns if _is_small(column)])
    return [column if column._moved is None else column._moved for column in columns]


def _selected(stored: Column, selection: Selection, kind: str) -> UnmovedColumn:
    if not isinstance(stored, UnmovedColumn):
        return UnmovedColumn(stored, selection, kind)
    waiting = stored._waiting
    if waiting is None:
        return UnmovedColumn(stored.in_place, selection, kind)
    source, earlier, earlier_kind = waiting
    return UnmovedColumn(source, selection.of(earlier), kind or earlier_kind)


def _is_small(column: UnmovedColumn) -> bool:
    waiting = column._waiting
    if waiting is None:
        return False
    source, selection, _ = waiting
    length = selection.length if source is None else source.capacity
    return column.capacity < LEAST_UNMOVED or length > LONGEST_SOURCE * column.capacity


def move_together(columns: Sequence[Column]) -> None:
    """Moves the rows of all columns that wait, those of one selection in one pass."""
    members: dict[Selection, list[UnmovedColumn]] = {}
    for column in columns:
        stored = column.stored
        # Read once: another thread may move the rows meanwhile.
        waiting = stored._waiting if isinstance(stored, UnmovedColumn) else None
        if waiting is not None:
            members.setdefault(waiting[1], []).append(stored)
    for selection, unmoved in members.items():
        at_once(_move, selection, unmoved)


def _move(selection: Selection, columns: Sequence[UnmovedColumn]) -> None:
    waiting = [(column, *parts) for column in columns if (parts := column._waiting) is not None]
    own = [(column, source, kind) for column, source, _, kind in waiting if source is not None]
    arrays = tuple(source.arrays for _, source, _ in own)
    moved = selection.move(arrays, tuple(kind for _, _, kind in own)) if own else ()
    pairs = [(column, pair) for (column, _, _), pair in zip(own, moved, strict=True)]
    pairs += [
        (column, (selection.row_ids, None)) for column, source, *_ in waiting if source is None
    ]
    for column, (data, valid) in pairs:
        object.__setattr__(column, "_moved", Column(data, valid, column.type))
        object.__setattr__(column, "_waiting", None)
    with _LOCK:
        _waiting_columns.difference_update(columns)


def all_in_place(columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns with their rows in place, so that equal frames are equal pytrees.

    Also moves the rows of other columns that wait and read arrays of these: the caller may donate
    the arrays.
    """
    move_together(columns)
    settled = tuple(
        column.with_stored(column.stored.in_place)
        if isinstance(column.stored, UnmovedColumn)
        else column
        for column in columns
    )
    move_readers(settled)
    return settled


def move_readers(columns: Sequence[Column]) -> None:
    """Moves the rows of all waiting columns that read an array of these."""
    if not _waiting_columns:
        return
    with _LOCK:
        waiting = list(_waiting_columns)
    arrays = frozenset(id(array) for column in columns for array in column.stored.arrays)
    move_together([column for column in waiting if _reads(column, arrays)])


def _reads(column: UnmovedColumn, arrays: frozenset[int]) -> bool:
    waiting = column._waiting
    if waiting is None:
        return False
    source, selection, _ = waiting
    own = () if source is None else source.arrays
    return any(id(array) in arrays for array in own if array is not None) or selection.reads(arrays)
