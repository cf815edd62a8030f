# SPDX-License-Identifier: Apache-2.0
"""Sums of several columns by segment: the C++ kernel and the portable definition agree."""

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


def segment_ids():
    return np.random.default_rng(1).integers(-2, NUM_SEGMENTS + 1, NUM_ROWS).astype(np.int32)


def test_adds_in_the_order_of_the_rows():
    ids, given = segment_ids(), columns()
    is_member = (ids >= 0) & (ids < NUM_SEGMENTS)
    counts, totals = sums(given, ids)
    expected = np.bincount(ids[is_member], minlength=NUM_SEGMENTS).astype(np.int32)
    oracles.assert_same_bits(counts, expected)
    for column, total, dtype in zip(given, totals, DTYPES.values(), strict=True):
        expected = np.zeros(NUM_SEGMENTS, dtype)
        np.add.at(expected, ids[is_member], column[is_member].astype(dtype))
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
    expected = np.zeros(NUM_SEGMENTS)
    found = [int(one) - int(first) for one in ids[:num_valid]]
    is_member = [0 <= one < NUM_SEGMENTS for one in found]
    members = np.array(found)[is_member].astype(int)
    np.add.at(expected, members, given[0][:num_valid][is_member])
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
