# SPDX-License-Identifier: Apache-2.0
"""Frames and series on the host: pandas, NumPy and Python."""

from collections.abc import Hashable
from typing import Any

import jax
import numpy as np
import pandas as pd

from ..table._column import fill_missing, to_host
from ..table._ndframe import FrameBase, SeriesBase
from ..table._tracing import is_traced


class FrameConversion(FrameBase):
    """A frame on the host."""

    def to_pandas(self) -> pd.DataFrame:
        """The frame as pandas would have it: values, dtypes, index and names.

        Differences from pandas:
            bfloat16 columns, which pandas does not know, come out as float32.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [1, 2]}).to_pandas()["x"].tolist()
            [1, 2]
        """
        num_rows = len(self)
        index = self._table.index.to_pandas(num_rows)
        arrays = [to_host(column, num_rows) for column in self._table.columns]
        parts = {
            place: pd.Series(array, index=index, dtype=array.dtype)
            for place, array in enumerate(arrays)
        }
        frame = pd.DataFrame(parts, index=index)
        frame.columns = self._labels.index
        return frame

    def to_numpy(self, dtype: Any = None) -> np.ndarray:
        """All values as one array of two dimensions, of their common dtype."""
        return self.to_pandas().to_numpy(dtype=dtype)

    @property
    def values(self) -> np.ndarray:
        """All values as one array of two dimensions, of their common dtype."""
        return self.to_numpy()

    def to_dict(self, orient: Any = "dict") -> Any:
        """The values as Python's, in dictionaries."""
        return self.to_pandas().to_dict(orient)


class SeriesConversion(SeriesBase):
    """A series on the host."""

    def to_pandas(self) -> pd.Series:
        """The series as pandas would have it: values, dtype, index and name."""
        num_rows = len(self)
        array = to_host(self._only, num_rows)
        index = self._table.index.to_pandas(num_rows)
        return pd.Series(array, index=index, name=self._name, dtype=array.dtype)

    def to_numpy(self, dtype: Any = None) -> np.ndarray:
        """The values as an array of NumPy."""
        return self.to_pandas().to_numpy(dtype=dtype)

    @property
    def values(self) -> Any:
        """The values as pandas gives them, an array of NumPy, or one of pandas' own."""
        return self.to_pandas().values

    @property
    def array(self) -> Any:
        """The values as an array of pandas."""
        return self.to_pandas().array

    def to_jax(self) -> jax.Array:
        """The values as an array of JAX, for functions of `jax.numpy`.

        Eagerly it has as many values as there are rows. Inside `jit` their number is not known:
        there it has the whole capacity, and what stands behind the rows is arbitrary. Strings and
        categories come as codes into their dictionary, times as counts of their unit.

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
        """The values as Python's."""
        return self.to_pandas().tolist()

    to_list = tolist

    def to_dict(self) -> dict[Hashable, Any]:
        """The values by their labels."""
        return self.to_pandas().to_dict()
