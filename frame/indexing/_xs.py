# SPDX-License-Identifier: Apache-2.0
"""`xs`, and rows selected by the levels of their labels."""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
import pyarrow as pa
from pandas.api.types import is_list_like, is_scalar

from ..mapping._isin import flags_in
from ..table._arguments import axis_number, listed_labels
from ..table._column import Array, Column, all_of
from ..table._column_labels import Labels
from ..table._filter import filter_rows
from ..table._ndframe import NDFrame
from ..table._table import Table
from ..table._tracing import answered_at_once, is_traced
from ..table._types import Axis, LevelOrLevels
from ._shape import columns_after


class LevelSelection(NDFrame):
    """Row selection by levels of labels, shared by frames and series."""

    @answered_at_once
    def xs(
        self, key: object, axis: Axis = 0, level: LevelOrLevels = None, drop_level: bool = True
    ) -> Any:
        """The rows, or columns with `axis=1`, of a label in some levels, without these levels.

        `key` is a label of the first level, or a tuple of labels of the first ones or of `level`.
        Not supported inside `jit`.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> frame = JaxFrame({"a": ["x", "x", "y"], "b": [1, 2, 1], "v": [1, 2, 3]})
            >>> frame.set_index(["a", "b"]).xs(1, level="b").v.to_pandas().to_dict()
            {'x': 1, 'y': 3}
        """
        of: Any = self
        if axis_number(axis, self):
            shell = lambda f: f.xs(key, axis=1, level=level, drop_level=drop_level)  # noqa: E731
            if level is None and of.columns.nlevels == 1:
                return of[key]
            positions, labels = columns_after(of.columns, shell)
            return of._with_columns_at(positions, Labels(labels))
        if self._table.index.num_levels == 1:
            if level is not None:
                raise TypeError("Index must be a MultiIndex")
            return of.loc[key]
        keys = key if isinstance(key, tuple) else (key,)
        num_levels = self._table.index.num_levels
        if level is None and len(keys) > num_levels:
            raise KeyError(f"Key length ({len(keys)}) exceeds index depth ({num_levels})")
        levels = list(range(len(keys))) if level is None else self._levels_at(level)
        if len(keys) != len(levels):
            raise AssertionError("Key for location must have same length as number of levels")
        key_of_level = dict(zip(levels, keys, strict=True))
        if self._has_text_of_time(key_of_level):
            check_eager(self._table)
            return self._by_texts(lambda rows: rows.xs(key, level=level, drop_level=drop_level))
        selected: Any = self._at_levels(key_of_level)
        if not len(selected):
            raise KeyError(key)
        if level is None:
            # The level of a slice stays.
            levels = [position for position in levels if not isinstance(keys[position], slice)]
        if len(levels) == num_levels:
            # Of the levels that are named, pandas drops none if all are.
            is_frame = level is not None or len(selected) > 1
            return selected if is_frame else selected.to_pandas().iloc[0]
        return selected.droplevel(levels) if drop_level and levels else selected

    def _at_levels(self, keys: dict[int, Any]) -> Self:
        """The rows with given labels: one label, a list of labels, or all, for each level."""
        table = self._table
        check_eager(table)
        flags = []
        for level, key in keys.items():
            if isinstance(key, slice):
                if key != slice(None):
                    raise NotImplementedError(
                        f"xs: a slice of one level must be slice(None), got {key}. Use loc."
                    )
                continue
            flags.append(_flags_in_level(table.index_columns()[level], listed_labels(key), table))
        if not flags:
            return self._like(table)
        return self._like(filter_rows(table, all_of(flags)))

    def _of_levels(self, rows: Any) -> Any:
        """The rows that `loc` selects by the labels of several levels."""
        own: Any
        if isinstance(rows, slice):
            own = self.index
            return self._sliced(own.slice_indexer(rows.start, rows.stop))
        if isinstance(rows, tuple):
            if len(rows) > self._table.index.num_levels:
                raise pd.errors.IndexingError("Too many indexers")
            if all(is_scalar(key) for key in rows):
                return self.xs(rows)
            keys = [listed_labels(key) if is_list_like(key) else key for key in rows]
            # pandas orders the rows as the lists, depending on the order of all labels.
            own = self.index
            return self._taken(own.get_locs(keys))
        if is_scalar(rows):
            return self.xs(rows)
        listed = list(rows)
        if listed and isinstance(listed[0], tuple):
            labels = pd.MultiIndex.from_tuples(listed)
            return self._taken(positions_of_all(listed, self.index, labels))
        selected: Any = self._at_levels({0: listed})
        labels = selected.index.get_level_values(0)
        return selected._taken(positions_of_all(listed, labels, pd.Index(listed)))

    def _has_text_of_time(self, keys: dict[int, Any]) -> bool:
        """Whether a text names times of a level: one of them, or those of a span."""
        levels = self._table.index.levels
        return any(
            isinstance(key, str) and (levels[at].type.is_time or levels[at].kind == "period")
            for at, key in keys.items()
        )

    def _by_texts(self, select: Callable[[pd.Series], Any]) -> Any:
        """The rows whose labels pandas finds for texts of times; spans keep their level."""
        own: Any = self.index
        rows = select(pd.Series(np.arange(len(own)), own))
        if is_scalar(rows):
            of: Any = self
            return of.iloc[int(rows)]
        taken: Any = self._taken(rows.to_numpy())
        return taken if rows.index.nlevels == own.nlevels else taken.set_axis(rows.index, axis=0)


def _flags_in_level(level: Column, labels: Sequence[object], table: Table) -> Array:
    """Flags the rows with one of the labels in a level, where all missing labels are equal."""
    found = [label for label in labels if not (is_scalar(label) and bool(pd.isna(label)))]
    if len(found) == len(labels):
        return flags_of_labels(level, labels, table)
    if level.kind == "object":
        # Objects that are missing are different values.
        return flags_of_labels(level, [*found, None, np.nan, pd.NaT, pd.NA], table)
    return flags_of_labels(level, found, table) | level.missing()


def flags_of_labels(column: Column, labels: object, table: Table) -> Array:
    """Flags the rows with one of the labels; raises for labels that Arrow does not compare."""
    try:
        return flags_in(column, labels, table, "loc")
    except pa.ArrowTypeError as error:
        # Dates, times and decimals of Arrow are compared with their own types only.
        raise KeyError(labels) from error


def positions_of_all(labels: Sequence[object], index: Any, wanted: pd.Index) -> Any:
    """The positions in an index of labels, which `wanted` holds; raises for those it lacks."""
    positions, missing = index.get_indexer_non_unique(wanted)
    if len(missing):
        raise KeyError(f"{[labels[position] for position in missing]} not in index")
    return positions


def check_eager(table: Table) -> None:
    """Raises unless the labels of rows are known."""
    if is_traced(table.index, table.num_rows):
        raise NotImplementedError("loc: rows must be selected by a boolean mask inside jit.")


def is_row_key(of: Any, key: tuple[object, ...]) -> bool:
    """Whether a tuple is a key of rows of a frame, not a pair of rows and columns."""
    if not all(is_scalar(one) for one in key):
        return False
    if len(key) != 2 or key[1] not in of._labels:
        return True
    return bool(len(of._at_levels(dict(enumerate(key)))))
