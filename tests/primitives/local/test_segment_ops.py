# SPDX-License-Identifier: Apache-2.0
"""The table of segment reductions on one device, against NumPy segment by segment."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives.local._one_device import OneDevice
from jaxframes.primitives.local._segment_ops import (
    REDUCTIONS,
    Segments,
    distances_from,
    exponentials_from,
    finite_maximum,
    quotient,
    whole_mean,
)

IDS = np.array([2, 0, 2, -1, 0, 4, 2, 5], np.int32)
ROWS = np.array([3.0, -1.5, 0.5, 7.0, -1.5, 0.0, 8.25, 2.0])
# The last segment id is out of range, and segments 1 and 3 are empty.
NUM_SEGMENTS = 5
GROUPS = [ROWS[segment == IDS] for segment in range(NUM_SEGMENTS)]
EXPECTED = {
    "sum": np.sum,
    "prod": np.prod,
    "min": lambda x: x.min() if len(x) else np.inf,
    "max": lambda x: x.max() if len(x) else -np.inf,
    "mean": lambda x: x.mean() if len(x) else np.nan,
    "var": lambda x: x.var(ddof=1) if len(x) > 1 else np.nan,
    "std": lambda x: x.std(ddof=1) if len(x) > 1 else np.nan,
    "logsumexp": lambda x: np.log(np.exp(x).sum()) if len(x) else -np.inf,
    "first": lambda x: x[0] if len(x) else 0.0,
    "last": lambda x: x[-1] if len(x) else 0.0,
    "any": np.any,
    "all": np.all,
    "argmin": lambda x: np.flatnonzero(x.min() == ROWS)[0] if len(x) else -1,
    "argmax": lambda x: np.flatnonzero(x.max() == ROWS)[0] if len(x) else -1,
}


def segments_of_rows():
    return Segments(jnp.asarray(IDS), NUM_SEGMENTS, OneDevice())


@pytest.fixture(scope="module")
def reduced():
    def reduce(rows):
        return {name: of(rows, segments_of_rows(), 1) for name, of in REDUCTIONS.items()}

    return jax.jit(reduce)(ROWS)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_reduction_is_that_of_numpy(name, reduced):
    expected = np.array([EXPECTED[name](group) for group in GROUPS])
    np.testing.assert_allclose(reduced[name], expected, rtol=1e-14)


def test_rows_without_a_segment_are_left_out():
    def of_rows(rows):
        segments = segments_of_rows()
        counts = segments.whole_counts(rows)
        distances = distances_from(whole_mean(rows, segments, counts), rows, segments)
        greatest = finite_maximum(rows, segments)
        return counts, distances, (exponentials_from(greatest, rows, segments), greatest)

    counts, distances, (exponentials, greatest) = jax.jit(of_rows)(ROWS)
    assert counts.tolist() == [len(group) for group in GROUPS]
    is_row = (IDS >= 0) & (IDS < NUM_SEGMENTS)
    for row, (segment, value) in enumerate(zip(IDS, ROWS, strict=True)):
        own = GROUPS[segment] if is_row[row] else None
        assert distances[row] == (0 if own is None else value - own.mean())
        expected = 0 if own is None else np.exp(value - own.max())
        np.testing.assert_allclose(exponentials[row], expected, rtol=1e-14)
    assert greatest.tolist() == [max(group, default=0) for group in GROUPS]


def test_an_empty_quotient_is_nan_and_its_derivative_is_not():
    derivative = jax.grad(lambda total: quotient(total, jnp.array([2, 0]))[0])(
        jnp.array([6.0, 1.0])
    )
    assert quotient(jnp.array([6.0, 1.0]), jnp.array([2, 0])).tolist()[0] == 3.0
    assert derivative.tolist() == [0.5, 0.0]
