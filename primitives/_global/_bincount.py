# SPDX-License-Identifier: Apache-2.0
"""Counts of bins in whole arrays, on one device or over a mesh."""

import functools
from typing import Any

from ...shardings._compat import MeshLike
from .. import collective, local
from .._in_shared_memory import in_shared_memory
from .._over_mesh import RowMesh, ValidRows, as_row_mesh
from ..contract._typing import Array, ArrayLike, Integer, PyTree, Shaped
from ..local.parts import as_count_arguments
from ..tiers._tiered import tiered


@in_shared_memory(everywhere=True)
def bincount(
    bin_ids: Integer[ArrayLike, "rows *columns"],
    num_bins: int,
    mesh: MeshLike | None = None,
    *,
    weights: PyTree | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    axis: str | tuple[str, ...] | None = None,
) -> PyTree | Shaped[Array, "*columns bins"]:
    """Counts the rows of each bin, or adds up their weights, in one column of ids or in many.

    For each column it is `segment_sum` of the same weights: the histograms of gradients by feature
    from which a boosted tree takes its splits.

    Args:
        bin_ids: bin of each row, integers of shape `(rows,)` or `(rows, columns)`, of any length.
            Rows with an id outside `[0, num_bins)` are dropped from that column.
        num_bins: number of bins. Static.
        mesh: mesh of the rows; one device by default.
        weights: an array of shape `(rows, ...)`, or a pytree of them; one for each row by default.
        num_valid: number of valid rows, at the front; all rows by default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.

    Returns:
        Counts of shape `(columns, num_bins)`, int32; with `weights` a pytree like them, of shape
        `(columns, num_bins, ...)`. Without the first axis if `bin_ids` are one column. On a mesh
        every device gets them.

    Raises:
        TypeError: `bin_ids` are not integers, `num_bins` is traced, or `mesh` is not a mesh.
        ValueError: `bin_ids` have no or more than two dimensions, `num_bins` is less than one,
            lengths differ, or `axis` names no axis of the mesh.

    Cost:
        See `collective.bincount`.

    Guarantees:
        Deterministic; differentiable in `weights`.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives
        >>> primitives.bincount(jnp.array([[0, 1], [2, 1], [0, 0]]), 3).tolist()
        [[2, 0, 1], [1, 2, 0]]
    """
    caller = "bincount"
    row_mesh = as_row_mesh(mesh, axis, caller)
    if row_mesh is None:
        return local.bincount(bin_ids, num_bins, weights=weights, num_valid=num_valid)
    ids, num_bins, weights = as_count_arguments(caller, bin_ids, num_bins, weights)
    num_rows = ids.shape[0]
    valid = row_mesh.valid_rows(num_valid, num_rows, caller)
    if ids.size == 0:
        return local.bincount(ids, num_bins, weights=weights)
    return _on_mesh(row_mesh.place((ids, weights)), valid, num_bins, row_mesh, num_rows)


@functools.partial(tiered, static_argnums=(2, 3, 4))
def _on_mesh(
    rows: tuple[Array, Any],
    valid: ValidRows | None,
    num_bins: int,
    row_mesh: RowMesh,
    num_rows: int,
) -> Any:
    def of_shard(rows: tuple[Array, Any], valid: ValidRows | None) -> Any:
        ids, weights = rows
        return collective.bincount(
            ids,
            num_bins,
            axis_name=row_mesh.axes,
            weights=weights,
            num_valid=row_mesh.num_valid(num_rows, valid),
        )

    return row_mesh.map_to_all(of_shard, rows, replicated=(valid,))
