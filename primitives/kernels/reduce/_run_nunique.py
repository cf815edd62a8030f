# SPDX-License-Identifier: Apache-2.0
"""Distinct values of segments whose rows are neighbours and few: XLA and the C++ kernel on CPU.

XLA would compare each row with the seven before it by seven shifted copies, and count the flags of
all rows in another pass.
"""

import jax
import jax.numpy as jnp
import numpy as np

from ...contract._typing import Array
from ..base._foreign import call
from ..base._library import is_native

MOST_RUN_ROWS = 8  # kMostRunRows in run_nunique.h


def can_count_in_runs(column: Array) -> bool:
    """Whether the kernel supports a column of keys."""
    return column.dtype.itemsize <= 8 and column.shape[0] > 0 and is_native()


def native_run_nunique(ids: Array, column: Array, num_segments: int) -> tuple[Array, Array]:
    """The number of distinct keys of each segment, int32, and whether the counts are meaningful.

    They are if the ids ascend, those of no segment last, and no segment has more rows than
    `MOST_RUN_ROWS`. Ids are int32; those of no segment are negative or at least `num_segments`, and
    ascend as unsigned numbers. No key is NaN in a segment.
    """
    counts, are_short = call(
        "jaxframes_run_nunique_v1",
        (ids[None], _as_words(column)[None]),
        (((num_segments,), jnp.int32), ((), jnp.int32)),
    )
    return counts, are_short != 0


def _as_words(column: Array) -> Array:
    """Keys as integers of 32 or 64 bits that are equal for equal keys."""
    if not jnp.issubdtype(column.dtype, jnp.floating):
        return column.astype(jnp.int32) if column.dtype.itemsize < 4 else column
    if column.dtype.itemsize < 4:
        column = column.astype(jnp.float32)
    # -0.0 equals 0.0.
    column = jnp.where(column == 0, column.dtype.type(0), column)
    return jax.lax.bitcast_convert_type(column, np.dtype(f"uint{8 * column.dtype.itemsize}"))
