# SPDX-License-Identifier: Apache-2.0
"""Programs on the interpreter of small arrays, beside XLA's."""

import pickle

import jax
import numpy as np
from jaxframes.primitives.tiers._entry import interpret
from jaxframes.primitives.tiers._program import Program


def numbers(dtype, seed=0):
    """Ordinary numbers, and those at the edges of a dtype."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return rng.integers(0, 2, 40).astype(bool)
    if dtype.kind == "f":
        tiny = np.finfo(dtype).smallest_subnormal
        edges = [0.0, -0.0, np.inf, -np.inf, np.nan, tiny, 1e30, -1e30, 2.5, -2.5, 0.5, 3.0]
    else:
        info = np.iinfo(dtype)
        edges = [0, 1, info.max, info.min, max(info.min, -1), 2, 7, info.max - 1]
    edges = rng.permutation(np.array(edges, dtype))
    return np.concatenate([edges, (rng.normal(size=40 - len(edges)) * 9).astype(dtype)])


def assert_interprets(function, *operands):
    expected = jax.tree.leaves(jax.jit(function)(*operands))
    program = Program(jax.jit(function).trace(*operands).jaxpr)
    assert_same_bits(interpret(program, jax.tree.leaves(operands)), expected)
    # As another process has it.
    kept = pickle.loads(pickle.dumps(program))
    assert_same_bits(interpret(kept, jax.tree.leaves(operands)), expected)


def assert_interprets_apart(function, *operands):
    """Compares with XLA's program that keeps operations apart; returns the interpreter's."""
    program = Program(jax.jit(function).trace(*operands).jaxpr, keeps_apart=True)
    leaves = jax.tree.leaves(operands)
    expected = jax.jit(lambda zero, *leaves: program.replay(leaves, zero))(np.uint32(0), *leaves)
    assert_same_bits(interpret(program, leaves), expected)
    return program


def assert_same_bits(actual, expected):
    assert len(actual) == len(expected)
    for number, (ours, theirs) in enumerate(zip(actual, map(np.asarray, expected), strict=True)):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        has_same_bits = ours.tobytes() == theirs.tobytes() or same_or_nan(ours, theirs)
        assert has_same_bits, (number, ours, theirs)


def same_or_nan(ours, theirs):
    is_nan = ours != ours
    words = f"u{ours.dtype.itemsize}"
    # The sign of a NaN is unspecified.
    same = ours.copy().view(words) == theirs.copy().view(words)
    return ours.dtype.kind == "f" and bool(np.all(same | (is_nan & (theirs != theirs))))
