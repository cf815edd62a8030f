# SPDX-License-Identifier: Apache-2.0
"""Shared parts of the tests of scans: rows, settings, and checks of the stated bounds."""

import jax
import jax.numpy as jnp
import numpy as np
import oracles
from jaxframes.primitives.contract._scan_operators import NAMED_OPERATORS
from key_distributions import FLOAT_DTYPES, make_keys

# Operator, reverse, exclusive: each operator in both directions and both ways.
SETTINGS = tuple(
    (op, reverse, exclusive)
    for op in NAMED_OPERATORS
    for reverse, exclusive in ((False, False), (True, True))
)
ALL_SETTINGS = tuple(
    (op, reverse, exclusive)
    for op in NAMED_OPERATORS
    for reverse in (False, True)
    for exclusive in (False, True)
)


def rows_of(dtype, num_rows, seed=0):
    """Rows with products in the range of floats."""
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        parts = [rows_of(np.float64, num_rows, seed + part) for part in range(2)]
        return (parts[0] + 0.2j * parts[1]).astype(dtype)
    if dtype not in FLOAT_DTYPES:
        return make_keys("uniform", num_rows, dtype, seed=seed)
    rng = np.random.default_rng(seed)
    return (rng.choice([-1.0, 1.0], num_rows) * np.exp(0.1 * rng.normal(size=num_rows))).astype(
        dtype
    )


def head_flags(num_rows, mean_length, seed=0):
    """Head flags of segments with a given mean length; the first flag may be False."""
    return np.random.default_rng(seed + 100).random(num_rows) < 1 / mean_length


def named_row_op(name):
    """A named operator as a function of two rows, in JAX and in NumPy."""
    return {
        "affine": lambda left, right: (left[0] * right[0], left[1] * right[0] + right[1]),
        "matmul": lambda left, right: left @ right,
        "first": lambda left, right: left,
    }[name]


def assert_is_scan(actual, x, op, *, initial=None, **settings):
    """Compares with the oracle: bits for integers and extremes, the stated bounds for floats."""
    actual = np.asarray(actual)
    is_arithmetic = op in ("add", "mul")
    if x.dtype == bool and is_arithmetic:
        x = x.astype(np.int32)
    assert actual.dtype == x.dtype
    is_inexact = jnp.issubdtype(x.dtype, jnp.inexact)
    if not (is_inexact and is_arithmetic):
        expected = oracles.scan(x, op, initial=initial, **settings)
        if x.dtype.itemsize == 2 and is_inexact:
            # They are compared as float32, which preserves every number but not every NaN.
            with np.errstate(invalid="ignore"):
                actual, expected = (a.astype(np.float32) for a in (actual, expected))
            actual, expected = (np.where(np.isnan(a), np.nan, a) for a in (actual, expected))
        oracles.assert_same_bits(actual, expected)
        return
    wide = np.clongdouble if x.dtype.kind == "c" else np.longdouble
    exact = oracles.scan(x.astype(wide), op, initial=initial, **settings)
    start = None if initial is None else abs(np.asarray(initial, wide))
    scale = abs(oracles.scan(abs(x.astype(wide)), op, initial=start, **settings))
    computed_in = np.float32 if x.dtype.itemsize == 2 else x.dtype
    # A complex product is four real ones and two sums.
    steps = (len(x) + 1) * (4 if x.dtype.kind == "c" else 1)
    bound = scale * steps * float(jnp.finfo(computed_in).eps)
    bound += abs(exact) * float(jnp.finfo(x.dtype).eps)
    error = abs(actual.astype(wide) - exact)
    assert (error <= bound).all(), (error - bound).max()


def weighted(function):
    """A weighted sum of all results of a function, with distinct weights."""

    def of_results(*arguments):
        leaves = jax.tree.leaves(function(*arguments))
        return sum(
            jnp.vdot(jnp.arange(1.0, leaf.size + 1) / leaf.size, leaf.reshape(-1))
            for leaf in leaves
        )

    return of_results
