# SPDX-License-Identifier: Apache-2.0
"""Counts and sums of few segments on TPU: the Pallas kernel, interpreted on CPU, against NumPy."""

import functools

import interpreted
import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from covering import needs_long_profile
from jaxframes import shardings
from jaxframes.primitives import local
from jaxframes.primitives.kernels.reduce import _segment_sum_tpu

sum_segments_tpu = _segment_sum_tpu.sum_segments_tpu
# Two blocks and a part of a third one.
NUM_ROWS = 2 * 1024 + 77


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(_segment_sum_tpu, "BLOCK_LINES", 8)
    monkeypatch.setattr(_segment_sum_tpu, "MOST_UNROLLED", 2)


def ids_of(num_rows, num_segments):
    """Ids; some are out of range on either side."""
    return np.random.default_rng(0).integers(-3, num_segments + 3, num_rows, np.int32)


def sums_of(rows, ids, num_segments):
    is_member = (ids >= 0) & (ids < num_segments)
    sums = np.zeros(num_segments, rows.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        np.add.at(sums, ids[is_member], rows[is_member])
    return sums


@pytest.mark.parametrize("num_segments", [1, 255, 256, 257, 4096])
def test_counts(num_segments):
    ids = ids_of(NUM_ROWS, num_segments)
    actual = _segment_sum_tpu.count_segments_tpu(jnp.asarray(ids), num_segments, True)
    oracles.assert_same_bits(actual, sums_of(np.ones(NUM_ROWS, np.int32), ids, num_segments))


@pytest.mark.parametrize("dtype", ["int32", "uint32"])
@pytest.mark.parametrize("num_segments", [3, 300])
def test_integers_are_exact_and_wrap(dtype, num_segments):
    info = np.iinfo(dtype)
    rows = np.random.default_rng(1).integers(info.min, info.max, NUM_ROWS, dtype, endpoint=True)
    ids = ids_of(NUM_ROWS, num_segments)
    actual = sum_segments_tpu(jnp.asarray(rows), jnp.asarray(ids), num_segments, True)
    oracles.assert_same_bits(actual, sums_of(rows, ids, num_segments))


def test_bytes_of_a_block_add_up_exactly(monkeypatch):
    monkeypatch.undo()
    # The largest sum of a block, which float32 barely holds.
    num_rows = _segment_sum_tpu.BLOCK_LINES * _segment_sum_tpu.LANES
    rows, ids = jnp.full(num_rows, 255, jnp.int32), jnp.zeros(num_rows, jnp.int32)
    assert sum_segments_tpu(rows, ids, 1, True).tolist() == [255 * num_rows]


@pytest.mark.parametrize("num_rows", [1, 1024, 1025])
def test_edge_sizes(num_rows):
    rows, ids = np.arange(num_rows, dtype=np.int32), ids_of(num_rows, 5)
    actual = sum_segments_tpu(jnp.asarray(rows), jnp.asarray(ids), 5, True)
    oracles.assert_same_bits(actual, sums_of(rows, ids, 5))


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_sums_of_floats_are_within_their_bound(scale):
    num_segments = 20
    rows = (scale * np.random.default_rng(2).standard_normal(NUM_ROWS)).astype(np.float32)
    ids = ids_of(NUM_ROWS, num_segments)
    run = jax.jit(functools.partial(sum_segments_tpu, num_segments=num_segments, interpret=True))
    actual = np.asarray(run(jnp.asarray(rows), jnp.asarray(ids)), np.float64)
    exact = sums_of(rows.astype(np.float64), ids, num_segments)
    magnitudes = sums_of(np.abs(rows).astype(np.float64), ids, num_segments)
    counts = sums_of(np.ones(NUM_ROWS), ids, num_segments)
    assert (np.abs(actual - exact) <= (counts + 3) * 2**-24 * magnitudes).all()


def test_one_row_of_a_segment_keeps_its_bits():
    bits = np.random.default_rng(3).integers(0x20000000, 0x7F800000, 100, np.uint32)
    rows, ids = bits.view(np.float32), np.arange(100, dtype=np.int32)
    rows[::2] *= -1
    oracles.assert_same_bits(sum_segments_tpu(jnp.asarray(rows), jnp.asarray(ids), 100, True), rows)


def test_infinities_and_nan_stay_in_their_segments():
    rows = np.array([1, np.inf, 2, -np.inf, 3, np.nan, 4, np.inf, -np.inf, 5], np.float32)
    ids = np.array([0, 1, 1, 2, 2, 3, 3, 4, 4, 9], np.int32)
    actual = sum_segments_tpu(jnp.asarray(rows), jnp.asarray(ids), 9, True)
    np.testing.assert_array_equal(
        np.asarray(actual), [1, np.inf, -np.inf, np.nan, np.nan, 0, 0, 0, 0]
    )


@needs_long_profile
def test_no_races():
    rows, ids = np.ones(NUM_ROWS, np.float32), ids_of(NUM_ROWS, 300)
    actual = sum_segments_tpu(jnp.asarray(rows), jnp.asarray(ids), 300, interpreted.WITH_RACES)
    oracles.assert_same_bits(actual, sums_of(rows, ids, 300))


def test_each_row_of_a_batch_is_its_own():
    rows = np.arange(3 * 1100, dtype=np.int32).reshape(3, 1100)
    ids = np.stack([np.roll(ids_of(1100, 7), shift) for shift in range(3)])
    actual = jax.vmap(lambda *row: sum_segments_tpu(*row, 7, True))(
        jnp.asarray(rows), jnp.asarray(ids)
    )
    expected = np.stack([sums_of(*row, 7) for row in zip(rows, ids, strict=True)])
    oracles.assert_same_bits(actual, expected)


def test_results_vary_over_the_mesh():
    mesh = shardings.make_mesh(2)
    by_row = jax.sharding.PartitionSpec(mesh.axis_names)
    rows, ids = np.arange(2 * 1100, dtype=np.float32), ids_of(2 * 1100, 5)

    def on_tpu(rows, ids):
        return sum_segments_tpu(rows, ids, 5, interpreted.ON_MESH)

    run = jax.jit(jax.shard_map(on_tpu, mesh=mesh, in_specs=by_row, out_specs=by_row))
    halves = zip(rows.reshape(2, -1), ids.reshape(2, -1), strict=True)
    oracles.assert_same_bits(
        run(jnp.asarray(rows), jnp.asarray(ids)),
        np.concatenate([sums_of(*half, 5) for half in halves]),
    )


def test_programs_for_tpu_scatter_no_rows_of_few_segments():
    rows = jax.ShapeDtypeStruct((2048,), np.float32)
    ids = jax.ShapeDtypeStruct((2048,), np.int32)

    def derivative(rows, ids):
        return jax.grad(lambda rows: (local.segment_sum(rows, ids, 9) ** 2).sum())(rows)

    for function in (
        lambda rows, ids: local.segment_sum(rows, ids, 4096),
        lambda rows, ids: local.segment_mean(rows, ids, 64),
        lambda rows, ids: local.segment_count(ids, 64),
        lambda rows, ids: local.digit_histogram(ids, 0, 8),
        lambda rows, ids: local.histogram(rows, bins=256, range=(0, 1)),
        derivative,
    ):
        text = interpreted.lowered_with_kernels(function, rows, ids)
        assert "tpu_custom_call" in text
        assert "stablehlo.scatter" not in text
    text = interpreted.lowered_with_kernels(
        lambda rows, ids: local.segment_sum(rows, ids, 4097), rows, ids
    )
    assert "tpu_custom_call" not in text
