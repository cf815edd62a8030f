# SPDX-License-Identifier: Apache-2.0
"""`reduce_by_key`, `unique` and `run_length_encode` of one device against the NumPy oracle."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes import shardings
from jaxframes.primitives import backend, local
from jaxframes.primitives.kernels.base._library import TARGETS
from jaxframes.primitives.local import _reduce_by_key
from jaxframes.primitives.local._reduce_by_key import REDUCE_OPS
from key_distributions import FLOAT_DTYPES, KEY_DTYPES, distributions_for, make_keys
from on_shards import compiled, noting

NUM_ROWS = 300
EXACT_OPS = ("sum", "prod", "min", "max", "count", "first", "last", "any", "all")


@functools.cache
def encoder(capacity=None):
    """The expected runs, distinct keys and reduced values."""

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

    return compiled(encode)


def takes(op, dtype):
    return not (op in ("min", "max", "var", "std", "logsumexp") and np.dtype(dtype).kind == "c")


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
    promised = local.reduce_by_key(keys, values, "sum", num_valid=200, is_sorted=True)
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


# Sums alone, which have a kernel of their own

FEW_ROWS = 70_000
needs_kernels = pytest.mark.skipif(backend().cpu != "native", reason=backend().reason)


def sums(keys, values, num_valid=None, capacity=None):
    return local.reduce_by_key(keys, values, "sum", num_valid=num_valid, capacity=capacity)


def expected_sums(keys, values, num_valid):
    """Distinct keys in their order, and their exact sums."""
    unique_keys, inverse = np.unique(keys[:num_valid], return_inverse=True)
    return unique_keys, oracles.exact_sums(values[:num_valid], inverse, len(unique_keys))


def unlike_numbers(num_rows, dtype=np.float64):
    """Numbers of such sizes that floats add up to other bits in any other order."""
    rng = np.random.default_rng(3)
    return (rng.standard_normal(num_rows) * 2.0 ** rng.integers(-9, 10, num_rows)).astype(dtype)


def keys_that_come_late(num_rows, num_late, dtype=np.int64):
    """Forty keys, and behind the rows that are looked at first ever more that are none of them."""
    rng = np.random.default_rng(5)
    keys = rng.integers(0, 40, num_rows)
    is_late = (rng.random(num_rows) < 0.02) & (np.arange(num_rows) > num_rows // 2)
    late = rng.integers(-num_late, 0, num_rows)
    return (np.where(is_late, late, keys) * 977).astype(dtype)


def keys_that_turn_many(num_rows):
    """Forty keys, and from the middle on a new one in nearly every row."""
    rng = np.random.default_rng(6)
    keys = rng.integers(0, 40, num_rows)
    return np.where(np.arange(num_rows) < num_rows // 2, keys, rng.integers(0, 2**62, num_rows))


KEYS_TO_ADD_BY = {
    **{
        name: functools.partial(make_keys, name, FEW_ROWS, np.int64)
        for name in ("uniform", "zipf", "four_values", "sorted", "reversed", "constant")
    },
    "late": lambda: keys_that_come_late(FEW_ROWS, 300),
    "many late": lambda: keys_that_come_late(900_000, 40_000),
    "turn many": lambda: keys_that_turn_many(FEW_ROWS),
    "a few thousand": lambda: np.random.default_rng(1).integers(0, 9_000, 400_000) << 40,
}


@pytest.mark.parametrize("name", KEYS_TO_ADD_BY)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint32])
def test_sums_are_in_the_order_of_the_rows(name, dtype):
    keys = KEYS_TO_ADD_BY[name]()
    values = unlike_numbers(len(keys), np.float64) * 1000
    values = values.astype(np.int64).astype(dtype) if dtype(0.5) == 0 else values.astype(dtype)
    for num_valid in (len(keys) - 1, len(keys) // 3):
        unique_keys, totals = expected_sums(keys, values, num_valid)
        count = len(unique_keys)
        for capacity in (len(keys), count // 2):
            with noting((num_valid, capacity)):
                actual = jax.jit(sums, static_argnums=3)(keys, values, num_valid, capacity)
                assert actual.num_runs == count
                room = np.zeros(max(capacity - count, 0), np.int64)
                wanted = np.append(unique_keys[:capacity], room)
                oracles.assert_same_bits(actual.unique_keys, wanted.astype(np.int64))
                wanted = np.append(totals[:capacity], room.astype(dtype))
                oracles.assert_same_bits(actual.values, wanted)


@functools.partial(jax.jit, static_argnums=(3, 4))
def by_definition(keys, values, num_valid, ops, capacity):
    """The sort and the runs of equal keys, whatever serves on this platform."""
    columns = keys if isinstance(keys, tuple) else (keys,)
    columns, reduced, count = _reduce_by_key._reduce_runs(
        columns, values, num_valid, ops, capacity, False, 0
    )
    return local.ReducedRuns(columns if isinstance(keys, tuple) else columns[0], reduced, count)


@needs_kernels
@pytest.mark.parametrize(
    ("dtype", "value_dtype"),
    [
        ("bool", "float32"),
        ("int8", "int64"),
        ("int32", "bool"),
        ("uint64", "float64"),
        ("float16", "int32"),
        ("float32", "uint64"),
        ("float64", "bfloat16"),
        ("pair", "float16"),
    ],
)
def test_the_kernel_agrees_with_the_sort(dtype, value_dtype):
    num_rows, is_pair = 40_000, dtype == "pair"
    key_dtype = np.dtype("int16" if is_pair else dtype)
    keys = [make_keys(name, num_rows, key_dtype) for name in distributions_for(key_dtype)]
    if is_pair:
        keys = [(key, make_keys("zipf", num_rows, np.int32)) for key in keys]
    values = jnp.asarray(unlike_numbers(num_rows).astype(jnp.dtype(value_dtype)))
    for key in jax.tree.map(jnp.asarray, keys):
        columns = key if is_pair else (key,)
        assert _reduce_by_key.has_sum_kernel(columns, values, jnp.int32(num_rows))
        for num_valid, capacity in ((num_rows, num_rows), (num_rows - 7, 100), (0, 100), (9, 0)):
            native = jax.jit(sums, static_argnums=3)(key, values, num_valid, capacity)
            expected = by_definition(key, [values], jnp.int32(num_valid), ("sum",), capacity)
            oracles.assert_same_bits(native, expected._replace(values=expected.values[0]))


# Several ops, and integer keys of a small range, which index a table

INDEXED_ROWS = _reduce_by_key.LEAST_INDEXED_ROWS + 3


def small_range(least, num_keys, dtype, seed=0):
    keys = np.random.default_rng(seed).integers(0, num_keys, INDEXED_ROWS)
    return (np.asarray(least).astype(dtype) + keys.astype(dtype)).astype(dtype)


KEYS_TO_INDEX_BY = {
    "int64": lambda: small_range(-500, 1000, np.int64),
    "least int64": lambda: small_range(-(2**63), 9, np.int64),
    "greatest uint64": lambda: small_range(2**64 - 1000, 1000, np.uint64),
    "uint32 past the range of int32": lambda: small_range(2**31 - 50, 100, np.uint32),
    "all of int8": lambda: small_range(-128, 256, np.int8),
    "uint16": lambda: small_range(0, 2**16, np.uint16),
    "bool": lambda: small_range(0, 2, np.bool_),
    "one key": lambda: np.full(INDEXED_ROWS, -7, np.int32),
    "few, far apart": lambda: small_range(0, 40, np.int64) << 50,
    "as many as rows": lambda: small_range(0, INDEXED_ROWS, np.int32),
    "three columns": lambda: (
        small_range(-2, 5, np.int64),
        small_range(0, 2, np.bool_, seed=1),
        small_range(200, 56, np.uint8, seed=2),
    ),
    "columns that fit only alone": lambda: (
        small_range(0, 50_000, np.int32),
        small_range(0, 50_000, np.int32, seed=1),
    ),
    "with floats": lambda: (small_range(0, 9, np.int8), small_range(0, 9, np.float32, seed=1)),
}


@pytest.mark.parametrize("name", KEYS_TO_INDEX_BY)
def test_every_choice_has_the_bits_of_the_sort(name):
    keys = jax.tree.map(jnp.asarray, KEYS_TO_INDEX_BY[name]())
    floats = jnp.asarray(unlike_numbers(INDEXED_ROWS))
    integers = jnp.asarray(np.random.default_rng(4).integers(-9, 9, INDEXED_ROWS))
    ops = ("sum", "count", "first", "min")
    values = [floats, floats, floats, integers]
    for some, capacity in ((ops, INDEXED_ROWS), (("sum",), 5)):
        leaves = values[: len(some)]
        for num_valid in (INDEXED_ROWS - 9, 0):
            with noting((num_valid, capacity, some)):
                actual = local.reduce_by_key(
                    keys, leaves, list(some), capacity=capacity, num_valid=num_valid
                )
                expected = by_definition(keys, leaves, jnp.int32(num_valid), some, capacity)
                oracles.assert_same_bits(actual, expected)


def test_indexed_sums_can_be_differentiated():
    keys = jnp.asarray(small_range(3, 11, np.int64))
    values, weights = jnp.asarray(unlike_numbers(INDEXED_ROWS)), jnp.arange(1.0, 21)

    def weighed(values):
        found = local.reduce_by_key(keys, [values, values], ["sum", "max"], capacity=20)
        return jnp.sum(weights * found.values[0]) + jnp.sum(found.values[1])

    found = jax.jit(jax.grad(weighed))(values)
    is_greatest = np.zeros(INDEXED_ROWS)
    for key in range(3, 14):
        rows = np.flatnonzero(np.asarray(keys) == key)
        is_greatest[rows[np.argmax(np.asarray(values)[rows])]] = 1
    np.testing.assert_array_equal(found, weights[keys - 3] + is_greatest)


def test_a_batch_of_indexed_and_other_keys():
    keys = jnp.stack([small_range(0, 9, np.int64), small_range(0, 9, np.int64) << 40])
    values = jnp.asarray(unlike_numbers(2 * INDEXED_ROWS).reshape(2, -1))

    def reduce(keys, values):
        return local.reduce_by_key(keys, [values, values], ["sum", "count"], capacity=12)

    actual = jax.vmap(reduce)(keys, values)
    for row in range(2):
        oracles.assert_same_bits(
            jax.tree.map(lambda leaf, row=row: leaf[row], actual), reduce(keys[row], values[row])
        )


@pytest.mark.parametrize("spread", ["both", "keys", "values"])
def test_indexed_keys_of_each_shard(spread):
    mesh = shardings.make_mesh(2)
    keys = jnp.stack([small_range(0, 9, np.int64), small_range(0, 9, np.int64, 1) << 40])
    values = jnp.asarray(unlike_numbers(2 * INDEXED_ROWS).reshape(2, -1))
    rows, same = jax.P(mesh.axis_names), jax.P()
    key_rows, value_rows = (
        rows if spread in ("both", name) else same for name in ("keys", "values")
    )

    def of_shard(keys, values):
        ops = ["sum", "count"]
        found = local.reduce_by_key(keys[0], [values[0]] * 2, ops, capacity=12)
        return jax.tree.map(lambda leaf: leaf[None], found)

    specs = local.ReducedRuns(key_rows, [rows, rows], key_rows)
    mapped = jax.shard_map(of_shard, mesh=mesh, in_specs=(key_rows, value_rows), out_specs=specs)
    actual = jax.jit(mapped)(keys, values)
    for shard in range(2):
        at_keys, at_values = (shard if spec == rows else 0 for spec in (key_rows, value_rows))
        expected = local.reduce_by_key(
            keys[at_keys], [values[at_values]] * 2, ["sum", "count"], capacity=12
        )
        oracles.assert_same_bits(actual.unique_keys[at_keys], expected.unique_keys)
        assert actual.num_runs[at_keys] == expected.num_runs
        for leaf, wanted in zip(actual.values, expected.values, strict=True):
            oracles.assert_same_bits(leaf[shard], wanted)


def test_sums_of_zeros_and_nans():
    keys = np.array([-0.0, np.nan, 0.0, -np.nan, 1.0, 1.0])
    values = np.array([-0.0, 2.0, -0.0, 3.0, np.nan, 1.0])
    found = sums(keys, values, capacity=4)
    oracles.assert_same_bits(found.unique_keys, np.append(keys[[0, 4, 1]], 0))
    oracles.assert_same_bits(found.values[np.array([0, 2, 3])], np.array([0.0, 5.0, 0.0]))
    assert np.isnan(found.values[1])


def test_integer_sums_wrap():
    found = sums(np.zeros(3, np.int64), np.array([2**31 - 1, 1, 5], np.int32), capacity=1)
    assert found.values.tolist() == [-(2**31) + 5]


def test_sums_can_be_differentiated():
    keys = jnp.asarray(make_keys("zipf", NUM_ROWS, np.int64))
    values = jnp.asarray(unlike_numbers(NUM_ROWS))
    num_valid = NUM_ROWS - 11
    inverse = np.unique(keys[:num_valid], return_inverse=True)[1]
    weights = np.random.default_rng(0).standard_normal(NUM_ROWS)

    def weighed(values):
        return jnp.sum(weights * sums(keys, values, num_valid).values)

    expected = np.append(weights[inverse], np.zeros(NUM_ROWS - num_valid))
    for grad in (jax.grad(weighed), jax.jit(jax.grad(weighed)), jax.jacfwd(weighed)):
        np.testing.assert_array_equal(grad(values), expected)
    # What does not fit has no part in any sum.
    few = jax.grad(lambda x: jnp.sum(sums(keys, x, num_valid, 3).values))(values)
    np.testing.assert_array_equal(few, np.append(inverse < 3, np.zeros(11)))

    def of_squares(values):
        return jnp.sum(sums(keys, values, num_valid).values ** 2)

    curved = jax.jvp(jax.grad(of_squares), (values,), (jnp.ones(NUM_ROWS),))[1]
    counts = np.bincount(inverse)[inverse]
    np.testing.assert_array_equal(curved, np.append(2 * counts, np.zeros(11)))


def test_sums_of_each_row_of_a_batch():
    keys = make_keys("uniform", 5 * 60, np.int64).reshape(5, 60) % 9
    values = unlike_numbers(300).reshape(5, 60)
    num_valid = np.array([60, 0, 1, 59, 30], np.int32)
    actual = jax.vmap(sums)(keys, values, num_valid)
    for row in range(5):
        expected = sums(keys[row], values[row], num_valid[row])
        oracles.assert_same_bits(
            [leaf[row] for leaf in jax.tree.leaves(actual)], jax.tree.leaves(expected)
        )


@pytest.mark.parametrize("spread", ["both", "keys", "values"])
def test_sums_of_each_shard(spread):
    mesh = shardings.make_mesh(4)
    rows, same = jax.P(mesh.axis_names), jax.P()
    keys = jnp.asarray(make_keys("four_values", 4 * 50, np.int64).reshape(4, 50))
    values = jnp.asarray(unlike_numbers(200).reshape(4, 50))
    key_rows, value_rows = (
        rows if spread in ("both", name) else same for name in ("keys", "values")
    )
    # Where keys do not vary their distinct ones do not either.
    specs = local.ReducedRuns(key_rows, rows, key_rows)

    def of_shard(keys, values):
        found = sums(keys[0], values[0])
        return found._replace(num_runs=found.num_runs[None])

    actual = jax.jit(
        jax.shard_map(of_shard, mesh=mesh, in_specs=(key_rows, value_rows), out_specs=specs)
    )(keys, values)
    for shard in range(4):
        at_keys = shard if key_rows == rows else 0
        expected = sums(keys[at_keys], values[shard if value_rows == rows else 0])
        oracles.assert_same_bits(actual.values[50 * shard :][:50], expected.values)
        oracles.assert_same_bits(actual.unique_keys[50 * at_keys :][:50], expected.unique_keys)
        assert actual.num_runs[at_keys] == expected.num_runs


def test_sums_are_exported_for_every_platform():
    shapes = [jax.ShapeDtypeStruct((NUM_ROWS,), dtype) for dtype in ("int64", "float64")]
    exported = jax.export.export(
        jax.jit(sums),
        platforms=("cpu", "cuda", "tpu"),
        disabled_checks=[jax.export.DisabledSafetyCheck.custom_call(name) for name in TARGETS],
    )(*shapes)
    keys, values = make_keys("zipf", NUM_ROWS, np.int64), unlike_numbers(NUM_ROWS)
    oracles.assert_same_bits(tuple(exported.call(keys, values)), tuple(sums(keys, values)))


# Errors word for word

KEYS = np.arange(5, dtype=np.int32)
ERRORS = [
    pytest.param(
        lambda: local.reduce_by_key(KEYS, KEYS, "median"),
        ValueError,
        "reduce_by_key: ops must be of 'sum', 'prod', 'min', 'max', 'count', 'mean', 'var', 'std', "
        "'logsumexp', 'first', 'last', 'any', 'all', got 'median'.",
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


def test_derivatives_of_no_rows():
    def total(values):
        return jnp.sum(local.reduce_by_key(jnp.zeros(0, jnp.int32), values, "sum").values)

    assert jax.grad(total)(jnp.zeros(0)).shape == (0,)
    assert jax.grad(lambda x: total(x[:, 0]) + total(x[:, 1]))(jnp.zeros((0, 2))).shape == (0, 2)
