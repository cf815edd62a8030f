# SPDX-License-Identifier: Apache-2.0
"""Columns of selected rows, which are moved when an operation reads them.

Queries select rows of tables with many columns and read few of them. Outside `jit`, on one device,
a selection of many rows therefore keeps the source of each column beside the selection, and moves
the rows of a column when they are read. A selection of a selection is composed, so that the columns
that only the last one reads are moved once.

Few rows of a long source must not keep it in memory. They wait as long as another column has the
arrays of the source. When that column is gone, the next call that selects or reads waiting rows
moves them.
"""

import collections
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
from ._column import NAT, Array, Column, ColumnType, nan_unless
from ._dtypes import wide
from ._tracing import at_once, is_looking

# Fewer rows are moved at once, which takes little, unless they are far apart in a long source:
# 30,000 of 6M rows of 16 columns take 10 ms.
LEAST_UNMOVED = 1 << 16
LONG_SOURCE = 1 << 20
# Rows of a source that is more than so many times as long wait only while others have the source,
# which would stay in memory for them.
LONGEST_SOURCE = 4
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
        length: the number of rows of the source; 0 if a column of it knows.
        depth: the number of earlier selections whose positions are still needed, at most
            `MOST_COMPOSED`.
        dtype: that of a column without a source; see `made`.
        can_compose: whether a later selection may be composed with this one.
        num_steps: the number of operations of an expression; 0 for selected rows.
    """

    dtype: np.dtype = np.dtype(np.int32)
    can_compose: bool = True
    num_steps: int = 0

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

    @property
    def is_orphaned(self) -> bool:
        """Whether it keeps arrays in memory that nothing else has."""
        return False

    def made(self) -> Array:
        """The rows of a column without a source: the positions in it."""
        return self.row_ids

    def move(self, arrays: Any, kinds: tuple[str, ...], needs_row_ids: bool) -> Any:
        """Moves the rows of several columns in one pass; see `take_arrays`.

        `needs_row_ids` tells that the positions are read next.
        """
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
    """Rows with a flag, among the first `num_rows`.

    Attributes:
        mask: a flag for each row of the source.
        num_rows: the number of valid rows of the source.
        was_read_in_place: whether an operation has read rows of the source and the mask in place of
            rows of the selection; see `unselected`.
    """

    was_read_in_place: bool = False

    def __init__(self, mask: Array, num_rows: Any, capacity: int):
        super().__init__(capacity, mask.shape[0])
        self.mask, self.num_rows = mask, num_rows

    @functools.cached_property
    def row_ids(self) -> Array:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The positions of the flagged rows."""
        return self._compact(None, True).row_ids

    def move(self, arrays: Any, kinds: tuple[str, ...], needs_row_ids: bool) -> Any:
        """Moves the flagged rows; none is missing, so `kinds` do not matter."""
        computes_row_ids = needs_row_ids and "row_ids" not in self.__dict__
        selected = self._compact(arrays, computes_row_ids)
        if computes_row_ids:
            self.__dict__["row_ids"] = selected.row_ids
        return selected.rows

    def reads(self, arrays: frozenset[int]) -> bool:
        """Whether it reads an array."""
        # The index of a frame may hold the computed positions.
        own = (self.mask, self.num_rows, self.__dict__.get("row_ids"))
        return any(id(array) in arrays for array in own if array is not None)

    def _compact(self, rows: Any, return_index: bool) -> Any:
        return primitives.local.compact(
            self.mask,
            rows,
            capacity=self.capacity,
            num_valid=self.num_rows,
            return_index=return_index,
        )


def selection_of(mask: Array, num_rows: Any, capacity: int) -> Selection:
    """The flagged rows among the first `num_rows`: by position if they are few."""
    flagged = Flagged(mask, num_rows, capacity)
    # Each column that is read later would take two passes over the mask.
    return Taken(flagged.row_ids) if mask.shape[0] > LONGEST_SOURCE * capacity else flagged


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


@jax.tree_util.register_pytree_node_class
class UnmovedColumn(Column):
    """The rows of a column that are moved when `data` or `valid` is first read. A pytree.

    As a pytree it is the moved column.
    """

    _waiting: tuple[Column | None, Selection, str] | None
    _moved: Column | None
    # The column from which the source was taken, if there is a source.
    _owner: weakref.ref[Column] | None
    # What is known of the moved column before that.
    _type: ColumnType
    _dtype: np.dtype
    _has_mask: bool
    _capacity: int

    def __init__(
        self,
        source: Column | None,
        selection: Selection,
        kind: str = "",
        owner: weakref.ref[Column] | None = None,
    ):
        """The rows of a source, or for None those of `made`; `kind` as in `take_arrays`.

        `owner` refers to the column whose arrays the source has, to notice that it is gone.
        """
        dtype = selection.dtype if source is None else source.dtype
        has_mask = source is not None and (source.valid is not None or kind == "mask")
        for name, value in (
            ("_type", Column.type if source is None else source.type),
            ("_dtype", wide(np.float64) if kind == WIDENED else dtype),
            ("_has_mask", has_mask and kind != WIDENED),
            ("_capacity", selection.capacity),
            ("_waiting", (source, selection, kind)),
            ("_moved", None),
            ("_owner", owner),
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
        object.__setattr__(column, "_owner", None)
        return column

    def settle(self, data: Array, valid: Array | None = None) -> None:
        """Ends the wait with the arrays of the rows in place."""
        for name, value in (
            ("_moved", Column(data, valid, self.type)),
            ("_waiting", None),
            ("_owner", None),
        ):
            object.__setattr__(self, name, value)
        with _LOCK:
            _waiting_columns.discard(self)

    def reads(self, arrays: frozenset[int]) -> bool:
        """Whether the rows wait and still read an array, by `id`."""
        waiting = self._waiting
        if waiting is None:
            return False
        source, selection, _ = waiting
        own = () if source is None else source.arrays
        return any(id(array) in arrays for array in own if array is not None) or selection.reads(
            arrays
        )

    @property
    def in_place(self) -> Column:
        """The column with its rows in place."""
        move_together((self,))
        assert self._moved is not None
        return self._moved

    @property
    def waiting(self) -> "tuple[Column | None, Selection] | None":
        """The source and the selection of rows that wait; None if the rows are in place."""
        waiting = self._waiting
        return None if waiting is None else waiting[:2]

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


def are_any_waiting() -> bool:
    """Whether any rows wait, in any frame."""
    return bool(_waiting_columns or _gone_owners)


def may_wait(columns: Sequence[Column], selected: Array, capacity: int) -> bool:
    """Whether a selection of rows of one device may wait, or has to be composed with another.

    All arrays must be concrete, and outside a trace.
    """
    stored = [column.stored for column in columns]
    if (
        capacity < LEAST_UNMOVED
        and all(column.capacity < LONG_SOURCE for column in stored)
        and not any(map(is_waiting, stored))
    ):
        return False
    if is_under_trace() or not is_lasting(selected):
        return False
    return all(is_waiting(column) or all(map(is_lasting, column.arrays)) for column in stored)


def is_lasting(array: Any) -> bool:
    """Whether an array is concrete, and only frames hold it."""
    return array is None or (_is_concrete(array) and id(array) not in _arrays_of_callers)


def _is_concrete(array: Any) -> bool:
    return isinstance(array, jax.Array) and not isinstance(array, Tracer)


def select_later(
    columns: Sequence[Column], selection: Selection, kinds: Sequence[str]
) -> tuple[Column, ...]:
    """Selects rows of columns: in place if they are few, otherwise when they are read."""
    _move_orphans()
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
    waiting = stored._waiting if isinstance(stored, UnmovedColumn) else None
    if waiting is None or not waiting[1].can_compose:
        stored = stored.in_place
        # The source has the same arrays, but is another object: the frames that have the column
        # may go while its rows wait.
        source = Column(*stored.arrays, stored.type)
        return UnmovedColumn(source, selection, kind, weakref.ref(stored, note_orphan))
    assert isinstance(stored, UnmovedColumn)
    source, earlier, earlier_kind = waiting
    if not kind or earlier_kind == WIDENED:
        kind = earlier_kind
    return UnmovedColumn(source, selection.of(earlier), kind, stored._owner)


def _is_small(column: UnmovedColumn) -> bool:
    """Whether the rows are moved at once."""
    if _keeps_memory(column):
        return True
    waiting = column._waiting
    return column.capacity < LEAST_UNMOVED and (
        waiting is None or waiting[0] is None or waiting[0].capacity < LONG_SOURCE
    )


def _keeps_memory(column: UnmovedColumn) -> bool:
    """Whether the rows wait for arrays that nothing else has and that take more memory."""
    waiting = column._waiting
    if waiting is None:
        return False
    return waiting[1].is_orphaned or (_is_orphan(column) and _is_long(*waiting))


def _is_long(source: Column | None, selection: Selection, _: str) -> bool:
    """Whether the rows of a source take much less memory than the source."""
    length = selection.length if source is None else source.capacity
    return length > LONGEST_SOURCE * selection.capacity


def _is_orphan(column: UnmovedColumn) -> bool:
    """Whether the rows that wait are all that keeps their source in memory."""
    return column._owner is None or column._owner() is None


# An item for each owner that has gone since the last look.
_gone_owners: collections.deque[None] = collections.deque(maxlen=1)


def note_orphan(_: Any, gone_owners: collections.deque[None] = _gone_owners) -> None:
    """Notes that the owner of an array is gone, for the next call that moves rows."""
    # Moving rows here would run programs wherever Python frees an object. At the end of a process
    # that may be after the names of this module have gone.
    gone_owners.append(None)


def _move_orphans() -> None:
    """Moves the rows that are all that keeps a long source in memory."""
    if not _gone_owners:
        return
    _gone_owners.clear()
    with _LOCK:
        waiting = list(_waiting_columns)
    move_together([column for column in waiting if _keeps_memory(column)])


def move_together(columns: Sequence[Column]) -> None:
    """Moves the rows of all columns that wait, those of one selection in one pass.

    Of expressions the longest comes first: its one pass computes the parts that are held, too.
    """
    _move_orphans()
    members: dict[Selection, list[UnmovedColumn]] = {}
    for column in columns:
        if type(column) is Column:
            continue
        stored = column.stored
        if not isinstance(stored, UnmovedColumn):
            continue
        # Read once: another thread may move the rows meanwhile.
        waiting = stored._waiting
        if waiting is not None:
            members.setdefault(waiting[1], []).append(stored)
    if len(members) > 1:
        members = dict(sorted(members.items(), key=_order_of_moves))
    for selection, unmoved in members.items():
        at_once(_move, selection, unmoved)


def _order_of_moves(member: tuple[Selection, Any]) -> tuple[bool, int]:
    num_steps = member[0].num_steps
    return num_steps > 0, -num_steps


def _move(selection: Selection, columns: Sequence[UnmovedColumn]) -> None:
    waiting = [(column, *parts) for column in columns if (parts := column._waiting) is not None]
    own = [(column, source, kind) for column, source, _, kind in waiting if source is not None]
    arrays = tuple(source.arrays for _, source, _ in own)
    kinds = tuple(kind for _, _, kind in own)
    moved = selection.move(arrays, kinds, len(own) < len(waiting)) if own else ()
    pairs = [(column, pair) for (column, _, _), pair in zip(own, moved, strict=True)]
    pairs += [
        (column, (selection.made(), None)) for column, source, *_ in waiting if source is None
    ]
    for column, (data, valid) in pairs:
        column.settle(data, valid)


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
    move_together([column for column in waiting if column.reads(arrays)])
