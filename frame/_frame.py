# SPDX-License-Identifier: Apache-2.0
"""The classes `JaxFrame` and `JaxSeries`."""

from collections.abc import Hashable
from typing import Any

import jax
import pandas as pd

from ._eager import EagerFrame, EagerSeries
from .io._construction import table_of_data, with_layout
from .plan._expression import Expression
from .plan._query import FrameQuery
from .stream._lazy_frame import FramePlanning
from .table._dictionary import encode_objects
from .table._from_host import column_from, index_from
from .table._layout import layout_of
from .table._lazy_base import check_evaluated
from .table._ndframe import NDFrame, SeriesBase
from .table._table import Table, as_count
from .table._types import DtypeLike, Sharding
from .table._user_functions import as_pandas


class JaxFrame(FrameQuery, FramePlanning, EagerFrame):
    """A table of columns on one device or a mesh, with pandas' methods. A pytree.

    Args:
        data: a dict of arrays, lists or series; a frame of pandas; an object with
            `__arrow_c_stream__`; a two-dimensional array; or records.
        index: the row labels; 0, 1, ... if left out.
        columns: the column labels, or those to select.
        dtype: one dtype for all columns.
        sharding: the placement of the rows, `jaxframes.shardings.row_sharded(mesh)`; one device
            if left out.

    Raises:
        NotImplementedError: a column's dtype is not supported on the device.
        TypeError: a 64-bit column without JAX's x64 mode.
        ValueError: the columns have different lengths.

    Example:
        >>> from jaxframes.frame import JaxFrame
        >>> frame = JaxFrame({"x": [3, 1, 2], "y": ["c", "a", "b"]})
        >>> frame[frame.x > 1].to_pandas()["y"].tolist()
        ['c', 'b']
    """

    def __init__(
        self,
        data: object = None,
        index: object = None,
        columns: object = None,
        dtype: DtypeLike = None,
        sharding: Sharding = None,
    ):
        self._table, self._labels = table_of_data(data, index, columns, dtype, sharding)


class JaxSeries(EagerSeries):
    """One labelled column, with pandas' methods. A pytree.

    Args:
        data: an array, a list, a series of pandas, or a JaxSeries.
        index: the row labels; 0, 1, ... if left out.
        dtype: the dtype of the values.
        name: the name of the series.
        sharding: the placement of the rows; see `JaxFrame`.

    Example:
        >>> from jaxframes.frame import JaxSeries
        >>> (JaxSeries([1, 2, 3], name="x") * 2).tolist()
        [2, 4, 6]
    """

    def __init__(
        self,
        data: object = None,
        index: object = None,
        dtype: DtypeLike = None,
        name: Hashable = None,
        sharding: Sharding = None,
    ):
        layout = layout_of(sharding, "JaxSeries")
        check_evaluated(data, "JaxSeries")
        index = as_pandas(index)
        if isinstance(data, SeriesBase):
            given: Any = data
            given = given if index is None else given.reindex(index)
            self._table = given._table if sharding is None else with_layout(given._table, layout)
            self._name = given._name if name is None else name
        elif isinstance(data, jax.Array):
            table, _ = table_of_data({0: data}, index, None, None, sharding)
            self._table, self._name = table, name
        else:
            encoded = encode_objects(data) if dtype is None else None
            values, dictionary = (data, None) if encoded is None else encoded
            series = pd.Series(values, index=index, dtype=dtype, name=name)
            capacity = layout.capacity_for(len(series))
            column = column_from(series, capacity, layout, series.name, dictionary)
            row_index = index_from(series.index, capacity, layout)
            self._table = Table((column,), row_index, as_count(len(series)), layout=layout)
            self._name = series.name
        if dtype is not None and self._only.dtype_name != pd.api.types.pandas_dtype(dtype).name:
            self._table = self.astype(dtype)._table


NDFrame.frame_class = JaxFrame
NDFrame.series_class = JaxSeries
NDFrame.expression_class = Expression


jax.tree_util.register_pytree_node(
    JaxFrame,
    lambda frame: (frame._as_tree(), frame._labels),
    JaxFrame._of_tree,
)
jax.tree_util.register_pytree_node(
    JaxSeries,
    lambda series: (series._as_tree(), series._name),
    JaxSeries._of_tree,
)
