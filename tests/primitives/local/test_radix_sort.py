# SPDX-License-Identifier: Apache-2.0
"""`local.radix_sort` and `local.radix_argsort` against the NumPy oracle.

How they are transformed is in `test_radix_sort_transformed.py`, what they refuse in
`test_key_errors.py`.
"""

import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import kernels, local
from key_distributions import (
    FLOAT_DTYPES,
    INTEGER_DTYPES,
    KEY_DTYPES,
    KEY_TUPLES,
    distributions_for,
    make_keys,
)
from on_shards import compiled

argsort = compiled(local.radix_argsort, static_argnames=("descending", "bits"))
sort = compiled(local.radix_sort, static_argnames=("descending", "bits"))

NUM_ROWS = 1000
SETTINGS = [
    pytest.param(distribution, dtype, descending, id=f"{distribution}-{dtype}-{order}")
    for dtype in KEY_DTYPES
    for distribution in distributions_for(dtype)
    for descending, order in ((False, "ascending"), (True, "descending"))
]


# Matches the oracle


@pytest.mark.parametrize(("distribution", "dtype", "descending"), SETTINGS)
def test_sorts_every_dtype(distribution, dtype, descending):
    keys = make_keys(distribution, NUM_ROWS, dtype)
    row_ids = oracles.argsort(keys, descending=descending)
    oracles.assert_same_bits(argsort(keys, descending=descending), row_ids)
    oracles.assert_same_bits(sort(keys, descending=descending), keys[row_ids])


@pytest.mark.parametrize("dtype", KEY_DTYPES, ids=str)
def test_moves_values_with_their_keys(dtype):
    keys = make_keys("zipf", NUM_ROWS, dtype)
    values = {
        "matrix": np.arange(2 * NUM_ROWS, dtype=np.int16).reshape(NUM_ROWS, 2),
        "columns": (np.arange(NUM_ROWS) % 3 == 0, np.arange(NUM_ROWS) * (1 + 2j)),
    }
    oracles.assert_same_bits(sort(keys, values=values), oracles.sort(keys, values=values))


@pytest.mark.parametrize("dtype", INTEGER_DTYPES, ids=str)
@pytest.mark.parametrize("descending", [False, True])
def test_compares_the_lowest_bits_as_unsigned(dtype, descending):
    keys = make_keys("uniform", NUM_ROWS, dtype)
    width = 8 * dtype.itemsize
    for bits in {1, 7, 8, min(9, width), width // 2, width - 1, width}:
        settings = {"descending": descending, "bits": bits}
        oracles.assert_same_bits(argsort(keys, **settings), oracles.argsort(keys, **settings))
        oracles.assert_same_bits(sort(keys, **settings), oracles.sort(keys, **settings))


@pytest.mark.parametrize(("dtypes", "descending", "bits"), KEY_TUPLES)
@pytest.mark.parametrize("distribution", ["four_values", "two_valued", "uniform"])
def test_sorts_by_several_columns(dtypes, descending, bits, distribution):
    keys = tuple(
        make_keys(distribution, NUM_ROWS, jnp.dtype(dtype), seed=column)
        for column, dtype in enumerate(dtypes)
    )
    keys[-1][:10] = keys[-1][-1]
    values = np.arange(NUM_ROWS, dtype=np.float32)
    expected = oracles.sort(keys, values=values, descending=descending, bits=bits)
    actual = sort(keys, values=values, descending=descending, bits=bits)
    oracles.assert_same_bits(actual, expected)


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float32", "int64", "float64"])
@pytest.mark.parametrize("num_valid", [0, 1, 999, 1000])
def test_leaves_padding_in_place(dtype, num_valid):
    # Padding of all max and valid rows of all max: no sentinel could tell them apart.
    keys = make_keys("four_values", NUM_ROWS, np.dtype(dtype))
    keys[::7] = make_keys("all_max", 1, keys.dtype)[0]
    values = np.arange(NUM_ROWS, dtype=np.int32)
    for descending in (False, True):
        settings = {"descending": descending, "num_valid": num_valid}
        expected = oracles.sort(keys, values=values, **settings)
        oracles.assert_same_bits(sort(keys, values=values, **settings), expected)
        oracles.assert_same_bits(sort(keys, **settings), expected[0])


def test_clips_a_traced_num_valid_of_any_integer_dtype():
    keys = make_keys("uniform", NUM_ROWS, np.int32)
    for dtype in INTEGER_DTYPES:
        row_ids = argsort(keys, num_valid=jnp.asarray(100, dtype))
        oracles.assert_same_bits(row_ids, oracles.argsort(keys, num_valid=100))
    for num_valid, clipped in ((-1, 0), (NUM_ROWS + 1, NUM_ROWS)):
        row_ids = argsort(keys, num_valid=jnp.int32(num_valid))
        oracles.assert_same_bits(row_ids, oracles.argsort(keys, num_valid=clipped))


@pytest.mark.checks_arguments
def test_takes_python_lists_and_gives_back_what_it_was_given():
    assert local.radix_sort([3, 1, 2]).tolist() == [1, 2, 3]
    (keys,) = local.radix_sort((np.array([3, 1, 2]),))
    assert keys.tolist() == [1, 2, 3]
    keys, values = local.radix_sort(np.array([3, 1, 2]), values=())
    assert keys.tolist() == [1, 2, 3]
    assert values == ()


@pytest.mark.usefixtures("x64_off")
@pytest.mark.parametrize("dtype", [d for d in KEY_DTYPES if d.itemsize < 8], ids=str)
def test_sorts_without_x64(dtype):
    keys = make_keys(distributions_for(dtype)[-1], NUM_ROWS, dtype)
    for descending in (False, True):
        expected = oracles.sort(keys, values=keys, descending=descending)
        oracles.assert_same_bits(sort(keys, values=keys, descending=descending), expected)
        oracles.assert_same_bits(sort(keys, descending=descending), expected[0])


# Edge sizes

EDGE_SIZES = [0, 1, 2, 3, *(2**k + step for k in (3, 8, 11, 16) for step in (-1, 0, 1))]


@pytest.mark.parametrize("num_rows", EDGE_SIZES)
@pytest.mark.parametrize("dtype", ["uint32", "float32", "int64"])
def test_edge_sizes(num_rows, dtype):
    keys = make_keys("uniform", num_rows, np.dtype(dtype))
    row_ids = oracles.argsort(keys)
    oracles.assert_same_bits(argsort(keys), row_ids)
    oracles.assert_same_bits(sort(keys), keys[row_ids])
    oracles.assert_same_bits(sort(keys, values=keys), (keys[row_ids], keys[row_ids]))


@pytest.mark.parametrize("distribution", ["uniform", "zipf"])
@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_a_million_rows(distribution, dtype):
    keys = make_keys(distribution, 10**6, np.dtype(dtype))
    row_ids = oracles.argsort(keys)
    oracles.assert_same_bits(argsort(keys), row_ids)
    oracles.assert_same_bits(sort(keys), keys[row_ids])


# Skewed keys


@pytest.mark.parametrize("shift", range(0, 64, 8))
def test_keys_that_differ_in_one_digit(shift):
    # A digit that all keys share costs no pass; the one that differs must still be found.
    digits = make_keys("uniform", NUM_ROWS, np.uint8).astype(np.uint64)
    keys = (digits << np.uint64(shift)) | np.uint64(0x0102030405060708 & ~(0xFF << shift))
    oracles.assert_same_bits(argsort(keys), oracles.argsort(keys))
    oracles.assert_same_bits(sort(keys), oracles.sort(keys))


@pytest.mark.parametrize("dtype", ["int32", "uint64", "int64"])
def test_keys_at_digit_boundaries(dtype):
    limits = np.iinfo(dtype)
    bounds = [2**k + step for k in range(0, 64, 4) for step in (-1, 0, 1)]
    bounds = [key for bound in bounds for key in (bound, -bound)]
    bounds = [key for key in bounds if limits.min <= key <= limits.max]
    keys = np.random.default_rng(0).choice(np.array(bounds, dtype), NUM_ROWS)
    for descending in (False, True):
        row_ids = oracles.argsort(keys, descending=descending)
        oracles.assert_same_bits(argsort(keys, descending=descending), row_ids)


def test_an_outlier_among_equal_keys():
    for place in (0, NUM_ROWS // 2, NUM_ROWS - 1):
        keys = np.full(NUM_ROWS, 7, np.int64)
        keys[place] = -(2**60)
        oracles.assert_same_bits(argsort(keys), oracles.argsort(keys))


# Implementations agree


@pytest.mark.parametrize("dtype", KEY_DTYPES, ids=str)
def test_native_and_portable_agree(dtype, monkeypatch):
    keys = make_keys("uniform", NUM_ROWS, dtype)
    values = {"row": np.arange(NUM_ROWS, dtype=np.int32)}
    settings = {"values": values, "descending": True, "num_valid": NUM_ROWS - 5}
    as_installed = local.radix_sort((keys, keys), **settings), local.radix_sort(keys, **settings)
    monkeypatch.setattr(kernels.sort._radix_sort, "is_native", lambda: False)
    portable = local.radix_sort((keys, keys), **settings), local.radix_sort(keys, **settings)
    oracles.assert_same_bits(as_installed, portable)


@pytest.mark.parametrize("dtype", KEY_DTYPES, ids=str)
def test_agrees_with_jax_numpy(dtype):
    # JAX's own order is the same one, ascending, but for the denormals that it takes for zeros.
    is_float = dtype in FLOAT_DTYPES
    keys = make_keys("nan_inf_sprinkled" if is_float else "four_values", NUM_ROWS, dtype)
    row_ids = jnp.argsort(keys, stable=True).astype(jnp.int32)
    oracles.assert_same_bits(argsort(keys), row_ids)
