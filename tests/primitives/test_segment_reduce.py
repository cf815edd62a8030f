# SPDX-License-Identifier: Apache-2.0
"""`segment_reduce` of whole arrays over a mesh."""

import functools

import jax
import numpy as np
import oracles
import pytest
from jax.sharding import AxisType
from jaxframes import primitives, shardings
from jaxframes.primitives.contract._segment_forms import HAVE_DDOF, SEGMENT_OPS
from key_distributions import make_keys
from on_shards import mesh_of, noting
from reduced_rows import assert_is_reduced

NUM_SEGMENTS = 7


@functools.cache
def reducer(num_shards):
    @jax.jit
    def reduce(x, segment_ids):
        return {
            op: primitives.segment_reduce(x, segment_ids, NUM_SEGMENTS, op, mesh_of(num_shards))
            for op in SEGMENT_OPS
        }

    return reduce


def segment_ids_of(num_rows):
    return np.random.default_rng(0).integers(-2, NUM_SEGMENTS + 2, num_rows)


@pytest.mark.parametrize("num_rows", [0, 1, 7, 8, 65])
def test_every_length(num_rows):
    x = make_keys("uniform", num_rows, np.dtype(np.float32)) / 64
    segment_ids = segment_ids_of(num_rows)
    for num_shards in (3, 8):
        reduced = reducer(num_shards)(x, segment_ids)
        for op in SEGMENT_OPS:
            with noting((num_shards, op)):
                assert_is_reduced(reduced[op], x, segment_ids, NUM_SEGMENTS, op)


@pytest.mark.parametrize("op", SEGMENT_OPS)
def test_named_forms(op):
    x, segment_ids = make_keys("uniform", 50, np.dtype(np.int16)), segment_ids_of(50)
    named = getattr(primitives, f"segment_{op}")
    arguments = () if op == "count" else ({"x": x},)
    settings = {"ddof": 1} if op in HAVE_DDOF else {}
    for mesh in (None, mesh_of(3)):
        actual = named(*arguments, segment_ids, NUM_SEGMENTS, mesh, **settings)
        actual = actual if op == "count" else actual["x"]
        assert_is_reduced(actual, x, segment_ids, NUM_SEGMENTS, op, **settings)


@pytest.mark.parametrize("axis_type", [AxisType.Auto, AxisType.Explicit])
def test_every_device_gets_the_result(axis_type):
    mesh = jax.make_mesh((2, 3), ("host", "device"), axis_types=(axis_type,) * 2)
    x, segment_ids = make_keys("uniform", 50, np.dtype(np.int64)), segment_ids_of(50)
    for axis in (None, "device"):
        for op in ("sum", "argmax", "last"):
            reduced = primitives.segment_reduce(
                x, segment_ids, NUM_SEGMENTS, op, mesh, axis=axis, fill_value=3
            )
            expected = oracles.segment_reduce(x, segment_ids, NUM_SEGMENTS, op)
            oracles.assert_same_bits(reduced, expected)
            assert reduced.sharding.is_equivalent_to(shardings.replicated(mesh), 1)
