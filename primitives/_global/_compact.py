# SPDX-License-Identifier: Apache-2.0
"""Stable selection of whole arrays' rows, on one device or over a mesh."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ...shardings._compat import MeshLike
from .. import local
from .._in_shared_memory import in_shared_memory
from .._over_mesh import RowMesh, ValidRows, as_row_mesh
from .._sized import map_front_packed, sized
from ..collective._exchange import Transport, check_transport
from ..collective._radix_sort import row_id_dtype
from ..contract._arguments import as_flag
from ..contract._typing import Array, ArrayLike, Bool, Integer, PyTree
from ..local import Compacted
from ..local.parts import as_masked_rows, select_rows
from ..tiers._tiered import tiered


@in_shared_memory
def compact(
    mask: Bool[ArrayLike, " rows"],
    rows: PyTree | None,
    mesh: MeshLike | None = None,
    *,
    capacity: int | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    return_index: bool = False,
    axis: str | tuple[str, ...] | None = None,
    transport: Transport = "auto",
) -> Compacted:
    """Selects the rows that a mask flags, keeping their order, on one device or over a mesh.

    Args:
        mask: a flag for each row, bool of shape `(rows,)`, of any length.
        rows: any pytree of arrays with the same leading axis; None for the ids of the rows alone.
        mesh: mesh of the rows; one device by default.
        capacity: rows of the result. Static. By default an eager call returns the selected rows
            exactly; a traced one has a capacity of all rows.
        num_valid: number of valid rows, at the front; all rows by default.
        return_index: also return the ids of the rows, int32.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.
        transport: transport of the rows; see `collective.partition`.

    Returns:
        `Compacted(rows, row_ids, count)`; the first `count` rows are meaningful, and padding is
        zero. `row_ids` is None unless `return_index` is true or `rows` is None. On a mesh they are
        sharded by rows if it divides their number. Traced, `count` may pass the capacity: rows did
        not fit then.

    Raises:
        CapacityError: an eager call was given too small a capacity.
        TypeError: `mask` is not bool, `capacity` is traced, or `mesh` is not a mesh.
        ValueError: lengths differ, `transport` is unknown, or `axis` is not an axis of the mesh.

    Cost:
        Work O(rows + selected rows x row bytes). Communication: that of `collective.rebalance`.
        An eager call reads the count back. It moves all arrays in one pass over the mask; a traced
        call leaves out of the compiled program the arrays that nothing uses.

    Guarantees:
        Stable; deterministic; independent of the mesh; differentiable in `rows`.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives, shardings
        >>> x = jnp.array([3, 1, 4, 1, 5])
        >>> kept = primitives.compact(x > 2, x, shardings.make_mesh(1))
        >>> kept.rows.tolist(), kept.count.tolist()
        ([3, 4, 5], 3)
    """
    caller = "compact"
    return_index = as_flag(return_index, caller, "return_index")
    check_transport(transport, caller)
    row_mesh = as_row_mesh(mesh, axis, caller)
    mask, rows, num_rows = as_masked_rows(mask, rows, caller)
    if row_mesh is None:

        def run(capacity: int) -> tuple[Any, Array]:
            select = functools.partial(local.compact, num_valid=num_valid)
            kept = select(mask, rows, capacity=capacity, return_index=return_index)
            return kept[:2], kept.count
    else:
        wants_ids = return_index or rows is None
        row_ids = None
        if wants_ids:
            # An array of the host is placed without a program.
            numbers: Any = jnp if isinstance(mask, Tracer) else np
            row_ids = numbers.arange(num_rows, dtype=row_id_dtype(num_rows, caller))
        moved = rows, row_ids
        valid = row_mesh.valid_rows(num_valid, num_rows, caller)
        if num_rows == 0:
            # XLA cannot compile a program over a mesh if all arguments are empty: a row without
            # a flag.
            moved, mask = jax.tree.map(
                lambda leaf: jnp.zeros((1, *leaf.shape[1:]), leaf.dtype), (moved, mask)
            )
        placed = row_mesh.place((mask, moved))

        def run(capacity: int) -> tuple[Any, Array]:
            return _compact_on_mesh(*placed, valid, row_mesh, capacity, num_rows, transport)

    (kept, row_ids), count = sized(caller, run, capacity, num_rows, row_mesh)
    return Compacted(kept, row_ids, count)


@functools.partial(tiered, static_argnums=(3, 4, 5, 6))
def _compact_on_mesh(
    mask: Array,
    rows: PyTree,
    valid: ValidRows | None,
    row_mesh: RowMesh,
    capacity: int,
    num_rows: int,
    transport: Transport,
) -> tuple[Any, Array]:
    def of_shard(mask: Array, rows: PyTree, valid: ValidRows | None) -> tuple[Any, Array]:
        of_shard = row_mesh.num_valid(num_rows, valid)
        return select_rows(rows, mask, mask.shape[0], of_shard)

    return map_front_packed(
        row_mesh,
        of_shard,
        mask,
        rows,
        capacity=capacity,
        replicated=(valid,),
        transport=transport,
    )
