# SPDX-License-Identifier: Apache-2.0
"""squeeze."""

from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error

FRAME = mixed_frame()[["k", "x", "s"]]


def test_one_column_becomes_a_series():
    def squeezed(f):
        return f[["k"]].squeeze(), f[["s"]].squeeze(axis="columns"), f.squeeze(), f.k.squeeze()

    assert_parity(squeezed, FRAME, ways=["eager"])
    assert_parity(lambda f: f[["x"]].squeeze(axis=1), FRAME, ways=["jit"])


def test_one_row_of_one_column_becomes_a_scalar():
    def squeezed(f):
        return f[["k"]].squeeze(), f[["s"]].squeeze(), f.x.squeeze(), f[["k"]].squeeze(axis=1)

    assert_parity(squeezed, FRAME[:1], ways=["eager"])


def test_no_rows_stay_a_series():
    assert_parity(lambda f: (f[["k"]].squeeze(), f.x.squeeze(), f.squeeze()), FRAME[:0],
                  ways=["eager"])  # fmt: skip


def test_wrong_axis():
    assert_same_error(lambda f: f.squeeze(axis=2), FRAME)
    assert_same_error(lambda s: s.squeeze(axis=1), FRAME["k"])
