# SPDX-License-Identifier: Apache-2.0
"""`describe` of grouped frames and series."""

from typing import Any

import numpy as np

from ..reductions._describe import named_percentiles
from ..table._column import Column, as_floats, of_family
from ..table._column_labels import Labels, nested
from ..table._dtypes import as_dtype, wide
from ..table._nullable import Family
from ..table._tracing import is_traced
from ..table._user_functions import as_frames, has_host
from ._agg import OHLC, check_ohlc
from ._base import GroupByBase
from ._by_host import groups_on_host
from ._grouped_column import Reduction


class GroupByDescription(GroupByBase):
    """Summary statistics of each group."""

    def describe(
        self, percentiles: object = None, include: object = None, exclude: object = None
    ) -> Any:
        """Count, mean, deviation, extremes and percentiles of the numeric columns of each group.

        On the host also those of times, and the counts and modes of other columns.

        Differences from pandas:
            Inside `jit` and in plans `include` and `exclude` must be None, and columns other than
            numbers raise NotImplementedError, unless pandas omits them because the frame has
            numbers. The index of an empty result keeps the names of the keys.
        """
        if not len(self._labels):
            raise ValueError("Cannot describe a DataFrame without columns")
        is_plain = include is None and exclude is None and self._unfit() is None
        if not is_plain and has_host(self._groups.is_traced or is_traced(self._table)):
            described = groups_on_host(self).describe(percentiles, include, exclude)
            return as_frames(described, self._source.sharding)
        if include is not None or exclude is not None:
            raise NotImplementedError(
                "describe: include and exclude must be None inside jit and plans. Select the "
                "columns first."
            )
        names, quantiles = named_percentiles(percentiles)
        middle = [Reduction("quantile", q=float(q)) for q in quantiles]
        specs = {name: Reduction(name) for name in ("count", "mean", "std", "min")}
        specs |= {**dict(zip(names, middle, strict=True)), "max": Reduction("max")}
        grouped = self._picked(self._described())
        plan = [(at, spec) for at in range(len(grouped._positions)) for spec in specs.values()]
        families: list[Family | None] = [grouped._columns[at].family for at, _ in plan]
        columns = [
            of_family(Column(as_dtype(as_floats(column).data, wide(np.float64))), family)
            for column, family in zip(grouped._reduced(plan), families, strict=True)
        ]
        if self._is_series:
            return self._one_each(columns, Labels.of(list(specs)))
        labels = [nested(label, name) for label in grouped._labels for name in specs]
        return self._one_each(
            columns, Labels.below(self._labels, labels, [*self._labels.index.names, None])
        )

    def ohlc(self) -> Any:
        """The first, greatest, least and last value of each group, for numeric columns.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> prices = JaxSeries([3, 5, 1, 4]).groupby([0, 0, 0, 1]).ohlc()
            >>> prices.to_pandas().iloc[0].to_dict()
            {'open': 3, 'high': 5, 'low': 1, 'close': 1}
        """
        for label, column in zip(self._labels, self._columns, strict=True):
            check_ohlc(column, label)
        plan = [(at, Reduction(op)) for at in range(len(self._positions)) for op in OHLC.values()]
        columns = self._reduced(plan)
        if self._is_series:
            self._check_inserted(list(OHLC))
            return self._one_each(columns, Labels.of(list(OHLC)))
        labels = [nested(label, name) for label in self._labels for name in OHLC]
        return self._one_each(
            columns, Labels.below(self._labels, labels, [*self._labels.index.names, None])
        )

    def _described(self) -> list[int]:
        """Positions of the columns that pandas describes by default, which are all numbers."""
        unfit = self._unfit()
        if unfit is not None:
            raise NotImplementedError(
                f"describe: inside jit and plans columns must be numbers, got "
                f"{self._columns[unfit].dtype_name} in column {self._labels[unfit]!r}. Select the "
                "numeric columns, or use agg(['count', 'nunique', 'first'])."
            )
        return self._positions_of_numbers()

    def _positions_of_numbers(self) -> list[int]:
        own = self._columns
        return [at for at, one in enumerate(own) if one.is_numeric and not one.is_bool]

    def _unfit(self) -> int | None:
        """The position of a column that pandas describes and that is not numeric, or None."""
        own = self._columns
        times = [at for at, column in enumerate(own) if column.type.is_time]
        return next(iter(times or ([] if self._positions_of_numbers() else range(len(own)))), None)
