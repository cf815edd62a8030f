# SPDX-License-Identifier: Apache-2.0
"""`explode`: a row for each element of lists."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..table._column_labels import Labels
from ..table._expand_lists import expand_lists, expanded_values, have_equal_lengths
from ..table._lists import ListColumn
from ..table._ndframe import FrameBase, SeriesBase
from ..table._tracing import is_traced


class FrameExplode(FrameBase):
    """`explode` of a frame."""

    def explode(
        self, column: object, ignore_index: bool = False, *, capacity: int | None = None
    ) -> Any:
        """Replicates rows for each element of the lists in one or several columns.

        Inside `jit`, `capacity` must be the maximum number of result rows.

        Differences from pandas:
            Elements of a column of lists have the dtype of the list's values, where pandas returns
            objects. A column of objects is exploded on the host, and not inside `jit`. Inside `jit`
            the lists of several columns are not compared: those of the first decide the rows.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [1, 2], "l": [["a", "b"], []]}).explode("l").x.tolist()
            [1, 1, 2]
        """
        if not self._labels.index.is_unique:
            raise ValueError("DataFrame columns must be unique.")
        labels = column if isinstance(column, list) else [column]
        if not labels:
            raise ValueError("column must be nonempty")
        if len(set(labels)) < len(labels):
            raise ValueError("column must be unique")
        columns = [self[label]._only for label in labels]
        if all(isinstance(one, ListColumn) for one in columns):
            result = self._exploded(labels, columns, capacity)
        else:
            result = self._exploded_on_host(labels)
        return result._with_range() if ignore_index else result

    def _exploded(self, labels: list[Any], columns: list[Any], capacity: int | None) -> Any:
        table = self._table
        first, *others = columns
        if not is_traced(columns, table.num_rows) and not all(
            have_equal_lengths(first, other, table) for other in others
        ):
            raise ValueError("columns must have matching element counts")
        lists = expand_lists(first, table, capacity, "explode", keeps_empty=True)
        rows = lists.rows_of(table)
        exploded = list(rows.columns)
        for label, one in zip(labels, columns, strict=True):
            exploded[self._labels.position(label)] = expanded_values(one, lists, table)
        return self._like(rows.with_columns(exploded))

    def _exploded_on_host(self, labels: Sequence[object]) -> Any:
        elements = {label: _elements(self[label], len(labels) > 1) for label in labels}
        first, *others = [positions for _, positions in elements.values()]
        if any(not np.array_equal(positions, first) for positions in others):
            raise ValueError("columns must have matching element counts")
        result = self._like(self._table) if first is None else self._taken(first)
        for label, (values, positions) in elements.items():
            if positions is not None:
                result[label] = values
        return result


class SeriesExplode(SeriesBase):
    """`explode` of a series."""

    def explode(self, ignore_index: bool = False, *, capacity: int | None = None) -> Any:
        """Replicates rows for each element of the lists in a series; see that of a frame."""
        frame = self._make_frame([self._only], Labels.of([self._name]))
        return self._like(frame.explode(self._name, ignore_index, capacity=capacity)._table)


def _elements(series: Any, needs_positions: bool = False) -> tuple[Any, Any]:
    """The elements of lists with their row positions; None for a series that cannot have lists.

    With `needs_positions` such a series gives each value with its position.
    """
    if series._only.kind not in ("list", "object") and not needs_positions:
        return None, None
    values = series.reset_index(drop=True).to_pandas().explode()
    return values.array, values.index.to_numpy()
