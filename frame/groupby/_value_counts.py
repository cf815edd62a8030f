# SPDX-License-Identifier: Apache-2.0
"""`value_counts` of grouped frames and series."""

import dataclasses
from collections.abc import Hashable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ..table._arguments import check_flag
from ..table._by_pandas import by_pandas
from ..table._column import Array, Column, all_of, of_family
from ..table._column_labels import Labels
from ..table._dtypes import wide
from ..table._filter import filter_rows
from ..table._object_functions import inferred_labels
from ..table._row_index import RANGE
from ..table._sort import sort_rows
from ..table._sort_keys import ordered_keys
from ..table._table import Table
from ._base import Grouped
from ._by_host import groups_on_host
from ._grouped_column import Options, Segments
from ._grouper import Grouping
from ._groups import make_groups
from ._reductions import GroupByReductions


class GroupByValueCounts(GroupByReductions):
    """Shared implementation of value_counts."""

    def _value_counts(
        self,
        positions: Sequence[int],
        normalize: object,
        sort: object,
        ascending: object,
        dropna: object,
    ) -> Any:
        """Counts the distinct rows of columns at positions of the source's table."""
        keys = self._grouped.keys
        counted = [
            Grouping(self._table.columns[at], label, at).hashed(self._table)
            for label, at in zip(self._labels, self._positions, strict=True)
            if at in positions and at not in {key.position for key in keys}
        ]
        # A row for each combination of keys, in order of appearance, with its count.
        options = self._options._replace(sort=False, dropna=False, as_index=True)
        combined = Grouped(self._table, [*keys, *counted], options, infers_labels=False)
        table = GroupByReductions(self._source, Labels.of([None]), [], combined).size()._table
        if self._options.sort:
            # pandas sorts the labels of each level, those of the counted values too.
            table = table.replace(index=dataclasses.replace(table.index, orders=()))
        own, others = table.index.levels[: len(keys)], table.index.levels[len(keys) :]
        without_missing = [*(own if self._options.dropna else ()), *(others if dropna else ())]
        has_value = [level.present() for level in without_missing if level.can_miss]
        if has_value:
            table = filter_rows(table, all_of(has_value))
        own = table.index.levels[: len(keys)]
        descending = not check_flag(ascending, "ascending", may_be_int=True)
        order = [key for level in own for key in ordered_keys(level)] if self._options.sort else []
        if sort:
            order.append((table.columns[0].data, descending))
        if order:
            table = sort_rows(table, order)
        if normalize:
            own, options = table.index.levels[: len(keys)], Options(sort=False, dropna=False)
            segments = make_groups(own, table, options).segments
            table = table.with_columns([Column(_shares(table.columns[0].data, segments))])
        if self._is_series and self._columns[0].is_nullable:
            counts = of_family(table.columns[0], self._columns[0].family)
            table = table.with_columns([counts])
        return self._counts_shown(table, "proportion" if normalize else "count")

    def _counts_categories(self, positions: Sequence[int]) -> bool:
        """Whether pandas counts categories without a row, too: those of values, or of keys."""
        keys = [] if self._options.observed else [key.column for key in self._grouped.keys]
        columns = [*keys, *(self._table.columns[at] for at in positions)]
        return any(column.kind == "category" for column in columns)

    def _counted_on_host(self, *how: object) -> Any:
        return by_pandas(
            self._source, "groupby: value_counts of categories",
            "Cast them with astype('str').",
            lambda _: groups_on_host(self).value_counts(*how),
        )  # fmt: skip

    def _dtype_of_strings(self) -> Any:
        """The dtype of the frame's column labels if they are strings, or None."""
        labels = getattr(self._source, "_labels", None)
        dtype = None if labels is None else labels.index.dtype
        return (
            dtype
            if pd.api.types.is_object_dtype(dtype) or isinstance(dtype, pd.StringDtype)
            else None
        )

    def _counts_shown(self, table: Table, name: str) -> Any:
        levels = inferred_labels(table.index.stored, table.num_rows)
        table = table.replace(index=table.index.with_stored(levels))
        if self._options.as_index:
            return self._source._make_series(table.columns[0], name, table)
        names = [
            f"level_{number}" if level is None else level
            for number, level in enumerate(table.index.names)
        ]
        if name in names:
            raise ValueError(f"Column label '{name}' is duplicate of result column")
        columns = [*table.index.levels, *table.columns]
        labels = Labels(pd.Index(names, dtype=self._dtype_of_strings())).with_label(name)
        return self._source._make_frame(columns, labels, table.replace(index=RANGE))


class SeriesGroupByValueCounts(GroupByValueCounts):
    """Counts of the values of each group of a series."""

    def value_counts(
        self,
        normalize: bool = False,
        sort: bool = True,
        ascending: bool = False,
        bins: object = None,
        dropna: bool = True,
    ) -> Any:
        """Counts each value of each group, in descending order of the count.

        Differences from pandas:
            `bins` is not supported. pandas counts categories on the host. Equal counts keep the
            order of rows; pandas leaves some of them in an arbitrary order.
        """
        if bins is not None:
            raise NotImplementedError("value_counts: bins must be None. Call cut() first.")
        if self._counts_categories(self._positions):
            return self._counted_on_host(normalize, sort, ascending, None, dropna)
        return self._value_counts(self._positions, normalize, sort, ascending, dropna)


class FrameGroupByValueCounts(GroupByValueCounts):
    """Counts of the rows of each group of a frame."""

    def value_counts(
        self,
        subset: Sequence[Hashable] | None = None,
        normalize: bool = False,
        sort: bool = True,
        ascending: bool = False,
        dropna: bool = True,
    ) -> Any:
        """Counts each distinct row of each group, in descending order of the count.

        Differences from pandas:
            pandas counts categories on the host. Equal counts keep the order of rows.
        """
        positions = self._positions
        if subset is not None:
            chosen = set(subset)
            own = {key.name for key in self._grouped.keys if key.position is not None}
            if clashing := chosen & own:
                raise ValueError(f"Keys {clashing} in subset cannot be in the groupby column keys.")
            if absent := chosen - set(self._labels):
                raise ValueError(f"Keys {absent} in subset do not exist in the DataFrame.")
            positions = [
                at
                for label, at in zip(self._labels, self._positions, strict=True)
                if label in chosen
            ]
        if self._counts_categories(positions):
            return self._counted_on_host(subset, normalize, sort, ascending, dropna)
        return self._value_counts(positions, normalize, sort, ascending, dropna)


@tiered
def _shares(counts: Array, segments: Segments) -> Array:
    """Divides counts by the sums of their segments."""
    dtype = wide(np.float64)
    totals = segments.for_rows(segments.reduce("sum", counts))
    return counts.astype(dtype) / jnp.maximum(totals, 1).astype(dtype)
