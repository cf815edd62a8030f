# SPDX-License-Identifier: Apache-2.0
"""set_index."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error

FRAME = mixed_frame()[["k", "x", "s", "t"]]


def test_reset_index_takes_it_back():
    assert_parity(lambda f: f.set_index(["t", "k"]).reset_index(), FRAME, ways=["jit"])


def test_columns_stay_and_labels_pile_up_as_told():
    def indexed(f):
        return (
            f.set_index("k", drop=False), f.set_index(["s", "k"], drop=False).x,
            f.set_index("s").set_index("k", append=True), f.set_index("x").set_index("s"),
            f[:0].set_index(["k", "s"]), f[:1].set_index("t", append=True),
        )  # fmt: skip

    assert_parity(indexed, FRAME, ways=["eager"])


def test_labels_may_come_from_outside():
    labels = pd.Index(np.arange(37)[::-1], name="n")
    assert_parity(lambda f: (f.set_index(labels), f.set_index([labels, "k"])), FRAME,
                  ways=["eager"])  # fmt: skip


def test_wrong_keys():
    assert_same_error(lambda f: f.set_index(["k", "no"]), FRAME)
    assert_same_error(lambda f: f.set_index([np.arange(3)]), FRAME)
