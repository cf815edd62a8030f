# SPDX-License-Identifier: Apache-2.0
"""How much memory ops over a mesh take beside their input and output, as XLA plans it."""

import jax
import jax.numpy as jnp
import pytest
from jaxframes import primitives, shardings
from on_shards import mesh_of, noting

NUM_SHARDS = 8
SHARD_ROWS = 2**16

COLUMNS = {
    "int32": (jnp.int32, ()),
    "float32": (jnp.float32, ()),
    "int64": (jnp.int64, ()),
    "float64": (jnp.float64, ()),
    "int32 with int32": (jnp.int32, (jnp.int32,)),
    "int64 with float64": (jnp.int64, (jnp.float64,)),
    "int32 with four float64": (jnp.int32, (jnp.float64,) * 4),
}


def memory_of(key_dtype, value_dtypes, **options):
    mesh = mesh_of(NUM_SHARDS)

    def rows_of(dtype):
        sharding = shardings.row_sharded(mesh)
        return jax.ShapeDtypeStruct((NUM_SHARDS * SHARD_ROWS,), dtype, sharding=sharding)

    def sort(keys, values):
        return primitives.radix_sort(keys, mesh, values=values, **options)

    values = [rows_of(dtype) for dtype in value_dtypes] or None
    return jax.jit(sort).lower(rows_of(key_dtype), values).compile().memory_analysis()


@pytest.mark.parametrize("name", COLUMNS)
def test_a_sort_takes_four_times_its_input_at_most(name):
    memory = memory_of(*COLUMNS[name])
    assert memory.argument_size_in_bytes >= SHARD_ROWS * 4
    # What splitters and runs are counted in does not grow with the rows.
    counts_bytes = 2**14
    assert memory.temp_size_in_bytes <= 4 * memory.argument_size_in_bytes + counts_bytes


def test_rows_that_are_asked_for_in_any_way_take_eight_times_the_input():
    mesh = mesh_of(NUM_SHARDS)
    sharding = shardings.row_sharded(mesh)

    def rows_of(shape, dtype):
        return jax.ShapeDtypeStruct((NUM_SHARDS * SHARD_ROWS, *shape), dtype, sharding=sharding)

    calls = {
        "gather_rows": (
            lambda rows, ids: primitives.gather_rows(rows, ids, mesh),
            rows_of((16,), jnp.float32),
            rows_of((), jnp.int32),
        ),
        "reduce_by_key": (
            lambda keys, values: primitives.reduce_by_key(keys, values, "sum", mesh),
            rows_of((), jnp.int64),
            rows_of((), jnp.float64),
        ),
    }
    for name, (call, *arguments) in calls.items():
        memory = jax.jit(call).lower(*arguments).compile().memory_analysis()
        with noting(name):
            assert memory.temp_size_in_bytes <= 8 * memory.argument_size_in_bytes
