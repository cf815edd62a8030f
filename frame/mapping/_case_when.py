# SPDX-License-Identifier: Apache-2.0
"""`case_when`: the replacement of the first condition that is true."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..table._column import show_holes
from ..table._dtypes import wide
from ..table._ndframe import SeriesBase
from ..table._units import finest_unit, with_unit
from ._where import Where, keeps_kind


class CaseWhen(Where, SeriesBase):
    """`where`, `mask` and `case_when` of a series."""

    def case_when(self, caselist: Sequence[tuple[object, object]]) -> Any:
        """Replaces values by those of the first pair of a condition and a replacement that is True.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> x = JaxSeries([1, 5, 9])
            >>> x.case_when([(x > 8, 0), (x > 4, 1)]).tolist()
            [1, 1, 0]
        """
        if not isinstance(caselist, list):
            raise TypeError(f"The caselist argument should be a list; instead got {type(caselist)}")
        if not caselist:
            raise ValueError(
                "provide at least one boolean condition, with a corresponding replacement."
            )
        pairs = [tuple(one(self) if callable(one) else one for one in pair) for pair in caselist]
        result: Any = _in_type_of_all(self, [replacement for _, replacement in pairs])
        for condition, replacement in reversed(pairs):
            result = result.mask(condition, replacement)
        return result


def _in_type_of_all(series: SeriesBase, replacements: Sequence[object]) -> SeriesBase:
    """A series of numbers or times in the common type of its own and of replacements.

    As in pandas, a constant counts as int64 or float64, whichever values fit a narrower type.
    """
    column = series._only
    if column.type.is_time:
        return _in_unit_of_all(series, replacements)
    if column.is_nullable:
        # Its dtype stays, and replacements must fit it; those of another kind make objects.
        given = [one._only for one in replacements if isinstance(one, SeriesBase)]
        return series if all(keeps_kind(column, one) for one in given) else series.astype(object)
    dtypes = list(map(_dtype_of_numbers, replacements))
    if not column.is_numeric or column.is_bool or any(one is None for one in dtypes):
        return series
    return series.astype(wide(np.result_type(show_holes(column).dtype, *dtypes)))


def _dtype_of_numbers(value: Any) -> np.dtype | None:
    """The dtype of a replacement; None unless it has numbers."""
    if isinstance(value, SeriesBase):
        column = show_holes(value._only)
        dtype = column.dtype if column.is_numeric else None
    elif hasattr(value, "dtype"):
        dtype = value.dtype
    else:
        dtype = pd.Series(value if pd.api.types.is_list_like(value) else [value]).dtype
    return dtype if isinstance(dtype, np.dtype) and dtype.kind in "iufc" else None


def _in_unit_of_all(series: SeriesBase, replacements: Sequence[object]) -> SeriesBase:
    """A series of times in the finest unit of its own and of replacements, as pandas has it."""
    column, units = series._only, [series._only]
    if not column.type.is_time:
        return series
    for one in replacements:
        if not isinstance(one, SeriesBase):
            # pandas gives a missing time the finest unit.
            dtype = "M8[ns]" if one is pd.NaT else None
            values = pd.Series(one if pd.api.types.is_list_like(one) else [one], dtype=dtype)
            if values.dtype.kind not in "mM":
                continue
            one = series.series_class(values[:0])
        units.append(one._only)
    unit = finest_unit(*units)
    return series._with_column(with_unit(column, unit, series._table.num_rows))
