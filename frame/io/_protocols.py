# SPDX-License-Identifier: Apache-2.0
"""Protocols of other libraries: NumPy, Arrow, narwhals, DLPack and dataframe interchange."""

import sys
from typing import Any

import jax
import numpy as np
import pandas as pd
import pyarrow as pa

from ..table._ndframe import NDFrame
from ..table._take import resized
from ._arrow import FrameArrow, SeriesArrow


def _narwhals() -> Any:
    """The narwhals module, which is loaded because only narwhals calls these methods."""
    return sys.modules["narwhals"]


class AsArray(NDFrame):
    """`numpy.asarray(frame)`."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if self._is_traced:
            raise jax.errors.TracerArrayConversionError(jax.tree.leaves(self._table)[0])
        if copy is False:
            raise ValueError(
                "Unable to avoid copy while creating an array as requested: the values are on a "
                "device. Use copy=None."
            )
        return self.to_pandas().to_numpy(dtype=dtype)


class FrameProtocols(FrameArrow, AsArray):
    """Arrow's PyCapsules, narwhals, the dataframe interchange protocol and `numpy.asarray`.

    plotly, altair and scikit-learn use narwhals. `__narwhals_dataframe__` takes precedence over
    the interchange protocol, which a narwhals plugin would not.
    """

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> Any:
        return self.to_arrow().schema.__arrow_c_schema__()

    def __narwhals_dataframe__(self) -> Any:
        table = self._with_range().to_arrow()
        return _narwhals().from_native(table, eager_only=True)._compliant_frame

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Any:
        if not allow_copy:
            raise RuntimeError("JaxFrame: allow_copy must be True for values on a device.")
        table = self._with_range().to_arrow()
        return table.__dataframe__(nan_as_null=nan_as_null)


class SeriesProtocols(SeriesArrow, AsArray):
    """Arrow's PyCapsules, DLPack and `numpy.asarray`."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return pa.chunked_array([self.to_arrow()]).__arrow_c_stream__(requested_schema)

    def __narwhals_series__(self) -> Any:
        values = _narwhals().from_native(pa.chunked_array([self.to_arrow()]), series_only=True)
        return values.alias(str(self._name or ""))._compliant_series

    def __dlpack__(self, **options: Any) -> Any:
        return self._dense().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[Any, int]:
        data: Any = self._only.data
        return data.__dlpack_device__()

    def _dense(self) -> jax.Array:
        column, num_rows = self._only, len(self)
        if not column.is_numeric or (column.valid is not None and pd.isna(self.to_numpy()).any()):
            raise TypeError(
                "__dlpack__: the values must be numbers without missing ones, got "
                f"{column.dtype_name}. Use to_numpy()."
            )
        (column,) = resized([column], column.data.shape[0], self._layout)
        return self._layout.trim(column.data, num_rows)
