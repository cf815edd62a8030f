# SPDX-License-Identifier: Apache-2.0
"""How much memory a sort takes beside its input and output, as XLA plans it."""

import jax
import jax.numpy as jnp
import pytest
from jaxframes import primitives, shardings
from on_shards import mesh_of

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
