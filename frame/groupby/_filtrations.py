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
from ._segmented_scans import positions_in_groups


class GroupByPositions(GroupByBase):
    """Methods by position in groups, and the numbers of rows and groups."""

    def _numbers(self, numbers: Array) -> Any:
        """An unnamed series of a number per row; missing for rows without a group."""
        valid = self._groups.segments.ids >= 0 if self._grouped.may_drop else None
        column = settled(Column(numbers.astype(wide(np.int64)), valid), self._table.num_rows)
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
        none = jnp.zeros_like(self._groups.segments.ids, bool)
        return self._kept_rows(functools.reduce(jnp.logical_or, map(self._is_at, positions), none))

    def _is_at(self, at: Any) -> Array:
        """Flags the rows at a position of their group, or in a slice of it."""
        is_member = self._groups.segments.ids >= 0

        def is_before(bound: int) -> Array:
            if bound >= 0:
                return self._position(ascending=True) < _as_int32(bound)
            return self._position(ascending=False) >= _as_int32(-bound)

        if not isinstance(at, slice):
            position = self._position(ascending=at >= 0)
            return is_member & (position == _as_int32(at if at >= 0 else -at - 1))
        if at.step is not None and at.step < 1:
            raise ValueError(f"Invalid step {at.step}. Must be greater than zero")
        if at.stop is not None:
            is_member = is_member & is_before(at.stop)
        if at.start is not None:
            is_member = is_member & ~is_before(at.start)
        if at.step not in (None, 1):
            is_member = is_member & self._is_step(at.start or 0, at.step)
        return is_member

    def _is_step(self, start: int, step: int) -> Array:
        """Flags the rows whose offset from the start of a slice is a multiple of its step."""
        position = self._position(ascending=True)
        if start >= 0:
            offset = position - _as_int32(start)
        else:
            # In a group with fewer rows the slice starts with the first row.
            from_end = self._position(ascending=False)
            offset = jnp.minimum(position, np.int32(-1) - from_end - _as_int32(start))
        return offset % _as_int32(step) == 0

    def _position(self, *, ascending: bool) -> Array:
        """The position of each row in its group, from its end if not `ascending`."""
        segments = self._groups.segments
        return self._grouped.once(
            ("positions", ascending), lambda: positions_in_groups(segments, ascending)
        )


def _is_position(n: object) -> bool:
    return isinstance(n, (int, np.integer, slice)) and not isinstance(n, bool)


def _as_int32(position: int) -> np.int32:
    """Clips a position to int32, the range of row counts."""
    return np.int32(min(max(position, -(2**31)), 2**31 - 1))


@tiered
def _without_empty(numbers: Segments) -> Array:
    """Numbers the groups with rows alone."""
    has_rows = (numbers.reduce("count", None) > 0).astype(jnp.int32)
    new_numbers = primitives.inclusive_scan(has_rows, "add", **numbers.by_group.on_mesh)
    return numbers.for_rows(new_numbers - np.int32(1))
