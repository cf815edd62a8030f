# SPDX-License-Identifier: Apache-2.0
"""Rows that are equal to others: found, dropped, counted and numbered."""

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Self

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ..reductions._axis1 import nunique_across
from ..reductions._results import host_series, table_of_series, traced_table
from ..table._arguments import axis_number, check_flag, no_inplace
from ..table._column import Column, host_array, to_host
from ..table._filter import filter_rows
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._row_index import RANGE, as_pandas_index
from ..table._tracing import answered_at_once, at_once, is_traced
from ._first_occurrence import count_distinct, is_repeated, numbered_rows


def check_comparable(column: Column, label: Hashable, caller: str) -> Column:
    """Raises where the values of a column cannot be told apart on the device."""
    if column.kind == "object":
        raise TypeError(
            f"{caller}: column {label!r} of objects has values that cannot be hashed here. "
            "Leave it out, or convert it to strings."
        )
    return column


class Duplicates(NDFrame):
    """Equal rows of frames and series, in terms of `_compared`."""

    def _compared(self, subset: Any, caller: str) -> Sequence[Column]:
        raise NotImplementedError

    def _duplicated(self, subset: Any, keep: Any) -> Column:
        table = self._table
        columns = self._compared(subset, "duplicated")
        if not columns:
            return Column(table.layout.constrain(jnp.zeros(table.capacity, jnp.bool_)))
        return Column(is_repeated(columns, table.num_rows, table.layout, keep))

    def _without_duplicates(self, subset: Any, keep: Any, inplace: Any, ignore_index: bool) -> Self:
        no_inplace("drop_duplicates", check_flag(inplace, "inplace"))
        check_flag(ignore_index, "ignore_index")
        kept = filter_rows(self._table, ~self._duplicated(subset, keep).data)
        return self._like(kept.replace(index=RANGE) if ignore_index else kept)


class FrameDuplicates(Duplicates, FrameBase):
    """Equal rows of a frame."""

    def _compared(self, subset: Any, caller: str) -> Sequence[Column]:
        if subset is None:
            places = list(range(len(self._labels)))
        else:
            if isinstance(subset, Iterator):
                raise TypeError(
                    f"{caller}: subset must be a label or a list of them, got {subset!r}."
                )
            is_label = isinstance(subset, str) or not np.iterable(subset)
            is_one = is_label or (isinstance(subset, tuple) and subset in self._labels.index)
            wanted = [subset] if is_one else list(subset)
            if not wanted and len(self._labels):
                raise ValueError(f"{caller}: subset must name a column, got {subset!r}.")
            if absent := self._labels.absent(wanted, may_be_parts=False):
                raise absent
            places = [place for label in wanted for place in self._labels.places(label)]
        return [
            check_comparable(self._table.columns[place], self._labels[place], caller)
            for place in places
        ]

    def duplicated(self, subset: Any = None, keep: Any = "first") -> Any:
        """Whether each row is equal to an earlier one; a missing value equals another."""
        return self._make_series(self._duplicated(subset, keep), None)

    def drop_duplicates(
        self,
        subset: Any = None,
        *,
        keep: Any = "first",
        inplace: Any = False,
        ignore_index: bool = False,
    ) -> Self:
        """The rows that are not equal to an earlier one.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [2, 1, 2]}).drop_duplicates().index.tolist()
            [0, 1]
        """
        return self._without_duplicates(subset, keep, inplace, ignore_index)

    def nunique(self, axis: Any = 0, dropna: bool = True) -> Any:
        """How many different values each column, or row, has."""
        table, labels = self._table, self._labels.index
        columns = self._compared(None, "nunique")
        if axis_number(axis, self):
            if not columns:
                return self._of_nothing("nunique", axis, labels, {})
            return self._make_series(nunique_across(columns, bool(dropna)), None)
        if not columns:
            return self.series_class._of(table_of_series(pd.DataFrame().nunique()), None)
        counts = at_once(count_distinct, columns, table.all_rows, table.layout, dropna=bool(dropna))
        if is_traced(counts):
            values = [(count, False) for count in counts]
            types = [Column(count).type for count in counts]
            made = traced_table(values, types, labels, "nunique").replace(needed=table.needed)
            return self.series_class._of(made, None)
        values = [np.asarray(count).reshape(1) for count in counts]
        return self.series_class._of(table_of_series(host_series(values, labels)), None)


class SeriesDuplicates(Duplicates, SeriesBase):
    """Equal values of a series."""

    def _compared(self, subset: Any, caller: str) -> Sequence[Column]:
        del subset
        return [check_comparable(self._only, self._name, caller)]

    def duplicated(self, keep: Any = "first") -> Any:
        """Whether each value is equal to an earlier one; a missing value equals another."""
        return self._with_column(self._duplicated(None, keep))

    def drop_duplicates(
        self, *, keep: Any = "first", inplace: Any = False, ignore_index: bool = False
    ) -> Self:
        """The values that are not equal to an earlier one."""
        return self._without_duplicates(None, keep, inplace, ignore_index)

    def nunique(self, dropna: bool = True) -> Any:
        """How many different values there are."""
        table = self._table
        columns = self._compared(None, "nunique")
        (count,) = at_once(
            count_distinct, columns, table.all_rows, table.layout, dropna=bool(dropna)
        )
        return count if is_traced(count) else int(count)

    @property
    def is_unique(self) -> Any:
        """Whether no value stands there twice."""
        count = self.nunique(dropna=False)
        if not is_traced(count):
            return count == len(self)
        return count == jnp.asarray(self._table.num_rows, count.dtype)

    @answered_at_once
    def unique(self) -> Any:
        """The different values in the order in which they come, on the host.

        Inside `jit` use `drop_duplicates`, whose result is a series.
        """
        if self._is_traced:
            raise NotImplementedError(
                "unique: how many values there are is not known inside jit. Use drop_duplicates()."
            )
        values = to_host(*self._first_values())
        return pd.array(values) if self._only.type.is_time else values

    def _first_values(self) -> tuple[Column, int]:
        kept = self._without_duplicates(None, "first", False, False)
        return kept._only, len(kept)

    @answered_at_once
    def factorize(
        self, sort: bool = False, use_na_sentinel: bool = True
    ) -> tuple[np.ndarray, pd.Index]:
        """The number of each value among the different ones, and those, both on the host."""
        if self._is_traced:
            raise NotImplementedError(
                "factorize: how many values there are is not known inside jit. "
                "Use groupby(values).ngroup(), or drop_duplicates()."
            )
        table = self._table
        group_ids, is_first, _ = numbered_rows(
            self._compared(None, "factorize"), table.num_rows, table.layout
        )
        kept = filter_rows(table.replace(index=RANGE), is_first)
        values = to_host(kept.columns[0], kept.num_rows_on_host)
        uniques = as_pandas_index(pd.array(values) if self._only.type.is_time else values, None)
        codes = host_array(group_ids)[: len(self)].astype(np.int64)
        order = np.arange(len(uniques))
        if sort:
            order = uniques.argsort()
            order = np.concatenate([order[~uniques[order].isna()], order[uniques[order].isna()]])
        if use_na_sentinel:
            order = order[~uniques[order].isna()]
        numbers = np.full(len(uniques), -1)
        numbers[order] = np.arange(len(order))
        return numbers[codes] if len(uniques) else codes, uniques[order]
