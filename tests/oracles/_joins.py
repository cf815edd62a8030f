# SPDX-License-Identifier: Apache-2.0
"""Set operations and joins, by nested loops."""

from typing import Any

import jax
import numpy as np

from ._keys import columns_of, key_ranks, take, with_zeros_behind
from ._values import is_float


def ranks_of_sides(
    a: Any, b: Any, num_valid: tuple[int | None, int | None] = (None, None)
) -> tuple[list[Any], list[Any]]:
    """A tuple for each row of either side that counts; equal keys have equal tuples."""
    both = columns_of(jax.tree.map(lambda *sides: np.concatenate(sides), a, b))
    num_a = len(columns_of(a)[0])
    ranks = list(zip(*(key_ranks(column).tolist() for column in both), strict=True))
    return ranks[:num_a][: num_valid[0]], ranks[num_a:][: num_valid[1]]


def isin(
    keys: Any,
    test_keys: Any,
    *,
    invert: bool = False,
    num_valid: tuple[int | None, int | None] = (None, None),
) -> np.ndarray:
    ranks, test_ranks = ranks_of_sides(keys, test_keys, num_valid)
    flags = np.zeros(len(columns_of(keys)[0]), bool)
    flags[: len(ranks)] = [(rank in test_ranks) != invert for rank in ranks]
    return flags


def set_operation(
    op: str,
    a: Any,
    b: Any,
    capacity: int,
    num_valid: tuple[int | None, int | None] = (None, None),
) -> tuple[Any, np.int32]:
    """The union, intersection or difference of two sides, and how many keys it has."""
    ranks, other_ranks = ranks_of_sides(a, b, num_valid)
    both = jax.tree.map(
        lambda *sides: np.concatenate(sides),
        take(a, np.arange(len(ranks))),
        take(b, np.arange(len(other_ranks))),
    )
    is_wanted = {
        "union": lambda rank: True,
        "intersection": lambda rank: rank in ranks and rank in other_ranks,
        "difference": lambda rank: rank in ranks and rank not in other_ranks,
    }[op]
    # Of the rows of a key the first is entered last; those of `a` come before those of `b`.
    first_rows = {rank: row for row, rank in reversed(list(enumerate(ranks + other_ranks)))}
    rows = [first_rows[rank] for rank in sorted(first_rows) if is_wanted(rank)]
    kept = take(both, np.array(rows[:capacity], int))
    return with_zeros_behind(kept, capacity), np.int32(len(rows))


def join(
    left_keys: Any,
    right_keys: Any,
    *,
    how: str = "inner",
    num_valid: tuple[int | None, int | None] = (None, None),
) -> tuple[np.ndarray, np.ndarray]:
    """Left and right rows of all pairs, by nested loops; -1 for no match."""
    left, right = joined_ranks(left_keys, right_keys, num_valid, how)
    valid_left, valid_right = len(left), len(right)
    if how == "right":
        sides = {"how": "left", "num_valid": (valid_right, valid_left)}
        right_rows, left_rows = join(right_keys, left_keys, **sides)
        return left_rows, right_rows
    pairs = [(i, j) for i, key in enumerate(left) for j, other in enumerate(right) if key == other]
    matched_left, matched_right = {i for i, _ in pairs}, {j for _, j in pairs}
    if how in ("semi", "anti"):
        kept = [i for i in range(len(left)) if (i in matched_left) == (how == "semi")]
        pairs = [(i, -1) for i in kept]
    if how in ("left", "outer"):
        pairs += [(i, -1) for i in range(len(left)) if i not in matched_left]
    if how == "left":
        pairs.sort(key=lambda pair: pair[0])
    if how == "outer":
        pairs += [(-1, j) for j in range(len(right)) if j not in matched_right]
        pairs.sort(key=lambda pair: left[pair[0]] if pair[0] >= 0 else right[pair[1]])
    table = np.array(pairs, np.int32).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def unmatched_rows(
    left_keys: Any,
    right_keys: Any,
    *,
    how: str = "inner",
    num_valid: tuple[int | None, int | None] = (None, None),
) -> tuple[np.int32, np.int32]:
    """The numbers of left and of right rows without a match."""
    left, right = joined_ranks(left_keys, right_keys, num_valid, how)
    return np.int32(sum(k not in right for k in left)), np.int32(sum(k not in left for k in right))


def joined_ranks(
    left_keys: Any, right_keys: Any, num_valid: tuple[int | None, int | None], how: str
) -> tuple[list[Any], list[Any]]:
    """Ranks of the valid keys of both sides; those of a cross join are all equal."""
    if how != "cross":
        return ranks_of_sides(left_keys, right_keys, num_valid)
    lengths = (len(columns_of(keys)[0]) for keys in (left_keys, right_keys))
    left, right = ([0] * length for length in lengths)
    return left[: num_valid[0]], right[: num_valid[1]]


def join_asof(
    left: np.ndarray,
    right: np.ndarray,
    *,
    by: tuple[Any, Any] | None = None,
    direction: str = "backward",
    tolerance: Any = None,
    allow_exact: bool = True,
    num_valid: tuple[int | None, int | None] = (None, None),
) -> np.ndarray:
    """The right row of each left row, by nested loops; -1 for none."""
    num_left, num_right = len(left), len(right)
    valid_left = num_left if num_valid[0] is None else num_valid[0]
    valid_right = num_right if num_valid[1] is None else num_valid[1]
    times = np.concatenate([left, right])
    ranks = key_ranks(times).tolist()
    groups: list[Any] = [()] * len(times)
    if by is not None:
        both = columns_of(jax.tree.map(lambda *sides: np.concatenate(sides), *by))
        groups = np.stack([key_ranks(column) for column in both], axis=1).tolist()
    # NaN is no time. NumPy warns where a signalling one is compared.
    with np.errstate(invalid="ignore"):
        is_time = times == times

    def distance(low: Any, high: Any) -> Any:
        if not is_float(times.dtype):
            return int(high) - int(low)
        dtype = np.float64 if times.dtype == np.float64 else np.float32
        with np.errstate(over="ignore"):
            return dtype(0) if low == high else dtype(high) - dtype(low)

    def match(i: int) -> int:
        candidates = [
            (ranks[num_left + j], j)
            for j in range(valid_right)
            if is_time[num_left + j]
            and groups[num_left + j] == groups[i]
            and (allow_exact or ranks[num_left + j] != ranks[i])
        ]
        before = [candidate for candidate in candidates if candidate[0] <= ranks[i]]
        behind = [candidate for candidate in candidates if candidate[0] >= ranks[i]]
        found = []
        if before and direction != "forward":
            row = max(before)[1]
            found.append((distance(right[row], left[i]), 0, row))
        if behind and direction != "backward":
            row = min(behind)[1]
            found.append((distance(left[i], right[row]), 1, row))
        found = [row for row in found if tolerance is None or row[0] <= tolerance]
        return min(found)[2] if found else -1

    rows = [match(i) if i < valid_left and is_time[i] else -1 for i in range(num_left)]
    return np.array(rows, np.int32)
