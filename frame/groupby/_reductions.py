# SPDX-License-Identifier: Apache-2.0
"""Reduction methods of grouped frames and series."""

import functools
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...primitives.staging import tiered
from ..reductions._quantiles import INTERPOLATIONS
from ..table._column import Array, Column, of_family
from ..table._column_labels import Labels
from ..table._layout import Layout
from ..table._table import Count, is_row
from ..table._take import take_columns
from ..table._tracing import is_traced
from ..table._user_functions import as_frames, has_host
from ._base import GroupByBase
from ._by_host import groups_on_host
from ._grouped_column import Reduction
from ._segment_reductions import reduce_arrays


class GroupByReductions(GroupByBase):
    """Reductions: a row for each group."""

    def _reduction(self, spec: Reduction, numeric_only: bool = False) -> Any:
        grouped = self._chosen(numeric_only, spec.op)
        return grouped._result(grouped._reduced(grouped._pairs(spec)))

    def sum(self, numeric_only: bool = False, min_count: int = 0, skipna: bool = True) -> Any:
        """Adds up the values of each group.

        Differences from pandas:
            Integers of every width give int64 or uint64; pandas keeps a narrow dtype if the sums
            fit. float64 is summed in row order without compensation: the error of a sum of `n`
            values is at most `n` half units in the last place of the sum of magnitudes. float32
            is summed as float64 and rounded once. Strings are concatenated; inside `jit` they
            raise NotImplementedError.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> frame = JaxFrame({"k": ["b", "a", "b"], "x": [1, 2, 3]})
            >>> frame.groupby("k").x.sum().to_pandas().to_dict()
            {'a': 2, 'b': 4}
        """
        return self._reduction(Reduction("sum", min_count, skipna=skipna), numeric_only)

    def prod(self, numeric_only: bool = False, min_count: int = 0, skipna: bool = True) -> Any:
        """Multiplies the values of each group; the dtypes are those of `sum`."""
        return self._reduction(Reduction("prod", min_count, skipna=skipna), numeric_only)

    def mean(self, numeric_only: bool = False, skipna: bool = True) -> Any:
        """Averages the values of each group, in float64."""
        return self._reduction(Reduction("mean", skipna=skipna), numeric_only)

    def median(self, numeric_only: bool = False, skipna: bool = True) -> Any:
        """Finds the middle value of each group."""
        return self._reduction(Reduction("median", skipna=skipna), numeric_only)

    def min(self, numeric_only: bool = False, min_count: int = -1, skipna: bool = True) -> Any:
        """Finds the least value of each group."""
        return self._reduction(Reduction("min", min_count, skipna=skipna), numeric_only)

    def max(self, numeric_only: bool = False, min_count: int = -1, skipna: bool = True) -> Any:
        """Finds the greatest value of each group."""
        return self._reduction(Reduction("max", min_count, skipna=skipna), numeric_only)

    def first(self, numeric_only: bool = False, min_count: int = -1, skipna: bool = True) -> Any:
        """Takes the first non-missing value of each group."""
        return self._reduction(Reduction("first", min_count, skipna=skipna), numeric_only)

    def last(self, numeric_only: bool = False, min_count: int = -1, skipna: bool = True) -> Any:
        """Takes the last non-missing value of each group."""
        return self._reduction(Reduction("last", min_count, skipna=skipna), numeric_only)

    def std(self, ddof: int = 1, numeric_only: bool = False, skipna: bool = True) -> Any:
        """Computes the standard deviation of each group."""
        return self._reduction(Reduction("std", ddof=ddof, skipna=skipna), numeric_only)

    def var(self, ddof: int = 1, numeric_only: bool = False, skipna: bool = True) -> Any:
        """Computes the variance of each group."""
        return self._reduction(Reduction("var", ddof=ddof, skipna=skipna), numeric_only)

    def sem(self, ddof: int = 1, numeric_only: bool = False, skipna: bool = True) -> Any:
        """Computes the standard error of the mean of each group."""
        return self._reduction(Reduction("sem", ddof=ddof, skipna=skipna), numeric_only)

    def skew(self, skipna: bool = True, numeric_only: bool = False) -> Any:
        """Computes the unbiased skewness of each group; NaN for fewer than 3 values."""
        return self._reduction(Reduction("skew", skipna=skipna), numeric_only)

    def kurt(self, skipna: bool = True, numeric_only: bool = False) -> Any:
        """Computes the unbiased excess kurtosis of each group; NaN for fewer than 4 values."""
        return self._reduction(Reduction("kurt", skipna=skipna), numeric_only)

    def any(self, skipna: bool = True) -> Any:
        """Whether any value of each group is true."""
        return self._reduction(Reduction("any", skipna=skipna))

    def all(self, skipna: bool = True) -> Any:
        """Whether all values of each group are true."""
        return self._reduction(Reduction("all", skipna=skipna))

    def count(self) -> Any:
        """Counts the non-missing values of each group."""
        return self._reduction(Reduction("count"))

    def nunique(self, dropna: bool = True) -> Any:
        """Counts the distinct values of each group."""
        return self._reduction(Reduction("nunique", skipna=dropna))

    def quantile(
        self, q: float = 0.5, interpolation: str = "linear", numeric_only: bool = False
    ) -> Any:
        """Finds a quantile of each group; for a list of `q`, on the host, a row for each."""
        if np.ndim(q):
            if not has_host(self._groups.is_traced or is_traced(self._table)):
                raise NotImplementedError(
                    "quantile: q must be one number inside jit and plans. Call it for each q."
                )
            found = groups_on_host(self).quantile(q, interpolation, numeric_only)
            return as_frames(found, self._source.sharding)
        if not 0 <= q <= 1:
            raise ValueError(f"Each 'q' must be between 0 and 1. Got '{q}' instead")
        if interpolation not in INTERPOLATIONS:
            raise KeyError(f"{interpolation!r} is not a valid interpolation of quantile")
        spec = Reduction("quantile", q=float(q), interpolation=interpolation)
        return self._reduction(spec, numeric_only)

    def size(self) -> Any:
        """Counts the rows of each group, with missing values."""
        column = self._sizes()
        if self._is_series:
            column = of_family(column, self._columns[0].family)
        if not self._options.as_index:
            if "size" in self._grouped.key_names:
                raise ValueError("cannot insert size, already exists")
            return self._one_each([column], Labels.of(["size"]))
        name = self._labels[0] if self._is_series else None
        return self._one_each([column], Labels.of([name]), as_series=True)

    def _sizes(self, *, by_segment: bool = False) -> Column:
        segments, plan = self._groups.segments, ((0, Reduction("size")),)
        ((data, _),) = reduce_arrays((Column(segments.ids),), segments, plan, by_segment)
        return Column(data)

    def idxmin(self, skipna: bool = True, numeric_only: bool = False) -> Any:
        """Finds the label of the row with the least value of each group."""
        return self._label_of("argmin", skipna, numeric_only)

    def idxmax(self, skipna: bool = True, numeric_only: bool = False) -> Any:
        """Finds the label of the row with the greatest value of each group."""
        return self._label_of("argmax", skipna, numeric_only)

    def _label_of(self, op: str, skipna: bool, numeric_only: bool) -> Any:
        has_levels = self._table.index.num_levels > 1
        if has_levels and has_host(self._groups.is_traced or is_traced(self._table)):
            # The labels are tuples, which are objects.
            options = {} if self._is_series else {"numeric_only": numeric_only}
            labels_of = getattr(groups_on_host(self), op.replace("arg", "idx"))
            return as_frames(labels_of(skipna=skipna, **options), self._source.sharding)
        grouped = self._chosen(numeric_only, op.replace("arg", "idx"))
        return grouped._result(grouped._labels_of_rows(grouped._pairs(Reduction(op)), skipna))

    def _labels_of_rows(self, pairs: Any, skipna: bool = True) -> list[Column]:
        groups, index = self._groups, self._table.index
        row_ids = self._reduced(pairs)
        if index.num_levels > 1:
            raise NotImplementedError(
                "groupby: idxmin and idxmax need an index of one level, got "
                f"{index.num_levels} levels. Call reset_index() first."
            )
        if not is_traced(row_ids, groups.count):
            caller = "idxmin" if pairs and pairs[0][1].op == "argmin" else "idxmax"
            for (at, _), rows in zip(pairs, row_ids, strict=True):
                self._check_extremes(rows, self._columns[at], caller, skipna)
        if index.is_range:
            return [Column(index.labels_at(rows.data)) for rows in row_ids]
        return [take_columns(index.levels, rows.data, groups.layout)[0] for rows in row_ids]

    def _check_extremes(self, rows: Column, column: Column, caller: str, skipna: bool) -> None:
        """Raises pandas' errors for groups without an extreme."""
        groups, caller = self._groups, f"{type(self).__name__}.{caller}"
        if bool(_lacks_any(rows.data, groups.count, groups.layout)):
            raise ValueError(f"{caller} with all-NA values is not possible")
        if skipna or not column.can_miss:
            return
        if bool(_any_in_group(column.missing(), groups.segments.ids)):
            raise ValueError(f"{caller} with skipna=False met an NA value")


@functools.partial(tiered, static_argnums=2)
def _lacks_any(row_ids: Array, count: Count, layout: Layout) -> Array:
    """Whether a group has no row of its own, which is -1."""
    return jnp.any((row_ids < 0) & is_row(row_ids.shape[0], count, layout))


@tiered
def _any_in_group(flags: Array, segment_ids: Array) -> Array:
    """Whether a row of any group has a flag."""
    return jnp.any(flags & (segment_ids >= 0))
