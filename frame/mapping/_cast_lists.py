# SPDX-License-Identifier: Apache-2.0
"""`astype` of lists and of Python objects to lists of Arrow."""

import pandas as pd
import pyarrow as pa

from ..table._column import Column
from ..table._from_host import column_from
from ..table._layout import Layout
from ..table._lists_on_host import is_list
from ..table._table import Count
from ..table._to_arrow import arrow_of
from ..table._to_host import to_host
from ..table._tracing import is_traced


def is_of_lists(dtype: object) -> bool:
    """Whether a dtype is one of lists."""
    return isinstance(dtype, pd.ArrowDtype) and is_list(dtype.pyarrow_dtype)


def cast_to_lists(column: Column, dtype: pd.ArrowDtype, num_rows: Count, layout: Layout) -> Column:
    """Converts lists, of the device or of Python, to a dtype of lists."""
    if column.kind not in ("list", "object"):
        raise TypeError(f"Cannot cast {column.dtype_name} to {dtype}. Cast a column of lists.")
    if is_traced(column, num_rows):
        raise NotImplementedError(f"astype: inside jit lists cannot become {dtype}. Cast before.")
    kind = dtype.pyarrow_dtype
    if column.kind == "list":
        lists = arrow_of(column, slice(0, int(num_rows)), None).cast(kind)
    else:
        lists = pa.array(to_host(column, int(num_rows)), kind, from_pandas=True)
    return column_from(pd.array(lists, dtype=dtype), column.capacity, layout, "astype")
