# SPDX-License-Identifier: Apache-2.0
"""`series.cat`: the categories and codes of a series."""

from typing import Any

import numpy as np
import pandas as pd

from ..table._column import Column, ColumnType
from ..table._dictionary import Dictionary
from ..table._dtypes import cast_exactly
from ..table._ndframe import SeriesBase
from ..table._recode import renumbered
from ..table._types import Options
from ._read_only import ReadOnly
from ._str import Method, pandas_method, used_codes


def _method(name: str, about: str) -> Any:
    return pandas_method(name, about, "CategoryMethods", "cat")


class CategoryMethods(ReadOnly):
    """`series.cat`: the categories, their order and the codes of a series.

    Methods change the categories on the host and recode the rows on the device. They work inside
    `jit`, too.

    Example:
        >>> import pandas as pd
        >>> from jaxframes.frame import JaxSeries
        >>> JaxSeries(pd.Series(["b", "a", "b"], dtype="category")).cat.codes.tolist()
        [1, 0, 1]
    """

    def __init__(self, series: SeriesBase):
        self._series = series

    @property
    def categories(self) -> pd.Index:
        """The categories in order."""
        return self._series._only.dictionary.values

    @property
    def ordered(self) -> bool:
        """Whether the categories are ordered."""
        return self._series._only.type.ordered

    @property
    def codes(self) -> Any:
        """The code of each row, -1 for a missing value."""
        num_categories = len(self.categories)
        dtypes = (np.int8, np.int16, np.int32)
        dtype = next(dtype for dtype in dtypes if num_categories <= np.iinfo(dtype).max)
        codes = cast_exactly(self._series._only.data, np.dtype(dtype))
        return self._series._with_column(Column(codes), None)

    rename_categories: Method = _method("rename_categories", "Renames the categories.")
    reorder_categories: Method = _method("reorder_categories", "Reorders the categories.")
    add_categories: Method = _method("add_categories", "Appends categories.")
    remove_categories: Method = _method(
        "remove_categories", "Removes categories; their values become missing."
    )
    set_categories: Method = _method(
        "set_categories", "Replaces the categories; values outside the new ones become missing."
    )
    as_ordered: Method = _method("as_ordered", "Makes the categories ordered.")
    as_unordered: Method = _method("as_unordered", "Makes the categories unordered.")

    def remove_unused_categories(self) -> Any:
        """Removes categories without rows; not supported inside `jit`.

        Example:
            >>> import pandas as pd
            >>> from jaxframes.frame import JaxSeries
            >>> sizes = JaxSeries(pd.Categorical(["s", "l"], categories=["s", "m", "l"]))
            >>> sizes.cat.remove_unused_categories().cat.categories.tolist()
            ['s', 'l']
        """
        column, table = self._series._only, self._series._table
        used = used_codes(column, table, "cat.remove_unused_categories")
        return self._map("remove_unused_categories", (), {}, np.flatnonzero(used))

    def _map(self, method: str, args: Any, kwargs: Options, used: np.ndarray | None = None) -> Any:
        """Applies a method of pandas to a categorical with one row for each category."""
        column: Column = self._series._only
        old_codes = np.arange(len(self.categories), dtype=np.int32) if used is None else used
        rows = pd.Categorical.from_codes(old_codes, self.categories, ordered=self.ordered)
        changed = getattr(pd.Series(rows).cat, method)(*args, **kwargs).cat
        codes = np.full(len(self.categories), -1, np.int32)
        codes[old_codes] = changed.codes.to_numpy()
        is_same = np.array_equal(codes, np.arange(len(codes)))
        data = column.data if is_same else renumbered(column.data, codes)
        kind = ColumnType("category", Dictionary(changed.categories), ordered=changed.ordered)
        return self._series._with_column(Column(data, None, kind))

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(pd.Series.cat, name):
            raise NotImplementedError(f"cat: {name} is not supported. Use to_pandas().")
        raise AttributeError(f"'CategoricalAccessor' object has no attribute {name!r}")
