# SPDX-License-Identifier: Apache-2.0
"""Dense group ids for the keys of whole arrays, on one device or over a mesh."""

import functools
from typing import Any

from ...shardings._compat import MeshLike
from .. import collective
from .._in_shared_memory import in_shared_memory
from .._over_mesh import RowMesh, ValidRows, as_row_mesh
from .._sized import map_front_packed, sized
from ..collective._exchange import Transport, check_transport
from ..contract._arguments import as_flag, as_keys, as_num_valid
from ..contract._typing import Array, ArrayLike, Integer, Keys
from ..local import Factorized
from ..local.parts import factorize_columns, keys_of_groups
from ..tiers._tiered import tiered


@in_shared_memory
def factorize(
    keys: Keys,
    mesh: MeshLike | None = None,
    *,
    capacity: int | None = None,
    sort: bool = True,
    return_first: bool = False,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    axis: str | tuple[str, ...] | None = None,
    transport: Transport = "auto",
) -> Factorized:
    """Numbers the distinct keys, so that equal keys have equal numbers.

    Args:
        keys: one array of shape `(rows,)`, or a tuple of them, most significant first; of any
            length. -0.0 equals 0.0, and all NaNs are equal.
        mesh: mesh of the rows; one device by default.
        capacity: distinct keys of the result. Static. By default an eager call returns the distinct
            keys and no more; a traced one has the number of rows as its capacity.
        sort: number the keys in their order, NaN last; else in the order of their first rows.
        return_first: also return the first row of each key.
        num_valid: number of valid rows, at the front; all rows by default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.
        transport: transport of the rows; see `collective.partition`.

    Returns:
        `Factorized(group_ids, unique_keys, row_ids, count)`: the group id of each row, -1 in
        padding; the distinct keys by group id, with the bits of their first rows; the ids of these
        rows, `None` unless requested; and the number of keys. The first `count` keys are
        meaningful, and padding is zero. On a mesh all are sharded by rows if it divides their
        number.

    Raises:
        CapacityError: an eager call was given too small a capacity.
        TypeError: a dtype that cannot be a key, `capacity` is traced, or `mesh` is not a mesh.
        ValueError: arrays of different lengths, `transport` is unknown, or `axis` is not an axis of
            the mesh.

    Cost:
        See `local.factorize` and `collective.factorize`; over a mesh each distinct key moves once
        more. An eager call reads the number of keys back.

    Guarantees:
        Deterministic; independent of the mesh; differentiable in float keys.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives, shardings
        >>> groups = primitives.factorize(jnp.array([30, 10, 30, 20]), shardings.make_mesh(1))
        >>> groups.group_ids.tolist(), groups.unique_keys.tolist(), groups.count.tolist()
        ([2, 0, 2, 1], [10, 20, 30], 3)
    """
    caller = "factorize"
    sort = as_flag(sort, caller, "sort")
    return_first = as_flag(return_first, caller, "return_first")
    check_transport(transport, caller)
    row_mesh = as_row_mesh(mesh, axis, caller)
    num_shards = 1 if row_mesh is None else row_mesh.num_shards
    columns, is_tuple = as_keys(keys, caller, num_shards=num_shards)
    num_rows = columns[0].shape[0]
    placed = columns if row_mesh is None else row_mesh.place(columns)
    valid = None if row_mesh is None else row_mesh.valid_rows(num_valid, num_rows, caller)

    def run(capacity: int) -> Any:
        if row_mesh is None:
            rows_that_count = as_num_valid(num_valid, num_rows, caller)
            groups = factorize_columns(placed, rows_that_count, capacity, sort)
            return (None, groups.first_row_ids), groups.count, groups.group_ids
        options = (sort, return_first)
        return _factorize_on_mesh(placed, valid, row_mesh, capacity, num_rows, options, transport)

    (unique_columns, row_ids), count, group_ids = sized(caller, run, capacity, num_rows, row_mesh)
    if row_mesh is None:
        # The keys are gathered after their number is known: filling a capacity of all rows would
        # take longer than the rest.
        unique_columns = keys_of_groups(placed, row_ids, count)
    unique_keys = unique_columns if is_tuple else unique_columns[0]
    return Factorized(group_ids, unique_keys, row_ids if return_first else None, count)


@functools.partial(tiered, static_argnums=(2, 3, 4, 5, 6))
def _factorize_on_mesh(
    columns: tuple[Array, ...],
    valid: ValidRows | None,
    row_mesh: RowMesh,
    capacity: int,
    num_rows: int,
    options: tuple[bool, bool],
    transport: Transport,
) -> Any:
    sort, return_first = options

    def of_shard(columns: tuple[Array, ...], valid: ValidRows | None) -> Any:
        groups = collective.factorize(
            columns,
            axis_name=row_mesh.axes,
            sort=sort,
            return_first=return_first,
            num_valid=row_mesh.num_valid(num_rows, valid),
            transport=transport,
        )
        return (groups.unique_keys, groups.row_ids), groups.count, groups.group_ids

    rows, count, group_ids = map_front_packed(
        row_mesh,
        of_shard,
        columns,
        capacity=capacity,
        replicated=(valid,),
        transport=transport,
    )
    return rows, count, row_mesh.trim(group_ids, num_rows)
