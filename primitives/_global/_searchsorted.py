# SPDX-License-Identifier: Apache-2.0
"""Binary search in a sorted sequence, on one device or over a mesh."""

import functools
from collections.abc import Sequence
from typing import Literal

from ...shardings._compat import MeshLike
from .. import collective, local
from .._in_shared_memory import in_shared_memory
from .._over_mesh import RowMesh, ValidRows, as_row_mesh
from ..collective._exchange import Transport, check_transport
from ..contract._typing import Array, ArrayLike, Int, Integer, Keys
from ..local.parts import as_search, check_rows_of_sides
from ..tiers._tiered import tiered


@in_shared_memory
def searchsorted(
    sorted_keys: Keys,
    queries: Keys,
    mesh: MeshLike | None = None,
    *,
    side: Literal["left", "right"] = "left",
    descending: bool | Sequence[bool] = False,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    axis: str | tuple[str, ...] | None = None,
    transport: Transport = "auto",
) -> Int[Array, " queries"]:
    """Finds the insertion position of each query in a sorted sequence.

    Args:
        sorted_keys: keys in the order of `radix_sort`: one array of shape `(rows,)`, or a tuple
            of them, most significant first. Any length.
        queries: the same number of columns, of the same dtypes, each of shape `(queries,)`. Any
            length.
        mesh: mesh of the rows; one device by default.
        side: before the keys that equal the query (`"left"`) or after them (`"right"`).
        descending: the direction of the sorted keys, or one direction for each key.
        num_valid: number of valid keys, at the front; all keys by default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.
        transport: transport of the rows; see `collective.partition`.

    Returns:
        Positions in `[0, rows]`, int32, or int64 where there are more than 2^31 keys and queries.
        On a mesh they are sharded by rows if it divides the number of queries.

    Raises:
        TypeError: dtypes of keys and queries differ, or cannot be sorted by; or `mesh` is not a
            mesh.
        ValueError: numbers of columns differ, `side` is neither word, `transport` is unknown,
            or `axis` is not an axis of the mesh.

    Cost:
        Work O(queries x log rows) on one device; over a mesh see `collective.searchsorted`.

    Guarantees:
        Deterministic; independent of the mesh. NaN comes after every number, and all NaNs are
        equal.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives, shardings
        >>> keys, queries = jnp.array([10, 20, 20, 30]), jnp.array([20, 25])
        >>> primitives.searchsorted(keys, queries, shardings.make_mesh(1)).tolist()
        [1, 3]
    """
    caller = "searchsorted"
    check_transport(transport, caller)
    row_mesh = as_row_mesh(mesh, axis, caller)
    if row_mesh is None:
        return local.searchsorted(
            sorted_keys, queries, side=side, descending=descending, num_valid=num_valid
        )
    columns, query_columns, directions = as_search(
        sorted_keys, queries, side, descending, row_mesh.num_shards
    )
    check_rows_of_sides(
        columns, query_columns, caller, ("sorted_keys", "queries"), row_mesh.num_shards
    )
    lengths = columns[0].shape[0], query_columns[0].shape[0]
    return _search_on_mesh(
        row_mesh.place(columns),
        row_mesh.place(query_columns),
        row_mesh.valid_rows(num_valid, lengths[0], caller),
        row_mesh,
        lengths,
        side,
        directions,
        transport,
    )


@functools.partial(tiered, static_argnums=(3, 4, 5, 6, 7))
def _search_on_mesh(
    columns: tuple[Array, ...],
    query_columns: tuple[Array, ...],
    valid: ValidRows | None,
    row_mesh: RowMesh,
    lengths: tuple[int, int],
    side: Literal["left", "right"],
    descending: tuple[bool, ...],
    transport: Transport,
) -> Array:
    def search(
        columns: tuple[Array, ...], query_columns: tuple[Array, ...], valid: ValidRows | None
    ) -> Array:
        return collective.searchsorted(
            columns,
            query_columns,
            axis_name=row_mesh.axes,
            side=side,
            descending=descending,
            num_valid=row_mesh.num_valid(lengths[0], valid),
            transport=transport,
        )

    positions = row_mesh.map(search, columns, query_columns, replicated=(valid,))
    return row_mesh.trim(positions, lengths[1])
