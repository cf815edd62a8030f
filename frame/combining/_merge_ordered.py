# SPDX-License-Identifier: Apache-2.0
"""merge_ordered."""

import functools
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ... import primitives
from ...primitives.staging import tiered
from ..table._arguments import listed
from ..table._column import Array, Column
from ..table._layout import Layout
from ..table._ndframe import FrameBase
from ..table._table import Count, is_row
from ..table._take import gather, take_columns
from ..table._tracing import at_once, is_traced
from ._merge import merge_frames
from ._merge_plan import KeyArguments, on_of_sides
from ._row_pairs import RowPairs, SideRows

# The column of the number of a group, which no frame of the user has.
_GROUP = "\0group"


def merge_ordered(
    left: Any,
    right: Any,
    on: Any = None,
    left_on: Any = None,
    right_on: Any = None,
    left_by: Any = None,
    right_by: Any = None,
    fill_method: str | None = None,
    suffixes: Sequence[str | None] = ("_x", "_y"),
    how: str = "outer",
    *,
    capacity: int | None = None,
) -> Any:
    """Joins rows of two frames with equal keys, in the order of the keys.

    Args:
        left: a frame, or a named series.
        right: a frame, or a named series.
        on: the labels of the keys; by default those that both frames have.
        left_on: the labels of the keys of the left frame.
        right_on: the labels of the keys of the right frame.
        left_by: labels of the left frame: each of its groups is merged with the right frame.
        right_by: labels of the right frame, likewise.
        fill_method: "ffill" fills rows without a match with the last row of that side.
        suffixes: appended to labels that both frames have.
        how: "outer", "inner", "left" or "right".
        capacity: the maximum number of rows inside `jit`; see `merge`.

    Returns:
        The merged frame, with the labels 0, 1, ... The groups of `left_by` or `right_by` are in
        the order of their first rows.

    Raises:
        KeyError: a label of `left_by` or `right_by` is absent.
        ValueError: both `left_by` and `right_by` are given, or `fill_method` is unknown.

    Differences from pandas:
        `capacity` is new; see `merge`. Labels to group by must not be in the other frame. Groups
        are not supported inside `jit`.

    Example:
        >>> from jaxframes.frame import JaxFrame, merge_ordered
        >>> left = JaxFrame({"t": [1, 5], "x": [10, 50]})
        >>> right = JaxFrame({"t": [2, 5, 6], "y": [2, 5, 6]})
        >>> merge_ordered(left, right, on="t", fill_method="ffill").x.tolist()
        [10, 10, 50, 50]
    """
    if left_by is not None and right_by is not None:
        raise ValueError("Can only group either left or right frames")
    if fill_method not in ("ffill", None):
        raise ValueError("fill_method must be 'ffill' or None")
    fill = None if fill_method is None else _filled
    if left_by is None and right_by is None:
        keys = KeyArguments(on, left_on, right_on, False, False)
        arguments = left, right, how, keys, True, suffixes, False, None, capacity, fill
        merge = functools.partial(at_once, merge_frames) if capacity is None else merge_frames
        return _with_range(merge(*arguments))
    is_left = left_by is not None
    by = listed(left_by if is_left else right_by)
    grouped, other = (left, right) if is_left else (right, left)
    _check_by(grouped, other, by, "left" if is_left else "right")
    grouped, values, other = _numbered(grouped, other, by)
    left, right = (grouped, other) if is_left else (other, grouped)
    left_keys, right_keys = on_of_sides(on, left_on, right_on)
    if left_keys is None or right_keys is None:
        left_keys = right_keys = [one for one in left.columns if one in right._labels]
    sides = [
        [_GROUP, *(one for one in listed(keys) if one != _GROUP)]
        for keys in (left_keys, right_keys)
    ]
    if fill is not None:
        group_ids = tuple(frame._column(_GROUP).data for frame in (left, right))
        fill = functools.partial(_filled, group_ids=group_ids)
    keys = KeyArguments(None, sides[0], sides[1], False, False)
    merged = merge_frames(left, right, how, keys, True, suffixes, False, None, capacity, fill)
    return _with_group_values(_with_range(merged), values, by)


def _with_range(merged: Any) -> Any:
    """The labels 0, 1, ...; keys that are index levels of both sides are columns."""
    return merged if merged._table.index.is_range else merged.reset_index()


def _check_by(grouped: Any, other: FrameBase, by: Sequence[object], side: str) -> None:
    """Raises unless one frame has the labels to group by."""
    for frame in (grouped, other):
        if not isinstance(frame, FrameBase):
            raise TypeError(
                f"merge_ordered: with {side}_by both sides must be frames, got "
                f"{type(frame).__name__}. Call to_frame() first."
            )
        if is_traced(frame._table.num_rows, frame._table.columns):
            raise NotImplementedError(
                "merge_ordered: inside jit the groups are not known. Merge by the keys of groups "
                "too, or call it outside."
            )
    if absent := set(by).difference(grouped._labels):
        raise KeyError(f"{absent} not found in {side} columns")
    if common := [one for one in by if one in other._labels]:
        raise NotImplementedError(
            f"merge_ordered: labels to group by must be in one frame, but both have {common}. Add "
            "them to on=."
        )


def _numbered(grouped: Any, other: object, by: list[object]) -> tuple[Any, Any, Any]:
    """The rows of groups with the number of their group, the values of each group, and the other
    rows once for each group."""
    grouped = grouped[grouped[by].notna().all(axis=1)]
    values = grouped[by].drop_duplicates()
    if not len(values):
        raise ValueError("No objects to concatenate: no row has a group.")
    group_ids = grouped.groupby(by, sort=False).ngroup()
    grouped = _with_column(grouped, group_ids._only)
    number = values.reset_index(drop=True).reset_index()._table.columns[0]
    each: Any = values._make_frame([number], values._labels.take([0]))
    each = each.set_axis([_GROUP], axis=1)
    return grouped, values, each.merge(other, how="cross")


def _with_column(frame: FrameBase, column: Column) -> Any:
    labels = frame._labels
    table = frame._table
    return frame._make_frame(
        [*table.columns, column], type(labels).of([*labels, _GROUP], labels.index.names), table
    )


def _with_group_values(merged: Any, values: FrameBase, by: list[object]) -> Any:
    """The result with the values of its groups, without their ids."""
    group_ids = merged._column(_GROUP).data.astype(jnp.int32)
    columns = take_columns(values._table.columns, group_ids, merged._table.layout)
    for label, column in zip(by, columns, strict=True):
        merged[label] = merged._make_series(column, label)
    return merged.drop(columns=[_GROUP])


def _filled(pairs: RowPairs, group_ids: tuple[Array, Array] | None = None) -> RowPairs:
    """Pairs in which the last row of a side stands for an absent one, in each group."""
    left, right = pairs.left, pairs.right
    groups = None
    if group_ids is not None:
        groups = _groups_of_pairs(group_ids, (left.row_ids, right.row_ids), left.layout)
    sides = (_with_last_rows(side, groups, pairs.num_rows) for side in (left, right))
    return pairs._replace(**dict(zip(("left", "right"), sides, strict=True)))


def _with_last_rows(side: SideRows, groups: Array | None, num_rows: Count) -> SideRows:
    if side.presence != "some":
        return side
    row_ids, is_whole = _last_rows(side.row_ids, groups, num_rows, side.layout)
    has_holes = is_traced(is_whole) or not bool(is_whole)
    return side._replace(row_ids=row_ids, presence="some" if has_holes else "all")


@functools.partial(tiered, static_argnums=3)
def _last_rows(
    row_ids: Array, groups: Array | None, num_rows: Count, layout: Layout
) -> tuple[Array, Array]:
    """The last row that is not absent, and whether each row has one."""
    rows = is_row(row_ids.shape[0], num_rows, layout)
    last = functools.partial(
        primitives.segmented_scan, row_ids, _last, num_valid=num_rows, **layout.on_mesh
    )
    groups = jnp.zeros_like(row_ids) if groups is None else groups
    found = jnp.where(rows, last(segment_ids=groups), np.int32(-1))
    return found, jnp.all((found >= 0) | ~rows)


def _last(a: Array, b: Array) -> Array:
    return jnp.where(b < 0, a, b)


@functools.partial(tiered, static_argnums=2)
def _groups_of_pairs(
    group_ids: tuple[Array, Array], row_ids: tuple[Array, Array], layout: Layout
) -> Array:
    """The number of the group of each pair of rows."""
    left, right = (gather(n, rows, layout) for n, rows in zip(group_ids, row_ids, strict=True))
    return jnp.where(row_ids[0] < 0, right, left).astype(jnp.int32)
