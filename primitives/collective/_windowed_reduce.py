# SPDX-License-Identifier: Apache-2.0
"""Windowed reductions over the shards of a mesh axis."""

from typing import Any

import jax
import jax.numpy as jnp

from ..contract._arguments import as_num_valid
from ..contract._take import take_rows
from ..contract._typing import Array, ArrayLike, Bool, Integer, PyTree, Shaped
from ..local import WindowBounds, Windowed
from ..local.parts import (
    Reach,
    RowSequence,
    SegmentEncoding,
    Window,
    WindowedRows,
    WindowPlan,
    as_reach,
    as_window_segments,
    as_windowed,
    as_windows,
    check_bounds,
    masks_of,
    over_short_windows,
    over_windows,
    position_dtype,
    segments_of_windows,
)
from ._axis import AxisName, as_shards, num_shards_on
from ._gather_rows import gather_rows
from ._scan import inclusive_scan
from ._segmented_scan import segmented_scan


def windowed_reduce(
    x: PyTree,
    window: Window,
    op: str,
    *,
    axis_name: AxisName,
    offset: int | Integer[ArrayLike, ""] = 0,
    other: Shaped[ArrayLike, " rows ..."] | None = None,
    where: PyTree | None = None,
    head_flags: Bool[ArrayLike, " rows"] | None = None,
    segment_ids: Integer[ArrayLike, " rows"] | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    ddof: int = 0,
) -> Windowed:
    """Reduces the window of rows of each row, over the ends of shards.

    The rows are those of shard 0, then those of shard 1, and so on. A window may cross any number
    of shards; shards without rows are passed over.

    Args:
        x: this shard's rows, an array of shape `(rows, ...)` or a pytree of them.
        window: the rows of a window, the row itself the last of them; see `local.windowed_reduce`.
            The positions of `WindowBounds` are those in the sequence of all rows.
        op: "sum", "prod", "min", "max", "count", "mean", "var", "std", "skew" or "kurt"; "cov" or
            "corr" of `x` and `other`. Static.
        axis_name: mesh axis of the rows, or a tuple of axes.
        offset: number of rows from a row to the end of its window; negative before the row.
        other: this shard's rows of the second column of "cov" and "corr".
        where: a flag for each row, bool of shape `(rows,)`: rows without one are excluded from all
            windows. Or a pytree of these, and of None, that is a prefix of `x`.
        head_flags: True at the first row of each segment, bool of shape `(rows,)`; windows stop at
            the ends of their row's segment. All rows are one segment by default. A segment
            may cross shards: the first row of all starts one, that of a shard does not.
        segment_ids: an alternative to `head_flags`, integers of shape `(rows,)`: a segment is a run
            of equal ids, over the ends of shards too.
        num_valid: number of valid rows of this shard, at its front; all rows by default.
        ddof: delta degrees of freedom; "var" and "std" divide by the number of rows minus `ddof`.
            Static.

    Returns:
        `Windowed(values, counts)` of this shard's rows; see `local.windowed_reduce`.

    Raises:
        TypeError: `window` or `offset` is not an integer, `where` or `head_flags` is not bool,
            `segment_ids` are not integers, or a dtype that `op` does not support.
        ValueError: as `local.windowed_reduce`, or `axis_name` is not an axis of the enclosing
            `shard_map`.

    Cost:
        Work as for `local.windowed_reduce`. Communication: a short window takes one `all_gather` of
        the last `window - 1` rows of each shard. Others take that of their scans, and one
        `gather_rows` of those where windows begin, and where they end if `offset` is not zero.
        Segments take a scan of positions, or two if `offset` is not zero, and so do `WindowBounds`.

    Guarantees:
        As for `local.windowed_reduce`; integers and extremes do not depend on the mesh.

    Example:
        Two shards, `window=3`, "sum":

            shard 0   x [5 1 4]
            shard 1   x [2 8 _]   num_valid 2
            ->
            shard 0   values [5  6 10]   counts [1 2 3]
            shard 1   values [7 14  0]   counts [3 3 0]
    """
    caller = "windowed_reduce"
    num_shards = num_shards_on(axis_name, caller)
    rows, plan = as_windows(caller, x, window, op, offset, other, where, ddof)
    encoding = as_window_segments(head_flags, segment_ids, rows, caller)
    num_rows = jax.tree.leaves(rows.x)[0].shape[0]
    reach = as_reach(window, offset, num_rows * num_shards, caller)
    if isinstance(reach, WindowBounds):
        check_bounds(reach, encoding, num_rows, caller)
    valid = as_num_valid(num_valid, num_rows, caller)
    return window_shards(rows, encoding, reach, valid, plan, axis_name)


def window_shards(
    rows: WindowedRows,
    encoding: SegmentEncoding,
    reach: Reach | WindowBounds,
    num_valid: Array,
    plan: WindowPlan,
    axis_name: AxisName,
) -> Windowed:
    """The windows of checked arguments."""
    rows, encoding, num_valid = as_shards((rows, encoding, num_valid), axis_name)
    if isinstance(reach, WindowBounds):
        reach = as_shards(reach, axis_name)
    caller = "windowed_reduce"
    leaves, tree = jax.tree.flatten(rows.x)
    masks = masks_of(rows.where, rows.x, caller)
    num_rows = leaves[0].shape[0]
    dtype = position_dtype(num_rows * num_shards_on(axis_name, caller), caller)
    # The rows of all shards before each one, and before the end of each one.
    ends = jnp.cumsum(jax.lax.all_gather(num_valid, axis_name).astype(dtype))
    shard = jax.lax.axis_index(axis_name)
    first = ends[shard] - num_valid.astype(dtype)
    positions = first + jax.lax.iota(dtype, num_rows)

    def scan(rows: Any, op: Any, encoding: SegmentEncoding, reverse: bool) -> Any:
        settings = {"axis_name": axis_name, "reverse": reverse, "num_valid": num_valid}
        if not jax.tree.leaves(encoding):
            return inclusive_scan(rows, op, **settings)
        return segmented_scan(rows, op, **encoding._asdict(), **settings)

    segments = segments_of_windows(encoding, positions, scan, plan)
    if plan.width is not None:
        before = _halo(leaves, masks, ends, first, num_valid, plan.width - 1, axis_name)
        values, all_counts = over_short_windows(leaves, masks, before, positions, segments, plan)
        return as_windowed(values, all_counts, num_valid, tree)

    def take(rows: Any, positions: Array) -> Any:
        wanted = jnp.clip(positions, 0, jnp.maximum(ends[-1] - 1, 0))
        return gather_rows(
            rows, _global_ids(wanted, ends, num_rows), axis_name=axis_name, num_valid=num_valid
        )

    sequence = RowSequence(positions, ends[-1], segments, None, scan, take)
    values, all_counts = over_windows(leaves, masks, rows.other, reach, sequence, plan)
    return as_windowed(values, all_counts, num_valid, tree)


def _owners(positions: Array, ends: Array) -> Array:
    """The shard of each position in the sequence of all rows."""
    owners = jnp.searchsorted(ends, positions, side="right", method="scan_unrolled")
    return jnp.minimum(owners.astype(jnp.int32), ends.shape[0] - 1)


def _starts(ends: Array) -> Array:
    return jnp.concatenate([jnp.zeros_like(ends[:1]), ends[:-1]])


def _global_ids(positions: Array, ends: Array, num_rows: int) -> Array:
    """The ids of rows that are named by their positions in the sequence of all rows."""
    owners = _owners(positions, ends)
    return positions - _starts(ends)[owners] + owners.astype(positions.dtype) * num_rows


def _halo(
    leaves: list[Array],
    masks: list[Array | None],
    ends: Array,
    first: Array,
    num_valid: Array,
    size: int,
    axis_name: AxisName,
) -> tuple[list[Array], list[Array | None], Array]:
    """The rows before this shard's first one, and a flag for each whether there is one.

    Each shard sends its last `size` rows to all: those of this halo that are not the neighbour's
    lie further back, on shards with fewer rows than that between.
    """
    rows = leaves, masks
    if not leaves[0].shape[0] or not size:
        empty = jax.tree.map(
            lambda leaf: jnp.zeros((size, *leaf.shape[1:]), leaf.dtype), (leaves, masks)
        )
        return *empty, jnp.zeros(size, jnp.bool_)
    slots = jax.lax.iota(jnp.int32, size)
    last_rows = jnp.maximum(num_valid - size + slots, 0)
    tails = jax.tree.map(
        lambda leaf: jax.lax.all_gather(take_rows(leaf, last_rows, is_unique=False), axis_name),
        rows,
    )
    positions = first - size + slots.astype(first.dtype)
    is_row = positions >= 0
    owners = _owners(jnp.maximum(positions, 0), ends)
    # A tail ends with the last row of its shard.
    in_tail = jnp.clip(positions - (ends[owners] - size), 0, size - 1).astype(jnp.int32)
    halo = jax.tree.map(lambda leaf: leaf[owners, in_tail], tails)
    return *halo, is_row
