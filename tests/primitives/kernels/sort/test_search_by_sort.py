# SPDX-License-Identifier: Apache-2.0
"""Searches, merges and moves of rows by sorts and shifts, as a TPU makes them, against NumPy."""

import interpreted
import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import local
from jaxframes.primitives.contract._key_bits import OrderedWord, ordered_words
from jaxframes.primitives.kernels.sort import _lower_bound, _merge, _segment_top_k
from jaxframes.primitives.local import _bucket, _segment_rows
from on_platforms import traced_as


def keys_of(num_rows, dtype, seed):
    """Sorted keys, many of them equal."""
    keys = np.random.default_rng(seed).integers(0, 50, num_rows).astype(dtype)
    return np.sort(keys)


@pytest.mark.parametrize("comes_first", [True, False])
@pytest.mark.parametrize("dtype", ["uint32", "uint64"])
@pytest.mark.parametrize("num_valid", [0, 37, 90])
def test_ranks_of_queries(comes_first, dtype, num_valid):
    rows = keys_of(90, dtype, 0)
    # Padding is in no order.
    rows[num_valid:] = 3
    queries = np.random.default_rng(1).permutation(keys_of(70, dtype, 2))
    search = traced_as(
        "tpu", lambda *given: _lower_bound._ranks_by_sort(*given, comes_first=comes_first)
    )
    side = "left" if comes_first else "right"
    expected = np.searchsorted(rows[:num_valid], queries, side).astype(np.int32)
    oracles.assert_same_bits(search((rows,), (queries,), num_valid), expected)


def test_ranks_by_two_columns():
    rows = np.sort(np.random.default_rng(3).integers(0, 2**40, 60).astype(np.uint64) >> 34 << 30)
    queries = rows[::-2].copy()
    search = traced_as("tpu", lambda *given: _lower_bound._ranks_by_sort(*given, comes_first=True))
    columns = [((keys >> 32).astype(np.uint32), keys.astype(np.uint32)) for keys in (rows, queries)]
    expected = np.searchsorted(rows, queries).astype(np.int32)
    oracles.assert_same_bits(search(*columns, 60), expected)


@pytest.mark.parametrize("dtype", ["int32", "float32", "uint64"])
@pytest.mark.parametrize(("num_valid_a", "num_valid_b"), [(80, 50), (0, 50), (33, 0), (33, 17)])
def test_merged_rows(dtype, num_valid_a, num_valid_b):
    a, b = keys_of(80, dtype, 4), keys_of(50, dtype, 5)
    if dtype == "float32":
        a[70:], b[40:] = np.nan, np.nan
        a[:5], b[:3] = 0.0, -0.0

    def merge(a, b, valid_a, valid_b):
        (a_word,), (b_word,) = (ordered_words((keys,), (False,)) for keys in (a, b))
        merged = _merge._merge_by_sort((a_word,), (b_word,), valid_a, valid_b, (jnp.r_[a, b],))
        return merged.rows[0], merged.row_ids

    keys, row_ids = traced_as("tpu", merge)(a, b, num_valid_a, num_valid_b)
    valid = np.r_[np.arange(80) < num_valid_a, np.arange(50) < num_valid_b]
    both = np.r_[a, b]
    order = np.lexsort((np.where(valid, both, 0), ~valid)).astype(np.int32)
    oracles.assert_same_bits(row_ids, order)
    oracles.assert_same_bits(keys, both[order])


def test_programs_for_tpu_gather_no_rows():
    keys = jax.ShapeDtypeStruct((2048,), np.int32)
    calls = (
        local.searchsorted,
        local.merge,
        lambda a, b: local.merge(a, b, values=(a, b)),
    )
    for call in calls:
        text = interpreted.lowered_with_kernels(call, keys, keys)
        assert "stablehlo.gather" not in text
        assert "stablehlo.scatter" not in text


@pytest.mark.parametrize(("num_segments", "k"), [(1, 3), (9, 2), (200, 4)])
def test_first_rows_of_segments(num_segments, k):
    words = np.random.default_rng(6).integers(0, 20, 300).astype(np.uint32)
    ids = np.random.default_rng(7).integers(-2, num_segments + 2, 300).astype(np.int32)

    def first_rows(words, ids):
        column = OrderedWord(words, 0, 32)
        return _segment_top_k._by_shifts(column, ids, num_segments, k)

    expected = np.full((num_segments, k), -1, np.int32)
    for segment in range(num_segments):
        rows = np.flatnonzero(ids == segment)
        first = rows[np.argsort(words[rows], kind="stable")][:k]
        expected[segment, : len(first)] = first
    oracles.assert_same_bits(traced_as("tpu", first_rows)(words, ids), expected)


@pytest.mark.parametrize("periods", [-200, -90, -3, 0, 5, 90, 200])
def test_shifted_rows(periods):
    rows = np.arange(90, dtype=np.float32)
    moved = np.asarray(jax.jit(_segment_rows._rolled)(rows, jnp.int32(periods)))
    sources = np.arange(90) - periods
    is_row = (sources >= 0) & (sources < 90)
    np.testing.assert_array_equal(moved[is_row], rows[sources[is_row]])


def test_rows_by_bucket():
    ids = np.random.default_rng(8).integers(-1, 6, 200).astype(np.int32)
    rows = (np.arange(200, dtype=np.float32), np.arange(400).reshape(200, 2))

    def by_bucket(ids, num_valid, rows):
        return _bucket._sort_by_bucket(ids, 5, num_valid, rows)

    moved, offsets, row_ids = traced_as("tpu", by_bucket)(ids, 190, rows)
    valid = ids[:190]
    order = np.argsort(np.where((valid < 0) | (valid >= 5), 5, valid), kind="stable")
    order = np.r_[order, np.arange(190, 200)].astype(np.int32)
    oracles.assert_same_bits(row_ids, order)
    oracles.assert_same_bits(moved, tuple(leaf[order] for leaf in rows))
    counts = [np.sum((valid >= 0) & (valid < bucket)) for bucket in range(6)]
    oracles.assert_same_bits(offsets, np.array(counts, np.int32))
