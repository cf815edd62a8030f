# SPDX-License-Identifier: Apache-2.0
"""Permutations and shifts of shards, against NumPy."""

import functools

import numpy as np
import pytest
from jaxframes.primitives import collective
from on_shards import on_shards


@pytest.mark.parametrize("num_shards", [1, 3, 4, 8])
@pytest.mark.parametrize("k", [-9, -3, -1, 0, 1, 2, 4])
def test_shift_is_that_of_numpy(num_shards, k):
    x = 1 + np.arange(2 * num_shards, dtype=np.int32).reshape(num_shards, 2)
    shift = functools.partial(collective.shift, k=k, axis_name="rows")
    rolled = np.roll(x, k, axis=0)
    np.testing.assert_array_equal(
        on_shards(functools.partial(shift, wrap=True), num_shards)(x), rolled
    )
    sources = np.arange(num_shards) - k
    has_source = (sources >= 0) & (sources < num_shards)
    np.testing.assert_array_equal(on_shards(shift, num_shards)(x), rolled * has_source[:, None])


@pytest.mark.parametrize("num_shards", [3, 4, 8])
def test_ppermute_is_that_of_numpy(num_shards):
    rng = np.random.default_rng(num_shards)
    for num_pairs in (0, 1, num_shards - 1, num_shards):
        perm = list(
            zip(
                rng.permutation(num_shards)[:num_pairs].tolist(),
                rng.permutation(num_shards)[:num_pairs].tolist(),
                strict=True,
            )
        )
        x = rng.standard_normal((num_shards, 3))
        expected = np.zeros_like(x)
        for source, destination in perm:
            expected[destination] = x[source]
        send = functools.partial(collective.ppermute, perm=perm, axis_name="rows")
        np.testing.assert_array_equal(on_shards(send, num_shards)(x), expected)
