# SPDX-License-Identifier: Apache-2.0
"""merge_asof."""

import datetime
import functools
from collections.abc import Sequence
from typing import Any, Literal

import jax.numpy as jnp
import numpy as np
import pandas as pd
from pandas.errors import MergeError

from ... import primitives
from ...primitives.staging import tiered
from ..align._common_types import common_pair, join_keys, keys_of_sides, same_categories
from ..table._arguments import listed
from ..table._by_pandas import by_pandas
from ..table._column import Array, Column, as_floats
from ..table._layout import Layout
from ..table._table import Count, Table, is_row
from ..table._take import any_missing, gather, position
from ..table._tracing import is_in_jit
from ..table._types import LabelOrLabels
from ..table._user_functions import as_pandas
from ._merge_plan import Key, KeyArguments, as_operand, on_of_sides, plan_merge, suffixed_labels
from ._merge_result import merged_frame
from ._row_pairs import RowPairs, SideRows


def merge_asof(
    left: object,
    right: object,
    on: LabelOrLabels = None,
    left_on: LabelOrLabels = None,
    right_on: LabelOrLabels = None,
    left_index: bool = False,
    right_index: bool = False,
    by: LabelOrLabels = None,
    left_by: LabelOrLabels = None,
    right_by: LabelOrLabels = None,
    suffixes: Sequence[str | None] = ("_x", "_y"),
    tolerance: object = None,
    allow_exact_matches: bool = True,
    direction: Literal["backward", "forward", "nearest"] = "backward",
) -> Any:
    """Joins each left row with the right row of the nearest key, for example trades with quotes.

    Inside `jit` keys may be unsorted or missing; they are not checked. A missing one has no match.

    With `left_index` or `right_index` it runs on the host, outside `jit`.

    Example:
        >>> from jaxframes.frame import JaxFrame, merge_asof
        >>> left = JaxFrame({"t": [1, 5, 10], "x": [1, 2, 3]})
        >>> right = JaxFrame({"t": [1, 2, 6], "y": [10, 20, 60]})
        >>> merge_asof(left, right, on="t").to_pandas()["y"].tolist()
        [10, 20, 60]
    """
    left, right = as_operand(left), as_operand(right)
    if left_index or right_index:
        how: dict[str, Any] = {
            "on": on, "left_on": left_on, "right_on": right_on, "left_index": left_index,
            "right_index": right_index, "by": by, "left_by": left_by, "right_by": right_by,
            "suffixes": suffixes, "tolerance": tolerance, "direction": direction,
            "allow_exact_matches": allow_exact_matches,
        }  # fmt: skip
        return by_pandas(
            left, "merge_asof: left_index= and right_index=", "Use reset_index() and on=.",
            lambda data: pd.merge_asof(data, as_pandas(right), **how),
        )  # fmt: skip
    if not pd.api.types.is_bool(allow_exact_matches):
        raise MergeError(f"allow_exact_matches must be boolean, passed {allow_exact_matches}")
    if direction not in ("backward", "forward", "nearest"):
        raise MergeError(f"direction invalid: {direction}")
    keys = _keys_of_sides(on, left_on, right_on, by, left_by, right_by)
    plan = plan_merge(left, right, KeyArguments(None, *keys))
    *by_keys, time = plan.keys
    _check_dtypes(plan.keys)
    limit = _as_tolerance(tolerance, time.left.column)
    counts = left._table.num_rows, right._table.num_rows
    pairs = [common_pair(k.left.column, k.right.column, k.name, counts) for k in by_keys]
    times = as_floats(time.left.column), as_floats(time.right.column)
    levels = [(key.left.column, key.right.column) for key in by_keys]
    groups = keys_of_sides(levels, pairs, join_keys) if pairs else None
    rows = _closest(left._table, right._table, times, groups, limit, direction, allow_exact_matches)
    labels = suffixed_labels(plan, left, right, suffixes)
    return merged_frame(plan, rows, left, right, labels)


def _keys_of_sides(
    on: LabelOrLabels,
    left_on: LabelOrLabels,
    right_on: LabelOrLabels,
    by: LabelOrLabels,
    left_by: LabelOrLabels,
    right_by: LabelOrLabels,
) -> tuple[list[Any], list[Any]]:
    """The key arguments of each side: those of `by`, then the one to compare."""
    left_on, right_on = on_of_sides(on, left_on, right_on)
    if left_on is None or right_on is None:
        raise MergeError('Must pass "on", or "left_on" and "right_on".')
    left_keys, right_keys = (k if isinstance(k, list) else [k] for k in (left_on, right_on))
    for keys, name in ((left_keys, "left"), (right_keys, "right")):
        if len(keys) != 1:
            raise MergeError(f"can only asof on a key for {name}")
    if by is not None:
        if left_by is not None or right_by is not None:
            raise MergeError("Can only pass by OR left_by and right_by")
        left_by = right_by = by
    if (left_by is None) != (right_by is None):
        raise MergeError(f"missing {'left_by' if left_by is None else 'right_by'}")
    if left_by is None:
        return left_keys, right_keys
    left_by, right_by = (listed(side) for side in (left_by, right_by))
    if len(left_by) != len(right_by):
        raise MergeError("left_by and right_by must be the same length")
    return left_by + left_keys, right_by + right_keys


def _check_dtypes(keys: Sequence[Key]) -> None:
    """Raises if the dtypes of a key differ, or if the last key is not numeric or a time."""
    for number, key in enumerate(keys):
        a, b = key.left.column, key.right.column
        if a.dtype_name != b.dtype_name or (a.kind == "category" and not same_categories(a, b)):
            raise MergeError(
                f"incompatible merge keys [{number}] {a.dtype_name} and {b.dtype_name}, "
                "must be the same type"
            )
    column = keys[-1].left.column
    if not column.type.is_time and (not column.is_numeric or column.is_bool):
        raise MergeError(
            f"Incompatible merge dtype, {column.dtype_name} and {column.dtype_name}, "
            "both sides must have numeric dtype"
        )


def _as_tolerance(tolerance: Any, column: Column) -> Any:
    if tolerance is None:
        return None
    error = MergeError(
        f"incompatible tolerance {tolerance}, must be compat with type {column.dtype_name}"
    )
    is_time, is_integer = column.type.is_time, isinstance(tolerance, (int, np.integer))
    if is_time:
        if not isinstance(tolerance, datetime.timedelta):
            raise error
        tolerance = pd.Timedelta(tolerance)
    elif not is_integer and (column.dtype.kind in "iu" or not isinstance(tolerance, float)):
        raise error
    if tolerance < type(tolerance)(0):
        raise MergeError("tolerance must be non-negative")
    if not is_time:
        return column.dtype.type(tolerance)
    span: Any = tolerance
    return np.int64(span.as_unit(column.type.unit).to_timedelta64().view(np.int64))


def _closest(
    left: Table,
    right: Table,
    columns: tuple[Column, Column],
    by: Any,
    tolerance: object,
    direction: Any,
    allow_exact: object,
) -> RowPairs:
    layout = left.layout
    times = columns[0].data, columns[1].data
    in_jit = is_in_jit(times, left.num_rows, right.num_rows, left.needed, right.needed)
    numbers = left.num_rows, right.num_rows
    if not in_jit:
        for column, table, side in zip(columns, (left, right), ("left", "right"), strict=True):
            num_rows = table.num_rows_on_host
            if column.can_miss and any_missing(column.present(), num_rows):
                raise ValueError(f"Merge keys contain null values on {side} side")
            if not _is_sorted(column.data, num_rows, layout):
                raise ValueError(f"{side} keys must be sorted")
    elif columns[1].can_miss:
        # Right rows without a key are a group that no left row is in.
        groups = by or ((), ())
        flags = jnp.zeros_like(times[0], jnp.bool_), columns[1].missing()
        by = (*groups[0], flags[0]), (*groups[1], flags[1])
    rows = primitives.join_asof(
        *times, by=by, direction=direction, tolerance=tolerance, allow_exact=bool(allow_exact),
        num_valid=numbers, **layout.on_mesh,
    )  # fmt: skip
    if in_jit and columns[0].can_miss:
        rows = jnp.where(columns[0].missing(), np.int32(-1), rows)
    own, has_holes = _own_rows_and_holes(rows, left.num_rows, layout)
    presence = "some" if in_jit or has_holes else "all"
    return RowPairs(
        SideRows(own, "same", layout),
        SideRows(rows, presence, layout),
        left.num_rows,
        jnp.maximum(left.needed, right.needed) if in_jit else left.needed,
    )


@functools.partial(tiered, static_argnums=2)
def _own_rows_and_holes(rows: Array, num_rows: Count, layout: Layout) -> tuple[Array, Array]:
    """The position of each left row, and whether any has no right row."""
    return position(rows.shape[0], layout), any_missing(rows >= 0, num_rows)


@functools.partial(tiered, static_argnums=2)
def _is_sorted(values: Array, num_rows: Count, layout: Layout) -> Array:
    capacity = values.shape[0]
    next_row = jnp.minimum(position(capacity, layout) + np.int32(1), np.int32(capacity - 1))
    following = gather(values, next_row, layout)
    has_next = is_row(capacity, num_rows - np.int32(1), layout)
    return jnp.all((values <= following) | ~has_next)
