# SPDX-License-Identifier: Apache-2.0
"""Reductions of segments, checked to the stated bounds."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import oracles

# Reductions of floats that round, and depend on the order of the rows.
ROUNDED = ("sum", "prod", "mean", "var", "std", "logsumexp")


def assert_is_reduced(
    actual: Any,
    x: np.ndarray,
    segment_ids: np.ndarray,
    num_segments: int,
    op: str,
    num_valid: int | None = None,
    ddof: int = 0,
) -> None:
    """Compares bits, or bounds for sums, products and moments of floats."""
    expected = oracles.segment_reduce(
        x, segment_ids, num_segments, op, num_valid=num_valid, ddof=ddof
    )
    actual = np.asarray(actual)
    assert actual.shape == expected.shape
    is_inexact = oracles.is_float(x.dtype) or x.dtype.kind == "c"
    if op not in ROUNDED or (op in ("sum", "prod") and not is_inexact):
        dtype = x.dtype if op in ("first", "last", "min", "max") else expected.dtype
        oracles.assert_same_bits(actual, expected.astype(dtype))
        return
    assert actual.dtype == (x.dtype if is_inexact else np.dtype(float))
    narrow = jnp.finfo(actual.dtype).eps
    wide = min(narrow, jnp.finfo(np.float32).eps)
    magnitudes = np.abs(np.where(np.isfinite(x), x, 0)).astype(np.float64)
    if op == "var":
        magnitudes **= 2
    magnitude = {"prod": 0, "std": magnitudes.max(initial=0)}.get(op, magnitudes.sum())
    with np.errstate(over="ignore", invalid="ignore"):
        expected = expected.astype(actual.dtype)
    np.testing.assert_allclose(
        actual.astype(np.complex128),
        expected.astype(np.complex128),
        rtol=2 * float(narrow) + len(x) * float(wide),
        atol=len(x) * float(wide) * magnitude,
    )
