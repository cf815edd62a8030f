# SPDX-License-Identifier: Apache-2.0
"""The memory rules of deferred columns: who owns the arrays that they read.

- Orphans. A deferred column must not keep in memory what nothing else has. An expression is forced
  soon after the owner of an array at its leaves is gone. Few rows of a long source are, too; many
  rows would need as much memory themselves.
- Donation. A frame that is flattened may be donated, which deletes its arrays: the deferred columns
  that read them are forced first. Arrays that a caller holds may be donated without notice, so no
  column is deferred that would read them.

The rules only tell which columns to force: `_deferred.force` applies them.
"""

import collections
import threading
import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import jax
from jax.core import Tracer

from ._column import Array, Column
from ._host_column import HostColumn
from ._nodes import Map, Node, Selected, Source

if TYPE_CHECKING:
    from ._deferred import DeferredColumn

# A source is long if it has more than so many times the rows of a selection.
LONGEST_SOURCE = 4

_LOCK = threading.Lock()
_deferred_columns: "weakref.WeakSet[DeferredColumn]" = weakref.WeakSet()
# Arrays that callers hold and may donate by themselves, by `id`.
_arrays_of_callers: weakref.WeakValueDictionary[int, Array] = weakref.WeakValueDictionary()
# An item for each owner that has gone since the last look.
_gone_owners: collections.deque[None] = collections.deque(maxlen=1)


def watch(column: "DeferredColumn") -> None:
    """Applies the rules to a column from now on."""
    with _LOCK:
        _deferred_columns.add(column)


def unwatch(column: "DeferredColumn") -> None:
    """Ends the rules for a column that has been forced."""
    with _LOCK:
        _deferred_columns.discard(column)


def are_any_deferred() -> bool:
    """Whether any column is deferred, in any frame."""
    return bool(_deferred_columns or _gone_owners)


def source_of(owner: Column) -> Source:
    """A source with the arrays of a column in memory."""
    return Source(owner, note_gone_owner)


def note_gone_owner(_: object, gone_owners: collections.deque[None] = _gone_owners) -> None:
    """Notes that the owner of an array is gone, for the next call that forces a column."""
    # Forcing here would run programs wherever Python frees an object. At the end of a process that
    # may be after the names of this module have gone.
    gone_owners.append(None)


def orphans() -> list["DeferredColumn"]:
    """The deferred columns that keep in memory what nothing else has, if an owner has gone."""
    if not _gone_owners:
        return []
    _gone_owners.clear()
    return [column for column in _watched() if keeps_memory(column.node)]


def keeps_memory(node: Node | None) -> bool:
    """Whether a node keeps arrays in memory that nothing else has and that take more memory."""
    if isinstance(node, Selected):
        return is_long(node.source_length, node.capacity) and _is_orphan(node.source)
    return isinstance(node, Map) and any(map(_has_orphan, node.operands))


def is_long(length: int, capacity: int) -> bool:
    """Whether a selection of `capacity` rows takes much less memory than its source."""
    return length > LONGEST_SOURCE * capacity


def _has_orphan(operand: object) -> bool:
    if isinstance(operand, Map):
        return any(map(_has_orphan, operand.operands))
    return isinstance(operand, Source) and _is_orphan(operand)


def _is_orphan(source: Source | None) -> bool:
    return source is None or source.owner() is None


def readers(columns: Iterable[Column]) -> list["DeferredColumn"]:
    """The deferred columns that read an array of some columns, which may be donated."""
    if not _deferred_columns:
        return []
    arrays = frozenset(id(array) for column in columns for array in column.stored.arrays)
    return [column for column in _watched() if _reads(column.node, arrays)]


def _reads(node: object, arrays: frozenset[int]) -> bool:
    """Whether a node, or an operand of one, still reads an array, by `id`."""
    match node:
        case Selected(source=source, selection=selection):
            return _reads(source, arrays) or selection.reads(arrays)
        case Map(operands=operands):
            # A forced result is read in place of the operands, but only while it is held.
            return any(_reads(one, arrays) for one in (*operands, node.forced_result()))
        case Source(column=column):
            return _reads(column, arrays)
        case Column():
            # Read once: another thread may force the column meanwhile.
            own = node.node
            if own is not None:
                return _reads(own, arrays)
            return any(id(array) in arrays for array in node.arrays if array is not None)
    return False


def needed_array(column: Column) -> Any:
    """The array on the device that a stored column needs, or None.

    That of a deferred column is in the source, if it has one.
    """
    node = column.node
    if node is None:
        return column.placed_array if type(column) is HostColumn else column.data
    source = node.source if isinstance(node, Selected) else None
    return None if source is None else source.column.data


def _watched() -> list["DeferredColumn"]:
    with _LOCK:
        return list(_deferred_columns)


def share_with_caller(array: Any) -> None:
    """Records that a caller holds an array of a column: no column is deferred that reads it."""
    if _is_concrete(array):
        _arrays_of_callers[id(array)] = array


def is_lasting(array: object) -> bool:
    """Whether an array is concrete, and only frames hold it."""
    return array is None or (_is_concrete(array) and id(array) not in _arrays_of_callers)


def _is_concrete(array: object) -> bool:
    return isinstance(array, jax.Array) and not isinstance(array, Tracer)
