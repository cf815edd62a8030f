# SPDX-License-Identifier: Apache-2.0
"""Each row's window of rows reduced to one."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...shardings._compat import is_x64_enabled
from ..contract._arguments import (
    as_array,
    as_num_valid,
    as_rows,
    as_static_int,
    num_rows_of,
    type_of,
)
from ..contract._op_names import as_reduction_name
from ..contract._typing import Array, ArrayLike, Bool, Integer, PyTree, Shaped
from ..kernels.scan._segmented_scan import fill_padding
from ..tiers._tiered import tiered
from ._reduce import as_masks
from ._reduced_columns import masks_of
from ._scan import inclusive_scan
from ._scan_segments import SegmentEncoding, as_segments
from ._segmented_scan import segmented_scan
from ._window_bounds import Reach, RowSequence, WindowBounds, WindowPlan, segments_of_windows
from ._window_moments import take_each, take_shifted
from ._windows import (
    PAIR_OPS,
    WINDOW_OPS,
    WindowedRows,
    check_windowed,
    over_short_windows,
    over_windows,
)

# Windows of so few rows are read row by row: that is one pass, and no scan.
MAX_SHORT_WINDOW = 16
_SHORT_OPS = ("sum", "prod", "min", "max", "count", "mean")

Window = int | Integer[ArrayLike, ""] | WindowBounds | None


class Windowed(NamedTuple):
    """One value for each row's window.

    Attributes:
        values: the reduced values, a pytree like the rows.
        counts: the rows of each window, an int32 array of shape `(rows,)` for each of `values`.
    """

    values: PyTree
    counts: PyTree


def windowed_reduce(
    x: PyTree,
    window: Window,
    op: str,
    *,
    offset: int | Integer[ArrayLike, ""] = 0,
    other: Shaped[ArrayLike, " rows ..."] | None = None,
    where: PyTree | None = None,
    head_flags: Bool[ArrayLike, " rows"] | None = None,
    segment_ids: Integer[ArrayLike, " rows"] | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    ddof: int = 0,
) -> Windowed:
    """Reduces the window of rows of each row.

    Args:
        x: array of shape `(rows, ...)`, or a pytree of them.
        window: the rows of a window, the row itself the last of them. None for all rows up to the
            row. At most 16 given as a Python integer are part of the program; all larger windows,
            and those given as an array, share one program. Or `WindowBounds`, for windows of
            varying numbers of rows.
        op: "sum", "prod", "min", "max", "count", "mean", "var", "std", "skew" or "kurt"; "cov" or
            "corr" of `x` and `other`. Static.
        offset: number of rows from a row to the end of its window; negative before the row. Zero
            with `WindowBounds`.
        other: the second column of "cov" and "corr", an array that broadcasts against each of `x`.
        where: a flag for each row, bool of shape `(rows,)`: rows without one are excluded from all
            windows. Or a pytree of these, and of None, that is a prefix of `x`.
        head_flags: True at the first row of each segment, bool of shape `(rows,)`; windows stop at
            the ends of their row's segment. All rows are one segment by default. The first row
            always starts a segment.
        segment_ids: an alternative to `head_flags`, integers of shape `(rows,)`: a segment is a run
            of equal ids.
        num_valid: number of valid rows, at the front; all rows by default.
        ddof: delta degrees of freedom; "var" and "std" divide by the number of rows minus `ddof`.
            Static.

    Returns:
        `Windowed(values, counts)`: for each array of `x` one of the same shape, and the number of
        rows that each window holds. A window holds only valid rows of its row's segment. If it
        holds none, its value is the identity element of `op`, or NaN for an average. Skewness and
        kurtosis are unbiased, and NaN for equal values. Zeros fill the rows that do not count.

    Raises:
        TypeError: `window` or `offset` is not an integer, `where` or `head_flags` is not bool,
            `segment_ids` are not integers, or a dtype that `op` does not support.
        ValueError: lengths differ, `window` is negative, `op` is unknown, both `head_flags` and
            `segment_ids` are given, or these or `offset` with `WindowBounds`.

    Cost:
        Work O(rows), for any window: two scans for each operator, by a function for averages of
        powers and products of distances ("var" to "corr"), where on CPU one kernel takes both
        scans. A short window is read row by row, in one pass. Segments add a scan of positions and
        a gather of rows; a second scan and gather if `offset` is not zero. `WindowBounds` add the
        same. No communication.

    Guarantees:
        Deterministic; differentiable in `x` if the result is a float. A value has no part in a
        window that it does not lie in: a NaN or an infinity stays in its own windows, and sums are
        off by at most `window` times the unit roundoff times the sum of the absolute values.

    References:
        van Herk (1992), "A fast algorithm for local minimum and maximum filters on rectangular and
        octagonal kernels"; Gil and Werman (1993), "Computing 2-D min, median, and max filters".

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> x = jnp.array([5, 1, 4, 2, 8])
        >>> sums = local.windowed_reduce(x, 3, "sum")
        >>> sums.values.tolist(), sums.counts.tolist()
        ([5, 6, 10, 7, 14], [1, 2, 3, 3, 3])
        >>> local.windowed_reduce(x, 3, "max", offset=1, where=x < 8).values.tolist()
        [5, 5, 4, 4, 2]
        >>> segment_ids = jnp.array([7, 7, 2, 2, 2])
        >>> local.windowed_reduce(x, 3, "sum", segment_ids=segment_ids).values.tolist()
        [5, 6, 4, 6, 14]

        Windows of two units of time before each row's, which is not part of it, in blocks of two:

        >>> times = jnp.array([0, 1, 3, 4, 4])
        >>> first, end = (jnp.searchsorted(times, bound) for bound in (times - 2, times))
        >>> bounds = local.WindowBounds(first, end - 1, jnp.diff(times // 2, prepend=-1) > 0)
        >>> local.windowed_reduce(x, bounds, "sum").values.tolist()
        [0, 5, 1, 4, 4]
    """
    caller = "windowed_reduce"
    rows, plan = as_windows(caller, x, window, op, offset, other, where, ddof)
    encoding = as_window_segments(head_flags, segment_ids, rows, caller)
    num_rows = jax.tree.leaves(rows.x)[0].shape[0]
    reach = as_reach(window, offset, num_rows, caller)
    if isinstance(reach, WindowBounds):
        check_bounds(reach, encoding, num_rows, caller)
    valid = None if num_valid is None else as_num_valid(num_valid, num_rows, caller)
    return _windowed_reduce(rows, encoding, reach, valid, plan)


def as_windows(
    caller: str, x: Any, window: Any, op: Any, offset: Any, other: Any, where: Any, ddof: Any
) -> tuple[WindowedRows, WindowPlan]:
    """Checks all arguments but the reach of the windows and the number of valid rows."""
    op = as_reduction_name(op, WINDOW_OPS, caller)
    num_rows = num_rows_of(x, caller, "x")
    x = as_rows(x, num_rows, caller, "x")
    for leaf in jax.tree.leaves(x):
        check_windowed(leaf, op, caller)
    other = _as_other(other, x, op, num_rows, caller)
    where = as_masks(where, num_rows, caller)
    masks_of(where, x, caller)
    ddof = as_static_int(ddof, caller, "ddof", 0)
    is_bounded = isinstance(window, WindowBounds)
    is_known = not isinstance(window, jax.Array) and window is not None and not is_bounded
    moves_ends = is_bounded or isinstance(offset, jax.Array) or offset != 0
    width = None
    if is_known:
        known = as_static_int(window, caller, "window", 0)
        is_short = 0 < known <= MAX_SHORT_WINDOW and op in _SHORT_OPS and not moves_ends
        width = known if is_short else None
    plan = WindowPlan(op, ddof, width, window is None, moves_ends)
    return WindowedRows(x, where, other), plan


def _as_other(other: Any, x: Any, op: str, num_rows: int, caller: str) -> Array | None:
    if op not in PAIR_OPS:
        if other is not None:
            names = " and ".join(map(repr, PAIR_OPS))
            raise ValueError(f"{caller}: other is for {names}, got it for {op!r}.")
        return None
    if other is None:
        raise ValueError(f"{caller}: {op!r} needs the second column, other. Pass an array.")
    other = as_rows(other, num_rows, caller, "other")
    check_windowed(other, op, caller)
    for leaf in jax.tree.leaves(x):
        shapes = other.shape, leaf.shape
        if len(shapes[0]) != len(shapes[1]) or np.broadcast_shapes(*shapes) != shapes[1]:
            raise ValueError(
                f"{caller}: other must broadcast against x, got {type_of(other)} and "
                f"{type_of(leaf)}."
            )
    return other


def as_window_segments(
    head_flags: Any, segment_ids: Any, rows: Any, caller: str
) -> SegmentEncoding:
    """Checks that at most one of the two encodings is given."""
    if head_flags is None and segment_ids is None:
        return SegmentEncoding(None, None)
    return as_segments(head_flags, segment_ids, jax.tree.leaves(rows.x)[0].shape[0], caller)


def check_bounds(
    bounds: WindowBounds, encoding: SegmentEncoding, num_rows: int, caller: str
) -> None:
    """Raises unless bounds have an entry for each row, and stand alone."""
    if jax.tree.leaves(encoding):
        raise ValueError(
            f"{caller}: WindowBounds take no segments, got head_flags or segment_ids. Let the "
            "bounds and the blocks stop at their ends."
        )
    for name, array in bounds._asdict().items():
        kind = jnp.bool_ if name == "block_heads" else jnp.integer
        if array is None:
            continue
        if not jnp.issubdtype(array.dtype, kind) or array.shape != (num_rows,):
            words = "bools" if kind is jnp.bool_ else "integers"
            raise TypeError(
                f"{caller}: {name} must be {words} of shape ({num_rows},), got {type_of(array)}."
            )


def as_reach(window: Any, offset: Any, num_total: int, caller: str) -> Reach | WindowBounds:
    """Checks the reach of windows over a sequence of at most so many rows."""
    dtype = position_dtype(num_total, caller)
    if isinstance(window, WindowBounds):
        if isinstance(offset, jax.Array) or offset != 0:
            raise ValueError(f"{caller}: WindowBounds take no offset, got {offset}.")
        last = None if window.last is None else as_array(window.last, caller, "last")
        first = as_array(window.first, caller, "first")
        return WindowBounds(first, last, as_array(window.block_heads, caller, "block_heads"))
    width = num_total if window is None else window
    # A longer reach than all rows on both sides has the same windows.
    return Reach(
        _as_steps(width, 0, 2 * num_total, dtype, caller, "window"),
        _as_steps(offset, -num_total - 1, 3 * num_total + 1, dtype, caller, "offset"),
    )


def position_dtype(num_total: int, caller: str) -> Any:
    """The integer that holds the end of any window: it may be four times the rows ahead."""
    if num_total < 2**29:
        return np.dtype(np.int32)
    if not is_x64_enabled():
        raise ValueError(
            f"{caller}: windows over 2**29 rows or more need JAX's x64 mode, got {num_total} rows. "
            'Call jax.config.update("jax_enable_x64", True) first.'
        )
    return np.dtype(np.int64)


def _as_steps(steps: Any, least: int, most: int, dtype: Any, caller: str, name: str) -> Array:
    if not isinstance(steps, jax.Array):
        limit = 2**63 - 1
        known = as_static_int(steps, caller, name, 0 if name == "window" else -limit, limit)
        return jnp.asarray(min(max(known, least), most), dtype)
    array = as_array(steps, caller, name)
    if array.ndim != 0 or not jnp.issubdtype(array.dtype, jnp.integer):
        raise TypeError(f"{caller}: {name} must be an integer scalar, got {type_of(array)}.")
    wide = array.astype(dtype) if array.dtype.itemsize < dtype.itemsize else array
    limits = jnp.iinfo(wide.dtype)
    return jnp.clip(wide, max(least, limits.min), min(most, limits.max)).astype(dtype)


@functools.partial(tiered, static_argnums=4)
def _windowed_reduce(
    rows: WindowedRows,
    encoding: SegmentEncoding,
    reach: Reach | WindowBounds,
    num_valid: Array | None,
    plan: WindowPlan,
) -> Windowed:
    leaves, tree = jax.tree.flatten(rows.x)
    masks = masks_of(rows.where, rows.x, "windowed_reduce")
    num_rows = leaves[0].shape[0]
    positions = jax.lax.iota(position_dtype(num_rows, "windowed_reduce"), num_rows)
    segments = segments_of_windows(encoding, positions, _scan, plan)
    if plan.width is not None:
        values, all_counts = over_short_windows(leaves, masks, None, positions, segments, plan)
    else:
        length = jnp.asarray(num_rows, positions.dtype)
        is_row = None
        if num_valid is not None:
            length = num_valid.astype(positions.dtype)
            is_row = positions < length
        is_shifted = segments is None and not isinstance(reach, WindowBounds)
        take = take_shifted if is_shifted else take_each
        sequence = RowSequence(positions, length, segments, is_row, _scan, take, holds_all=True)
        values, all_counts = over_windows(leaves, masks, rows.other, reach, sequence, plan)
    return as_windowed(values, all_counts, num_valid, tree)


def as_windowed(
    values: list[Array], counts: list[Array], num_valid: Array | None, tree: Any
) -> Windowed:
    """The results of valid rows, zeros for the others."""
    results = values, [count.astype(jnp.int32) for count in counts]
    if num_valid is not None:
        results = jax.tree.map(lambda leaf: fill_padding(leaf, num_valid), results)
    return Windowed(*(jax.tree.unflatten(tree, leaves) for leaves in results))


def _scan(rows: Any, op: Any, encoding: SegmentEncoding, reverse: bool) -> Any:
    if not jax.tree.leaves(encoding):
        return inclusive_scan(rows, op, reverse=reverse)
    return segmented_scan(rows, op, reverse=reverse, **encoding._asdict())
