# SPDX-License-Identifier: Apache-2.0
"""One device combines nothing: its partial results are the results."""

import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives.local._one_device import OneDevice
from on_shards import compiled

ROWS = np.arange(6, dtype=np.float32)


@pytest.mark.parametrize(
    "method", ["total", "whole_total", "product", "piece", "is_owner", "extreme", "global_row_ids"]
)
def test_partial_results_are_the_results(method):
    others = {"extreme": (True,), "global_row_ids": (6,)}.get(method, ())
    assert getattr(OneDevice(), method)(ROWS, *others) is ROWS


@pytest.mark.parametrize("dtype", [np.float32, jnp.bfloat16, np.int8])
def test_owners_rows_keep_their_bits_and_others_are_zero(dtype):
    bits = np.dtype(f"uint{8 * np.dtype(dtype).itemsize}")
    # Among them a signalling NaN of bfloat16.
    leaf = np.array([0x7F, 0x7F81 & np.iinfo(bits).max, 3], bits).view(dtype)
    rows, is_owner = np.array([2, 1, 1, 0], np.int32), np.array([True, True, False, True])
    expected = np.where(is_owner, leaf.view(bits)[rows], 0).astype(bits).view(dtype)
    select = compiled(OneDevice().select)
    oracles.assert_same_bits(select(jnp.asarray(leaf), rows, is_owner), expected)
