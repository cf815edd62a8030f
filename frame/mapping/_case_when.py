# SPDX-License-Identifier: Apache-2.0
"""`case_when`: the replacement of the first condition that is true."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..table._column import show_holes
from ..table._dtypes import wide
from ..table._ndframe import SeriesBase
from ..table._to_host import no_rows
from ..table._units import finest_unit, with_unit
from ._choices import keeps_kind
from ._where import Where


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
    """A series in the common type of its own values and of replacements, whichever are taken.

    As in pandas, a constant counts as int64 or float64, whichever values fit a narrower type.
    Values of several kinds are objects; inside `jit` the dtype stays.
    """
    column = series._only
    if column.is_nullable:
        # Its dtype stays, and replacements must fit it; those of another kind make objects.
        given = [one._only for one in replacements if isinstance(one, SeriesBase)]
        return series if all(keeps_kind(column, one) for one in given) else series.astype(object)
    dtypes = list(map(_dtype_of, replacements))
    kinds = {_kind_of(dtype) for dtype in (_dtype_of(series), *dtypes)}
    if kinds == {"number"}:
        return series.astype(wide(np.result_type(show_holes(column).dtype, *dtypes)))
    if kinds == {"time"}:
        return _in_unit_of_all(series, replacements)
    is_open = column.kind in ("number", "string", "datetime", "timedelta")
    return series.astype(object) if is_open and len(kinds) > 1 and not series._is_traced else series


def _dtype_of(value: Any) -> Any:
    """The dtype of a replacement, as pandas has it."""
    if isinstance(value, SeriesBase):
        return no_rows(show_holes(value._only)).dtype
    if hasattr(value, "dtype"):
        return value.dtype
    return pd.Series(value if pd.api.types.is_list_like(value) else [value]).dtype


def _kind_of(dtype: Any) -> str:
    kinds = {"b": "bool", "i": "number", "u": "number", "f": "number", "c": "number"}
    kinds |= {"M": "time", "m": "time"}
    return kinds.get(dtype.kind, str(dtype))


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
