# SPDX-License-Identifier: Apache-2.0
"""Bins of about equally many rows of whole arrays."""

import functools

from jax.sharding import PartitionSpec

from ...shardings._compat import MeshLike, shard_map
from .. import collective, local
from .._in_shared_memory import in_shared_memory
from .._over_mesh import RowMesh, ValidRows, as_row_mesh
from ..contract._typing import Array, ArrayLike, Integer
from ..local import QuantileBins
from ..local.parts import as_bin_arguments
from ..tiers._tiered import tiered


@in_shared_memory(everywhere=(False, True))
def quantile_bins(
    x: ArrayLike,
    num_bins: int,
    mesh: MeshLike | None = None,
    *,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    axis: str | tuple[str, ...] | None = None,
) -> QuantileBins:
    """Divides the rows of a column into bins of about equally many rows.

    Args:
        x: array of shape `(rows,)`, of any key dtype and any length.
        num_bins: number of bins, from 1 to 65,535. Static.
        mesh: mesh of the rows; one device by default.
        num_valid: number of valid rows, at the front; all rows by default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.

    Returns:
        `QuantileBins(bin_ids, edges)`: the bin of each row, int32, `num_bins` for NaN and for
        padding; and the inner edges, of the dtype of `x`. Edge `b` is a row: of n rows that are
        not NaN that of rank `(b + 1) * (n - 1) // num_bins`, a quantile by the rule "lower".
        Without such rows edges are zeros. For new rows the bins are `searchsorted(edges, x)`. On a
        mesh ids are sharded like the rows, and every device gets the edges.

    Raises:
        TypeError: a dtype that is not a key dtype, `num_bins` is traced, or `mesh` is not a mesh.
        ValueError: `num_bins` is out of range, or `axis` is not an axis of the mesh.

    Cost:
        See `collective.quantile_bins`; no row moves.

    Guarantees:
        Deterministic; does not depend on the mesh. Equal rows lie in one bin, so that some are
        empty where many are equal. Edges are differentiable in `x`.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives
        >>> binned = primitives.quantile_bins(jnp.array([7, 1, 5, 3]), 2)
        >>> binned.bin_ids.tolist(), binned.edges.tolist()
        ([1, 0, 1, 0], [3])
    """
    caller = "quantile_bins"
    row_mesh = as_row_mesh(mesh, axis, caller)
    if row_mesh is None:
        return local.quantile_bins(x, num_bins, num_valid=num_valid)
    column, num_bins = as_bin_arguments(caller, x, num_bins, row_mesh.num_shards)
    num_rows = column.shape[0]
    valid = row_mesh.valid_rows(num_valid, num_rows, caller)
    if num_rows == 0:
        return local.quantile_bins(column, num_bins)
    return _on_mesh(row_mesh.place(column), valid, num_bins, row_mesh, num_rows)


@functools.partial(tiered, static_argnums=(2, 3, 4))
def _on_mesh(
    column: Array, valid: ValidRows | None, num_bins: int, row_mesh: RowMesh, num_rows: int
) -> QuantileBins:
    def of_shard(column: Array, valid: ValidRows | None) -> tuple[Array, Array]:
        settings = {"axis_name": row_mesh.axes, "num_valid": row_mesh.num_valid(num_rows, valid)}
        binned = collective.quantile_bins(column, num_bins, **settings)
        return binned.bin_ids, binned.edges

    specs = row_mesh.spec, PartitionSpec()
    bin_ids, edges = shard_map(of_shard, row_mesh.mesh, specs, specs)(column, valid)
    return QuantileBins(row_mesh.trim(bin_ids, num_rows), edges)
