# SPDX-License-Identifier: Apache-2.0
"""add_prefix and add_suffix."""

import jax
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device

FRAME = mixed_frame()[["k", "x"]]


def test_both_ends_at_once_and_nothing_at_all():
    def relabelled(f):
        return f.add_prefix("a_").add_suffix("_z"), f.add_prefix(""), f.add_suffix("é", axis=1)

    assert_parity(relabelled, FRAME, ways=["jit"])
    assert_parity(relabelled, FRAME.set_index("k")[:0], ways=["eager"])


def test_labels_that_are_no_strings_become_strings():
    frame = FRAME.set_axis([1, 2.5], axis=1)
    assert_parity(lambda f: (f.add_prefix("p"), f.add_suffix("s")), frame, ways=["eager"])
    assert_parity(lambda f: f[[]].add_prefix("p"), FRAME, ways=["eager"])


def test_labels_of_rows():
    frame = FRAME.assign(s=mixed_frame().s)
    assert_parity(
        lambda f: (
            f.add_prefix("p", axis=0),
            f.k.add_prefix("p"),
            f.set_index("x").k.add_suffix("s"),
            f.set_index("s").k.add_suffix("s", axis=0),
            f.set_index(["k", "x"]).s.add_prefix("p"),
            f[:0].k.add_prefix("p"),
        ),
        frame,
        ways=["eager", "mesh"],
    )
    assert_same_error(lambda f: f.add_suffix("s", axis="bogus"), FRAME)
    assert_same_error(lambda f: f.k.add_suffix("s", axis=1), FRAME)
    with pytest.raises(NotImplementedError, match="inside jit"):
        jax.jit(lambda f: f.k.add_prefix("p"))(on_device(FRAME))
