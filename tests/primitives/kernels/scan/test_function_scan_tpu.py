# SPDX-License-Identifier: Apache-2.0
"""Scans by a function on TPU: the Pallas kernel, interpreted on CPU, and when it is chosen."""

import functools

import interpreted
import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from covering import needs_long_profile
from jaxframes.primitives.kernels.base import _pallas
from jaxframes.primitives.kernels.scan import _block_scan_tpu, _function_scan
from jaxframes.primitives.kernels.scan._function_scan_tpu import scan_by_function_tpu

# Two blocks and a part of a third one.
NUM_ROWS = 2 * 1024 + 77


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(_block_scan_tpu, "BLOCK_LINES", 8)


def affine(left, right):
    """Composition of x -> a x + b, which does not commute; integers wrap around."""
    return left[0] * right[0], left[1] * right[0] + right[1]


def last_nonzero(left, right):
    return {"x": jnp.where(right["x"] != 0, right["x"], left["x"])}


def pairs(num_rows):
    rng = np.random.default_rng(0)
    return tuple(jnp.asarray(rng.integers(-5, 5, num_rows, np.int32)) for _ in range(2))


def check(function, rows, has_heads, reverse, mode):
    flags = jnp.asarray(np.random.default_rng(1).random(NUM_ROWS) < 0.01)
    heads = flags if has_heads else None
    on_tpu = functools.partial(scan_by_function_tpu, interpret=mode)
    actual = jax.jit(lambda rows, heads: on_tpu(function, rows, heads, reverse))(rows, heads)
    expected = _function_scan.scan_portably(function, rows, heads, reverse)
    jax.tree.map(oracles.assert_same_bits, actual, expected)


@pytest.mark.parametrize("has_heads", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_kernel_and_definition_agree(has_heads, reverse):
    check(affine, pairs(NUM_ROWS), has_heads, reverse, True)


def test_rows_keep_their_bits_and_their_tree():
    # No NaN: the definition adds zeros, which rewrites signalling ones.
    bits = np.random.default_rng(2).integers(0, 0x7F800000, NUM_ROWS, np.uint32)
    rows = {"x": jnp.asarray(np.where(bits % 4 == 0, 0, bits).view(np.float32))}
    check(last_nonzero, rows, False, False, True)


@needs_long_profile
@pytest.mark.parametrize("reverse", [False, True])
def test_no_races(reverse):
    check(affine, pairs(NUM_ROWS), True, reverse, interpreted.WITH_RACES)


TABLE = np.arange(3, dtype=np.int32)


def captured(left, right):
    return left + right + jnp.asarray(TABLE)[0]


@pytest.mark.parametrize(
    ("function", "dtype", "is_chosen"),
    [
        (jnp.add, "float32", True),
        (jnp.logaddexp, "float32", True),
        (jnp.arctan2, "float32", False),
        (jnp.hypot, "float32", True),
        (jnp.maximum, "int32", True),
        (jnp.maximum, "uint32", False),
        (jnp.add, "bfloat16", False),
        (jnp.add, "float64", False),
        (captured, "int32", False),
        (jnp.floor_divide, "int32", False),
    ],
)
def test_kernel_is_chosen_for_what_a_core_computes(function, dtype, is_chosen):
    rows = jnp.ones(8, dtype)
    assert _function_scan._can_scan_on_tpu(function, rows) == is_chosen


def test_derivatives_are_those_of_the_definition(monkeypatch):
    monkeypatch.setattr(_function_scan, "has_pallas_kernels", lambda: True)
    monkeypatch.setattr(_function_scan, "on_tpu", lambda kernel: {})
    rows = tuple(jnp.asarray(np.random.default_rng(3).random((2, 9), np.float32)))
    heads = jnp.arange(9) % 4 == 0

    def sums(scan):
        return lambda rows: sum(leaf.sum() for leaf in scan(affine, rows, heads, False))

    expected = jax.grad(sums(_function_scan.scan_portably))(rows)
    actual = jax.grad(sums(_function_scan.scan_by_function))(rows)
    jax.tree.map(oracles.assert_same_bits, actual, expected)


@pytest.mark.parametrize("platform", ["cpu", "tpu"])
def test_the_lowering_chooses_a_loop_or_steps(platform, monkeypatch):
    monkeypatch.setattr(_pallas, "_has_libtpu", lambda: True)

    def product(rows):
        return _function_scan.scan_portably(jnp.multiply, rows, None, False).sum()

    rows = jax.ShapeDtypeStruct((70,), np.float32)
    for function in (product, jax.grad(product)):
        program = jax.jit(function).trace(rows).lower(lowering_platforms=(platform,))
        assert ("stablehlo.while" in program.as_text()) == (platform == "cpu")


def test_a_process_for_cpu_traces_the_loop_alone(monkeypatch):
    monkeypatch.setattr(_pallas, "_has_libtpu", lambda: False)
    rows = pairs(70)
    jaxpr = jax.make_jaxpr(lambda: _function_scan.scan_portably(affine, rows, None, False))()
    assert [equation.primitive.name for equation in jaxpr.eqns].count("scan") == 1
    assert "platform_index" not in str(jaxpr)
