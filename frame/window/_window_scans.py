# SPDX-License-Identifier: Apache-2.0
"""Sums, extremes and variances of the rows in a window that moves with each row.

Rows are cut into blocks as long as a window. A window then is the end of one block and the front
of the next, so two scans that restart with each block, one forward and one backward, hold all that
windows are made of (van Herk, and Gil and Werman). Nothing is ever subtracted, and no value has a
part in a window that it does not lie in.
"""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ..table._column import Array
from ..table._dtypes import wide
from ..table._layout import Layout
from ..table._table import Count, is_row
from ..table._take import gather, position
from ._cumulative import neutral


class Reach(NamedTuple):
    """The rows of each row's window: `width` of them, the last one `ahead` rows behind the row."""

    width: Count
    ahead: Count


class WindowPlan(NamedTuple):
    """What is taken of the windows. Static under `jit`.

    Attributes:
        method: "sum", "mean", "min", "max", "var", "std" or "count".
        expanding: whether every window starts with the first row.
        moves_ends: whether windows may end elsewhere than with their own row.
        has_gaps: whether some value may be missing or infinite.
        layout: where the rows lie.
    """

    method: str
    expanding: bool
    moves_ends: bool
    has_gaps: bool
    layout: Layout


class Scans(NamedTuple):
    """What windows of a column are put together from, each by the name of what it holds.

    Attributes:
        fronts: scans forward, to be read where a window ends.
        ends: scans backward, to be read where it starts.
    """

    fronts: dict[str, Array]
    ends: dict[str, Array]


@functools.partial(jax.jit, static_argnums=5)
def over_windows(
    data: tuple[Array, ...],
    missing: tuple[Array | None, ...],
    reach: Reach,
    bounds: tuple[Count, Count],
    num_rows: Count,
    plan: WindowPlan,
) -> tuple[Array, ...]:
    """Columns of float64 with what a method makes of each row's window.

    `bounds` are the least number of values, and what the count of a variance is lowered by.
    """
    windows = _Windows(reach, num_rows, data[0].shape[0], plan)
    scans = [windows.scans(x, gaps) for x, gaps in zip(data, missing, strict=True)]
    # All columns move at once: over a mesh that is one exchange.
    fronts = windows.at_last([one.fronts for one in scans])
    ends = fronts if plan.expanding else windows.at_first([one.ends for one in scans])
    return tuple(windows.result(f, e, *bounds) for f, e in zip(fronts, ends, strict=True))


class _Windows:
    """The windows of all rows, inside a compiled function."""

    def __init__(self, reach: Reach, num_rows: Count, capacity: int, plan: WindowPlan):
        self._plan, self._reach = plan, reach
        self._num_rows, self._capacity = num_rows, capacity
        place = position(capacity, plan.layout)
        width = jnp.maximum(reach.width, np.int32(1))
        self._last = place + reach.ahead
        self._first = self._last - reach.width + np.int32(1)
        self._is_empty = reach.width <= 0
        self._heads = place % width == 0
        # Where a window is a whole block, or starts before the first row, its front is all of it.
        self._is_split = (self._first > 0) & (self._first % width != 0) & ~self._is_empty
        # Padding holds nothing, so a window may end in it; a block that is not there has no scan.
        self._has_front = self._last >= 0
        if plan.moves_ends:
            in_block = self._last // width <= np.int32(capacity - 1) // width
            self._has_front = self._has_front & in_block & ~self._is_empty

    def scans(self, x: Array, missing: Array | None) -> Scans:
        """The scans of a column that its method needs."""
        method = self._plan.method
        valid = is_row(self._capacity, self._num_rows, self._plan.layout)
        if missing is not None:
            valid = valid & ~missing
        if method == "count":
            return self._counts(valid)
        if jnp.issubdtype(x.dtype, jnp.floating):
            valid = valid & jnp.isfinite(x)
        x = x.astype(wide(np.float64))
        fronts, ends = self._counts(valid)
        match method:
            case "sum" | "mean":
                names = ("add",)
            case "min" | "max":
                names = (method,)
            case _:
                names = ("min", "max")
        for name in names:
            filled = jnp.where(valid, x, _nothing(name))
            fronts[name] = self._scan(filled, name)
            if not self._plan.expanding:
                ends[name] = self._scan(filled, name, reverse=True)
        if method in ("var", "std"):
            fronts |= self._moments(x, valid, reverse=False)
            if not self._plan.expanding:
                ends |= self._moments(x, valid, reverse=True)
        return Scans(fronts, ends)

    def _counts(self, valid: Array) -> Scans:
        if not self._plan.has_gaps:
            return Scans({}, {})
        held = valid.astype(jnp.int32)
        so_far = primitives.inclusive_scan(held, "add", **self._plan.layout.on_mesh)
        return Scans({"count": so_far}, {"count": so_far - held})

    def _moments(self, x: Array, valid: Array, *, reverse: bool) -> dict[str, Array]:
        """Of the rows of each block so far: how many, their mean, and the squared distances.

        Each value adds `n / (n - 1)` of its squared distance from the mean that includes it
        (Welford): all that is added is positive, so that nothing cancels.
        """
        number = self._scan(valid.astype(wide(np.float64)), "add", reverse=reverse)
        total = self._scan(jnp.where(valid, x, 0.0), "add", reverse=reverse)
        mean = total / jnp.maximum(number, 1.0)
        weight = jnp.where(number > 1.0, number / jnp.maximum(number - 1.0, 1.0), 0.0)
        distance = jnp.square(jnp.where(valid, x, mean) - mean) * weight
        squares = self._scan(distance, "add", reverse=reverse)
        return {"number": number, "mean": mean, "squares": squares}

    def _scan(self, x: Array, op: str, *, reverse: bool = False) -> Array:
        on_mesh = self._plan.layout.on_mesh
        if self._plan.expanding:
            return primitives.inclusive_scan(x, op, reverse=reverse, **on_mesh)  # pyright: ignore
        return primitives.segmented_scan(
            x,
            op,  # pyright: ignore
            head_flags=self._heads,
            reverse=reverse,
            **on_mesh,
        )

    def result(self, front: dict[str, Array], end: dict[str, Array], least: Count, ddof: Count):
        """What the method makes of each window, of the scans where it ends and starts."""
        method, count = self._plan.method, self._rows_inside()
        if self._plan.has_gaps:
            count = self._count(front["count"], end["count"])
        number = jnp.maximum(count, np.int32(1)).astype(wide(np.float64))
        match method:
            case "count":
                enough = self._rows_inside() >= least
                return jnp.where(enough, count.astype(wide(np.float64)), np.nan)
            case "sum":
                # The sum of no values is 0, not -0.
                total = self._join("add", front, end)
                return jnp.where(count >= least, jnp.where(count > 0, total, 0.0), np.nan)
            case "mean":
                value = self._join("add", front, end) / number
            case "min" | "max":
                value = self._join(method, front, end)
            case _:
                # Of equal values it is zero, whatever their mean was rounded to.
                varies = self._join("min", front, end) < self._join("max", front, end)
                has_value = count > ddof
                degrees = jnp.where(has_value, number - ddof.astype(wide(np.float64)), 1.0)
                value = jnp.where(varies & has_value, self._squares(front, end), 0.0) / degrees
                if method == "std":
                    root = jnp.sqrt(jnp.where(value > 0, value, 1.0))
                    value = jnp.where(value > 0, root, 0.0)
                value = jnp.where(has_value, value, np.nan)
        return jnp.where(count >= jnp.maximum(least, np.int32(1)), value, np.nan)

    def _rows_inside(self) -> Array:
        """Rows of each window, missing or not."""
        end = jnp.minimum(self._last, self._num_rows - np.int32(1)) + np.int32(1)
        if self._plan.expanding:
            return end
        return jnp.maximum(end - jnp.maximum(self._first, np.int32(0)), np.int32(0))

    def _count(self, upto: Array, before: Array) -> Array:
        if self._plan.expanding:
            return upto
        upto = jnp.where(self._last >= 0, upto, np.int32(0))
        before = jnp.where(self._first > 0, before, np.int32(0))
        return jnp.where(self._is_empty, np.int32(0), upto - before)

    def _join(self, op: str, front: dict[str, Array], end: dict[str, Array]) -> Array:
        """Each window's values under an operator."""
        if self._plan.expanding:
            return front[op]
        of_front = jnp.where(self._has_front, front[op], _nothing(op))
        combine = {"add": jnp.add, "min": jnp.minimum, "max": jnp.maximum}[op]
        return jnp.where(self._is_split, combine(end[op], of_front), of_front)

    def _squares(self, front: dict[str, Array], end: dict[str, Array]) -> Array:
        """The sum of squared distances from each window's mean."""
        if self._plan.expanding:
            return front["squares"]

        def parts(of: dict[str, Array], flags: Array) -> list[Array]:
            return [jnp.where(flags, of[name], 0.0) for name in ("number", "mean", "squares")]

        n, n_mean, n_squares = parts(front, self._has_front)
        m, m_mean, m_squares = parts(end, self._is_split)
        between = jnp.square(n_mean - m_mean) * (n * m / jnp.maximum(n + m, 1.0))
        return n_squares + m_squares + between

    def at_last(self, rows: Any) -> Any:
        """Rows of scans where each window ends; the last one for a window that ends behind it."""
        return self._moved(rows, self._reach.ahead) if self._plan.moves_ends else rows

    def at_first(self, rows: Any) -> Any:
        """Rows of scans where each window starts."""
        return self._moved(rows, self._reach.ahead - self._reach.width + np.int32(1))

    def _moved(self, rows: Any, steps: Count) -> Any:
        source = position(self._capacity, self._plan.layout) + steps
        last = np.int32(self._capacity - 1)
        if self._plan.layout.mesh is not None:
            return gather(rows, jnp.clip(source, np.int32(0), last), self._plan.layout)
        return jax.tree.map(
            lambda leaf: jnp.where(source > last, leaf[-1], jnp.roll(leaf, -steps)), rows
        )


def _nothing(op: str) -> Any:
    """What leaves other values alone, the sign of zero too."""
    dtype = wide(np.float64)
    return dtype.type(-0.0) if op == "add" else neutral(op, dtype)
