# SPDX-License-Identifier: Apache-2.0
"""Reductions of runs: segments of adjacent rows, numbered in their order from zero.

On TPU a scan reduces them, and a shift moves the last row of each run to its place in the table:
no gather, no scatter. A kernel on CUDA does the same in one pass. Floats are added in the order of
the scan. Elsewhere runs are reduced like other segments, by a function of the rows and their
segment ids.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...shardings._compat import like_varying
from ..contract._moved import with_tangents
from ..contract._platform import by_platform
from ..contract._scan_operators import NamedOperator, Scan
from ..contract._typing import Array
from ..kernels.base._cuda import on_cuda
from ..kernels.base._foreign import is_words
from ..kernels.move._compact import select_words
from ..kernels.move._log_shift import move_to_back, resized
from ..kernels.move._run_ends import last_of_runs
from ..kernels.scan._reduce_by_key_cuda import can_reduce_on_cuda, reduce_by_key_on_cuda
from ..kernels.scan._segmented_scan import scan_rows

# Given rows, or a table, and segment ids. It must not capture arrays.
ByIds = Callable[[Array, Array], Array]


class Runs(NamedTuple):
    """Adjacent segments.

    Attributes:
        ids: the segment id of each row.
        is_head: flags the first row of each run; False in padding.
        num_valid: number of valid rows, at the front.
    """

    ids: Array
    is_head: Array
    num_valid: Array

    @property
    def is_last(self) -> Array:
        """Flags the last row of each run."""
        return last_of_runs(self.is_head, self.num_valid)

    def ends(self, rows: Array, num_segments: int, *, is_last: bool) -> Array:
        """The first or the last row of each run; zeros past the last run."""
        flags = self.is_last if is_last else self.is_head
        (selected,), _ = select_words(flags, (rows,), num_segments, self.num_valid)
        return selected


def reduce_runs(
    op: NamedOperator, rows: Array, runs: Runs, num_segments: int, otherwise: ByIds
) -> Array:
    """Combines the rows of each run; arbitrary for segments past the last run.

    `otherwise` is linear in rows that have derivatives.
    """

    def by_scan(rows: Array, runs: Runs) -> Array:
        return runs.ends(_scan_runs(op, rows, runs), num_segments, is_last=True)

    def by_ids(rows: Array, runs: Runs) -> Array:
        return otherwise(rows, runs.ids)

    def by_kernel(rows: Array, runs: Runs) -> Array:
        found = reduce_by_key_on_cuda((), runs.is_head, runs.num_valid, num_segments, (op, rows))
        assert found.reduced is not None
        return found.reduced

    if not is_words(rows) or jnp.issubdtype(rows.dtype, jnp.complexfloating):
        return otherwise(rows, runs.ids)
    plain = jax.lax.stop_gradient(rows)
    cuda = by_kernel if can_reduce_on_cuda(rows) else by_ids
    reduced = _by_way(by_scan, by_ids, plain, runs, cuda=cuda)
    return with_tangents(otherwise, reduced, rows, runs.ids)


def run_lengths(runs: Runs, num_segments: int, otherwise: Callable[[Array], Array]) -> Array:
    """The number of rows of each run, int32."""

    def by_shifts(runs: Runs) -> Array:
        rows = jax.lax.iota(jnp.int32, runs.is_head.shape[0])
        ends = runs.ends(rows + 1, num_segments, is_last=True)
        before = jnp.concatenate([jnp.zeros_like(ends[:1]), ends[:-1]])
        return jnp.maximum(ends - before, 0)

    def by_kernel(runs: Runs) -> Array:
        found = reduce_by_key_on_cuda((), runs.is_head, runs.num_valid, num_segments, "length")
        assert found.reduced is not None
        return found.reduced

    cuda = by_kernel if num_segments else by_shifts
    return _by_way(by_shifts, lambda runs: otherwise(runs.ids), runs, cuda=cuda)


def end_of_runs(
    rows: Array, runs: Runs, num_segments: int, otherwise: ByIds, *, is_last: bool
) -> Array:
    """The first or the last row of each run, without derivatives."""

    def by_shifts(rows: Array, runs: Runs) -> Array:
        return runs.ends(rows, num_segments, is_last=is_last)

    def by_ids(rows: Array, runs: Runs) -> Array:
        return otherwise(rows, runs.ids)

    if not is_words(rows):
        return otherwise(rows, runs.ids)
    return _by_way(by_shifts, by_ids, rows, runs, cuda=by_shifts)


def rows_of_runs(table: Array, runs: Runs, otherwise: ByIds) -> Array:
    """The entry of a table for the run of each row."""
    num_rows = runs.is_head.shape[0]

    def by_shifts(table: Array, runs: Runs) -> Array:
        positions = jax.lax.iota(jnp.int32, num_rows)
        heads = runs.ends(positions, num_rows, is_last=False)
        is_run = positions < jnp.sum(runs.is_head, dtype=jnp.int32)
        distances = jnp.where(is_run, heads - positions, 0)
        words = resized(jax.lax.bitcast_convert_type(table, jnp.uint32), num_rows)
        (words,) = move_to_back((words,), distances)
        # The entry of a head is the largest of its run, because all others are zeros.
        words = jnp.where(runs.is_head, words, np.uint32(0))
        return jax.lax.bitcast_convert_type(_scan_runs("max", words, runs), table.dtype)

    def by_ids(table: Array, runs: Runs) -> Array:
        return otherwise(table, runs.ids)

    if table.ndim != 1 or table.dtype.itemsize != 4:
        return otherwise(table, runs.ids)
    plain = jax.lax.stop_gradient(table)
    rows = _by_way(by_shifts, by_ids, plain, runs)
    return with_tangents(otherwise, rows, table, runs.ids)


def _by_way(
    tpu: Callable[..., Array],
    elsewhere: Callable[..., Array],
    *args: Any,
    cuda: Callable[..., Array] | None = None,
) -> Array:
    """Chooses by platform; all ways vary over the mesh axes of all arguments.

    `cuda` is a way that calls kernels.
    """
    if args[-1].is_head.shape[0] == 0:
        return elsewhere(*args)

    def marked(way: Callable[..., Array]) -> Callable[..., Array]:
        return lambda *given: like_varying(way(*given), args)

    ways = {} if cuda is None else on_cuda(marked(cuda))
    return by_platform(*args, tpu=marked(tpu), default=marked(elsewhere), **ways)


def _scan_runs(op: NamedOperator, rows: Array, runs: Runs) -> Array:
    # XLA on TPU (libtpu 0.0.42) ends the process if it fuses the flags with what computes them.
    is_head = jax.lax.optimization_barrier(runs.is_head)
    return scan_rows(rows, is_head, runs.num_valid, Scan(op, False, False))
