# SPDX-License-Identifier: Apache-2.0
"""Reductions of many segments. Each shard gets the results of a range of them."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from compiled_program import CompiledProgram
from jax.sharding import AxisType
from jaxframes import primitives, shardings
from jaxframes.primitives import collective
from jaxframes.primitives.contract._segment_forms import SEGMENT_OPS
from key_distributions import make_keys
from on_shards import into_shards, mesh_of, noting, on_shards, row_counts, valid_rows
from reduced_rows import assert_is_reduced

NUM_ROWS, NUM_SEGMENTS = 9, 29
Q = np.array([0.0, 0.3, 1.0])


@functools.cache
def reducer(num_shards, ops=SEGMENT_OPS):
    """One program that makes every reduction, each shard its own range."""

    def reduce(x, ids, num_valid):
        settings = {"axis_name": "rows", "num_valid": num_valid, "scattered": True}
        of = x, ids, NUM_SEGMENTS
        return {
            **{op: collective.segment_reduce(*of, op, **settings) for op in ops},
            "nunique": collective.segment_nunique(*of, **settings),
            "quantile": collective.segment_quantile(*of, Q, **settings),
        }

    return on_shards(reduce, num_shards)


def ids_of(num_shards):
    """Ids by name: in any order, of one segment, of none, and all at one end of the range."""
    rng = np.random.default_rng(0)
    shape = num_shards, NUM_ROWS
    return {
        "any": rng.integers(-2, NUM_SEGMENTS + 3, shape),
        "one": np.full(shape, NUM_SEGMENTS - 1),
        "none": np.full(shape, -1),
        "at the start": rng.integers(0, 3, shape),
        "sorted": np.arange(num_shards * NUM_ROWS).reshape(shape) % NUM_SEGMENTS,
    }


def whole(pieces):
    """The segments of all shards; the last piece may be padded."""
    pieces = np.asarray(pieces)
    return pieces.reshape(-1, *pieces.shape[2:])[:NUM_SEGMENTS]


@pytest.mark.parametrize(("num_shards", "dtype"), [(3, np.float32), (8, np.int16)], ids=str)
def test_every_reduction(num_shards, dtype):
    x = into_shards(make_keys("uniform", num_shards * NUM_ROWS, np.dtype(dtype)), num_shards)
    x = x / 8 if dtype == np.float32 else x
    ops = tuple(op for op in SEGMENT_OPS if op != "prod" or dtype != np.float32)
    for counts_name in ("all", "growing", "all on the last shard"):
        counts = row_counts(num_shards, NUM_ROWS)[counts_name]
        for name, ids in ids_of(num_shards).items():
            reduced = reducer(num_shards, ops)(x, ids, counts)
            is_row = np.arange(NUM_ROWS) < counts[:, None]
            all_ids = np.where(is_row, ids, -1).reshape(-1)
            for op in ops:
                with noting((counts_name, name, op)):
                    assert_is_reduced(whole(reduced[op]), x.reshape(-1), all_ids, NUM_SEGMENTS, op)
            with noting((counts_name, name)):
                of = valid_rows(x, counts), valid_rows(ids, counts), NUM_SEGMENTS
                expected = oracles.segment_nunique((of[0],), *of[1:])
                np.testing.assert_array_equal(whole(reduced["nunique"]), expected)
                expected = oracles.segment_quantile(*of, Q)
                np.testing.assert_allclose(whole(reduced["quantile"]), expected, rtol=1e-6)


def test_special_values_keep_their_bits():
    ops = ("min", "argmax", "first", "last", "any")
    x = into_shards(make_keys("nan_inf_sprinkled", 3 * NUM_ROWS, np.dtype(np.float64)), 3)
    counts = row_counts(3, NUM_ROWS)["all"]
    ids = ids_of(3)["at the start"]
    reduced = reducer(3, ops)(x, ids, counts)
    for op in ops:
        assert_is_reduced(whole(reduced[op]), x.reshape(-1), ids.reshape(-1), NUM_SEGMENTS, op)


@pytest.mark.parametrize("axis_type", [AxisType.Auto, AxisType.Explicit])
def test_whole_arrays(axis_type):
    mesh = shardings.make_mesh(4, axis_type=axis_type)
    rng = np.random.default_rng(1)
    ids, x = rng.integers(0, 40, 23), rng.integers(-9, 9, (23, 2))
    for op, fill in (("sum", 7), ("max", -3), ("argmin", None)):
        result = primitives.segment_reduce(x, ids, 40, op, mesh, fill_value=fill, scattered=True)
        expected = primitives.segment_reduce(x, ids, 40, op, fill_value=fill)
        np.testing.assert_array_equal(result, expected)
        assert result.sharding.is_equivalent_to(shardings.row_sharded(mesh), 2)
    # The mesh does not divide 41.
    counts = primitives.segment_count(ids, 41, mesh, scattered=True)
    np.testing.assert_array_equal(counts, np.bincount(ids, minlength=41))


def test_gradients_are_those_of_one_device():
    ids = np.random.default_rng(2).integers(0, 30, 24)
    x = np.random.default_rng(3).normal(size=24)
    weights = np.random.default_rng(4).normal(size=30)

    def loss(x, mesh):
        settings = {} if mesh is None else {"mesh": mesh, "scattered": True}
        total = jnp.zeros(())
        for op in ("prod", "var", "min"):
            result = primitives.segment_reduce(x, ids, 30, op, fill_value=0.5, **settings)
            total += jnp.sum(weights * result**2)
        medians = primitives.segment_quantile(x, ids, 30, **settings)
        return total + jnp.sum(jnp.where(jnp.isnan(medians), 0, medians * weights))

    expected = jax.grad(loss)(x, None)
    np.testing.assert_allclose(jax.grad(loss)(x, mesh_of(3)), expected, rtol=1e-10)


def test_no_shard_holds_all_segments():
    num_shards, rows = 8, 2**12
    mesh, num_segments = mesh_of(num_shards), num_shards * rows

    def sums(x, ids):
        return primitives.segment_sum(x, ids, num_segments, mesh, scattered=True)

    def arrays(dtype):
        sharding = shardings.row_sharded(mesh)
        return jax.ShapeDtypeStruct((num_segments,), dtype, sharding=sharding)

    compiled = jax.jit(sums).lower(arrays(np.float64), arrays(np.int32)).compile()
    program = CompiledProgram(compiled.as_text())
    for message in ("all-gather", "all-reduce", "reduce-scatter"):
        assert all(elements < rows for _, elements in program.results(message)), message
    memory = compiled.memory_analysis()
    assert memory.temp_size_in_bytes <= 12 * memory.argument_size_in_bytes
