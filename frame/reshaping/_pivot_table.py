# SPDX-License-Identifier: Apache-2.0
"""`pivot_table` and `crosstab`: tables of groups by two sets of keys."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..combining._concat import concat
from ..reductions._agg import name_of
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ._margins import with_margins


class FramePivotTable(FrameBase):
    """Pivot tables of a frame."""

    def pivot_table(
        self,
        values: Any = None,
        index: Any = None,
        columns: Any = None,
        aggfunc: Any = "mean",
        fill_value: Any = None,
        margins: bool = False,
        dropna: bool = True,
        margins_name: str = "All",
        observed: bool = True,
        sort: bool = True,
        **kwargs: Any,
    ) -> Any:
        """Reduces the rows of each pair of keys: a row for each value of `index`, and a column for
        each value of `columns`.

        `aggfunc` is an argument of `groupby().agg`. The column labels are copied to the host, so
        `columns` is not supported inside `jit`, where columns without a value stay.

        Differences from pandas:
            `dropna` must be True. `margins` need an index, labels of columns as keys, and the name
            of a reduction.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> frame = JaxFrame({"a": ["x", "x", "y"], "b": ["u", "u", "w"], "v": [1, 2, 3]})
            >>> frame.pivot_table("v", "a", "b", "sum", fill_value=0).values.tolist()
            [[3, 0], [0, 3]]
        """
        if not dropna:
            raise NotImplementedError("pivot_table: dropna must be True. Use reindex() afterwards.")
        options: dict[str, Any] = {
            "fill_value": fill_value, "margins": margins, "margins_name": margins_name,
            "observed": observed, "sort": sort, **kwargs,
        }  # fmt: skip
        if isinstance(aggfunc, list):
            pieces = [self.pivot_table(values, index, columns, one, **options) for one in aggfunc]
            return concat(pieces, keys=[name_of(one) for one in aggfunc], axis=1)
        rows, keys = _listed(index), _listed(columns)
        is_multi = pd.api.types.is_list_like(values)
        grouped: Any = self.groupby(rows + keys, observed=observed, sort=sort)  # pyright: ignore
        if values is not None:
            grouped = grouped[list(values) if is_multi else [values]]
        table = grouped.agg(aggfunc, **kwargs).dropna(how="all")
        if rows and keys:
            levels = list(range(len(rows), len(rows) + len(keys)))
            table = table.unstack(levels, fill_value=fill_value, sort=sort)
        if sort:
            table = table.sort_index(axis=1)
        if fill_value is not None:
            table = table.fillna(fill_value)
        if margins:
            shown = list(grouped._labels)
            table = self.frame_class(
                with_margins(
                    self, table.to_pandas(), (rows, keys, shown), aggfunc, margins_name, fill_value
                ),
                sharding=self._layout,
            )
        if values is not None and not is_multi and table.columns.nlevels > 1:
            table.columns = table.columns.droplevel(0)
        if keys and not rows:
            table = table.T
        return table if table._is_traced else table.dropna(how="all", axis=1)


def crosstab(
    index: Any,
    columns: Any,
    values: Any = None,
    rownames: Any = None,
    colnames: Any = None,
    aggfunc: Any = None,
    margins: bool = False,
    margins_name: str = "All",
    dropna: bool = True,
    normalize: Any = False,
) -> Any:
    """Counts the rows of each pair of keys, or reduces `values` of them by `aggfunc`.

    Args:
        index: the row keys: a series, an array, or a list of these.
        columns: the column keys, likewise.
        values: a series or an array to reduce; needs `aggfunc`.
        rownames: the names of the row keys; by default those of the series.
        colnames: the names of the column keys; by default those of the series.
        aggfunc: an argument of `groupby().agg`; needs `values`.
        margins: whether to append the results of all rows and of all columns.
        margins_name: the label of margins.
        dropna: must be True.
        normalize: False, or what to divide counts by: the sum of "all" (or True), of each row
            ("index" or 0), or of each column ("columns" or 1).

    Returns:
        A JaxFrame with a row for each row key and a column for each column key.

    Raises:
        ValueError: one of `values` and `aggfunc` is given without the other, or `normalize` is
            unknown.

    Differences from pandas:
        `dropna` must be True, and `margins` excludes `normalize`. Not supported inside `jit`,
        because the column keys are labels.

    Example:
        >>> from jaxframes.frame import JaxFrame, crosstab
        >>> frame = JaxFrame({"a": ["x", "x", "y"], "b": ["u", "u", "w"]})
        >>> crosstab(frame.a, frame.b).values.tolist()
        [[2, 0], [0, 1]]
    """
    if values is None and aggfunc is not None:
        raise ValueError("aggfunc cannot be used without values.")
    if values is not None and aggfunc is None:
        raise ValueError("values cannot be used without an aggfunc.")
    if not dropna:
        raise NotImplementedError("crosstab: dropna must be True. Use reindex() afterwards.")
    rows, keys = _arrays(index), _arrays(columns)
    row_names, key_names = _names(rows, rownames, "row"), _names(keys, colnames, "col")
    row_labels = [f"row_{number}" for number in range(len(rows))]
    key_labels = [f"col_{number}" for number in range(len(keys))]
    data: dict[Hashable, Any] = dict(zip((*row_labels, *key_labels), (*rows, *keys), strict=True))
    frame: Any = NDFrame.frame_class(data)
    frame["values"] = 0 if values is None else values
    how: dict[str, Any] = {"aggfunc": "count", "fill_value": 0} if values is None else {}
    table = frame.pivot_table(
        "values", row_labels, key_labels, **{"aggfunc": aggfunc, **how},
        margins=margins, margins_name=margins_name,
    )  # fmt: skip
    if normalize is not False:
        table = _normalized(table, normalize, margins)
    table = table.rename_axis(index=row_names)
    table.columns = table.columns.set_names(key_names)
    return table


def _normalized(table: Any, normalize: Any, margins: bool) -> Any:
    normalize = "all" if normalize is True else {0: "index", 1: "columns"}.get(normalize, normalize)
    if normalize not in ("all", "index", "columns"):
        raise ValueError("Not a valid normalize argument")
    if margins:
        raise NotImplementedError("crosstab: with margins, normalize must be False. Use div().")
    if normalize == "index":
        return table.div(table.sum(axis=1), axis=0).fillna(0)
    sums = table.sum()
    return (table / (sums if normalize == "columns" else sums.sum())).fillna(0)


def _listed(keys: Any) -> list[Any]:
    """Keys as a list: a scalar, an array or a series is one key."""
    if keys is None:
        return []
    return list(keys) if isinstance(keys, (list, tuple)) else [keys]


def _arrays(keys: Any) -> list[Any]:
    """One array or several, as a list; series of pandas are placed on a device."""
    is_several = isinstance(keys, (list, tuple)) and len(keys) and not np.isscalar(keys[0])
    listed = list(keys) if is_several else [keys]
    return [NDFrame.series_class(one) if isinstance(one, pd.Series) else one for one in listed]


def _names(arrays: Sequence[Any], names: Any, prefix: str) -> list[Hashable]:
    if names is not None:
        if len(names) != len(arrays):
            raise AssertionError("arrays and names must have the same length")
        return list(names)
    own = [one.name if isinstance(one, (SeriesBase, pd.Index)) else None for one in arrays]  # pyright: ignore
    return [f"{prefix}_{n}" if name is None else name for n, name in enumerate(own)]
