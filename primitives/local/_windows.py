# SPDX-License-Identifier: Apache-2.0
"""Windows of rows, put together from scans, or row by row where they are short.

Rows are cut into blocks as long as a window. A window then is the end of one block and the front
of the next, so two scans that restart with each block, one forward and one backward, hold all that
windows are made of (van Herk, and Gil and Werman). Nothing is ever subtracted, and no value has a
part in a window that it does not lie in. Windows of segments need scans that restart with each
segment too.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._typing import Array
from ..kernels.scan._segmented_scan import per_row
from ._blockwise import COMBINE, identity_of_reduction
from ._reduce_passes import both, reduced_dtypes
from ._scan_segments import SegmentEncoding
from ._segment_ops import quotient, root_of

WINDOW_OPS = ("sum", "prod", "min", "max", "count", "mean", "var", "std")
_SCANS = {"sum": "add", "prod": "mul", "min": "min", "max": "max"}

# Arrays with a row for each row, by name.
Scans: TypeAlias = dict[str, Array]


class WindowPlan(NamedTuple):
    """The static parameters of windows and their reductions. Hashable.

    Attributes:
        op: one of `WINDOW_OPS`.
        ddof: delta degrees of freedom of a variance.
        width: rows of each window where these are so few that each is read; else None.
        is_expanding: whether every window begins with the first row.
        moves_ends: whether windows may end elsewhere than with their own row.
    """

    op: str
    ddof: int
    width: int | None
    is_expanding: bool
    moves_ends: bool


class Reach(NamedTuple):
    """The rows of each window: `width` of them, the last one `offset` rows after its own."""

    width: Array
    offset: Array


class Segments(NamedTuple):
    """The segments that windows are clamped to.

    Attributes:
        first: position of the first row of each row's segment.
        last: position of the last one; None if all windows end with their own row.
    """

    first: Array
    last: Array | None


def segments_of_windows(
    encoding: SegmentEncoding, positions: Array, scan: Callable[..., Any], plan: WindowPlan
) -> Segments | None:
    """The segments of rows at positions of a sequence; None if the encoding is empty."""
    if not jax.tree.leaves(encoding):
        return None
    first = scan(positions, "min", encoding, False)
    return Segments(first, scan(positions, "max", encoding, True) if plan.moves_ends else None)


class RowSequence(NamedTuple):
    """The rows of all shards as one sequence, seen from one of them.

    Attributes:
        positions: of this shard's rows in the sequence.
        num_rows: rows of the sequence.
        segments: of this shard's rows; None if the sequence is a single segment.
        is_row: which rows of this shard are part of it; None if the others have no effect.
        scan: scans arrays over the sequence: `scan(rows, op, encoding, reverse)`. An empty encoding
            never restarts it.
        take: rows of the sequence: `take(rows, positions)`.
    """

    positions: Array
    num_rows: Array
    segments: Segments | None
    is_row: Array | None
    scan: Callable[..., Any]
    take: Callable[[Any, Array], Any]


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
    reach: Reach,
    sequence: RowSequence,
    plan: WindowPlan,
) -> tuple[list[Array], list[Array]]:
    """The values and the counts of every row's window, by scans."""
    windows = _Windows(reach, sequence, plan)
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

    def __init__(self, reach: Reach, sequence: RowSequence, plan: WindowPlan):
        self._plan, self._sequence = plan, sequence
        positions = sequence.positions
        width = jnp.maximum(reach.width, 1)
        block = positions // width
        heads = None if plan.is_expanding else block * width == positions
        start, self._end = jnp.zeros_like(sequence.num_rows), sequence.num_rows - 1
        if sequence.segments is not None:
            start = sequence.segments.first
            heads = positions == start if heads is None else heads | (positions == start)
            if sequence.segments.last is not None:
                self._end = jnp.minimum(sequence.segments.last, self._end)
        self._last = positions + reach.offset
        # All windows start as far from their row, unless they are clamped to their segment.
        self._unclamped_first = self._last - reach.width + 1
        first = start if plan.is_expanding else jnp.maximum(self._unclamped_first, start)
        self._first = jnp.broadcast_to(first, positions.shape)
        self._num_rows = jnp.maximum(jnp.minimum(self._last, self._end) - first + 1, 0)
        self._encoding = SegmentEncoding(heads, None)
        # If a window begins in its last block, the front of that block is all of it.
        last_block = self._last // width if plan.moves_ends else block
        self._is_split = (self._first // width < last_block) & (self._num_rows > 0)
        self._has_front = self._num_rows > 0
        if plan.moves_ends:
            # A window may end after its segment, and its last block may begin there.
            self._has_front = self._has_front & (last_block <= self._end // width)

    def scans(self, x: Array, mask: Array | None) -> tuple[Scans, Scans]:
        """The scans of a column: those read at the end and at the start of a window."""
        op, is_expanding = self._plan.op, self._plan.is_expanding
        fronts, ends = {}, {}
        if mask is not None:
            present: Array = both(mask, self._sequence.is_row)
            mask, held = present, present.astype(self._last.dtype)
            whole = self._encoding if is_expanding else SegmentEncoding(None, None)
            so_far = self._sequence.scan(held, "add", whole, False)
            fronts["count"], ends["count"] = so_far, so_far - held
        if op == "count":
            return fronts, ends
        computed, _ = reduced_dtypes(op, np.dtype(x.dtype), None)
        x = x.astype(computed)
        mask = self._sequence.is_row if mask is None else mask
        mask = None if mask is None else per_row(mask, x.ndim)
        names = ("min", "max") if op in ("var", "std") else (_combination(op),)
        for name in names:
            filled = x if mask is None else jnp.where(mask, x, _identity(name, computed))
            fronts[name] = self._scan(filled, name)
            if not is_expanding:
                ends[name] = self._scan(filled, name, reverse=True)
        if op in ("var", "std"):
            fronts |= self._moments(x, mask, reverse=False)
            if not is_expanding:
                ends |= self._moments(x, mask, reverse=True)
        return fronts, ends

    def _moments(self, x: Array, mask: Array | None, *, reverse: bool) -> Scans:
        """Of the rows of each block so far: their number, mean, and squared distances from it.

        Each value adds `n / (n - 1)` of its squared distance from the mean that includes it
        (Welford): all terms are positive, so that nothing cancels.
        """
        zero, one = x.dtype.type(0), x.dtype.type(1)
        held = jnp.broadcast_to(jnp.ones_like(x) if mask is None else mask.astype(x.dtype), x.shape)
        number = self._scan(held, "sum", reverse=reverse)
        total = self._scan(x if mask is None else jnp.where(mask, x, zero), "sum", reverse=reverse)
        mean = total / jnp.maximum(number, one)
        weight = jnp.where(number > 1, number / jnp.maximum(number - one, one), zero)
        distance = jnp.square((x if mask is None else jnp.where(mask, x, mean)) - mean) * weight
        squares = self._scan(distance, "sum", reverse=reverse)
        return {"number": number, "mean": mean, "squares": squares}

    def _scan(self, x: Array, op: str, *, reverse: bool = False) -> Array:
        return self._sequence.scan(x, _SCANS[op], self._encoding, reverse)

    def result(self, x: Array, mask: Array | None, front: Scans, end: Scans) -> tuple[Array, Array]:
        """The value and the count of each window, from the scans at its end and its start."""
        counts = self._num_rows
        if mask is not None:
            counts = self._count(front["count"], end["count"])
        op = self._plan.op
        if op == "count":
            return counts, counts
        if op in ("var", "std"):
            value = self._squares(front, end)
        else:
            value = self._join(_combination(op), front, end)
        return finished(value, counts, x, self._plan, self._varies(front, end)), counts

    def _varies(self, front: Scans, end: Scans) -> Array | None:
        """Whether the values of a window differ, or hold a NaN."""
        if self._plan.op not in ("var", "std"):
            return None
        return self._join("min", front, end) != self._join("max", front, end)

    def _count(self, upto: Array, before: Array) -> Array:
        if not self._plan.is_expanding:
            upto = upto - jnp.where(self._first > 0, before, 0)
        return jnp.where(self._num_rows > 0, upto, 0)

    def _join(self, op: str, front: Scans, end: Scans) -> Array:
        """Combines both parts of each window."""
        if self._plan.is_expanding:
            return front[op]
        x = front[op]
        has_front, is_split = (per_row(f, x.ndim) for f in (self._has_front, self._is_split))
        of_front = jnp.where(has_front, x, _identity(op, x.dtype))
        if self._plan.moves_ends:
            x = of_front
        # Otherwise a split window has a front, and `x` is not selected before it is combined.
        return jnp.where(is_split, COMBINE[op](end[op], x), of_front)

    def _squares(self, front: Scans, end: Scans) -> Array:
        """The sum of squared distances from each window's mean."""
        if self._plan.is_expanding:
            return front["squares"]

        def parts(scans: Scans, flags: Array) -> list[Array]:
            return [
                jnp.where(per_row(flags, scans[name].ndim), scans[name], 0)
                for name in ("number", "mean", "squares")
            ]

        n, n_mean, n_squares = parts(front, self._has_front)
        m, m_mean, m_squares = parts(end, self._is_split)
        between = jnp.square(n_mean - m_mean) * (n * m / jnp.maximum(n + m, 1))
        return n_squares + m_squares + between

    def at_last(self, rows: Any) -> Any:
        """The rows where each window ends."""
        if not self._plan.moves_ends:
            return rows
        if self._sequence.segments is None:
            return self._taken(rows, self._last)
        return self._taken(rows, jnp.minimum(self._last, self._end))

    def at_first(self, rows: Any) -> Any:
        """The rows where each window begins."""
        is_clamped = self._sequence.segments is not None
        return self._taken(rows, self._first if is_clamped else self._unclamped_first)

    def _taken(self, rows: Any, positions: Array) -> Any:
        # Windows whose rows are counted without a mask need no scan.
        return self._sequence.take(rows, positions) if jax.tree.leaves(rows) else rows


def finished(
    value: Array, counts: Array, x: Array, plan: WindowPlan, varies: Array | None = None
) -> Array:
    """The value of each window in its dtype, from the combination of its rows."""
    _, dtype = reduced_dtypes(plan.op, np.dtype(x.dtype), None)
    per = per_row(counts, value.ndim)
    match plan.op:
        case "mean":
            value = quotient(value, per)
        case "var" | "std":
            # The variance of equal values is zero, to whatever their mean was rounded.
            value = value if varies is None else jnp.where(varies, value, 0)
            value = quotient(value, per - plan.ddof)
            value = root_of(value) if plan.op == "std" else value
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
    segments: Segments | None,
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
    computed, _ = reduced_dtypes(plan.op, np.dtype(x.dtype), None)
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
