# SPDX-License-Identifier: Apache-2.0
"""`local.segmented_sort` against the NumPy oracle."""

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import kernels, local
from key_distributions import KEY_DTYPES, distributions_for, make_keys
from on_shards import compiled

STATIC = ("descending", "bits", "num_segments")
segmented_sort = compiled(local.segmented_sort, static_argnames=STATIC)

NUM_ROWS = 777
NUM_SEGMENTS = 21


def segments(num_rows, dtype=np.int32, num_segments=NUM_SEGMENTS, seed=0):
    return np.random.default_rng(seed).integers(0, num_segments, num_rows).astype(dtype)


# Matches the oracle


@pytest.mark.parametrize("dtype", KEY_DTYPES, ids=str)
@pytest.mark.parametrize("descending", [False, True])
def test_sorts_every_dtype(dtype, descending):
    segment_ids = segments(NUM_ROWS)
    values = np.arange(NUM_ROWS, dtype=np.int32)
    for distribution in distributions_for(dtype):
        keys = make_keys(distribution, NUM_ROWS, dtype)
        expected = oracles.segmented_sort(keys, segment_ids, values=values, descending=descending)
        actual = segmented_sort(
            keys, segment_ids, num_segments=NUM_SEGMENTS, values=values, descending=descending
        )
        oracles.assert_same_bits(actual, expected)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "uint32", "int64", "uint64"])
def test_takes_segment_ids_of_any_integer_dtype(dtype):
    keys = make_keys("uniform", NUM_ROWS, np.float32)
    segment_ids = segments(NUM_ROWS, np.dtype(dtype))
    expected = oracles.segmented_sort(keys, segment_ids)
    oracles.assert_same_bits(segmented_sort(keys, segment_ids), expected)
    oracles.assert_same_bits(segmented_sort(keys, segment_ids, num_segments=NUM_SEGMENTS), expected)


def test_segments_come_out_in_the_order_of_signed_ids():
    keys = make_keys("uniform", NUM_ROWS, np.int32)
    segment_ids = segments(NUM_ROWS) - 10
    expected = oracles.segmented_sort(keys, segment_ids)
    oracles.assert_same_bits(segmented_sort(keys, segment_ids), expected)


def test_sorts_by_several_columns_bits_and_directions():
    keys = (
        make_keys("four_values", NUM_ROWS, np.float16),
        make_keys("uniform", NUM_ROWS, np.int64),
    )
    segment_ids = segments(NUM_ROWS)
    settings = {"descending": (True, False), "bits": (None, 5), "num_valid": 700}
    expected = oracles.segmented_sort(keys, segment_ids, values=segment_ids, **settings)
    actual = segmented_sort(keys, segment_ids, values=segment_ids, **settings)
    oracles.assert_same_bits(actual, expected)


@pytest.mark.usefixtures("x64_off")
def test_sorts_without_x64():
    keys = make_keys("nan_inf_sprinkled", NUM_ROWS, np.float32)
    segment_ids = segments(NUM_ROWS)
    expected = oracles.segmented_sort(keys, segment_ids)
    oracles.assert_same_bits(segmented_sort(keys, segment_ids), expected)


# Edge sizes


@pytest.mark.parametrize("num_rows", [0, 1, 2, 63, 64, 65, 4095, 4096, 4097])
@pytest.mark.parametrize("num_segments", [1, 2, 4097])
def test_edge_sizes(num_rows, num_segments):
    keys = make_keys("uniform", num_rows, np.int32)
    segment_ids = segments(num_rows, num_segments=num_segments)
    expected = oracles.segmented_sort(keys, segment_ids)
    actual = segmented_sort(keys, segment_ids, num_segments=num_segments)
    oracles.assert_same_bits(actual, expected)


def test_a_million_rows():
    keys = make_keys("uniform", 10**6, np.float32)
    segment_ids = segments(10**6, num_segments=10**5)
    expected = oracles.segmented_sort(keys, segment_ids)
    actual = segmented_sort(keys, segment_ids, num_segments=10**5)
    oracles.assert_same_bits(actual, expected)


# Skewed keys


def test_one_segment_holds_almost_all_rows():
    keys = make_keys("zipf", NUM_ROWS, np.int32)
    segment_ids = np.full(NUM_ROWS, 5, np.int32)
    segment_ids[[0, 300, -1]] = [20, 0, 3]
    values = np.arange(NUM_ROWS, dtype=np.int32)
    expected = oracles.segmented_sort(keys, segment_ids, values=values)
    actual = segmented_sort(keys, segment_ids, num_segments=NUM_SEGMENTS, values=values)
    oracles.assert_same_bits(actual, expected)


def test_sorted_segments_stay_within_their_rows():
    segment_ids = np.sort(segments(NUM_ROWS))
    keys = make_keys("reversed", NUM_ROWS, np.int32)
    _, moved_ids = segmented_sort(keys, segment_ids, values=segment_ids)
    oracles.assert_same_bits(moved_ids, segment_ids)


# Implementations agree


@pytest.mark.parametrize("dtype", ["int16", "float32", "int64"])
def test_native_and_portable_agree(dtype, monkeypatch):
    keys = make_keys("four_values", NUM_ROWS, np.dtype(dtype))
    arguments = {"keys": keys, "segment_ids": segments(NUM_ROWS), "values": np.arange(NUM_ROWS)}
    as_installed = local.segmented_sort(**arguments, num_valid=700)
    monkeypatch.setattr(kernels.sort._radix_sort, "is_native", lambda: False)
    oracles.assert_same_bits(as_installed, local.segmented_sort(**arguments, num_valid=700))


def test_equals_a_sort_by_segment_and_key():
    keys, segment_ids = make_keys("zipf", NUM_ROWS, np.int32), segments(NUM_ROWS)
    _, expected = local.radix_sort((segment_ids, keys))
    oracles.assert_same_bits(segmented_sort(keys, segment_ids), expected)


# Transformations: jit is everywhere above


def test_vmap_sorts_each_row_of_the_batch():
    keys = make_keys("four_values", 6 * 40, np.float64).reshape(2, 3, 40)
    segment_ids = segments(6 * 40).reshape(2, 3, 40)
    actual = jax.jit(jax.vmap(jax.vmap(local.segmented_sort)))(keys, segment_ids)
    expected = keys.copy()
    for place in np.ndindex(2, 3):
        expected[place] = oracles.segmented_sort(keys[place], segment_ids[place])
    oracles.assert_same_bits(actual, expected)


def test_donated_keys_are_reused_safely():
    keys, segment_ids = make_keys("uniform", NUM_ROWS, np.int32), segments(NUM_ROWS)
    donated = jnp.asarray(keys.copy())
    actual = jax.jit(local.segmented_sort, donate_argnums=0)(donated, segment_ids)
    oracles.assert_same_bits(actual, oracles.segmented_sort(keys, segment_ids))
    assert donated.is_deleted()


# Errors word for word; those about keys are in test_key_errors.py

KEYS = np.arange(5, dtype=np.int32)
ERRORS = [
    pytest.param(
        {"segment_ids": np.zeros(5, np.float32)},
        TypeError,
        "segmented_sort: segment_ids must be integers, got float32[5].",
        id="float ids",
    ),
    pytest.param(
        {"segment_ids": np.zeros(4, np.int32)},
        ValueError,
        "segmented_sort: segment_ids must name a segment for each of the 5 rows, got int32[4].",
        id="length",
    ),
    pytest.param(
        {"segment_ids": KEYS, "num_segments": 0},
        ValueError,
        "segmented_sort: num_segments must be at least 1, got 0.",
        id="no segments",
    ),
    pytest.param(
        {"segment_ids": KEYS, "values": {"a": np.zeros((4, 5))}},
        ValueError,
        "segmented_sort: every leaf of values must have 5 rows along its leading axis, "
        "got float64[4,5].",
        id="values",
    ),
    pytest.param(
        {"segment_ids": KEYS, "num_valid": 6},
        ValueError,
        "segmented_sort: num_valid must be in [0, 5], got 6.",
        id="num_valid",
    ),
]


@pytest.mark.checks_arguments
@pytest.mark.parametrize(("arguments", "error", "message"), ERRORS)
def test_refuses(arguments, error, message):
    with pytest.raises(error) as raised:
        local.segmented_sort(KEYS, **arguments)
    assert str(raised.value) == message


@pytest.mark.checks_arguments
def test_refuses_a_traced_num_segments():
    with pytest.raises(TypeError) as raised:
        jax.jit(lambda n: local.segmented_sort(KEYS, KEYS, num_segments=n))(jnp.int32(5))
    assert str(raised.value) == (
        "segmented_sort: num_segments must be a Python integer, because shapes depend on it, got "
        "the traced int32[]. Mark it static (static_argnames in jax.jit)."
    )
