# SPDX-License-Identifier: Apache-2.0
"""Scans by named operators: the C++ kernel and the portable definition agree."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import backend, kernels
from jaxframes.primitives.contract._scan_operators import Scan
from key_distributions import make_keys
from on_shards import noting
from quick_compilation import UNOPTIMISED
from scanned_rows import ALL_SETTINGS, head_flags, rows_of

scan_rows = kernels.scan._segmented_scan.scan_rows
needs_kernels = pytest.mark.skipif(backend().cpu != "native", reason=backend().reason)

# Many settings of few rows, and few settings of rows beyond one chunk of the kernel, of 16448.
NUM_ROWS = 60
CHUNKS = 20_000


@functools.partial(jax.jit, static_argnames=("scans", "native"), compiler_options=UNOPTIMISED)
def all_scans(values, flags, num_valid, scans, native):
    run = scan_rows if native else kernels.scan._segmented_scan.scan_rows_xla
    return [run(values, heads, num_valid, scan) for scan in scans for heads in (None, flags)]


def both(values, scans):
    """Pairs of results, native and portable, by case."""
    for mean_length in (3, 5000):
        flags = jnp.asarray(head_flags(len(values), mean_length))
        for num_valid in (len(values), len(values) // 2):
            arguments = (jnp.asarray(values), flags, jnp.int32(num_valid), scans)
            pairs = zip(all_scans(*arguments, True), all_scans(*arguments, False), strict=True)
            for i, pair in enumerate(pairs):
                yield (scans[i // 2], i % 2, mean_length, num_valid), *pair


@needs_kernels
def test_a_sum_of_negative_zeros_keeps_its_sign_from_strip_to_strip():
    zeros = jnp.full(CHUNKS, -0.0)
    for reverse in (False, True):
        scan = Scan("add", reverse, True)
        sums = scan_rows(zeros, None, jnp.int32(CHUNKS), scan)
        expected = np.full(CHUNKS, -0.0)
        expected[-1 if reverse else 0] = 0.0
        oracles.assert_same_bits(sums, expected)


@needs_kernels
@pytest.mark.parametrize("dtype", ["bool", "int16", "int32", "uint32", "int64", "uint64"])
def test_integers_have_the_same_bits(dtype):
    # Of operators, directions and ways each meets each somewhere.
    settings = ALL_SETTINGS[:: 1 if dtype == "int32" else 3]
    scans = tuple(Scan(*setting) for setting in settings)
    for case, native, portable in both(rows_of(np.dtype(dtype), NUM_ROWS), scans):
        with noting(case):
            oracles.assert_same_bits(native, portable)


@needs_kernels
def test_rows_of_several_chunks_have_the_same_bits():
    for case, native, portable in both(rows_of(np.int64, CHUNKS), (Scan("add", False, True),)):
        with noting(case):
            oracles.assert_same_bits(native, portable)


@needs_kernels
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_extremes_have_the_same_bits(dtype):
    scans = tuple(Scan(*setting) for setting in ALL_SETTINGS if setting[0] in ("min", "max"))
    for distribution in ("nan_inf_sprinkled", "signed_zeros"):
        values = make_keys(distribution, NUM_ROWS, np.dtype(dtype))
        # A NaN stays to the end of its segment, so numbers come first.
        values[: NUM_ROWS // 2] = np.nan_to_num(values[: NUM_ROWS // 2])
        for case, native, portable in both(values, scans):
            with noting((distribution, case)):
                oracles.assert_same_bits(native, portable)


@needs_kernels
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_and_products_agree_to_the_bound(dtype):
    scans = (Scan("add", False, False), Scan("mul", True, True))
    values = 1 + rows_of(dtype, CHUNKS) / 100
    values = np.where(np.arange(CHUNKS) % 2 == 0, values, 1 / values).astype(dtype)
    # All numbers are positive, so a sum is the sum of the absolute values; twice the bound,
    # because either side may be off by it.
    tolerance = 2 * CHUNKS * float(np.finfo(dtype).eps)
    for case, native, portable in both(values, scans):
        with noting(case):
            np.testing.assert_allclose(native, portable, rtol=tolerance, atol=0)


@needs_kernels
def test_sums_keep_the_sign_of_zero():
    values = jnp.full(30_000, -0.0)
    result = scan_rows(values, None, jnp.int32(30_000), Scan("add", True, False))
    oracles.assert_same_bits(result, values)


@needs_kernels
def test_one_row_of_flags_serves_every_column():
    # Columns under `vmap`: the batch has more rows of values than of flags.
    values = rows_of(np.int32, 2 * 5 * 3).reshape(2, 5, 3)
    flags = head_flags(10, 2).reshape(2, 5)
    num_valid = np.array([5, 4], np.int32)
    run = jax.vmap(lambda *arguments: scan_rows(*arguments, Scan("add", False, False)))
    actual = run(jnp.asarray(values), jnp.asarray(flags), jnp.asarray(num_valid))
    expected = [
        oracles.scan(x, "add", head_flags=heads, num_valid=valid)
        for x, heads, valid in zip(values, flags, num_valid, strict=True)
    ]
    oracles.assert_same_bits(actual, np.stack(expected))
