# SPDX-License-Identifier: Apache-2.0
"""get."""

from frame_examples import mixed_frame
from frame_parity import assert_parity, on_device

FRAME = mixed_frame()[["k", "x", "s"]]


def test_a_label_gives_a_column_and_a_list_a_frame():
    assert_parity(lambda f: (f.get("k"), f.get(["s", "k"])), FRAME, ways=["jit"])
    assert_parity(lambda f: (f[:0].get("x"), f[:1].get(["x"])), FRAME, ways=["eager"])


def test_what_is_not_there_gives_the_default():
    ours = on_device(FRAME)
    default = object()
    assert ours.get("no") is None
    assert ours.get("no", default) is ours.get(["k", "no"], default=default) is default
    assert ours.get(0, 3) == FRAME.get(0, 3) == 3


def test_labels_of_a_series():
    assert_parity(
        lambda f: (f.k.get(3), f.k.get(99), f.k.get(99, 7), f.set_index("s").k.get("no", "none")),
        mixed_frame()[["k", "s"]],
        ways=["eager"],
    )
