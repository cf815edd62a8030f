# SPDX-License-Identifier: Apache-2.0
"""Order statistics, shifts and scans of segments in any order, over shards, against the oracles."""

import functools

import numpy as np
import oracles
import pytest
from jaxframes.primitives import collective
from key_distributions import make_keys
from on_shards import noting, on_shards, row_counts, valid_rows

NUM_ROWS = 13
NUM_SEGMENTS = 6
FIRST = {"method": "first", "descending": (True, False)}
COUNTS = ("all", "all on the last shard", "growing")
Q = np.array([0.0, 0.3, 0.5, 1.0])


def segments_of(num_shards):
    """Ids by name: segments in a shard, over many, all rows in one, and in no order."""
    rng = np.random.default_rng(0)
    row = np.arange(num_shards * NUM_ROWS)
    segments = {
        "sorted": row * NUM_SEGMENTS // row.size,
        "one": np.full_like(row, 2),
        "none": np.full_like(row, -1),
        "in no order": rng.integers(-1, NUM_SEGMENTS + 1, row.size),
    }
    return {
        name: ids.astype(np.int32).reshape(num_shards, NUM_ROWS) for name, ids in segments.items()
    }


@functools.cache
def caller(num_shards):
    def call(x, ids, rows, periods, num_valid):
        at = {"axis_name": "rows", "num_valid": num_valid}
        of = (ids, NUM_SEGMENTS)
        by_id = {"segment_ids": ids, "is_sorted": False, "num_segments": NUM_SEGMENTS}
        of_rows = (
            collective.segment_rank(x, *of, **at),
            collective.segment_rank(x, *of, method="dense", **at),
            collective.segment_rank((ids % 2, x), ids // 2, 3, **FIRST, **at),
            collective.segment_shift({"a": rows, "b": x}, *of, periods, fill_value=-3, **at),
            collective.segmented_scan(rows, "add", exclusive=True, **by_id, **at),
            collective.segmented_scan(rows, "max", reverse=True, **by_id, **at),
        )
        medians = collective.segment_quantile(x, *of, Q, interpolation="midpoint", **at)
        return of_rows, (collective.segment_nunique(x, *of, **at), medians)

    return on_shards(call, num_shards)


def check(x, ids, periods, counts):
    num_shards = len(counts)
    rows = np.random.default_rng(1).permutation(ids.size).astype(np.int64).reshape(ids.shape)
    of_rows, of_segments = caller(num_shards)(
        x, ids, rows, np.full(num_shards, periods, np.int32), counts
    )
    x, ids, rows = (valid_rows(leaf, counts) for leaf in (x, ids, rows))
    of = (ids, NUM_SEGMENTS)
    expected = (
        oracles.segment_rank(x, *of),
        oracles.segment_rank(x, *of, method="dense"),
        oracles.segment_rank((ids % 2, x), ids // 2, 3, **FIRST),
        oracles.segment_shift({"a": rows, "b": x}, *of, periods, fill_value=-3),
        oracles.scan_of_segments(rows, "add", *of, exclusive=True),
        oracles.scan_of_segments(rows, "max", *of, reverse=True),
    )
    for i, (actual, wanted) in enumerate(zip(of_rows, expected, strict=True)):
        with noting(i):
            oracles.assert_same_bits(valid_rows(actual, counts), wanted)
    nunique, medians = of_segments
    quantiles = oracles.segment_quantile(x, *of, Q, interpolation="midpoint")
    for shard in range(num_shards):
        oracles.assert_same_bits(nunique[shard], oracles.segment_nunique(x, *of))
        np.testing.assert_allclose(medians[shard], quantiles.astype(medians.dtype), rtol=1e-6)


@pytest.mark.parametrize("num_shards", [2, 5])
def test_matches_the_oracles(num_shards):
    for name, ids in segments_of(num_shards).items():
        for distribution in ("four_values", "nan_inf_sprinkled"):
            x = make_keys(distribution, ids.size, np.dtype(np.float32)).reshape(ids.shape)
            for counts, periods in zip(COUNTS, (1, -2, 100), strict=True):
                with noting((name, distribution, counts)):
                    check(x, ids, periods, row_counts(num_shards, NUM_ROWS)[counts])
