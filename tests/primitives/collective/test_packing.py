# SPDX-License-Identifier: Apache-2.0
"""Rows packed as words of one matrix, and unpacked with every bit."""

import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives.collective._packing import pack_rows, unpack_rows

NUM_ROWS = 5


def column(dtype, *shape):
    """Random bits, which for floats include NaNs of every kind."""
    dtype = jnp.dtype(dtype)
    rng = np.random.default_rng(dtype.itemsize)
    if dtype == np.bool_:
        return rng.random((NUM_ROWS, *shape)) < 0.5
    words = rng.integers(0, 256, (NUM_ROWS, *shape, dtype.itemsize), np.uint8)
    return words.view(dtype)[..., 0]


TREES = {
    "one column of each size": {
        name: column(name) for name in ("int8", "bfloat16", "float32", "int64", "complex64")
    },
    "columns that share words": [column("uint8") for _ in range(5)] + [column("bool")],
    "rows of several values": (column("float16", 3), column("float64", 2, 2), column("int8", 0)),
}


@pytest.mark.parametrize("name", TREES)
def test_unpacked_rows_have_the_bits_of_the_packed_ones(name):
    tree = TREES[name]
    words = pack_rows(tree)
    assert words.dtype == np.uint32
    assert words.shape[0] == NUM_ROWS
    oracles.assert_same_bits(unpack_rows(words, tree), tree)


@pytest.mark.parametrize(
    ("dtypes", "num_words"),
    [(["uint8"] * 4, 1), (["uint8"] * 5, 2), (["int16"] * 2, 1), (["int64", "uint8"], 3)],
)
def test_small_columns_share_words(dtypes, num_words):
    assert pack_rows([column(dtype) for dtype in dtypes]).shape == (NUM_ROWS, num_words)
