# SPDX-License-Identifier: Apache-2.0
"""The blocks of the two hops: none overflows, and every way to fill them sends the same rows."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax.sharding import AbstractMesh, AxisType, PartitionSpec
from jaxframes.primitives import collective
from jaxframes.primitives.collective._exchange_blocks import BY_COLUMN, BY_ROW, BY_ROW_ON_TPU
from jaxframes.primitives.collective._exchange_hops import two_hop
from jaxframes.primitives.collective._exchange_runs import plan_runs
from on_shards import on_shards

# No block overflows, for any runs. The sizes of the blocks are read from the program;
# who carries which row is derived again, row by row.


@functools.cache
def block_rows(num_shards, num_rows, capacity):
    """Rows of a block in either hop, of a program for more shards than there are devices."""

    def partition(rows, destination):
        return collective.partition(
            rows, destination, axis_name="rows", capacity=capacity, transport="two_hop"
        ).rows

    by_row = PartitionSpec("rows")
    mesh = AbstractMesh((num_shards,), ("rows",), axis_types=(AxisType.Auto,))
    program = jax.make_jaxpr(
        jax.shard_map(partition, mesh=mesh, in_specs=by_row, out_specs=by_row)
    )(
        jax.ShapeDtypeStruct((num_shards * num_rows,), jnp.float32),
        jax.ShapeDtypeStruct((num_shards * num_rows,), jnp.int32),
    )
    blocks = [
        equation.invars[0].aval.shape
        for equation in equations_of(program.jaxpr)
        if equation.primitive.name == "all_to_all"
    ]
    # Blocks are `[shards, rows, words]`.
    assert [shape[0] for shape in blocks] == [num_shards] * 2
    return [shape[1] for shape in blocks]


def equations_of(jaxpr):
    for equation in jaxpr.eqns:
        yield equation
        for inner in jax.tree.leaves(
            list(equation.params.values()), is_leaf=lambda leaf: hasattr(leaf, "eqns")
        ):
            if hasattr(inner, "eqns") or hasattr(inner, "jaxpr"):
                yield from equations_of(getattr(inner, "jaxpr", inner))


def largest_loads(runs):
    """The rows of the fullest block of either hop, for runs of `[source, destination]` rows."""
    num_shards = len(runs)
    first, second = np.zeros_like(runs), np.zeros_like(runs)
    for source, destination in np.ndindex(runs.shape):
        row = np.arange(runs[source, destination])
        carried = np.bincount((row + source + destination) % num_shards, minlength=num_shards)
        first[source] += carried
        second[:, destination] += carried
    return first.max(), second.max()


def adversarial_runs(num_shards, rng):
    """Lengths of runs: powers, random, all to one, and one row more in each stripe of one way."""
    p = num_shards
    source, destination = np.indices((p, p))
    yield np.ones((p, p), int)
    yield np.eye(p, dtype=int) * 3 * p
    yield np.where(destination == 0, 2 * p, 0)
    yield rng.integers(0, 2 * p, (p, p))
    yield np.where(rng.random((p, p)) < 0.2, rng.integers(0, 5 * p, (p, p)), 0)
    for way in {0, p // 2, p - 1}:
        stripe = (way - source - destination) % p
        yield stripe + 1
        yield stripe + 1 + p * rng.integers(0, 2, (p, p))
        yield np.where(rng.random((p, p)) < 0.5, stripe + 1, stripe)


@pytest.mark.parametrize("num_shards", [2, 3, 5, 8, 16, 31, 64])
def test_no_block_of_the_two_hops_overflows(num_shards):
    rng = np.random.default_rng(num_shards)
    is_tight = False
    for runs in adversarial_runs(num_shards, rng):
        # The least rows and capacity that these runs can come from.
        num_rows, capacity = runs.sum(axis=1).max(), runs.sum(axis=0).max()
        room = block_rows(num_shards, int(num_rows), int(capacity))
        loads = largest_loads(runs)
        assert loads[0] <= room[0]
        assert loads[1] <= room[1]
        # An even share, and half a row for each shard.
        assert room[0] <= num_rows / num_shards + num_shards / 2
        assert room[1] <= capacity / num_shards + num_shards / 2
        is_tight |= tuple(loads) == tuple(room)
    assert is_tight


@given(st.data())
def test_no_block_overflows_for_runs_that_hypothesis_finds(data):
    num_shards = data.draw(st.sampled_from([2, 3, 4, 5]))
    length = st.integers(0, 3 * num_shards)
    row = st.lists(length, min_size=num_shards, max_size=num_shards)
    runs = np.array(data.draw(st.lists(row, min_size=num_shards, max_size=num_shards)))
    num_rows, capacity = runs.sum(axis=1).max(), runs.sum(axis=0).max()
    # The bound that the program is seen to keep above, as a formula.
    slack = num_shards * (num_shards - 1) // 2
    first, second = largest_loads(runs)
    assert first <= (num_rows + slack) // num_shards
    assert second <= (capacity + slack) // num_shards


@pytest.mark.parametrize("num_shards", [2, 4, 5])
def test_the_two_hops_of_tpu_move_the_same_rows(num_shards):
    num_rows, capacity = 37, 60
    rng = np.random.default_rng(num_shards)
    rows = rng.integers(0, 2**32, (num_shards, num_rows, 3), np.uint32)

    def each(rows, counts):
        runs = plan_runs(counts, capacity, "rows")

        def moved(rows, steps):
            return two_hop(rows, runs, capacity, "rows", steps)

        by_row = [moved(rows, steps) for steps in (BY_ROW, BY_ROW_ON_TPU)]
        return [*by_row, moved(rows.T, BY_COLUMN).T]

    run = on_shards(each, num_shards)
    for lengths in adversarial_runs(num_shards, rng):
        # Each shard sends some of its rows: empty runs, and shards that receive nothing.
        lengths = lengths * np.minimum(
            1, num_rows / np.maximum(lengths.sum(axis=1, keepdims=True), 1)
        )
        expected, *on_tpu = run(rows, lengths.astype(np.int32))
        for found in on_tpu:
            oracles.assert_same_bits(found, expected)
