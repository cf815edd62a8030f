# SPDX-License-Identifier: Apache-2.0
"""The merge of two columns of words: the C++ kernel and the portable definition agree."""

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import backend, kernels
from jaxframes.primitives.contract._key_bits import OrderedWord
from key_distributions import make_keys

needs_kernels = pytest.mark.skipif(backend().cpu != "native", reason=backend().reason)


def sorted_column(distribution, num_rows, dtype, flip, num_valid, seed):
    word = make_keys(distribution, num_rows, np.dtype(dtype), seed=seed)
    unsigned = word.view(f"u{word.itemsize}") ^ np.array(flip, f"u{word.itemsize}")
    word = word[oracles.argsort(unsigned, num_valid=num_valid)]
    return OrderedWord(jnp.asarray(word), flip, 8 * word.itemsize)


@needs_kernels
@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("distribution", ["uniform", "zipf", "constant", "all_max"])
@pytest.mark.parametrize(("num_a", "num_b"), [(0, 9), (9, 0), (300, 200), (70_000, 130_000)])
def test_native_and_portable_agree(dtype, distribution, num_a, num_b, monkeypatch):
    width = 8 * np.dtype(dtype).itemsize
    num_valid = num_a - num_a // 10, num_b - num_b // 7
    for flip in (0, 1 << (width - 1), (1 << width) - 1):
        a, b = (
            (sorted_column(distribution, num_rows, dtype, flip, valid, seed),)
            for seed, (num_rows, valid) in enumerate(zip((num_a, num_b), num_valid, strict=True))
        )
        valid = tuple(map(jnp.int32, num_valid))
        native = kernels.sort._merge.merge_words(a, b, *valid)
        oracles.assert_same_bits(native, kernels.sort._merge._merge_xla(a, b, *valid))


@pytest.mark.parametrize("dtype", ["uint32", "uint64"])
def test_each_row_of_a_batch_is_its_own(dtype):
    # A read beyond a row would meet the smaller keys of the next row.
    a = np.sort(make_keys("uniform", 5 * 60, np.dtype(dtype)).reshape(5, 60))[::-1]
    b = np.sort(make_keys("uniform", 5 * 40, np.dtype(dtype), seed=1).reshape(5, 40))[::-1]
    num_valid_a = np.array([60, 0, 1, 59, 30], np.int32)
    num_valid_b = np.array([0, 40, 39, 1, 20], np.int32)

    def of_row(merge):
        def merge_row(a, b, num_valid_a, num_valid_b):
            bits = 8 * a.dtype.itemsize
            columns = ((OrderedWord(a, 0, bits),), (OrderedWord(b, 0, bits),))
            return merge(*columns, num_valid_a, num_valid_b)

        return jax.vmap(merge_row)(a, b, num_valid_a, num_valid_b)

    a, b, num_valid_a, num_valid_b = map(jnp.asarray, (a, b, num_valid_a, num_valid_b))
    native = of_row(kernels.sort._merge.merge_words)
    oracles.assert_same_bits(native, of_row(kernels.sort._merge._merge_xla))
