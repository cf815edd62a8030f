# SPDX-License-Identifier: Apache-2.0
"""Random samples of the rows of whole arrays, on one device or over a mesh."""

import functools
from typing import Any

import jax.numpy as jnp

from ...shardings._compat import MeshLike
from .. import collective, local
from .._in_shared_memory import in_shared_memory
from .._over_mesh import RowMesh, ValidRows, as_row_mesh
from ..contract._arguments import MAX_SHARD_ROWS, as_flag, as_static_int
from ..contract._random_rows import as_key_words
from ..contract._typing import Array, ArrayLike, Integer, Shaped
from ..local import Sampled
from ..local.parts import as_segment_ids, as_weights
from ..tiers._tiered import tiered


@in_shared_memory(everywhere=True)
def sample(
    key: Shaped[ArrayLike, "..."],
    num_rows: int,
    k: int,
    mesh: MeshLike | None = None,
    *,
    replace: bool = False,
    weights: Shaped[ArrayLike, " rows"] | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    axis: str | tuple[str, ...] | None = None,
) -> Sampled:
    """Draws k rows at random, with or without replacement, on one device or over a mesh.

    Args:
        key: a key of `jax.random`.
        num_rows: the number of rows. Static.
        k: the number of rows to draw. Static.
        mesh: mesh of the rows; one device by default.
        replace: whether a row can be drawn more than once. Static.
        weights: for each row a number in proportion to which it is drawn, of shape `(rows,)`, as
            for `local.sample`; all rows are equally likely by default.
        num_valid: number of valid rows, at the front; all rows by default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.

    Returns:
        `Sampled(row_ids, count)`: the rows in the order in which they were drawn, -1 in padding;
        and the number of rows that could be drawn, at most k. Ids are int32, or int64 above 2^31
        rows. On a mesh every device gets them; `gather_rows` takes the rows.

    Raises:
        TypeError: `key` is not a key of `jax.random`, `weights` are not real numbers, `num_rows`,
            `k` or `replace` is traced, or `mesh` is not a mesh.
        ValueError: `k` is negative, or without `replace` above `num_rows`; `weights` have another
            length; or `axis` is not an axis of the mesh.

    Cost:
        See `collective.sample`; no row moves.

    Guarantees:
        Deterministic; the same on every mesh. The result holds integers, which have no derivative.

    References:
        Efraimidis and Spirakis (2006), "Weighted random sampling with a reservoir".

    Example:
        >>> import jax
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives, shardings
        >>> key, weights = jax.random.key(0), jnp.array([0, 2.0, 0, 1])
        >>> drawn = primitives.sample(key, 4, 3, shardings.make_mesh(1), weights=weights)
        >>> sorted(drawn.row_ids.tolist()), drawn.count.tolist()
        ([-1, 1, 3], 2)
    """
    caller = "sample"
    replace = as_flag(replace, caller, "replace")
    row_mesh = as_row_mesh(mesh, axis, caller)
    if row_mesh is None:
        return local.sample(key, num_rows, k, replace=replace, weights=weights, num_valid=num_valid)
    words = as_key_words(key, caller)
    most = row_mesh.num_shards * MAX_SHARD_ROWS
    num_rows = as_static_int(num_rows, caller, "num_rows", 0, most)
    k = as_static_int(k, caller, "k", 0, MAX_SHARD_ROWS if replace else num_rows)
    placed = row_mesh.place(as_weights(weights, num_rows, caller))
    valid = row_mesh.valid_rows(num_valid, num_rows, caller)
    return _sample_on_mesh(placed, words, valid, row_mesh, num_rows, k, replace)


@in_shared_memory(everywhere=True)
def segment_sample(
    key: Shaped[ArrayLike, "..."],
    segment_ids: Integer[ArrayLike, " rows"],
    num_segments: int,
    k: int,
    mesh: MeshLike | None = None,
    *,
    weights: Shaped[ArrayLike, " rows"] | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    axis: str | tuple[str, ...] | None = None,
) -> Sampled:
    """Draws k rows of each segment without replacement, on one device or over a mesh.

    Args:
        key: a key of `jax.random`.
        segment_ids: segment of each row, integers of shape `(rows,)`, in any order. Rows with an id
            outside `[0, num_segments)` belong to no segment.
        num_segments: number of segments. Static.
        k: the number of rows to draw of each segment. Static.
        mesh: mesh of the rows; one device by default.
        weights: as for `sample`.
        num_valid: number of valid rows, at the front; all rows by default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.

    Returns:
        `Sampled(row_ids, count)`: for each segment the rows in the order in which they were drawn,
        of shape `(num_segments, k)`, -1 at the end of a segment with fewer; and the number of rows
        drawn of each. On a mesh every device gets them.

    Raises:
        TypeError: `key` is not a key of `jax.random`, `segment_ids` are not integers, `weights`
            are not real numbers, `num_segments` or `k` is traced, or `mesh` is not a mesh.
        ValueError: arrays of different lengths, a number is out of range, or `axis` is not an axis
            of the mesh.

    Cost:
        See `collective.segment_sample`; no row moves.

    Guarantees:
        Deterministic; the same on every mesh.

    Example:
        >>> import jax
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives, shardings
        >>> key, mesh = jax.random.key(0), shardings.make_mesh(1)
        >>> drawn = primitives.segment_sample(key, jnp.array([0, 2, 0, 0]), 3, 2, mesh)
        >>> drawn.row_ids[2].tolist(), drawn.count.tolist()
        ([1, -1], [2, 0, 1])
    """
    caller = "segment_sample"
    row_mesh = as_row_mesh(mesh, axis, caller)
    if row_mesh is None:
        return local.segment_sample(
            key, segment_ids, num_segments, k, weights=weights, num_valid=num_valid
        )
    words = as_key_words(key, caller)
    num_rows = jnp.shape(segment_ids)[0] if jnp.ndim(segment_ids) else 0
    segments = as_segment_ids(segment_ids, num_segments, num_rows, None, caller)
    k = as_static_int(k, caller, "k", 0, MAX_SHARD_ROWS)
    rows = row_mesh.place((segments.ids, as_weights(weights, num_rows, caller)))
    valid = row_mesh.valid_rows(num_valid, num_rows, caller)
    settings = (row_mesh, num_rows, segments.num_segments, k)
    return _sample_segments_on_mesh(rows, words, valid, *settings)


@functools.partial(tiered, static_argnums=(3, 4, 5, 6))
def _sample_on_mesh(
    weights: Array | None,
    words: Array,
    valid: ValidRows | None,
    row_mesh: RowMesh,
    num_rows: int,
    k: int,
    replace: bool,
) -> Sampled:
    def of_shard(weights: Array | None, words: Array, valid: ValidRows | None) -> Sampled:
        return collective.sample(
            words,
            row_mesh.shard_rows(num_rows),
            k,
            axis_name=row_mesh.axes,
            replace=replace,
            weights=weights,
            num_valid=row_mesh.num_valid(num_rows, valid),
        )

    return row_mesh.map_to_all(of_shard, weights, replicated=(words, valid))


@functools.partial(tiered, static_argnums=(3, 4, 5, 6))
def _sample_segments_on_mesh(
    rows: Any,
    words: Array,
    valid: ValidRows | None,
    row_mesh: RowMesh,
    num_rows: int,
    num_segments: int,
    k: int,
) -> Sampled:
    def of_shard(rows: Any, words: Array, valid: ValidRows | None) -> Sampled:
        segment_ids, weights = rows
        return collective.segment_sample(
            words,
            segment_ids,
            num_segments,
            k,
            axis_name=row_mesh.axes,
            weights=weights,
            num_valid=row_mesh.num_valid(num_rows, valid),
        )

    return row_mesh.map_to_all(of_shard, rows, replicated=(words, valid))
