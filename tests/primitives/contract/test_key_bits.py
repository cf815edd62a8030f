# SPDX-License-Identifier: Apache-2.0
"""Keys as words: the order of the words is the order of the keys."""

import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives.contract import _key_bits
from key_distributions import INTEGER_DTYPES, KEY_DTYPES, distributions_for, make_keys

DIRECTIONS = [False, True]


def ranks_of(words):
    """Dense ranks of rows of words, the first word being the most significant."""
    table = np.stack([np.asarray(word.ordered()).astype(np.uint64) for word in words], axis=1)
    order = np.lexsort(table.T[::-1])
    is_new = np.any(np.diff(table[order], axis=0) != 0, axis=1)
    ranks = np.empty(len(table), int)
    ranks[order] = np.concatenate([[0], np.cumsum(is_new)])
    return ranks


@pytest.mark.parametrize("dtype", KEY_DTYPES, ids=str)
@pytest.mark.parametrize("descending", DIRECTIONS)
def test_words_are_in_the_order_of_their_keys(dtype, descending):
    for distribution in distributions_for(dtype):
        keys = make_keys(distribution, 1000, dtype)
        word = _key_bits.ordered_word(jnp.asarray(keys), descending=descending)
        np.testing.assert_array_equal(ranks_of([word]), oracles.key_ranks(keys, descending))


@pytest.mark.parametrize("dtype", ["int16", "uint16", "float16", "bfloat16"])
@pytest.mark.parametrize("descending", DIRECTIONS)
def test_every_key_of_16_bits(dtype, descending):
    keys = np.arange(2**16, dtype=np.uint16).view(jnp.dtype(dtype))
    word = _key_bits.ordered_word(jnp.asarray(keys), descending=descending)
    np.testing.assert_array_equal(ranks_of([word]), oracles.key_ranks(keys, descending))


@pytest.mark.parametrize("dtype", INTEGER_DTYPES, ids=str)
@pytest.mark.parametrize("descending", DIRECTIONS)
def test_the_lowest_bits_compare_as_unsigned(dtype, descending):
    keys = make_keys("uniform", 1000, dtype)
    for bits in (1, 7, 8 * dtype.itemsize - 1, 8 * dtype.itemsize):
        word = _key_bits.ordered_word(jnp.asarray(keys), descending=descending, bits=bits)
        assert word.bits == bits
        np.testing.assert_array_equal(ranks_of([word]), oracles.key_ranks(keys, descending, bits))


@pytest.mark.parametrize("dtype", [np.dtype(bool), *INTEGER_DTYPES], ids=str)
def test_an_integer_key_comes_back_from_its_word(dtype):
    keys = make_keys("uniform", 1000, dtype)
    for descending in DIRECTIONS:
        word = _key_bits.ordered_word(jnp.asarray(keys), descending=descending)
        oracles.assert_same_bits(_key_bits.key_of_word(word.word, dtype), keys)


def test_words_have_32_or_64_bits():
    for dtype in KEY_DTYPES:
        word = _key_bits.ordered_word(jnp.zeros(3, dtype)).word
        assert word.dtype.itemsize == max(dtype.itemsize, 4)


# Dtypes, bits of each, and the bits of the words that they are packed into, with and without x64.
PACKINGS = [
    (("int8", "uint8", "int16"), (None, None, None), [32], [32]),
    (("int32", "int32"), (None, None), [64], [32, 32]),
    (("bool", "float32", "int32"), (None, None, None), [33, 32], [1, 32, 32]),
    (("uint32", "uint32", "uint32"), (10, 12, 10), [32], [32]),
    (("float16", "bfloat16", "int32", "bool"), (None, None, None, None), [64, 1], [32, 32, 1]),
    (("int8", "int32", "int8"), (None, None, None), [48], [8, 32, 8]),
]


@pytest.mark.parametrize(("dtypes", "bits", "with_x64", "without_x64"), PACKINGS)
def test_neighbouring_columns_share_words(dtypes, bits, with_x64, without_x64, request):
    keys = [jnp.asarray(make_keys("zipf", 50, jnp.dtype(dtype))) for dtype in dtypes]
    words = _key_bits.ordered_words(keys, [False] * len(keys), bits)
    assert [word.bits for word in words] == with_x64
    request.getfixturevalue("x64_off")
    words = _key_bits.ordered_words(keys, [False] * len(keys), bits)
    assert [word.bits for word in words] == without_x64


@pytest.mark.parametrize(("dtypes", "bits", "with_x64", "without_x64"), PACKINGS)
def test_packed_words_are_in_the_order_of_all_columns(dtypes, bits, with_x64, without_x64):
    columns = tuple(
        make_keys("four_values", 500, jnp.dtype(dtype), seed=seed)
        for seed, dtype in enumerate(dtypes)
    )
    directions = tuple(column % 2 == 0 for column in range(len(columns)))
    words = _key_bits.ordered_words([jnp.asarray(c) for c in columns], directions, bits)
    ranks = [oracles.key_ranks(*column) for column in zip(columns, directions, bits, strict=True)]
    _, expected = np.unique(np.stack(ranks, axis=1), axis=0, return_inverse=True)
    np.testing.assert_array_equal(ranks_of(words), expected)
