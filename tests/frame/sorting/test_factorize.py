# SPDX-License-Identifier: Apache-2.0
"""factorize."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def test_numbers_follow_the_order_of_appearance_or_of_the_values():
    letters = pd.Series(["b", None, "a", "b"], name="s")
    assert_parity(
        lambda s: (s.factorize(), s.factorize(sort=True), s.factorize(use_na_sentinel=False)),
        letters,
        ways=["eager"],
    )
    assert_parity(lambda s: (s[:0].factorize(), s[:1].factorize()), letters, ways=["eager"])


def test_codes_taken_of_the_values_are_the_column():
    ours = on_device(mixed_frame())
    codes, values = ours.k.factorize(sort=True)
    assert values[codes].tolist() == ours.k.tolist()
    assert values.is_monotonic_increasing
    codes, _ = ours.t.factorize()
    np.testing.assert_array_equal(codes == -1, ours.t.isna().to_numpy())


def test_wrong_uses_are_pandas_errors():
    assert_same_error(lambda s: s.factorize(bogus=True), pd.Series([1]))
    assert_same_error(lambda f: f.factorize(), pd.DataFrame({"x": [1]}))
