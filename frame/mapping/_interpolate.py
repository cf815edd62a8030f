# SPDX-License-Identifier: Apache-2.0
"""`interpolate`: missing values from their neighbours."""

import functools
from typing import Any, Self

import jax.numpy as jnp
import numpy as np

from ... import primitives
from ...primitives.staging import tiered
from ..table._arguments import axis_number, check_limit
from ..table._by_pandas import by_pandas
from ..table._column import Array, Column, fill_missing, nan_unless, of_family
from ..table._dtypes import wide
from ..table._in_place import with_inplace
from ..table._layout import Layout
from ..table._ndframe import NDFrame
from ..table._table import Count, is_row
from ..table._take import gather, position
from ..table._tracing import is_traced
from ..table._types import Axis

_DIRECTIONS = ("forward", "backward", "both")


class Interpolation(NDFrame):
    """`interpolate`, shared by frames and series."""

    @with_inplace
    def interpolate(
        self,
        method: str = "linear",
        *,
        axis: Axis = 0,
        limit: int | None = None,
        inplace: bool = False,
        limit_direction: str | None = None,
        limit_area: str | None = None,
    ) -> Self:
        """Fills missing numbers on a line between the valid values around them, by position.

        Values after the last valid one get its value; with `limit_direction="backward"` those
        before the first one do. Nullable integers become nullable floats.

        Differences from pandas:
            Methods other than "linear" run on the host.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([1.0, None, None, 4.0, None]).interpolate().tolist()
            [1.0, 2.0, 3.0, 4.0, 4.0]
        """
        by_column_labels = axis_number(axis, self)
        num_rows = self._table.num_rows
        if not is_traced(num_rows) and not self._table.num_rows_on_host:
            # As in pandas, integers stay integers then.
            return self._like(self._table)
        if by_column_labels:
            by_column: Any = self
            filled = by_column.transpose().interpolate(
                method, limit=limit, limit_direction=limit_direction, limit_area=limit_area
            )
            return filled.transpose()
        direction = "forward" if limit_direction is None else limit_direction.lower()
        is_complex = any(one.dtype.kind == "c" for one in self._table.columns)
        if method != "linear" or is_complex:
            how = {"axis": axis, "limit": limit, "limit_direction": limit_direction}
            what = "complex numbers" if is_complex else "a method other than 'linear'"
            return by_pandas(
                self, f"interpolate: {what}", "Interpolate floats by 'linear'.",
                lambda data: data.interpolate(method, limit_area=limit_area, **how),
            )  # fmt: skip
        if direction not in _DIRECTIONS:
            raise ValueError(
                f"Invalid limit_direction: expecting one of {list(_DIRECTIONS)}, got {direction!r}."
            )
        if limit_area not in (None, "inside", "outside"):
            raise ValueError(
                f"Invalid limit_area: expecting one of ['inside', 'outside'], got {limit_area!r}."
            )
        check_limit(limit)
        table = self._table
        if any(one.type.is_time for one in table.columns):
            raise NotImplementedError(
                "interpolate: times are not supported. Interpolate their counts, astype('int64'), "
                "and cast back."
            )
        if others := [one.dtype_name for one in table.columns if not one.is_numeric]:
            raise TypeError(f"interpolate: columns must be numbers, got {others}. Select them.")
        if flags := [one.dtype_name for one in table.columns if one.is_bool and one.is_nullable]:
            raise NotImplementedError(
                f"interpolate is not implemented for dtype={flags[0]}. Cast it with "
                "astype('Float64')."
            )
        columns = [
            Column(nan_unless(column.mask(), column.data))
            if _become_floats(column)
            else fill_missing(column)
            for column in table.columns
        ]
        floats = [at for at, column in enumerate(columns) if column.is_float]
        filled = _interpolated(
            tuple(columns[at].data for at in floats),
            table.num_rows,
            np.int32(min(limit or table.capacity, table.capacity)),
            direction,
            limit_area,
            table.layout,
        )
        for at, data in zip(floats, filled, strict=True):
            columns[at] = of_family(Column(data), table.columns[at].family)
        return self._with_columns(columns)


def _become_floats(column: Column) -> bool:
    """Whether values are nullable integers, whose results are floats as pandas' are."""
    return column.is_nullable and column.dtype.kind in "iu"


@functools.partial(tiered, static_argnums=(3, 4, 5))
def _interpolated(
    columns: tuple[Array, ...],
    num_rows: Count,
    limit: Array,
    direction: str,
    area: str | None,
    layout: Layout,
) -> tuple[Array, ...]:
    if not columns:
        return ()
    capacity = columns[0].shape[0]
    row_ids, rows = position(capacity, layout), is_row(capacity, num_rows, layout)
    missing = tuple(jnp.isnan(data) for data in columns)
    none_before, none_after = np.int32(-1), np.int32(capacity)
    before = tuple(jnp.where(~flag & rows, row_ids, none_before) for flag in missing)
    after = tuple(jnp.where(~flag & rows, row_ids, none_after) for flag in missing)
    before = primitives.inclusive_scan(before, "max", **layout.on_mesh)
    after = primitives.inclusive_scan(after, "min", reverse=True, **layout.on_mesh)
    filled = []
    for data, flag, start, stop in zip(columns, missing, before, after, strict=True):
        has_start, has_stop = start > none_before, stop < none_after
        # A missing end takes the value of the other one.
        start = jnp.where(has_start, start, stop)
        stop = jnp.where(has_stop, stop, start)
        low, high = (gather(data, ids, layout).astype(wide(np.float64)) for ids in (start, stop))
        width = jnp.maximum(stop - start, np.int32(1)).astype(low.dtype)
        slope = (high - low) / width
        value = slope * (row_ids - start).astype(low.dtype) + low
        # Next to an infinity, as NumPy's interp does.
        value = jnp.where(
            jnp.isnan(value), slope * (row_ids - stop).astype(low.dtype) + high, value
        )
        value = jnp.where(jnp.isnan(value) & (low == high), low, value)
        is_near_start = has_start & (row_ids - start <= limit)
        is_near_stop = has_stop & (stop - row_ids <= limit)
        is_filled = {
            "forward": is_near_start,
            "backward": is_near_stop,
            "both": is_near_start | is_near_stop,
        }[direction]
        if area is not None:
            is_inside = has_start & has_stop
            is_filled = is_filled & (is_inside if area == "inside" else ~is_inside)
        filled.append(jnp.where(flag & is_filled, value.astype(data.dtype), data))
    return tuple(filled)
