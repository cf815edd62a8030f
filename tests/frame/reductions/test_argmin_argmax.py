# SPDX-License-Identifier: Apache-2.0
"""argmin and argmax."""

import jax
import numpy as np
import pandas as pd
from frame_examples import floats, mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def both(s, **arguments):
    return s.argmin(**arguments), s.argmax(**arguments)


def test_count_rows_whatever_their_labels():
    series = pd.Series([2, 9, 9, -1, -1], index=list("edcba"))
    assert_parity(lambda s: (both(s), both(s[1:3]), both(s, skipna=False)), series)
    assert_parity(lambda s: both(s, axis=0), series, ways=["eager"])


def test_infinities_strings_and_words_in_upper_case():
    assert_parity(lambda s: (both(s), both(s[s < 1])), floats(), ways=["eager"])
    assert_parity(both, pd.Series(["b", "B", "", "ß"]), ways=["eager"])


def test_take_of_them_gives_the_extremes():
    ours = on_device(mixed_frame())
    for label in ("x", "d"):
        least, most = both(ours[label])
        assert ours[label].iloc[int(least)] == ours[label].min()
        assert ours[label].iloc[int(most)] == ours[label].max()


def test_of_no_value_is_an_error_and_inside_jit_a_place_before_the_first():
    missing = pd.Series([np.nan, np.nan])
    for get in (lambda s: s.argmin(), lambda s: s.argmax(skipna=False), lambda s: s[:0].argmax()):
        assert_same_error(get, missing)
    assert tuple(map(int, jax.jit(both)(on_device(missing)))) == (-1, -1)


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()
    assert_same_error(lambda f: f.argmin(), frame)
    assert_same_error(lambda f: f.k.argmin(axis=1), frame)
    assert_same_error(lambda f: f.x.argmin(skipna=False), frame)
