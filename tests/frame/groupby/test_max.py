# SPDX-License-Identifier: Apache-2.0
"""groupby.max."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame


def test_the_greatest_is_the_negated_least_of_the_negated():
    grouped = JaxFrame(mixed_frame()[["k", "i", "x"]]).groupby("k")
    negated = JaxFrame(mixed_frame()[["k", "i", "x"]].assign(i=lambda f: -f.i, x=lambda f: -f.x))
    least = -negated.groupby("k").min().to_pandas()
    pd.testing.assert_frame_equal(grouped.max().to_pandas(), least)


def test_selected_columns_and_keys_as_columns():
    def greatest(f):
        grouped = f.groupby(["b", "c"], as_index=False, observed=False)
        return grouped[["x", "s"]].max(), f.groupby("s", dropna=False).max(numeric_only=True)

    assert_parity(greatest, mixed_frame()[["b", "c", "s", "x"]], ways=["eager"])


def test_min_count_makes_missing_values_of_each_type():
    frame = pd.DataFrame(
        {
            "k": [1, 1, 2],
            "i": [5, 4, 3],
            "s": pd.array(["a", None, "b"], "str"),
            "t": np.array(["2024-01-01", "2024-01-02", "NaT"], "M8[us]"),
        }
    )
    assert_parity(lambda f: f.groupby("k").max(min_count=2), frame, ways=["jit"])
    for num_rows in (0, 1):
        assert_parity(lambda f: f.groupby("k").max(), frame[:num_rows], ways=["eager"])


def test_greatest_integers_of_64_bits_are_not_rounded():
    x = np.array([2**63 - 1, 2**63 - 2, -(2**63), -(2**63) + 1])
    frame = pd.DataFrame({"k": [1, 1, 2, 2], "x": x})
    assert JaxFrame(frame).groupby("k").x.max().tolist() == [2**63 - 1, -(2**63) + 1]


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()[["k", "s", "x"]]
    assert_same_error(lambda f: f.groupby("k").s.max(numeric_only=True), frame)
    assert_same_error(lambda f: f.groupby("k").x.max(numeric_only=1), frame)
    assert_same_error(lambda f: f.groupby("k").x.max(axis=1), frame)
