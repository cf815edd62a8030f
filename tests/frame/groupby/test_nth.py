# SPDX-License-Identifier: Apache-2.0
"""groupby.nth."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame


def test_places_slices_and_both_together():
    def rows(f):
        grouped = f.groupby("k")
        # No group has 50 rows; a repeated position selects its row once.
        wanted = (50, -50, [], [0, 0], (1, slice(4, None)), slice(None, -5), np.int64(2))
        return tuple(grouped.nth(n) for n in wanted)

    assert_parity(rows, mixed_frame()[["k", "x"]], ways=["eager"])


def test_positions_in_any_collection():
    def rows(f):
        grouped = f.groupby("k")
        wanted = (np.array([0, -1]), range(2), {0, 2}, pd.Series([1]), 2**70, slice(-(2**40), None))
        return tuple(grouped.nth(n) for n in wanted)

    assert_parity(rows, mixed_frame()[["k", "x"]], ways=["eager"])


def test_steps():
    def rows(f):
        grouped = f.groupby("k")
        starts = (None, 0, 1, 50, -1, -4, -50)
        stops = (None, 4, -2)
        return tuple(grouped.nth(slice(start, stop, 2)) for start in starts for stop in stops)

    assert_parity(rows, mixed_frame()[["k", "x"]], ways=["eager"])
    assert_parity(
        lambda f: f.groupby("k").nth(slice(-7, None, 3)), mixed_frame()[["k", "x"]], ways=["jit"]
    )


def test_all_places_make_up_the_frame():
    frame = mixed_frame()[["k", "x"]]
    grouped = JaxFrame(frame).groupby("k")
    most = int(frame.groupby("k").size().max())
    labels = [label for n in range(most) for label in grouped.nth(n).to_pandas().index]
    assert sorted(labels) == list(range(37))


def test_rows_keep_their_labels_whatever_as_index_says():
    def rows(f):
        return f.groupby("k", as_index=False).nth(1), f.groupby("k").x.nth(-1)

    frame = mixed_frame()[["k", "x", "s"]].set_index("s")
    assert_parity(rows, frame, ways=["jit"])
    for num_rows in (0, 1):
        assert_parity(rows, frame[:num_rows], ways=["eager"])


def test_a_place_is_an_integer():
    frame = mixed_frame()[["k", "x"]]
    for n in (1.5, None, True, "a", [[0]], [True], [0.0], np.array(0), slice(None, None, -1)):
        assert_same_error(lambda f, n=n: f.groupby("k").nth(n), frame)
