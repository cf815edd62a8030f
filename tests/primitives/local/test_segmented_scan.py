# SPDX-License-Identifier: Apache-2.0
"""`local.segmented_scan` against the NumPy oracle."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jax.test_util import check_grads
from jaxframes.primitives import local
from key_distributions import INTEGER_DTYPES, make_keys
from on_shards import noting
from quick_compilation import UNOPTIMISED
from scanned_rows import (
    SETTINGS,
    assert_is_scan,
    head_flags,
    rows_of,
    weighted,
)

NUM_ROWS = 19


@functools.partial(jax.jit, static_argnames="settings", compiler_options=UNOPTIMISED)
def scans(x, num_valid, settings=SETTINGS, **segments):
    return [
        local.segmented_scan(
            x, op, reverse=reverse, exclusive=exclusive, num_valid=num_valid, **segments
        )
        for op, reverse, exclusive in settings
    ]


def check(x, flags, num_valid, settings=SETTINGS, **segments):
    segments = segments or {"head_flags": flags}
    results = scans(x, num_valid, settings, **segments)
    for actual, (op, reverse, exclusive) in zip(results, settings, strict=True):
        with noting((op, reverse, exclusive, num_valid)):
            assert_is_scan(
                actual, x, op, head_flags=flags, reverse=reverse, exclusive=exclusive,
                num_valid=num_valid,
            )  # fmt: skip


# Matches the oracle


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "int64", "bfloat16", "float64"])
def test_segments_by_head_flags(dtype):
    for mean_length in (1, 2, 5, 1000):
        flags = head_flags(NUM_ROWS, mean_length)
        for num_valid in (0, 1, NUM_ROWS - 4, NUM_ROWS):
            with noting(mean_length):
                check(rows_of(np.dtype(dtype), NUM_ROWS), flags, num_valid)


@pytest.mark.parametrize("dtype", INTEGER_DTYPES, ids=str)
def test_segments_by_ids_of_any_integer_dtype(dtype):
    # Separate runs of one id are separate segments.
    limits = np.iinfo(dtype)
    ids = np.array([limits.max, limits.min, limits.max, 0, 0], dtype).repeat(4)[:NUM_ROWS]
    settings = (("add", False, False), ("max", True, True))
    flags = oracles.head_flags_of(ids)
    assert flags.sum() == 4
    for num_valid in (NUM_ROWS, 6):
        check(rows_of(np.int32, NUM_ROWS), flags, num_valid, settings, segment_ids=ids)


@pytest.mark.parametrize("distribution", ["zipf", "sorted", "constant", "block_duplicated"])
def test_skewed_ids(distribution):
    ids = make_keys(distribution, NUM_ROWS, np.dtype(np.int32))
    check(rows_of(np.int32, NUM_ROWS), oracles.head_flags_of(ids), NUM_ROWS, segment_ids=ids)


@pytest.mark.parametrize("num_rows", [0, 1, 2, 255, 256, 257])
def test_edge_sizes(num_rows):
    flags = head_flags(num_rows, 5)
    check(rows_of(np.int32, num_rows), flags, num_rows, (("add", False, False),))


def test_a_million_rows():
    x, flags = rows_of(np.int64, 10**6), head_flags(10**6, 1000)
    sums, reverse_sums = jax.jit(
        lambda x, flags: (
            local.segmented_scan(x, head_flags=flags),
            local.segmented_scan(x, head_flags=flags, reverse=True),
        )
    )(x, flags)
    starts = np.maximum.accumulate(np.where(flags, np.arange(10**6), 0))
    exclusive = np.cumsum(x) - x
    oracles.assert_same_bits(sums, np.cumsum(x) - exclusive[starts])
    # A row counts in both directions, and the sum of the segment in each.
    ends = np.searchsorted(np.flatnonzero(flags), np.arange(10**6), side="right")
    ends = np.append(np.flatnonzero(flags), 10**6)[ends] - 1
    oracles.assert_same_bits(reverse_sums, np.cumsum(x)[ends] - exclusive)


@pytest.mark.parametrize("reverse", [False, True])
def test_a_function_as_operator(reverse):
    x = np.random.default_rng(0).integers(-3, 4, (NUM_ROWS, 2, 2))
    flags, initial = head_flags(NUM_ROWS, 4), np.array([[1, 2], [3, 4]])

    @jax.jit
    def run(x, flags, num_valid):
        scan = functools.partial(
            local.segmented_scan, x, jnp.matmul, head_flags=flags, reverse=reverse,
            num_valid=num_valid,
        )  # fmt: skip
        return scan(), scan(exclusive=True, initial=initial)

    for num_valid in (NUM_ROWS, 9, 8, 7, 0):
        settings = {"head_flags": flags, "reverse": reverse, "num_valid": num_valid}
        inclusive, exclusive = run(x, flags, num_valid)
        oracles.assert_same_bits(inclusive, oracles.scan(x, np.matmul, **settings))
        expected = oracles.scan(x, np.matmul, exclusive=True, initial=initial, **settings)
        oracles.assert_same_bits(exclusive, expected)


def test_what_stands_before_each_segment():
    x, flags = rows_of(np.int32, NUM_ROWS), head_flags(NUM_ROWS, 4)
    actual = local.segmented_scan(x, head_flags=flags, exclusive=True, initial=7, num_valid=15)
    assert_is_scan(
        actual, x, "add", head_flags=flags, exclusive=True, initial=np.int32(7), num_valid=15
    )


# Transformations: jit is everywhere above


def test_vmap_scans_each_row_of_the_batch():
    x = rows_of(np.float32, 6 * NUM_ROWS).reshape(2, 3, NUM_ROWS)
    flags = head_flags(6 * NUM_ROWS, 4).reshape(x.shape)
    counts = np.array([[NUM_ROWS, 0, 3], [1, 7, NUM_ROWS - 1]], np.int32)

    def of_row(x, flags, num_valid):
        pair = jnp.stack([x, x], axis=1)
        scan = functools.partial(local.segmented_scan, head_flags=flags, num_valid=num_valid)
        return scan(x, "max", reverse=True), scan(pair)

    maxima, sums = jax.jit(jax.vmap(jax.vmap(of_row)))(x, flags, counts)
    for place in np.ndindex(2, 3):
        settings = {"head_flags": flags[place], "num_valid": counts[place]}
        with noting(place):
            assert_is_scan(maxima[place], x[place], "max", reverse=True, **settings)
            assert_is_scan(sums[place][:, 1], x[place], "add", **settings)


# Derivatives


def test_derivatives_of_products_with_zeros_among_the_factors():
    x, flags = np.array([0.5, 0.0, 2.0, 0.0, 1.5, 3.0]), np.array([0, 0, 0, 0, 1, 0], bool)

    def scans(x):
        scan = functools.partial(local.segmented_scan, op="mul", head_flags=flags)
        return scan(jnp.sin(x), num_valid=5), scan(x, exclusive=True, reverse=True)

    check_grads(jax.jit(weighted(scans)), (x,), order=2, modes=("fwd", "rev"))


def test_the_derivative_of_a_tie_goes_to_the_row_that_stands():
    x, flags = np.array([1.0, 3.0, 3.0, 2.0, 3.0]), np.array([0, 0, 0, 1, 0], bool)
    _, tangent = jax.jvp(
        lambda x: local.segmented_scan(x, "max", head_flags=flags), (x,), (np.arange(5.0),)
    )
    assert tangent.tolist() == [0, 1, 1, 3, 4]


def test_an_infinity_does_not_reach_the_derivatives_of_other_segments():
    x, flags = jnp.array([2.0, np.inf, 3.0, 4.0]), np.array([0, 0, 1, 0], bool)
    gradient = jax.grad(lambda x: local.segmented_scan(x, "mul", head_flags=flags)[2:].sum())(x)
    assert gradient[2:].tolist() == [5, 3]


# Errors word for word

X = np.arange(5, dtype=np.int32)
FLAGS = np.ones(5, bool)
ERRORS = [
    pytest.param(
        {},
        ValueError,
        "segmented_scan: segments are given by head_flags or by segment_ids, got neither.",
        id="neither",
    ),
    pytest.param(
        {"head_flags": FLAGS, "segment_ids": X},
        ValueError,
        "segmented_scan: segments are given by head_flags or by segment_ids, got both.",
        id="both",
    ),
    pytest.param(
        {"head_flags": X},
        TypeError,
        "segmented_scan: head_flags must be bool, got int32[5]. Pass segment_ids if they are ids.",
        id="flags",
    ),
    pytest.param(
        {"segment_ids": X / 2},
        TypeError,
        "segmented_scan: segment_ids must be integers, got float64[5].",
        id="ids",
    ),
    pytest.param(
        {"segment_ids": X[:4]},
        ValueError,
        "segmented_scan: segment_ids must have one entry for each of the 5 rows, got int32[4].",
        id="length",
    ),
    pytest.param(
        {"head_flags": FLAGS, "initial": 0},
        ValueError,
        "segmented_scan: initial is for exclusive scans only, got it for an inclusive one. "
        "Pass exclusive=True, or leave initial out.",
        id="initial",
    ),
]


@pytest.mark.checks_arguments
@pytest.mark.parametrize(("options", "error", "message"), ERRORS)
def test_refuses(options, error, message):
    with pytest.raises(error) as raised:
        local.segmented_scan(X, **options)
    assert str(raised.value) == message
