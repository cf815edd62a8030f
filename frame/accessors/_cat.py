# SPDX-License-Identifier: Apache-2.0
"""`series.cat`: the categories of a series, other ones for it, and the number of each row's."""

from typing import Any

import numpy as np
import pandas as pd

from ..table._column import Column, ColumnType
from ..table._dictionary import Dictionary
from ..table._ndframe import SeriesBase
from ..table._recode import renumbered
from ._str import used_codes


class CategoryMethods:
    """`series.cat`: what a category is made of.

    Methods change the dictionary of categories, on the host, and number the rows anew. They work
    inside `jit` too, where the categories are known.

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
        """The categories, in their order."""
        return self._series._only.dictionary.values

    @property
    def ordered(self) -> bool:
        """Whether the order of the categories means anything."""
        return self._series._only.type.ordered

    @property
    def codes(self) -> Any:
        """The number of each row's category, -1 where it is missing."""
        num_categories = len(self.categories)
        dtypes = (np.int8, np.int16, np.int32)
        dtype = next(dtype for dtype in dtypes if num_categories <= np.iinfo(dtype).max)
        return self._series._with_column(Column(self._series._only.data.astype(dtype)), None)

    def rename_categories(self, new_categories: Any) -> Any:
        """Other names for the categories: a list, a dict by name, or a function."""
        return self._changed("rename_categories", new_categories)

    def reorder_categories(self, new_categories: Any, ordered: Any = None) -> Any:
        """The same categories in another order."""
        return self._changed("reorder_categories", new_categories, ordered=ordered)

    def add_categories(self, new_categories: Any) -> Any:
        """More categories behind those that there are."""
        return self._changed("add_categories", new_categories)

    def remove_categories(self, removals: Any) -> Any:
        """Fewer categories; the values of those that go are missing."""
        return self._changed("remove_categories", removals)

    def set_categories(self, new_categories: Any, ordered: Any = None, rename: bool = False) -> Any:
        """These categories in this order; values of none of them are missing.

        With `rename=True` the categories are renamed, one after the other.
        """
        return self._changed("set_categories", new_categories, ordered=ordered, rename=rename)

    def remove_unused_categories(self) -> Any:
        """Only the categories that rows have; not inside `jit`, where nobody knows which.

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
        """The same categories, whose order means something."""
        return self._changed("as_ordered")

    def as_unordered(self) -> Any:
        """The same categories, whose order means nothing."""
        return self._changed("as_unordered")

    def _changed(
        self, method: str, *args: Any, used: np.ndarray | None = None, **kwargs: Any
    ) -> Any:
        """The column after a method of pandas, which is given a row for each category."""
        column: Column = self._series._only
        places = np.arange(len(self.categories), dtype=np.int32) if used is None else used
        rows = pd.Categorical.from_codes(places, self.categories, ordered=self.ordered)
        made = getattr(pd.Series(rows).cat, method)(*args, **kwargs).cat
        codes = np.full(len(self.categories), -1, np.int32)
        codes[places] = made.codes.to_numpy()
        is_same = np.array_equal(codes, np.arange(len(codes)))
        data = column.data if is_same else renumbered(column.data, codes)
        kind = ColumnType("category", Dictionary(made.categories), ordered=made.ordered)
        return self._series._with_column(Column(data, None, kind))

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(pd.Series.cat, name):
            raise NotImplementedError(f"cat: {name} is not built. Use astype, or to_pandas().")
        raise AttributeError(f"'CategoricalAccessor' object has no attribute {name!r}")


class SeriesCategories(SeriesBase):
    """The accessor of categories."""

    @property
    def cat(self) -> CategoryMethods:
        """What a category is made of."""
        if self._only.kind != "category":
            raise AttributeError(
                "Can only use .cat accessor with a 'category' dtype, got "
                f"{self._only.dtype_name} in series {self._name!r}"
            )
        return CategoryMethods(self)
