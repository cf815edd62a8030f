# SPDX-License-Identifier: Apache-2.0
"""The pandas-compatible layer over `jaxframes.primitives`."""

from . import _export as _export
from ._binning import cut, qcut
from ._categories import CategoryMethods
from ._concat import concat
from ._csv import read_csv
from ._dummies import get_dummies
from ._frame import JaxFrame, JaxSeries
from ._groupby import FrameGroupBy, SeriesGroupBy
from ._interchange import from_arrow, from_jax, from_pandas
from ._json import json_normalize
from ._merge import merge
from ._merge_asof import merge_asof
from ._parquet import read_parquet
from ._rolling import Windows
from ._segment_functions import SegmentFunction, segment_function
from ._strings import StringMethods
from ._times import DatetimeMethods, TimedeltaMethods
from ._to_datetime import to_datetime

__all__ = [
    "CategoryMethods",
    "DatetimeMethods",
    "FrameGroupBy",
    "JaxFrame",
    "JaxSeries",
    "SegmentFunction",
    "SeriesGroupBy",
    "StringMethods",
    "TimedeltaMethods",
    "Windows",
    "concat",
    "cut",
    "from_arrow",
    "from_jax",
    "from_pandas",
    "get_dummies",
    "json_normalize",
    "merge",
    "merge_asof",
    "qcut",
    "read_csv",
    "read_parquet",
    "segment_function",
    "to_datetime",
]
