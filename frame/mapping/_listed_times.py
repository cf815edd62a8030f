# SPDX-License-Identifier: Apache-2.0
"""The times in a list of values, of any units."""

import datetime
from typing import Any

import numpy as np
import pandas as pd

from ..table._column import NAT, Column
from ..table._units import counts_on_host
from ..table._zones import in_utc

_SCALARS = {
    "datetime": (datetime.datetime, np.datetime64),
    "timedelta": (datetime.timedelta, np.timedelta64),
}


def listed_counts(column: Column, listed: Any) -> np.ndarray:
    """The listed times that the unit of a column represents, as counts; NaT for a missing one.

    A time past the range of the unit equals no row, so that it is left out.
    """
    if not hasattr(listed, "dtype") or listed.dtype == np.dtype(object):
        listed = list(listed)
        if any(value is pd.NaT for value in listed) and _are_null(listed):
            return np.array([NAT])
    keys = pd.Index(listed)
    if keys.dtype != object:
        return _counts(keys, column)
    # Also times that have no common unit.
    pieces = [
        np.array([NAT]) if key is pd.NaT else _counts(pd.Index([key]), column)
        for key in keys
        if key is pd.NaT or isinstance(key, _SCALARS[column.kind])
    ]
    return np.concatenate(pieces) if pieces else np.empty(0, np.int64)


def _counts(keys: pd.Index, column: Column) -> np.ndarray:
    letter = "M" if column.kind == "datetime" else "m"
    has_zone = isinstance(keys.dtype, pd.DatetimeTZDtype)
    if keys.dtype.kind != letter or has_zone != (column.type.zone is not None):
        return np.empty(0, np.int64)
    times = counts_on_host(in_utc(keys), column.type.unit or "ns")
    return times.counts[times.is_exact]


def _are_null(listed: list[object]) -> bool:
    return all(pd.api.types.is_scalar(value) and pd.isna(value) for value in listed)
