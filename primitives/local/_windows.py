# SPDX-License-Identifier: Apache-2.0
"""Windows of rows, put together from scans, or row by row where they are short.

Rows are cut into blocks as long as a window. A window then is the end of one block and the front
of the next, so two scans that restart with each block, one forward and one backward, hold all that
windows are made of (van Herk, and Gil and Werman). Nothing is ever subtracted, and no value has a
part in a window that it does not lie in. Windows of segments need scans that restart with each
segment too. The module `_window_bounds` says where windows begin and end.
"""

from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._typing import Array
from ..kernels.scan._segmented_scan import per_row
from ._blockwise import COMBINE, identity_of_reduction
from ._moments import (
    Moments,
    PairMoments,
    correlation,
    kurtosis,
    merge_moments,
    merge_pair_moments,
    skewness,
)
from ._reduced_columns import both, check_dtype, reduced_dtypes
from ._segment_ops import quotient, root_of
from ._window_bounds import (
    NO_BLOCKS,
    Reach,
    RowSequence,
    SegmentBounds,
    WindowBounds,
    WindowPlan,
    windows_between,
    windows_of_rows,
)
from ._window_moments import (
    WindowPlaces,
    have_window_kernel,
    joined,
    window_moments,
    without_means,
)

WINDOW_OPS = (
    "sum", "prod", "min", "max", "count", "mean", "var", "std", "skew", "kurt", "cov", "corr",
)  # fmt: skip
PAIR_OPS = ("cov", "corr")
# Reductions whose accumulators are moments, merged by a function.
_MERGES = {
    "var": merge_moments, "std": merge_moments, "skew": merge_moments, "kurt": merge_moments,
    "cov": merge_pair_moments, "corr": merge_pair_moments,
}  # fmt: skip
# The powers that a reduction of one column sums.
_NUM_SUMS = {"var": 1, "std": 1, "skew": 2, "kurt": 3}

# Arrays with a row for each row, by name.
Scans: TypeAlias = dict[str, Any]


class WindowedRows(NamedTuple):
    """The rows whose windows are reduced.

    Attributes:
        x: a pytree of arrays.
        where: masks for them, a prefix of `x`, or None.
        other: the second column of "cov" and "corr"; None for other reductions.
    """

    x: Any
    where: Any
    other: Array | None = None


def computed_dtypes(op: str, dtype: Any) -> tuple[np.dtype, np.dtype]:
    """The dtype in which windows are reduced, and that of their values."""
    return reduced_dtypes("var" if op in _MERGES else op, np.dtype(dtype), None)


def check_windowed(leaf: Array, op: str, caller: str) -> None:
    """Raises if a reduction of windows does not take an array."""
    check_dtype(leaf, "var" if op in _MERGES else op, None, caller)


def _combination(op: str) -> str:
    """How the rows of a window are combined."""
    return "sum" if op == "mean" else op


def _identity(name: str, dtype: Any) -> Any:
    """The identity element of a combination; that of a sum keeps the sign of zero too."""
    dtype = np.dtype(dtype)
    if name == "sum" and jnp.issubdtype(dtype, jnp.floating):
        return dtype.type(-0.0)
    return identity_of_reduction(name, dtype)


def over_windows(
    leaves: list[Array],
    masks: list[Array | None],
    other: Array | None,
    reach: Reach | WindowBounds,
    sequence: RowSequence,
    plan: WindowPlan,
) -> tuple[list[Array], list[Array]]:
    """The values and the counts of every row's window, by scans."""
    windows = _Windows(reach, sequence, plan, other)
    if all(map(windows.have_kernel, leaves)):
        results = [windows.at_once(leaf, mask) for leaf, mask in zip(leaves, masks, strict=True)]
        return [value for value, _ in results], [count for _, count in results]
    scans = [windows.scans(leaf, mask) for leaf, mask in zip(leaves, masks, strict=True)]
    # All columns move at once: over a mesh that is one exchange.
    fronts = windows.at_last([front for front, _ in scans])
    ends = fronts if plan.is_expanding else windows.at_first([end for _, end in scans])
    results = [
        windows.result(leaf, mask, front, end)
        for leaf, mask, front, end in zip(leaves, masks, fronts, ends, strict=True)
    ]
    return [value for value, _ in results], [count for _, count in results]


class _Windows:
    """The windows of all rows."""

    def __init__(
        self,
        reach: Reach | WindowBounds,
        sequence: RowSequence,
        plan: WindowPlan,
        other: Array | None,
    ):
        self._plan, self._sequence, self._other = plan, sequence, other
        is_bounded = isinstance(reach, WindowBounds)
        # All windows then begin as far from their own row.
        self._is_shifted = sequence.segments is None and not is_bounded
        place = windows_between if is_bounded else windows_of_rows
        self._places = place(reach, sequence, plan)  # pyright: ignore[reportArgumentType]

    def have_kernel(self, x: Array) -> bool:
        """Whether one kernel reduces the windows of a column."""
        plan, computed = self._plan, computed_dtypes(self._plan.op, x.dtype)[0]
        is_supported = plan.op in _MERGES and not (plan.is_expanding or plan.moves_ends)
        is_whole = is_supported and self._sequence.holds_all and x.size > 0
        return is_whole and have_window_kernel(computed, x.shape[0])

    def at_once(self, x: Array, mask: Array | None) -> tuple[Array, Array]:
        """The value and the count of each window of a column, by one kernel on CPU."""
        held, places = both(mask, self._sequence.is_row), self._places
        flags = None if held is None else per_row(held, x.ndim)
        rows = self._moments_of_rows(x.astype(computed_dtypes(self._plan.op, x.dtype)[0]), flags)
        heads = places.blocks.heads_inside(False)
        assert heads is not None
        moments = window_moments(
            rows, held,
            WindowPlaces(heads, places.taken_first.astype(np.int32), places.is_split,
                         places.has_front),
            _MERGES[self._plan.op], self._is_shifted,
        )  # fmt: skip
        counts = places.num_rows
        if mask is not None:
            # Columns of a row are held or not together.
            of_rows = moments[0].reshape(x.shape[0], -1)[:, 0]
            counts = of_rows.astype(counts.dtype)
        return finished(moments, counts, x, self._plan), counts

    def scans(self, x: Array, mask: Array | None) -> tuple[Scans, Scans]:
        """The scans of a column: those read at the end and at the start of a window."""
        op, is_expanding = self._plan.op, self._plan.is_expanding
        fronts, ends = {}, {}
        if mask is not None:
            mask = both(mask, self._sequence.is_row)
        if mask is not None:
            held = mask.astype(self._places.num_rows.dtype)
            whole = self._places.blocks if is_expanding else NO_BLOCKS
            so_far = self._sequence.scan(held, "sum", whole, False)
            fronts["count"], ends["count"] = so_far, so_far - held
        if op == "count":
            return fronts, ends
        computed, _ = computed_dtypes(op, x.dtype)
        x = x.astype(computed)
        mask = self._sequence.is_row if mask is None else mask
        mask = None if mask is None else per_row(mask, x.ndim)
        if op in _MERGES:
            moments = self._moments_of_rows(x, mask)
            fronts["moments"] = self._scan(moments, _MERGES[op])
            if not is_expanding:
                ends["moments"] = self._scan(moments, _MERGES[op], reverse=True)
            return fronts, ends
        name = _combination(op)
        filled = x if mask is None else jnp.where(mask, x, _identity(name, computed))
        fronts[name] = self._scan(filled, name)
        if not is_expanding:
            ends[name] = self._scan(filled, name, reverse=True)
        return fronts, ends

    def _moments_of_rows(self, x: Array, mask: Array | None) -> Moments | PairMoments:
        """The moments of each row alone."""
        held = jnp.ones_like(x)
        if mask is not None:
            held, x = jnp.broadcast_to(mask, x.shape).astype(x.dtype), jnp.where(mask, x, 0)
        # Infinities have no distance from themselves.
        x_sum = x - x
        if self._plan.op not in PAIR_OPS:
            return Moments(held, x, (x_sum,) * _NUM_SUMS[self._plan.op])
        assert self._other is not None
        y = jnp.broadcast_to(self._other.astype(x.dtype), x.shape)
        y = y if mask is None else jnp.where(mask, y, 0)
        y_sum = y - y
        return PairMoments(held, x, y, x_sum, y_sum, x_sum * y_sum)

    def _scan(self, x: Any, op: Any, *, reverse: bool = False) -> Any:
        return self._sequence.scan(x, op, self._places.blocks, reverse)

    def result(self, x: Array, mask: Array | None, front: Scans, end: Scans) -> tuple[Array, Array]:
        """The value and the count of each window, from the scans at its end and its start."""
        op, counts = self._plan.op, self._places.num_rows
        if mask is not None:
            counts = self._count(front["count"], end["count"])
        if op == "count":
            return counts, counts
        if op in _MERGES:
            value = without_means(self._moments(front, end))
        else:
            value = self._join(_combination(op), front, end)
        return finished(value, counts, x, self._plan), counts

    def _count(self, upto: Array, before: Array) -> Array:
        if not self._plan.is_expanding:
            upto = upto - jnp.where(self._places.first > 0, before, 0)
        return jnp.where(self._places.num_rows > 0, upto, 0)

    def _join(self, op: str, front: Scans, end: Scans) -> Array:
        """Combines both parts of each window."""
        if self._plan.is_expanding:
            return front[op]
        x = front[op]
        places = self._places
        has_front, is_split = (per_row(f, x.ndim) for f in (places.has_front, places.is_split))
        of_front = jnp.where(has_front, x, _identity(op, x.dtype))
        if self._plan.moves_ends:
            x = of_front
        # Otherwise a split window has a front, and `x` is not selected before it is combined.
        return jnp.where(is_split, COMBINE[op](end[op], x), of_front)

    def _moments(self, front: Scans, end: Scans) -> Any:
        """The moments of each window, merged from those of both parts."""
        if self._plan.is_expanding:
            return front["moments"]
        places = self._places
        parts = end["moments"], places.is_split, front["moments"], places.has_front
        return joined(_MERGES[self._plan.op], *parts)

    def at_last(self, rows: Any) -> Any:
        """The rows where each window ends."""
        return self._taken(rows, self._places.taken_last)

    def at_first(self, rows: Any) -> Any:
        """The rows where each window begins."""
        return self._taken(rows, self._places.taken_first)

    def _taken(self, rows: Any, positions: Array | None) -> Any:
        # Windows whose rows are counted without a mask need no scan.
        if positions is None or not jax.tree.leaves(rows):
            return rows
        return self._sequence.take(rows, positions)


def finished(value: Any, counts: Array, x: Array, plan: WindowPlan) -> Array:
    """The value of each window in its dtype.

    Args:
        value: the combination of its rows; for averages of distances a count and sums of their
            powers, as `without_means` gives them.
        counts: the rows of each window.
        x: the column.
        plan: the reduction.
    """
    _, dtype = computed_dtypes(plan.op, x.dtype)
    per = per_row(counts, x.ndim)
    match plan.op:
        case "mean":
            value = quotient(value, per)
        case "var" | "std":
            value = quotient(value[1], per - plan.ddof)
            value = root_of(value) if plan.op == "std" else value
        case "skew":
            value = skewness(value[0], (None, *value[1:]))
        case "kurt":
            value = kurtosis(value[0], (None, *value[1:]))
        case "cov":
            value = quotient(value[3], value[0] - plan.ddof)
        case "corr":
            _, x_squares, y_squares, products = value
            value = correlation(products, x_squares, y_squares)
            # Rounding may lead past one.
            value = jnp.where(jnp.abs(value) > 1, jnp.sign(value), value)
        case _:
            value = jnp.where(
                per > 0, value, identity_of_reduction(_combination(plan.op), value.dtype)
            )
    return value.astype(dtype)


def over_short_windows(
    leaves: list[Array],
    masks: list[Array | None],
    before: tuple[list[Array], list[Array | None], Array] | None,
    positions: Array,
    segments: SegmentBounds | None,
    plan: WindowPlan,
) -> tuple[list[Array], list[Array]]:
    """The values and the counts of windows that end with their own row, row by row.

    Args:
        leaves: the rows.
        masks: flags for them, or None.
        before: the leaves and masks of the `width - 1` rows before them, and a flag for each
            whether there is such a row; None if there is none.
        positions: of the rows in the sequence.
        segments: of the rows; None if all are one segment.
        plan: the reductions of the windows.
    """
    assert plan.width is not None
    rows_before = positions if segments is None else positions - segments.first
    counts = jnp.minimum(rows_before + 1, plan.width)
    # Rows before the first one need no flags: they are the identity element already.
    rows_inside = None if segments is None else counts
    values, all_counts = [], []
    for place, (leaf, mask) in enumerate(zip(leaves, masks, strict=True)):
        halo = None
        if before is not None:
            halo = before[0][place], before[1][place], before[2]
        value, count = _over_column(leaf, mask, halo, counts, rows_inside, plan)
        values.append(value)
        all_counts.append(count)
    return values, all_counts


def _over_column(
    x: Array,
    mask: Array | None,
    halo: tuple[Array, Array | None, Array] | None,
    counts: Array,
    rows_inside: Array | None,
    plan: WindowPlan,
) -> tuple[Array, Array]:
    assert plan.width is not None
    rows_before = None if halo is None else halo[2]
    if mask is not None:
        of_halo = None if halo is None else both(halo[2], halo[1])
        counts = _rows_back(mask.astype(counts.dtype), of_halo, "sum", plan.width, rows_inside)
        rows_before = of_halo
    if plan.op == "count":
        return counts, counts
    op = _combination(plan.op)
    computed, _ = computed_dtypes(plan.op, x.dtype)
    identity = _identity(op, computed)

    def filled(rows: Array, flags: Array | None) -> Array:
        rows = rows.astype(computed)
        return rows if flags is None else jnp.where(per_row(flags, rows.ndim), rows, identity)

    of_halo = None if halo is None else filled(halo[0], rows_before)
    value = _rows_back(filled(x, mask), of_halo, op, plan.width, rows_inside)
    return finished(value, counts, x, plan), counts


def _rows_back(
    x: Array, before: Array | None, op: str, width: int, rows_inside: Array | None
) -> Array:
    """Combines each row with the `width - 1` rows before it, or those inside its window."""
    identity, num_rows = _identity(op, x.dtype), x.shape[0]
    if before is not None:
        before = before.astype(x.dtype)
    value = x
    for back in range(1, width):
        if before is None:
            rows = jax.lax.pad(
                x, jnp.asarray(identity, x.dtype), [(back, -back, 0), *((0, 0, 0),) * (x.ndim - 1)]
            )
        else:
            rows = jnp.concatenate([before[before.shape[0] - back :], x])[:num_rows]
        if rows_inside is not None:
            rows = jnp.where(per_row(rows_inside > back, rows.ndim), rows, identity)
        value = COMBINE[op](rows, value)
    return value
