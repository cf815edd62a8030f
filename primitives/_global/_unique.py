# SPDX-License-Identifier: Apache-2.0
"""The distinct keys of whole arrays, on one device or over a mesh."""

import functools
from typing import Any

from ...shardings._compat import MeshLike
from .. import collective, local
from .._in_shared_memory import in_shared_memory
from .._over_mesh import RowMesh, ValidRows, as_row_mesh
from .._sized import map_front_packed, sized
from ..collective._exchange import Transport, check_transport
from ..contract._arguments import as_flag, as_keys
from ..contract._typing import Array, ArrayLike, Integer, Keys
from ..local import Unique
from ..tiers._tiered import tiered


@in_shared_memory
def unique(
    keys: Keys,
    mesh: MeshLike | None = None,
    *,
    capacity: int | None = None,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    axis: str | tuple[str, ...] | None = None,
    transport: Transport = "auto",
) -> Unique:
    """Finds the distinct keys, in their order, on one device or over a mesh.

    Args:
        keys: one array of shape `(rows,)`, or a tuple of them, most significant first; of any
            length. Keys are equal as in `radix_sort`: -0.0 equals 0.0, and all NaNs are equal.
        mesh: mesh of the rows; one device by default.
        capacity: distinct keys of the result. Static. By default an eager call returns the distinct
            keys and no more; a traced one has the number of rows as its capacity.
        return_index: also return the first row of each key.
        return_inverse: also return, for each row, the position of its key among the distinct ones.
        return_counts: also return the number of rows of each key.
        num_valid: number of valid rows, at the front; all rows by default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.
        transport: transport of the rows; see `collective.partition`.

    Returns:
        `Unique(unique_keys, row_ids, inverse, counts, count)`, ascending, NaN last; the first
        `count` keys are meaningful, and padding is zero; `None` for results that were not
        requested. `inverse` has an entry for each row, zero in padding. On a mesh all are sharded
        by rows if it divides their number. A key has the bits of its first row.

    Raises:
        CapacityError: an eager call was given too small a capacity.
        TypeError: a dtype that is not a key dtype, `capacity` is traced, or `mesh` is not a mesh.
        ValueError: keys that differ in length or are not one-dimensional, `transport` is unknown,
            or `axis` is not an axis of the mesh.

    Cost:
        See `collective.unique`; each distinct key moves once more. An eager call reads the number
        of keys back.

    Guarantees:
        Deterministic; independent of the mesh; differentiable in float keys.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives, shardings
        >>> keys = jnp.array([7, 3, 7, 5])
        >>> found = primitives.unique(keys, shardings.make_mesh(1), return_counts=True)
        >>> found.unique_keys.tolist(), found.counts.tolist(), found.count.tolist()
        ([3, 5, 7], [1, 1, 2], 3)
    """
    caller = "unique"
    return_index = as_flag(return_index, caller, "return_index")
    return_inverse = as_flag(return_inverse, caller, "return_inverse")
    return_counts = as_flag(return_counts, caller, "return_counts")
    check_transport(transport, caller)
    row_mesh = as_row_mesh(mesh, axis, caller)
    num_shards = 1 if row_mesh is None else row_mesh.num_shards
    columns, is_tuple = as_keys(keys, caller, num_shards=num_shards)
    num_rows = columns[0].shape[0]
    asked = (return_index, return_inverse, return_counts)
    placed = columns if row_mesh is None else row_mesh.place(columns)
    valid = None if row_mesh is None else row_mesh.valid_rows(num_valid, num_rows, caller)

    def run(capacity: int) -> Any:
        if row_mesh is None:
            options = _asked_for(asked)
            return _by_rows(local.unique(placed, capacity=capacity, num_valid=num_valid, **options))
        return _unique_on_mesh(placed, valid, row_mesh, capacity, num_rows, asked, transport)

    rows, count, inverse = sized(caller, run, capacity, num_rows, row_mesh)
    unique_columns, row_ids, counts = rows
    unique_keys = unique_columns if is_tuple else unique_columns[0]
    return Unique(unique_keys, row_ids, inverse, counts, count)


def _asked_for(asked: tuple[bool, bool, bool]) -> dict[str, bool]:
    names = ("return_index", "return_inverse", "return_counts")
    return dict(zip(names, asked, strict=True))


def _by_rows(found: Unique) -> tuple[Any, Array, Any]:
    """Separates results with a row per key, their count, and results with a row per input row."""
    return (found.unique_keys, found.row_ids, found.counts), found.count, found.inverse


@functools.partial(tiered, static_argnums=(2, 3, 4, 5, 6))
def _unique_on_mesh(
    columns: tuple[Array, ...],
    valid: ValidRows | None,
    row_mesh: RowMesh,
    capacity: int,
    num_rows: int,
    asked: tuple[bool, bool, bool],
    transport: Transport,
) -> Any:
    def of_shard(columns: tuple[Array, ...], valid: ValidRows | None) -> Any:
        found = collective.unique(
            columns,
            axis_name=row_mesh.axes,
            num_valid=row_mesh.num_valid(num_rows, valid),
            transport=transport,
            **_asked_for(asked),
        )
        return _by_rows(found)

    rows, count, inverse = map_front_packed(
        row_mesh,
        of_shard,
        columns,
        capacity=capacity,
        replicated=(valid,),
        transport=transport,
    )
    return rows, count, row_mesh.trim(inverse, num_rows)
