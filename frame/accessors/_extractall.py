# SPDX-License-Identifier: Apache-2.0
"""`str.extractall`: a row for each match of a pattern."""

from typing import Any

import numpy as np
import pandas as pd

from ..table._column import Column
from ..table._column_labels import Labels
from ..table._expand_lists import expand_lists, expanded_values
from ..table._from_host import column_from
from ..table._lists import Lists, column_of_lists
from ..table._ndframe import SeriesBase
from ..table._row_index import RowIndex, label_dtype
from ..table._table import Table


def matches_of_rows(
    series: SeriesBase,
    column: Column,
    matches: pd.DataFrame,
    num_strings: int,
    capacity: int | None,
    table: Table,
) -> Any:
    """A row for each match in the string of each row.

    Args:
        series: the series of the strings, whose frames these are.
        column: the code of each row's string.
        matches: the matches of each string, by code and number of the match, a column a group.
        num_strings: the number of codes.
        capacity: the maximum number of matches inside `jit`.
        table: the rows.
    """
    layout = table.layout
    counts = np.bincount(matches.index.get_level_values(0), minlength=num_strings)
    room = layout.capacity_for(num_strings)
    starts, lengths = (
        layout.place(np.pad(span.astype(np.int32), (0, room - num_strings)))
        for span in (np.cumsum(counts) - counts, counts)
    )
    groups = [
        column_of_lists(
            column.data,
            Lists(starts, lengths, column_from(values, layout.capacity_for(len(values)), layout)),
        )
        for _, values in matches.items()
    ]
    found = expand_lists(groups[0], table, capacity, "extractall", keeps_empty=False)
    rows = found.rows_of(table)
    match = Column(found.copies.astype(label_dtype()))
    labels = (*rows.index_columns(), match)
    index = RowIndex(labels, (*rows.index.names, matches.index.names[-1]))
    columns = [expanded_values(group, found, table) for group in groups]
    made = rows.with_columns(columns).replace(index=index)
    return series._make_frame(columns, Labels(matches.columns), made)
