# SPDX-License-Identifier: Apache-2.0
"""Every operator for every pair of dtypes; all pairs of an operator share one program."""

import itertools
import operator
import warnings

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import INTEGERS
from frame_parity import assert_parity, assert_same_error, on_device

DTYPES = ("bool", *INTEGERS, "float16", "float32", "float64", "complex64", "complex128")
OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow",
             "eq", "ne", "lt", "le", "gt", "ge", "and_", "or_", "xor")  # fmt: skip
SCALARS = (
    True, 0, -2, 1000, 1.5, -0.5, 0.0, float("nan"),
    np.uint64(7), np.float32(0.5), np.bool_(False),
)  # fmt: skip


def column(dtype: str, seed: int, num_rows: int = 37) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.random(num_rows) < 0.5
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        pool = [info.min, info.max, info.max - 1, 0, 1, 2, 3, 7]
        return rng.choice(np.array(pool if info.min == 0 else [*pool, -1, -3], dtype), num_rows)
    reals = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.25, 0.5, 3.0, -7.0])
    if dtype.startswith("complex"):
        return rng.choice(np.array([0.0, 1.5, -2.25, 3.0]), num_rows).astype(dtype)
    return rng.choice(reals, num_rows).astype(dtype)


def outcome(function, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args)
        except Exception as error:
            return error


def is_close(op, got, expected):
    """Equality, except for rounding of powers, complex numbers and float32 quotients on GPU."""
    if got.dtype != expected.dtype:
        return False
    is_rough = op == "truediv" and jax.default_backend() == "gpu" and expected.dtype == np.float32
    if expected.dtype.kind == "c" or op == "pow" or is_rough:
        tiny = np.finfo(expected.dtype).eps if expected.dtype.kind in "fc" else 0
        return np.allclose(got, expected, rtol=8 * tiny, atol=0, equal_nan=True)
    zeros = np.asarray(expected == 0)
    signs = expected.dtype.kind != "f" or (np.signbit(got) == np.signbit(expected))[zeros].all()
    return signs and got.equals(expected)


def is_left_out(op, a, b):
    if op in ("and_", "or_", "xor"):
        # pandas returns objects for uint64 with signed integers.
        return "uint64" in (a, b) and {a[0], b[0]} == {"i", "u"}
    return op == "pow" and "complex" in a + b


def dtypes_of(op):
    """All dtypes for `add`, whose result dtypes are the rule; few of each kind for others."""
    return DTYPES if op == "add" else ("bool", "int8", "int64", "uint64", "float32", "float64")


@pytest.mark.parametrize("op", OPERATORS)
def test_columns_of_two_dtypes(op):
    function = getattr(operator, op)
    left, right, expected = {}, {}, {}
    for a, b in itertools.product(dtypes_of(op), repeat=2):
        x, y = pd.Series(column(a, 0)), pd.Series(column(b, 1))
        if op == "pow" and b in INTEGERS:
            y = (y % 4 if y.dtype.kind == "u" else y.abs() % 4).abs().astype(b)
        if is_left_out(op, a, b):
            continue
        compare(function, x, y, f"{a} {b}", left, right, expected)
    got = function(on_device(pd.DataFrame(left)), on_device(pd.DataFrame(right))).to_pandas()
    wrong = [pair for pair in expected if not is_close(op, got[pair], expected[pair])]
    assert not wrong, (wrong, got[wrong[0]].compare(expected[wrong[0]]))


def compare(function, x, y, pair, left, right, expected):
    want = outcome(function, x, y)
    if isinstance(want, Exception):
        assert_same_error(function, x, y)
    else:
        left[pair], right[pair], expected[pair] = x, y, want


def test_quotients_of_float16_are_rounded_once():
    half = pd.Series(np.array([1e4, -7, 65504, 5.5], "float16"))
    divisors = pd.Series(np.array([3, 3, 7, 2], "float16"))
    assert_parity(lambda x, y: (x // y, x // 3), half, divisors)
    assert_parity(lambda x, y: x // y, half, divisors.astype("int8"), ways=["eager"])


@pytest.mark.parametrize("op", OPERATORS)
def test_columns_with_scalars(op):
    function = getattr(operator, op)
    for scalar, way in itertools.product(SCALARS, (function, lambda x, y: function(y, x))):
        frame, expected = {}, {}
        for dtype in ("bool", "int8", "uint8", "float32"):
            x = pd.Series(column(dtype, 0))
            want = outcome(way, x, scalar)
            if isinstance(want, Exception):
                got = outcome(way, on_device(x), scalar)
                assert isinstance(got, type(want)) or isinstance(want, type(got)), (scalar, got)
            else:
                frame[dtype], expected[dtype] = x, want
        if not frame or (op == "pow" and isinstance(scalar, complex)):
            continue
        got = way(on_device(pd.DataFrame(frame)), scalar).to_pandas()
        wrong = [x for x in expected if not is_close(op, got[x], expected[x])]
        assert not wrong, (scalar, got[wrong[0]], expected[wrong[0]])
