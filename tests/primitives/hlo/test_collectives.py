# SPDX-License-Identifier: Apache-2.0
"""What the compiled programs may contain: how often rows move, and what else is sent."""

import functools

import jax
import jax.numpy as jnp
import pytest
from compiled_program import CompiledProgram
from jaxframes import primitives, shardings
from jaxframes.primitives.contract._segment_forms import SEGMENT_OPS
from on_shards import mesh_of
from quick_compilation import UNOPTIMISED

NUM_SHARDS = 8
NUM_ROWS = NUM_SHARDS * 4096


def rows_of(dtype, num_rows=NUM_ROWS, *row_shape):
    sharding = shardings.row_sharded(mesh_of(NUM_SHARDS))
    return jax.ShapeDtypeStruct((num_rows, *row_shape), dtype, sharding=sharding)


def compiled(function, *arguments, compiler_options=None, **options):
    call = functools.partial(function, mesh=mesh_of(NUM_SHARDS), **options)
    run = jax.jit(call, compiler_options=compiler_options)
    return CompiledProgram(run.lower(*arguments).compile().as_text())


def sort_columns(keys, values, mesh, **options):
    return primitives.radix_sort(keys, mesh, values=values, **options)


# The arguments of a program of `num_rows` rows.
PROGRAMS = {
    "keys": lambda n: (primitives.radix_sort, rows_of(jnp.int32, n)),
    "float keys": lambda n: (primitives.radix_sort, rows_of(jnp.float64, n)),
    "many columns": lambda n: (
        sort_columns,
        (rows_of(jnp.int64, n), rows_of(jnp.float32, n), rows_of(jnp.bool_, n)),
        {
            "small": rows_of(jnp.int8, n),
            "matrix": rows_of(jnp.float16, n, 3),
            "complex": rows_of(jnp.complex64, n),
        },
    ),
    "argsort": lambda n: (primitives.radix_argsort, rows_of(jnp.uint64, n)),
    "segmented": lambda n: (
        primitives.segmented_sort,
        rows_of(jnp.float32, n),
        rows_of(jnp.int32, n),
    ),
    "merge": lambda n: (primitives.merge, rows_of(jnp.int32, n), rows_of(jnp.int32, n)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_sort_moves_its_rows_twice_at_most(name):
    program = compiled(*PROGRAMS[name](NUM_ROWS))
    # On CPU the second hop always runs.
    assert program.most_executed("all-to-all") == 2
    for other in ("collective-permute", "ragged-all-to-all", "collective-broadcast"):
        assert program.most_executed(other) == 0


# On CPU XLA may run a collective before an earlier loop or conditional with collectives has ended.
# Programs of few rows, which hold one transport, are checked in test_matrix.
UNCERTAIN = {
    **PROGRAMS,
    "partition": lambda n: (primitives.partition, rows_of(jnp.float32, n), rows_of(jnp.int32, n)),
    "gather rows": lambda n: (
        primitives.gather_rows,
        rows_of(jnp.float32, n),
        rows_of(jnp.int32, n),
    ),
    "join": lambda n: (
        functools.partial(primitives.join, capacity=n),
        rows_of(jnp.int32, n),
        rows_of(jnp.int32, n),
    ),
}


@pytest.mark.parametrize("name", UNCERTAIN)
def test_control_flow_contains_no_collective(name):
    program = compiled(*UNCERTAIN[name](NUM_ROWS), compiler_options=UNOPTIMISED)
    assert program.collectives_in_control_flow() == []


def test_few_rows_move_once_and_the_program_holds_no_other_transport():
    program = compiled(primitives.radix_sort, rows_of(jnp.int32, NUM_SHARDS * 2048))
    # One operation, with a block for each shard.
    assert program.most_executed("all-to-all") == 1
    assert len(program.results("all-to-all")) == NUM_SHARDS
    program = compiled(primitives.radix_sort, rows_of(jnp.int32, NUM_SHARDS * 2049))
    assert program.most_executed("all-to-all") == 2


@pytest.mark.parametrize(("transport", "hops"), [("one_hop", 1), ("two_hop", 2)])
def test_a_named_transport_moves_rows_as_often_as_it_says(transport, hops):
    keys, values = rows_of(jnp.int64), [rows_of(jnp.float32), rows_of(jnp.int8)]
    program = compiled(sort_columns, keys, values, transport=transport)
    assert program.most_executed("all-to-all") == hops
    destination = rows_of(jnp.int32)
    partition = functools.partial(primitives.partition, capacity=2048)
    program = compiled(partition, values, destination, transport=transport)
    assert program.most_executed("all-to-all") == hops


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_other_message_grows_with_the_rows(name):
    small, large = (compiled(*PROGRAMS[name](n)) for n in (NUM_ROWS, 4 * NUM_ROWS))
    for message in ("all-gather", "all-reduce", "reduce-scatter"):
        assert small.results(message) == large.results(message)
    # None of them is even as large as one shard's rows.
    for _, num_elements in (*large.results("all-gather"), *large.results("all-reduce")):
        assert num_elements < 4 * NUM_ROWS / NUM_SHARDS


def test_order_statistics_move_no_rows():
    for function in (
        functools.partial(primitives.top_k, k=10),
        lambda x, mesh: primitives.select_rank(x, jnp.arange(5), mesh),
    ):
        small, large = (compiled(function, rows_of(jnp.float32, n * NUM_ROWS)) for n in (1, 4))
        assert large.results("all-to-all") == []
        for message in ("all-gather", "all-reduce"):
            assert small.results(message) == large.results(message)


@pytest.mark.parametrize("op", SEGMENT_OPS)
def test_a_reduction_sends_no_more_than_its_segments(op):
    def reduce(x, segment_ids, mesh):
        return primitives.segment_reduce(x, segment_ids, 40, op, mesh)

    program = compiled(reduce, rows_of(jnp.float32), rows_of(jnp.int32))
    messages = ("all-reduce", "all-gather", "all-to-all", "reduce-scatter", "collective-permute")
    sent = [program.results(message) for message in messages]
    assert sum(elements for results in sent for _, elements in results) <= 3 * 40


@pytest.mark.parametrize("op", ["add", lambda left, right: left + right], ids=["name", "function"])
def test_a_scan_sends_one_row_of_each_shard(op):
    def scan(x, flags, mesh):
        return primitives.segmented_scan(x, op, mesh, head_flags=flags)

    program = compiled(scan, rows_of(jnp.float32), rows_of(jnp.bool_))
    for message in ("all-to-all", "all-reduce", "collective-permute", "reduce-scatter"):
        assert program.results(message) == []
    # Totals and edges of the shards: one message for each dtype.
    gathered = program.results("all-gather")
    assert 2 <= len(gathered) <= 3
    assert all(num_elements <= 4 * NUM_SHARDS for _, num_elements in gathered)


def test_rows_stay_sharded_throughout():
    run = jax.jit(lambda keys: primitives.radix_sort(keys, mesh_of(NUM_SHARDS)))
    program = run.lower(rows_of(jnp.int32)).compile()
    assert program.output_shardings.is_equivalent_to(shardings.row_sharded(mesh_of(NUM_SHARDS)), 1)


# On GPU XLA hands a sort of two operands to CUB, and no other

SORTS = {
    "bool": lambda: sort_columns_on_one(jnp.bool_),
    "int32": lambda: sort_columns_on_one(jnp.int32),
    "float64": lambda: sort_columns_on_one(jnp.float64),
    "int64, bfloat16": lambda: sort_columns_on_one(jnp.int64, jnp.bfloat16),
    "over a mesh": lambda: sort_columns_on_mesh(jnp.float32, jnp.int32),
    "three over a mesh": lambda: sort_columns_on_mesh(jnp.int64, jnp.float64, jnp.uint8),
    "merge": lambda: (primitives.merge, plain(jnp.int32), plain(jnp.int32)),
    "merge over a mesh": lambda: (
        lambda a, b: primitives.merge(a, b, mesh_of(NUM_SHARDS)),
        rows_of(jnp.int32),
        rows_of(jnp.int32),
    ),
    "top_k": lambda: (lambda x: primitives.top_k(x, 10), plain(jnp.float32)),
    "select_rank over a mesh": lambda: (
        lambda x: primitives.select_rank(x, jnp.arange(5), mesh_of(NUM_SHARDS)),
        rows_of(jnp.int64),
    ),
    "partition": lambda: (
        lambda rows, to: primitives.partition(rows, to, mesh_of(NUM_SHARDS)),
        rows_of(jnp.float32),
        rows_of(jnp.int32),
    ),
}


def plain(dtype):
    return jax.ShapeDtypeStruct((NUM_ROWS,), dtype)


def sort_columns_on_one(*dtypes):
    keys = tuple(plain(dtype) for dtype in dtypes)
    return lambda keys: primitives.radix_sort(keys, values=keys), keys


def sort_columns_on_mesh(*dtypes):
    keys = tuple(rows_of(dtype) for dtype in dtypes)
    return lambda keys: primitives.radix_sort(keys, mesh_of(NUM_SHARDS), values=keys), keys


# A sort of XLA on GPU has a key and one value; on TPU the values are operands too.
@pytest.mark.parametrize(("platform", "most"), [("cuda", 2), ("tpu", 10)])
@pytest.mark.parametrize("name", SORTS)
def test_no_sort_has_more_operands_than_the_platform_is_fast_at(name, platform, most):
    function, *arguments = SORTS[name]()
    lowered = jax.jit(function).trace(*arguments).lower(lowering_platforms=(platform,))
    text = lowered.as_text()
    sorts = [line for line in text.splitlines() if '"stablehlo.sort"(' in line]
    for line in sorts:
        operands = line.partition('"stablehlo.sort"(')[2].partition(")")[0].split(",")
        assert len(operands) <= most
    # A merge is a binary search.
    assert sorts or name == "merge"
    assert "custom_call @jaxframes" not in text
