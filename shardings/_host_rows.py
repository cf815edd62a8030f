# SPDX-License-Identifier: Apache-2.0
"""One table over the mesh from the rows of each process."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding

from ._arguments import as_capacity, as_rows, as_static_int, type_of
from ._check_processes import compare_arrays
from ._mesh import num_shards, replicated, row_axes, row_sharded
from ._row_layout import RowLayout
from ._shard_rows import ShardedRows

ReadRows = Callable[[int, int], Any]


def host_rows(
    rows: Any | ReadRows,
    mesh: Mesh,
    axis: str | tuple[str, ...] | None = None,
    *,
    num_rows: int | None = None,
    capacity: int | None = None,
) -> ShardedRows:
    """Builds one row-sharded table from the pieces of all processes.

    Every process calls this with the same mesh and options; no process sees the rows of another.
    Each process passes either its own rows, any number of them, which are sharded over its own
    devices as in `shard_rows`; or the same function, which returns the rows of its shards.

    Args:
        rows: this process's rows, a pytree of arrays with the same leading axis, the same dtypes
            and trailing shapes in every process, even without rows. Or a function of
            `(start, stop)` that returns these rows of the whole table, for example from a file.
        mesh: the mesh, the same in every process, over devices of all of them.
        axis: mesh axis or axes of the rows; all axes by default. Processes with the same shard pass
            the same rows.
        num_rows: number of rows of the whole table; required with a function.
        capacity: most rows of a shard, the same in every process. By default the processes agree on
            the smallest one that holds all rows.

    Returns:
        `ShardedRows(rows, layout)`. The order of the rows is that of the shards.

    Raises:
        TypeError: an array of anything but numbers, or of 64 bits without x64 mode.
        ValueError: leaves of different lengths, an unknown axis, a mesh
            without a device of this process, too small a capacity, `num_rows`
            without a function, or other leaves, dtypes or trailing shapes than another process.

    Cost:
        Rows go from a host to its own devices only. Communication: 32 bytes for each process,
        and one integer for each shard if no capacity is given.

    Example:
        Two processes of two devices:

            process 0   rows [1 2 3]
            process 1   rows [4]
            ->
            shard 0   rows [1 2]   count 2
            shard 1   rows [3 0]   count 1
            shard 2   rows [4 0]   count 1
            shard 3   rows [0 0]   count 0

        >>> import numpy as np
        >>> from jaxframes import shardings
        >>> squares = lambda start, stop: np.arange(start, stop, dtype=np.int32) ** 2
        >>> sharded = shardings.host_rows(squares, shardings.make_mesh(1), num_rows=4)
        >>> sharded.rows.tolist(), sharded.layout.num_rows
        ([0, 1, 4, 9], 4)
    """
    caller = "host_rows"
    axes = row_axes(mesh, axis, caller)
    shards = num_shards(mesh, axes)
    sharding = row_sharded(mesh, axes)
    own_shards = _own_shards(sharding, shards)
    if not own_shards:
        raise ValueError(
            f"{caller}: the mesh must have a device of every process, got none of process "
            f"{jax.process_index()}. Build it over all of jax.devices()."
        )
    if callable(rows):
        if num_rows is None:
            raise ValueError(
                f"{caller}: a function of (start, stop) needs num_rows, got none. "
                "Pass the number of rows of the whole table."
            )
        num_rows = as_static_int(num_rows, caller, "num_rows")
        capacity = as_capacity(capacity, num_rows, shards, caller)
        pieces = _read(rows, own_shards, num_rows, capacity, caller)
    else:
        if num_rows is not None:
            raise ValueError(
                f"{caller}: num_rows requires a function of (start, stop), got "
                f"num_rows={num_rows} with arrays. Leave it out."
            )
        pieces = _dealt(rows, own_shards, capacity, caller)

    any_piece = next(iter(pieces.values()))
    compare_arrays(any_piece, tuple(mesh.devices.flat), caller, "rows", 1, {"capacity": capacity})
    lengths = {shard: np.array([_length(piece)], np.int32) for shard, piece in pieces.items()}
    counts = _assembled(lengths, shards, 1, sharding)
    if capacity is None:
        capacity = int(jax.jit(jnp.max, out_shardings=replicated(mesh))(counts))
    placed = jax.tree.map(
        lambda *leaves: _assembled(
            dict(zip(pieces, leaves, strict=True)), shards, capacity, sharding
        ),
        *pieces.values(),
    )
    return ShardedRows(placed, RowLayout(mesh, axes, capacity, counts))


def _own_shards(sharding: NamedSharding, shards: int) -> list[int]:
    """The shards on devices of this process, in order."""
    indices = sharding.addressable_devices_indices_map((shards,)).values()
    return sorted({index[0].start or 0 for index in indices if index is not None})


def _read(
    read_rows: ReadRows, own_shards: list[int], num_rows: int, capacity: int, caller: str
) -> dict[int, Any]:
    pieces: dict[int, Any] = {}
    first = described = None
    for shard in own_shards:
        start, stop = (min(end * capacity, num_rows) for end in (shard, shard + 1))
        piece, length = _host_tree(read_rows(start, stop), caller)
        if length != stop - start:
            raise ValueError(
                f"{caller}: the function must return the rows from start to stop, got {length} "
                f"rows for start={start}, stop={stop}."
            )
        leaves, structure = jax.tree.flatten(piece)
        kinds = structure, [(leaf.dtype, leaf.shape[1:]) for leaf in leaves]
        if described is None:
            first, described = start, kinds
        if kinds != described:
            raise ValueError(
                f"{caller}: the function must return the same structure, dtypes and trailing "
                f"shapes for all rows, got {jax.tree.map(type_of, pieces[own_shards[0]])} for "
                f"start={first} and {jax.tree.map(type_of, piece)} for start={start}. Convert them "
                "in the function."
            )
        pieces[shard] = piece
    return pieces


def _dealt(rows: Any, own_shards: list[int], capacity: int | None, caller: str) -> dict[int, Any]:
    rows, num_rows = _host_tree(rows, caller)
    step = as_capacity(capacity, num_rows, len(own_shards), caller)
    return {
        shard: jax.tree.map(lambda leaf, i=i: leaf[i * step : (i + 1) * step], rows)
        for i, shard in enumerate(own_shards)
    }


def _host_tree(rows: Any, caller: str) -> tuple[Any, int]:
    rows, num_rows = as_rows(rows, caller)
    return jax.tree.map(np.asarray, rows), num_rows


def _length(piece: Any) -> int:
    return jax.tree.leaves(piece)[0].shape[0]


def _assembled(
    pieces: dict[int, np.ndarray], shards: int, capacity: int, sharding: NamedSharding
) -> jax.Array:
    """Places one piece on each shard, padded with zeros to `capacity` rows."""

    any_piece = next(iter(pieces.values()))

    def piece_at(index: tuple[slice, ...] | None) -> np.ndarray:
        assert index is not None
        # Without rows every shard starts at 0.
        piece = pieces[(index[0].start or 0) // capacity] if capacity else any_piece
        padding = [(0, capacity - piece.shape[0])] + [(0, 0)] * (piece.ndim - 1)
        return np.pad(piece, padding)

    shape = (shards * capacity, *any_piece.shape[1:])
    return jax.make_array_from_callback(shape, sharding, piece_at)
