# SPDX-License-Identifier: Apache-2.0
"""`local.hash_rows` against Python's integers."""

import functools

import jax
import numpy as np
import pytest
from jaxframes.primitives import local

MASK = 2**32 - 1


def turned(word, bits):
    return (word << bits | word >> (32 - bits)) & MASK


def scrambled(word):
    word = (word ^ word >> 16) * 0x85EBCA6B & MASK
    word = (word ^ word >> 13) * 0xC2B2AE35 & MASK
    return word ^ word >> 16


def hashed(words, seed=0):
    """One row, word by word."""
    high, low = seed, seed ^ MASK
    for word in words:
        mixed = turned(word * 0xCC9E2D51 & MASK, 15) * 0x1B873593 & MASK
        high = (turned(high ^ mixed, 19) + low) * 5 + 0x561CCD1B & MASK
        mixed = turned(word * 0x1B873593 & MASK, 17) * 0xCC9E2D51 & MASK
        low = (turned(low ^ mixed, 13) + high) * 5 + 0x0BCAA747 & MASK
    high, low = high ^ len(words), low ^ len(words)
    high = high + low & MASK
    low = low + high & MASK
    high, low = scrambled(high), scrambled(low)
    high = high + low & MASK
    return high, low + high & MASK


def words_of(value):
    """An integer as 64 bits of two's complement."""
    return [value & MASK, value >> 32 & MASK]


def assert_hashes(actual, rows, seed=0):
    expected = np.array([hashed(words, seed) for words in rows], np.uint32).reshape(-1, 2)
    np.testing.assert_array_equal(np.stack(actual, 1), expected)


def test_integers_hash_by_value():
    values = [0, 1, 5, 100, 127]
    for dtype in ("bool", "int8", "uint8", "int32", "uint32", "int64", "uint64"):
        values = values[:2] if dtype == "bool" else [0, 1, 5, 100, 127]
        rows = [words_of(value) for value in values]
        assert_hashes(local.hash_rows(np.array(values, dtype), seed=9), rows, 9)
    wide = [-1, -(2**40), 2**62 + 3]
    assert_hashes(local.hash_rows(np.array(wide)), map(words_of, wide))
    assert_hashes(local.hash_rows(np.array([-1, -7], np.int8)), map(words_of, [-1, -7]))


def test_floats_hash_by_value():
    values = np.array([0.0, -0.0, 1.5, np.nan, -np.nan, np.inf])
    for dtype in (np.float16, np.float32):
        bits = np.where(np.isnan(values), np.nan, values + 0.0).astype(np.float32).view(np.uint32)
        assert_hashes(local.hash_rows(values.astype(dtype)), [[int(one), 0] for one in bits])
    bits = np.where(np.isnan(values), np.nan, values + 0.0).view(np.uint64)
    assert_hashes(local.hash_rows(values), [words_of(int(one)) for one in bits])


def test_bytes_of_strings_and_other_columns():
    texts, numbers = [b"", b"ab", b"ba", b"ab", b"\0"], [3, 3, 3, 3, -3]
    flat = np.frombuffer(b"".join(texts) + b"padding", np.uint8)
    ragged = local.Ragged.from_lengths(flat, np.array([len(text) for text in texts]))
    rows = []
    for text, number in zip(texts, numbers, strict=True):
        tokens = [hashed([byte, 0, position]) for position, byte in enumerate(text)]
        sums = [
            functools.reduce(lambda a, b: a + b & MASK, lane, 0)
            for lane in zip(*tokens, strict=True)
        ]
        rows.append([*words_of(number), *(sums or [0, 0]), len(text)])
    call = jax.jit(lambda numbers, ragged: local.hash_rows((numbers, ragged)))
    assert_hashes(call(np.array(numbers), ragged), rows)
    high, low = local.hash_rows(ragged)
    assert len({*zip(high.tolist(), low.tolist(), strict=True)}) == 4


def test_hashes_are_those_of_every_version():
    high, low = local.hash_rows((np.arange(2), np.array([0.5, -0.5])))
    assert (high.tolist(), low.tolist()) == (
        [2189535875, 230675323],
        [3623886570, 3880073345],
    )


def test_no_rows():
    none = np.zeros(0, np.int32)
    for columns in (none, local.Ragged.from_lengths(none, none)):
        assert [lane.shape for lane in local.hash_rows(columns)] == [(0,), (0,)]


def test_subnormal_numbers_are_not_zero():
    values = np.array([0, 1, 2, 2**31], np.uint32).view(np.float32)
    rows = [[0, 0], [1, 0], [2, 0], [0, 0]]
    assert_hashes(local.hash_rows(values), rows)
    halves = jax.numpy.asarray(np.array([0, 1, 2, 2**15], np.uint16)).view(jax.numpy.bfloat16)
    assert_hashes(local.hash_rows(halves), [[one << 16, _] for one, _ in rows])


def test_a_list_of_numbers_is_one_column():
    for numbers in ([3, 1, 3], (3, 1, 3)):
        for lane, other in zip(
            local.hash_rows(numbers), local.hash_rows(np.array([3, 1, 3])), strict=True
        ):
            np.testing.assert_array_equal(lane, other)


def test_every_bit_is_as_likely_as_not():
    lanes = local.hash_rows(np.arange(4096, dtype=np.int32))
    for lane in lanes:
        shares = (np.asarray(lane)[:, None] >> np.arange(32, dtype=np.uint32) & 1).mean(0)
        # Five standard deviations.
        assert (np.abs(shares - 0.5) < 5 * 0.5 / 64).all()


def test_names_what_is_wrong():
    with pytest.raises(TypeError, match="hash_rows: columns must be of one of the dtypes"):
        local.hash_rows(np.zeros(2, complex))
    with pytest.raises(ValueError, match="hash_rows: columns must have the same length"):
        local.hash_rows((np.zeros(2), np.zeros(3)))
    with pytest.raises(ValueError, match="hash_rows: columns must be at least one array, got an"):
        local.hash_rows(())
