# SPDX-License-Identifier: Apache-2.0
"""The numbers of distinct words: the C++ kernel and the portable definition agree."""

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import backend, kernels
from jaxframes.primitives.contract._key_bits import ordered_word
from key_distributions import make_keys

needs_kernels = pytest.mark.skipif(backend().cpu != "native", reason=backend().reason)


def factorize(key, num_valid, capacity, in_key_order):
    return kernels.groups._factorize.factorize_words(
        ordered_word(key), jnp.int32(num_valid), capacity, in_key_order=in_key_order
    )


@needs_kernels
@pytest.mark.parametrize("dtype", ["int32", "uint64", "float32", "float64"])
@pytest.mark.parametrize("in_key_order", [False, True])
def test_native_and_portable_agree(dtype, in_key_order, monkeypatch):
    # Rows enough for the table of few groups to be sampled, and for the bins of many.
    num_rows = 60_000
    cases = [
        (make_keys(name, num_rows, np.dtype(dtype)), num_valid, capacity)
        for name in ("uniform", "zipf", "four_values", "sorted", "constant")
        for num_valid, capacity in ((num_rows, num_rows), (num_rows - 7, 100))
    ]
    jitted = jax.jit(factorize, static_argnums=(2, 3))
    native = [jitted(*case, in_key_order) for case in cases]
    monkeypatch.setattr(kernels.groups._factorize, "is_native", lambda: False)
    jitted = jax.jit(lambda *args: factorize(*args), static_argnums=(2, 3))
    for result, case in zip(native, cases, strict=True):
        oracles.assert_same_bits(result, jitted(*case, in_key_order))


@pytest.mark.parametrize("dtype", ["uint32", "uint64"])
def test_each_row_of_a_batch_is_its_own(dtype):
    words = (make_keys("uniform", 5 * 60, np.dtype(dtype)) % 9).reshape(5, 60)
    num_valid = np.array([60, 0, 1, 59, 30], np.int32)
    actual = jax.vmap(lambda word, valid: factorize(word, valid, 60, True))(words, num_valid)
    for row in range(5):
        group_ids, _, _, count = oracles.factorize(words[row], num_valid=num_valid[row])
        oracles.assert_same_bits(actual.group_ids[row], group_ids)
        assert actual.count[row] == count
