# SPDX-License-Identifier: Apache-2.0
"""`local.segment_quantile`, `segment_nunique` and `segment_rank` against NumPy and pandas."""

import functools
from typing import get_args

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pandas as pd
import pytest
from jax.test_util import check_grads
from jaxframes.primitives import local
from jaxframes.primitives.local import _segment_nunique
from jaxframes.primitives.local._between_ranks import Interpolation
from jaxframes.primitives.local._segment_rank import RankMethod
from key_distributions import KEY_DTYPES, distributions_for, make_keys
from on_shards import noting
from quick_compilation import UNOPTIMISED

NUM_ROWS = 37
NUM_SEGMENTS = 5
# Each method in one direction.
METHODS = {method: i % 2 == 1 for i, method in enumerate(get_args(RankMethod))}
INTERPOLATIONS = get_args(Interpolation)
Q = np.array([0.0, 0.25, 0.3, 0.5, 0.9, 1.0])


def segment_ids(num_rows=NUM_ROWS, dtype=np.int32, first=-1):
    """Ids, some out of range on either side; the last segment has no row."""
    ids = np.random.default_rng(3).integers(first, NUM_SEGMENTS + 1, num_rows)
    return np.where(ids == NUM_SEGMENTS - 1, 0, ids).astype(dtype)


@functools.partial(jax.jit, compiler_options=UNOPTIMISED)
def ranks(x, ids, num_valid):
    rank = functools.partial(local.segment_rank, x, ids, NUM_SEGMENTS, num_valid=num_valid)
    return [rank(method=method, descending=descending) for method, descending in METHODS.items()]


@functools.partial(jax.jit, compiler_options=UNOPTIMISED)
def quantiles(x, ids, num_valid):
    find = functools.partial(local.segment_quantile, x, ids, NUM_SEGMENTS, Q)
    return [
        find(interpolation=interpolation, num_valid=num_valid, dtype=np.float64)
        for interpolation in INTERPOLATIONS
    ]


count = jax.jit(local.segment_nunique, static_argnums=2, compiler_options=UNOPTIMISED)


def check(x, ids, num_valid):
    expected = functools.partial(oracles.segment_rank, x, ids, NUM_SEGMENTS, num_valid=num_valid)
    for actual, (method, descending) in zip(ranks(x, ids, num_valid), METHODS.items(), strict=True):
        with noting(method):
            oracles.assert_same_bits(actual, expected(method=method, descending=descending))
    found = count(x, ids, NUM_SEGMENTS, num_valid=num_valid)
    of = (x, ids, NUM_SEGMENTS)
    oracles.assert_same_bits(found, oracles.segment_nunique(*of, num_valid=num_valid))
    # XLA computes with subnormal numbers as zero.
    subnormal = float(jnp.finfo(x.dtype).tiny) if jnp.issubdtype(x.dtype, jnp.floating) else 0
    for actual, how in zip(quantiles(x, ids, num_valid), INTERPOLATIONS, strict=True):
        with noting(how):
            wanted = oracles.segment_quantile(*of, Q, interpolation=how, num_valid=num_valid)
            np.testing.assert_allclose(actual, wanted, rtol=1e-12, atol=subnormal)


# Matches the oracles


@pytest.mark.parametrize("dtype", KEY_DTYPES, ids=str)
def test_every_dtype(dtype):
    names = {"four_values", "uniform", "signed_zeros", "nan_inf_sprinkled", "denormals"}
    for name in sorted(names & {*distributions_for(dtype)}):
        with noting(name):
            check(make_keys(name, NUM_ROWS, dtype), segment_ids(), NUM_ROWS)


@pytest.mark.parametrize("most_rows", [1, 3, 8, 9])
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
@pytest.mark.parametrize("num_valid", [0, 20, None])
def test_numbers_of_distinct_values_of_sorted_ids(most_rows, dtype, num_valid):
    rng = np.random.default_rng(most_rows)
    ids = np.repeat(np.arange(12), rng.integers(0, most_rows + 1, 12))
    ids = np.concatenate([ids, np.full(most_rows, 13)]).astype(np.int32)
    x = rng.integers(0, 3, len(ids)).astype(dtype)
    if dtype == "float32":
        x[x == 0] = -0.0
        x[rng.random(len(x)) < 0.2] = 0.0
    num_valid = None if num_valid is None else min(num_valid, len(ids))
    wanted = oracles.segment_nunique(x, ids, 14, num_valid=num_valid)
    oracles.assert_same_bits(count(x, ids, 14, num_valid=num_valid), wanted)
    columns = (x, x % 2) if dtype == "int64" else (x, x)
    oracles.assert_same_bits(count(columns, ids, 14, num_valid=num_valid), wanted)


@pytest.mark.parametrize("shuffled", [0, 1, 2])
def test_numbers_of_distinct_values_of_batches_of_many_short_runs(shuffled):
    # The last segments are out of range, and the last rows have none.
    rng = np.random.default_rng(shuffled)
    ids = np.repeat(np.arange(15_000, dtype=np.int32), rng.integers(0, 8, 15_000))
    ids = np.concatenate([ids, np.full(99, -1, np.int32)])
    batch = np.stack([ids, ids, ids])
    for row in batch[:shuffled]:
        rng.shuffle(row)
    x = rng.integers(0, 3, batch.shape)
    find = jax.vmap(lambda x, ids: local.segment_nunique(x, ids, 14_000))
    expected = pd.DataFrame({"batch": np.repeat([0, 1, 2], len(ids)), "id": batch.ravel()})
    expected = expected.assign(x=x.ravel()).groupby(["batch", "id"])["x"].nunique()
    expected = expected.unstack(fill_value=0).reindex(columns=range(14_000), fill_value=0)
    for found in (
        find(x, batch),
        [local.segment_nunique(*row, 14_000) for row in zip(x, batch, strict=True)],
    ):
        np.testing.assert_array_equal(found, expected.to_numpy())


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint64])
@pytest.mark.parametrize("span", [0, 8, 15, 16, 2**31])
def test_numbers_of_distinct_integers_of_many_rows(monkeypatch, dtype, span):
    # A table of eight slots for each of five segments.
    monkeypatch.setattr(_segment_nunique, "MOST_SLOTS", 40)
    monkeypatch.setattr(_segment_nunique, "LEAST_DIGITS", 8)
    rng = np.random.default_rng(span)
    least = int(np.iinfo(dtype).max) - span if span < 16 else int(np.iinfo(dtype).min)
    span = min(span, int(np.iinfo(dtype).max) - least)
    digits = [0, span, *rng.integers(0, min(span, 7) + 1, 45).tolist()]
    x = np.array([least + digit for digit in digits], dtype)
    ids = segment_ids(len(x))
    found = local.segment_nunique(x, ids, NUM_SEGMENTS)
    oracles.assert_same_bits(found, oracles.segment_nunique(x, ids, NUM_SEGMENTS))
    found = local.segment_nunique(x, ids, NUM_SEGMENTS, num_valid=41)
    expected = oracles.segment_nunique(x, ids, NUM_SEGMENTS, num_valid=41)
    oracles.assert_same_bits(found, expected)


# Ids take three bits, so ranges of 61 bits and less are packed with them into one word.
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
@pytest.mark.parametrize("span", [0, 3, 2**61 - 1, 2**61, 2**64 - 1])
@pytest.mark.parametrize("place", ["least", "greatest", "middle"])
def test_numbers_of_distinct_integers_of_any_range(dtype, span, place):
    limits = np.iinfo(dtype)
    room = int(limits.max) - int(limits.min) - span
    least = int(limits.min) + {"least": 0, "greatest": room, "middle": room // 2}[place]
    digits = np.random.default_rng(0).integers(0, 4, NUM_ROWS).tolist()
    x = np.array([least + digit * (span // 3) for digit in digits], dtype)
    x[:2] = least, least + span
    found = count(x, segment_ids(), NUM_SEGMENTS)
    oracles.assert_same_bits(found, oracles.segment_nunique(x, segment_ids(), NUM_SEGMENTS))


@pytest.mark.parametrize("num_valid", [0, 1, NUM_ROWS - 1])
def test_rows_that_do_not_count(num_valid):
    check(make_keys("uniform", NUM_ROWS, np.dtype(np.int16)), segment_ids(), num_valid)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint32", "int64", "uint64"])
def test_ids_of_any_integer_dtype(dtype):
    x = make_keys("four_values", NUM_ROWS, np.dtype(np.int32))
    is_signed = np.issubdtype(dtype, np.signedinteger)
    ids = segment_ids(dtype=dtype, first=-1 if is_signed else 0)
    actual = local.segment_rank(x, ids, NUM_SEGMENTS)
    oracles.assert_same_bits(actual, oracles.segment_rank(x, ids, NUM_SEGMENTS))


def test_nan_has_no_rank_and_zeros_of_both_signs_tie():
    x = np.array([np.nan, 0.0, -0.0, 1.0, -np.inf, np.nan, np.nan])
    ids = np.array([0, 0, 0, 0, 1, 1, 2], np.int32)
    average = local.segment_rank(x, ids, 3)
    np.testing.assert_array_equal(average, [np.nan, 1.5, 1.5, 3, 1, np.nan, np.nan])
    dense = local.segment_rank(x, ids, 3, method="dense")
    np.testing.assert_array_equal(dense, [0, 1, 1, 2, 1, 0, 0])
    assert count(x, ids, 3).tolist() == [2, 1, 0]
    median = local.segment_quantile(x, ids, 3)
    np.testing.assert_array_equal(median, [0, -np.inf, np.nan])


def test_infinities():
    inf, nan = np.inf, np.nan
    x = np.array([-inf, 1.0, inf, inf, -inf, inf])
    ids = np.array([0, 0, 0, 1, 2, 2], np.int32)
    for how in ("linear", "midpoint"):
        # pandas gives NaN for the first, by subtracting infinities.
        expected = [[-inf, 1.0, inf], [inf, inf, inf], [nan, nan, nan]]
        actual = local.segment_quantile(x, ids, 3, [0.25, 0.5, 0.75], interpolation=how)
        np.testing.assert_array_equal(actual, expected, err_msg=how)
    groups = pd.Series(x).groupby(ids)
    for how in ("lower", "higher", "nearest"):
        expected = np.stack([groups.quantile(q, interpolation=how) for q in (0.25, 0.5, 0.75)], 1)
        actual = local.segment_quantile(x, ids, 3, [0.25, 0.5, 0.75], interpolation=how)
        np.testing.assert_array_equal(actual, expected, err_msg=how)


def test_ranks_and_counts_of_several_columns():
    rng = np.random.default_rng(0)
    columns = (
        *rng.integers(0, 3, (2, NUM_ROWS)).astype(np.int8),
        make_keys("nan_inf_sprinkled", NUM_ROWS, np.dtype(np.float32)),
    )
    ids, descending = segment_ids(), (True, False, True)
    actual = local.segment_rank(columns, ids, NUM_SEGMENTS, descending=descending)
    expected = oracles.segment_rank(columns, ids, NUM_SEGMENTS, descending=descending)
    oracles.assert_same_bits(actual, expected)
    oracles.assert_same_bits(
        count(columns, ids, NUM_SEGMENTS), oracles.segment_nunique(columns, ids, NUM_SEGMENTS)
    )


@pytest.mark.parametrize("dtype", [np.float16, jnp.bfloat16, np.float32, np.int32])
def test_the_dtype_of_quantiles(dtype):
    x = make_keys("uniform", NUM_ROWS, np.dtype(dtype))
    found = local.segment_quantile(x, segment_ids(), NUM_SEGMENTS)
    assert found.dtype == (np.float64 if dtype == np.int32 else dtype)
    wide = local.segment_quantile(x, segment_ids(), NUM_SEGMENTS, dtype=np.float32)
    assert wide.dtype == np.float32


@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_the_shape_of_q(shape):
    x, q = make_keys("uniform", NUM_ROWS, np.dtype(float)), np.full(shape, 0.5)
    found = local.segment_quantile(x, segment_ids(), NUM_SEGMENTS, q)
    assert found.shape == (NUM_SEGMENTS, *shape)
    expected = oracles.segment_quantile(x, segment_ids(), NUM_SEGMENTS, q)
    np.testing.assert_allclose(found, expected, rtol=1e-15)


# Edge sizes and skew


@pytest.mark.parametrize("num_rows", [0, 1, 16])
def test_lengths(num_rows):
    x = make_keys("uniform", num_rows, np.dtype(np.float32))
    check(x, segment_ids(num_rows), num_rows)


@pytest.mark.parametrize("name", ["one", "a row each", "none"])
def test_skew(name):
    ids = {"one": 2, "a row each": np.arange(NUM_ROWS), "none": -1}[name]
    ids = np.broadcast_to(np.int32(ids), NUM_ROWS)
    check(make_keys("zipf", NUM_ROWS, np.dtype(np.int64)), ids, NUM_ROWS)


def test_more_segments_than_rows():
    x, ids = np.array([3, 1, 2], np.int32), np.array([999_999, 5, 999_999])
    assert local.segment_rank(x, ids, 10**6, method="min").tolist() == [2, 1, 1]
    assert local.segment_nunique(x, ids, 10**6)[-1] == 2
    assert local.segment_quantile(x, ids, 10**6)[-1] == 2.5


# Transformations


def test_vmap():
    x = np.stack([make_keys("zipf", NUM_ROWS, np.dtype(np.int32), seed=seed) for seed in range(3)])
    ids = np.stack([np.roll(segment_ids(), shift) for shift in range(3)])
    rank = functools.partial(local.segment_rank, num_segments=NUM_SEGMENTS, method="max")
    for seed, actual in enumerate(jax.jit(jax.vmap(rank))(x, ids)):
        expected = oracles.segment_rank(x[seed], ids[seed], NUM_SEGMENTS, method="max")
        oracles.assert_same_bits(actual, expected)


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
def test_derivatives(interpolation):
    x = np.random.default_rng(0).permutation(NUM_ROWS) / 2

    def find(x):
        ids = np.where(segment_ids() < 0, 1, segment_ids())
        found = local.segment_quantile(x, ids, NUM_SEGMENTS, Q, interpolation=interpolation)
        return found[:-1]

    check_grads(find, (x,), 2, eps=1e-3)


@pytest.mark.usefixtures("x64_off")
def test_without_x64():
    x = make_keys("four_values", NUM_ROWS, np.dtype(np.float32))
    found = local.segment_rank(x, segment_ids(), NUM_SEGMENTS)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, oracles.segment_rank(x, segment_ids(), NUM_SEGMENTS))
    median = local.segment_quantile(np.arange(4, dtype=np.int32), np.zeros(4, np.int32), 1)
    assert (median.dtype, median.tolist()) == (np.float32, [1.5])


# Errors word for word; those about keys are in test_key_errors.py

X, IDS = np.arange(5, dtype=np.int32), np.zeros(5, np.int32)
ERRORS = [
    pytest.param(
        lambda: local.segment_rank(X, X.astype(float), 2),
        TypeError,
        "segment_rank: segment_ids must be integers, got float64[5].",
        id="float ids",
    ),
    pytest.param(
        lambda: local.segment_nunique(X, IDS[:4], 2),
        ValueError,
        "segment_nunique: segment_ids must have one entry for each of the 5 rows, got int32[4].",
        id="length",
    ),
    pytest.param(
        lambda: local.segment_quantile(X, IDS, 0),
        ValueError,
        "segment_quantile: num_segments must be in [1, 2147483647], got 0.",
        id="no segments",
    ),
    pytest.param(
        lambda: local.segment_rank(X, IDS, 2, method="ordinal"),
        ValueError,
        "segment_rank: method must be one of 'average', 'min', 'max', 'first', 'dense', "
        "got 'ordinal'.",
        id="method",
    ),
    pytest.param(
        lambda: local.segment_quantile(X, IDS, 2, 1.5),
        ValueError,
        "segment_quantile: q must lie in [0, 1], got 1.5.",
        id="q",
    ),
    pytest.param(
        lambda: local.segment_quantile(X, IDS, 2, interpolation="cubic"),
        ValueError,
        "segment_quantile: interpolation must be one of 'linear', 'lower', 'higher', 'midpoint', "
        "'nearest', got 'cubic'.",
        id="interpolation",
    ),
    pytest.param(
        lambda: local.segment_quantile(X, IDS, 2, dtype=np.int32),
        TypeError,
        "segment_quantile: dtype must be a float, got int32.",
        id="dtype",
    ),
    pytest.param(
        lambda: local.segment_nunique(X, IDS, 2, num_valid=6),
        ValueError,
        "segment_nunique: num_valid must be in [0, 5], got 6.",
        id="num_valid",
    ),
]


@pytest.mark.checks_arguments
@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_refuses(call, error, message):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message
