# SPDX-License-Identifier: Apache-2.0
"""Stable sort within segments of whole arrays."""

from collections.abc import Sequence
from typing import Any

from ...shardings._compat import MeshLike
from .._in_shared_memory import in_shared_memory
from .._over_mesh import as_row_mesh
from ..collective._exchange import Transport, check_transport
from ..contract._arguments import as_num_valid
from ..contract._typing import ArrayLike, Integer, Keys, PyTree
from ..local.parts import as_segmented, without_ids
from ._radix_sort import radix_sort


@in_shared_memory
def segmented_sort(
    keys: Keys,
    segment_ids: Integer[ArrayLike, " rows"],
    mesh: MeshLike | None = None,
    *,
    num_segments: int | None = None,
    values: PyTree | None = None,
    descending: bool | Sequence[bool] = False,
    bits: int | Sequence[int | None] | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    axis: str | tuple[str, ...] | None = None,
    transport: Transport = "auto",
) -> Any:
    """Sorts the rows of each segment by their keys, on one device or over a mesh.

    The result is in the order of the segment ids, so rows with sorted ids stay within their
    segment.

    Args:
        keys: one array of shape `(rows,)`, or a tuple of them, most significant first.
        segment_ids: segment of each row, integers of shape `(rows,)`.
        mesh: mesh of the rows; one device by default.
        num_segments: promises that ids are in `[0, num_segments)`, so that the sort compares fewer
            bits. Static.
        values: a pytree of arrays with leading axis `rows`, which move with their keys.
        descending: the direction within segments, or one for each key.
        bits: for integer keys, compare only this many of the lowest bits, as in `radix_sort`.
        num_valid: number of valid rows, at the front; all rows by default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.
        transport: transport of the rows; see `collective.partition`.

    Returns:
        The sorted keys, an array or a tuple, like the argument; with values `(keys, values)`.
        Valid rows come first. Sharded like the result of `radix_sort`.

    Raises:
        TypeError: a dtype that is not a key dtype, or `segment_ids` that are not integers.
        ValueError: arrays of different lengths, or `axis` is not an axis of the mesh.

    Cost:
        That of `radix_sort` by the ids and the keys, for any number of segments.

    Guarantees:
        Stable; deterministic; differentiable in `values` and in float keys.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives
        >>> keys, segment_ids = jnp.array([3, 1, 2, 9, 7]), jnp.array([0, 0, 0, 1, 1])
        >>> primitives.segmented_sort(keys, segment_ids, num_segments=2).tolist()
        [1, 2, 3, 7, 9]
    """
    caller = "segmented_sort"
    row_mesh = as_row_mesh(mesh, axis, caller)
    num_shards = 1 if row_mesh is None else row_mesh.num_shards
    check_transport(transport, caller)
    keys_with_ids, is_tuple, options = as_segmented(
        keys, segment_ids, num_segments, values, descending, bits, num_shards=num_shards
    )
    num_rows = keys_with_ids[0].shape[0]
    if row_mesh is None:
        num_valid = as_num_valid(num_valid, num_rows, caller)
    else:
        # Only a check in the name of this call.
        row_mesh.valid_rows(num_valid, num_rows, caller)
    on_mesh = {"axis": axis, "transport": transport}
    result = radix_sort(keys_with_ids, mesh, num_valid=num_valid, **on_mesh, **options)
    return without_ids(result, is_tuple, values)
