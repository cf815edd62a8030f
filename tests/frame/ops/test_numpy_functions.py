# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions of frames and series, which call methods with arguments of their own."""

import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_parity, assert_same_error, on_device

FRAME = pd.DataFrame({"a": [1.5, -2.25, 4.0], "b": [3, 4, 1]})
FUNCTIONS = (
    *("mean", "sum", "std", "var", "min", "max", "any", "all", "prod", "cumsum", "cumprod", "ptp"),
)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_reductions(name):
    function = getattr(np, name)
    assert_parity(lambda f: (function(f.a), function(f.b)), FRAME, ways=["eager"], ulps=2)
    assert_parity(lambda f: function(f[["a", "b"]], axis=0), FRAME, ways=["eager"], ulps=2)
    if name != "ptp":
        assert_parity(lambda f: function(f.b, axis=0), FRAME, ways=["jit"], ulps=2)


def test_of_all_values_of_a_frame():
    assert_parity(lambda f: (np.mean(f), np.max(f), np.sum(f)), FRAME, ways=["eager"], ulps=2)


def test_other_functions():
    def each(f):
        return (
            np.argsort(f.a),
            np.round(f.a, 1),
            np.round(f, 1),
            round(f.a, 1),
            round(f.a),
            round(f),
            np.clip(f.a, 0, 2),
            np.std(f.a, ddof=1),
            np.add.reduce(f.a),
            np.maximum.reduce(f),
        )

    assert_parity(each, FRAME, ways=["eager"], ulps=2)


def test_arguments_that_are_not_supported_are_pandas_errors():
    out = np.zeros(3)
    for call in (
        lambda f: np.sum(f.a, dtype="float32"),
        lambda f: np.mean(f, dtype="float32"),
        lambda f: np.sum(f.a, keepdims=True),
        lambda f: np.cumsum(f.a, out=out),
        lambda f: f.a.sum(bogus=1),
    ):
        assert_same_error(call, FRAME)


def test_products_of_matrices():
    frame = pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]})

    def products(f):
        square = np.arange(4.0).reshape(2, 2)
        return np.matmul(f.x, f.y), square @ f.x, [1.0, 2.0] @ f.x, square @ f, np.matmul(f, square)

    assert_parity(products, frame, ways=["eager"])


def test_an_array_that_is_a_copy_may_be_changed():
    series = on_device(pd.Series([1.0, np.nan]))
    np.testing.assert_array_equal(np.nan_to_num(series), [1.0, 0.0])
    copied = np.array(series)
    copied[0] = 5.0
    assert series.tolist()[0] == 1.0


def test_functions_of_two_numbers_see_a_frame_as_one_array():
    frame = pd.DataFrame({"n": [1, 2, 3], "m": [0.5, 1.5, 2.5], "k": np.array([1, 2, 3], "int8")})
    assert_parity(
        lambda f: (
            np.maximum(f[["n", "m"]], 2), np.minimum(f[["n", "k"]], f[["k", "n"]].to_numpy()),
            np.add(f, 1.5), np.fmax(f[["m", "k"]], 1), np.maximum(2, f[["n"]]),
        ),
        frame,
        ways=["eager"],
    )  # fmt: skip
