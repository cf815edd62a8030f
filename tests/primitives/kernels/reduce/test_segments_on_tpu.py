# SPDX-License-Identifier: Apache-2.0
"""Segment reductions on TPU by comparisons and by sorts, run on CPU, against NumPy."""

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
from jaxframes.primitives.kernels.reduce import _compared_segments_tpu, _sorted_segments_tpu
from jaxframes.primitives.kernels.reduce._segments_on_tpu import sums_on_tpu

NUM_ROWS = 2 * 1024 + 77
UFUNCS = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}
IDENTITY = {
    "add": lambda _: 0,
    "mul": lambda _: 1,
    "min": lambda dtype: np.iinfo(dtype).max,
    "max": lambda dtype: np.iinfo(dtype).min,
}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(_compared_segments_tpu, "BLOCK_LINES", 8)
    monkeypatch.setattr(_compared_segments_tpu, "CHUNK_SEGMENTS", 16)


def compared(op, rows, ids, num_segments, initial):
    return _compared_segments_tpu.reduce_compared(op, rows, ids, num_segments, initial, True)


WAYS = {"compared": compared, "sorted": _sorted_segments_tpu.reduce_sorted}
by_each_way = pytest.mark.parametrize("way", WAYS)


def run(way, op, rows, ids, num_segments, initial):
    reduce = functools.partial(WAYS[way], op, num_segments=num_segments)
    initial = jnp.asarray(initial, rows.dtype)
    return jax.jit(reduce)(jnp.asarray(rows), jnp.asarray(ids), initial=initial)


def ids_of(num_rows, num_segments):
    """Ids; some are out of range on either side."""
    return np.random.default_rng(0).integers(-3, num_segments + 3, num_rows, np.int32)


def expected_of(op, rows, ids, num_segments, initial):
    is_member = (ids >= 0) & (ids < num_segments)
    reduced = np.full(num_segments, initial, rows.dtype)
    with np.errstate(over="ignore"):
        UFUNCS[op].at(reduced, ids[is_member], rows[is_member])
    return reduced


@by_each_way
@pytest.mark.parametrize("op", ["mul", "min", "max"])
@pytest.mark.parametrize(
    ("dtype", "num_segments"), [("int32", 1), ("int32", 40), ("uint32", 33), ("int32", 300)]
)
def test_integers(way, op, dtype, num_segments):
    info = np.iinfo(dtype)
    rows = np.random.default_rng(1).integers(info.min, info.max, NUM_ROWS, dtype, endpoint=True)
    ids, initial = ids_of(NUM_ROWS, num_segments), IDENTITY[op](dtype)
    actual = run(way, op, rows, ids, num_segments, initial)
    oracles.assert_same_bits(actual, expected_of(op, rows, ids, num_segments, initial))


@by_each_way
def test_products_of_floats(way):
    rows = np.exp2(np.random.default_rng(2).integers(-2, 3, NUM_ROWS)).astype(np.float32)
    rows[::5] *= -1
    # About ten rows of a segment, so that no product overflows.
    ids = ids_of(NUM_ROWS, 200)
    oracles.assert_same_bits(
        run(way, "mul", rows, ids, 200, 1), expected_of("mul", rows, ids, 200, 1)
    )


@by_each_way
@pytest.mark.parametrize("num_rows", [1, 1024, 1025])
def test_edge_sizes(way, num_rows):
    rows, ids = np.arange(num_rows, dtype=np.int32), ids_of(num_rows, 5)
    oracles.assert_same_bits(
        run(way, "max", rows, ids, 5, -1), expected_of("max", rows, ids, 5, -1)
    )


@pytest.mark.parametrize("dtype", ["int32", "float32", "int8"])
def test_sums_of_many_segments(dtype):
    rows = np.random.default_rng(3).integers(-100, 100, NUM_ROWS).astype(dtype)
    for num_segments in (4097, 9000):
        ids = ids_of(NUM_ROWS, num_segments)
        actual = sums_on_tpu(jnp.asarray(rows), jnp.asarray(ids), num_segments)
        oracles.assert_same_bits(actual, expected_of("add", rows, ids, num_segments, 0))


def test_a_sum_of_negative_zeros_is_zero():
    rows, ids = jnp.full(4, -0.0, jnp.float32), jnp.arange(4, dtype=jnp.int32)
    oracles.assert_same_bits(sums_on_tpu(rows, ids, 5000), np.zeros(5000, np.float32))


@pytest.mark.parametrize("num_segments", [1, 5000])
def test_counts(num_segments):
    ids = ids_of(NUM_ROWS, num_segments)
    actual = _sorted_segments_tpu.count_sorted(jnp.asarray(ids), num_segments)
    ones = np.ones(NUM_ROWS, np.int32)
    oracles.assert_same_bits(actual, expected_of("add", ones, ids, num_segments, 0))


@by_each_way
def test_each_row_of_a_batch_is_its_own(way):
    rows = np.arange(3 * 1100, dtype=np.int32).reshape(3, 1100)
    ids = np.stack([np.roll(ids_of(1100, 7), shift) for shift in range(3)])
    actual = jax.vmap(lambda *row: WAYS[way]("min", *row, 7, jnp.int32(9999)))(
        jnp.asarray(rows), jnp.asarray(ids)
    )
    expected = [expected_of("min", *row, 7, 9999) for row in zip(rows, ids, strict=True)]
    oracles.assert_same_bits(actual, np.stack(expected))


@pytest.mark.parametrize("way", ["compared", "max", "add", "count"])
def test_results_vary_over_the_mesh(way):
    mesh = shardings.make_mesh(2)
    by_row = jax.sharding.PartitionSpec(mesh.axis_names)
    rows, ids = np.arange(2 * 1100, dtype=np.int32), ids_of(2 * 1100, 5)

    def reduce(rows, ids):
        nothing = jnp.int32(0)
        if way == "compared":
            return _compared_segments_tpu.reduce_compared(
                "max", rows, ids, 5, nothing, interpreted.ON_MESH
            )
        if way == "count":
            return _sorted_segments_tpu.count_sorted(ids, 5)
        return _sorted_segments_tpu.reduce_sorted(way, rows, ids, 5, nothing)

    program = jax.jit(jax.shard_map(reduce, mesh=mesh, in_specs=by_row, out_specs=by_row))
    op = "max" if way == "compared" else "add" if way == "count" else way
    given = np.ones_like(rows) if way == "count" else rows
    halves = zip(given.reshape(2, -1), ids.reshape(2, -1), strict=True)
    oracles.assert_same_bits(
        program(jnp.asarray(rows), jnp.asarray(ids)),
        np.concatenate([expected_of(op, *half, 5, 0) for half in halves]),
    )


@needs_long_profile
def test_no_races():
    rows, ids = np.arange(NUM_ROWS, dtype=np.int32), ids_of(NUM_ROWS, 40)
    actual = _compared_segments_tpu.reduce_compared(
        "max", rows, ids, 40, jnp.int32(-1), interpreted.WITH_RACES
    )
    oracles.assert_same_bits(actual, expected_of("max", rows, ids, 40, -1))


OPS = ("sum", "prod", "min", "max", "count", "mean", "first", "last", "any", "argmax")


@pytest.mark.parametrize("num_segments", [64, 5000])
def test_programs_for_tpu_scatter_no_rows(num_segments):
    rows = jax.ShapeDtypeStruct((4096,), np.float32)
    ids = jax.ShapeDtypeStruct((4096,), np.int32)

    def all_ops(rows, ids):
        return [local.segment_reduce(rows, ids, num_segments, op) for op in OPS]

    text = interpreted.lowered_with_kernels(all_ops, rows, ids)
    assert "stablehlo.scatter" not in text
