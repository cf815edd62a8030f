# SPDX-License-Identifier: Apache-2.0
"""Sets of the keys of whole arrays, on one device or over a mesh."""

import functools
from typing import Any

from ...shardings._compat import MeshLike
from .. import collective, local
from .._in_shared_memory import in_shared_memory
from .._over_mesh import RowMesh, ValidSides, as_row_mesh
from .._sized import map_front_packed, sized
from ..collective._exchange import Transport, check_transport
from ..contract._typing import Array, Keys, NumValid
from ..local import KeySet
from ..local.parts import SetOp, as_key_sides, most_keys
from ..tiers._tiered import tiered


@in_shared_memory
def set_union(
    a: Keys,
    b: Keys,
    mesh: MeshLike | None = None,
    *,
    capacity: int | None = None,
    num_valid: tuple[NumValid, NumValid] | None = None,
    axis: str | tuple[str, ...] | None = None,
    transport: Transport = "auto",
) -> KeySet:
    """Finds the distinct keys that are in `a` or in `b`, in their order.

    Args:
        a: one array of shape `(a_rows,)`, or a tuple of them, most significant first; in any order.
            Keys are equal as in `radix_sort`: -0.0 equals 0.0, and all NaNs are equal.
        b: the same number of columns, of the same dtypes, each of shape `(b_rows,)`.
        mesh: mesh of the rows; one device by default.
        capacity: keys of the result. Static. By default an eager call returns the keys and no more;
            a traced one uses a capacity that always suffices.
        num_valid: numbers of valid rows of `a` and of `b`, at their fronts; all rows by default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.
        transport: transport of the rows; see `collective.partition`.

    Returns:
        `KeySet(unique_keys, count)`, ascending, NaN last and once; the first `count` keys are
        meaningful, and padding is zero. On a mesh they are sharded by rows if it divides their
        number. A key has the bits of its first row, where rows of `a` precede rows of `b`.

    Raises:
        CapacityError: an eager call was given too small a capacity.
        TypeError: dtypes of `a` and `b` differ or cannot be sorted by, `capacity` is traced, or
            `mesh` is not a mesh.
        ValueError: numbers of columns or lengths differ, `transport` is unknown, or `axis` is not
            an axis of the mesh.

    Cost:
        See `local.set_union` and `collective.set_union`; over a mesh each key
        moves once more. An eager call reads their number back.

    Guarantees:
        Deterministic; independent of the mesh; differentiable in float keys.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives, shardings
        >>> a, b = jnp.array([5, 1, 3, 5]), jnp.array([7, 5])
        >>> found = primitives.set_union(a, b, shardings.make_mesh(1))
        >>> found.unique_keys.tolist(), found.count.tolist()
        ([1, 3, 5, 7], 4)
    """
    return _as_set("union", a, b, mesh, capacity, num_valid, axis, transport)


@in_shared_memory
def set_intersection(
    a: Keys,
    b: Keys,
    mesh: MeshLike | None = None,
    *,
    capacity: int | None = None,
    num_valid: tuple[NumValid, NumValid] | None = None,
    axis: str | tuple[str, ...] | None = None,
    transport: Transport = "auto",
) -> KeySet:
    """Finds the distinct keys that are in `a` and in `b`, in their order.

    Args:
        a: one array of shape `(a_rows,)`, or a tuple of them, most significant first; in any order.
            Keys are equal as in `radix_sort`: -0.0 equals 0.0, and all NaNs are equal.
        b: the same number of columns, of the same dtypes, each of shape `(b_rows,)`.
        mesh: mesh of the rows; one device by default.
        capacity: keys of the result. Static. By default an eager call returns the keys and no more;
            a traced one uses a capacity that always suffices.
        num_valid: numbers of valid rows of `a` and of `b`, at their fronts; all rows by default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.
        transport: transport of the rows; see `collective.partition`.

    Returns:
        `KeySet(unique_keys, count)`, ascending, NaN last and once; the first `count` keys are
        meaningful, and padding is zero. On a mesh they are sharded by rows if it divides their
        number. A key has the bits of its first row in `a`.

    Raises:
        CapacityError: an eager call was given too small a capacity.
        TypeError: dtypes of `a` and `b` differ or cannot be sorted by, `capacity` is traced, or
            `mesh` is not a mesh.
        ValueError: numbers of columns or lengths differ, `transport` is unknown, or `axis` is not
            an axis of the mesh.

    Cost:
        See `local.set_intersection` and `collective.set_intersection`; over a mesh each key
        moves once more. An eager call reads their number back.

    Guarantees:
        Deterministic; independent of the mesh; differentiable in float keys.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives, shardings
        >>> a, b = jnp.array([5, 1, 3, 5]), jnp.array([7, 5])
        >>> found = primitives.set_intersection(a, b, shardings.make_mesh(1))
        >>> found.unique_keys.tolist(), found.count.tolist()
        ([5], 1)
    """
    return _as_set("intersection", a, b, mesh, capacity, num_valid, axis, transport)


@in_shared_memory
def set_difference(
    a: Keys,
    b: Keys,
    mesh: MeshLike | None = None,
    *,
    capacity: int | None = None,
    num_valid: tuple[NumValid, NumValid] | None = None,
    axis: str | tuple[str, ...] | None = None,
    transport: Transport = "auto",
) -> KeySet:
    """Finds the distinct keys of `a` that are not in `b`, in their order.

    Args:
        a: one array of shape `(a_rows,)`, or a tuple of them, most significant first; in any order.
            Keys are equal as in `radix_sort`: -0.0 equals 0.0, and all NaNs are equal.
        b: the same number of columns, of the same dtypes, each of shape `(b_rows,)`.
        mesh: mesh of the rows; one device by default.
        capacity: keys of the result. Static. By default an eager call returns the keys and no more;
            a traced one uses a capacity that always suffices.
        num_valid: numbers of valid rows of `a` and of `b`, at their fronts; all rows by default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.
        transport: transport of the rows; see `collective.partition`.

    Returns:
        `KeySet(unique_keys, count)`, ascending, NaN last and once; the first `count` keys are
        meaningful, and padding is zero. On a mesh they are sharded by rows if it divides their
        number. A key has the bits of its first row in `a`.

    Raises:
        CapacityError: an eager call was given too small a capacity.
        TypeError: dtypes of `a` and `b` differ or cannot be sorted by, `capacity` is traced, or
            `mesh` is not a mesh.
        ValueError: numbers of columns or lengths differ, `transport` is unknown, or `axis` is not
            an axis of the mesh.

    Cost:
        See `local.set_difference` and `collective.set_difference`; over a mesh each key
        moves once more. An eager call reads their number back.

    Guarantees:
        Deterministic; independent of the mesh; differentiable in float keys.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives, shardings
        >>> a, b = jnp.array([5, 1, 3, 5]), jnp.array([7, 5])
        >>> found = primitives.set_difference(a, b, shardings.make_mesh(1))
        >>> found.unique_keys.tolist(), found.count.tolist()
        ([1, 3], 2)
    """
    return _as_set("difference", a, b, mesh, capacity, num_valid, axis, transport)


def _as_set(
    op: SetOp,
    a: Any,
    b: Any,
    mesh: Any,
    capacity: Any,
    num_valid: Any,
    axis: Any,
    transport: Transport,
) -> KeySet:
    caller = f"set_{op}"
    check_transport(transport, caller)
    row_mesh = as_row_mesh(mesh, axis, caller)
    num_shards = 1 if row_mesh is None else row_mesh.num_shards
    sides, is_tuple = as_key_sides(a, b, None, caller, ("a", "b"), num_shards)
    lengths = sides.a[0].shape[0], sides.b[0].shape[0]
    valid = None if row_mesh is None else row_mesh.valid_rows_of_sides(num_valid, lengths, caller)
    placed = (sides.a, sides.b) if row_mesh is None else row_mesh.place((sides.a, sides.b))

    def run(capacity: int) -> Any:
        if row_mesh is None:
            options = {"capacity": capacity, "num_valid": num_valid}
            return tuple(getattr(local, caller)(*placed, **options))
        return _set_on_mesh(*placed, valid, row_mesh, op, capacity, lengths, transport)

    columns, count = sized(caller, run, capacity, most_keys(op, *lengths), row_mesh)
    return KeySet(columns if is_tuple else columns[0], count)


@functools.partial(tiered, static_argnums=(3, 4, 5, 6, 7))
def _set_on_mesh(
    a: tuple[Array, ...],
    b: tuple[Array, ...],
    valid: ValidSides,
    row_mesh: RowMesh,
    op: SetOp,
    capacity: int,
    lengths: tuple[int, int],
    transport: Transport,
) -> Any:
    def of_shard(a: tuple[Array, ...], b: tuple[Array, ...], valid: ValidSides) -> Any:
        found = getattr(collective, f"set_{op}")(
            a,
            b,
            axis_name=row_mesh.axes,
            num_valid=row_mesh.num_valid_of_sides(lengths, valid),
            transport=transport,
        )
        return tuple(found)

    return map_front_packed(
        row_mesh,
        of_shard,
        a,
        b,
        capacity=capacity,
        replicated=(valid,),
        transport=transport,
    )
