# SPDX-License-Identifier: Apache-2.0
"""Set membership of the keys of whole arrays, on one device or over a mesh."""

import functools

from ...shardings._compat import MeshLike
from .. import collective, local
from .._in_shared_memory import in_shared_memory
from .._over_mesh import RowMesh, ValidSides, as_row_mesh
from ..collective._exchange import Transport, check_transport
from ..contract._arguments import as_flag
from ..contract._typing import Array, Bool, Keys, NumValid
from ..local.parts import as_key_sides
from ..tiers._tiered import tiered


@in_shared_memory
def isin(
    keys: Keys,
    test_keys: Keys,
    mesh: MeshLike | None = None,
    *,
    invert: bool = False,
    num_valid: tuple[NumValid, NumValid] | None = None,
    axis: str | tuple[str, ...] | None = None,
    transport: Transport = "auto",
) -> Bool[Array, " rows"]:
    """Tests whether each row's key is in a set of keys, on one device or over a mesh.

    Args:
        keys: one array of shape `(rows,)`, or a tuple of them; of any length. -0.0 equals 0.0, and
            unlike in NumPy NaN equals NaN, as in pandas and everywhere in this library.
        test_keys: the keys to look for: the same number of columns, of the same dtypes, in any
            order, of any length, and as often as they come.
        mesh: mesh of the rows; one device by default.
        invert: flags the rows with a key outside the set instead. Static.
        num_valid: numbers of valid rows of `keys` and of `test_keys`, at their fronts; all rows by
            default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.
        transport: transport of the rows; see `collective.partition`.

    Returns:
        A flag for each row, False in padding; on a mesh they are sharded by rows if it divides
        their number.

    Raises:
        TypeError: dtypes of both differ or cannot be keys, or `mesh` is not a mesh.
        ValueError: numbers of columns or lengths differ, `transport` is unknown, or `axis` is not
            an axis of the mesh.

    Cost:
        See `local.isin` and `collective.isin`.

    Guarantees:
        Deterministic; independent of the mesh.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives, shardings
        >>> keys, test_keys = jnp.array([5, 2, 5, 7]), jnp.array([7, 5, 1])
        >>> primitives.isin(keys, test_keys, shardings.make_mesh(1), invert=True).tolist()
        [False, True, False, False]
    """
    caller = "isin"
    invert = as_flag(invert, caller, "invert")
    check_transport(transport, caller)
    row_mesh = as_row_mesh(mesh, axis, caller)
    if row_mesh is None:
        return local.isin(keys, test_keys, invert=invert, num_valid=num_valid)
    sides, _ = as_key_sides(
        keys, test_keys, None, caller, ("keys", "test_keys"), row_mesh.num_shards
    )
    lengths = sides.a[0].shape[0], sides.b[0].shape[0]
    valid = row_mesh.valid_rows_of_sides(num_valid, lengths, caller)
    placed = row_mesh.place((sides.a, sides.b))
    return _isin_on_mesh(*placed, valid, row_mesh, lengths, invert, transport)


@functools.partial(tiered, static_argnums=(3, 4, 5, 6))
def _isin_on_mesh(
    keys: tuple[Array, ...],
    test_keys: tuple[Array, ...],
    valid: ValidSides,
    row_mesh: RowMesh,
    lengths: tuple[int, int],
    invert: bool,
    transport: Transport,
) -> Array:
    def flag(keys: tuple[Array, ...], test_keys: tuple[Array, ...], valid: ValidSides) -> Array:
        return collective.isin(
            keys,
            test_keys,
            axis_name=row_mesh.axes,
            invert=invert,
            num_valid=row_mesh.num_valid_of_sides(lengths, valid),
            transport=transport,
        )

    flags = row_mesh.map(flag, keys, test_keys, replicated=(valid,))
    return row_mesh.trim(flags, lengths[0])
