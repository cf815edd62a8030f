# SPDX-License-Identifier: Apache-2.0
"""Two sorted sequences into one, as whole arrays."""

import functools
from collections.abc import Sequence
from typing import Any

from ...shardings._compat import MeshLike
from .. import local
from .._in_shared_memory import in_shared_memory
from .._over_mesh import RowMesh, as_row_mesh
from ..collective._exchange import Transport, check_transport
from ..collective._merge import merge_shards
from ..collective._sorted_runs import Dealing
from ..contract._arguments import as_directions, as_keys, as_pair, as_rows
from ..contract._typing import Keys, PyTree
from ..local.parts import check_merged_rows, check_same_columns
from ..tiers._tiered import tiered


@in_shared_memory
def merge(
    a_keys: Keys,
    b_keys: Keys,
    mesh: MeshLike | None = None,
    *,
    values: tuple[PyTree, PyTree] | None = None,
    descending: bool | Sequence[bool] = False,
    axis: str | tuple[str, ...] | None = None,
    transport: Transport = "auto",
) -> Any:
    """Merges two sorted sequences of rows into one, on one device or over a mesh.

    Args:
        a_keys: keys in the order of `radix_sort`: one array of shape `(a_rows,)`, or a tuple of
            them, most significant first. Any length.
        b_keys: the same number of columns, of the same dtypes, each of shape `(b_rows,)`.
        mesh: mesh of the rows; one device by default.
        values: the values of `a` and of `b`: two pytrees of the same structure; leaves may
            differ in their number of rows only.
        descending: the direction of both sequences, or one direction for each key.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.
        transport: transport of the rows; see `collective.partition`.

    Returns:
        The merged keys, an array or a tuple, like the argument; with values `(keys, values)`.
        Sharded as the result of `radix_sort`.

    Raises:
        TypeError: dtypes of `a` and `b` differ, or cannot be sorted by.
        ValueError: numbers of columns, structures of values or lengths differ, or `axis` is not an
            axis of the mesh.

    Cost:
        Work O(a_rows + b_rows) on one CPU device; over a mesh that of `radix_sort`.

    Guarantees:
        Stable: equal keys of `a` come before those of `b`. Deterministic; differentiable in
        `values` and in float keys.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives
        >>> primitives.merge(jnp.array([1, 4, 4]), jnp.array([2, 4])).tolist()
        [1, 2, 4, 4, 4]
    """
    caller = "merge"
    check_transport(transport, caller)
    row_mesh = as_row_mesh(mesh, axis, caller)
    if row_mesh is None:
        return local.merge(a_keys, b_keys, values=values, descending=descending)
    a_columns, is_tuple = as_keys(a_keys, caller, "a_keys", row_mesh.num_shards)
    b_columns, _ = as_keys(b_keys, caller, "b_keys", row_mesh.num_shards)
    check_same_columns(a_columns, b_columns, caller, "a_keys", "b_keys")
    directions = as_directions(descending, len(a_columns), caller)
    lengths = a_columns[0].shape[0], b_columns[0].shape[0]
    check_merged_rows(a_columns[0], b_columns[0], caller, row_mesh.num_shards)
    a_values, b_values = as_pair(values, caller, "values")
    a = (a_columns, as_rows(a_values, lengths[0], caller))
    b = (b_columns, as_rows(b_values, lengths[1], caller))
    has_values = values is not None
    columns, merged_values = _merge_on_mesh(
        row_mesh.place(a), row_mesh.place(b), row_mesh, directions, lengths, transport
    )
    merged_keys = columns if is_tuple else columns[0]
    return (merged_keys, merged_values) if has_values else merged_keys


@functools.partial(tiered, static_argnums=(2, 3, 4, 5))
def _merge_on_mesh(
    a: Any,
    b: Any,
    row_mesh: RowMesh,
    descending: tuple[bool, ...],
    lengths: tuple[int, int],
    transport: Transport,
) -> Any:
    num_rows = sum(lengths)
    capacity = row_mesh.shard_rows(num_rows)

    def merge_rows(a: Any, b: Any) -> Any:
        counts = row_mesh.num_valid(lengths[0]), row_mesh.num_valid(lengths[1])
        dealing = Dealing(row_mesh.axes, "full", transport, capacity)
        columns, values, _ = merge_shards(a, b, descending, counts, dealing)
        return columns, values

    return row_mesh.trim(row_mesh.map(merge_rows, a, b), num_rows)
