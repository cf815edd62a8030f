# SPDX-License-Identifier: Apache-2.0
"""Stable sort within segments."""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from ..contract._arguments import (
    as_array,
    as_directions,
    as_keys,
    as_num_valid,
    as_rows,
    as_static_int,
    type_of,
)
from ..contract._key_bits import as_bits
from ..contract._typing import Array, ArrayLike, Integer, Keys, PyTree
from ._radix_sort import radix_sort


def segmented_sort(
    keys: Keys,
    segment_ids: Integer[ArrayLike, " rows"],
    *,
    num_segments: int | None = None,
    values: PyTree | None = None,
    descending: bool | Sequence[bool] = False,
    bits: int | Sequence[int | None] | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Any:
    """Sorts the rows of each segment by their keys.

    The result is in the order of the segment ids, so rows with sorted ids stay within their
    segment.

    Args:
        keys: one array of shape `(rows,)`, or a tuple of them, most significant first.
        segment_ids: segment of each row, integers of shape `(rows,)`.
        num_segments: promises that ids are in `[0, num_segments)`, so that the sort compares fewer
            bits. Static.
        values: a pytree of arrays with leading axis `rows`, which move with their keys.
        descending: the direction within segments, or one for each key.
        bits: for integer keys, compare only this many of the lowest bits, as in `radix_sort`.
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        The sorted keys, an array or a tuple, like the argument; with values `(keys, values)`. The
        padding from `num_valid` on keeps its position.

    Raises:
        TypeError: a dtype that is not a key dtype, or `segment_ids` that are not integers.
        ValueError: arrays of different lengths.

    Cost:
        Work O(rows x (key, id and value bytes)) on CPU and GPU, for any number of segments.
        No communication.

    Guarantees:
        Stable; deterministic; differentiable in `values` and in float keys.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> keys, segment_ids = jnp.array([3, 1, 2, 9, 7]), jnp.array([0, 0, 0, 1, 1])
        >>> local.segmented_sort(keys, segment_ids, num_segments=2).tolist()
        [1, 2, 3, 7, 9]
    """
    keys_with_ids, is_tuple, options = as_segmented(
        keys, segment_ids, num_segments, values, descending, bits, num_valid
    )
    result = radix_sort(keys_with_ids, **options)
    return without_ids(result, is_tuple, values)


def as_segmented(
    keys: Any,
    segment_ids: Any,
    num_segments: Any,
    values: Any,
    descending: Any,
    bits: Any,
    num_valid: Any = None,
    num_shards: int = 1,
) -> tuple[tuple[Array, ...], bool, dict[str, Any]]:
    """Checks the arguments; returns the keys of the equivalent sort, whether the given keys are a
    tuple, and the options of the sort.
    """
    caller = "segmented_sort"
    columns, is_tuple = as_keys(keys, caller, num_shards=num_shards)
    num_rows = columns[0].shape[0]
    segment_ids = as_array(segment_ids, caller, "segment_ids")
    if not jnp.issubdtype(segment_ids.dtype, jnp.integer):
        raise TypeError(f"{caller}: segment_ids must be integers, got {type_of(segment_ids)}.")
    if segment_ids.shape != (num_rows,):
        raise ValueError(
            f"{caller}: segment_ids must name a segment for each of the {num_rows} rows, "
            f"got {type_of(segment_ids)}."
        )
    segment_bits = None
    if num_segments is not None:
        num_segments = as_static_int(num_segments, caller, "num_segments", 1, None)
        width = 8 * segment_ids.dtype.itemsize
        segment_bits = min(max((num_segments - 1).bit_length(), 1), width)
    options: dict[str, Any] = {
        "descending": (False, *as_directions(descending, len(columns), caller)),
        "bits": (segment_bits, *as_bits(bits, columns, caller)),
        "values": as_rows(values, num_rows, caller),
    }
    if num_valid is not None:
        options["num_valid"] = as_num_valid(num_valid, num_rows, caller)
    return (segment_ids, *columns), is_tuple, options


def without_ids(result: Any, is_tuple: bool, values: Any) -> Any:
    """Drops the segment ids, the first key of the sort."""
    (_, *columns), moved = (result, None) if values is None else result
    sorted_keys = tuple(columns) if is_tuple else columns[0]
    return sorted_keys if values is None else (sorted_keys, moved)
