# SPDX-License-Identifier: Apache-2.0
"""`collective.radix_sort`, `radix_argsort` and `even_share` against the NumPy oracle.

A program is compiled for each dtype and number of shards, so the distributions share a test. How
the sorts are transformed is in `test_transformed.py`, their errors in `test_errors.py`.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import collective, kernels
from key_distributions import INTEGER_DTYPES, KEY_DTYPES, distributions_for, make_keys
from on_shards import (
    SHARD_COUNTS,
    even_shares,
    into_shards,
    noting,
    on_shards,
    row_counts,
    row_ids,
    sorted_on_shards,
    valid_rows,
)

NUM_ROWS = 41


@functools.cache
def sorter(num_shards, **settings):
    """Sorts `(keys, values, num_valid)`."""

    def sort(keys, values, num_valid):
        return collective.radix_sort(
            keys, values=values, num_valid=num_valid, axis_name="rows", **settings
        )

    return on_shards(sort, num_shards)


def ascending(num_shards):
    """The program that most tests of int32 keys share."""
    return sorter(num_shards, transport="auto", descending=False)


def sharded_keys(distribution, num_shards, dtype, num_rows=NUM_ROWS, seed=0):
    keys = make_keys(distribution, num_shards * num_rows, dtype, num_shards, seed)
    return into_shards(keys, num_shards)


def check(keys, counts, values=None, transport="auto", **settings):
    actual = sorter(len(counts), transport=transport, **settings)(keys, values, counts)
    oracles.assert_same_bits(actual, sorted_on_shards(keys, counts, values, **settings))


# Matches the oracle


# Each dtype on one shard, on eight, and on one number of shards in between.
DTYPES_ON_SHARDS = [
    pytest.param(dtype, num_shards, id=f"{dtype}-{num_shards}")
    for i, dtype in enumerate(KEY_DTYPES)
    for num_shards in (1, (2, 3, 5)[i % 3], 8)
]


@pytest.mark.parametrize(("dtype", "num_shards"), DTYPES_ON_SHARDS)
def test_sorts_every_dtype_and_distribution(dtype, num_shards):
    # The ids show the permutation, so they show that the sort is stable too.
    ids = row_ids(num_shards, NUM_ROWS)
    descending = (KEY_DTYPES.index(dtype) + num_shards) % 2 == 1
    counts = row_counts(num_shards, NUM_ROWS)
    for i, distribution in enumerate(distributions_for(dtype)):
        keys = sharded_keys(distribution, num_shards, dtype)
        some = list(counts)[i % len(counts)]
        for name in {"all", "growing", some}:
            with noting((distribution, name)):
                check(keys, counts[name], ids, descending=descending)


@pytest.mark.parametrize("dtype", [np.dtype(bool), *INTEGER_DTYPES], ids=str)
def test_sorts_integers_alone(dtype):
    # Keys that nothing travels with are sorted as words.
    num_shards = (8, 3)[KEY_DTYPES.index(dtype) % 2]
    descending = KEY_DTYPES.index(dtype) % 3 == 0
    counts = row_counts(num_shards, NUM_ROWS)
    for distribution in distributions_for(dtype):
        keys = sharded_keys(distribution, num_shards, dtype)
        for name in ("all", "every second shard empty"):
            with noting((distribution, name)):
                check(keys, counts[name], descending=descending)


@pytest.mark.parametrize("num_shards", SHARD_COUNTS)
def test_argsort_gives_global_row_ids(num_shards):
    @functools.partial(on_shards, num_shards=num_shards)
    def argsort(keys, num_valid):
        return collective.radix_argsort(
            keys, num_valid=num_valid, axis_name="rows", descending=(True, False)
        )

    keys = (
        sharded_keys("four_values", num_shards, np.dtype(np.float32)),
        sharded_keys("zipf", num_shards, np.dtype(np.uint8)),
    )
    ids = row_ids(num_shards, NUM_ROWS)
    for name, counts in row_counts(num_shards, NUM_ROWS).items():
        with noting(name):
            _, expected = sorted_on_shards(keys, counts, ids, descending=(True, False))
            oracles.assert_same_bits(argsort(keys, counts), expected)


VALUES_OF_EVERY_KIND = {
    "bool": lambda ids: ids % 3 == 0,
    "int8": lambda ids: (ids % 251 - 125).astype(np.int8),
    "float16 matrix": lambda ids: np.stack([ids, -ids, ids + 1], -1).astype(np.float16),
    "bfloat16": lambda ids: ids.astype(jnp.bfloat16),
    "float64": lambda ids: np.where(ids % 5 == 0, np.nan, -0.0 * ids),
    "complex64": lambda ids: (ids - 1j * ids).astype(np.complex64),
    "complex128": lambda ids: ids * (1 + 0.5j),
    "uint64": lambda ids: ids.astype(np.uint64) << np.uint64(40),
    "no column": lambda ids: np.zeros((*ids.shape, 0), np.int16),
    "rank 3": lambda ids: ids[..., None, None] + np.arange(6, dtype=np.int32).reshape(2, 3),
}


@pytest.mark.parametrize("transport", ["auto", "two_hop"])
def test_moves_values_of_every_kind(transport):
    ids = row_ids(5, NUM_ROWS)
    values = [(name, make(ids)) for name, make in VALUES_OF_EVERY_KIND.items()]
    values = {"leaves": dict(values), "none": None, "empty": ()}
    keys = sharded_keys("four_values", 5, np.dtype(np.int16))
    check(keys, row_counts(5, NUM_ROWS)["growing"], values, transport=transport)


# Some fit one word together, some need two, and NaN must be last in its own column.
TUPLES = [
    (("bool", "int8", "uint16"), (False, True, False), None),
    (("float64", "int64", "bfloat16"), (False, True, True), None),
    (("float16", "float64"), (True, True), None),
    (("uint64", "int32", "uint32"), (False, True, False), (3, None, 17)),
    (("int64", "uint64"), (True, False), (None, 40)),
]


@pytest.mark.parametrize(("dtypes", "descending", "bits"), TUPLES)
def test_sorts_by_several_columns(dtypes, descending, bits):
    num_shards = 5
    ids = row_ids(num_shards, NUM_ROWS)
    for distribution in ("two_valued", "four_values", "uniform"):
        keys = tuple(
            sharded_keys(distribution, num_shards, jnp.dtype(dtype), seed=column)
            for column, dtype in enumerate(dtypes)
        )
        for name in ("all", "growing"):
            counts = row_counts(num_shards, NUM_ROWS)[name]
            with noting((distribution, name)):
                check(keys, counts, ids, descending=descending, bits=bits)


@pytest.mark.parametrize(
    ("dtype", "bits", "descending"),
    [("int8", 3, False), ("uint16", 9, True), ("int32", 31, True), ("int64", 33, False)],
)
def test_compares_the_lowest_bits_as_unsigned(dtype, bits, descending):
    counts = row_counts(3, NUM_ROWS)["all"]
    for distribution in ("uniform", "zipf"):
        keys = sharded_keys(distribution, 3, np.dtype(dtype))
        check(keys, counts, row_ids(3, NUM_ROWS), descending=descending, bits=bits)
        check(keys, counts, descending=descending, bits=bits)


# Edge sizes


@pytest.mark.parametrize("num_shards", SHARD_COUNTS)
@pytest.mark.parametrize("num_rows", [0, 3])
def test_fewer_rows_than_shards_squared(num_shards, num_rows):
    # On eight shards three rows each are 24, fewer than 64.
    ids = row_ids(num_shards, num_rows)
    for distribution in ("uniform", "reversed", "constant"):
        keys = sharded_keys(distribution, num_shards, np.dtype(np.int32), num_rows)
        for name, counts in row_counts(num_shards, num_rows).items():
            with noting((distribution, name)):
                check(keys, counts, ids, descending=False)


@pytest.mark.parametrize("num_shards", SHARD_COUNTS)
def test_every_number_of_valid_rows(num_shards):
    # Padding has the largest key of all, as some valid rows have: no sentinel could tell.
    keys = sharded_keys("uniform", num_shards, np.dtype(np.int32))
    largest = make_keys("all_max", 1, keys.dtype)[0]
    keys[:, ::3] = largest
    for name, counts in row_counts(num_shards, NUM_ROWS).items():
        is_padding = np.arange(NUM_ROWS) >= counts[:, None]
        with noting(name):
            padded = np.where(is_padding, largest, keys)
            check(padded, counts, row_ids(num_shards, NUM_ROWS), descending=False)


def test_clips_a_traced_num_valid():
    keys = sharded_keys("uniform", 3, np.dtype(np.int32))
    given = np.array([-1, NUM_ROWS + 1, 2**31 - 1], np.int32)
    ids = row_ids(3, NUM_ROWS)
    actual = ascending(3)(keys, ids, given)
    counts = np.array([0, NUM_ROWS, NUM_ROWS], np.int32)
    oracles.assert_same_bits(actual, sorted_on_shards(keys, counts, ids))


# Skewed keys: every shard ends with the same number of rows, for any keys


@pytest.mark.parametrize("num_shards", [2, 3, 5, 8])
def test_every_shard_gets_an_even_share(num_shards):
    # A value that is never zero shows where the rows end.
    sort = ascending(num_shards)
    ones = np.ones((num_shards, NUM_ROWS), np.int32)
    for distribution in distributions_for(np.dtype(np.int32)):
        keys = sharded_keys(distribution, num_shards, np.dtype(np.int32))
        for name, counts in row_counts(num_shards, NUM_ROWS).items():
            with noting((distribution, name)):
                _, received = sort(keys, ones, counts)
                shares = even_shares(int(counts.sum()), num_shards)
                is_row = np.arange(NUM_ROWS) < np.array(shares)[:, None]
                oracles.assert_same_bits(received, is_row.astype(np.int32))


@pytest.mark.parametrize("num_shards", SHARD_COUNTS)
def test_even_share_tells_them(num_shards):
    share = on_shards(lambda n: collective.even_share(n, axis_name="rows"), num_shards)
    most = np.full(num_shards, 2**31 - 1, np.int32)
    for counts in (*row_counts(num_shards, NUM_ROWS).values(), most):
        expected = even_shares(int(counts.sum(dtype=np.int64)), num_shards)
        oracles.assert_same_bits(share(counts), np.array(expected, np.int32))
    known = on_shards(lambda n: collective.even_share(7, axis_name="rows") + 0 * n, num_shards)
    assert known(most).tolist() == [7] * num_shards


# Implementations agree


@pytest.mark.parametrize("num_shards", [3, 8])
def test_transports_give_the_same_bits(num_shards):
    ids = row_ids(num_shards, NUM_ROWS)
    counts = row_counts(num_shards, NUM_ROWS)
    # Every shard has as many rows for each: the case that one hop is for.
    interleaved = (np.arange(num_shards * NUM_ROWS).reshape(NUM_ROWS, num_shards).T * 3) % 997
    cases = [
        (sharded_keys("sorted", num_shards, np.dtype(np.int64)), counts["all"]),
        (sharded_keys("shard_constant", num_shards, np.dtype(np.int64)), counts["growing"]),
        (sharded_keys("uniform", num_shards, np.dtype(np.int64)), counts["all on the last shard"]),
        (np.sort(interleaved.astype(np.int64), axis=1), counts["all"]),
    ]
    for transport in ("auto", "ragged", "one_hop", "two_hop"):
        for keys, count in cases:
            with noting(transport):
                check(keys, count, ids, transport=transport)


def test_backends_give_the_same_bits(monkeypatch):
    keys = (
        sharded_keys("nan_inf_sprinkled", 5, np.dtype(np.float64)),
        sharded_keys("zipf", 5, np.dtype(np.int32)),
    )
    counts = row_counts(5, NUM_ROWS)["growing"]
    as_installed = sorter(5)(keys, row_ids(5, NUM_ROWS), counts)
    sorter.cache_clear()
    monkeypatch.setattr(kernels.sort._radix_sort, "is_native", lambda: False)
    portable = sorter(5)(keys, row_ids(5, NUM_ROWS), counts)
    sorter.cache_clear()
    oracles.assert_same_bits(as_installed, portable)


def test_the_number_of_shards_does_not_change_the_result():
    keys = make_keys("zipf", 240, np.dtype(np.int32))
    values = np.arange(240, dtype=np.int32)
    expected = oracles.sort(keys, values=values)
    for num_shards in (1, 2, 3, 8):
        shards = into_shards((keys, values), num_shards)
        counts = np.full(num_shards, 240 // num_shards, np.int32)
        result = sorter(num_shards)(*shards, counts)
        flat = jax.tree.map(lambda leaf: np.asarray(leaf).reshape(-1), result)
        oracles.assert_same_bits(flat, expected)


def test_the_same_input_gives_the_same_bits():
    keys = sharded_keys("two_valued", 8, np.dtype(np.int32))
    counts = row_counts(8, NUM_ROWS)["all"]
    results = [ascending(8)(keys, row_ids(8, NUM_ROWS), counts) for _ in range(20)]
    for result in results[1:]:
        oracles.assert_same_bits(result, results[0])


# Laws


def test_rows_are_conserved():
    keys = sharded_keys("zipf", 8, np.dtype(np.int32))
    ids = row_ids(8, NUM_ROWS) + 1
    counts = row_counts(8, NUM_ROWS)["growing"]
    _, received = ascending(8)(keys, ids, counts)
    received = np.asarray(received)
    assert sorted(received[received > 0]) == valid_rows(ids, counts).tolist()


def test_sorting_twice_changes_nothing():
    keys = sharded_keys("four_values", 8, np.dtype(np.int32))
    counts = row_counts(8, NUM_ROWS)["all"]
    once = ascending(8)(keys, row_ids(8, NUM_ROWS), counts)
    oracles.assert_same_bits(ascending(8)(*once, counts), once)
