# SPDX-License-Identifier: Apache-2.0
"""One result for each run of adjacent rows on CUDA: a scan that writes the last row of a run."""

import jax.numpy as jnp
import numpy as np

from ...contract._scan_operators import NAMED_OPERATORS, NamedOperator
from ...contract._typing import Array
from ..base._cuda import call_on_cuda
from ._segmented_scan import KERNEL_DTYPES


def can_reduce_runs_on_cuda(rows: Array) -> bool:
    """Whether the kernel supports rows of this dtype and shape."""
    return rows.ndim == 1 and rows.shape[0] > 0 and rows.dtype.name in KERNEL_DTYPES


def reduce_runs_on_cuda(
    op: NamedOperator, rows: Array, is_head: Array, num_valid: Array, num_segments: int
) -> Array:
    """Combines the rows of each run, as a segmented scan does; arbitrary past the last run.

    Args:
        op: the operator.
        rows: one number for each row.
        is_head: flags the first row of each run.
        num_valid: number of valid rows, at the front.
        num_segments: number of results; further runs are left out.
    """
    (reduced,) = call_on_cuda(
        "reduce_runs",
        (rows[None], is_head[None], jnp.asarray(num_valid, jnp.int32)[None]),
        (((num_segments,), rows.dtype),),
        (rows.shape[0], rows.dtype.itemsize),
        op=np.int32(NAMED_OPERATORS.index(op)),
    )
    return reduced
