# SPDX-License-Identifier: Apache-2.0
"""Columns of lists from Arrow."""

from collections.abc import Hashable
from typing import Any

import numpy as np
import pyarrow as pa

from ._column import Column, ListType, of_family
from ._layout import Layout, padded
from ._lists import ListColumn, Lists, column_of_lists
from ._nullable import has_dtype

# Positions of values are int32.
MOST_VALUES = 2**31


def is_list(kind: pa.DataType) -> bool:
    """Whether a type of Arrow is one of its lists; a map is none."""
    return (
        pa.types.is_list(kind)
        or pa.types.is_large_list(kind)
        or pa.types.is_fixed_size_list(kind)
        or pa.types.is_list_view(kind)
        or pa.types.is_large_list_view(kind)
    )


def is_record(kind: pa.DataType) -> bool:
    """Whether a type of Arrow is a struct or a map."""
    return pa.types.is_struct(kind) or pa.types.is_map(kind)


def lists_from_arrow(
    values: pa.Array | pa.ChunkedArray,
    form: ListType,
    capacity: int,
    layout: Layout,
    name: Hashable,
    column_from: Any,
) -> ListColumn:
    """Converts lists of Arrow; `column_from` converts their values."""
    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks)
    starts, lengths, own = _views_of(array)
    if len(own) >= MOST_VALUES:
        raise NotImplementedError(
            f"JaxFrame: the lists of a column must have fewer than 2**31 values, got {len(own)} in "
            f"{name!r}. Read it in parts."
        )
    room = layout.capacity_for(len(own))
    if is_list(own.type):
        own_form = ListType(form.form, shown_type(own.type))
        child: Column = lists_from_arrow(own, own_form, room, layout, name, column_from)
    else:
        child = column_from(own, room, layout, name, keeps_masks=True)
        if form.form == "arrow" and has_dtype("arrow", child.kind, child.dtype):
            child = of_family(child, "arrow")
    numbers = np.arange(len(array), dtype=np.int32)
    if array.null_count:
        numbers[np.asarray(array.is_null())] = -1
    room = layout.capacity_for(len(array))
    lists = Lists(
        layout.place(padded(starts.astype(np.int32), room)),
        layout.place(padded(lengths.astype(np.int32), room)),
        child,
    )
    return column_of_lists(layout.place(padded(numbers, capacity)), lists, form)


def shown_type(kind: pa.DataType) -> pa.DataType:
    """The type in which lists go out that came in as another one: views and fixed sizes do not."""
    if pa.types.is_fixed_size_list(kind) or pa.types.is_list_view(kind):
        return pa.list_(kind.value_field)
    return pa.large_list(kind.value_field) if pa.types.is_large_list_view(kind) else kind


def _views_of(lists: pa.Array) -> tuple[np.ndarray, np.ndarray, Any]:
    """The start and the length of each list, and the values."""
    kind = lists.type
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        return lists.offsets.to_numpy(), lists.sizes.to_numpy(), lists.values
    lists = lists.cast(pa.large_list(kind.value_type))
    offsets = lists.offsets.to_numpy()
    first, last = offsets[[0, -1]]
    return offsets[:-1] - first, np.diff(offsets), lists.values.slice(first, last - first)
