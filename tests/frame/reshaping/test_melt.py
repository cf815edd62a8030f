# SPDX-License-Identifier: Apache-2.0
"""melt."""

import pandas as pd
from frame_examples import mixed_frame
from frame_parity import EVERYWHERE, assert_parity, assert_same_error


def test_value_columns_below_each_other():
    assert_parity(
        lambda f: (
            f.melt("s", ["x", "k"]),
            f[["k", "x"]].melt(),
            f.melt(["s", "t"], "k", var_name="n", value_name="w", ignore_index=False),
        ),
        mixed_frame()[["k", "x", "s", "t"]],
        ways=EVERYWHERE,
    )


def test_types_and_labels():
    assert_parity(
        lambda f: (
            f[["c"]].melt(),
            f[["b"]].melt(),
            f[["d", "t"]].melt("d"),
            f[["x", "y"]].set_axis([7, 3], axis=1).melt(7),
            f[["k"]].melt("k"),
            f[:0][["k", "x"]].melt("k"),
            f.set_index("s")[["k", "x"]].melt(ignore_index=False),
        ),
        mixed_frame(),
        ways=["eager"],
    )


def test_levels_of_columns():
    frame = mixed_frame()[["k", "x"]]
    frame.columns = pd.MultiIndex.from_tuples([("a", "p"), ("b", "q")], names=["l", None])
    assert_parity(lambda f: (f.melt(), f.melt(col_level=0)), frame, ways=["eager"])


def test_wrong_uses():
    frame = mixed_frame()[["k", "s"]]
    assert_same_error(lambda f: f.melt("none"), frame)
    assert_same_error(lambda f: f.melt("k", value_name="k"), frame)
    assert_parity(lambda f: f.melt(), frame, ways=["eager"])
