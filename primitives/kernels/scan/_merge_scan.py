# SPDX-License-Identifier: Apache-2.0
"""Scans by merges of numbers that the C++ kernel on CPU knows, in the order of the rows."""

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from ....shardings._compat import like_varying
from ...contract._typing import Array
from ..base._foreign import call
from ..base._library import is_native

# The numbers of `merge_scan_ffi.cc`.
RECURRENCE, MOMENTS, PAIR_MOMENTS = range(3)
_DTYPES = ("float32", "float64")
_Merge = TypeVar("_Merge", bound=Callable[..., Any])
_numbers: dict[Callable[..., Any], int] = {}


def known_to_kernel(number: int) -> Callable[[_Merge], _Merge]:
    """A decorator of merges that the kernel computes, operation by operation."""

    def known(merge: _Merge) -> _Merge:
        _numbers[merge] = number
        return merge

    return known


def can_scan_natively(merge: Callable[..., Any], rows: Any) -> bool:
    """Whether the kernel knows a merge, and supports rows."""
    leaves = jax.tree.leaves(rows)
    dtypes = {leaf.dtype for leaf in leaves}
    are_alike = len(dtypes) == 1 and all(map(is_scanned_natively, dtypes))
    return merge in _numbers and are_alike and leaves[0].size > 0


def is_scanned_natively(dtype: Any) -> bool:
    """Whether the kernel scans numbers of a dtype."""
    return np.dtype(dtype).name in _DTYPES and is_native()


def scan_merges(merge: Callable[..., Any], rows: Any, heads: Array | None, reverse: bool) -> Any:
    """`scan_by_function` of a merge that the kernel knows."""
    leaves, tree = jax.tree.flatten(rows)
    return jax.tree.unflatten(tree, scan_columns(_numbers[merge], leaves, heads, reverse, leaves))


def scan_columns(
    number: int,
    columns: Sequence[Array],
    heads: Array | None,
    reverse: bool,
    results: Sequence[Array],
) -> list[Array]:
    """The state after each row of columns of one shape, by the merge of a number.

    Args:
        number: of the merge.
        columns: arrays of shape `(rows, ...)`, each with a number of the row.
        heads: flags of the rows that nothing comes before, or None.
        reverse: whether the scan goes from the last row to the first.
        results: as many arrays as a state has numbers; they have the shape and dtype of columns.
    """
    num_rows, *others = columns[0].shape
    width = math.prod(others)
    lines = [column.reshape(num_rows, width).T[None] for column in columns]
    no_heads = like_varying(jnp.zeros((0,), jnp.bool_), columns[0])
    scanned = call(
        "jaxframes_merge_scan_v1",
        ((no_heads if heads is None else heads)[None, None], *lines),
        [((width, num_rows), column.dtype) for column in results],
        merge=np.int32(number),
        reverse=np.bool_(reverse),
    )
    return [column.T.reshape(num_rows, *others) for column in scanned]
