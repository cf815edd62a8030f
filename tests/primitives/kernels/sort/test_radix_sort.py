# SPDX-License-Identifier: Apache-2.0
"""The sort of one column of words: the C++ kernel and the portable definition agree."""

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import backend, kernels, local
from jaxframes.primitives.contract._key_bits import OrderedWord
from key_distributions import make_keys

radix_sort = kernels.sort._radix_sort

WORDS = ["int32", "uint32", "int64", "uint64"]
needs_kernels = pytest.mark.skipif(backend().cpu != "native", reason=backend().reason)


def column_of(distribution, num_rows, dtype, flip=0, bits=None, seed=0):
    word = jnp.asarray(make_keys(distribution, num_rows, np.dtype(dtype), seed=seed))
    return OrderedWord(word, flip, 8 * word.dtype.itemsize if bits is None else bits)


def expected_order(column, num_valid):
    """The order of the lowest bits, taken as unsigned, of the flipped word."""
    word = np.asarray(column.word)
    unsigned = word.view(f"u{word.dtype.itemsize}") ^ np.array(column.flip, f"u{word.itemsize}")
    return oracles.argsort(unsigned, bits=column.bits, num_valid=num_valid)


def all_forms(column, num_valid):
    """Every call that sorts a column: keys, row ids, keys and implicit or given row ids."""
    row_ids = jnp.arange(column.word.shape[0], dtype=jnp.int32)[::-1]
    num_valid = jnp.int32(num_valid)
    return (
        radix_sort.sort_words(column, num_valid),
        radix_sort.argsort_words(column, num_valid),
        radix_sort.sort_words_with_row_ids(column, num_valid),
        radix_sort.sort_words_with_row_ids(column, num_valid, row_ids),
    )


@pytest.fixture(params=[pytest.param("native", marks=needs_kernels), "xla"])
def kernel(request, monkeypatch):
    """Runs a test on the C++ kernels, then on the portable path."""
    if request.param == "xla":
        monkeypatch.setattr(radix_sort, "is_native", lambda: False)


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("dtype", WORDS)
def test_flips_and_bits(dtype):
    width = 8 * np.dtype(dtype).itemsize
    for flip in (0, 1 << (width - 1), (1 << width) - 1, 0b1010):
        for bits in (1, 5, 8, 17, width - 1, width):
            column = column_of("uniform", 300, dtype, flip, bits)
            order = expected_order(column, 290)
            words = np.asarray(column.word)[order]
            row_ids = np.arange(300, dtype=np.int32)[::-1][order]
            expected = words, order, (words, order), (words, row_ids)
            oracles.assert_same_bits(all_forms(column, 290), expected)


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("dtype", ["uint32", "uint64"])
@pytest.mark.parametrize("num_rows", [0, 1, 2, 31, 32, 33, 255, 256, 257, 2047, 2048, 2049])
def test_edge_sizes(dtype, num_rows):
    column = column_of("zipf", num_rows, dtype)
    for num_valid in sorted({0, min(1, num_rows), max(num_rows - 1, 0), num_rows}):
        order = expected_order(column, num_valid)
        words = np.asarray(column.word)[order]
        row_ids = np.arange(num_rows, dtype=np.int32)[::-1][order]
        expected = words, order, (words, order), (words, row_ids)
        oracles.assert_same_bits(all_forms(column, num_valid), expected)


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("dtype", ["uint32", "uint64"])
@pytest.mark.parametrize("batch", [0, 1, 3, 17])
def test_each_row_of_a_batch_is_its_own(dtype, batch):
    # A read or write beyond a row would meet the extreme keys of its neighbours.
    words = make_keys("uniform", batch * 100, np.dtype(dtype)).reshape(batch, 100)
    words[::2, 90:] = 0
    words[1::2, :10] = np.iinfo(dtype).max
    num_valid = (np.arange(batch) * 37 % 101).astype(np.int32)

    def of_row(word, num_valid):
        column = OrderedWord(word, 0, 8 * word.dtype.itemsize)
        return radix_sort.sort_words_with_row_ids(column, num_valid)

    expected_words, expected_ids = words.copy(), np.zeros((batch, 100), np.int32)
    for row in range(batch):
        expected_ids[row] = oracles.argsort(words[row], num_valid=num_valid[row])
        expected_words[row] = words[row][expected_ids[row]]
    actual = jax.vmap(of_row)(jnp.asarray(words), jnp.asarray(num_valid))
    oracles.assert_same_bits(actual, (expected_words, expected_ids))


@needs_kernels
@pytest.mark.parametrize("dtype", WORDS)
@pytest.mark.parametrize("distribution", ["uniform", "zipf", "sorted", "constant", "two_valued"])
@pytest.mark.parametrize("num_rows", [5000, 300_000])
def test_native_and_portable_agree(dtype, distribution, num_rows, monkeypatch):
    # The larger size is past what one thread takes, and what a cache holds.
    column = column_of(distribution, num_rows, dtype)
    native = all_forms(column, num_rows - 3)
    monkeypatch.setattr(radix_sort, "is_native", lambda: False)
    oracles.assert_same_bits(native, all_forms(column, num_rows - 3))


@needs_kernels
@pytest.mark.parametrize("dtype", ["uint32", "uint64"])
def test_repeated_calls_give_the_same_bits(dtype):
    column = column_of("zipf", 300_000, dtype)
    first = all_forms(column, 299_999)
    for _ in range(5):
        oracles.assert_same_bits(all_forms(column, 299_999), first)


def columns_of(num_rows):
    """A column of each width, and one whose NaNs XLA may rewrite."""
    rng = np.random.default_rng(5)
    bits = rng.integers(0, 2**16, num_rows).astype(np.uint16)
    return {
        "flag": bits % 3 == 0,
        "bits": bits.view(jnp.bfloat16),
        "id": np.arange(num_rows, dtype=np.int32),
        "x": rng.standard_normal(num_rows),
        "z": (bits + 1j).astype(np.complex64),
    }


@needs_kernels
@pytest.mark.parametrize("num_rows", [1, 1000, 65_537, 200_003])
@pytest.mark.parametrize("dtype", ["int8", "int32", "uint64", "float32", "float64"])
@pytest.mark.parametrize("distribution", ["uniform", "zipf", "reversed"])
def test_columns_move_with_their_keys(distribution, dtype, num_rows):
    keys = make_keys(distribution, num_rows, np.dtype(dtype))
    columns = columns_of(num_rows)
    for descending, num_valid in ((False, num_rows), (True, num_rows - num_rows // 3)):
        sorted_keys, moved = local.radix_sort(
            keys, values=columns, descending=descending, num_valid=num_valid
        )
        order = oracles.argsort(keys, descending=descending, num_valid=num_valid)
        expected = {name: column[order] for name, column in columns.items()}
        oracles.assert_same_bits((sorted_keys, moved), (keys[order], expected))


def test_columns_of_a_batch():
    rng = np.random.default_rng(0)
    keys, x = rng.standard_normal((2, 3, 70_000))
    num_valid = np.array([70_000, 0, 66_000], np.int32)
    sorted_keys, moved = jax.vmap(
        lambda key, x, valid: local.radix_sort(key, values=x, num_valid=valid)
    )(keys, x, num_valid)
    for row, valid in enumerate(num_valid):
        order = oracles.argsort(keys[row], num_valid=int(valid))
        expected = keys[row][order], x[row][order]
        oracles.assert_same_bits((sorted_keys[row], moved[row]), expected)


def test_moved_columns_and_keys_have_derivatives_of_both_orders():
    rng = np.random.default_rng(0)
    keys, x, weights = rng.standard_normal((3, 70_000))
    order = np.argsort(keys, kind="stable")

    def loss(keys, x):
        sorted_keys, moved = local.radix_sort(keys, values=x)
        return jnp.sum(weights * (sorted_keys**2 + moved**3))

    of_keys, of_x = jax.grad(loss, (0, 1))(keys, x)
    placed = np.empty(70_000)
    placed[order] = weights
    np.testing.assert_allclose(of_keys, 2 * placed * keys, rtol=1e-15)
    np.testing.assert_allclose(of_x, 3 * placed * x**2, rtol=1e-15)
    _, along = jax.jvp(jax.grad(loss, 1), (keys, x), (np.zeros(70_000), np.ones(70_000)))
    np.testing.assert_allclose(along, 6 * placed * x, rtol=1e-15)
