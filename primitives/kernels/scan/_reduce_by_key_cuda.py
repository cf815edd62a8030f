# SPDX-License-Identifier: Apache-2.0
"""Runs of adjacent rows on CUDA, in one pass: their first rows, their reductions and their number.

A scan counts the heads of the runs and combines the rows since the last one. A head writes its row
to the position of its run, the last row of a run writes what it has combined, and each row the
number of its run.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import jax.numpy as jnp
import numpy as np

from ....shardings._compat import varying_axes
from ...contract._scan_operators import NAMED_OPERATORS, NamedOperator
from ...contract._typing import Array
from ..base._cuda import call_on_cuda
from ..base._foreign import as_words, is_words, of_words
from ..move._log_shift import resized
from ._segmented_scan import KERNEL_DTYPES

_MOST_COLUMNS = 8  # RunColumns::kMost in cuda_reduce_by_key.h


class ReducedByKey(NamedTuple):
    """One row for each run, padded with zeros.

    Attributes:
        first_rows: the first row of each run, of each column.
        reduced: the combined rows of each run, or its length, int32; None unless requested.
        count: the number of runs, true even past the capacity.
        run_ids: the run of each row, int32, -1 before the first run and in padding; None unless
            requested.
    """

    first_rows: tuple[Array, ...]
    reduced: Array | None
    count: Array
    run_ids: Array | None = None


def can_reduce_on_cuda(rows: Array) -> bool:
    """Whether the kernel combines rows of this dtype and shape."""
    return rows.ndim == 1 and rows.shape[0] > 0 and rows.dtype.name in KERNEL_DTYPES


def can_keep_on_cuda(columns: Sequence[Array], like: Array) -> bool:
    """Whether one call of the kernel keeps the first rows of columns.

    All results of a call vary over the same mesh axes: those of `like`.
    """
    axes = varying_axes(like)
    # Heads of no rows would say that the first column is the key.
    is_few = 0 < len(columns) <= _MOST_COLUMNS and like.shape[0] > 0
    return is_few and all(is_words(leaf) and varying_axes(leaf) == axes for leaf in columns)


def reduce_by_key_on_cuda(
    columns: Sequence[Array],
    is_head: Array | None,
    num_valid: Array,
    capacity: int,
    reduction: tuple[NamedOperator, Array] | Literal["length"] | None = None,
    *,
    compared: Array | None = None,
    with_run_ids: bool = False,
    row_ids: Array | None = None,
) -> ReducedByKey:
    """Keeps the first row of each run, and combines its rows as a segmented scan does.

    Args:
        columns: arrays that satisfy `is_words`.
        is_head: flags the first row of each run; without it a run begins where the words of
            `compared` differ from those before.
        num_valid: number of valid rows, at the front.
        capacity: number of results; further runs are left out.
        reduction: the operator, and one number for each row; or "length", to count the rows.
        compared: words of 4 or 8 bytes; by default the first column.
        with_run_ids: also number the runs of the rows.
        row_ids: a permutation, int32; the run of row `i` is returned at position `row_ids[i]`.
    """
    columns = tuple(columns) if compared is None else (compared, *columns)
    num_rows = (columns[0] if is_head is None else is_head).shape[0]
    heads = jnp.zeros((0,), jnp.bool_) if is_head is None else is_head
    is_reduced = reduction is not None
    op: NamedOperator = "add"
    # Without numbers the kernel counts rows.
    rows = jnp.zeros((0,), jnp.int32)
    if isinstance(reduction, tuple):
        op, rows = reduction
    kept = min(capacity, num_rows)
    words = tuple(map(as_words, columns))
    # Of words that are only compared no rows are kept.
    lengths = [0 if at == 0 and compared is not None else kept for at in range(len(words))]
    num_valid = jnp.asarray(num_valid, jnp.int32)
    order = jnp.zeros((0,), jnp.int32) if row_ids is None else row_ids
    reduced, count, run_ids, *first_rows = call_on_cuda(
        "reduce_by_key",
        tuple(array[None] for array in (rows, heads, num_valid, order, *words)),
        (
            ((kept if is_reduced else 0,), rows.dtype),
            ((), jnp.int32),
            ((num_rows if with_run_ids else 0,), jnp.int32),
        ),
        (num_rows, rows.dtype.itemsize if is_reduced else 0),
        more_results=[((length,), word.dtype) for length, word in zip(lengths, words, strict=True)],
        op=np.int32(NAMED_OPERATORS.index(op)),
    )
    first_rows = list(map(of_words, first_rows, [column.dtype for column in columns]))
    return ReducedByKey(
        tuple(resized(column, capacity) for column in first_rows[compared is not None :]),
        resized(reduced, capacity) if is_reduced else None,
        count,
        run_ids if with_run_ids else None,
    )
