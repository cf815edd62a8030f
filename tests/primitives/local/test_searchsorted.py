# SPDX-License-Identifier: Apache-2.0
"""`local.searchsorted` against the NumPy oracle."""

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jax.sharding import AxisType, PartitionSpec
from jaxframes.primitives import local
from key_distributions import INTEGER_DTYPES, KEY_DTYPES, distributions_for, make_keys

searchsorted = jax.jit(local.searchsorted, static_argnames=("side", "descending"))

SIDES = ["left", "right"]


def keys_and_queries(distribution, dtype, num_rows=200, num_queries=60, **settings):
    """Sorted keys, and queries; half of them are among the keys."""
    keys = make_keys(distribution, num_rows, np.dtype(dtype))
    queries = make_keys(distribution, num_queries, np.dtype(dtype), seed=1)
    queries[::2] = keys[: len(queries[::2])]
    return oracles.sort(keys, **settings), queries


# Matches the oracle


@pytest.mark.parametrize("dtype", KEY_DTYPES, ids=str)
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("descending", [False, True])
def test_finds_places_in_every_dtype(dtype, side, descending):
    for distribution in distributions_for(dtype):
        keys, queries = keys_and_queries(distribution, dtype, descending=descending)
        expected = oracles.searchsorted(keys, queries, side=side, descending=descending)
        actual = searchsorted(keys, queries, side=side, descending=descending)
        oracles.assert_same_bits(actual, expected)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(
    "dtypes", [("int8", "uint16"), ("float64", "int32"), ("float32", "float64", "bool")]
)
def test_finds_places_in_tuples_of_keys(dtypes, side):
    descending = (True, False, True)[: len(dtypes)]
    keys, queries = (
        tuple(make_keys("four_values", n, np.dtype(dtype)) for dtype in dtypes) for n in (200, 60)
    )
    keys = oracles.sort(keys, descending=descending)
    settings = {"side": side, "descending": descending}
    expected = oracles.searchsorted(keys, queries, **settings)
    oracles.assert_same_bits(searchsorted(keys, queries, **settings), expected)


@pytest.mark.parametrize("num_valid", [0, 1, 199, 200])
@pytest.mark.parametrize("side", SIDES)
def test_padding_is_not_looked_at(num_valid, side):
    keys, queries = keys_and_queries("four_values", np.int32, num_valid=num_valid)
    settings = {"side": side, "num_valid": num_valid}
    expected = oracles.searchsorted(keys, queries, **settings)
    oracles.assert_same_bits(searchsorted(keys, queries, **settings), expected)


@pytest.mark.usefixtures("x64_off")
def test_finds_places_without_x64():
    keys, queries = keys_and_queries("nan_inf_sprinkled", np.float32)
    expected = oracles.searchsorted(keys, queries)
    oracles.assert_same_bits(searchsorted(keys, queries), expected)


# Edge sizes


@pytest.mark.parametrize("num_rows", [0, 1, 2, 3, 63, 64, 65])
@pytest.mark.parametrize("num_queries", [0, 1, 64])
def test_edge_sizes(num_rows, num_queries):
    keys = np.sort(make_keys("uniform", num_rows, np.int32))
    queries = make_keys("uniform", num_queries, np.int32, seed=1)
    queries[:num_rows] = keys[:num_queries]
    for side in SIDES:
        expected = oracles.searchsorted(keys, queries, side=side)
        oracles.assert_same_bits(searchsorted(keys, queries, side=side), expected)


def test_a_million_rows():
    # NumPy's own search is the same one for integers, and the oracle would take minutes.
    keys, queries = keys_and_queries("zipf", np.int32, 10**6, 10**5)
    for side in SIDES:
        expected = np.searchsorted(keys, queries, side).astype(np.int32)
        oracles.assert_same_bits(searchsorted(keys, queries, side=side), expected)


# Skewed keys


@pytest.mark.parametrize("dtype", ["uint8", "int32", "uint64"])
def test_queries_at_the_ends_of_the_range(dtype):
    limits = np.iinfo(dtype)
    keys = np.repeat(np.array([limits.min, 7, limits.max], dtype), 50)
    queries = np.array([limits.min, limits.min + 1, 6, 7, 8, limits.max - 1, limits.max], dtype)
    for side in SIDES:
        expected = oracles.searchsorted(keys, queries, side=side)
        oracles.assert_same_bits(searchsorted(keys, queries, side=side), expected)


# Implementations agree: there is one, which must agree with JAX's and be the inverse of a sort


@pytest.mark.parametrize("dtype", INTEGER_DTYPES, ids=str)
@pytest.mark.parametrize("side", SIDES)
def test_agrees_with_jax_numpy(dtype, side):
    keys, queries = keys_and_queries("zipf", dtype)
    expected = jnp.searchsorted(keys, queries, side=side).astype(jnp.int32)
    oracles.assert_same_bits(searchsorted(keys, queries, side=side), expected)


def test_finds_each_row_of_a_sort_where_it_stands():
    keys = local.radix_sort(make_keys("nan_inf_sprinkled", 200, np.float64))
    first = np.asarray(searchsorted(keys, keys, side="left"))
    last = np.asarray(searchsorted(keys, keys, side="right")) - 1
    assert (first <= np.arange(200)).all()
    assert (last >= np.arange(200)).all()


# Transformations: jit is everywhere above


def test_vmap_searches_each_row_of_the_batch():
    keys = np.sort(make_keys("zipf", 6 * 40, np.int32).reshape(2, 3, 40))
    queries = make_keys("zipf", 6 * 10, np.int32, seed=1).reshape(2, 3, 10)
    actual = jax.jit(jax.vmap(jax.vmap(local.searchsorted)))(keys, queries)
    expected = np.zeros((2, 3, 10), np.int32)
    for place in np.ndindex(2, 3):
        expected[place] = oracles.searchsorted(keys[place], queries[place])
    oracles.assert_same_bits(actual, expected)


def test_a_place_has_no_derivative():
    keys, queries = np.arange(4.0), np.array([0.5, 2.5])

    def weighted(queries):
        places = local.searchsorted(keys, queries)
        return jnp.sum(queries**2 * places.astype(queries.dtype))

    places = oracles.searchsorted(keys, queries)
    np.testing.assert_array_equal(jax.grad(weighted)(queries), 2 * queries * places)


def test_inside_shard_map():
    mesh = jax.make_mesh((4,), ("rows",), axis_types=(AxisType.Auto,))
    keys = np.sort(make_keys("zipf", 4 * 50, np.int64).reshape(4, 50))
    queries = make_keys("zipf", 20, np.int64, seed=1)
    by_row = PartitionSpec("rows")
    search_shards = jax.shard_map(
        local.searchsorted, mesh=mesh, in_specs=(by_row, PartitionSpec()), out_specs=by_row
    )
    expected = np.concatenate([oracles.searchsorted(shard, queries) for shard in keys])
    oracles.assert_same_bits(jax.jit(search_shards)(keys.reshape(-1), queries), expected)


# Errors word for word; those about keys are in test_key_errors.py

KEYS = np.arange(5, dtype=np.int32)
ERRORS = [
    pytest.param(
        {"queries": KEYS.astype(np.float32)},
        TypeError,
        "searchsorted: sorted_keys and queries must have the same dtype, got int32[5] and "
        "float32[5]. Cast one of them.",
        id="dtypes",
    ),
    pytest.param(
        {"queries": (KEYS, KEYS)},
        ValueError,
        "searchsorted: sorted_keys and queries must have the same number of columns, got 1 and 2.",
        id="columns",
    ),
    pytest.param(
        {"queries": KEYS, "side": "middle"},
        ValueError,
        "searchsorted: side must be 'left' or 'right', got 'middle'.",
        id="side",
    ),
]


@pytest.mark.checks_arguments
@pytest.mark.parametrize(("arguments", "error", "message"), ERRORS)
def test_refuses(arguments, error, message):
    with pytest.raises(error) as raised:
        local.searchsorted(KEYS, **arguments)
    assert str(raised.value) == message
