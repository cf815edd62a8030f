# SPDX-License-Identifier: Apache-2.0
"""sum."""

import numpy as np
import pandas as pd
import pytest
from frame_examples import floats, mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def small():
    return pd.DataFrame({"i": [3, 4, 5], "x": [1.5, None, 2.5], "n": None}, dtype=float)


def test_min_count_asks_for_values_that_are_not_missing():
    def sums(f):
        return tuple(f.sum(min_count=least) for least in (-1, 0, 1, 2, 3, 4))

    assert_parity(sums, small(), ways=["eager"])
    assert_parity(lambda f: (f.sum(axis=1, min_count=2), f.x.sum(min_count=3)), small())


def test_parts_add_up_to_the_whole():
    ours = on_device(mixed_frame()[["i", "k"]])
    assert ours.i[:20].sum() + ours.i[20:].sum() == ours.i.sum()
    assert ours.sum(axis=1).sum() == ours.sum().sum() == ours.sum(axis=None)


def test_strings_are_put_together():
    words = mixed_frame()[["s"]]
    assert_parity(
        lambda f: (
            f.s.sum(numeric_only=True),
            f.s.dropna().sum(skipna=False),
            f.s.sum(min_count=3),
            f.s[:0].sum(),
        ),
        words,
        ways=["eager"],
    )
    assert_parity(lambda f: f.s[:3].sum(min_count=4), words.dropna(), ways=["eager"])


def test_infinities_and_missing_values():
    infinite = floats()[floats() > 1]
    assert_parity(lambda s: (s.sum(), s.sum(skipna=False)), infinite, ways=["eager"])
    assert_parity(lambda s: (s.sum(skipna=False), s[:0].sum(skipna=False)), small().x)


def test_dtypes_of_results():
    flags = mixed_frame()[["b", "f", "d"]]
    assert_parity(
        lambda f: (f.b.sum(), f.b[:0].sum(), f.b[1:2].sum(), f.f[:1].sum(), f.d[:0].sum()),
        flags,
        ways=["eager"],
    )
    assert_parity(lambda f: f[["b"]].sum(), flags, ways=["eager"])


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()
    assert_same_error(lambda f: f.c.sum(), frame)
    assert_same_error(lambda f: f.sum(skipna="no"), frame[["k"]])


@pytest.mark.parametrize("sign", [1, -1])
def test_a_sum_of_times_past_int64_raises(sign):
    def times(*values):
        return pd.Series(sign * np.array(values, np.int64), dtype="timedelta64[us]", name="t")

    fits = times(2**62, 2**62 - 1, -5, 5)
    assert_parity(lambda s: (s.sum(), s.to_frame().sum()), fits, ways=["eager", "mesh"])
    assert_same_error(lambda s: s.sum(), times(2**62, 2**62, 7))
    assert_same_error(lambda s: s.to_frame().sum(), times(2**62, 2**62, 7))
    # The sum wraps around twice, back to a value that would fit.
    assert_same_error(lambda s: s.sum(), times(*[2**62] * 4, 7))
