# SPDX-License-Identifier: Apache-2.0
"""Comparison of results by their bits, and exact sums."""

import math
from typing import Any

import jax
import numpy as np


def assert_same_bits(actual: Any, expected: Any) -> None:
    """Compares pytrees of arrays by structure, dtype, shape and bit pattern, never by `==`."""
    assert jax.tree.structure(actual) == jax.tree.structure(expected)
    for actual_leaf, expected_leaf in zip(
        jax.tree.leaves(actual), jax.tree.leaves(expected), strict=True
    ):
        actual_leaf, expected_leaf = np.asarray(actual_leaf), np.asarray(expected_leaf)
        assert actual_leaf.dtype == expected_leaf.dtype
        assert actual_leaf.shape == expected_leaf.shape
        np.testing.assert_array_equal(as_unsigned(actual_leaf), as_unsigned(expected_leaf))


def assert_same_sums(actual: Any, expected: Any, **tolerances: float) -> None:
    """Compares sums of floats by segment with exact ones: by bits on CPU, which keeps what its
    additions round away, and within tolerances elsewhere.
    """
    if jax.default_backend() == "cpu":
        assert_same_bits(actual, expected)
    else:
        np.testing.assert_allclose(actual, expected, **tolerances)


def exact_sums(rows: np.ndarray, segments: np.ndarray, num_segments: int) -> np.ndarray:
    """The sum of the rows of each segment: of floats the exact one, rounded; integers wrap."""
    sums = np.zeros(num_segments, rows.dtype)
    if not is_float(rows.dtype):
        np.add.at(sums, segments, rows)
        return sums
    order = np.argsort(segments, kind="stable")
    found, firsts = np.unique(segments[order], return_index=True)
    for segment, members in zip(found, np.split(rows[order], firsts[1:]), strict=False):
        is_finite = np.isfinite(members).all()
        sums[segment] = math.fsum(members.tolist()) if is_finite else members.sum()
    return sums


def as_unsigned(array: np.ndarray) -> np.ndarray:
    """The bit patterns of an array."""
    if array.dtype.kind == "c":
        array = array.view(array.real.dtype)
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")


def is_float(dtype: Any) -> bool:
    """Whether keys of this dtype can be NaN. NumPy does not count bfloat16 among its floats."""
    return np.dtype(dtype).name in ("float16", "bfloat16", "float32", "float64")
