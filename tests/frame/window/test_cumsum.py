# SPDX-License-Identifier: Apache-2.0
"""cumsum, cumprod, cummin and cummax."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import INTEGERS, finite, floats, integers, mixed_frame
from frame_parity import EVERYWHERE, assert_parity, assert_same_error, on_device
from jaxframes.frame import JaxSeries

NAMES = ("cumsum", "cumprod", "cummin", "cummax")


def all_of(f, **arguments):
    return tuple(getattr(f, name)(**arguments) for name in NAMES)


def without_signs_of_zero(f, **arguments):
    """Drops the sign of zero sums and products, which only the C++ kernels keep."""
    sums, products, *extremes = all_of(f, **arguments)
    return sums + 0.0, products + 0.0, *extremes


def numbers():
    frame = pd.DataFrame({dtype: integers(dtype, seed=n) for n, dtype in enumerate(INTEGERS)})
    frame["b"] = mixed_frame()["b"]
    return frame


@pytest.mark.filterwarnings("ignore:invalid value")
def test_matches_pandas_for_each_dtype():
    assert_parity(all_of, numbers())
    floating = pd.DataFrame({"x": finite(), "f": finite("float32"), "y": floats()})
    assert_parity(without_signs_of_zero, floating, ways=["eager"], ulps=2**33)
    assert_parity(
        lambda f: without_signs_of_zero(f, skipna=False), floating[2:], ways=["eager"], ulps=2**33
    )


def test_infinities_and_missing_values():
    assert_parity(lambda f: (f.cummin(), f.cummax(), f.cummin(skipna=False)), floats())


def test_times_strings_and_ordered_categories():
    frame = mixed_frame()

    def extremes(f):
        some = f[["s", "c", "t", "d", "x"]]
        return some.cummin(), some.cummax(), some.cummax(skipna=False), f.d.cumsum()

    assert_parity(extremes, frame, ways=EVERYWHERE)


def test_strings_are_concatenated():
    words = pd.Series(["b", "", None, "äb", "b", None], name="s")
    numbers = pd.Series([1, 2, 3, 4, 5, 6], name="n")
    frame = pd.concat([numbers, words], axis=1)

    def concatenated(f):
        return f.cumsum(), f.cumsum(skipna=False), f.s[2:].cumsum(skipna=False), f.s[:0].cumsum()

    assert_parity(concatenated, frame, ways=["eager", "mesh"])
    assert_parity(lambda s: s.cumsum(), pd.Series([None, None], dtype="str"), ways=["eager"])
    with pytest.raises(NotImplementedError, match="inside jit the strings of column 's'"):
        jax.jit(lambda s: s.cumsum())(on_device(words))


@pytest.mark.parametrize("signs", [(1, 1), (-1, -1)])
def test_sums_of_times_past_int64_raise(signs):
    times = pd.Series(np.array(signs) * np.int64(2**62), dtype="timedelta64[ns]").repeat(2)
    times = times.reset_index(drop=True)
    assert_same_error(lambda s: s.cumsum(), times)
    assert_parity(lambda s: s[:1].cumsum(), times, ways=["eager", "mesh"])
    edge = pd.Series(np.array([2**62, 2**62 - 1, -(2**62), 5]), dtype="timedelta64[ns]")
    assert_parity(lambda s: s.cumsum(), edge, ways=["eager"])


def test_few_rows_and_all_missing():
    assert_parity(all_of, floats()[:0], ways=["eager"])
    assert_parity(all_of, pd.Series([np.nan, np.nan]), ways=["eager"])
    assert_parity(all_of, pd.Series([5], dtype="int8"), ways=["eager"])
    assert_parity(lambda f: f.cumsum(numeric_only=True), mixed_frame()[["i", "s"]], ways=["eager"])


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()
    assert "'c'" in assert_same_error(lambda f: f[["c"]].cumsum(), frame)
    assert_same_error(lambda f: f.t.cumsum(), frame)
    assert_same_error(lambda f: f.d.cumprod(), frame)
    assert_same_error(lambda f: f.s.cumprod(), frame)
    assert_same_error(lambda f: f.x.cumsum(axis=1), frame)
    assert_same_error(lambda f: f.cumsum(axis=2), frame)
    frame = mixed_frame()
    assert_same_error(lambda f: f.cumsum(), frame[["k", "t"]])
    assert_same_error(lambda f: f.k.cumsum(axis="columns"), frame)


def test_gradient():
    x = np.array([1.0, 2.0, np.nan, 3.0])

    def loss(data):
        return (JaxSeries(data).cumsum()._only.data[:4] * np.arange(4.0))[np.array([0, 1, 3])].sum()

    np.testing.assert_array_equal(jax.grad(loss)(jax.numpy.asarray(x)), [4.0, 4.0, 0.0, 3.0])


def steps():
    return pd.DataFrame({"i": [3, -1, 4], "x": [0.5, np.nan, 2.0]}, index=["p", "q", "r"])


def test_keeps_labels_and_leaves_out_missing_values_or_stops_there():
    assert_parity(
        lambda f: (f.cumsum(), f.cumsum(skipna=False), f.cumsum(axis=1), f.x.cumsum(0, False)),
        steps(),
        ways=["eager"],
    )


def test_narrow_integers_and_bools_are_added_in_64_bits():
    narrow = pd.DataFrame({"i": np.array([100, 100, -5], "int8"), "b": [True, True, False]})
    assert_parity(lambda f: (f.cumsum(), f.b.cumsum()), narrow, ways=["jit"])


def test_its_last_is_the_sum_and_its_changes_are_the_values():
    column = on_device(mixed_frame()).i
    sums = column.cumsum()
    assert int(sums.iloc[-1]) == column.sum()
    assert sums.diff()[1:].tolist() == column[1:].tolist()
