# SPDX-License-Identifier: Apache-2.0
"""Keys looked up among others: the C++ kernel and the portable definition agree."""

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import backend, kernels, local
from jaxframes.primitives.contract._key_bits import ordered_word
from jaxframes.primitives.kernels.join._grouped_sides import Side
from key_distributions import make_keys
from on_shards import noting

needs_kernels = pytest.mark.skipif(backend().cpu != "native", reason=backend().reason)


def flag(keys, members, num_keys, num_members):
    column, other = ordered_word(keys), ordered_word(members)
    sides = Side(column.word, jnp.int32(num_keys)), Side(other.word, jnp.int32(num_members))
    return kernels.join._membership.flag_matches(*sides, column)


@needs_kernels
@pytest.mark.parametrize("dtype", ["int32", "uint64", "float32", "float64"])
def test_native_and_portable_agree(dtype, monkeypatch):
    # Chunks enough for several threads, tables of bits and of words.
    cases = []
    for name in ("uniform", "zipf", "four_values", "sorted", "constant", "all_max"):
        keys = make_keys(name, 90_000, np.dtype(dtype))
        keys[:50_000:2] = keys[50_000:75_000]
        cases += [(keys[:50_000], keys[50_000:], *valid) for valid in ((50_000, 40_000), (9, 7))]
    native = [jax.jit(flag)(*case) for case in cases]
    monkeypatch.setattr(kernels.join._membership, "is_native", lambda: False)
    portable = jax.jit(lambda *case: flag(*case))
    for result, case in zip(native, cases, strict=True):
        with noting(case):
            oracles.assert_same_bits(result, portable(*case))


def test_each_row_of_a_batch_is_its_own():
    keys, members = (make_keys("four_values", 5 * n, np.int64).reshape(5, n) for n in (60, 2))
    members += np.arange(5)[:, None] % 2
    actual = jax.vmap(local.isin)(keys, members)
    for row in range(5):
        oracles.assert_same_bits(actual[row], oracles.isin(keys[row], members[row]))
