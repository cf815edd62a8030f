# SPDX-License-Identifier: Apache-2.0
"""The range check of sums of timedeltas and decimals, which are int64."""

import functools

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ... import primitives
from ...primitives.staging import tiered
from ._column import NAT, Array, Column
from ._layout import Layout
from ._table import Count, is_row
from ._to_host import host_array
from ._tracing import at_once, is_traced

# Counts of 64 bits are summed in two halves.
_LOW_BITS = 32


def check_time_sums(
    column: Column,
    num_rows: Count,
    layout: Layout,
    segment_ids: Array | None = None,
    num_segments: int = 1,
) -> None:
    """Raises if a sum of timedeltas, or of decimals, exceeds the range of int64.

    Sums the upper and lower halves of the values, which is exact. Does nothing inside `jit`, or
    for other kinds of columns.

    With `segment_ids` it checks one sum per segment; negative ids are ignored.
    """
    kinds = ("timedelta", "decimal")
    if column.kind not in kinds or is_traced(column.data, num_rows, segment_ids):
        return
    sums = at_once(_half_sums, column.data, num_rows, segment_ids, num_segments, layout)
    upper, lower = map(host_array, sums)
    upper, lower = upper + (lower >> _LOW_BITS), lower & (2**_LOW_BITS - 1)
    # The least integer encodes NaT.
    is_nat = (upper == -(2**31)) & (lower == 0)
    if np.any((upper < -(2**31)) | (upper >= 2**31) | is_nat):
        if column.kind == "decimal":
            raise OverflowError(
                f"sum: a sum of {column.dtype_name} exceeds 64 bits, in which decimals are held. "
                "Cast the column with astype('float64')."
            )
        raise pd.errors.OutOfBoundsTimedelta(
            f"overflow in timedelta operation: a sum of {column.dtype_name} exceeds the range of "
            "int64. Convert to a coarser unit first, with astype."
        )


@functools.partial(tiered, static_argnums=(3, 4))
def _half_sums(
    data: Array, num_rows: Count, segment_ids: Array | None, num_segments: int, layout: Layout
) -> tuple[Array, Array]:
    is_present = is_row(data.shape[0], num_rows, layout) & (data != NAT)
    data = jnp.where(is_present, data, np.int64(0))
    halves = data >> np.int64(_LOW_BITS), data & np.int64(2**_LOW_BITS - 1)
    if segment_ids is None:
        return primitives.reduce(halves, "sum", **layout.on_mesh).values
    return primitives.segment_sum(halves, segment_ids, num_segments, **layout.on_mesh)
