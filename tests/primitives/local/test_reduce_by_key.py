# SPDX-License-Identifier: Apache-2.0
"""`reduce_by_key`, `unique` and `run_length_encode` of one device against the NumPy oracle."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import local
from jaxframes.primitives.local._reduce_by_key import REDUCE_OPS
from key_distributions import FLOAT_DTYPES, KEY_DTYPES, distributions_for, make_keys
from on_shards import noting

NUM_ROWS = 300
EXACT_OPS = ("sum", "prod", "min", "max", "count", "first", "last", "any", "all")


@functools.cache
def encoder(capacity=None):
    """Everything that is known of runs as they stand, of distinct keys, and of reduced values."""

    def encode(keys, values, num_valid):
        at = {"capacity": capacity, "num_valid": num_valid}
        everything = dict.fromkeys(("return_index", "return_inverse", "return_counts"), True)
        ops = [op for op in REDUCE_OPS if values is not None and takes(op, values.dtype)]
        return {
            "runs": local.run_length_encode(keys, **at),
            "unique": local.unique(keys, **everything, **at),
            "keys alone": local.unique(keys, **at),
            "reduced": local.reduce_by_key(keys, [values] * len(ops), ops, **at) if ops else None,
        }

    return jax.jit(encode)


def takes(op, dtype):
    return not (op in ("min", "max", "var", "std") and np.dtype(dtype).kind == "c")


def check(keys, values=None, num_valid=None, capacity=None):
    num_valid = len(oracles.columns_of(keys)[0]) if num_valid is None else num_valid
    actual = encoder(capacity)(keys, values, num_valid)
    assert isinstance(actual["runs"], local.RunLengths)
    assert isinstance(actual["unique"], local.Unique)
    expected = oracles.run_length_encode(keys, capacity, num_valid)
    oracles.assert_same_bits(tuple(actual["runs"]), expected)
    expected = oracles.unique(keys, capacity, num_valid)
    oracles.assert_same_bits(tuple(actual["unique"]), expected)
    oracles.assert_same_bits(actual["keys alone"].unique_keys, expected[0])
    oracles.assert_same_bits(actual["keys alone"].count, expected[-1])
    if values is None:
        return
    reduced = actual["reduced"]
    assert isinstance(reduced, local.ReducedRuns)
    oracles.assert_same_bits((reduced.unique_keys, reduced.num_runs), (expected[0], expected[-1]))
    ops = [op for op in REDUCE_OPS if takes(op, values.dtype)]
    for op, leaf in zip(ops, reduced.values, strict=True):
        _, expected, _ = oracles.reduce_by_key(keys, values, op, capacity, num_valid)
        with noting(op):
            assert_close(leaf, expected, values.dtype)


def assert_close(actual, expected, dtype):
    if not jnp.issubdtype(actual.dtype, jnp.inexact):
        return oracles.assert_same_bits(actual, expected)
    # Of n numbers of one sign a sum is within n roundings.
    precision = float(jnp.finfo(actual.dtype).eps) if oracles.is_float(actual.dtype) else 1e-6
    actual = np.asarray(actual, complex if actual.dtype.kind == "c" else float)
    np.testing.assert_allclose(actual, expected, rtol=NUM_ROWS * precision, atol=1e-12)


# Match the oracle


@pytest.mark.parametrize("dtype", KEY_DTYPES, ids=str)
def test_keys_of_every_dtype_and_distribution(dtype):
    for distribution in distributions_for(dtype):
        with noting(distribution):
            check(make_keys(distribution, NUM_ROWS, dtype))


@pytest.mark.parametrize("dtype", [*KEY_DTYPES, np.dtype(np.complex64)], ids=str)
def test_values_of_every_dtype(dtype):
    keys = make_keys("zipf", NUM_ROWS, np.int32)
    rng = np.random.default_rng(0)
    # Of one sign, and not so large that products of floats pass all bounds.
    values = rng.integers(0, 2 if dtype.kind == "b" else 100, NUM_ROWS).astype(dtype)
    if jnp.issubdtype(dtype, jnp.inexact):
        values = (1 + rng.random(NUM_ROWS) / 64).astype(dtype)
    check(keys, values)


def test_values_that_are_matrices():
    keys = make_keys("four_values", NUM_ROWS, np.uint8)
    check(keys, np.arange(NUM_ROWS * 6).reshape(NUM_ROWS, 2, 3))


def test_several_columns():
    for dtypes in ((np.int8, np.uint16), (np.float64, np.int64), (bool, np.float32, np.int64)):
        keys = tuple(
            make_keys("four_values", NUM_ROWS, dtype, seed=i) for i, dtype in enumerate(dtypes)
        )
        with noting(dtypes):
            check(keys, np.arange(NUM_ROWS))


@pytest.mark.parametrize("dtype", FLOAT_DTYPES, ids=str)
def test_equal_keys_of_different_bits_are_one(dtype):
    keys = np.array([-0.0, 0.0, np.nan, -np.nan, 0.0, 1.0], dtype)
    found = local.unique(keys, capacity=3, return_counts=True)
    oracles.assert_same_bits(found.unique_keys, keys[np.array([0, 5, 2])])
    assert found.counts.tolist() == [3, 1, 2]
    check(keys)


def test_padding_and_capacities():
    keys = make_keys("zipf", NUM_ROWS, np.int32)
    values = np.arange(1, NUM_ROWS + 1)
    for num_valid in (0, 1, NUM_ROWS - 1):
        with noting(num_valid):
            check(keys, values, num_valid)
    for capacity in (0, 1, 7, NUM_ROWS + 5):
        with noting(("capacity", capacity)):
            check(keys, values, capacity=capacity)
            check(keys, values, NUM_ROWS // 2, capacity)


@pytest.mark.parametrize("num_rows", [0, 1, 2, 255, 257])
def test_edge_sizes(num_rows):
    check(make_keys("four_values", num_rows, np.int64), np.arange(1.0, num_rows + 1))


@pytest.mark.parametrize("ddof", [1, 3])
def test_degrees_of_freedom(ddof):
    keys, values = make_keys("zipf", NUM_ROWS, np.int32), np.arange(NUM_ROWS) % 17
    reduced = local.reduce_by_key(keys, [values] * 2, ["var", "std"], ddof=ddof)
    for op, leaf in zip(("var", "std"), reduced.values, strict=True):
        expected = oracles.reduce_by_key(keys, values, op, ddof=ddof)[1]
        np.testing.assert_allclose(leaf, expected, rtol=1e-12)


def test_keys_that_are_sorted_already():
    keys, values = make_keys("sorted", NUM_ROWS, np.int8), np.arange(NUM_ROWS)
    promised = local.reduce_by_key(keys, values, "sum", num_valid=200, keys_are_sorted=True)
    oracles.assert_same_bits(promised, local.reduce_by_key(keys, values, "sum", num_valid=200))


@pytest.mark.usefixtures("x64_off")
def test_without_x64():
    keys = make_keys("zipf", NUM_ROWS, np.float32)
    reduced = local.reduce_by_key(keys, np.arange(NUM_ROWS, dtype=np.int32), "sum", num_valid=200)
    expected = oracles.reduce_by_key(keys, np.arange(NUM_ROWS, dtype=np.int32), "sum", None, 200)
    oracles.assert_same_bits(tuple(reduced), expected)


# Laws


@pytest.mark.parametrize("distribution", ["uniform", "zipf", "constant"])
def test_a_million_rows(distribution):
    keys = make_keys(distribution, 10**6, np.int64)
    expected, row_ids, inverse, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    found = jax.jit(
        functools.partial(local.unique, return_index=True, return_inverse=True, return_counts=True)
    )(keys)
    num = int(found.count)
    assert num == len(expected)
    np.testing.assert_array_equal(found.unique_keys[:num], expected)
    np.testing.assert_array_equal(found.row_ids[:num], row_ids)
    np.testing.assert_array_equal(found.counts[:num], counts)
    np.testing.assert_array_equal(found.inverse, inverse)
    totals = jax.jit(functools.partial(local.reduce_by_key, ops="sum"))(keys, keys).values
    np.testing.assert_array_equal(totals[:num], expected * counts)


# Errors word for word

KEYS = np.arange(5, dtype=np.int32)
ERRORS = [
    pytest.param(
        lambda: local.reduce_by_key(KEYS, KEYS, "median"),
        ValueError,
        "reduce_by_key: ops must be of 'sum', 'prod', 'min', 'max', 'count', 'mean', 'var', 'std', "
        "'first', 'last', 'any', 'all', got 'median'.",
        id="op",
    ),
    pytest.param(
        lambda: local.reduce_by_key(KEYS, (KEYS, KEYS), ("sum",)),
        ValueError,
        "reduce_by_key: ops must be one name, or names in the structure of values, "
        "PyTreeDef((*, *)), got ('sum',).",
        id="structure",
    ),
    pytest.param(
        lambda: local.reduce_by_key(KEYS, KEYS * 1j, "max"),
        TypeError,
        "reduce_by_key: values must be real for 'max', got complex128[5]. Reduce their real and "
        "imaginary parts.",
        id="complex",
    ),
    pytest.param(
        lambda: local.reduce_by_key(KEYS, KEYS[:4], "sum"),
        ValueError,
        "reduce_by_key: every leaf of values must have 5 rows along its leading axis, got "
        "int32[4].",
        id="length",
    ),
    pytest.param(
        lambda: local.unique(KEYS * 1j),
        TypeError,
        "unique: keys must be of one of the dtypes bool, int8, int16, int32, int64, uint8, uint16, "
        "uint32, uint64, float16, bfloat16, float32 and float64, got complex128[5].",
        id="dtype",
    ),
    pytest.param(
        lambda: local.run_length_encode(KEYS, capacity=-1),
        ValueError,
        "run_length_encode: capacity must be in [0, 2147483647], got -1.",
        id="capacity",
    ),
]


@pytest.mark.checks_arguments
@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_refuses(call, error, message):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message
