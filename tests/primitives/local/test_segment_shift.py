# SPDX-License-Identifier: Apache-2.0
"""`local.segment_shift` and scans of unsorted segment ids against the NumPy oracle."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jax.test_util import check_grads
from jaxframes.primitives import local
from key_distributions import KEY_DTYPES
from on_shards import noting
from quick_compilation import UNOPTIMISED
from scanned_rows import SETTINGS, assert_is_scan, rows_of

NUM_ROWS = 19
NUM_SEGMENTS = 4
IDS = np.random.default_rng(1).integers(-1, NUM_SEGMENTS + 1, NUM_ROWS).astype(np.int32)


@functools.partial(jax.jit, compiler_options=UNOPTIMISED)
def shift(x, ids, periods, num_valid):
    return local.segment_shift(x, ids, NUM_SEGMENTS, periods, fill_value=1, num_valid=num_valid)


@functools.partial(jax.jit, static_argnames="settings", compiler_options=UNOPTIMISED)
def scans(x, ids, num_valid, settings=SETTINGS):
    segments = {"segment_ids": ids, "is_sorted": False, "num_segments": NUM_SEGMENTS}
    return [
        local.segmented_scan(
            x, op, reverse=reverse, exclusive=exclusive, num_valid=num_valid, **segments
        )
        for op, reverse, exclusive in settings
    ]


def test_shifts_every_dtype():
    x = {str(dtype): rows_of(dtype, NUM_ROWS) for dtype in KEY_DTYPES}
    x["pairs"] = np.arange(2 * NUM_ROWS).reshape(-1, 2)
    for periods in (-NUM_ROWS, -2, -1, 0, 1, 3, 2**31 - 1, -(2**31)):
        for num_valid in (0, NUM_ROWS - 3, NUM_ROWS):
            with noting((periods, num_valid)):
                expected = oracles.segment_shift(
                    x, IDS, NUM_SEGMENTS, periods, fill_value=1, num_valid=num_valid
                )
                actual = shift(x, IDS, np.int64(periods), num_valid)
                oracles.assert_same_bits(actual, expected)


@pytest.mark.parametrize("dtype", ["bool", "int8", "bfloat16", "float64"])
def test_scans_every_dtype(dtype):
    x = rows_of(np.dtype(dtype), NUM_ROWS)
    for num_valid in (0, 1, NUM_ROWS - 4, NUM_ROWS):
        results = scans(x, IDS, num_valid)
        for actual, (op, reverse, exclusive) in zip(results, SETTINGS, strict=True):
            with noting((op, reverse, exclusive, num_valid)):
                is_row = np.zeros(NUM_ROWS, bool)
                for segment in range(NUM_SEGMENTS):
                    row_ids = oracles.rows_of_segment(IDS, segment, (), num_valid)
                    settings = {"reverse": reverse, "exclusive": exclusive}
                    assert_is_scan(actual[row_ids], x[row_ids], op, **settings)
                    is_row[row_ids] = True
                assert not np.asarray(actual)[~is_row].any()


@pytest.mark.parametrize("num_rows", [0, 1, 2])
def test_few_rows(num_rows):
    x, ids = np.arange(1, num_rows + 1), np.zeros(num_rows, np.int32)
    assert local.segment_shift(x, ids, 1).tolist() == list(range(num_rows))
    scan = local.segmented_scan(x, segment_ids=ids, is_sorted=False, num_segments=1)
    assert scan.tolist() == np.cumsum(x).tolist()


def test_scans_a_function_with_an_initial_row():
    def affine(left, right):
        return left[0] * right[0], left[1] * right[0] + right[1]

    rng = np.random.default_rng(0)
    x = tuple(rng.integers(1, 4, (2, NUM_ROWS)).astype(float))
    arguments = {"segment_ids": IDS, "is_sorted": False, "num_segments": NUM_SEGMENTS}
    actual = local.segmented_scan(x, affine, exclusive=True, initial=(2, 1), **arguments)
    for segment in range(NUM_SEGMENTS):
        before = (2.0, 1.0)
        for row in oracles.rows_of_segment(IDS, segment, ()):
            assert (actual[0][row], actual[1][row]) == before
            before = affine(before, (x[0][row], x[1][row]))


def test_derivatives():
    x = np.random.default_rng(0).standard_normal(NUM_ROWS)
    shift = functools.partial(
        local.segment_shift, segment_ids=IDS, num_segments=NUM_SEGMENTS, fill_value=2
    )
    scan = functools.partial(
        local.segmented_scan, op="mul", segment_ids=IDS, is_sorted=False, num_segments=NUM_SEGMENTS
    )
    check_grads(lambda x: (shift(x), scan(x)), (x,), 2, eps=1e-3)


def test_the_periods_may_be_traced():
    x = np.arange(NUM_ROWS)
    batch = jax.vmap(lambda periods: local.segment_shift(x, IDS, NUM_SEGMENTS, periods))
    for periods, actual in zip((-1, 2), batch(jnp.array([-1, 2])), strict=True):
        expected = oracles.segment_shift(x, IDS, NUM_SEGMENTS, periods)
        oracles.assert_same_bits(actual, expected)


X = np.arange(5, dtype=np.int32)
ERRORS = [
    pytest.param(
        lambda: local.segment_shift(X, X, 2, 1.0),
        TypeError,
        "segment_shift: periods must be one integer, got ~float64[].",
        id="float periods",
    ),
    pytest.param(
        lambda: local.segment_shift(X, X, 2, fill_value=0.5),
        ValueError,
        "segment_shift: fill_value must be a number of int32, got 0.5.",
        id="fill_value",
    ),
    pytest.param(
        lambda: local.segment_shift(X, X, 2, fill_value=X),
        ValueError,
        "segment_shift: fill_value must be one number, got int32[5].",
        id="fill_values",
    ),
    pytest.param(
        lambda: local.segmented_scan(X, head_flags=X > 2, is_sorted=False, num_segments=2),
        ValueError,
        "segmented_scan: is_sorted=False needs segment_ids, got head_flags. Flags mark segments of "
        "adjacent rows only.",
        id="flags",
    ),
    pytest.param(
        lambda: local.segmented_scan(X, segment_ids=X, is_sorted=False),
        ValueError,
        "segmented_scan: is_sorted=False needs num_segments, got None. Pass a number greater than "
        "every id.",
        id="num_segments left out",
    ),
    pytest.param(
        lambda: local.segmented_scan(X, segment_ids=X, num_segments=5),
        ValueError,
        "segmented_scan: num_segments is for is_sorted=False only, got 5 for segments of adjacent "
        "rows. Leave it out.",
        id="num_segments of runs",
    ),
]


@pytest.mark.checks_arguments
@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_refuses(call, error, message):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message
