# SPDX-License-Identifier: Apache-2.0
"""`series.cat`: the categories and codes of a series."""

from typing import Any

import numpy as np
import pandas as pd

from ..table._column import Column, ColumnType
from ..table._dictionary import Dictionary
from ..table._recode import renumbered
from ._str import used_codes


class CategoryMethods:
    """`series.cat`: the categories, their order and the codes of a series.

    Methods change the categories on the host and recode the rows on the device. They work inside
    `jit`, too.

    Example:
        >>> import pandas as pd
        >>> from jaxframes.frame import JaxSeries
        >>> JaxSeries(pd.Series(["b", "a", "b"], dtype="category")).cat.codes.tolist()
        [1, 0, 1]
    """

    def __init__(self, series: Any):
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
        return self._series._with_column(Column(self._series._only.data.astype(dtype)), None)

    def rename_categories(self, new_categories: Any) -> Any:
        """Renames the categories by a list, a dict or a function."""
        return self._changed("rename_categories", new_categories)

    def reorder_categories(self, new_categories: Any, ordered: Any = None) -> Any:
        """Reorders the categories."""
        return self._changed("reorder_categories", new_categories, ordered=ordered)

    def add_categories(self, new_categories: Any) -> Any:
        """Appends categories."""
        return self._changed("add_categories", new_categories)

    def remove_categories(self, removals: Any) -> Any:
        """Removes categories; their values become missing."""
        return self._changed("remove_categories", removals)

    def set_categories(self, new_categories: Any, ordered: Any = None, rename: bool = False) -> Any:
        """Replaces the categories; values outside the new ones become missing.

        With `rename=True` the categories are renamed by position.
        """
        return self._changed("set_categories", new_categories, ordered=ordered, rename=rename)

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
        return self._changed("remove_unused_categories", used=np.flatnonzero(used))

    def as_ordered(self) -> Any:
        """Makes the categories ordered."""
        return self._changed("as_ordered")

    def as_unordered(self) -> Any:
        """Makes the categories unordered."""
        return self._changed("as_unordered")

    def _changed(
        self, method: str, *args: Any, used: np.ndarray | None = None, **kwargs: Any
    ) -> Any:
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
