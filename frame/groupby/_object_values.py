# SPDX-License-Identifier: Apache-2.0
"""Reductions of the Python objects of groups, on the host: pandas calls the objects' operators."""

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from ..table._column import Column
from ..table._distinct_values import column_of_results
from ..table._layout import ONE_DEVICE
from ..table._object_functions import host_series
from ..table._table import Table
from ..table._to_host import host_array
from ..table._tracing import is_traced
from ._grouped_column import Groups, Reduction


def reduced_objects(
    column: Column, label: Hashable, groups: Groups, table: Table, spec: Reduction, by_segment: bool
) -> Column:
    """Reduces the objects of each group, with pandas' results.

    Raises:
        NotImplementedError: the objects are needed inside `jit`.
    """
    if is_traced(column.data, table.num_rows) or groups.is_traced:
        raise NotImplementedError(
            f"groupby: inside jit the objects of column {label!r} have no {spec.op!r}. Call it "
            "before jit, or convert them with astype first."
        )
    num_rows = table.num_rows_on_host
    ids = host_array(groups.segments.ids if by_segment else groups.group_ids)[:num_rows]
    values = host_series(column, num_rows).loc[ids >= 0].reset_index(drop=True)
    grouped = values.groupby(ids[ids >= 0])
    results = _call(grouped, spec)
    if spec.op in ("argmin", "argmax"):
        results = pd.Series(np.flatnonzero(ids >= 0)[results.to_numpy()], results.index)
    count = groups.num_segments if by_segment else int(groups.count)
    if len(results) < count:
        results = results.reindex(range(count))
    if by_segment:
        return column_of_results(results, spec.op, count, ONE_DEVICE)
    return column_of_results(results, spec.op, groups.capacity, groups.layout)


def _call(grouped: object, spec: Reduction) -> pd.Series:
    match spec.op:
        case "sum" | "prod" | "min" | "max":
            how: dict[str, Any] = {"min_count": spec.min_count, "skipna": spec.skipna}
        case "var" | "std" | "sem":
            how = {"ddof": spec.ddof, "skipna": spec.skipna}
        case "quantile":
            how = {"q": spec.q, "interpolation": spec.interpolation}
        case "nunique":
            how = {"dropna": spec.skipna}
        case _:
            how = {"skipna": spec.skipna}
    name = {"argmin": "idxmin", "argmax": "idxmax"}.get(spec.op, spec.op)
    return getattr(grouped, name)(**how)
