# SPDX-License-Identifier: Apache-2.0
"""Rows matched by a table of distinct keys: the C++ kernel and the portable definition agree."""

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import backend, kernels

direct_match = kernels.join._direct_match
needs_kernels = pytest.mark.skipif(backend().cpu != "native", reason=backend().reason)
NUM_RIGHT = 4 * direct_match.SAMPLE_ROWS + 9


def matched(left, right, num_left, num_right, least):
    table = direct_match.key_table(right, least, num_right, len(right) + 50)
    matches = direct_match.look_up(table, left, num_left, num_right, len(right))
    pairs = direct_match.matched_pairs(matches, len(left) // 2)
    return table, matches._replace(before=None), pairs


@needs_kernels
@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "uint32", "int64", "uint64"])
def test_native_and_portable_agree(dtype, monkeypatch):
    info = np.iinfo(dtype)
    num_right = min(NUM_RIGHT, (1 << info.bits) // 3)
    rng = np.random.default_rng(0)
    # Keys close to the smallest number of the dtype, so that distances wrap around.
    right = (info.min + 2 + rng.permutation(num_right + 9)[:num_right]).astype(dtype)
    left = np.concatenate([rng.choice(right, 500), rng.integers(info.min, info.max, 500, dtype)])
    left[:4] = info.min, info.max, info.min + 2, info.min + 2 + num_right
    args = left, right, jnp.int32(900), jnp.int32(num_right - 5), right[: num_right - 5].min()
    native = jax.jit(matched)(*args)
    monkeypatch.setattr(direct_match, "is_native", lambda: False)
    oracles.assert_same_bits(native, jax.jit(lambda *args: matched(*args))(*args))


def test_each_row_of_a_batch_is_its_own():
    rng = np.random.default_rng(0)
    right = np.stack([rng.permutation(9) + start for start in range(5)]).astype(np.int32)
    left = rng.integers(0, 15, (5, 40), np.int32)
    num_left, num_right = np.array([40, 0, 1, 39, 7], np.int32), np.full(5, 9, np.int32)
    args = left, right, num_left, num_right, right.min(axis=1)
    actual = jax.vmap(matched)(*args)
    for row in range(5):
        alone = matched(*(jnp.asarray(array[row]) for array in args))
        oracles.assert_same_bits(jax.tree.map(lambda leaf, row=row: leaf[row], actual), alone)
