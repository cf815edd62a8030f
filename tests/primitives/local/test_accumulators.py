# SPDX-License-Identifier: Apache-2.0
"""Accumulators: parts of pieces, merged, against the reduction of all rows."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives.local._accumulators import ACCUMULATORS, merged_parts, parts_of
from jaxframes.primitives.local._reduce_by_key import segments_of_ids
from jaxframes.primitives.local._segment_ops import REDUCTIONS

NUM_SEGMENTS = 4
# The last segment has no rows, and the third one of the second piece.
IDS = np.array([0, 1, 0, 2, 1, 0, 1, 0, -1, 2, 2, 0])
PIECES = ((0, 4), (4, 8), (8, 12))


@functools.partial(jax.jit, static_argnums=1)
def whole_and_merged(x, op):
    """The reduction of all rows, and that of pieces whose parts are merged."""
    dtype = x.dtype
    parts = [
        parts_of(x[start:stop], op, segments_of_ids(jnp.asarray(IDS[start:stop]), NUM_SEGMENTS))
        for start, stop in PIECES
    ]
    joined = tuple(jnp.concatenate(own) for own in zip(*parts, strict=True))
    ids = np.concatenate([np.arange(NUM_SEGMENTS)] * len(PIECES))
    # A piece without rows of a segment has no part of it.
    held = np.concatenate([np.isin(np.arange(NUM_SEGMENTS), IDS[a:b]) for a, b in PIECES])
    of_pieces = segments_of_ids(jnp.asarray(np.where(held, ids, -1)), NUM_SEGMENTS)
    merged = merged_parts(joined, op, of_pieces, dtype, 1)
    segments = segments_of_ids(jnp.asarray(IDS), NUM_SEGMENTS)
    if op == "count":
        return segments.counts, merged
    if op == "sem":
        deviation = REDUCTIONS["std"](x, segments, 1)
        return deviation / jnp.sqrt(segments.counts.astype(deviation.dtype)), merged
    return REDUCTIONS[op](x, segments, 1), merged


@pytest.mark.parametrize("dtype", ["float64", "bfloat16", "int32", "bool"])
@pytest.mark.parametrize("op", ACCUMULATORS)
def test_parts_of_pieces_merge(op, dtype):
    x = (np.random.default_rng(0).normal(size=len(IDS)) * 9).astype(jnp.dtype(dtype))
    whole, merged = whole_and_merged(x, op)
    precision = max(float(jnp.finfo(merged.dtype).eps), 1e-12) if merged.dtype.kind in "fV" else 0
    assert merged.dtype == whole.dtype
    held = np.unique(IDS[IDS >= 0])
    np.testing.assert_allclose(
        np.asarray(merged, float)[held], np.asarray(whole, float)[held], rtol=4 * precision
    )


@pytest.mark.parametrize("op", ["mean", "var"])
def test_infinities_and_overflow(op):
    x = np.arange(len(IDS), dtype=float)
    x[[0, 6]] = np.inf, 1e200
    with np.errstate(all="ignore"):
        whole, merged = whole_and_merged(x, op)
    np.testing.assert_array_equal(np.isnan(merged), np.isnan(whole))
    np.testing.assert_array_equal(np.isinf(merged), np.isinf(whole))
