# SPDX-License-Identifier: Apache-2.0
"""Groups of all combinations of categories with each other and with the other keys.

The groups of the other keys are numbered on their own. Their number is the first digit of the
segment id, and the code of each category is a further one.
"""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ...primitives._direct_index import DirectIndex
from ...primitives._sized import in_steps
from ...primitives.staging import tiered
from ..table._column import Array, Column, bare
from ..table._layout import Layout
from ..table._sort_keys import ordered_keys
from ..table._table import Count, Table, is_row
from ..table._take import gather, position, take_columns
from ._dense_keys import count_and_capacity, first_rows_of_segments, in_order_of
from ._grouped_column import Groups, Options, Segments

# Arrays with an element for each combination are small up to this number, whatever the rows.
FEW_COMBINATIONS = 2**20

_NO_ROW = np.int32(np.iinfo(np.int32).max)


class Grid(NamedTuple):
    """The combinations of keys. Static under `jit`.

    Attributes:
        index: the numbers of combinations. The first digit is the group of the other keys, of
            capacity 1 if there are none; the others are codes.
        sort: whether groups are sorted by key; otherwise by appearance.
        layout: the layout of the rows.
    """

    index: DirectIndex
    sort: bool
    layout: Layout

    @property
    def num_segments(self) -> int:
        """The number of combinations."""
        return self.index.num_segments

    @property
    def categories(self) -> list[tuple[int, bool]]:
        """The number of digits of each category, and whether the last one is a missing value."""
        return list(zip(self.index.widths, self.index.can_miss, strict=True))[1:]


def groups_of_all_categories(
    keys: Sequence[Column], table: Table, options: Options, others: Groups | None
) -> Groups:
    """Groups rows by categories, with or without rows, and by other keys.

    Args:
        keys: the keys, the most significant first.
        table: the rows.
        options: the options of `groupby`.
        others: the groups of the keys that are no categories, with the same options.

    Raises:
        NotImplementedError: there are too many combinations.
    """
    layout = table.layout
    categories = [key for key in keys if key.kind == "category"]
    can_miss = tuple(not options.dropna and key.can_miss for key in categories)
    sizes = tuple(
        in_steps(max(len(key.dictionary) + misses, 1), 4)
        for key, misses in zip(categories, can_miss, strict=True)
    )
    num_others = 1 if others is None else others.capacity
    least = (np.int32(0),) * (1 + len(sizes))
    index = DirectIndex(least, (num_others, *sizes), (False, *can_miss))
    grid = Grid(index, options.sort, layout)
    most = max(2 * table.capacity, FEW_COMBINATIONS)
    if grid.num_segments > most:
        raise NotImplementedError(
            f"groupby: with observed=False the keys have {grid.num_segments} combinations, and at "
            f"most {most} are supported. Use observed=True."
        )
    known = None if others is None else (others.group_ids, others.count)
    limits = tuple(np.int32(len(key.dictionary)) for key in categories)
    bare_keys = tuple(map(bare, categories))
    ids, is_group, count, seen = _segments_of(bare_keys, known, limits, table.num_rows, grid)
    count, capacity = count_and_capacity(count, grid.num_segments, options, layout)
    by_group = Segments(ids, None, grid.num_segments, layout).by_group
    order = _order(keys, others, seen, grid, by_group)
    of_groups, digits = _select(is_group, order, grid, capacity, by_group)
    own = () if others is None else take_columns(others.keys, digits[0], layout)
    of_others = iter(own)
    of_categories = iter(zip(categories, digits[1:], strict=True))
    columns = []
    for key in keys:
        if key.kind == "category":
            category, codes = next(of_categories)
            columns.append(category.with_arrays((codes, None)))
        else:
            columns.append(next(of_others))
    return Groups(ids, of_groups, tuple(columns), count, grid.num_segments, capacity, layout, True)


@functools.partial(tiered, static_argnums=4)
def _segments_of(
    keys: Sequence[Column],
    others: tuple[Array, Count] | None,
    limits: Sequence[object],
    num_rows: Count,
    grid: Grid,
) -> tuple[Array, Array, Array, Any]:
    """The segment id of each row, flags of segments that are groups, their count, and first rows.

    `others` are the group ids of rows by the other keys, and the number of these groups. First rows
    are those of each segment, and of each segment's category alone, if groups are not sorted.
    """
    layout = grid.layout
    is_valid = is_row(keys[0].data.shape[0], num_rows, layout)
    is_member = is_valid if others is None else is_valid & (others[0] >= 0)
    codes, own_ids = [], []
    for key, (size, can_miss) in zip(keys, grid.categories, strict=True):
        code, is_present = key.data.astype(jnp.int32), ~key.missing()
        if can_miss:
            code = jnp.where(is_present, code, np.int32(size - 1))
            is_present = is_valid
        is_member = is_member & is_present
        codes.append(code)
        own_ids.append(layout.constrain(jnp.where(is_valid & is_present, code, np.int32(-1))))
    of_others = jnp.zeros(is_member.shape, jnp.int32) if others is None else others[0]
    ids = grid.index.numbers([of_others, *codes], (None,) * (1 + len(codes)), np.int32)
    ids = layout.constrain(jnp.where(is_member, ids, np.int32(-1)))
    by_group = Segments(ids, None, grid.num_segments, layout).by_group
    other, *digits = grid.index.digits(position(grid.num_segments, by_group))
    is_group = other < (np.int32(1) if others is None else others[1])
    first_of_categories = []
    for own, digit, (size, can_miss), limit in zip(
        own_ids, digits, grid.categories, limits, strict=True
    ):
        is_value = digit < limit
        if can_miss or not grid.sort:
            first = first_rows_of_segments(own, size, layout)
            first = gather(first, digit, Segments(own, None, size, layout).by_group)
            first_of_categories.append(first)
            if can_miss:
                is_value = is_value | ((digit == size - 1) & (first < _NO_ROW))
        is_group = is_group & is_value
    count = jnp.sum(is_group, dtype=jnp.int32)
    if grid.sort:
        return ids, is_group, count, None
    first_rows = None
    if others is not None:
        first_rows = first_rows_of_segments(ids, grid.num_segments, layout)
    return ids, is_group, count, (first_rows, tuple(first_of_categories))


def _order(
    keys: Sequence[Column], others: Groups | None, seen: Any, grid: Grid, by_group: Layout
) -> tuple[Array, ...]:
    """Sort keys of all segments; none if the groups are in the order of their segments."""
    is_category = [key.kind == "category" for key in keys]
    if grid.sort and is_category == sorted(is_category):
        return ()
    other, *digits = _digits(grid, by_group)
    if not grid.sort:
        first_rows, first_of_categories = seen
        of_categories = [
            one for pair in zip(first_of_categories, digits, strict=True) for one in pair
        ]
        # With other keys, the combinations without rows come last.
        return tuple(of_categories) if first_rows is None else (first_rows, other, *of_categories)
    own = iter(() if others is None else take_columns(others.keys, other, by_group))
    codes = iter(digits)
    order: list[Array] = []
    for flag in is_category:
        order += [next(codes)] if flag else [key for key, _ in ordered_keys(next(own))]
    return tuple(order)


@functools.partial(tiered, static_argnums=(0, 1))
def _digits(grid: Grid, by_group: Layout) -> list[Array]:
    return grid.index.digits(position(grid.num_segments, by_group))


@functools.partial(tiered, static_argnums=(2, 3, 4))
def _select(
    is_group: Array, order: tuple[Array, ...], grid: Grid, capacity: int, by_group: Layout
) -> tuple[Array, list[Array]]:
    """The segments of the groups, the numbers of the other keys' groups, and codes."""
    layout = grid.layout
    if not order:
        order = (position(grid.num_segments, by_group),)
    segments = in_order_of(order, is_group, capacity, by_group)
    other, *digits = grid.index.digits(segments)
    codes = [
        jnp.where(digit == size - 1, np.int32(-1), digit) if can_miss else digit
        for digit, (size, can_miss) in zip(digits, grid.categories, strict=True)
    ]
    return segments, [layout.constrain(one) for one in (other, *codes)]
