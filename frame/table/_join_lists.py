# SPDX-License-Identifier: Apache-2.0
"""Columns of lists with one set of lists, so that their rows can be mixed."""

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
import pyarrow as pa

from ...primitives.staging import tiered
from ._column import Array, Column, ListType
from ._lists import ListColumn, Lists, column_of_lists
from ._recode import shifted
from ._to_arrow import arrow_of
from ._to_host import without_rows


def share_lists(columns: Sequence[ListColumn]) -> bool:
    """Whether columns refer to the same lists."""
    first = columns[0].lists
    return all(column.lists.starts is first.starts for column in columns)


def with_one_form(columns: Sequence[ListColumn]) -> tuple[Column, ...]:
    """Columns with the same lists, shown in the same way."""
    form = _common_form([column.form for column in columns], columns[0].lists.values)
    return tuple(column.with_form(form) for column in columns)


def joined_lists(columns: Sequence[ListColumn], values: Sequence[Column]) -> tuple[Column, ...]:
    """Gives columns one set of lists, which joins all of theirs.

    Args:
        columns: the lists.
        values: the values of the lists of each column, in a common type.
    """
    lists = [column.lists for column in columns]
    first_values = np.cumsum([0, *(one.capacity for one in values[:-1])]).tolist()
    first_lists = np.cumsum([0, *(one.starts.shape[0] for one in lists[:-1])]).tolist()
    joined = Lists(
        _concatenated([shifted(one.starts, n) for one, n in zip(lists, first_values, strict=True)]),
        _concatenated([one.lengths for one in lists]),
        values[0].moved(_joined([one.stored.arrays for one in values])),
    )
    form = _common_form([column.form for column in columns], joined.values)
    return tuple(
        column_of_lists(shifted(column.data, start), joined, form)
        for column, start in zip(columns, first_lists, strict=True)
    )


def _joined(arrays: Sequence[tuple[Array, Array | None]]) -> tuple[Array, Array | None]:
    masks = [valid for _, valid in arrays if valid is not None]
    return _concatenated([data for data, _ in arrays]), _concatenated(masks) if masks else None


@tiered
def _concatenated(arrays: Sequence[Array]) -> Array:
    return jnp.concatenate(arrays)


def _common_form(forms: Sequence[ListType], values: Column) -> ListType:
    """The form of joined lists, whose values may have another type than before."""
    if all(form == forms[0] for form in forms):
        return forms[0]
    names = {form.form for form in forms}
    if names != {"arrow"}:
        return ListType("array" if names == {"array"} else "list")
    own = arrow_of(without_rows(values), slice(0, 0), None).type
    return ListType("arrow", pa.list_(own))
