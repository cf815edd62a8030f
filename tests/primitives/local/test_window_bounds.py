# SPDX-License-Identifier: Apache-2.0
"""Where windows begin and end, and that the blocks put each together, row by row."""

import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives.local._window_bounds import (
    Reach,
    RowSequence,
    SegmentBounds,
    WindowBounds,
    WindowPlan,
    windows_between,
    windows_of_rows,
)

NUM_ROWS = 17
ROWS = np.arange(NUM_ROWS)
SEGMENT_STARTS, SEGMENT_ENDS = np.repeat([0, 6, 7], [6, 1, 10]), np.repeat([5, 6, 16], [6, 1, 10])


def greatest_so_far(rows, op, encoding, reverse):
    """The only scan that bounds take: the head of each row's block."""
    assert (op, reverse) == ("max", False)
    del encoding
    return jnp.asarray(np.maximum.accumulate(np.asarray(rows)))


def sequence_of(segments):
    return RowSequence(
        jnp.asarray(ROWS, jnp.int32), jnp.int32(NUM_ROWS), segments, None,
        greatest_so_far, lambda rows, positions: rows[jnp.maximum(positions, 0)],
    )  # fmt: skip


def parts_of(places, last):
    """The rows that the scans hold for each window: from the start of its block and from its end.

    `last` is the last row of each window.
    """
    heads = np.asarray(places.blocks.head_flags)
    for row in np.flatnonzero(np.asarray(places.num_rows) > 0):
        first, end = int(places.first[row]), int(last[row])
        block_of_end = np.flatnonzero(heads[: end + 1])[-1]
        later = np.flatnonzero(heads[first + 1 :])
        end_of_block = first + later[0] if len(later) else NUM_ROWS - 1
        rows = set()
        if places.is_split[row]:
            rows |= set(range(first, end_of_block + 1))
        if places.has_front[row]:
            rows |= set(range(block_of_end, end + 1))
        yield row, first, end, rows


@pytest.mark.parametrize("width", [1, 3, 5])
@pytest.mark.parametrize("offset", [0, 1, -2])
@pytest.mark.parametrize("has_segments", [False, True])
def test_windows_of_rows_are_put_together_from_blocks(width, offset, has_segments):
    starts, ends = (SEGMENT_STARTS, SEGMENT_ENDS) if has_segments else (0, NUM_ROWS - 1)
    segments = SegmentBounds(*map(jnp.int32, (starts, ends))) if has_segments else None
    plan = WindowPlan("sum", 1, None, False, True)
    reach = Reach(jnp.int32(width), jnp.int32(offset))
    places = windows_of_rows(reach, sequence_of(segments), plan)
    first = np.maximum(ROWS + offset - width + 1, starts)
    last = np.minimum(ROWS + offset, ends)
    np.testing.assert_array_equal(places.num_rows, np.maximum(last - first + 1, 0))
    for _, begin, end, rows in parts_of(places, last):
        assert rows == set(range(begin, end + 1))


@pytest.mark.parametrize("has_ends", [False, True])
def test_windows_between_bounds_are_put_together_from_blocks(has_ends):
    # Spans of 4 units of time, and a block for each multiple of 4.
    times = np.sort(np.random.default_rng(3).integers(0, 40, NUM_ROWS))
    first = np.searchsorted(times, times - 4, "right")
    last = np.searchsorted(times, times, "right") - 1 if has_ends else ROWS
    heads = np.diff(times // 4, prepend=-1) != 0
    bounds = WindowBounds(jnp.asarray(first), jnp.asarray(last) if has_ends else None, heads)
    plan = WindowPlan("sum", 1, None, False, has_ends)
    places = windows_between(bounds, sequence_of(None), plan)
    np.testing.assert_array_equal(places.num_rows, last - first + 1)
    for _, begin, end, rows in parts_of(places, last):
        assert rows == set(range(begin, end + 1))
