# SPDX-License-Identifier: Apache-2.0
"""The first k words: the C++ kernel and the portable definition agree."""

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import backend, kernels
from jaxframes.primitives.contract._key_bits import OrderedWord
from key_distributions import make_keys

top_k_words = kernels.sort._top_k.top_k_words
needs_kernels = pytest.mark.skipif(backend().cpu != "native", reason=backend().reason)


@needs_kernels
@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("distribution", ["uniform", "zipf", "sorted", "reversed", "constant"])
@pytest.mark.parametrize("num_rows", [1, 257, 200_000])
def test_native_and_portable_agree(dtype, distribution, num_rows, monkeypatch):
    word = jnp.asarray(make_keys(distribution, num_rows, np.dtype(dtype)))
    width = 8 * word.dtype.itemsize
    cases = [
        (flip, k, num_valid)
        for flip in (0, 1 << (width - 1), (1 << width) - 1)
        for k in sorted({1, min(100, num_rows), num_rows})
        for num_valid in (num_rows, num_rows // 2)
    ]
    native = [
        top_k_words(OrderedWord(word, flip, width), k, jnp.int32(num_valid))
        for flip, k, num_valid in cases
    ]
    monkeypatch.setattr(kernels.sort._top_k, "is_native", lambda: False)
    for result, (flip, k, num_valid) in zip(native, cases, strict=True):
        portable = top_k_words(OrderedWord(word, flip, width), k, jnp.int32(num_valid))
        oracles.assert_same_bits(result, portable)


@pytest.mark.parametrize("dtype", ["uint32", "uint64"])
def test_each_row_of_a_batch_is_its_own(dtype):
    # A read beyond a row would meet the zeros of the next row.
    words = make_keys("uniform", 5 * 60, np.dtype(dtype)).reshape(5, 60)
    words[1::2] = 0
    num_valid = np.array([60, 0, 1, 59, 30], np.int32)

    def of_row(word, num_valid):
        return top_k_words(OrderedWord(word, 0, 8 * word.dtype.itemsize), 7, num_valid)

    expected = [
        oracles.top_k(*row, largest=False, num_valid=valid)[1]
        for row, valid in zip([(row, 7) for row in words], num_valid, strict=True)
    ]
    actual = jax.vmap(of_row)(jnp.asarray(words), jnp.asarray(num_valid))
    oracles.assert_same_bits(actual, np.stack(expected))
