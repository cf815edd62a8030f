# SPDX-License-Identifier: Apache-2.0
"""Conversion to pandas, NumPy, JAX, Arrow and Python, and the protocols of other libraries."""

from collections.abc import Hashable
from typing import Any

import jax
import numpy as np
import pandas as pd
import pyarrow as pa

from ..table._array_owners import share_with_caller
from ..table._column import as_floats
from ..table._deferred import force_readers
from ..table._host_rows import HostRows
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._to_arrow import arrow_of
from ..table._to_host import to_host
from ..table._tracing import is_traced
from ..table._types import DtypeLike
from ._arrow import arrow_table
from ._narwhals import arrow_rows, narwhals, narwhals_frame


class Conversion(NDFrame):
    """Conversions that frames and series share."""

    def to_numpy(
        self,
        dtype: DtypeLike = None,
        copy: bool = False,
        na_value: object = pd.api.extensions.no_default,
    ) -> np.ndarray:
        """The values in their common dtype: one dimension for a series, two for a frame.

        With `copy` the array is writable and shares no memory. `na_value` replaces missing values.
        """
        rows: Any = self.to_pandas()
        return rows.to_numpy(dtype=dtype, copy=copy, na_value=na_value)

    def _of_host(self) -> Any:
        """The rows, if they have never left the host; else None."""
        stored: Any = self._stored
        return stored.shown() if type(stored) is HostRows else None

    @property
    def values(self) -> Any:
        """The values as pandas' `values` returns them."""
        return self.to_pandas().values

    def __array__(self, dtype: DtypeLike = None, copy: bool | None = None) -> np.ndarray:
        if self._is_traced:
            raise jax.errors.TracerArrayConversionError(jax.tree.leaves(self._table)[0])
        if copy is False:
            raise ValueError(
                "Unable to avoid copy while creating an array as requested: the values are on a "
                "device. Use copy=None."
            )
        # A copy that is asked for is the caller's, to change.
        values = self.to_pandas().to_numpy(dtype=dtype, copy=bool(copy))
        if values.flags.writeable or self.ndim > 1:
            return values
        # NumPy's `permutation` shuffles the array that it gets of what is none, in place.
        return _writable(values) if self._of_host() is None else values.copy()


def _writable(values: np.ndarray) -> np.ndarray:
    """The same values in memory that nothing else refers to."""
    root: Any = values
    while isinstance(root.base, np.ndarray):
        root = root.base
    if not (root.flags.owndata and root.flags.writeable):
        return values.copy()
    values = values.view()
    values.flags.writeable = True
    return values


class FrameConversion(FrameBase, Conversion):
    """Conversions of a frame, with Arrow's PyCapsules, narwhals and dataframe interchange.

    plotly, altair and scikit-learn use narwhals. `__narwhals_dataframe__` takes precedence over
    the interchange protocol, which narwhals' plugin of jaxframes does not.
    """

    def to_pandas(self) -> pd.DataFrame:
        """Converts to a pandas frame with the same values, dtypes, index and labels.

        bfloat16 columns become float32, because pandas has no bfloat16. On a mesh of several
        processes every process calls this, and gets all rows; `process_rows().to_pandas()` gives
        each its own.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [1, 2]}).to_pandas()["x"].tolist()
            [1, 2]
        """
        of_host = self._of_host()
        if of_host is not None:
            return self._noted(of_host)
        num_rows = len(self)
        index = self._table.index.to_pandas(num_rows)
        arrays = [to_host(column, num_rows) for column in self._table.columns]
        # pandas would infer the dtype of objects.
        columns = [
            pd.Series(array, index=index, dtype=object) if array.dtype == object else array
            for array in arrays
        ]
        frame = pd.DataFrame(dict(enumerate(columns)), index=index)
        frame.columns = self._labels.index
        return self._noted(frame)

    def to_dict(self, orient: Any = "dict") -> Any:
        """Converts to dictionaries of Python values."""
        return self.to_pandas().to_dict(orient)

    def to_arrow(self) -> pa.Table:
        """Converts to an Arrow table, as `pyarrow.Table.from_pandas` does.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [1, 2]}).to_arrow()["x"].to_pylist()
            [1, 2]
        """
        table = self._table
        return arrow_table(table.columns, self._labels, table.index, slice(0, len(self)))

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> Any:
        return self.to_arrow().schema.__arrow_c_schema__()

    def __narwhals_dataframe__(self) -> Any:
        return narwhals_frame(self)

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Any:
        if not allow_copy:
            raise RuntimeError("JaxFrame: allow_copy must be True for values on a device.")
        return arrow_rows(self).__dataframe__(nan_as_null=nan_as_null)


class SeriesConversion(SeriesBase, Conversion):
    """Conversions of a series, with Arrow's PyCapsules and DLPack."""

    def to_pandas(self) -> pd.Series:
        """Converts to a pandas series with the same values, dtype, index and name."""
        of_host = self._of_host()
        if of_host is not None:
            return self._noted(of_host)
        num_rows = len(self)
        array = to_host(self._only, num_rows)
        index = self._table.index.to_pandas(num_rows)
        return self._noted(pd.Series(array, index=index, name=self._name, dtype=array.dtype))

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
        column = as_floats(self._only)
        if is_traced(column.data, self._table.num_rows):
            return column.data
        array = self._layout.trim(column.data, len(self))
        if array is column.data:
            share_with_caller(array)
            force_readers((column,))
        return array

    def tolist(self) -> list[Any]:
        """Converts to a list of Python values."""
        return self.to_pandas().tolist()

    to_list = tolist

    def to_dict(self) -> dict[Hashable, Any]:
        """Converts to a dict of the values by label."""
        return self.to_pandas().to_dict()

    def to_arrow(self) -> pa.Array:
        """Converts to an Arrow array; categories become a dictionary array."""
        return arrow_of(self._only, slice(0, len(self)), self._name)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return pa.chunked_array([self.to_arrow()]).__arrow_c_stream__(requested_schema)

    def __narwhals_series__(self) -> Any:
        values = narwhals().from_native(pa.chunked_array([self.to_arrow()]), series_only=True)
        return values.alias(str(self._name or ""))._compliant_series

    def __dlpack__(self, **options: object) -> Any:
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
        return self._layout.trim(column.data, num_rows)
