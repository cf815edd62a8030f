# SPDX-License-Identifier: Apache-2.0
"""Sparse matrices by rows: products with dense ones, forward and backward."""

import functools
from typing import Any

import jax.numpy as jnp

from ..contract._arguments import as_array, as_rows, num_rows_of, type_of
from ..contract._typing import Array, ArrayLike, Integer, Shaped
from ..tiers._tiered import tiered
from ._gather_rows import gather_rows
from ._ragged import Ragged, offsets_of
from ._segment_reduce import segment_sum
from ._segment_rows import SegmentIds, as_segment_ids, rows_in_segments
from ._segmented_sort import segmented_sort
from ._segments import place_segment_ids


def csr_from_coo(
    row_ids: Integer[ArrayLike, " entries"],
    column_ids: Integer[ArrayLike, " entries"],
    num_rows: int,
    *,
    values: Any = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Ragged:
    """Orders the entries of a sparse matrix, or the edges of a graph, by row and then by column.

    Args:
        row_ids: row of each entry, integers of shape `(entries,)`, in any order. Entries with an id
            outside `[0, num_rows)` are dropped.
        column_ids: column of each entry, integers of the same shape.
        num_rows: the number of rows. Static.
        values: a pytree of arrays with leading axis `entries`; none by default.
        num_valid: number of valid entries, at the front; all by default.

    Returns:
        `Ragged` of `(column_ids, values)`, one segment for each row; its `offsets` are the row
        pointers. Entries of one row and column stay apart, in order.

    Raises:
        TypeError: ids that are not integers, or `num_rows` is traced.
        ValueError: leading axes differ, or `num_rows` is less than one.

    Cost:
        That of `segmented_sort`. No communication.

    Guarantees:
        Stable; deterministic; differentiable in `values`.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> csr = local.csr_from_coo(jnp.array([2, 0, 2]), jnp.array([1, 1, 0]), 3)
        >>> csr.offsets.tolist(), csr.values[0].tolist()
        ([0, 1, 1, 3], [1, 0, 1])
    """
    caller = "csr_from_coo"
    columns = as_array(column_ids, caller, "column_ids")
    if not jnp.issubdtype(columns.dtype, jnp.integer) or columns.ndim != 1:
        raise TypeError(
            f"{caller}: column_ids must be one-dimensional integers, got {type_of(columns)}."
        )
    names = ("row_ids", "num_rows")
    segments = as_segment_ids(row_ids, num_rows, columns.shape[0], num_valid, caller, names)
    values = as_rows(values, columns.shape[0], caller)
    return _csr(segments.ids, columns, values, segments.num_segments)


def spmm(csr: Ragged, dense: Shaped[ArrayLike, "columns ..."]) -> Shaped[Array, "rows ..."]:
    """Multiplies a sparse matrix by a dense one; the sum over neighbours of a graph.

    Args:
        csr: the sparse matrix, of `csr_from_coo`, with one array of numbers as values, or with None
            for ones.
        dense: the dense matrix, or any array whose leading axis are the columns of `csr`. A column
            outside it counts as zero.

    Returns:
        For each row the sum of its entries times the rows of `dense`.

    Raises:
        TypeError: an array that is not one of numbers, or `csr` is no sparse matrix.
        ValueError: `values` do not have one number for each entry.

    Cost:
        A gather of `entries` rows of `dense`, and `segment_sum`. No communication.

    Guarantees:
        Deterministic; differentiable in the values and in `dense`.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> entries = jnp.array([0, 1, 1]), jnp.array([1, 0, 1])
        >>> csr = local.csr_from_coo(*entries, 2, values=jnp.array([3.0, 4.0, 5.0]))
        >>> local.spmm(csr, jnp.array([[1.0, 2.0], [10.0, 20.0]])).tolist()
        [[30.0, 60.0], [54.0, 108.0]]
    """
    caller = "spmm"
    dense = as_array(dense, caller, "dense")
    num_rows_of(dense, caller, "dense")
    return _spmm(csr, dense, _as_entries(csr, caller))


def sddmm(
    csr: Ragged, left: Shaped[ArrayLike, "rows width"], right: Shaped[ArrayLike, "columns width"]
) -> Ragged:
    """Computes the entries of `left @ right.T` where a sparse matrix has one; scores of edges.

    Args:
        csr: the sparse matrix, of `csr_from_coo`; its values are not read.
        left: a row for each row of `csr`.
        right: a row for each column of `csr`. One outside it counts as zero.

    Returns:
        `csr` with the products as values, zero in padding.

    Raises:
        TypeError: an array that is not one of numbers, or `csr` is no sparse matrix.
        ValueError: `left` and `right` do not have two dimensions and the same width, or `left` not
            a row for each of `csr`.

    Cost:
        Two gathers of `entries` rows, and their product. No communication.

    Guarantees:
        Deterministic; differentiable in `left` and `right`.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> csr = local.csr_from_coo(jnp.array([0, 1]), jnp.array([1, 0]), 2)
        >>> x = jnp.array([[1.0, 2.0], [3.0, 4.0]])
        >>> local.sddmm(csr, x, 10 * x).values[1].tolist()
        [110.0, 110.0]
    """
    caller = "sddmm"
    left, right = as_array(left, caller, "left"), as_array(right, caller, "right")
    if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[1]:
        raise ValueError(
            f"{caller}: left and right must have two dimensions and the same width, got "
            f"{type_of(left)} and {type_of(right)}."
        )
    _check(csr, caller)
    if left.shape[0] != csr.num_segments:
        raise ValueError(
            f"{caller}: left must have a row for each of the {csr.num_segments} rows of csr, got "
            f"{type_of(left)}."
        )
    return _sddmm(csr, left, right)


def _check(csr: Any, caller: str) -> None:
    is_pair = isinstance(csr, Ragged) and isinstance(csr.values, tuple) and len(csr.values) == 2
    if not is_pair:
        raise TypeError(
            f"{caller}: csr must be a Ragged of (column_ids, values), got {type(csr).__name__} of "
            "another form. Call csr_from_coo."
        )


def _as_entries(csr: Ragged, caller: str) -> Array | None:
    _check(csr, caller)
    columns, values = csr.values
    if values is None:
        return None
    values = as_array(values, caller, "the values of csr")
    if values.shape != columns.shape:
        raise ValueError(
            f"{caller}: csr must have one number for each of its {columns.shape[0]} entries, got "
            f"{type_of(values)}."
        )
    return values


@functools.partial(tiered, static_argnums=3)
def _csr(row_ids: Array, columns: Array, values: Any, num_rows: int) -> Ragged:
    # Entries of no row come last.
    rows, _ = SegmentIds(row_ids, num_rows).key
    columns, (values,) = segmented_sort(columns, rows, num_segments=num_rows + 1, values=(values,))
    return Ragged((columns, values), offsets_of(rows_in_segments(row_ids, num_rows)))


@tiered
def _spmm(csr: Ragged, dense: Array, entries: Array | None) -> Array:
    rows, columns = _places(csr, dense.shape[0])
    taken = gather_rows(dense, columns)
    if entries is not None:
        taken *= entries.reshape(entries.shape[0], *(1,) * (dense.ndim - 1))
    return segment_sum(taken, rows, csr.num_segments)


@tiered
def _sddmm(csr: Ragged, left: Array, right: Array) -> Ragged:
    rows, columns = _places(csr, right.shape[0])
    products = gather_rows(left, rows) * gather_rows(right, columns)
    # A sum of narrow integers would be of another dtype.
    products = jnp.sum(products, axis=1, dtype=products.dtype)
    return csr.with_values((csr.values[0], products))


def _places(csr: Ragged, num_columns: int) -> tuple[Array, Array]:
    """The row and the column of each entry, -1 in padding, whose NaNs would reach derivatives."""
    rows = csr.segment_ids
    columns = place_segment_ids(csr.values[0], num_columns, None, is_exact=False)
    return rows, jnp.where(rows < 0, rows, columns)
