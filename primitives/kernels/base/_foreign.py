# SPDX-License-Identifier: Apache-2.0
"""Typed calls of the C++ kernels, inside and outside `shard_map`."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ....shardings._compat import as_varying, result_type_of, varying_axes
from ...contract._typing import Array
from ._batches import over_batches

ResultShape = tuple[tuple[int, ...], Any]


def call(
    target: str, arrays: Sequence[Array], results: Sequence[ResultShape], **attributes: np.generic
) -> tuple[Array, ...]:
    """Calls a kernel on one row of a batch; `vmap` adds leading axes to every buffer.

    Args:
        target: the registered name of the kernel.
        arrays: the arguments, each with a leading batch axis of length one.
        results: shape and dtype of each result, without the batch axis.
        attributes: NumPy scalars; the kernel checks their types.

    Returns:
        The results, which vary over the mesh axes of all arguments.
    """
    axes = varying_axes(*arrays)

    def function(*arrays: Array) -> tuple[Array, ...]:
        types = [result_type_of((1, *shape), dtype, axes) for shape, dtype in results]
        kernel = jax.ffi.ffi_call(target, types, vmap_method="broadcast_all")
        return tuple(kernel(*arrays, **attributes))

    outputs = over_batches(function, as_varying(tuple(arrays), axes))
    return tuple(output[0] for output in outputs)


def word_attribute(bits: int) -> np.int64:
    """Encodes a word as an attribute: JAX cannot pass unsigned ones of 2**63 or more."""
    return np.uint64(bits).view(np.int64)


def is_words(leaf: Array) -> bool:
    """Whether kernels can move the rows of an array: single numbers of at most 8 bytes."""
    return leaf.ndim == 1 and leaf.dtype.itemsize <= 8


def as_words(leaf: Array) -> Array:
    """Casts rows to words for kernels; `of_words` is the inverse."""
    # An XLA loop on CPU with a bfloat16 result rewrites NaNs.
    is_bfloat16 = leaf.dtype == jnp.bfloat16
    return jax.lax.bitcast_convert_type(leaf, jnp.uint16) if is_bfloat16 else leaf


def of_words(words: Array, dtype: Any) -> Array:
    """Inverts `as_words`."""
    return words if words.dtype == dtype else jax.lax.bitcast_convert_type(words, dtype)


def in_groups(
    move: Callable[..., Sequence[Array]],
    columns: Sequence[Array],
    *rest: Any,
    row_bytes: int,
) -> tuple[Array, ...]:
    """Calls a kernel with groups of columns, and returns one result for each column.

    All results of a call vary over the same mesh axes, so the columns of a group do, too.

    Args:
        move: given a group of columns and the rest, returns a result for each column.
        columns: the columns.
        rest: the other arguments.
        row_bytes: most bytes of a row that one call takes.
    """
    groups: dict[tuple[frozenset[str], int], list[int]] = {}
    filled: dict[frozenset[str], int] = {}
    for place, column in enumerate(columns):
        axes, width = varying_axes(column), column.dtype.itemsize
        begin = filled.get(axes, 0)
        if begin // row_bytes != (begin + width - 1) // row_bytes:
            begin += -begin % row_bytes
        filled[axes] = begin + width
        groups.setdefault((axes, begin // row_bytes), []).append(place)
    results: dict[int, Array] = {}
    for places in groups.values():
        results |= zip(places, move([columns[place] for place in places], *rest), strict=True)
    return tuple(results[place] for place in range(len(columns)))
