# SPDX-License-Identifier: Apache-2.0
"""Quantiles of whole arrays."""

import functools
from typing import Any

import jax.numpy as jnp

from ...shardings._compat import MeshLike
from .. import collective, local
from .._in_shared_memory import in_shared_memory
from .._over_mesh import RowMesh, ValidRows, as_row_mesh
from ..contract._typing import Array, ArrayLike, Integer, Shaped
from ..local.parts import (
    Interpolation,
    as_quantile_arguments,
    between_ranks,
    from_nearer_end,
    mean_of_both,
    quantile_dtype,
    unless_overflow,
)
from ..tiers._tiered import tiered

__all__ = ["between_ranks", "from_nearer_end", "mean_of_both", "quantile", "unless_overflow"]


@in_shared_memory(everywhere=True)
def quantile(
    x: ArrayLike,
    q: Any,
    mesh: MeshLike | None = None,
    *,
    interpolation: Interpolation = "linear",
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    axis: str | tuple[str, ...] | None = None,
) -> Shaped[Array, "..."]:
    """Finds the quantiles of a column, on one device or over a mesh.

    Args:
        x: array of shape `(rows,)`, of any key dtype and any length.
        q: numbers of any shape, in [0, 1]. Traced values are clipped.
        mesh: mesh of the rows; one device by default.
        interpolation: the value between two rows: "linear" in the distance from both, their
            "midpoint", the "lower", the "higher" or the "nearest" one (at equal distance the one of
            even rank).
        num_valid: number of valid rows, at the front; all rows by default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.

    Returns:
        The quantiles, in the shape of `q`; of the dtype of a float `x`, otherwise of JAX's default
        float. Beside an infinity they are infinite. NaN between infinities of both signs, if a row
        is NaN, and without valid rows. On a mesh every device gets them.

    Raises:
        TypeError: a dtype that is not a key dtype, a non-numeric `q`, or `mesh` is not a
            mesh.
        ValueError: a concrete `q` is outside [0, 1], `interpolation` is unknown, or
            `axis` is not an axis of the mesh.

    Cost:
        A local sort of each shard; no row moves. See `collective.quantile`.

    Guarantees:
        Deterministic; does not depend on the mesh; ranks are exact beyond 2^31 rows.
        Differentiable in `x`.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives
        >>> primitives.quantile(jnp.array([30.0, 10.0, 20.0, 50.0]), 0.5).tolist()
        25.0
    """
    caller = "quantile"
    row_mesh = as_row_mesh(mesh, axis, caller)
    if row_mesh is None:
        return local.quantile(x, q, interpolation=interpolation, num_valid=num_valid)
    column, quantiles = as_quantile_arguments(caller, x, q, interpolation, row_mesh.num_shards)
    num_rows = column.shape[0]
    valid = row_mesh.valid_rows(num_valid, num_rows, caller)
    if num_rows == 0:
        return jnp.full(quantiles.shape, jnp.nan, quantile_dtype(column.dtype))
    return _quantile_on_mesh(
        row_mesh.place(column), quantiles, valid, row_mesh, num_rows, interpolation
    )


@functools.partial(tiered, static_argnums=(3, 4, 5))
def _quantile_on_mesh(
    column: Array,
    q: Array,
    valid: ValidRows | None,
    row_mesh: RowMesh,
    num_rows: int,
    interpolation: Interpolation,
) -> Array:
    def find(column: Array, q: Array, valid: ValidRows | None) -> Array:
        of_shard = row_mesh.num_valid(num_rows, valid)
        return collective.quantile(
            column, q, axis_name=row_mesh.axes, interpolation=interpolation, num_valid=of_shard
        )

    return row_mesh.map_to_all(find, column, replicated=(q, valid))
