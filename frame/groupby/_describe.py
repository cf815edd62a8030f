# SPDX-License-Identifier: Apache-2.0
"""`describe` of grouped frames and series."""

from typing import Any

import numpy as np

from ..table._column import Column, fill_missing
from ..table._column_labels import Labels
from ..table._dtypes import wide
from ..table._percentiles import named_percentiles
from ._base import GroupByBase
from ._grouped_column import Reduction


class GroupByDescription(GroupByBase):
    """The usual statistics of each group."""

    def describe(self, percentiles: Any = None, include: Any = None, exclude: Any = None) -> Any:
        """Count, mean, deviation, extremes and percentiles of the numeric columns of each group.

        Args:
            percentiles: numbers between 0 and 1; the quartiles by default.
            include: must be None.
            exclude: must be None.

        Differences from pandas:
            Numbers only: bools, strings, categories and times raise NotImplementedError, unless
            they are columns of a frame that pandas leaves out. Without rows the index keeps the
            names of the keys.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> frame = JaxFrame({"k": [2, 1, 2], "x": [1.0, 7.0, 3.0]})
            >>> frame.groupby("k").x.describe([])["mean"].tolist()
            [7.0, 2.0]
        """
        if include is not None or exclude is not None:
            raise NotImplementedError(
                "describe: include and exclude must be None. Select the columns first."
            )
        if not len(self._labels):
            raise ValueError("Cannot describe a DataFrame without columns")
        names, quantiles = named_percentiles(percentiles)
        specs = {name: Reduction(name) for name in ("count", "mean", "std", "min")}
        specs |= {
            name: Reduction("quantile", q=float(q))
            for name, q in zip(names, quantiles, strict=True)
        }
        specs["max"] = Reduction("max")
        grouped = self._picked(self._described())
        plan = [(at, spec) for at in range(len(grouped._positions)) for spec in specs.values()]
        columns = [_as_float64(column) for column in grouped._reduced(plan)]
        if self._is_series:
            return self._one_each(columns, Labels.of(list(specs)))
        labels = [
            (*(label if isinstance(label, tuple) else (label,)), name)
            for label in grouped._labels
            for name in specs
        ]
        return self._one_each(columns, Labels.of(labels, [*self._labels.index.names, None]))

    def _described(self) -> list[int]:
        """Positions of the columns that pandas describes by default."""
        own = [self._table.columns[position] for position in self._positions]
        numbers = [at for at, column in enumerate(own) if _is_number(column)]
        times = [at for at, column in enumerate(own) if column.type.is_time]
        unfit = times or ([] if numbers else range(len(own)))
        for at in unfit:
            raise NotImplementedError(
                f"describe: column {self._labels[at]!r} of {own[at].dtype_name} is not numeric. "
                "Select the numeric columns, or use agg(['count', 'nunique', 'first'])."
            )
        return numbers


def _is_number(column: Column) -> bool:
    return column.is_numeric and not column.is_bool


def _as_float64(column: Column) -> Column:
    return Column(fill_missing(column).data.astype(wide(np.float64)))
