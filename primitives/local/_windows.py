# SPDX-License-Identifier: Apache-2.0
"""Windows of rows, put together from scans, or row by row where they are short.

Rows are cut into blocks as long as a window. A window then is the end of one block and the front
of the next, so two scans that restart with each block, one forward and one backward, hold all that
windows are made of (van Herk, and Gil and Werman). Nothing is ever subtracted, and no value has a
part in a window that it does not lie in.
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


class RowSequence(NamedTuple):
    """The rows of all shards as one sequence, seen from one of them.

    Attributes:
        positions: of this shard's rows in the sequence.
        num_rows: rows of the sequence.
        is_row: which rows of this shard are part of it; None if the others have no effect.
        scan: scans arrays over the sequence: `scan(rows, op, head_flags, reverse)`. Without
            flags it never restarts.
        take: rows of the sequence: `take(rows, positions)`.
    """

    positions: Array
    num_rows: Array
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
        self._last = positions + reach.offset
        self._first = self._last - reach.width + 1
        self._is_empty = reach.width <= 0
        self._heads = positions % width == 0
        # If a window is a whole block, or begins before the first row, its front is all of it.
        self._is_split = (self._first > 0) & (self._first % width != 0) & ~self._is_empty
        self._has_front = self._last >= 0
        if plan.moves_ends:
            # A window may end after the last row, and its last block may begin there.
            in_block = self._last // width <= (sequence.num_rows - 1) // width
            self._has_front = self._has_front & in_block & ~self._is_empty

    def scans(self, x: Array, mask: Array | None) -> tuple[Scans, Scans]:
        """The scans of a column: those read at the end and at the start of a window."""
        op, is_expanding = self._plan.op, self._plan.is_expanding
        fronts, ends = {}, {}
        if mask is not None:
            present: Array = both(mask, self._sequence.is_row)
            mask, held = present, present.astype(self._last.dtype)
            so_far = self._sequence.scan(held, "add", None, False)
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
        heads = None if self._plan.is_expanding else self._heads
        return self._sequence.scan(x, _SCANS[op], heads, reverse)

    def result(self, x: Array, mask: Array | None, front: Scans, end: Scans) -> tuple[Array, Array]:
        """The value and the count of each window, from the scans at its end and its start."""
        counts = self._rows_inside()
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

    def _rows_inside(self) -> Array:
        end = jnp.minimum(self._last, self._sequence.num_rows - 1) + 1
        if self._plan.is_expanding:
            return jnp.maximum(end, 0)
        return jnp.maximum(end - jnp.maximum(self._first, 0), 0)

    def _count(self, upto: Array, before: Array) -> Array:
        if self._plan.is_expanding:
            return jnp.where(self._last >= 0, upto, 0)
        upto = jnp.where(self._last >= 0, upto, 0)
        before = jnp.where(self._first > 0, before, 0)
        is_inside = ~self._is_empty & (self._first < self._sequence.num_rows)
        return jnp.where(is_inside, upto - before, 0)

    def _join(self, op: str, front: Scans, end: Scans) -> Array:
        """Combines both parts of each window."""
        if self._plan.is_expanding:
            return front[op]
        x = front[op]
        flags = [per_row(flags, x.ndim) for flags in (self._has_front, self._is_split)]
        of_front = jnp.where(flags[0], x, _identity(op, x.dtype))
        return jnp.where(flags[1], COMBINE[op](end[op], of_front), of_front)

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
        return self._taken(rows, self._last) if self._plan.moves_ends else rows

    def at_first(self, rows: Any) -> Any:
        """The rows where each window begins."""
        return self._taken(rows, self._first)

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
    counts: Array,
    plan: WindowPlan,
) -> tuple[list[Array], list[Array]]:
    """The values and the counts of windows that end with their own row, row by row.

    Args:
        leaves: the rows.
        masks: flags for them, or None.
        before: the leaves and masks of the `width - 1` rows before them, and a flag for each
            whether there is such a row; None if there is none.
        counts: rows of each window.
        plan: the reductions of the windows.
    """
    values, all_counts = [], []
    for place, (leaf, mask) in enumerate(zip(leaves, masks, strict=True)):
        halo = None
        if before is not None:
            halo = before[0][place], before[1][place], before[2]
        value, count = _over_column(leaf, mask, halo, counts, plan)
        values.append(value)
        all_counts.append(count)
    return values, all_counts


def _over_column(
    x: Array,
    mask: Array | None,
    halo: tuple[Array, Array | None, Array] | None,
    counts: Array,
    plan: WindowPlan,
) -> tuple[Array, Array]:
    assert plan.width is not None
    rows_before = None if halo is None else halo[2]
    if mask is not None:
        of_halo = None if halo is None else both(halo[2], halo[1])
        counts = _rows_back(mask.astype(counts.dtype), of_halo, "sum", plan.width)
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
    value = _rows_back(filled(x, mask), of_halo, op, plan.width)
    return finished(value, counts, x, plan), counts


def _rows_back(x: Array, before: Array | None, op: str, width: int) -> Array:
    """Combines each row with the `width - 1` rows before it."""
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
        value = COMBINE[op](rows, value)
    return value
