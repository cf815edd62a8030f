# SPDX-License-Identifier: Apache-2.0
"""`local.segment_top_k` against the NumPy oracle."""

import functools

import jax
import numpy as np
import oracles
import pytest
from jax.test_util import check_grads
from jaxframes.primitives import backend, kernels, local
from key_distributions import KEY_DTYPES, make_keys
from on_shards import compiled

NUM_ROWS, NUM_SEGMENTS = 600, 9
needs_kernels = pytest.mark.skipif(backend().cpu != "native", reason=backend().reason)


@functools.cache
def finder(k, largest):
    return compiled(
        lambda x, ids, valid: local.segment_top_k(
            x, ids, NUM_SEGMENTS, k, largest=largest, num_valid=valid
        )
    )


def segment_ids(seed=0, num_rows=NUM_ROWS):
    """Ids in random order, some outside; the last segment is empty, another has two rows."""
    ids = np.random.default_rng(seed).integers(-1, NUM_SEGMENTS - 2, num_rows)
    ids[5::400] = NUM_SEGMENTS - 2
    ids[7::90] = NUM_SEGMENTS + 3
    return ids.astype(np.int32)


def expected_rows(x, ids, k, largest, num_valid):
    order = oracles.argsort((x,), descending=largest, num_valid=num_valid)[:num_valid]
    result = np.full((NUM_SEGMENTS, k), -1, np.int32)
    for segment in range(NUM_SEGMENTS):
        rows = order[ids[order] == segment][:k]
        result[segment, : len(rows)] = rows
    return result


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dtype", KEY_DTYPES, ids=str)
@pytest.mark.parametrize("name", ["uniform", "four_values", "nan_inf_sprinkled"])
def test_matches_a_sort_of_each_segment(name, dtype, largest):
    if name == "nan_inf_sprinkled" and not oracles.is_float(dtype):
        pytest.skip("floats only")
    x, ids = make_keys(name, NUM_ROWS, dtype), segment_ids()
    for num_valid in (NUM_ROWS, 40):
        top = finder(3, largest)(x, ids, num_valid)
        rows = expected_rows(x, ids, 3, largest, num_valid)
        values = np.where(rows >= 0, x[rows], np.zeros((), x.dtype))
        oracles.assert_same_bits(tuple(top), (values, rows))


@pytest.mark.parametrize("num_rows", [0, 1])
@pytest.mark.parametrize("k", [0, 2])
def test_few_rows(num_rows, k):
    top = local.segment_top_k(np.arange(num_rows), np.zeros(num_rows, np.int32), 2, k)
    assert top.row_ids.shape == top.values.shape == (2, k)
    assert top.row_ids.tolist() == [([0] * num_rows + [-1] * k)[:k], [-1] * k]


@needs_kernels
@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_native_and_portable_agree(dtype, monkeypatch):
    x, ids = make_keys("uniform", 40_000, np.dtype(dtype)), segment_ids(num_rows=40_000)
    native = local.segment_top_k(x, ids, NUM_SEGMENTS, 70)
    monkeypatch.setattr(kernels.sort._segment_top_k, "is_native", lambda: False)
    jax.clear_caches()
    portable = jax.jit(lambda: local.segment_top_k(x, ids, NUM_SEGMENTS, 70))()
    oracles.assert_same_bits(tuple(native), tuple(portable))


def test_a_batch():
    x = np.random.default_rng(0).permutation(120).astype(float).reshape(3, 40)
    ids = np.stack([segment_ids(seed, 40) for seed in range(3)])
    top = jax.vmap(lambda x, ids: local.segment_top_k(x, ids, NUM_SEGMENTS, 2))(x, ids)
    for row in range(3):
        expected = expected_rows(x[row], ids[row], 2, True, 40)
        oracles.assert_same_bits(top.row_ids[row], expected)


def test_derivative():
    x, ids = (
        np.random.default_rng(0).permutation(8).astype(float),
        np.array([0, 1, 0, 1, 0, 1, 0, 9]),
    )
    check_grads(lambda x: local.segment_top_k(x, ids, 3, 2).values ** 3, (x,), order=2)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: local.segment_top_k(np.ones(2), np.zeros(2), 1, 1), TypeError,
         "segment_top_k: segment_ids must be"),
        (lambda: local.segment_top_k(np.ones(2), np.zeros(2, int), 0, 1), ValueError,
         "segment_top_k: num_segments must be"),
        (lambda: local.segment_top_k(np.ones(2), np.zeros(2, int), 1, -1), ValueError,
         "segment_top_k: k must be"),
        (lambda: local.segment_top_k(np.ones(2) * 1j, np.zeros(2, int), 1, 1), TypeError,
         "segment_top_k: x must be of one of the dtypes"),
    ],
)  # fmt: skip
def test_raises(call, error, message):
    with pytest.raises(error, match=message):
        call()
