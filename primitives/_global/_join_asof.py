# SPDX-License-Identifier: Apache-2.0
"""As-of join of whole arrays, on one device or over a mesh."""

import functools
from typing import Any

from ...shardings._compat import MeshLike
from .. import local
from .._in_shared_memory import in_shared_memory
from .._over_mesh import RowMesh, ValidSides, as_row_mesh
from ..collective._exchange import Transport, check_transport
from ..collective._join_asof import join_shards
from ..contract._typing import Array, ArrayLike, Int, Keys, NumValid, Shaped
from ..local.parts import AsofRule, Direction, KeySides, as_asof
from ..tiers._tiered import tiered

_Columns = tuple[Array, ...]


@in_shared_memory
def join_asof(
    left: Shaped[ArrayLike, " left_rows"],
    right: Shaped[ArrayLike, " right_rows"],
    mesh: MeshLike | None = None,
    *,
    by: tuple[Keys, Keys] | None = None,
    direction: Direction = "backward",
    tolerance: Any = None,
    allow_exact: bool = True,
    num_valid: tuple[NumValid, NumValid] | None = None,
    axis: str | tuple[str, ...] | None = None,
    transport: Transport = "auto",
) -> Int[Array, " left_rows"]:
    """Finds the right row with the closest time for each left row, on one device or over a mesh.

    Gather the rows by the returned ids: `values[right_rows]`, for rows with a match, or
    over a mesh `gather_rows(values, right_rows, mesh)`, which gives zeros for the others.

    Args:
        left: times of the left rows, or other ordered values, in any order, of shape
            `(left_rows,)`; of any dtype that can be sorted by, and of any length.
        right: times of the right rows, in any order, of the same dtype and shape `(right_rows,)`.
        mesh: mesh of the rows of both sides; one device by default.
        by: keys of the left and of the right rows, each an array or a tuple of arrays,
            that must be equal in rows that match. NaN equals NaN.
        direction: the direction of the search.

            - `"backward"`: the last right row at or before the left row's time.
            - `"forward"`: the first right row at or after the left row's time.
            - `"nearest"`: the closer of the two; the earlier one at equal distance.

        tolerance: how far the times may be apart, a number of their dtype that is not negative;
            unlimited by default.
        allow_exact: whether equal times match.
        num_valid: numbers of valid rows of the left and the right side, at their fronts; all rows
            by default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.
        transport: transport of the rows; see `collective.partition`.

    Returns:
        For each left row the position of its right row, -1 for no match and in padding.
        int32, or int64 if a mesh holds more than 2^31 right rows; on a mesh sharded by rows if
        it divides the number of left rows. Of right rows with equal times a backward match takes
        the last, a forward match the first.

    Raises:
        TypeError: dtypes of the sides differ or cannot be sorted by, `tolerance` is no number of
            the dtype of the times, or `mesh` is not a mesh.
        ValueError: arrays that are not one-dimensional or differ in length, a negative `tolerance`,
            an unknown `direction`, `transport` is unknown, or `axis` is not an
            axis of the mesh.

    Cost:
        Work O((left_rows + right_rows) x key bytes): one sort of both sides together, and a scan,
        or two for the nearest row; over a mesh see `collective.join_asof`.

    Guarantees:
        As `local.join_asof`; independent of the mesh.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives, shardings
        >>> trades, quotes = jnp.array([10, 25, 31]), jnp.array([30, 10, 20])
        >>> primitives.join_asof(trades, quotes, shardings.make_mesh(1)).tolist()
        [1, 2, 0]
    """
    caller = "join_asof"
    check_transport(transport, caller)
    row_mesh = as_row_mesh(mesh, axis, caller)
    if row_mesh is None:
        return local.join_asof(
            left,
            right,
            by=by,
            direction=direction,
            tolerance=tolerance,
            allow_exact=allow_exact,
            num_valid=num_valid,
        )
    sides, rule, limit = as_asof(
        left, right, by, direction, tolerance, allow_exact, None, row_mesh.num_shards
    )
    lengths = sides.a[0].shape[0], sides.b[0].shape[0]
    valid = row_mesh.valid_rows_of_sides(num_valid, lengths, caller)
    placed = row_mesh.place((sides.a, sides.b))
    return _join_on_mesh(*placed, limit, valid, row_mesh, rule, lengths, transport)


@functools.partial(tiered, static_argnums=(4, 5, 6, 7))
def _join_on_mesh(
    left: _Columns,
    right: _Columns,
    tolerance: Array | None,
    valid: ValidSides,
    row_mesh: RowMesh,
    rule: AsofRule,
    lengths: tuple[int, int],
    transport: Transport,
) -> Array:
    def join(left: _Columns, right: _Columns, tolerance: Array | None, valid: ValidSides) -> Array:
        sides = KeySides(left, right, *row_mesh.num_valid_of_sides(lengths, valid))
        return join_shards(sides, rule, tolerance, row_mesh.axes, transport)

    found = row_mesh.map(join, left, right, replicated=(tolerance, valid))
    return row_mesh.trim(found, lengths[0])
