# SPDX-License-Identifier: Apache-2.0
"""Selection and numbering of rows by their positions in groups: head, tail, nth, cumcount."""

import functools
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ... import primitives
from ...primitives.staging import tiered
from ..table._column import Array, Column
from ..table._dtypes import wide
from ..table._filter import filter_rows
from ..table._take import settled
from ._base import GroupByBase
from ._grouped_column import Segments
from ._groups import any_of
from ._segmented_scans import positions_in_groups


@tiered
def _numbers_and_mask(numbers: Array, ids: Array | None) -> tuple[Array, Array | None]:
    """Numbers of rows in the widest integer, and flags of the rows with a group."""
    return numbers.astype(wide(np.int64)), None if ids is None else ids >= 0


class GroupByPositions(GroupByBase):
    """Methods by position in groups, and the numbers of rows and groups."""

    def _numbers(self, numbers: Array) -> Any:
        """An unnamed series of a number per row; missing for rows without a group."""
        ids = self._groups.segments.ids if self._grouped.may_drop else None
        column = settled(Column(*_numbers_and_mask(numbers, ids)), self._table.num_rows)
        return self._source._make_series(column, None, self._table)

    def cumcount(self, ascending: bool = True) -> Any:
        """Numbers the rows of each group, from zero."""
        return self._numbers(self._position(ascending=bool(ascending)))

    def ngroup(self, ascending: bool = True) -> Any:
        """The number of each row's group, from zero, counting groups with rows.

        If not `ascending`, numbers count down from the number of all groups, as in pandas.
        """
        groups = self._groups
        numbers = groups.group_ids
        if groups.may_be_empty:
            numbers = _without_empty(Segments(numbers, None, groups.capacity, groups.layout))
        return self._numbers(numbers if ascending else groups.count - np.int32(1) - numbers)

    def _kept_rows(self, mask: Array) -> Any:
        return self._shown(filter_rows(self._table, mask))

    def head(self, n: int = 5) -> Any:
        """The first `n` rows of each group, in row order; all but the last `-n` if negative."""
        return self._kept_rows(self._is_at(slice(0, n)))

    def tail(self, n: int = 5) -> Any:
        """The last `n` rows of each group, in row order; all but the first `-n` if negative."""
        return self._kept_rows(self._is_at(slice(-n, None) if n else slice(0, 0)))

    def nth(self, n: Any, dropna: object = None) -> Any:
        """The `n`-th row of each group, or several rows, with their labels, in row order.

        Differences from pandas:
            Use nth(0); subscripting and `dropna` are not supported. Call `dropna()` first.
        """
        if dropna is not None:
            raise NotImplementedError("groupby: nth does not support dropna. Call dropna() first.")
        is_one = _is_position(n)
        if not is_one and not pd.api.types.is_list_like(n):
            raise TypeError(
                f"Invalid index {type(n)}. Must be integer, list-like, slice or a tuple of "
                "integers and slices"
            )
        positions = [n] if is_one else list(n)
        for one in positions:
            if not _is_position(one):
                raise ValueError(f"Invalid argument {type(one)}. Should be int or slice.")
        # No position is an empty slice.
        flags = tuple(map(self._is_at, positions or [slice(0, 0)]))
        return self._kept_rows(any_of(flags))

    def _is_at(self, at: Any) -> Array:
        """Flags the rows at a position of their group, or in a slice of it."""
        if not isinstance(at, slice):
            at = slice(int(at), int(at) + 1 if at != -1 else None)
        if at.step is not None and at.step < 1:
            raise ValueError(f"Invalid step {at.step}. Must be greater than zero")
        given = (at.start, at.stop, None if at.step == 1 else at.step)
        are_from_end = tuple(bound is not None and bound < 0 for bound in given[:2])
        has_step = given[2] is not None
        from_end = self._position(ascending=False) if any(are_from_end) else None
        needs_start = has_step or any(bound is not None and bound >= 0 for bound in given[:2])
        from_start = self._position(ascending=True) if needs_start else None
        bounds = tuple(None if bound is None else _as_int32(bound) for bound in given)
        return _in_slice(self._groups.segments.ids, from_start, from_end, bounds, are_from_end)

    def _position(self, *, ascending: bool) -> Array:
        """The position of each row in its group, from its end if not `ascending`."""
        segments = self._groups.segments
        return self._grouped.once(
            ("positions", ascending), lambda: positions_in_groups(segments, ascending)
        )


def _is_position(n: object) -> bool:
    return isinstance(n, (int, np.integer, slice)) and not isinstance(n, bool)


@functools.partial(tiered, static_argnums=4)
def _in_slice(
    ids: Array, from_start: Any, from_end: Any, bounds: Any, are_from_end: tuple[bool, ...]
) -> Array:
    """Flags the rows whose positions in their group lie in a slice: its start, stop and step.

    A negative bound is compared with the position from the end.
    """
    flags, (start, stop, step) = ids >= 0, bounds

    def is_before(bound: Array, is_from_end: bool) -> Array:
        return from_end >= -bound if is_from_end else from_start < bound

    if stop is not None:
        flags = flags & is_before(stop, are_from_end[1])
    if start is not None:
        flags = flags & ~is_before(start, are_from_end[0])
    if step is not None:
        offset = from_start if start is None else from_start - start
        if are_from_end[0]:
            # In a group with fewer rows the slice starts with the first row.
            offset = jnp.minimum(from_start, np.int32(-1) - from_end - start)
        flags = flags & (offset % step == 0)
    return flags


def _as_int32(position: int) -> np.int32:
    """Clips a position to int32, the range of row counts."""
    return np.int32(min(max(position, 1 - 2**31), 2**31 - 1))


@tiered
def _without_empty(numbers: Segments) -> Array:
    """Numbers the groups with rows alone."""
    has_rows = (numbers.reduce("count", None) > 0).astype(jnp.int32)
    new_numbers = primitives.inclusive_scan(has_rows, "add", **numbers.by_group.on_mesh)
    return numbers.for_rows(new_numbers - np.int32(1))
