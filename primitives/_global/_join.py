# SPDX-License-Identifier: Apache-2.0
"""Relational match of whole arrays, on one device or over a mesh."""

from collections.abc import Callable

import jax
from jax.core import Tracer

from ...shardings._compat import MeshLike
from .._in_shared_memory import in_shared_memory
from .._sized import first_rows, in_steps
from ..collective._exchange import Transport, check_transport
from ..contract._arguments import CapacityError
from ..contract._typing import Array, Int, Keys, NumValid
from ..kernels.join._pair_counts import MOST_PAIRS
from ..local import Joined
from ..local.parts import How, as_pair_capacity
from ._ways_to_join import both_sides, way_to_join


@in_shared_memory
def join(
    left_keys: Keys,
    right_keys: Keys,
    mesh: MeshLike | None = None,
    *,
    how: How = "inner",
    capacity: int | Callable[[int], int] | None = None,
    num_valid: tuple[NumValid, NumValid] | None = None,
    axis: str | tuple[str, ...] | None = None,
    transport: Transport = "auto",
) -> Joined:
    """Pairs rows of two sides with equal keys, on one device or over a mesh.

    Gather the rows by the returned ids: `values[joined.left_rows]`, or over a
    mesh `gather_rows(values, joined.left_rows, mesh)`.

    Args:
        left_keys: one array of shape `(left_rows,)`, or a tuple of them, most significant first;
            of any length. NaN matches NaN, and -0.0 matches 0.0, as in pandas.
        right_keys: the same number of columns, of the same dtypes, each of shape `(right_rows,)`.
        mesh: mesh of the rows of both sides; one device by default.
        how: the kind of join, with pandas' order of rows:

            - `"inner"`: pairs, ordered by left row, then right row.
            - `"left"`: the same, plus left rows without a match, in order.
            - `"right"`: the same with the sides swapped: by right row, then left row.
            - `"outer"`: pairs plus the unmatched rows of both sides, ordered by key, then left row,
              then right row.
            - `"semi"`: the left rows with a match, once each.
            - `"anti"`: the left rows without a match.
            - `"cross"`: every left row with every right row, by left row, then right row. Keys are
              not compared, so those of the sides may differ in number and dtype.

        capacity: most pairs of the result. Static. By default an eager call counts the
            pairs first and returns exactly these; a function computes the capacity from their
            number. A traced call must be given a number, except for semi and anti joins (by default
            all left rows) and cross joins (by default all pairs of rows).
        num_valid: numbers of valid rows of the left and the right side, at their fronts; all rows
            by default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.
        transport: transport of the rows; see `collective.partition`.

    Returns:
        `Joined(left_rows, right_rows, count, num_unmatched_left, num_unmatched_right)`. Row ids are
        positions in the left and the right side, -1 for no match, in padding on both sides, and on
        the right side of a semi or anti join. On a mesh they are sharded by rows if it divides
        their number. Traced, `count` may pass the capacity: pairs did not fit then. The counts are
        exact below `2**31 - 1`, and that number from there on.

    Raises:
        CapacityError: an eager call was given too small a capacity.
        TypeError: dtypes of the sides differ or cannot be keys, `capacity` is traced, or `mesh` is
            not a mesh.
        ValueError: numbers of columns or lengths differ, `how` is unknown, `capacity`
            is left out of a traced join that needs it, or an eager join has 2^31 - 1 pairs or more.

    Cost:
        Work O(left_rows + right_rows + capacity) on CPU if the columns together fit one word of 64
        bits, in an eager join on one device by the ranges of integer columns; otherwise that of a
        sort of both sides. An eager left or inner join on one device uses
        a direct-address table, on every platform, if the right keys are distinct integers in a
        range of at most eight for each row of both sides; a right join does so for its left keys.
        Communication: that of `collective.join`.

    Guarantees:
        Deterministic; independent of the mesh. Values that are gathered by the ids are
        differentiable.

    References:
        Manegold, Boncz, Kersten (2002), "Optimizing main-memory join on modern hardware".

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives, shardings
        >>> left, right = jnp.array([1, 2, 2, 7]), jnp.array([2, 1, 2])
        >>> joined = primitives.join(left, right, shardings.make_mesh(1))
        >>> joined.left_rows.tolist(), joined.right_rows.tolist()
        ([0, 1, 1, 2, 2], [1, 0, 2, 0, 2])
    """
    caller = "join"
    check_transport(transport, caller)
    both = both_sides(left_keys, right_keys, how, num_valid, mesh, axis, transport, caller)
    sides = both.sides
    if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves((sides, both.valid))):
        return both.joined(as_pair_capacity(capacity, how, sides, caller))
    if capacity is not None and not callable(capacity):
        room = as_pair_capacity(capacity, how, sides, caller)
        joined = both.joined(room)
        if int(joined.count) > room:
            raise CapacityError(caller, int(joined.count), room)
        return joined
    way = way_to_join(both)
    size = way.num_pairs
    room = None if capacity is None else as_pair_capacity(capacity(size), how, sides, caller)
    if size >= MOST_PAIRS:
        pairs = f"{size:,}" if size > MOST_PAIRS else f"{size:,} or more"
        raise ValueError(
            f"{caller}: the result must have fewer than 2**31 - 1 pairs, got {pairs}. Drop keys "
            "that many rows of both sides have, or join the left side in parts."
        )
    if room is not None and size > room:
        raise CapacityError(caller, size, room)
    if room is not None:
        return way.pairs(room)
    joined = way.pairs(min(in_steps(size), MOST_PAIRS))
    left_rows, right_rows = first_rows(joined[:2], size, both.row_mesh)
    return joined._replace(left_rows=left_rows, right_rows=right_rows)


@in_shared_memory
def join_size(
    left_keys: Keys,
    right_keys: Keys,
    mesh: MeshLike | None = None,
    *,
    how: How = "inner",
    num_valid: tuple[NumValid, NumValid] | None = None,
    axis: str | tuple[str, ...] | None = None,
    transport: Transport = "auto",
) -> Int[Array, ""]:
    """Counts the pairs of a join without building them, on one device or over a mesh.

    Args:
        left_keys: as for `join`.
        right_keys: as for `join`.
        mesh: mesh of the rows of both sides; one device by default.
        how: as for `join`.
        num_valid: as for `join`.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.
        transport: transport of the rows; see `collective.partition`.

    Returns:
        The number of pairs, exact: int64 with x64 mode. Without it int32, which saturates at `2**31
        - 1`. On a mesh every device gets it.

    Raises:
        TypeError: dtypes of the sides differ or cannot be keys, or `mesh` is not a mesh.
        ValueError: numbers of columns or lengths differ, or `how` is unknown.

    Cost:
        Work O(left_rows + right_rows) on CPU, that of a sort of both sides elsewhere.
        Communication: that of `collective.join_size`.

    Guarantees:
        Deterministic; independent of the mesh.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives
        >>> primitives.join_size(jnp.array([1, 2, 2, 7]), jnp.array([2, 1, 2])).tolist()
        5
    """
    caller = "join_size"
    check_transport(transport, caller)
    return both_sides(left_keys, right_keys, how, num_valid, mesh, axis, transport, caller).size()
