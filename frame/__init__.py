# SPDX-License-Identifier: Apache-2.0
"""The pandas-compatible layer over `jaxframes.primitives`."""

from ..primitives import CapacityError
from . import _export as _export
from ._concat import concat
from ._csv import read_csv
from ._frame import JaxFrame, JaxSeries
from ._interchange import from_arrow, from_jax, from_pandas
from ._merge import merge
from ._merge_asof import merge_asof
from ._parquet import read_parquet
from ._segment_functions import SegmentFunction, segment_function

__all__ = [
    "CapacityError",
    "JaxFrame",
    "JaxSeries",
    "SegmentFunction",
    "concat",
    "from_arrow",
    "from_jax",
    "from_pandas",
    "merge",
    "merge_asof",
    "read_csv",
    "read_parquet",
    "segment_function",
]
