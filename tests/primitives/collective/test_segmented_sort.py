# SPDX-License-Identifier: Apache-2.0
"""`collective.segmented_sort` against the NumPy oracle."""

import functools

import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import collective
from key_distributions import KEY_DTYPES, distributions_for, make_keys
from on_shards import (
    dealt_out,
    even_shares,
    into_shards,
    noting,
    on_shards,
    row_counts,
    row_ids,
    valid_rows,
)

NUM_ROWS = 21


@functools.cache
def sorter(num_shards, **settings):
    def sort(keys, segment_ids, values, num_valid):
        return collective.segmented_sort(
            keys, segment_ids, values=values, num_valid=num_valid, axis_name="rows", **settings
        )

    return on_shards(sort, num_shards)


def check(keys, segment_ids, counts, num_segments=None, **settings):
    num_shards, num_rows = segment_ids.shape
    values = row_ids(num_shards, num_rows)
    sort = sorter(num_shards, num_segments=num_segments, **settings)
    sequence = oracles.segmented_sort(
        valid_rows(keys, counts),
        valid_rows(segment_ids, counts),
        values=valid_rows(values, counts),
        **settings,
    )
    expected = dealt_out(sequence, even_shares(int(counts.sum()), num_shards), num_rows)
    oracles.assert_same_bits(sort(keys, segment_ids, values, counts), expected)


def segments_of(num_shards, dtype):
    """Ids by name: segments that lie within a shard, over many, in one, and in no order."""
    rng = np.random.default_rng(0)
    place = np.arange(num_shards * NUM_ROWS)
    segments = {
        "short, sorted": place // 5,
        "long, sorted": place // (3 * NUM_ROWS),
        "one": np.zeros_like(place),
        "a row each": place[::-1],
        "in no order": rng.integers(0, 6, place.size),
    }
    return {
        name: into_shards((ids % 120).astype(dtype), num_shards) for name, ids in segments.items()
    }


@pytest.mark.parametrize(
    ("dtype", "num_shards"),
    [
        pytest.param(dtype, (8, 1, 3, 2, 5)[i % 5], id=f"{dtype}-{(8, 1, 3, 2, 5)[i % 5]}")
        for i, dtype in enumerate(KEY_DTYPES)
    ],
)
def test_sorts_every_dtype_within_segments(dtype, num_shards):
    ids_dtype = ("int32", "uint8", "int64", "int16")[KEY_DTYPES.index(dtype) % 4]
    counts = row_counts(num_shards, NUM_ROWS)
    settings = {
        "descending": KEY_DTYPES.index(dtype) % 2 == 0,
        "num_segments": 120 if KEY_DTYPES.index(dtype) % 3 else None,
    }
    for i, (name, segment_ids) in enumerate(segments_of(num_shards, ids_dtype).items()):
        names = distributions_for(dtype)
        distribution = names[i % len(names)]
        keys = into_shards(
            make_keys(distribution, num_shards * NUM_ROWS, dtype, num_shards), num_shards
        )
        for counted in ("all", list(counts)[i]):
            with noting((distribution, name, counted)):
                check(keys, segment_ids, counts[counted], **settings)


def test_several_keys_and_negative_ids():
    keys = tuple(
        into_shards(make_keys("four_values", 3 * NUM_ROWS, jnp.dtype(dtype), 3), 3)
        for dtype in ("float64", "uint16")
    )
    segment_ids = segments_of(3, np.int32)["in no order"] - 3
    counts = np.full(3, NUM_ROWS, np.int32)
    check(keys, segment_ids, counts, descending=(True, False), bits=(None, 7))


def test_without_values():
    keys = into_shards(make_keys("uniform", 3 * NUM_ROWS, np.dtype(np.int32), 3), 3)
    segment_ids = segments_of(3, np.int32)["short, sorted"]
    sort = on_shards(lambda k, s: collective.segmented_sort(k, s, axis_name="rows"), 3)
    expected = oracles.segmented_sort(keys.reshape(-1), segment_ids.reshape(-1))
    oracles.assert_same_bits(sort(keys, segment_ids), expected.reshape(3, -1))
