# SPDX-License-Identifier: Apache-2.0
"""`stack` and `melt`: columns become rows."""

from collections.abc import Hashable
from typing import Any

import pandas as pd

from ..combining._concat_rows import (
    common_columns,
    common_or_missing,
    labels_at,
    pack_rows,
    piece_of_rows,
)
from ..combining._interleaved_rows import interleaved_rows
from ..table._column_labels import Labels, numbered_columns
from ..table._ndframe import FrameBase
from ..table._row_index import RANGE, RowIndex
from ..table._types import LabelOrLabels, LevelOrLevels


class FrameStack(FrameBase):
    """Columns to rows."""

    def stack(self, level: LevelOrLevels = -1, future_stack: bool = True) -> Any:
        """Moves levels of the column labels to the row labels: each row becomes several.

        Works inside `jit`.

        Differences from pandas:
            Columns of several types raise, where pandas returns objects. `future_stack` must be
            True, which is pandas' default.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [1, 2], "y": [3, 4]}).stack().tolist()
            [1, 3, 2, 4]
        """
        if not future_stack:
            raise NotImplementedError("stack: future_stack must be True. Use dropna() afterwards.")
        table = self._table
        # Let pandas stack one row of column positions.
        stacked: Any = numbered_columns(self._labels.index).stack(level, future_stack=True)
        num_pieces = len(stacked)
        if not num_pieces:
            raise NotImplementedError("stack: the frame must have columns, got none.")
        is_series = isinstance(stacked, pd.Series)
        sources = [stacked] if is_series else [stacked.iloc[:, j] for j in range(stacked.shape[1])]
        pieces = [
            common_or_missing(
                [None if pd.isna(at) else table.columns[int(at)] for at in source],
                None if is_series else source.name,
                [table] * num_pieces,
                of_frames=False,
            )
            for source in sources
        ]
        rows = interleaved_rows(pieces, stacked.index.droplevel(0), table)
        if is_series:
            return self._make_series(rows.columns[0], None, rows)
        return self._make_frame(rows.columns, Labels(stacked.columns), rows)

    def melt(
        self,
        id_vars: LabelOrLabels = None,
        value_vars: LabelOrLabels = None,
        var_name: object = None,
        value_name: Hashable = "value",
        col_level: object = None,
        ignore_index: bool = True,
    ) -> Any:
        """Puts value columns below each other, beside their labels and the repeated id columns.

        Works inside `jit`.

        Differences from pandas:
            Value columns of several types raise, where pandas returns objects.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"k": ["a", "b"], "x": [1, 2], "y": [3, 4]}).melt("k").to_pandas()
               k variable  value
            0  a        x      1
            1  b        x      2
            2  a        y      3
            3  b        y      4
        """
        table = self._table
        # Let pandas melt one row of column positions, and check the arguments.
        melted: Any = numbered_columns(self._labels.index).melt(
            id_vars, value_vars, var_name, value_name, col_level
        )
        if not len(melted):
            empty = self._sliced(slice(0, 0)).to_pandas()
            arguments = (id_vars, value_vars, var_name, value_name, col_level)
            return self.frame_class(empty.melt(*arguments), sharding=self._layout)
        *shown, values = (melted.iloc[:, number] for number in range(melted.shape[1]))
        num_levels = 1 if col_level is not None else self._labels.index.nlevels
        names = shown[len(shown) - num_levels :]
        ids = [table.columns[int(one.iloc[0])] for one in shown[: len(shown) - num_levels]]
        levels = () if ignore_index else table.index_columns()
        tables = [table] * len(melted)
        counts = [table.num_rows for table in tables]
        melted_columns = common_columns(
            [table.columns[int(at)] for at in values], value_name, counts, of_frames=False
        )
        rows = pack_rows([(*ids, column, *levels) for column in melted_columns], tables)
        piece_ids = piece_of_rows(tuple(t.num_rows for t in tables), rows.capacity, rows.layout)
        columns = (
            *rows.columns[: len(ids)],
            *(labels_at(pd.Index(name), piece_ids, rows.layout) for name in names),
            rows.columns[len(ids)],
        )
        level_columns = rows.columns[len(ids) + 1 :]
        index = RowIndex(level_columns, table.index.names) if level_columns else RANGE
        return self._make_frame(columns, Labels(melted.columns), rows.replace(index=index))
