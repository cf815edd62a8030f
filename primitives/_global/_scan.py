# SPDX-License-Identifier: Apache-2.0
"""Scans of whole arrays, on one device or over a mesh."""

from ...shardings._compat import MeshLike
from .. import local
from .._in_shared_memory import in_shared_memory
from .._over_mesh import as_row_mesh
from ..contract._scan_operators import Operator, Scan
from ..contract._typing import ArrayLike, Integer, PyTree
from ..local.parts import SegmentEncoding, as_scan
from ._segmented_scan import scan_mesh


@in_shared_memory
def inclusive_scan(
    x: PyTree,
    op: Operator = "sum",
    mesh: MeshLike | None = None,
    *,
    reverse: bool = False,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    axis: str | tuple[str, ...] | None = None,
) -> PyTree:
    """Combines each row with those before it, on one device or over a mesh.

    Args:
        x: any pytree of arrays with the same leading axis, of any length, along which the scan
            goes. For a named `op`, of key dtypes, and of complex numbers for `"sum"` and `"prod"`.
        op: `"sum"`, `"prod"`, `"min"` or `"max"`, applied to each leaf; or an associative function
            of two rows, each a pytree like `x` without the leading axis, that returns such a row.
            It need not commute: its first argument comes first in the order of the scan. Static: a
            new function is a new program.
        mesh: mesh of the rows; one device by default.
        reverse: scan from the last row to the first.
        num_valid: number of valid rows, at the front; all rows by default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.

    Returns:
        A pytree like `x`, of the same dtypes; bool under `"sum"` and `"prod"` becomes int32.
        Padding rows are zero. On a mesh it is sharded by rows; if the mesh does not divide the
        number of rows, which JAX cannot shard, it is replicated.

    Raises:
        TypeError: a dtype that `op` does not support, `op` is a function with a result unlike its
            arguments, or `mesh` is not a mesh.
        ValueError: leading axes differ, `op` is unknown, or `axis` is not an axis of the mesh.

    Cost:
        See `collective.inclusive_scan`: no row leaves its shard but one of each.

    Guarantees:
        Deterministic; differentiable in `x`. Integers wrap around, minima and maxima are exact,
        and neither depends on the mesh. Sums and products of floats keep the bounds of
        `local.inclusive_scan`.

    References:
        Blelloch (1990), "Prefix sums and their applications".

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives, shardings
        >>> mesh = shardings.make_mesh(1)
        >>> primitives.inclusive_scan(jnp.array([3, 1, 4, 1, 5]), "sum", mesh).tolist()
        [3, 4, 8, 9, 14]
    """
    caller = "inclusive_scan"
    row_mesh = as_row_mesh(mesh, axis, caller)
    if row_mesh is None:
        return local.inclusive_scan(x, op, reverse=reverse, num_valid=num_valid)
    arguments = as_scan(x, Scan(op, reverse, False), None, None, caller)
    valid = row_mesh.valid_rows(num_valid, arguments.num_rows, caller)
    return scan_mesh(arguments, SegmentEncoding(None, None), valid, row_mesh)


@in_shared_memory
def exclusive_scan(
    x: PyTree,
    op: Operator = "sum",
    mesh: MeshLike | None = None,
    *,
    initial: PyTree | None = None,
    reverse: bool = False,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    axis: str | tuple[str, ...] | None = None,
) -> PyTree:
    """Combines the rows before each row, on one device or over a mesh.

    Args:
        x: as for `inclusive_scan`.
        op: as for `inclusive_scan`.
        mesh: mesh of the rows; one device by default.
        initial: the value before the first row: one number, or a pytree like `x` of single rows.
            For a named `op` it defaults to the identity element: zero, one, or the largest or
            smallest number of the dtype. Required if `op` is a function.
        reverse: scan from the last row to the first.
        num_valid: number of valid rows, at the front; all rows by default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.

    Returns:
        A pytree like `x`, as for `inclusive_scan`.

    Raises:
        TypeError: as `inclusive_scan`.
        ValueError: as `inclusive_scan`; `op` is a function and `initial` is missing.

    Cost:
        See `collective.exclusive_scan`.

    Guarantees:
        As `inclusive_scan`; differentiable in `initial` too.

    References:
        Blelloch (1990), "Prefix sums and their applications".

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives, shardings
        >>> mesh = shardings.make_mesh(1)
        >>> primitives.exclusive_scan(jnp.array([3, 1, 4]), "max", mesh, initial=2).tolist()
        [2, 3, 3]
    """
    caller = "exclusive_scan"
    row_mesh = as_row_mesh(mesh, axis, caller)
    if row_mesh is None:
        return local.exclusive_scan(x, op, initial=initial, reverse=reverse, num_valid=num_valid)
    arguments = as_scan(x, Scan(op, reverse, True), initial, None, caller)
    valid = row_mesh.valid_rows(num_valid, arguments.num_rows, caller)
    return scan_mesh(arguments, SegmentEncoding(None, None), valid, row_mesh)
