# SPDX-License-Identifier: Apache-2.0
"""The accessors `.str`, `.list`, `.struct`, `.dt` and `.cat` of a series."""

from typing import Any

from ..ops._count_ops import midnights
from ..table._ndframe import SeriesBase
from ..table._recode import as_times
from ._cat import CategoryMethods
from ._dt import DatetimeMethods, TimedeltaMethods
from ._list import ListMethods, holds_lists, list_column
from ._list_str import ListStringMethods
from ._period import PeriodMethods
from ._str import StringMethods
from ._string_columns import STRING_KINDS, kind_of_strings
from ._struct import StructMethods


class SeriesAccessorMethods(SeriesBase):
    """The accessors `.str`, `.list`, `.struct`, `.dt` and `.cat` of a series."""

    @property
    def str(self) -> Any:
        """The methods of strings; those that pandas has for lists too, of lists."""
        if holds_lists(self._only):
            return ListStringMethods(self._with_column(list_column(self)))
        kind = kind_of_strings(self._only)
        if kind in STRING_KINDS:
            return StringMethods(self)
        raise AttributeError(
            f"Can only use .str accessor with string values, not {kind}, in series {self._name!r}"
        )

    @property
    def list(self) -> ListMethods:
        """The methods of lists."""
        return ListMethods(self)

    @property
    def struct(self) -> StructMethods:
        """The fields of structs."""
        return StructMethods(self)

    @property
    def dt(self) -> Any:
        """The methods of datetimes, dates, timedeltas or periods."""
        column = as_times(self._only)
        series = self if column is self._only else self._with_column(column)
        if column.kind == "datetime":
            return DatetimeMethods(series)
        if column.kind == "date":
            return DatetimeMethods(self._with_column(midnights(column)), are_dates=True)
        if column.kind == "period":
            return PeriodMethods(self)
        if column.kind == "timedelta":
            return TimedeltaMethods(series)
        raise AttributeError(
            "Can only use .dt accessor with datetimelike values, got "
            f"{self._only.dtype_name} in series {self._name!r}"
        )

    @property
    def cat(self) -> CategoryMethods:
        """The methods of categories."""
        if self._only.kind != "category":
            raise AttributeError(
                "Can only use .cat accessor with a 'category' dtype, got "
                f"{self._only.dtype_name} in series {self._name!r}"
            )
        return CategoryMethods(self)
