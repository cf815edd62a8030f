# SPDX-License-Identifier: Apache-2.0
"""Comparison of two results of the same function."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._arguments import type_of

# What two orders of many float32 operations may differ by.
RELATIVE_TOLERANCE = 1e-5
# What two orders of a few float operations may differ by, where 1e-5 is below the precision.
ROUNDINGS = 4


def largest_difference(compiled: Any, eager: Any, caller: str) -> float:
    """The largest relative difference of two pytrees; raises at the first one that is too large."""
    structures = jax.tree.structure(compiled), jax.tree.structure(eager)
    if structures[0] != structures[1]:
        raise AssertionError(
            f"{caller}: compiled and eager results must have the same structure, got "
            f"{structures[0]} compiled and {structures[1]} eager."
        )
    largest = 0.0
    pairs = zip(jax.tree_util.tree_leaves_with_path(compiled), jax.tree.leaves(eager), strict=True)
    for (path, one), other in pairs:
        place = f"result{jax.tree_util.keystr(path)}"
        if _described(one) != _described(other):
            raise AssertionError(
                f"{caller}: {place} must have the same shape and dtype, got "
                f"{type_of(one)} compiled and {type_of(other)} eager."
            )
        difference, allowed = _difference(one, other)
        if not difference <= allowed:
            raise AssertionError(
                f"{caller}: {place} must agree to {allowed:.0e} with an eager call, got a relative "
                f"difference of {difference:.1e}."
            )
        largest = max(largest, difference)
    return largest


def _described(value: Any) -> Any:
    aval = jax.typeof(value)
    return aval.shape, aval.dtype


def _difference(one: Any, other: Any) -> tuple[float, float]:
    """The relative difference of two arrays, and what is allowed."""
    dtype = jax.typeof(one).dtype
    if jnp.issubdtype(dtype, jax.dtypes.extended):
        one, other = jax.random.key_data(one), jax.random.key_data(other)
    one, other = np.asarray(one), np.asarray(other)
    if not jnp.issubdtype(dtype, jnp.inexact):
        return (0.0 if np.array_equal(one, other) else np.inf), 0.0
    allowed = max(RELATIVE_TOLERANCE, ROUNDINGS * float(jnp.finfo(dtype).eps))
    wide = np.complex128 if jnp.issubdtype(dtype, jnp.complexfloating) else np.float64
    one, other = one.astype(wide), other.astype(wide)
    if not np.array_equal(np.isfinite(one), np.isfinite(other)):
        return np.inf, allowed
    finite = np.isfinite(other)
    if not np.array_equal(one[~finite], other[~finite], equal_nan=True):
        return np.inf, allowed
    magnitude = np.abs(other[finite]).max(initial=0.0)
    distance = np.abs(one[finite] - other[finite]).max(initial=0.0)
    return (float(distance / magnitude) if magnitude else float(distance)), allowed
