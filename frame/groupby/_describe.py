# SPDX-License-Identifier: Apache-2.0
"""`describe` of grouped frames and series."""

from typing import Any

import numpy as np
import pandas as pd

from ..reductions._describe import named_percentiles
from ..table._column import Column, as_floats, of_family
from ..table._column_labels import Labels
from ..table._dtypes import wide
from ..table._nullable import Family
from ._agg import nested
from ._base import GroupByBase
from ._grouped_column import Reduction


class GroupByDescription(GroupByBase):
    """Summary statistics of each group."""

    def describe(
        self, percentiles: object = None, include: object = None, exclude: object = None
    ) -> Any:
        """Count, mean, deviation, extremes and percentiles of the numeric columns of each group.

        Differences from pandas:
            `include` and `exclude` must be None. Columns of bools, strings, categories and times
            raise NotImplementedError, unless pandas omits them because the frame has numbers. The
            index of an empty result keeps the names of the keys.
        """
        if include is not None or exclude is not None:
            raise NotImplementedError(
                "describe: include and exclude must be None. Select the columns first."
            )
        if not len(self._labels):
            raise ValueError("Cannot describe a DataFrame without columns")
        names, quantiles = named_percentiles(percentiles)
        middle = [Reduction("quantile", q=float(q)) for q in quantiles]
        specs = {name: Reduction(name) for name in ("count", "mean", "std", "min")}
        specs |= {**dict(zip(names, middle, strict=True)), "max": Reduction("max")}
        grouped = self._picked(self._described())
        plan = [(at, spec) for at in range(len(grouped._positions)) for spec in specs.values()]
        families: list[Family | None] = [grouped._columns[at].family for at, _ in plan]
        columns = [
            of_family(Column(as_floats(column).data.astype(wide(np.float64))), family)
            for column, family in zip(grouped._reduced(plan), families, strict=True)
        ]
        if self._is_series:
            return self._one_each(columns, Labels.of(list(specs)))
        labels = [nested(label, name) for label in grouped._labels for name in specs]
        return self._one_each(columns, Labels.of(labels, [*self._labels.index.names, None]))

    def ohlc(self) -> Any:
        """The first, greatest, least and last value of each group, for numeric columns.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> prices = JaxSeries([3, 5, 1, 4]).groupby([0, 0, 0, 1]).ohlc()
            >>> prices.to_pandas().iloc[0].to_dict()
            {'open': 3, 'high': 5, 'low': 1, 'close': 1}
        """
        specs = {"open": "first", "high": "max", "low": "min", "close": "last"}
        for label, column in zip(self._labels, self._columns, strict=True):
            if not column.is_numeric or column.dtype.kind == "c":
                raise pd.errors.DataError(
                    f"No numeric types to aggregate, got {column.dtype_name} in column {label!r}. "
                    "Select the numeric columns."
                )
        plan = [(at, Reduction(op)) for at in range(len(self._positions)) for op in specs.values()]
        columns = self._reduced(plan)
        if self._is_series:
            return self._one_each(columns, Labels.of(list(specs)))
        labels = [nested(label, name) for label in self._labels for name in specs]
        return self._one_each(columns, Labels.of(labels, [*self._labels.index.names, None]))

    def _described(self) -> list[int]:
        """Positions of the columns that pandas describes by default."""
        own = self._columns
        numbers = [at for at, one in enumerate(own) if one.is_numeric and not one.is_bool]
        times = [at for at, column in enumerate(own) if column.type.is_time]
        unfit = times or ([] if numbers else range(len(own)))
        for at in unfit:
            raise NotImplementedError(
                f"describe: column {self._labels[at]!r} of {own[at].dtype_name} is not numeric. "
                "Select the numeric columns, or use agg(['count', 'nunique', 'first'])."
            )
        return numbers
