# SPDX-License-Identifier: Apache-2.0
"""Runs of rows with equal keys, in sorted rows or in rows without sorting."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp

from ..contract._key_bits import OrderedWord, holds_whole_key, key_of_word, ordered_words
from ..contract._moved import with_tangents
from ..contract._platform import by_platform
from ..contract._scan_operators import NamedOperator
from ..contract._take import take_rows, take_rows_or_zeros
from ..contract._typing import Array
from ..kernels.base._cuda import on_cuda
from ..kernels.move._compact import count_flags, flagged_rows
from ..kernels.scan._reduce_by_key_cuda import (
    ReducedByKey,
    can_keep_on_cuda,
    reduce_by_key_on_cuda,
)
from ..kernels.sort._number_runs import number_runs
from ..kernels.sort._put_back import put_back, take_permuted
from ..kernels.sort._radix_sort import sort_columns
from ._compact import select_rows, with_selected_tangents


class KeyRuns(NamedTuple):
    """Rows with adjacent equal keys, and the start of each run.

    Attributes:
        columns: the key columns of the sorted rows.
        rows: other rows that were sorted with the keys.
        row_ids: the original position of each sorted row; None if rows were not sorted.
        is_head: flags the first row of each run; False in padding.
        segment_ids: the run of each row, counted from zero; -1 in padding.
        num_valid: number of valid rows, at the front.
    """

    columns: tuple[Array, ...]
    rows: Any
    row_ids: Array | None
    is_head: Array
    segment_ids: Array
    num_valid: Array

    def moved(self, rows: Any) -> Any:
        """Sorts rows like the keys."""
        if self.row_ids is None:
            return rows
        leaves, structure = jax.tree.flatten(rows)
        return structure.unflatten(take_permuted(self.row_ids, leaves))

    def first_rows(self, rows: Any, capacity: int, sorted_rows: Any = None) -> tuple[Any, Array]:
        """Takes the first row of each run; returns them and the number of runs.

        Args:
            rows: unsorted rows.
            capacity: number of rows of the result; those past the last run are zero.
            sorted_rows: the same rows, sorted like the keys, if they are at hand.
        """
        in_runs = rows if self.row_ids is None else sorted_rows
        leaves = jax.tree.leaves(in_runs)
        has_key_first = bool(leaves) and leaves[0] is self.exact_key

        def by_ids(rows: Any, in_runs: Any, runs: KeyRuns) -> tuple[Any, Array]:
            heads, num_runs = flagged_rows(runs.is_head, capacity, runs.num_valid)
            if runs.is_head.shape[0]:
                assert runs.row_ids is not None
                heads = take_rows(runs.row_ids, heads, is_unique=False)
            is_run = jax.lax.iota(jnp.int32, capacity) < num_runs
            return take_rows_or_zeros(rows, heads, is_run), num_runs

        def in_order(rows: Any, in_runs: Any, runs: KeyRuns) -> tuple[Any, Array]:
            moved = runs.moved(rows) if in_runs is None else in_runs
            return select_rows(moved, runs.is_head, capacity, runs.num_valid)

        def by_kernel(rows: Any, in_runs: Any, runs: KeyRuns) -> tuple[Any, Array]:
            columns, structure = jax.tree.flatten(in_runs)
            found = runs.by_kernel(columns, capacity, has_key_first)
            return structure.unflatten(found.first_rows), found.count

        runs = self._replace(columns=(), rows=None)
        ways: dict[str, Any] = {}
        if self.row_ids is not None:
            # Sorted rows are selected without row ids, which a sort on GPU may leave out.
            platforms = ("tpu",) if in_runs is None else ("tpu", "cuda", "rocm")
            ways = dict.fromkeys(platforms, in_order)
        if capacity and can_keep_on_cuda(leaves, self.is_head):
            ways |= on_cuda(by_kernel)
        elsewhere = in_order if self.row_ids is None else by_ids
        return by_platform(rows, in_runs, runs, default=elsewhere, **ways)

    @property
    def exact_key(self) -> Array | None:
        """The key in the order of the runs, if equal keys have equal bits."""
        if len(self.columns) != 1:
            return None
        (key,) = self.columns
        is_exact = jnp.issubdtype(key.dtype, jnp.integer) and key.dtype.itemsize >= 4
        return key if is_exact else None

    def by_kernel(
        self,
        columns: Sequence[Array],
        capacity: int,
        has_key_first: bool,
        reduction: tuple[NamedOperator, Array] | Literal["length"] | None = None,
    ) -> ReducedByKey:
        """The first rows of columns and a reduction, by one kernel on CUDA.

        Args:
            columns: rows in the order of the runs; see `can_keep_on_cuda`.
            capacity: number of rows of the result; those past the last run are zero.
            has_key_first: whether the first column is `exact_key`.
            reduction: see `reduce_by_key_on_cuda`; without derivatives.
        """
        plain = tuple(map(jax.lax.stop_gradient, columns))
        heads = None if has_key_first else self.is_head
        found = reduce_by_key_on_cuda(plain, heads, self.num_valid, capacity, reduction)
        # The heads are found only under differentiation.
        flags = count_flags(self.is_head, self.num_valid)
        first_rows = tuple(
            with_selected_tangents(kept, column, flags, capacity)
            for kept, column in zip(found.first_rows, columns, strict=True)
        )
        return found._replace(first_rows=first_rows)

    def lengths(self, capacity: int) -> Array:
        """The length of each run, int32, padded with zeros."""

        def by_heads(is_head: Array, num_valid: Array) -> Array:
            # One head more than requested ends the last run within the capacity.
            heads, num_runs = flagged_rows(is_head, capacity + 1, num_valid)
            is_run = jax.lax.iota(jnp.int32, capacity + 1) < num_runs
            return jnp.diff(jnp.where(is_run, heads, num_valid))

        def by_kernel(is_head: Array, num_valid: Array) -> Array:
            found = reduce_by_key_on_cuda((), is_head, num_valid, capacity, "length")
            assert found.reduced is not None
            return found.reduced

        kernel = on_cuda(by_kernel) if capacity and self.is_head.shape[0] else {}
        return by_platform(self.is_head, self.num_valid, default=by_heads, **kernel)

    def encoded(self, capacity: int) -> tuple[tuple[Array, ...], Array, Array]:
        """The key and the length of each run of rows without sorting, and the number of runs."""

        def apart(runs: KeyRuns) -> tuple[tuple[Array, ...], Array, Array]:
            keys, num_runs = runs.first_rows(runs.columns, capacity)
            return keys, runs.lengths(capacity), num_runs

        def by_kernel(runs: KeyRuns) -> tuple[tuple[Array, ...], Array, Array]:
            has_key_first = runs.exact_key is not None
            found = runs.by_kernel(runs.columns, capacity, has_key_first, "length")
            assert found.reduced is not None
            return found.first_rows, found.reduced, found.count

        can_keep = capacity and can_keep_on_cuda(self.columns, self.is_head)
        return by_platform(self, default=apart, **on_cuda(by_kernel) if can_keep else {})

    def of_rows(self, values: Array) -> Array:
        """Returns values of sorted rows to the original positions of the rows."""
        return values if self.row_ids is None else put_back(self.row_ids, (values,))[0]


def find_runs(
    columns: tuple[Array, ...],
    num_valid: Array,
    is_sorted: bool,
    rows: Any = (),
    *,
    with_ids: bool = True,
) -> KeyRuns:
    """Finds the runs of equal keys, after a sort unless the keys are sorted.

    Args:
        columns: the keys.
        num_valid: number of valid rows, at the front.
        is_sorted: whether the keys are sorted.
        rows: other rows, sorted with the keys, which costs less than to sort them later.
        with_ids: whether the row ids are read in any case, not only under differentiation.
    """
    words = ordered_words(columns, (False,) * len(columns))
    if is_sorted:
        return runs_of_words(words, None, num_valid, columns, rows)
    leaves, structure = jax.tree.flatten((columns, rows))
    plain = tuple(map(jax.lax.stop_gradient, leaves))
    if len(columns) == 1 and holds_whole_key(columns[0].dtype):
        # The sorted words are the sorted keys.
        (word,), row_ids, moved = sort_columns(
            words, num_valid, plain[1:], words="exact", with_ids=with_ids
        )
        moved = (key_of_word(word, columns[0].dtype), *moved)
        in_order = (words[0]._replace(word=word),)
    else:
        sorted_words, row_ids, moved = sort_columns(
            words, num_valid, plain, words="order", with_ids=with_ids
        )
        in_order = tuple(
            OrderedWord(word, 0, column.bits, is_whole=True)
            for word, column in zip(sorted_words, words, strict=True)
        )
    moved = structure.unflatten(moved)
    sorted_columns, sorted_rows = with_tangents(take_rows, moved, (columns, rows), row_ids)
    return runs_of_words(in_order, row_ids, num_valid, sorted_columns, sorted_rows)


def runs_of_words(
    words: tuple[OrderedWord, ...],
    row_ids: Array | None,
    num_valid: Array,
    columns: tuple[Array, ...] = (),
    rows: Any = (),
) -> KeyRuns:
    """The runs of equal words among rows without sorting."""
    is_valid = jax.lax.iota(jnp.int32, words[0].word.shape[0]) < num_valid
    is_head = jnp.zeros_like(is_valid)
    for column in words:
        ordered = column.ordered()
        is_first = ordered[:1] == ordered[:1]
        is_head |= jnp.concatenate([is_first, ordered[1:] != ordered[:-1]])
    is_head &= is_valid
    segment_ids = number_runs(is_head, num_valid)
    return KeyRuns(columns, rows, row_ids, is_head, segment_ids, num_valid)
