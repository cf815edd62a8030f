# SPDX-License-Identifier: Apache-2.0
"""sem."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def few():
    return pd.DataFrame({"i": [1, 3, 8, 4], "x": [0.5, np.nan, 4.5, 1.0]})


def test_ddof_and_missing_values():
    assert_parity(
        lambda f: (f.sem(), f.sem(ddof=0), f.sem(ddof=3), f.x.sem(skipna=False), f[:0].sem()),
        few(),
        ways=["eager"],
        ulps=4,
    )
    assert_parity(lambda f: (f.sem(axis=1), f.sem(axis=1, ddof=0), f.i.sem()), few(), ulps=4)


def test_is_the_deviation_by_the_root_of_the_count():
    ours = on_device(few())
    for label in ("i", "x"):
        column = ours[label]
        expected = column.std(ddof=0) / np.sqrt(column.count())
        np.testing.assert_allclose(column.sem(ddof=0), expected, rtol=1e-15)


def test_one_value_has_no_error_of_its_mean():
    assert_parity(lambda f: (f.sem(), f.x.sem(), f.i.sem(ddof=0)), few()[:1], ways=["eager"])


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()
    assert_same_error(lambda f: f.t.sem(), frame)
    assert_same_error(lambda f: f[["k", "s"]].sem(), frame)
    assert_same_error(lambda f: f.k.sem(min_count=2), frame)
    assert_same_error(lambda f: f.k.sem(axis=1), frame)
