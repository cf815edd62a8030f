# SPDX-License-Identifier: Apache-2.0
"""The pandas-compatible layer over `jaxframes.primitives`.

`import jaxframes.frame as pd` runs programs that are written for pandas: `DataFrame` and `Series`
are `JaxFrame` and `JaxSeries`, and scalars, indexes, dtypes and options are those of pandas.
"""

from typing import Any

import pandas as pd

from . import _serialization as _serialization
from ._constructors import from_arrow, from_jax, from_pandas, json_normalize
from ._frame import JaxFrame, JaxSeries
from ._functions import (
    date_range,
    factorize,
    isna,
    isnull,
    melt,
    notna,
    notnull,
    pivot,
    pivot_table,
    unique,
)
from .accessors._cat import CategoryMethods
from .accessors._dt import DatetimeMethods, TimedeltaMethods
from .accessors._list import ListMethods
from .accessors._list_str import ListStringMethods
from .accessors._str import StringMethods
from .accessors._struct import StructMethods
from .accessors._to_datetime import to_datetime
from .accessors._to_timedelta import to_timedelta
from .combining._concat import concat
from .combining._merge import merge
from .combining._merge_asof import merge_asof
from .combining._merge_ordered import merge_ordered
from .groupby._groupby import FrameGroupBy, SeriesGroupBy
from .groupby._user_functions import SegmentFunction, segment_function
from .io._csv import read_csv, read_table
from .io._formats_of_pandas import READERS, reader
from .io._other_formats import read_feather, read_json, read_orc
from .io._parquet import read_parquet
from .mapping._cut import cut, qcut
from .mapping._from_dummies import from_dummies
from .mapping._get_dummies import get_dummies
from .mapping._to_numeric import to_numeric
from .plan._eval import eval
from .plan._expression import Expression, col
from .plan._lazy_groups import LazyGroupBy, LazyWindows
from .reshaping._lreshape import lreshape
from .reshaping._pivot_table import crosstab
from .reshaping._resampler import Resampler
from .reshaping._wide_to_long import wide_to_long
from .stream._lazy_frame import LazyFrame
from .stream._lazy_series import LazySeries, LazyValue
from .stream._scans import scan_arrow, scan_csv, scan_parquet
from .stream._training import Batches
from .table._unsupported import lacking
from .window._ewm import ExponentialWindows
from .window._rolling import Windows

__all__ = [
    "Batches",
    "CategoryMethods",
    "DatetimeMethods",
    "ExponentialWindows",
    "Expression",
    "FrameGroupBy",
    "JaxFrame",
    "JaxSeries",
    "LazyFrame",
    "LazyGroupBy",
    "LazySeries",
    "LazyValue",
    "LazyWindows",
    "ListMethods",
    "ListStringMethods",
    "Resampler",
    "SegmentFunction",
    "SeriesGroupBy",
    "StringMethods",
    "StructMethods",
    "TimedeltaMethods",
    "Windows",
    "col",
    "concat",
    "crosstab",
    "cut",
    "date_range",
    "eval",
    "factorize",
    "from_arrow",
    "from_dummies",
    "from_jax",
    "from_pandas",
    "get_dummies",
    "isna",
    "isnull",
    "json_normalize",
    "lreshape",
    "melt",
    "merge",
    "merge_asof",
    "merge_ordered",
    "notna",
    "notnull",
    "pivot",
    "pivot_table",
    "qcut",
    "read_csv",
    "read_feather",
    "read_json",
    "read_orc",
    "read_parquet",
    "read_table",
    "scan_arrow",
    "scan_csv",
    "scan_parquet",
    "segment_function",
    "to_datetime",
    "to_numeric",
    "to_timedelta",
    "unique",
    "wide_to_long",
]

DataFrame = JaxFrame
Series = JaxSeries

# Names of pandas that are the same here: they are of the host.
_TEXT = """
NA NaT Timestamp Timedelta Period Interval DateOffset offsets array arrays
Categorical Grouper NamedAgg IndexSlice Index RangeIndex MultiIndex CategoricalIndex
DatetimeIndex TimedeltaIndex PeriodIndex IntervalIndex
bdate_range timedelta_range period_range interval_range infer_freq
ArrowDtype BooleanDtype CategoricalDtype DatetimeTZDtype IntervalDtype PeriodDtype StringDtype
Int8Dtype Int16Dtype Int32Dtype Int64Dtype UInt8Dtype UInt16Dtype UInt32Dtype UInt64Dtype
Float32Dtype Float64Dtype
options set_option get_option reset_option option_context describe_option
set_eng_float_format show_versions api errors testing
ExcelFile ExcelWriter HDFStore
"""
_OF_PANDAS = frozenset(_TEXT.split())


def __getattr__(name: str) -> Any:
    if name in _OF_PANDAS:
        return getattr(pd, name)
    if name in READERS:
        return reader(name)
    raise lacking("frame", name) or AttributeError(f"module {__name__!r} has no attribute {name!r}")
