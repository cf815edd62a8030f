# SPDX-License-Identifier: Apache-2.0
"""The matching rule of an as-of join: positions among the sorted rows of both sides, and
distances in time.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, get_args

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._arguments import as_flag, as_key, as_keys, as_num_valid, as_pair, type_of
from ..contract._key_bits import OrderedWord, ordered_word
from ..contract._scan_operators import Scan
from ..contract._typing import Array
from ._searchsorted import check_same_columns
from ._sides import KeySides, check_rows_of_sides

Direction = Literal["backward", "forward", "nearest"]


class AsofRule(NamedTuple):
    """The right rows that may match a left row. Static and hashable."""

    direction: Direction
    allow_exact: bool

    @property
    def right_first(self) -> bool:
        """Whether right rows sort before left rows with equal times.

        Then the rows before a left row include its own time, and the rows after it do not. A
        nearest match searches in both directions, so it finds equal times once.
        """
        return self.direction == "nearest" or self.allow_exact == (self.direction == "backward")

    @property
    def looks_past(self) -> bool:
        """Whether the backward search skips right rows with equal times, which sort first."""
        return self.direction == "nearest" and not self.allow_exact


class Found(NamedTuple):
    """Matches of each left row, before and after it; None for a direction without a search."""

    before: Any
    behind: Any


class Candidate(NamedTuple):
    """The candidate right row of each left row, or -1, and its time."""

    rows: Array
    times: Array


def as_asof(
    left: Any,
    right: Any,
    by: Any,
    direction: Any,
    tolerance: Any,
    allow_exact: Any,
    num_valid: Any,
    num_shards: int = 1,
) -> tuple[KeySides, AsofRule, Array | None]:
    """Checks the arguments. Each side has the columns of `by`, then the times."""
    caller = "join_asof"
    allow_exact = as_flag(allow_exact, caller, "allow_exact")
    if direction not in get_args(Direction):
        raise ValueError(
            f"{caller}: direction must be one of {', '.join(map(repr, get_args(Direction)))}, "
            f"got {direction!r}."
        )
    times = (
        as_key(left, caller, "left", num_shards),
        as_key(right, caller, "right", num_shards),
    )
    check_same_columns(times[:1], times[1:], caller, "left", "right")
    groups = _as_by(by, times, num_shards)
    columns = tuple((*keys, time) for keys, time in zip(groups, times, strict=True))
    check_rows_of_sides(columns[0], columns[1], caller, ("left", "right"), num_shards)
    num_left, num_right = (
        as_num_valid(valid, time.shape[0], caller)
        for valid, time in zip(as_pair(num_valid, caller, "num_valid"), times, strict=True)
    )
    limit = None if tolerance is None else _as_tolerance(tolerance, times[0], caller)
    sides = KeySides(columns[0], columns[1], num_left, num_right)
    return sides, AsofRule(direction, allow_exact), limit


def _as_by(by: Any, times: tuple[Array, Array], num_shards: int) -> tuple[tuple[Array, ...], ...]:
    caller = "join_asof"
    if by is None:
        return (), ()
    columns = [
        as_keys(keys, caller, f"by of the {name} side", num_shards)[0]
        for keys, name in zip(as_pair(by, caller, "by"), ("left", "right"), strict=True)
    ]
    names = "by of the left side", "that of the right"
    check_same_columns(columns[0], columns[1], caller, *names)
    for keys, time, name in zip(columns, times, ("left", "right"), strict=True):
        if keys[0].shape != time.shape:
            raise ValueError(
                f"{caller}: by of the {name} side must have an entry for each of its "
                f"{time.shape[0]} rows, got {type_of(keys[0])}."
            )
    return tuple(columns)


def _as_tolerance(tolerance: Any, times: Array, caller: str) -> Array:
    is_float = jnp.issubdtype(times.dtype, jnp.floating)
    if isinstance(tolerance, jax.Array):
        if tolerance.shape == () and tolerance.dtype == times.dtype:
            return tolerance
    else:
        is_scalar = isinstance(tolerance, (np.generic, np.ndarray)) and np.ndim(tolerance) == 0
        number = tolerance.item() if is_scalar else tolerance
        if isinstance(number, (int, float) if is_float else int) and not isinstance(number, bool):
            if not number >= 0:
                raise ValueError(f"{caller}: tolerance must be 0 or more, got {tolerance}.")
            dtype = _distance_dtype(times.dtype)
            # No distance of two integers exceeds the range of the distance's dtype.
            most = number if is_float else np.iinfo(dtype).max
            return jnp.asarray(np.array(min(number, most), dtype))
    raise TypeError(
        f"{caller}: tolerance must be a number of the dtype of left, {times.dtype}, "
        f"got {type_of(tolerance)}."
    )


def split_words(words: tuple[OrderedWord, ...], times: Array) -> tuple[tuple[Array, ...], Array]:
    """Splits packed words into the words of the group and the word of the time, which is last."""
    time_bits = ordered_word(times[:0]).bits
    group = tuple(column.ordered() for column in words[:-1])
    last = words[-1].ordered()
    if words[-1].bits == time_bits:
        return group, last
    shift = np.array(time_bits, last.dtype)
    return (*group, last >> shift), last & np.array(2**time_bits - 1, last.dtype)


def is_nan_word(time: Array, dtype: Any) -> Array:
    """Detects the words of NaN times."""
    if not jnp.issubdtype(dtype, jnp.floating):
        return jnp.zeros_like(time, jnp.bool_)
    return time == np.array(2 ** (8 * np.dtype(dtype).itemsize) - 1, time.dtype)


def head_flags(parts: tuple[Array, ...], before: tuple[Array, ...] | None = None) -> Array:
    """Flags rows that differ from the previous one; `before` is the row before the first."""
    flags = jnp.zeros_like(parts[0], jnp.bool_)
    for i, part in enumerate(parts):
        is_head = part[:1] == part[:1] if before is None else part[:1] != before[i]
        flags |= jnp.concatenate([is_head, part[1:] != part[:-1]])
    return flags


def find_positions(
    is_match: Array,
    positions: Array,
    time_heads: Array | None,
    rule: AsofRule,
    scan: Callable[[Array, Scan], Array],
) -> Found:
    """Finds the position of the right row before and after each sorted row, -1 for none.

    Args:
        is_match: flags the right rows that may match.
        positions: the position of each row.
        time_heads: flags the first row of each time and group; needed if the rule skips equal
            times.
        rule: the matching rule.
        scan: scans within groups.
    """
    before = behind = None
    if rule.direction != "forward":
        before = scan(jnp.where(is_match, positions, -1), Scan("max", False, rule.looks_past))
        if rule.looks_past:
            # Right rows sort first: take the match of the first row with this time.
            assert time_heads is not None
            before = scan(jnp.where(time_heads, before, -1), Scan("max", False, False))
        before = jnp.maximum(before, -1)
    if rule.direction != "backward":
        nowhere = np.array(np.iinfo(positions.dtype).max, positions.dtype)
        behind = scan(jnp.where(is_match, positions, nowhere), Scan("min", True, False))
        behind = jnp.where(behind == nowhere, -1, behind)
    return Found(before, behind)


def choose_rows(times: Array, found: Found, tolerance: Array | None) -> Array:
    """Selects the matching right row of each left row, -1 for none.

    Args:
        times: the times of the left rows.
        found: the `Candidate` before and the one after.
        tolerance: the largest distance of a match.
    """
    before, behind = found
    if behind is None:
        rows, distance = before.rows, _distance(before.times, times)
    elif before is None:
        rows, distance = behind.rows, _distance(times, behind.times)
    else:
        distance, behind_distance = _distance(before.times, times), _distance(times, behind.times)
        is_nearer = (before.rows < 0) | (behind_distance < distance)
        is_behind = (behind.rows >= 0) & is_nearer
        rows = jnp.where(is_behind, behind.rows, before.rows)
        distance = jnp.where(is_behind, behind_distance, distance)
    if tolerance is None:
        return rows
    is_near = distance <= tolerance.astype(distance.dtype)
    if jnp.issubdtype(tolerance.dtype, jnp.signedinteger):
        is_near &= tolerance >= 0
    return jnp.where(is_near, rows, -1)


def _distance_dtype(dtype: Any) -> Any:
    if jnp.issubdtype(dtype, jnp.floating):
        return jnp.float32 if np.dtype(dtype).itemsize == 2 else dtype
    return jnp.uint64 if np.dtype(dtype).itemsize == 8 else jnp.uint32


def _distance(low: Array, high: Array) -> Array:
    """The distance from `low` up to `high`; exact for the full range of integers."""
    if jnp.issubdtype(low.dtype, jnp.floating):
        dtype = _distance_dtype(low.dtype)
        low, high = low.astype(dtype), high.astype(dtype)
        # The distance of equal infinities is zero, not NaN.
        return jnp.where(low == high, jnp.zeros((), dtype), high - low)
    return ordered_word(high).ordered() - ordered_word(low).ordered()
