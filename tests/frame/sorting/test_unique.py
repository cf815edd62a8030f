# SPDX-License-Identifier: Apache-2.0
"""unique."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def test_values_come_in_the_order_of_their_first_rows():
    values = pd.DataFrame(
        {
            "x": [2.0, np.nan, 0.0, -0.0, np.nan],
            "i": np.array([3, 3, 1, 255, 1], "uint8"),
            "b": [True] * 5,
            "s": ["b", None, "b", "a", None],
        }
    )
    assert_parity(lambda f: tuple(f[name].unique() for name in "xibs"), values, ways=["eager"])
    assert_parity(lambda f: (f.x[:0].unique(), f.s[:1].unique()), values, ways=["eager"])


def test_is_what_drop_duplicates_keeps():
    ours = on_device(mixed_frame())
    assert ours.k.unique().tolist() == ours.k.drop_duplicates().tolist()
    assert ours.k.unique().tolist() == ours.k[~ours.k.duplicated()].tolist()


def test_wrong_uses_are_pandas_errors():
    assert_same_error(lambda s: s.unique(dropna=True), pd.Series([1]))
    assert_same_error(lambda f: f.unique(), pd.DataFrame({"x": [1]}))
