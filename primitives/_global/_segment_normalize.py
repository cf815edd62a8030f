# SPDX-License-Identifier: Apache-2.0
"""Softmax and normalization within segments of whole arrays, on one device or over a mesh."""

import functools
from typing import Any

from ...shardings._compat import MeshLike
from .. import collective, local
from .._in_shared_memory import in_shared_memory
from .._over_mesh import RowMesh, ValidRows, as_row_mesh
from ..contract._typing import Array, ArrayLike, Float, Integer, PyTree
from ..local.parts import as_epsilon, as_normalize_arguments
from ..tiers._tiered import tiered

Axis = str | tuple[str, ...]


@in_shared_memory
def segment_softmax(
    x: PyTree,
    segment_ids: Integer[ArrayLike, " rows"],
    num_segments: int,
    mesh: MeshLike | None = None,
    *,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    axis: Axis | None = None,
) -> PyTree:
    """Divides the exponential of each row by the sum of those of its segment.

    Args:
        x: array of shape `(rows, ...)`, or a pytree of them.
        segment_ids: segment of each row, integers of shape `(rows,)`, in any order. Rows with an id
            outside `[0, num_segments)` belong to no segment.
        num_segments: number of segments. Static.
        mesh: mesh of the rows; one device by default.
        num_valid: number of valid rows, at the front; all rows by default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.

    Returns:
        A pytree like `x`: integers and bools give JAX's default float, floats their own dtype. Zero
        for rows of no segment, and for the rows of a segment in which all are minus infinity.

    Raises:
        TypeError: `segment_ids` are not integers, `num_segments` is traced, or `x` is complex.
        ValueError: lengths differ, `num_segments` is less than one, or `axis` names no axis of the
            mesh.

    Cost:
        See `collective.segment_softmax`.

    Guarantees:
        Deterministic; differentiable in `x`. Exponentials are of distances from the maximum of the
        segment, so that none overflows.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives
        >>> x, segment_ids = jnp.array([0.0, 5.0, 0.0, 3.0]), jnp.array([0, 1, 0, 7])
        >>> primitives.segment_softmax(x, segment_ids, 2).tolist()
        [0.5, 1.0, 0.5, 0.0]
    """
    caller = "segment_softmax"
    row_mesh = as_row_mesh(mesh, axis, caller)
    if row_mesh is None:
        return local.segment_softmax(x, segment_ids, num_segments, num_valid=num_valid)
    return _on_whole_rows(caller, x, segment_ids, num_segments, num_valid, None, row_mesh)


@in_shared_memory
def segment_normalize(
    x: PyTree,
    segment_ids: Integer[ArrayLike, " rows"],
    num_segments: int,
    mesh: MeshLike | None = None,
    *,
    epsilon: float | Float[ArrayLike, ""] = 1e-5,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    axis: Axis | None = None,
) -> PyTree:
    """Gives the rows of each segment a mean of zero and a variance of one.

    Args:
        x: array of shape `(rows, ...)`, or a pytree of them.
        segment_ids: segment of each row, integers of shape `(rows,)`, in any order. Rows with an id
            outside `[0, num_segments)` belong to no segment.
        num_segments: number of segments. Static.
        mesh: mesh of the rows; one device by default.
        epsilon: positive number that is added to the variance, so that equal rows give zeros.
        num_valid: number of valid rows, at the front; all rows by default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.

    Returns:
        A pytree like `x`, `(x - mean) / sqrt(variance + epsilon)`: integers and bools give JAX's
        default float, floats their own dtype. Zero for rows of no segment.

    Raises:
        TypeError: `segment_ids` are not integers, `num_segments` is traced, or `x` is complex.
        ValueError: lengths differ, `num_segments` is less than one, a known `epsilon` is not
            positive, or `axis` names no axis of the mesh.

    Cost:
        See `collective.segment_normalize`.

    Guarantees:
        Deterministic; differentiable in `x` and `epsilon`. The variance is about the mean, so that
        nothing cancels.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives
        >>> x, segment_ids = jnp.array([1.0, 5.0, 3.0, 4.0]), jnp.array([0, 1, 0, 7])
        >>> primitives.segment_normalize(x, segment_ids, 2, epsilon=3.0).tolist()
        [-0.5, 0.0, 0.5, 0.0]
    """
    caller = "segment_normalize"
    row_mesh = as_row_mesh(mesh, axis, caller)
    if row_mesh is None:
        return local.segment_normalize(
            x, segment_ids, num_segments, epsilon=epsilon, num_valid=num_valid
        )
    epsilon = as_epsilon(epsilon, caller)
    return _on_whole_rows(caller, x, segment_ids, num_segments, num_valid, epsilon, row_mesh)


def _on_whole_rows(
    caller: str,
    x: Any,
    segment_ids: Any,
    num_segments: Any,
    num_valid: Any,
    epsilon: Array | None,
    row_mesh: RowMesh,
) -> Any:
    """`epsilon` is None for softmax."""
    x, ids, num_segments = as_normalize_arguments(caller, x, segment_ids, num_segments)
    num_rows = ids.shape[0]
    valid = row_mesh.valid_rows(num_valid, num_rows, caller)
    if num_rows == 0:
        return local.segment_softmax(x, ids, num_segments)
    rows = row_mesh.place((x, ids))
    return _scale_on_mesh(rows, (valid, epsilon), num_segments, row_mesh, num_rows)


@functools.partial(tiered, static_argnums=(2, 3, 4))
def _scale_on_mesh(
    rows: tuple[Any, Array],
    shared: tuple[ValidRows | None, Array | None],
    num_segments: int,
    row_mesh: RowMesh,
    num_rows: int,
) -> Any:
    def of_shard(rows: tuple[Any, Array], shared: tuple[ValidRows | None, Array | None]) -> Any:
        valid, epsilon = shared
        num_valid = row_mesh.num_valid(num_rows, valid)
        settings = {"axis_name": row_mesh.axes, "num_valid": num_valid}
        if epsilon is None:
            return collective.segment_softmax(*rows, num_segments, **settings)
        return collective.segment_normalize(*rows, num_segments, epsilon=epsilon, **settings)

    return row_mesh.trim(row_mesh.map(of_shard, rows, replicated=(shared,)), num_rows)
