# SPDX-License-Identifier: Apache-2.0
"""`local.inclusive_scan` and `local.exclusive_scan` against the NumPy oracle."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import local
from key_distributions import FLOAT_DTYPES, KEY_DTYPES, make_keys
from on_shards import noting
from quick_compilation import UNOPTIMISED
from scanned_rows import (
    ALL_SETTINGS,
    SETTINGS,
    assert_is_scan,
    named_row_op,
    rows_of,
)

NUM_ROWS = 19


def scan(x, op, reverse, exclusive, num_valid=None, initial=None):
    if exclusive:
        return local.exclusive_scan(x, op, reverse=reverse, num_valid=num_valid, initial=initial)
    return local.inclusive_scan(x, op, reverse=reverse, num_valid=num_valid)


@functools.partial(jax.jit, static_argnums=2, compiler_options=UNOPTIMISED)
def scans(x, num_valid, settings):
    """One program of many scans."""
    return [scan(x, *setting, num_valid) for setting in settings]


def check(x, num_valid, settings=SETTINGS):
    for actual, (op, reverse, exclusive) in zip(
        scans(x, num_valid, settings), settings, strict=True
    ):
        with noting((op, reverse, exclusive, num_valid)):
            assert_is_scan(actual, x, op, reverse=reverse, exclusive=exclusive, num_valid=num_valid)


# Matches the oracle


@pytest.mark.parametrize("dtype", KEY_DTYPES, ids=str)
def test_named_operators_of_every_dtype(dtype):
    settings = ALL_SETTINGS if dtype in (np.int32, np.float32) else SETTINGS
    for num_valid in (0, 1, NUM_ROWS - 1, NUM_ROWS):
        check(rows_of(dtype, NUM_ROWS), num_valid, settings)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_sums_and_products_of_complex_numbers(dtype):
    settings = tuple(setting for setting in SETTINGS if setting[0] in ("add", "mul"))
    check(rows_of(dtype, NUM_ROWS), NUM_ROWS - 3, settings)


@pytest.mark.parametrize("dtype", FLOAT_DTYPES, ids=str)
def test_extremes_of_zeros_infinities_and_nans(dtype):
    # The first of equal numbers wins, for either sign of zero, and the first NaN.
    settings = tuple(setting for setting in SETTINGS if setting[0] in ("min", "max"))
    for distribution in ("signed_zeros", "nan_inf_sprinkled", "four_values"):
        check(make_keys(distribution, NUM_ROWS, dtype), NUM_ROWS, settings)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("reverse", [False, True])
def test_zeros_keep_their_signs(dtype, reverse):
    way = slice(None, None, -1 if reverse else 1)
    for num_valid in (1, 2, 18, NUM_ROWS):
        for values in ([-0.0], [-0.0, 1.0], [-0.0, 0.0, -1.0, 2.0]):
            x = np.random.default_rng(num_valid).choice(np.array(values, dtype), NUM_ROWS)
            for op, function, oracle in (
                ("add", jnp.add, np.add), ("mul", jnp.multiply, np.multiply)
            ):  # fmt: skip
                expected = np.zeros(NUM_ROWS, dtype)
                expected[:num_valid] = oracle.accumulate(x[:num_valid][way])[way]
                for form in (op, function):
                    actual = local.inclusive_scan(x, form, reverse=reverse, num_valid=num_valid)
                    oracles.assert_same_bits(actual, expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_sum_meets_nan_and_infinity(dtype):
    x = np.array([-0.0, 1.0, np.inf, 2.0, -np.inf, 1.0, np.nan, 3.0], dtype)
    actual = jax.jit(local.inclusive_scan)(x)
    inf, nan = np.inf, np.nan
    expected = np.array([0.0, 1.0, inf, inf, nan, nan, nan, nan], dtype)
    np.testing.assert_array_equal(actual, expected)


def test_what_stands_before_the_first_row():
    x = rows_of(np.float32, NUM_ROWS)
    for op, reverse in (("add", False), ("mul", True), ("min", False), ("max", True)):
        with noting(op):
            actual = scan(x, op, reverse, True, NUM_ROWS - 2, initial=0.5)
            assert_is_scan(
                actual, x, op, reverse=reverse, exclusive=True, num_valid=NUM_ROWS - 2,
                initial=np.float32(0.5),
            )  # fmt: skip
    actual = local.exclusive_scan(np.array([True, False, True]), initial=False)
    oracles.assert_same_bits(actual, np.array([0, 1, 1], np.int32))


@pytest.mark.parametrize("initial", [5, -1, True, np.int32(5)])
def test_a_count_of_truths_starts_anywhere(initial):
    flags = np.array([True, False, True, True])
    counted = local.exclusive_scan(flags, initial=initial)
    oracles.assert_same_bits(counted, np.int32(initial) + np.array([0, 1, 1, 2], np.int32))


def test_leaves_of_any_shape_and_dtype():
    rows = {
        "flat": rows_of(np.int32, NUM_ROWS),
        "matrix": rows_of(np.float64, 6 * NUM_ROWS).reshape(NUM_ROWS, 2, 3),
        "empty": np.zeros((NUM_ROWS, 0), np.int8),
        "pair": (rows_of(np.uint8, NUM_ROWS), None),
    }
    for (op, reverse, exclusive), actual in zip(SETTINGS, scans(rows, 15, SETTINGS), strict=True):
        assert jax.tree.structure(actual) == jax.tree.structure(rows)
        for got, leaf in zip(jax.tree.leaves(actual), jax.tree.leaves(rows), strict=True):
            with noting((op, leaf.dtype)):
                assert_is_scan(got, leaf, op, reverse=reverse, exclusive=exclusive, num_valid=15)


@pytest.mark.usefixtures("x64_off")
def test_without_x64():
    for dtype in (np.float32, np.int8):
        check(rows_of(dtype, NUM_ROWS), 15, SETTINGS[:4])
    actual = local.inclusive_scan(jnp.ones((5, 2)), lambda left, right: left + right)
    oracles.assert_same_bits(actual, np.repeat(np.arange(1, 6, dtype=np.float32), 2).reshape(5, 2))


# Functions as operators


def test_an_affine_recurrence():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, NUM_ROWS))
    affine = named_row_op("affine")
    for reverse in (False, True):
        run = jax.jit(functools.partial(local.inclusive_scan, op=affine, reverse=reverse))
        for num_valid in (0, 1, NUM_ROWS - 5, NUM_ROWS):
            actual = run((a, b), num_valid=num_valid)
            state, expected = 0.0, np.zeros(NUM_ROWS)
            for row in range(num_valid)[:: -1 if reverse else 1]:
                expected[row] = state = state * a[row] + b[row]
            np.testing.assert_allclose(actual[1], expected, rtol=1e-9)


@pytest.mark.parametrize("reverse", [False, True])
def test_products_of_matrices_in_order(reverse):
    # Integers, so that the order of the operations does not matter and that of the factors does.
    x = np.random.default_rng(0).integers(-3, 4, (NUM_ROWS, 2, 2))
    run = functools.partial(jax.jit, static_argnames=("op", "reverse"))
    actual = run(local.inclusive_scan)(x, op=jnp.matmul, reverse=reverse, num_valid=15)
    expected = oracles.scan(x, np.matmul, reverse=reverse, num_valid=15)
    oracles.assert_same_bits(actual, expected)
    initial = np.array([[1, 2], [3, 4]])
    actual = run(local.exclusive_scan)(x, op=jnp.matmul, initial=initial, reverse=reverse)
    expected = oracles.scan(x, np.matmul, reverse=reverse, exclusive=True, initial=initial)
    oracles.assert_same_bits(actual, expected)


# Edge sizes


@pytest.mark.parametrize("num_rows", [0, 1, 2, 3, 255, 256, 257])
def test_edge_sizes(num_rows):
    settings = (("add", False, False), ("max", True, True))
    check(rows_of(np.int64, num_rows), num_rows, settings)
    actual = local.inclusive_scan(rows_of(np.int64, num_rows), lambda left, right: left | right)
    np.testing.assert_array_equal(actual, np.bitwise_or.accumulate(rows_of(np.int64, num_rows)))


@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_a_million_rows(dtype):
    x = rows_of(dtype, 10**6)
    sums, maxima = jax.jit(
        lambda x: (local.inclusive_scan(x), local.inclusive_scan(x, "max", reverse=True))
    )(x)
    oracles.assert_same_bits(maxima, np.maximum.accumulate(x[::-1])[::-1])
    if dtype == "int32":
        oracles.assert_same_bits(sums, np.cumsum(x, dtype=dtype))
    else:
        bound = 10**6 * np.finfo(dtype).eps * np.cumsum(abs(x))
        assert (abs(np.asarray(sums) - np.cumsum(x.astype(np.longdouble))) <= bound).all()


# Laws


@pytest.mark.parametrize("distribution", ["zipf", "reversed", "all_max", "block_duplicated"])
def test_skewed_rows(distribution):
    x = make_keys(distribution, NUM_ROWS, np.dtype(np.int32))
    check(x, NUM_ROWS)
    inclusive, exclusive = local.inclusive_scan(x), local.exclusive_scan(x)
    oracles.assert_same_bits(inclusive - exclusive, x)
    oracles.assert_same_bits(
        local.inclusive_scan(x, "min", reverse=True), local.inclusive_scan(x[::-1], "min")[::-1]
    )


@pytest.mark.parametrize(("name", "synonym"), [("sum", "add"), ("prod", "mul")])
def test_scans_and_reductions_take_both_names_of_an_operation(name, synonym):
    x = np.array([3, 1, 4, 2], np.int32)
    segment_ids = np.array([0, 0, 1, 1], np.int32)
    calls = [
        lambda op: local.inclusive_scan(x, op),
        lambda op: local.reduce(x, op),
        lambda op: local.segment_reduce(x, segment_ids, 2, op),
        lambda op: local.windowed_reduce(x, 2, op).values,
        lambda op: local.reduce_by_key(segment_ids, x, capacity=2, ops=op).values,
    ]
    for call in calls:
        np.testing.assert_array_equal(call(synonym), call(name))
    np.testing.assert_array_equal(local.reduce(x, synonym)[0], {"sum": 10, "prod": 24}[name])


# Errors word for word

X = np.arange(5, dtype=np.int32)
ERRORS = [
    pytest.param(
        lambda: local.inclusive_scan(X, "mean"),
        ValueError,
        "inclusive_scan: op must be 'sum', 'prod', 'min', 'max' or an associative function of two "
        "rows, got 'mean'.",
        id="name",
    ),
    pytest.param(
        lambda: local.inclusive_scan((), "add"),
        ValueError,
        "inclusive_scan: x must hold at least one array, got an empty pytree.",
        id="no rows",
    ),
    pytest.param(
        lambda: local.inclusive_scan(X + 1j, "max"),
        TypeError,
        "inclusive_scan: complex numbers have no max, got complex128[5]. "
        "Scan real and imaginary parts.",
        id="complex",
    ),
    pytest.param(
        lambda: local.inclusive_scan(X, lambda left, right: left + 0.5),
        TypeError,
        "inclusive_scan: op must return a row like those that it takes, int32[], got float64[].",
        id="returns another dtype",
    ),
    pytest.param(
        lambda: local.inclusive_scan((X, X), lambda left, right: left[0]),
        TypeError,
        "inclusive_scan: op must return a row like those that it takes, (int32[], int32[]), "
        "got int32[].",
        id="returns another pytree",
    ),
    pytest.param(
        lambda: local.exclusive_scan(X, jnp.add),
        ValueError,
        "exclusive_scan: an exclusive scan by a function needs initial, the value before the "
        "first row, got None.",
        id="no initial",
    ),
    pytest.param(
        lambda: local.exclusive_scan(X, initial=np.float32(1)),
        ValueError,
        "exclusive_scan: initial must be like a row of x, int32[], got float32[].",
        id="initial of another dtype",
    ),
    pytest.param(
        lambda: local.exclusive_scan((X, X), initial=[1, 2]),
        ValueError,
        "exclusive_scan: initial must be one number, or a pytree like x, PyTreeDef((*, *)), "
        "got PyTreeDef([*, *]).",
        id="initial of another structure",
    ),
    pytest.param(
        lambda: local.exclusive_scan(X, initial=2.5),
        ValueError,
        "exclusive_scan: initial must be a number of int32, got 2.5.",
        id="initial between two integers",
    ),
    pytest.param(
        lambda: local.exclusive_scan(X.astype(np.int8), initial=-129),
        ValueError,
        "exclusive_scan: initial must be a number of int8, got -129.",
        id="initial out of range",
    ),
]


@pytest.mark.checks_arguments
@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_refuses(call, error, message):
    with jax.numpy_dtype_promotion("standard"), pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message
