# SPDX-License-Identifier: Apache-2.0
"""Runs of equal adjacent keys in whole arrays, on one device or over a mesh."""

import functools
from typing import Any

from ...shardings._compat import MeshLike
from .. import collective, local
from .._in_shared_memory import in_shared_memory
from .._over_mesh import RowMesh, ValidRows, as_row_mesh
from .._sized import map_front_packed, sized
from ..collective._exchange import Transport, check_transport
from ..contract._arguments import as_keys
from ..contract._typing import Array, ArrayLike, Integer, Keys
from ..local import RunLengths
from ..tiers._tiered import tiered


@in_shared_memory
def run_length_encode(
    keys: Keys,
    mesh: MeshLike | None = None,
    *,
    capacity: int | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    axis: str | tuple[str, ...] | None = None,
    transport: Transport = "auto",
) -> RunLengths:
    """Finds the runs of equal adjacent keys, on one device or over a mesh.

    Args:
        keys: one array of shape `(rows,)`, or a tuple of them; in any order, of any length. Keys
            are equal as in `radix_sort`: -0.0 equals 0.0, and all NaNs are equal.
        mesh: mesh of the rows; one device by default.
        capacity: runs of the result. Static. By default an eager call returns the runs and no more;
            a traced one has the number of rows as its capacity.
        num_valid: number of valid rows, at the front; all rows by default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.
        transport: how the runs travel; see `collective.partition`.

    Returns:
        `RunLengths(unique_keys, run_lengths, num_runs)`, in the order of the rows; the first
        `num_runs` are meaningful, and padding is zero. On a mesh they are sharded by rows if it
        divides their number. A key has the bits of the first row of its run.

    Raises:
        CapacityError: an eager call was given too small a capacity.
        TypeError: a dtype that is not a key dtype, `capacity` is traced, or `mesh` is not a mesh.
        ValueError: keys that differ in length or are not one-dimensional, `transport` is unknown,
            or `axis` is not an axis of the mesh.

    Cost:
        Work O(rows x key bytes). Communication: see `collective.run_length_encode`; each run moves
        once. An eager call reads the number of runs back.

    Guarantees:
        Deterministic; independent of the mesh; differentiable in float keys.

    References:
        Merrill (2015), "CUB: flexible library of cooperative threadblock primitives and other
        utilities for CUDA kernel programming" (`DeviceRunLengthEncode`).

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives, shardings
        >>> keys = jnp.array([5, 5, 2, 5, 5, 5])
        >>> runs = primitives.run_length_encode(keys, shardings.make_mesh(1))
        >>> runs.unique_keys.tolist(), runs.run_lengths.tolist()
        ([5, 2, 5], [2, 1, 3])
    """
    caller = "run_length_encode"
    check_transport(transport, caller)
    row_mesh = as_row_mesh(mesh, axis, caller)
    num_shards = 1 if row_mesh is None else row_mesh.num_shards
    columns, is_tuple = as_keys(keys, caller, num_shards=num_shards)
    num_rows = columns[0].shape[0]
    placed = columns if row_mesh is None else row_mesh.place(columns)
    valid = None if row_mesh is None else row_mesh.valid_rows(num_valid, num_rows, caller)

    def run(capacity: int) -> Any:
        if row_mesh is None:
            runs = local.run_length_encode(placed, capacity=capacity, num_valid=num_valid)
            return (runs.unique_keys, runs.run_lengths), runs.num_runs
        return _encode_on_mesh(placed, valid, row_mesh, capacity, num_rows, transport)

    (unique_columns, lengths), num_runs = sized(caller, run, capacity, num_rows, row_mesh)
    return RunLengths(unique_columns if is_tuple else unique_columns[0], lengths, num_runs)


@functools.partial(tiered, static_argnums=(2, 3, 4, 5))
def _encode_on_mesh(
    columns: tuple[Array, ...],
    valid: ValidRows | None,
    row_mesh: RowMesh,
    capacity: int,
    num_rows: int,
    transport: Transport,
) -> Any:
    def of_shard(columns: tuple[Array, ...], valid: ValidRows | None) -> Any:
        runs = collective.run_length_encode(
            columns, axis_name=row_mesh.axes, num_valid=row_mesh.num_valid(num_rows, valid)
        )
        return (runs.unique_keys, runs.run_lengths), runs.num_runs

    return map_front_packed(
        row_mesh,
        of_shard,
        columns,
        capacity=capacity,
        replicated=(valid,),
        transport=transport,
    )
