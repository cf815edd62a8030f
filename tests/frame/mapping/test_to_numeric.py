# SPDX-License-Identifier: Apache-2.0
"""to_numeric."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_operations import functions_for
from frame_parity import assert_parity, assert_same, assert_same_error, on_device
from jaxframes.frame import to_numeric

TEXTS = pd.DataFrame(
    {
        "a": ["1", "2", None],
        "b": ["1.5", "x", "3"],
        "c": ["1", "-2", "3"],
        "d": [1, 2, 3],
        "e": [True, False, True],
    }
)


def numbers(f, label, **how):
    return functions_for(f).to_numeric(f[label], **how)


def test_strings_and_numbers():
    assert_parity(
        lambda f: (
            numbers(f, "a"),
            numbers(f, "b", errors="coerce"),
            numbers(f, "c"),
            numbers(f, "c", downcast="integer"),
            numbers(f, "d"),
            numbers(f, "e"),
            numbers(f[f.d != 2], "b"),
            numbers(f[:0], "c", errors="coerce"),
        ),
        TEXTS,
        ways=["eager"],
    )
    assert_parity(
        lambda f: (numbers(f, "b", errors="coerce"), numbers(f, "c")), TEXTS, ways=["jit", "mesh"]
    )


def test_categories_and_values_of_the_host():
    series = TEXTS.c.astype("category")
    assert_same(to_numeric(on_device(series)), pd.to_numeric(series.astype("str")))
    assert to_numeric("7") == 7
    assert to_numeric(["1", "2.5"]).tolist() == [1.0, 2.5]
    assert to_numeric(np.array(["3"], object)).tolist() == [3]
    assert isinstance(to_numeric(["1"]), np.ndarray)


def test_times_are_counts_of_their_unit():
    times = pd.Series(pd.to_datetime(["1970-01-02", None]).as_unit("s"))
    assert to_numeric(on_device(times)).tolist() == [86_400, np.iinfo(np.int64).min]
    assert_parity(
        lambda f: (numbers(f, "t"), numbers(f[:0], "t")), mixed_frame(), ways=["eager", "jit"]
    )


def test_wrong_uses_are_pandas_errors():
    message = assert_same_error(lambda f: numbers(f, "b"), TEXTS)
    assert message.startswith("Unable to parse string")
    assert_same_error(lambda f: numbers(f, "c", errors="none"), TEXTS)
    with pytest.raises(ValueError, match="Unable to parse string"):
        to_numeric(on_device(pd.Series([1, "a"], dtype=object)))


@pytest.mark.filterwarnings("ignore:to_numeric of numbers:pandas.errors.PerformanceWarning")
@pytest.mark.parametrize("downcast", ["integer", "unsigned", "float"])
def test_numbers_are_downcast(downcast):
    for values in ([1, 2, 300], [1.0, 2.0], [-1.5, None], [True, False]):
        numbers = pd.Series(values, name="x")
        expected = pd.to_numeric(numbers, downcast=downcast)
        assert_same(to_numeric(on_device(numbers), downcast=downcast), expected)
    with pytest.raises(NotImplementedError, match="Use astype"):
        jax.jit(lambda s: to_numeric(s, downcast=downcast))(on_device(numbers))
