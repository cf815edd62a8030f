# SPDX-License-Identifier: Apache-2.0
"""The rule of an as-of join: which row is before or after each, against a search row by row."""

import itertools

import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives.contract._key_bits import ordered_words
from jaxframes.primitives.local._asof_rule import (
    AsofRule,
    Candidate,
    Found,
    choose_rows,
    find_positions,
    head_flags,
    is_nan_word,
    split_words,
)

RULES = [
    AsofRule(direction, allow_exact)
    for direction, allow_exact in itertools.product(["backward", "forward", "nearest"], [0, 1])
]


def scanned(rows, scan):
    """The scan of one group, in NumPy."""
    rows = np.asarray(rows)[::-1] if scan.reverse else np.asarray(rows)
    one = np.maximum if scan.op == "max" else np.minimum
    rows = one.accumulate(rows)
    if scan.exclusive:
        least = np.iinfo(rows.dtype).min if scan.op == "max" else np.iinfo(rows.dtype).max
        rows = np.concatenate([[least], rows[:-1]]).astype(rows.dtype)
    return jnp.asarray(rows[::-1] if scan.reverse else rows)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.direction}-{rule.allow_exact}")
def test_positions_are_the_nearest_right_rows_in_each_direction(rule):
    rng = np.random.default_rng(1)
    times, is_right = rng.integers(0, 9, 30), rng.integers(0, 2, 30).astype(bool)
    order = np.lexsort((is_right != rule.right_first, times))
    times, is_right = times[order], is_right[order]
    heads = jnp.asarray(np.diff(times, prepend=-1) != 0)
    positions = jnp.arange(30, dtype=jnp.int32)
    found = find_positions(jnp.asarray(is_right), positions, heads, rule, scanned)
    assert (found.before is None) == (rule.direction == "forward")
    assert (found.behind is None) == (rule.direction == "backward")
    before, behind = (None if one is None else np.asarray(one) for one in found)
    earlier = np.less_equal if rule.allow_exact else np.less
    # A nearest match finds equal times among the rows before.
    later = np.less_equal if rule.allow_exact and rule.direction == "forward" else np.less
    for row in np.flatnonzero(~is_right):
        if before is not None:
            rows = np.flatnonzero(is_right & earlier(times, times[row]))
            assert times_at(times, before[row]) == times_at(times, max(rows, default=-1))
        if behind is not None:
            rows = np.flatnonzero(is_right & later(times[row], times))
            assert times_at(times, behind[row]) == times_at(times, min(rows, default=-1))


def times_at(times, row):
    """The time of a row; of rows with one time, any is found. None for no row."""
    return None if row < 0 else times[row]


@pytest.mark.parametrize("tolerance", [None, 0, 3])
def test_the_nearer_row_is_chosen_within_the_tolerance(tolerance):
    times = np.array([0, 10, 20, 30, 40], np.int64)
    before = Candidate(np.array([-1, 1, 2, 3, 4]), np.array([0, 8, 17, 30, -(2**62)]))
    behind = Candidate(np.array([0, 1, -1, 2, 3]) + 10, np.array([2, 13, 0, 30, 2**62]))
    # A row that is missing has the id -1, whatever its time.
    behind = behind._replace(rows=np.where(np.arange(5) == 2, -1, behind.rows))
    limit = None if tolerance is None else jnp.int64(tolerance)
    chosen = choose_rows(
        jnp.asarray(times),
        Found(*(Candidate(*map(jnp.asarray, c)) for c in (before, behind))),
        limit,
    )
    # Equally near, the row before wins.
    nearest, distance = [10, 1, 2, 3, 13], [2, 2, 3, 0, 2**62 - 40]
    expected = [
        r if tolerance is None or d <= tolerance else -1
        for r, d in zip(nearest, distance, strict=True)
    ]
    np.testing.assert_array_equal(chosen, expected)


def test_heads_are_rows_that_differ_from_the_row_before():
    parts = (jnp.array([1, 1, 2, 2]), jnp.array([5, 6, 6, 6]))
    assert head_flags(parts).tolist() == [True, True, True, False]
    before = (jnp.array([1]), jnp.array([5]))
    assert head_flags(parts, before).tolist() == [False, True, True, False]


@pytest.mark.parametrize("dtype", [np.int16, np.float32])
def test_the_word_of_the_time_is_split_from_packed_words(dtype):
    keys = np.array([0, 1, 3], np.uint8), np.array([-2, 0, 5], dtype)
    words = ordered_words(tuple(map(jnp.asarray, keys)), (False, False))
    group, time = split_words(words, jnp.asarray(keys[1]))
    assert len(group) == 1
    np.testing.assert_array_equal(group[0], keys[0])
    assert (np.diff(np.asarray(time).astype(np.float64)) > 0).all()
    nan = ordered_words((jnp.array([np.nan, 1.0], np.float32),), (False,))[0].ordered()
    assert is_nan_word(nan, np.float32).tolist() == [True, False]
    assert not is_nan_word(time, np.int16).any()
