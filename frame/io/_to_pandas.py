# SPDX-License-Identifier: Apache-2.0
"""Conversion to pandas, NumPy, JAX and Python."""

from collections.abc import Hashable, Sequence
from typing import Any

import jax
import numpy as np
import pandas as pd

from ..table._column import fill_missing, to_host
from ..table._column_labels import Labels
from ..table._ndframe import FrameBase, SeriesBase
from ..table._tracing import is_traced


def frame_of_arrays(arrays: Sequence[Any], index: pd.Index, labels: Labels) -> pd.DataFrame:
    """A pandas frame of arrays, each with its dtype."""
    columns = [pd.Series(array, index=index, dtype=array.dtype) for array in arrays]
    frame = pd.DataFrame(dict(enumerate(columns)), index=index)
    frame.columns = labels.index
    return frame


class FrameConversion(FrameBase):
    """Conversions of a frame."""

    def to_pandas(self) -> pd.DataFrame:
        """Converts to a pandas frame with the same values, dtypes, index and labels.

        bfloat16 columns become float32, because pandas has no bfloat16.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [1, 2]}).to_pandas()["x"].tolist()
            [1, 2]
        """
        num_rows = len(self)
        arrays = [to_host(column, num_rows) for column in self._table.columns]
        return frame_of_arrays(arrays, self._table.index.to_pandas(num_rows), self._labels)

    def to_numpy(self, dtype: Any = None) -> np.ndarray:
        """All values as a two-dimensional array of their common dtype."""
        return self.to_pandas().to_numpy(dtype=dtype)

    @property
    def values(self) -> np.ndarray:
        """All values as a two-dimensional array of their common dtype."""
        return self.to_numpy()

    def to_dict(self, orient: Any = "dict") -> Any:
        """Converts to dictionaries of Python values."""
        return self.to_pandas().to_dict(orient)


class SeriesConversion(SeriesBase):
    """Conversions of a series."""

    def to_pandas(self) -> pd.Series:
        """Converts to a pandas series with the same values, dtype, index and name."""
        num_rows = len(self)
        array = to_host(self._only, num_rows)
        index = self._table.index.to_pandas(num_rows)
        return pd.Series(array, index=index, name=self._name, dtype=array.dtype)

    def to_numpy(self, dtype: Any = None) -> np.ndarray:
        """Converts to a NumPy array."""
        return self.to_pandas().to_numpy(dtype=dtype)

    @property
    def values(self) -> Any:
        """The values as `pandas.Series.values` returns them."""
        return self.to_pandas().values

    @property
    def array(self) -> Any:
        """The values as a pandas extension array."""
        return self.to_pandas().array

    def to_jax(self) -> jax.Array:
        """Converts to a JAX array.

        Outside `jit` it has one value a row. Inside `jit` it has the full capacity, and the values
        after the last row are unspecified. Strings and categories become dictionary codes, times
        become counts of their unit.

        Example:
            >>> import jax.numpy as jnp
            >>> from jaxframes.frame import JaxSeries
            >>> frame = JaxSeries([0.0, 1.0]).to_frame("x")
            >>> frame["y"] = jnp.sinc(frame.x.to_jax())
        """
        column = fill_missing(self._only)
        if is_traced(column.data, self._table.num_rows):
            return column.data
        return self._layout.trim(column.data, len(self))

    def tolist(self) -> list[Any]:
        """Converts to a list of Python values."""
        return self.to_pandas().tolist()

    to_list = tolist

    def to_dict(self) -> dict[Hashable, Any]:
        """Converts to a dict of the values by label."""
        return self.to_pandas().to_dict()
