# SPDX-License-Identifier: Apache-2.0
"""The rows that a mask flags: the C++ kernel and the portable definition agree."""

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import backend, kernels, local

flagged_rows = kernels.move._compact.flagged_rows
needs_kernels = pytest.mark.skipif(backend().cpu != "native", reason=backend().reason)


@needs_kernels
@pytest.mark.parametrize("share", [0, 0.001, 0.5, 1])
@pytest.mark.parametrize("num_rows", [1, 257, 200_000])
def test_native_and_portable_agree(share, num_rows, monkeypatch):
    mask = jnp.asarray(np.random.default_rng(0).random(num_rows) < share)
    cases = [
        (capacity, num_valid)
        for capacity in (0, num_rows // 3, num_rows + 5)
        for num_valid in (0, num_rows // 2, num_rows)
    ]
    native = [flagged_rows(mask, capacity, jnp.int32(valid)) for capacity, valid in cases]
    monkeypatch.setattr(kernels.move._compact, "is_native", lambda: False)
    for result, (capacity, valid) in zip(native, cases, strict=True):
        oracles.assert_same_bits(result, flagged_rows(mask, capacity, jnp.int32(valid)))


@needs_kernels
@pytest.mark.parametrize("dtype", [bool, np.int16, jnp.bfloat16, np.float32, np.complex64], ids=str)
def test_native_and_portable_words_agree(dtype, monkeypatch):
    rng = np.random.default_rng(0)
    mask, rows = rng.random(3000) < 0.5, rng.integers(0, 99, 3000).astype(dtype)
    native = [local.compact(mask, rows, capacity=capacity) for capacity in (0, 100, 3005)]
    monkeypatch.setattr(kernels.move._compact, "is_native", lambda: False)
    jax.clear_caches()
    for kept in native:
        portable = local.compact(mask, rows, capacity=len(kept.rows))
        oracles.assert_same_bits(kept, portable)


def test_each_row_of_a_batch_is_its_own():
    # A read beyond a row would meet the flags of the next row.
    mask = np.random.default_rng(0).random((5, 60)) < 0.5
    mask[1::2] = True
    num_valid = np.array([60, 0, 1, 59, 30], np.int32)
    row_ids, count = jax.vmap(lambda mask, valid: flagged_rows(mask, 20, valid))(mask, num_valid)
    for row, valid, ids, total in zip(mask, num_valid, row_ids, count, strict=True):
        _, expected, expected_count = oracles.compact(row, None, 20, valid)
        oracles.assert_same_bits((ids, total), (expected, expected_count))
