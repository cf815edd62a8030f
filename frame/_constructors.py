# SPDX-License-Identifier: Apache-2.0
"""`from_pandas`, `from_arrow`, `from_jax` and `json_normalize`."""

from collections.abc import Hashable, Mapping
from typing import Any

import jax
import pandas as pd

from ._frame import JaxFrame, JaxSeries
from .io._construction import as_arrow_table, table_of_arrow
from .table._layout import layout_of
from .table._types import Sharding


def from_pandas(data: pd.DataFrame | pd.Series, sharding: Sharding = None) -> JaxFrame | JaxSeries:
    """Converts a pandas frame or series.

    Args:
        data: the frame or the series.
        sharding: the placement of the rows; see `JaxFrame`.

    Raises:
        NotImplementedError: a column's dtype is not supported on the device.
        TypeError: `data` is neither a frame nor a series of pandas.
    """
    if isinstance(data, pd.Series):
        return JaxSeries(data, sharding=sharding)
    if not isinstance(data, pd.DataFrame):
        raise TypeError(
            f"from_pandas: data must be a frame or a series of pandas, got {type(data).__name__}."
        )
    return JaxFrame(data, sharding=sharding)


def from_arrow(data: object, sharding: Sharding = None) -> JaxFrame:
    """Converts an Arrow table, or any object with `__arrow_c_stream__`.

    Dictionary arrays become categories, and pandas' metadata restores the index, as in
    `pyarrow.Table.to_pandas`.

    Args:
        data: the table.
        sharding: the placement of the rows; see `JaxFrame`.

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
    table, labels = table_of_arrow(
        as_arrow_table(data, "from_arrow"), layout_of(sharding, "from_arrow")
    )
    return JaxFrame._of(table, labels)


def from_jax(data: jax.Array | Mapping[Hashable, jax.Array], sharding: Sharding = None) -> JaxFrame:
    """Converts JAX arrays: a dict of columns, or one two-dimensional array.

    Args:
        data: the arrays.
        sharding: the placement of the rows; see `JaxFrame`.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.frame import from_jax
        >>> from_jax({"x": jnp.arange(3)})["x"].tolist()
        [0, 1, 2]
    """
    return JaxFrame(data, sharding=sharding)


def json_normalize(
    data: Any,
    record_path: Any = None,
    meta: Any = None,
    meta_prefix: str | None = None,
    record_prefix: str | None = None,
    errors: Any = "raise",
    sep: str = ".",
    max_level: int | None = None,
    *,
    sharding: Sharding = None,
) -> JaxFrame:
    """Flattens nested records into a frame with a column for each path to a value.

    The records are on the host, so pandas flattens them.

    Args:
        data: a dict, or a list or series of dicts.
        record_path: the path of keys to a list of records in each dict.
        meta: keys, or paths of keys, of the outer dicts to add to each record.
        meta_prefix: prefix of the labels of `meta`.
        record_prefix: prefix of the labels of records.
        errors: "raise", or "ignore" for absent keys of `meta`.
        sep: separator between the keys of a path.
        max_level: the number of levels to flatten; all if left out.
        sharding: the placement of the rows; see `JaxFrame`.

    Example:
        >>> from jaxframes.frame import json_normalize
        >>> json_normalize([{"a": {"b": 1}}, {"a": {"b": 2}}])["a.b"].tolist()
        [1, 2]
    """
    data = data.to_pandas() if isinstance(data, JaxSeries) else data
    frame = pd.json_normalize(
        data, record_path, meta, meta_prefix, record_prefix, errors, sep, max_level
    )
    return JaxFrame(frame, sharding=sharding)
