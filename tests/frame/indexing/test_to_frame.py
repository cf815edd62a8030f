# SPDX-License-Identifier: Apache-2.0
"""to_frame."""

import jax
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device

FRAME = mixed_frame()


def test_of_every_kind_of_column():
    assert_parity(
        lambda f: tuple(f[label].to_frame() for label in FRAME.columns), FRAME, ways=["eager"]
    )


def test_names_that_are_there_given_or_none():
    def frames(s):
        return s.to_frame(), s.to_frame("y"), s.to_frame(0), s.rename(None).to_frame()

    assert_parity(frames, FRAME["x"])
    for num_rows in (0, 1):
        assert_parity(frames, FRAME["x"][:num_rows], ways=["eager"])


def test_labels_stay():
    assert_parity(lambda s: s.to_frame("n"), FRAME.set_index(["k", "s"])["x"], ways=["eager"])


def test_it_shares_the_array():
    column = on_device(FRAME)["x"]
    first = jax.tree.leaves(column)[0]
    assert any(leaf is first for leaf in jax.tree.leaves(column.to_frame()))


def test_it_takes_one_argument():
    assert_same_error(lambda s: s.to_frame("a", "b"), FRAME["x"])
