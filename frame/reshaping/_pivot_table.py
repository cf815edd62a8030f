# SPDX-License-Identifier: Apache-2.0
"""`pivot_table` and `crosstab`: tables of groups by two sets of keys."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..combining._concat import concat
from ..reductions._agg import name_of
from ..table._arguments import listed
from ..table._by_pandas import by_pandas
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._user_functions import as_pandas, known_reduction
from ._margins import normalized_with_margins, placed_like, with_margins


class FramePivotTable(FrameBase):
    """Pivot tables of a frame."""

    def pivot_table(
        self,
        values: Any = None,
        index: object = None,
        columns: object = None,
        aggfunc: Any = "mean",
        fill_value: object = None,
        margins: bool = False,
        dropna: bool = True,
        margins_name: str = "All",
        observed: bool = True,
        sort: bool = True,
        **kwargs: object,
    ) -> Any:
        """Reduces the rows of each pair of keys: a row for each value of `index`, and a column for
        each value of `columns`.

        With `dropna=False`, missing keys are keys, and every combination of the values of several
        keys is shown. By default rows and columns without a value are left out.

        `aggfunc` is an argument of `groupby().agg`. The column labels are copied to the host, so
        `columns` is not supported inside `jit`, where columns without a value stay.

        Differences from pandas:
            pandas computes `margins` of functions, or without an index, on the host; others need
            labels of columns as keys. `dropna=False` is not supported inside `jit`, nor for
            categories with missing values and `observed=False`, where pandas loses or reorders
            groups.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> frame = JaxFrame({"a": ["x", "x", "y"], "b": ["u", "u", "w"], "v": [1, 2, 3]})
            >>> frame.pivot_table("v", "a", "b", "sum", fill_value=0).values.tolist()
            [[3, 0], [0, 3]]
        """
        options: dict[str, Any] = {
            "fill_value": fill_value, "margins": margins, "dropna": dropna,
            "margins_name": margins_name, "observed": observed, "sort": sort, **kwargs,
        }  # fmt: skip
        if isinstance(aggfunc, list):
            pieces = [self.pivot_table(values, index, columns, one, **options) for one in aggfunc]
            return concat(pieces, keys=[name_of(one) for one in aggfunc], axis=1)
        rows, keys = _listed(index), _listed(columns)

        def on_host(what: str, instead: str) -> Any:
            return by_pandas(
                self, f"pivot_table: {what}", instead,
                lambda data: data.pivot_table(
                    values, list(map(as_pandas, rows)), list(map(as_pandas, keys)), aggfunc,
                    **options,
                ),
            )  # fmt: skip

        if margins:
            known = known_reduction(aggfunc) if callable(aggfunc) else None
            if known is not None and not known[1]:
                aggfunc = known[0]
            if not isinstance(aggfunc, str) or not rows:
                return on_host(
                    "margins of functions, or without an index",
                    "Pass an index, and the name of a reduction as aggfunc.",
                )
        is_multi = pd.api.types.is_list_like(values)
        by: Any = self
        grouped = by.groupby(rows + keys, observed=observed, sort=sort, dropna=dropna)
        if values is not None:
            grouped = grouped[list(values) if is_multi else [values]]
        elif not grouped._labels:
            return on_host("a frame without a column of values", "Add a column of values.")
        table = grouped.agg(aggfunc, **kwargs)
        # The sizes of groups are a series.
        has_values = table.ndim == 2
        if not dropna:
            _check_known(grouped, observed)
        elif has_values:
            table = table.dropna(how="all")
        if rows and keys:
            names = table._table.index.names
            # A level that has a number for its name is not the level of that number.
            levels = [
                at if names[at] is None or names.count(names[at]) > 1 else names[at]
                for at in range(len(rows), len(names))
            ]
            table = table.unstack(levels, fill_value=fill_value, sort=sort)
        if not dropna:
            table = _with_all_pairs(table, fill_value, sort)
        is_series = table.ndim == 1
        if sort and not is_series:
            table = table.sort_index(axis=1)
        if fill_value is not None:
            table = table.fillna(fill_value)
        if margins:
            if not has_values:
                raise NotImplementedError(
                    "pivot_table: margins need a reduction of values, got 'size'. Use "
                    "crosstab(margins=True), or aggfunc='count'."
                )
            keys_and_values = (rows, keys, list(grouped._labels))
            whole = with_margins(
                self, table.to_pandas(), keys_and_values, aggfunc, margins_name, fill_value, dropna
            )
            table = placed_like(self, whole)
        if is_series:
            return table
        if values is not None and has_values and not is_multi and table.columns.nlevels > 1:
            table.columns = table.columns.droplevel(0)
        if keys and not rows:
            table = table.T
        return table.dropna(how="all", axis=1) if dropna and not table._is_traced else table


def crosstab(
    index: object,
    columns: object,
    values: object = None,
    rownames: object = None,
    colnames: object = None,
    aggfunc: object = None,
    margins: bool = False,
    margins_name: str = "All",
    dropna: bool = True,
    normalize: object = False,
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
        dropna: whether to leave out missing keys, unused categories, and combinations of keys
            without rows; see `pivot_table`.
        normalize: False, or what to divide counts by: the sum of "all" (or True), of each row
            ("index" or 0), or of each column ("columns" or 1).

    Returns:
        A JaxFrame with a row for each row key and a column for each column key.

    Raises:
        ValueError: one of `values` and `aggfunc` is given without the other, or `normalize` is
            unknown.

    Differences from pandas:
        Not supported inside `jit`, because the column keys are labels. `dropna=False` needs
        categories without missing values.

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
    rows, keys = _arrays(index), _arrays(columns)
    row_names, key_names = _names(rows, rownames, "row"), _names(keys, colnames, "col")
    row_labels = [f"row_{number}" for number in range(len(rows))]
    key_labels = [f"col_{number}" for number in range(len(keys))]
    data: dict[str, Any] = dict(zip((*row_labels, *key_labels), (*rows, *keys), strict=True))
    frame = _common_rows(data)
    frame["values"] = 0 if values is None else values
    how: dict[str, Any] = {"aggfunc": "count", "fill_value": 0} if values is None else {}
    table = frame.pivot_table(
        "values", row_labels, key_labels, **{"aggfunc": aggfunc, **how},
        margins=margins, margins_name=margins_name, dropna=dropna, observed=dropna,
    )  # fmt: skip
    if normalize is not False:
        table = _normalized(table, normalize, margins)
    table = table.rename_axis(index=row_names)
    table.columns = table.columns.set_names(key_names)
    return table


def _common_rows(data: Mapping[str, Any]) -> Any:
    """A frame of series and arrays, of the rows that all series have."""
    series = {label: one for label, one in data.items() if isinstance(one, SeriesBase)}
    if not series:
        return NDFrame.frame_class(data)
    arrays = {label: one for label, one in data.items() if label not in series}
    rows = concat(list(series.values()), axis=1, join="inner", keys=list(series))
    return rows.assign(**arrays)


def _normalized(table: Any, normalize: Any, margins: bool) -> Any:
    normalize = "all" if normalize is True else {0: "index", 1: "columns"}.get(normalize, normalize)
    if normalize not in ("all", "index", "columns"):
        raise ValueError("Not a valid normalize argument")
    if not isinstance(margins, (bool, np.bool_)):
        raise ValueError(f"Not a valid margins argument, got {margins!r}. Pass True or False.")
    if margins:
        return placed_like(table, normalized_with_margins(table.to_pandas(), normalize))
    if normalize == "index":
        return table.div(table.sum(axis=1), axis=0).fillna(0)
    sums = table.sum()
    return (table / (sums if normalize == "columns" else sums.sum())).fillna(0)


def _check_known(grouped: Any, observed: bool) -> None:
    """Raises unless all combinations of the keys are known, and are those of pandas."""
    if grouped._source._is_traced:
        raise NotImplementedError(
            "pivot_table: with dropna=False the combinations of keys are not known inside jit. "
            "Leave it out."
        )
    for key in grouped._grouped.keys:
        if not observed and key.column.kind == "category" and key.column.can_miss:
            has_missing = grouped._source._make_series(key.column, key.name).isna().any()
            if bool(has_missing):
                raise NotImplementedError(
                    f"pivot_table: with dropna=False and observed=False, categories must not be "
                    f"missing, but some of {key.name!r} are. Convert them with astype('str')."
                )


def _with_all_pairs(table: Any, fill_value: object, sort: bool) -> Any:
    """The rows and columns of all combinations of the values of their levels."""
    if table._table.index.num_levels > 1:
        table = table.reindex(index=_combinations(table.index, sort), fill_value=fill_value)
    if table.ndim == 1 or table.columns.nlevels == 1:
        return table
    labels = _combinations(table.columns, sort)
    if fill_value is None and len(labels) > table.shape[1]:
        # Columns of one dtype stay of one dtype.
        table = table.reindex(columns=labels)
        numbers = [label for label in table.columns if table[label].dtype.kind in "iu"]
        return table.astype(dict.fromkeys(numbers, "float64"))
    return table.reindex(columns=labels, fill_value=fill_value)


def _combinations(labels: pd.Index, sort: bool) -> pd.MultiIndex:
    # A level that has a number for its name is not the level of that number.
    unnamed = labels.set_names([None] * labels.nlevels)
    levels = []
    for at in range(labels.nlevels):
        level = unnamed.get_level_values(at).unique()
        levels.append(level.sort_values(na_position="last") if sort else level)
    return pd.MultiIndex.from_product(levels, names=labels.names)


def _listed(keys: object) -> list[Any]:
    """Keys as a list: a scalar, an array or a series is one key."""
    return [] if keys is None else listed(keys)


def _arrays(keys: Any) -> list[Any]:
    """One array or several, as a list; series of pandas are placed on a device."""
    is_several = isinstance(keys, (list, tuple)) and len(keys) and not np.isscalar(keys[0])
    listed = list(keys) if is_several else [keys]
    return [NDFrame.series_class(one) if isinstance(one, pd.Series) else one for one in listed]


def _names(arrays: Sequence[object], names: Any, prefix: str) -> list[Hashable]:
    if names is not None:
        if len(names) != len(arrays):
            raise AssertionError("arrays and names must have the same length")
        return list(names)
    own = [
        getattr(one, "name", None) if isinstance(one, (SeriesBase, pd.Index)) else None
        for one in arrays
    ]
    return [f"{prefix}_{n}" if name is None else name for n, name in enumerate(own)]
