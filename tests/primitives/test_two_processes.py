# SPDX-License-Identifier: Apache-2.0
"""Every op over two processes, and a sort that needs the memory of both."""

import sys

import pytest
from covering import RUNS_ALL
from jaxframes.primitives import backend
from two_processes import run_all

SORTING = """
import contextlib
import resource

import jax.numpy as jnp

NUM_ROWS = np.uint32(2**25)
# Odd, and the rows are a power of two: each number below that is one row's key.
FACTOR = np.uint32(2654435761)
# Two processes need 1.29, and one by itself 2.
SHARES = 1.5


def planned_bytes(program):
    memory = program.memory_analysis()
    needed = memory.argument_size_in_bytes + memory.output_size_in_bytes
    return needed + memory.temp_size_in_bytes


def compiled_sort(num_rows, mesh):
    sharding = mesh and shardings.row_sharded(mesh)
    rows = jax.ShapeDtypeStruct((num_rows,), jnp.uint32, sharding=sharding)

    def sort(keys, row_ids):
        # Rows that travel in two hops take the least memory.
        return primitives.radix_sort(keys, mesh, values=row_ids, transport="two_hop")

    return jax.jit(sort).lower(rows, rows).compile()


def compiled_rows(num_rows):
    def rows():
        row_ids = jnp.arange(num_rows, dtype=jnp.uint32)
        return row_ids * FACTOR % num_rows, row_ids

    return jax.jit(rows, out_shardings=shardings.row_sharded(mesh)).lower().compile()


@contextlib.contextmanager
def at_most_more(num_bytes):
    with open("/proc/self/statm") as file:
        address_space_bytes = int(file.read().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (address_space_bytes + num_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def sorted_rows():
    return jax.block_until_ready(sort(*make_rows()))


# A process by itself sorts as one device does, which takes less than a mesh of one.
sort_mesh = mesh if jax.process_count() > 1 else None
fair_share_bytes = planned_bytes(compiled_sort(NUM_ROWS, None)) // 2
make_rows, sort = compiled_rows(NUM_ROWS), compiled_sort(NUM_ROWS, sort_mesh)
print(planned_bytes(sort) / fair_share_bytes, "shares are needed")
# Threads and connections take their address space now, and are no part of what is limited. Few
# rows do, for JAX would keep the memory of many, and have it beside what is allowed.
few = np.uint32(2**16)
jax.block_until_ready(compiled_sort(few, sort_mesh)(*compiled_rows(few)()))

try:
    with at_most_more(int(SHARES * fair_share_bytes)):
        keys, row_ids = sorted_rows()
    print("sorted")
except jax.errors.JaxRuntimeError as error:
    print(error)
    # Memory is all that it lacked.
    keys, row_ids = sorted_rows()

for own_keys, own_ids in zip(keys.addressable_shards, row_ids.addressable_shards):
    start, stop, _ = own_keys.index[0].indices(NUM_ROWS)
    np.testing.assert_array_equal(own_keys.data, np.arange(start, stop))
    np.testing.assert_array_equal(np.asarray(own_ids.data) * FACTOR % NUM_ROWS, own_keys.data)
print("as it should be")
"""


# By XLA a sort packs keys and row ids into words of 64 bits, and two processes need more.
@pytest.mark.skipif(backend().cpu != "native", reason=backend().reason)
@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space as Linux does")
def test_two_processes_sort_what_does_not_fit_into_one():
    for said in run_all(SORTING, num_processes=2, num_devices=1):
        assert said.splitlines()[-2:] == ["sorted", "as it should be"]
    (said,) = run_all(SORTING, num_processes=1, num_devices=1)
    assert "RESOURCE_EXHAUSTED: Out of memory" in said
    assert "sorted" not in said.splitlines()
    assert said.splitlines()[-1] == "as it should be"


OPS = """
import op_cases
import oracles

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")
own_device = jax.sharding.Mesh(jax.local_devices()[:1], ("rows",))


def on_host(tree):
    return jax.tree.map(lambda leaf: whole(leaf) if isinstance(leaf, jax.Array) else leaf, tree)


def rows_of(rows):
    rows = np.asarray(rows)
    rows = rows.reshape(len(rows), -1)
    return sorted(map(tuple, rows[rows.any(axis=1)].tolist()))


def check(case, over, length):
    rows = case.draw(0, length)
    actual = on_host(case.at("global", mesh=over, transport="one_hop")(*rows))
    if case.by_shard:
        # No other mesh has the same shards; no row may be lost.
        sent, received = case.moved(tuple(row[None] for row in rows), actual)
        # `rebalance` is told to take fewer than all rows of a shard.
        assert set(rows_of(received)) <= set(rows_of(sent[0]))
        if case.name != "rebalance":
            assert rows_of(received) == rows_of(sent[0])
        return
    at = {} if case.is_at("local") else {"mesh": own_device}
    expected = case.at("local" if case.is_at("local") else "global", **at)(*rows)
    expected = jax.tree.map(np.asarray, expected)
    assert jax.tree.structure(actual) == jax.tree.structure(expected)
    for one, other in zip(jax.tree.leaves(actual), jax.tree.leaves(expected), strict=True):
        assert one.dtype == other.dtype
        if case.tolerance and one.dtype.kind == "f":
            precision = case.tolerance * np.finfo(one.dtype).eps
            np.testing.assert_allclose(one, other, rtol=precision, atol=precision)
        else:
            oracles.assert_same_bits(one, other)


names = NAMES
for case in op_cases.CASES:
    if case.is_at("global") and (names is None or case.name in names):
        print(case.name, flush=True)
        # A length that the mesh does not divide, along one axis and along hosts.
        check(case, mesh, op_cases.NUM_ROWS - 1)
        if names is None:
            check(case, shardings.make_mesh(hosts=2), op_cases.NUM_ROWS)
print("checked")
"""
# Ops that move rows in different ways.
FEW_OPS = ["gather_rows", "join", "partition", "reduce_by_key", "segmented_scan"]


def test_ops_over_two_processes():
    names = None if RUNS_ALL else FEW_OPS
    for said in run_all(OPS.replace("NAMES", repr(names)), 2, 2, 1800):
        lines = said.split()
        assert lines[-1] == "checked"
        assert len(lines) > len(FEW_OPS)
