# SPDX-License-Identifier: Apache-2.0
"""Communication on a mesh: rows move between shards, and no device receives all of them.

Checked in the compiled programs: every broadcast or gather is smaller than a shard's rows. The
profile "long" compiles the other core operations, too.
"""

import jax
import pytest
from compiled_program import CompiledProgram
from frame_strategies import special_frame
from jaxframes.frame import JaxFrame, concat
from jaxframes.shardings import make_mesh, replicated, row_sharded
from operation_parity import IS_LONG

NUM_SHARDS = 4
SHARD_ROWS = 2**14
NUM_ROWS = NUM_SHARDS * SHARD_ROWS
# Every device has the result of every group, so the capacity for groups is less than the rows.
FEW = 256

OPERATIONS = {
    "arithmetic": lambda f: f["x"] * 2 + f["k"],
    "filter": lambda f: f[f["x"] > 0],
    "sort_values": lambda f: f.sort_values(["k", "x"]),
    "reductions": lambda f: (f[["k", "x"]].sum(), f["x"].median(), f["x"].std()),
    "groupby of categories": lambda f: f.groupby("o")["x"].sum(),
    "cumsum": lambda f: f["x"].cumsum(),
}
MORE = {
    "groupby": lambda f: f.groupby("k", capacity=FEW)["x"].sum(),
    "groupby median": lambda f: f.groupby("k", capacity=FEW)["x"].median(),
    "groupby rank": lambda f: f.groupby("k", capacity=FEW)["x"].rank(),
    "groupby transform": lambda f: f.groupby("k", capacity=FEW)["x"].transform("sum"),
    "merge": lambda f: f[["k", "x"]].merge(f[["i64", "y"]], left_on="k", right_on="i64"),
    "concat": lambda f: concat([f, f]),
    "drop_duplicates": lambda f: f[["k", "x"]].drop_duplicates(),
    "shift": lambda f: f.shift(1),
    "diff": lambda f: f["x"].diff(),
    "ffill": lambda f: f["x"].ffill(),
    "rolling": lambda f: f["x"].rolling(3).sum(),
    "expanding": lambda f: f["x"].expanding().max(),
    "rank": lambda f: f["x"].rank(),
    "value_counts": lambda f: f["k"].value_counts(),
    "isin": lambda f: f["k"].isin([1, 2, 9]),
    "head": lambda f: f.head(5),
    "dropna": lambda f: f.dropna(),
    "nunique": lambda f: f["x"].nunique(),
    "quantile": lambda f: f["x"].quantile([0.1, 0.5]),
}


@pytest.fixture(scope="module")
def frame():
    rows = special_frame(["k", "x", "y", "s", "i64", "b", "o"], NUM_ROWS).reset_index(drop=True)
    frame_on_mesh = JaxFrame(rows, sharding=row_sharded(make_mesh(NUM_SHARDS)))
    assert frame_on_mesh._table.capacity == NUM_ROWS
    return frame_on_mesh


@pytest.mark.parametrize("name", [*OPERATIONS, *(MORE if IS_LONG else ())])
def test_no_device_gets_as_many_rows_as_a_shard_has(frame, name):
    run = {**OPERATIONS, **MORE}[name]
    program = CompiledProgram(jax.jit(run).lower(frame).compile().as_text())
    for message in ("all-gather", "all-reduce", "collective-broadcast"):
        assert all(elements < SHARD_ROWS for _, elements in program.results(message)), message


def test_what_gathers_rows_is_seen(frame):
    mesh = make_mesh(NUM_SHARDS)
    gather = jax.jit(lambda f: jax.lax.with_sharding_constraint(f["x"], replicated(mesh)))
    program = CompiledProgram(gather.lower(frame).compile().as_text())
    assert ("f64", NUM_ROWS) in program.results("all-gather")
