# SPDX-License-Identifier: Apache-2.0
"""Communication and memory on a mesh: no device receives or computes what all rows have together.

Checked in the compiled programs of the operations of the registry: every broadcast or gather is
smaller than a shard's rows, and the temporary memory of a device is at most twelve times that of
its rows, read and written. A few operations; the profile "long" compiles all of them.
"""

import jax
import numpy as np
import pandas as pd
import pytest
from compiled_program import CompiledProgram
from frame_operations import OPERATIONS
from frame_strategies import special_frame
from jaxframes.frame import JaxFrame
from jaxframes.frame.groupby import _resample, _sample
from jaxframes.frame.groupby._grouped_column import Segments
from jaxframes.frame.table._layout import layout_of
from jaxframes.shardings import make_mesh, replicated, row_sharded
from operation_parity import IS_LONG

NUM_SHARDS = 4
SHARD_ROWS = 2**12
NUM_ROWS = NUM_SHARDS * SHARD_ROWS
CHOSEN = [
    *("add", "mask", "isin", "map_dict", "str_contains", "sum", "cumsum", "group_by_category"),
    *("group_sum", "sort_keys"),
]
# Of the others both libraries refuse the arguments.
REFUSED = ("scalar_too_large", "bool_minus_bool")
MORE = [name for name, operation in OPERATIONS.items() if operation.jit and name not in REFUSED]
# Temporary bytes over those of the rows, read and written.
MOST_MEMORY = 12
# It takes 14.4 times the memory of its rows.
MORE_MEMORY = {"rolling_var": 15}


@pytest.fixture(scope="module")
def sharding():
    return row_sharded(make_mesh(NUM_SHARDS))


def frames_of(operation, sharding):
    """Frames that fill their capacity."""
    frames = [
        JaxFrame(special_frame(operation.columns, NUM_ROWS, seed), sharding=sharding)
        for seed in range(operation.num_frames)
    ]
    assert all(frame._table.capacity == NUM_ROWS for frame in frames)
    return frames


def check(compiled):
    program = CompiledProgram(compiled.as_text())
    for message in ("all-gather", "all-reduce", "collective-broadcast"):
        assert all(elements < SHARD_ROWS for _, elements in program.results(message)), message


@pytest.mark.parametrize("name", MORE if IS_LONG else CHOSEN)
def test_no_device_gets_as_many_rows_as_a_shard_has(name, sharding):
    operation = OPERATIONS[name]
    compiled = jax.jit(operation.run).lower(*frames_of(operation, sharding)).compile()
    check(compiled)
    memory = compiled.memory_analysis()
    rows = memory.argument_size_in_bytes + memory.output_size_in_bytes
    assert memory.temp_size_in_bytes <= MORE_MEMORY.get(name, MOST_MEMORY) * rows
    if IS_LONG:
        jax.clear_caches()


def test_what_gathers_rows_is_seen(sharding):
    frame = JaxFrame({"x": np.zeros(NUM_ROWS)}, sharding=sharding)
    everywhere = replicated(sharding.mesh)
    gather = jax.jit(lambda f: jax.lax.with_sharding_constraint(f["x"], everywhere))
    program = CompiledProgram(gather.lower(frame).compile().as_text())
    assert ("f64", NUM_ROWS) in program.results("all-gather")


def test_groups_of_many_categories(sharding):
    codes = np.random.default_rng(0).integers(-1, 5000, NUM_ROWS)
    keys = pd.Categorical.from_codes(codes, np.arange(5000) * 3)
    frame = JaxFrame({"k": keys, "x": np.arange(NUM_ROWS)}, sharding=sharding)

    def numbered(frame):
        groups = frame.groupby("k", observed=False)
        return groups.ngroup(), groups["x"].sum()

    check(jax.jit(numbered).lower(frame).compile())


def test_a_number_for_each_of_many_groups(sharding):
    """What `sample`, `take` and `resample` of groups compute for the host."""
    layout = layout_of(sharding, "test")
    rows = layout.place(np.arange(NUM_ROWS, dtype=np.int32))
    groups = Segments(rows, None, NUM_ROWS, layout)
    check(jax.jit(_sample._sizes).lower(groups, rows).compile())
    check(jax.jit(_resample._ends_of_groups).lower(groups, (rows, rows)).compile())
    check(jax.jit(_resample._bin_ids).lower(groups, rows, rows).compile())
