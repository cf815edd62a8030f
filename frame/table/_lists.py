# SPDX-License-Identifier: Apache-2.0
"""Columns of lists: a number of a list for each row, and beside them the values of all lists.

As Arrow's list views: rows move as numbers of lists, and slices of lists are other starts and
lengths, so neither touches a value. Values are packed where lists leave the frame.
"""

import functools
from typing import Any, NamedTuple

import jax
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ._column import Array, Column, ColumnType, Kind, ListType
from ._layout import Layout
from ._take import gather
from ._to_arrow import arrow_of, packed_lists
from ._to_host import to_host


class Lists(NamedTuple):
    """The lists that rows refer to. A pytree.

    Attributes:
        starts: the position of the first value of each list, int32.
        lengths: the number of values of each list, int32.
        values: the values of all lists, a column of any type, with a mask for integers that miss.
    """

    starts: Array
    lengths: Array
    values: Column


@jax.tree_util.register_pytree_node_class
class ListColumn(Column):
    """A column of lists. A pytree: the numbers of lists, and the lists, are data.

    Rows move as numbers, -1 where the list is missing; the lists are shared.
    """

    _stored: Column
    lists: Lists  # pyright: ignore[reportIncompatibleVariableOverride]

    def __init__(self, stored: Column, lists: Lists):
        self.__dict__.update(_stored=stored, lists=lists)

    def tree_flatten(self) -> tuple[tuple[Any, ...], None]:
        return (self._stored, *self.lists), None

    @classmethod
    def tree_unflatten(cls, _: None, children: tuple[Any, ...]) -> "ListColumn":
        stored, *lists = children
        return cls(stored, Lists(*lists))

    def __reduce__(self) -> Any:
        return ListColumn, (self._stored, self.lists)

    @property
    def stored(self) -> Column:
        """The numbers of the lists."""
        return self._stored

    def forced(self) -> Column:
        """The column with the array of its numbers."""
        stored = self._stored.forced()
        return self if stored is self._stored else ListColumn(stored, self.lists)

    def with_stored(self, stored: Column) -> Column:
        """The lists with other numbers."""
        return ListColumn(stored, self.lists)

    def moved(self, arrays: tuple[Array, Array | None]) -> Column:
        """The lists of other rows."""
        return ListColumn(self._stored.with_arrays(arrays), self.lists)

    def with_arrays(self, arrays: tuple[Array, Array | None]) -> Column:
        """The lists of other rows."""
        return self.moved(arrays)

    @property
    def capacity(self) -> int:
        """The number of rows, including padding."""
        return self._stored.capacity

    @property
    def data(self) -> Array:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The numbers of the lists."""
        return self._stored.data

    @property
    def type(self) -> ColumnType:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The type; that of the values is in `lists`."""
        return self._stored.type

    @property
    def kind(self) -> Kind:
        """The kind of the values."""
        return "list"

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the numbers."""
        return np.dtype(np.int32)

    @property
    def inner(self) -> tuple[Column, ...]:
        """The column of the values."""
        return (self.lists.values,)

    @property
    def form(self) -> ListType:
        """How the lists are shown."""
        form = self.type.lists
        assert form is not None
        return form

    def with_lists(self, lists: Lists) -> "ListColumn":
        """The same rows with other lists of the same numbers."""
        return ListColumn(self._stored, lists._replace(values=lists.values.forced()))

    def with_form(self, form: ListType) -> "ListColumn":
        """The same lists, shown in another way."""
        stored = self._stored.forced()
        return ListColumn(Column(stored.data, None, ColumnType("list", lists=form)), self.lists)

    def lists_on_host(self, num_rows: int) -> Any:
        """The lists of the first rows, as pandas shows them."""
        rows, form = slice(0, num_rows), self.form.form
        if form in ("list", "nullable"):
            missing = np.nan if form == "list" else pd.NA
            offsets, values, is_missing = packed_lists(self, rows)
            # By pandas, which knows its scalars.
            members = pd.Series(to_host(values, int(offsets[-1]))).tolist()
            bounds = zip(
                offsets[:-1].tolist(), offsets[1:].tolist(), is_missing.tolist(), strict=True
            )
            lists = (missing if is_nan else members[i:j] for i, j, is_nan in bounds)
            return np.fromiter(lists, object, len(is_missing))
        array = arrow_of(self, rows, None)
        if form == "arrow":
            return pd.array(array, dtype=pd.ArrowDtype(array.type))
        return array.to_pandas().to_numpy(object)


def column_of_lists(
    numbers: Array,
    lists: Lists,
    type: ListType = ListType(),  # noqa: B008
) -> ListColumn:
    """A column that shows a list for each number, none for -1."""
    values = lists.values.forced()
    stored = Column(numbers, None, ColumnType("list", lists=type))
    return ListColumn(stored, lists._replace(values=values))


def spans_of(column: ListColumn, layout: Layout) -> tuple[Array, Array]:
    """The start and the length of the list of each row; zeros if it is missing."""
    return _spans(column.lists[:2], column.data, layout)


@functools.partial(tiered, static_argnums=2)
def _spans(spans: object, numbers: Array, layout: Layout) -> tuple[Array, Array]:
    return gather(spans, numbers, layout)


def lengths_of(column: ListColumn, layout: Layout) -> Column:
    """The number of values of each row's list, with a mask for missing lists."""
    return Column(spans_of(column, layout)[1], column.present())
