# SPDX-License-Identifier: Apache-2.0
"""`series.cat`: the categories of a series, and the number of each row's."""

from typing import Any

import numpy as np
import pandas as pd

from ._base import SeriesBase
from ._column import Column


class CategoryMethods:
    """`series.cat`: what a category is made of.

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
