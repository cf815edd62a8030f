# SPDX-License-Identifier: Apache-2.0
"""Sums of columns and products by segment: the C++ kernel and the portable definition agree."""

import jax
import numpy as np
import oracles
import pytest
from jaxframes.primitives import _segment_sums as segment_sums
from jaxframes.primitives import backend

needs_kernels = pytest.mark.skipif(backend().cpu != "native", reason=backend().reason)
NUM_ROWS, NUM_SEGMENTS = 3000, 40
DTYPES = {
    "float64": "float64", "float32": "float64", "int64": "float64", "uint64": "uint64",
    "int32": "int64", "bool": "int64", "int8": "int64",
}  # fmt: skip


def columns():
    rng = np.random.default_rng(0)
    return [(rng.normal(size=NUM_ROWS) * 100).astype(name) for name in DTYPES]


def sums(given, ids):
    return segment_sums.sums_of_segments(given, tuple(DTYPES.values()), ids, NUM_SEGMENTS)


def products():
    """Pairs of columns, among them a column with itself."""
    return [(column, column[::-1].copy()) for column in columns()[:-1]] + [(columns()[0],) * 2]


def expected_sums(pairs, dtypes, ids, num_segments=NUM_SEGMENTS):
    """Products rounded to the dtype of their factors, added without further errors."""
    is_member = (ids >= 0) & (ids < num_segments)
    sums = []
    with np.errstate(all="ignore"):
        for (left, right), dtype in zip(pairs, dtypes, strict=True):
            terms = (left * right)[is_member].astype(dtype)
            sums.append(oracles.exact_sums(terms, ids[is_member], num_segments))
    return sums


PRODUCT_DTYPES = (*list(DTYPES.values())[:-1], "float64")


def segment_ids():
    return np.random.default_rng(1).integers(-2, NUM_SEGMENTS + 1, NUM_ROWS).astype(np.int32)


def test_adds_columns_without_errors():
    ids, given = segment_ids(), columns()
    is_member = (ids >= 0) & (ids < NUM_SEGMENTS)
    counts, totals = sums(given, ids)
    expected = np.bincount(ids[is_member], minlength=NUM_SEGMENTS).astype(np.int32)
    oracles.assert_same_bits(counts, expected)
    for column, total, dtype in zip(given, totals, DTYPES.values(), strict=True):
        terms = column[is_member].astype(dtype)
        expected = oracles.exact_sums(terms, ids[is_member], NUM_SEGMENTS)
        oracles.assert_same_bits(total, expected)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("is_native", [pytest.param(True, marks=needs_kernels), False])
@pytest.mark.parametrize("is_greatest", [True, False])
def test_segments_from_an_id_on(dtype, is_native, is_greatest, monkeypatch):
    bounds = np.iinfo(dtype)
    num_valid, dtype = NUM_ROWS - 100, np.dtype(dtype)
    first = bounds.max - NUM_SEGMENTS + 1 if is_greatest else bounds.min
    places = np.random.default_rng(2).integers(-2, NUM_SEGMENTS + 2, NUM_ROWS)
    extremes = np.array([bounds.min, bounds.max], dtype)
    ids = np.where(
        (places >= 0) & (places < NUM_SEGMENTS),
        dtype.type(first) + places.astype(dtype),
        extremes[places % 2],
    )
    given = columns()[:1]
    if not is_native:
        monkeypatch.setattr(segment_sums, "can_count", lambda ids: False)
    sums = segment_sums.sums_of_segments.__wrapped__
    counts, (total,) = sums(given, ("float64",), ids, NUM_SEGMENTS, dtype.type(first), num_valid)
    found = [int(one) - int(first) for one in ids[:num_valid]]
    is_member = [0 <= one < NUM_SEGMENTS for one in found]
    members = np.array(found)[is_member].astype(int)
    expected = oracles.exact_sums(given[0][:num_valid][is_member], members, NUM_SEGMENTS)
    oracles.assert_same_bits(total, expected)
    oracles.assert_same_bits(counts, np.bincount(members, minlength=NUM_SEGMENTS).astype(np.int32))


@needs_kernels
@pytest.mark.parametrize("num_rows", [0, 1, NUM_ROWS])
def test_native_and_portable_agree(num_rows, monkeypatch):
    given, ids = [column[:num_rows] for column in columns()[:-1]], segment_ids()[:num_rows]
    dtypes = tuple(DTYPES.values())[:-1]
    native = segment_sums.sums_of_segments(given, dtypes, ids, NUM_SEGMENTS)
    monkeypatch.setattr(segment_sums, "can_count", lambda ids: False)
    portable = segment_sums.sums_of_segments.__wrapped__(given, dtypes, ids, NUM_SEGMENTS)
    oracles.assert_same_bits(native, portable)


@pytest.mark.parametrize("num_segments", [1, NUM_SEGMENTS, 100_000])
@pytest.mark.parametrize("is_native", [pytest.param(True, marks=needs_kernels), False])
def test_adds_up_rounded_products(is_native, num_segments, monkeypatch):
    ids, pairs = segment_ids(), products()
    pairs[0][0][::7] = np.nan
    pairs[0][0][1::7] = -0.0
    pairs[1][1][::5] = np.inf
    pairs[2][0][:] = np.iinfo(np.int64).max // 2 + np.arange(NUM_ROWS)
    pairs[3][0][:] = np.iinfo(np.uint64).max - np.arange(NUM_ROWS, dtype=np.uint64)
    pairs[4][0][:] = np.iinfo(np.int32).min + np.arange(NUM_ROWS)
    if not is_native:
        monkeypatch.setattr(segment_sums, "can_count", lambda ids: False)
    # A single column in between: results keep the order of the arguments.
    given, dtypes = list(pairs), list(PRODUCT_DTYPES)
    given.insert(2, pairs[2][0])
    dtypes.insert(2, "int64")
    compute = segment_sums.sums_of_segments.__wrapped__
    counts, totals = compute(given, tuple(dtypes), ids, num_segments)
    single = totals.pop(2)
    for total, expected in zip(
        totals, expected_sums(pairs, PRODUCT_DTYPES, ids, num_segments), strict=True
    ):
        # The bits of a NaN depend on the order of operands.
        oracles.assert_same_bits(np.nan_to_num(total, nan=7), np.nan_to_num(expected, nan=7))
    ones = np.ones(NUM_ROWS, np.int64)
    (expected,) = expected_sums([(pairs[2][0], ones)], ["int64"], ids, num_segments)
    oracles.assert_same_bits(single, expected)
    assert counts.sum() == ((ids >= 0) & (ids < num_segments)).sum()


@pytest.mark.parametrize("op", ["jit", "vmap"])
def test_products_inside_transformations(op):
    pairs, ids = products()[2:5], segment_ids()
    dtypes = ("int64", "uint64", "float64")

    def compute(pairs, ids, num_valid):
        return segment_sums.sums_of_segments(pairs, dtypes, ids, NUM_SEGMENTS, num_valid=num_valid)

    if op == "jit":
        _, totals = jax.jit(compute)(pairs, ids, NUM_ROWS - 10)
        batches = [(totals, pairs, ids, NUM_ROWS - 10)]
    else:
        two = jax.tree.map(lambda x: np.stack([x, x[::-1]]), (pairs, ids))
        num_valid = np.array([NUM_ROWS, 100], np.int32)
        _, totals = jax.vmap(compute)(*two, num_valid)
        batches = [
            ([total[at] for total in totals], *jax.tree.map(lambda x, at=at: x[at], two), valid)
            for at, valid in enumerate(num_valid)
        ]
    for totals, own_pairs, own_ids, valid in batches:
        own_pairs = [(left[:valid], right[:valid]) for left, right in own_pairs]
        expected = expected_sums(own_pairs, dtypes, own_ids[:valid])
        for total, one in zip(totals, expected, strict=True):
            oracles.assert_same_bits(np.asarray(total), one)


@pytest.mark.parametrize("share", [1.0, 0.99, 0.0])
def test_products_of_many_rows_in_few_segments(share):
    # Threads divide the rows of integers.
    rng = np.random.default_rng(3)
    num_rows, num_segments = 300_000, 1000
    ids = rng.integers(0, num_segments, num_rows).astype(np.int32)
    ids[rng.random(num_rows) < share] = 7
    x, y = rng.integers(-(2**62), 2**62, (2, num_rows))
    z = rng.normal(size=num_rows)
    pairs, dtypes = [(x, x), (x, y), (y, y), (z, z)], ("int64", "uint64", "int64", "float64")
    counts, totals = segment_sums.sums_of_segments(pairs, dtypes, ids, num_segments)
    for total, expected in zip(
        totals, expected_sums(pairs, dtypes, ids, num_segments), strict=True
    ):
        oracles.assert_same_bits(np.asarray(total), expected)
    oracles.assert_same_bits(counts, np.bincount(ids, minlength=num_segments).astype(np.int32))


def test_products_without_x64():
    with jax.enable_x64(False):
        ids, (x, y) = segment_ids(), (columns()[4], columns()[4][::-1].copy())
        floats = columns()[1]
        counts, (integers, squares) = segment_sums.sums_of_segments(
            [(x, y), (floats, floats)], ("int32", "float32"), ids, NUM_SEGMENTS
        )
    (expected, of_floats) = expected_sums([(x, y), (floats, floats)], ["int32", "float32"], ids)
    oracles.assert_same_bits(integers, expected)
    oracles.assert_same_bits(squares, of_floats)
    assert counts.dtype == np.int32


def test_factors_of_two_dtypes_raise():
    given = columns()
    with pytest.raises(ValueError, match="must have one dtype, got float64 and float32"):
        segment_sums.sums_of_segments([(given[0], given[1])], ("float64",), segment_ids(), 3)


@pytest.mark.parametrize("is_native", [pytest.param(True, marks=needs_kernels), False])
@pytest.mark.parametrize("largest", [10**3, 2**53, 2**53 + 10**3, 2**62])
@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_integers_add_up_as_rounded_doubles(dtype, largest, is_native, monkeypatch):
    if not is_native:
        monkeypatch.setattr(segment_sums, "can_count", lambda ids: False)
    rng = np.random.default_rng(7)
    # 2^53 in few rows add up in 64 bits, in many they do not.
    for num_rows in (900, 20_000):
        numbers = largest - rng.integers(0, 1000, num_rows)
        if dtype == "int64":
            numbers *= rng.choice([-1, 1], num_rows)
        ids = rng.integers(0, 3, num_rows)
        sums = segment_sums.sums_of_segments.__wrapped__
        _, (total,) = sums([numbers.astype(dtype)], ("float64",), ids, 3)
        expected = oracles.exact_sums(numbers.astype(np.float64), ids, 3)
        oracles.assert_same_bits(total, expected)
