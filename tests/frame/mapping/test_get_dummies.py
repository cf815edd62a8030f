# SPDX-License-Identifier: Apache-2.0
"""get_dummies."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_operations import functions_for
from frame_parity import assert_parity, assert_same, assert_same_error, on_device
from jaxframes.frame import JaxFrame, JaxSeries, get_dummies


def dummies_of(data, **options):
    return functions_for(data).get_dummies(data, **options)


def test_strings_and_categories_by_default():
    frame = mixed_frame()[["k", "s", "c"]]
    assert_parity(
        lambda f: (dummies_of(f), dummies_of(f, drop_first=True, dummy_na=True, dtype=np.float32)),
        frame,
        ways=["eager", "mesh"],
    )
    assert_parity(lambda f: dummies_of(f[["k", "c"]]), frame, ways=["jit"])


def test_any_column_that_is_named():
    frame = mixed_frame()[["k", "x", "b", "t", "s"]][:9]
    assert_parity(
        lambda f: dummies_of(f, columns=["t", "k", "x", "b"], dummy_na=True), frame, ways=["eager"]
    )


def test_only_the_strings_that_rows_have():
    frame = pd.DataFrame({"s": ["b", "a", None, "c"], "x": [1, 2, 3, 4]})
    assert_parity(lambda f: dummies_of(f[f.x > 2]), frame, ways=["eager"])
    inside = jax.jit(lambda f: get_dummies(f[f.x > 2]))(JaxFrame(frame))
    assert list(inside.to_pandas()) == ["x", "s_a", "s_b", "s_c"]


def test_prefixes():
    frame = pd.DataFrame({"s": ["b", "a"], "t": ["u", None], "x": [1, 2]})
    for options in (
        {"prefix": "p"},
        {"prefix": ["p", "q"], "prefix_sep": "-"},
        {"prefix": {"s": "p", "t": "q"}},
        {"prefix_sep": ["/", "."]},
    ):
        assert_parity(lambda f, o=options: dummies_of(f, **o), frame, ways=["eager"])


def test_series():
    frame = mixed_frame()[["k", "s", "c", "b"]]
    for name in frame:
        assert_parity(
            lambda s: (dummies_of(s), dummies_of(s, prefix="p", dummy_na=True)),
            frame[name],
            ways=["eager"],
        )
        assert_parity(
            lambda s: dummies_of(s, dummy_na=True, drop_first=True), frame[name][:0], ways=["eager"]
        )


def test_values_of_the_host():
    words = ["b", None, "a", "b"]
    frame = pd.DataFrame({"s": words, "x": range(4)}, index=list("wxyz"))
    for given in (
        words,
        tuple(words),
        np.array(words, object),
        [3, 1, 3],
        np.array([0.5, np.nan]),
        [],
        pd.Index(words, name="s"),
        pd.Categorical(words, list("abc")),
        frame["s"],
        frame,
    ):
        for options in ({}, {"dummy_na": True, "dtype": np.int8}):
            made = get_dummies(given, **options)
            assert isinstance(made, JaxFrame)
            assert_same(made, pd.get_dummies(given, **options))


def test_flags_may_be_nullable():
    frame = pd.DataFrame({"s": ["b", None, "a"]})
    for dtype in ("Int64", "boolean", "float[pyarrow]"):
        assert_parity(lambda f, dtype=dtype: dummies_of(f, dtype=dtype), frame, ways=["eager"])
    with pytest.raises(NotImplementedError, match="dtype must be of numbers or bools, got string"):
        get_dummies(on_device(frame), dtype="string")


def test_wrong_uses_are_pandas_errors():
    frame = pd.DataFrame({"s": ["b", "a"], "x": [1, 2]})
    for options in (
        {"prefix": ["p", "q"]},
        {"columns": "s"},
        {"columns": ["none"]},
        {"dtype": object},
    ):
        assert_same_error(lambda f, o=options: dummies_of(f, **o), frame)
    with pytest.raises(NotImplementedError, match="sparse"):
        get_dummies(on_device(frame), sparse=True)
    with pytest.raises(TypeError, match="unhashable"):
        get_dummies(JaxFrame({"o": [[1], [2]]}))
    with pytest.raises(NotImplementedError, match="jit"):
        jax.jit(get_dummies)(JaxSeries([1, 2]))
