# SPDX-License-Identifier: Apache-2.0
"""Frames made of what other libraries hold, by the name of the library."""

from collections.abc import Mapping
from typing import Any

import jax
import pandas as pd

from ._frame import JaxFrame, JaxSeries
from .io._construction import as_arrow_table, table_of_arrow
from .table._layout import layout_of


def from_pandas(data: pd.DataFrame | pd.Series, sharding: Any = None) -> JaxFrame | JaxSeries:
    """A frame or a series of pandas, on the device.

    Args:
        data: the frame or the series.
        sharding: where the rows lie; see `JaxFrame`.

    Raises:
        NotImplementedError: a column has a dtype that devices do not hold.
    """
    if isinstance(data, pd.Series):
        return JaxSeries(data, sharding=sharding)
    if not isinstance(data, pd.DataFrame):
        raise TypeError(f"from_pandas: data must be of pandas, got {type(data).__name__}.")
    return JaxFrame(data, sharding=sharding)


def from_arrow(data: Any, sharding: Any = None) -> JaxFrame:
    """A table of Arrow, or anything with Arrow's `__arrow_c_stream__`, on the device.

    Dictionaries become categories, and the index that pandas wrote into the metadata of the table
    is an index again, as in `pyarrow.Table.to_pandas`.

    Args:
        data: the table.
        sharding: where the rows lie; see `JaxFrame`.

    Example:
        >>> import pyarrow as pa
        >>> from jaxframes.frame import from_arrow
        >>> from_arrow(pa.table({"x": [1, 2]}))["x"].tolist()
        [1, 2]
    """
    if not hasattr(data, "__arrow_c_stream__"):
        raise TypeError(
            f"from_arrow: data must have __arrow_c_stream__, got {type(data).__name__}."
        )
    table, labels = table_of_arrow(as_arrow_table(data), layout_of(sharding, "from_arrow"))
    return JaxFrame._of(table, labels)


def from_jax(data: jax.Array | Mapping[Any, jax.Array], sharding: Any = None) -> JaxFrame:
    """Arrays of JAX as a frame: a dict of columns, or one array of two dimensions.

    Args:
        data: the arrays.
        sharding: where the rows lie; see `JaxFrame`.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.frame import from_jax
        >>> from_jax({"x": jnp.arange(3)})["x"].tolist()
        [0, 1, 2]
    """
    return JaxFrame(data, sharding=sharding)
