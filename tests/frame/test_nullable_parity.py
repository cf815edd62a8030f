# SPDX-License-Identifier: Apache-2.0
"""Compares the operations of the registry with pandas on columns of nullable dtypes.

`UNLIKE` lists the operations whose answers differ, with the reasons: they are differences of the
page "Differences from pandas", or refusals.
"""

import warnings

import hypothesis
import jax
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frame_operations import OPERATIONS
from frame_parity import Bound, assert_same
from hypothesis import strategies as st
from jaxframes.frame import JaxFrame
from operation_parity import IS_LONG

NUM_DRAWN = 2000 if IS_LONG else 40
_OBJECTS = "pandas has objects"
_RAISES = "pandas raises for missing values"
_OVERFLOW = "Arrow raises where integers overflow, or has no such operation"
# The families, and why an operation differs there from pandas.
UNLIKE = {
    "masked": {
        "divmod": "pandas has NA for the infinities of integers by zero",
        "quantile": "pandas casts quantiles that are all integers back to integers",
        **dict.fromkeys(("stack", "dot", "apply_rows"), _OBJECTS),
        "lreshape": "pandas makes bools of NumPy, or objects",
        **dict.fromkeys(("searchsorted", "cut", "merge_asof"), _RAISES),
        "ewm": "pandas takes a com of 1, which is span=3, for irregular times",
    },
    "arrow": {
        **dict.fromkeys(
            ("add", "sub", "mul", "truediv", "floordiv", "mod", "scalar_floordiv", "cumsum"),
            _OVERFLOW,
        ),
        **dict.fromkeys(("cumprod", "diff", "group_by_values", "reversed_methods"), _OVERFLOW),
        **dict.fromkeys(("divmod", "std", "median", "group_ohlc"), _OVERFLOW),
        "mean_float32": "Arrow's mean of float32 is float64",
        **dict.fromkeys(("stack", "dot", "apply_rows"), _OBJECTS),
        "lreshape": "pandas makes bools of NumPy, or objects",
        **dict.fromkeys(("searchsorted", "cut", "to_timedelta", "merge_asof"), _RAISES),
        "ewm": "pandas takes a com of 1, which is span=3, for irregular times",
    },
}
# Without rows, or with one row without a key, pandas has other dtypes, or fails.
OF_SEVERAL_ROWS = ("agg", "group_monotonic", "group_transform", "group_transform_missing")
_MASKED = {"b": "boolean", "s": "string", "f32": "Float32"}


def frame_of(columns, family, size, rng, holes):
    """A frame of nullable columns; times and categories have no masked dtypes."""
    return pd.DataFrame({name: _column(name, family, size, rng, holes) for name in columns})


def _column(name, family, size, rng, holes):
    values = pd.Series(_values(name, size, rng))
    if isinstance(values.dtype, pd.CategoricalDtype):
        is_masked = False
    elif family == "arrow":
        is_string = name == "s"
        kind = pa.string() if is_string else pa.from_numpy_dtype(values.dtype)
        values, is_masked = values.astype(pd.ArrowDtype(kind)), True
    else:
        is_masked = values.dtype.kind not in "mM"
        values = values.convert_dtypes() if name == "s" else values
        if is_masked and name != "s":
            dtype = _MASKED.get(name, values.dtype.name.title().replace("Uint", "UInt"))
            values = values.astype(dtype)
    if holes:
        values[rng.random(size) < 0.3] = pd.NA if is_masked else None
        if is_masked and family == "masked" and values.dtype.kind in "iuf":
            # pandas divides by what is below a missing value: not by the zero that was there.
            values = pd.Series(pd.array(values.tolist(), values.dtype))
    return values


def _values(name, size, rng):
    if name == "k":
        return rng.integers(-1, 4, size)
    if name[0] in "iu":
        dtype = np.dtype(name.replace("i", "int").replace("u", "uint"))
        return rng.integers(0 if name[0] == "u" else -99, 99, size).astype(dtype)
    if name in ("f32", "f64", "x", "w", "y"):
        return (rng.integers(-20, 20, size) / 4).astype("float32" if name == "f32" else "float64")
    if name in ("c", "o"):
        codes = rng.integers(0, 3, size)
        return pd.Categorical.from_codes(codes, ["w", "v", "u"], ordered=name == "o")
    if name == "t":
        return np.datetime64("2024-01-01", "ns") + rng.integers(0, 5, size).astype("m8[D]")
    if name == "d":
        return rng.integers(0, 5, size).astype("m8[s]").astype("m8[ns]")
    return rng.random(size) < 0.5 if name == "b" else rng.choice(["a", "b", "é", ""], size)


def frames_of(operation, family, size, seed, holes):
    rng = np.random.default_rng(seed)
    return [frame_of(operation.columns, family, size, rng, holes)
            for _ in range(operation.num_frames)]  # fmt: skip


def answer(run, frames):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return run(*frames)
        except Exception as error:
            return error


def difference(operation, frames, wrap=lambda run: run):
    """How our answer differs from that of pandas; None if both are the same, or ours a refusal."""
    expected = answer(operation.run, [frame.copy() for frame in frames])
    got = answer(wrap(operation.run), list(map(JaxFrame, frames)))
    if isinstance(got, NotImplementedError):
        return None
    if isinstance(expected, Exception):
        return None if isinstance(got, Exception) else f"pandas raises {expected!r}"
    if isinstance(got, Exception):
        return f"raises {got!r}"
    try:
        assert_same(got, expected, Bound(max(operation.ulps, 4), 100.0))
    except AssertionError as error:
        return str(error)
    return None


@hypothesis.settings(max_examples=NUM_DRAWN)
@hypothesis.given(
    name=st.sampled_from(list(OPERATIONS)),
    family=st.sampled_from(list(UNLIKE)),
    size=st.sampled_from((17, 17, 17, 1, 0)),
    seed=st.integers(0, 2**31),
    holes=st.booleans(),
)
def test_operations_are_those_of_pandas(name, family, size, seed, holes):
    hypothesis.assume(name not in UNLIKE[family])
    hypothesis.assume(size > 1 or name not in OF_SEVERAL_ROWS)
    operation = OPERATIONS[name]
    try:
        frames = frames_of(operation, family, size, seed, holes)
    except KeyError:
        hypothesis.reject()
    found = difference(operation, frames)
    assert found is None, f"{name}: {found}"


# A program is compiled for each.
IN_JIT = ("logic", "compare_columns", "where", "frame_sum", "group_sum", "merge_left")


@pytest.mark.parametrize("name", OPERATIONS if IS_LONG else IN_JIT)
def test_operations_in_one_program(name):
    operation = OPERATIONS[name]
    if not operation.jit or name in UNLIKE["masked"] or name == "skipna" or "skipna_max" in name:
        pytest.skip("no meaning inside jit, or another answer")
    found = difference(operation, frames_of(operation, "masked", 17, 3, True), jax.jit)
    assert found is None, found


@pytest.mark.skipif(not IS_LONG, reason="long profile")
@pytest.mark.parametrize("family", UNLIKE)
def test_what_is_listed_differs(family):
    for name in UNLIKE[family]:
        operation = OPERATIONS[name]
        found = [
            difference(operation, frames_of(operation, family, 17, seed, holes))
            for seed in range(3)
            for holes in (True, False)
        ]
        assert any(found), f"{name} is listed, and does not differ"
