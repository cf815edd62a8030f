# SPDX-License-Identifier: Apache-2.0
"""Scans on TPU: the Pallas kernel, interpreted on CPU, has the bits of the portable definition."""

import functools

import interpreted
import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from covering import needs_long_profile
from jaxframes import shardings
from jaxframes.primitives import kernels
from jaxframes.primitives.contract._scan_operators import Scan
from jaxframes.primitives.kernels.scan import _block_scan_tpu, _segmented_scan_tpu

scan_rows_xla = kernels.scan._segmented_scan.scan_rows_xla
scan_rows_tpu = _segmented_scan_tpu.scan_rows_tpu
# Two blocks and a part of a third one.
NUM_ROWS = 2 * 1024 + 77
DTYPES = ("int32", "uint32", "float32", "int64", "uint64")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(_block_scan_tpu, "BLOCK_LINES", 8)


def rows_of(dtype, op, num_rows, seed=0):
    """Rows in which sums of floats are exact, and extremes are NaN or zeros of both signs."""
    rng = np.random.default_rng(seed)
    if dtype != "float32":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, num_rows, dtype, endpoint=True)
    if op == "mul":
        return rng.choice(np.array([-1, 1], dtype), num_rows)
    rows = rng.integers(-9, 9, num_rows).astype(dtype)
    if op != "add":
        rows[rng.random(num_rows) < 0.1] *= -0.0
        rows[rng.random(num_rows) < 0.01] = np.nan
    return rows


def check(dtype, op, has_heads, reverse, num_rows, mode):
    scan = Scan(op, reverse, False)
    values = jnp.asarray(rows_of(dtype, op, num_rows))
    flags = np.random.default_rng(1).random(num_rows) < 0.01
    heads = jnp.asarray(flags) if has_heads else None
    on_tpu = jax.jit(functools.partial(scan_rows_tpu, scan=scan, interpret=mode))
    portable = jax.jit(functools.partial(scan_rows_xla, scan=scan))
    for num_valid in (num_rows, num_rows // 2, 0):
        valid = jnp.int32(num_valid)
        oracles.assert_same_bits(on_tpu(values, heads, valid), portable(values, heads, valid))


SCANNED = [
    (dtype, op)
    for dtype in DTYPES
    for op in ("add", "mul", "min", "max")
    if _segmented_scan_tpu.can_scan_on_tpu(dtype, op)
]


@pytest.mark.parametrize(("dtype", "op"), SCANNED)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("has_heads", [False, True])
def test_kernel_and_definition_agree(dtype, op, has_heads, reverse):
    check(dtype, op, has_heads, reverse, NUM_ROWS, True)


@pytest.mark.parametrize("num_rows", [1, 128, 1023, 1024, 1025])
def test_edge_sizes(num_rows):
    check("int32", "add", True, True, num_rows, True)


@needs_long_profile
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_no_races(dtype, reverse):
    check(dtype, "max", True, reverse, NUM_ROWS, interpreted.WITH_RACES)


def test_sums_of_floats_are_near():
    values = np.random.default_rng(2).standard_normal(NUM_ROWS).astype(np.float32)
    scan = Scan("add", False, False)
    actual = np.asarray(scan_rows_tpu(jnp.asarray(values), None, jnp.int32(NUM_ROWS), scan, True))
    bound = NUM_ROWS * np.finfo(np.float32).eps * np.cumsum(np.abs(values, dtype=np.float64))
    assert (np.abs(actual - np.cumsum(values, dtype=np.float64)) <= bound).all()


def test_columns_and_batches_are_scanned_apart():
    rows = jnp.asarray(rows_of("int32", "add", 2 * 1500 * 3).reshape(2, 1500, 3))
    num_valid = jnp.array([1500, 700], jnp.int32)
    scan = Scan("add", True, False)

    def on_tpu(rows, num_valid):
        return scan_rows_tpu(rows, None, num_valid, scan, True)

    def portable(rows, num_valid):
        return scan_rows_xla(rows, None, num_valid, scan)

    oracles.assert_same_bits(jax.vmap(on_tpu)(rows, num_valid), jax.vmap(portable)(rows, num_valid))


def test_results_vary_over_the_mesh():
    mesh = shardings.make_mesh(2)
    by_row = jax.sharding.PartitionSpec(mesh.axis_names)
    values = jnp.asarray(rows_of("int32", "add", 2 * 1100))

    def on_tpu(values):
        scan = Scan("add", False, False)
        return scan_rows_tpu(values, None, jnp.int32(1100), scan, interpreted.ON_MESH)

    actual = jax.jit(jax.shard_map(on_tpu, mesh=mesh, in_specs=by_row, out_specs=by_row))(values)
    expected = np.cumsum(np.asarray(values).reshape(2, -1), 1, dtype=np.int32)
    oracles.assert_same_bits(actual, expected.ravel())
