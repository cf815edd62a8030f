# SPDX-License-Identifier: Apache-2.0
"""The transports of the exchange: the bound of the two hops, and the one that CPU does not have."""

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
from jaxframes.primitives.collective import _exchange
from jaxframes.primitives.collective._control_flow import choose
from jaxframes.primitives.collective._exchange_blocks import BY_COLUMN, BY_ROW, BY_ROW_ON_TPU
from key_distributions import make_keys
from on_shards import into_shards, noting, on_shards, row_counts, row_ids, sorted_on_shards
from sent_rows import adversarial_destinations, expected_partition, nonzero_rows

# Two hops: no block overflows, for any runs. The sizes of the blocks are read from the program;
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


# Ragged: XLA lacks it on CPU, so an emulation replaces it there


def ragged_all_to_all(
    operand, output, input_offsets, send_sizes, output_offsets, recv_sizes, *, axis_name
):
    """What `jax.lax.ragged_all_to_all` is documented to do, by gathering everything.

    Where the arguments of the shards contradict each other, everything is poisoned.
    """
    me = jax.lax.axis_index(axis_name)
    gather = functools.partial(jax.lax.all_gather, axis_name=axis_name)
    operands = gather(operand)
    starts, sizes, places = (
        gather(part)[:, me] for part in (input_offsets, send_sizes, output_offsets)
    )
    num_rows, room = operand.shape[0], output.shape[0]
    is_sound = (sizes == recv_sizes).all() & (starts >= 0).all() & (places >= 0).all()
    is_sound &= ((starts + sizes <= num_rows) & (places + sizes <= room)).all()
    for source in range(operands.shape[0]):
        row = jnp.arange(num_rows, dtype=jnp.int32)
        is_sent = (row >= starts[source]) & (row < starts[source] + sizes[source])
        place = jnp.where(is_sent, row - starts[source] + places[source], room)
        output = output.at[place].set(operands[source], mode="drop")
    return jnp.where(is_sound, output, jnp.asarray(0xDEADBEEF, output.dtype))


@pytest.fixture
def like_an_accelerator(monkeypatch):
    """Lowers as for a device whose XLA has the ragged exchange, and runs on CPU."""
    monkeypatch.setattr(jax.lax, "ragged_all_to_all", ragged_all_to_all)
    monkeypatch.setattr(
        jax.lax, "platform_dependent", lambda *arguments, default, **_: default(*arguments)
    )


@pytest.mark.usefixtures("like_an_accelerator")
@pytest.mark.parametrize("capacity", [None, 7, 90])
def test_ragged_partition(capacity):
    num_shards, num_rows = 5, 36

    @functools.partial(on_shards, num_shards=num_shards)
    def partition(rows, destination, num_valid):
        return collective.partition(
            rows,
            destination,
            axis_name="rows",
            capacity=capacity,
            num_valid=num_valid,
            transport="ragged",
        )

    rows = nonzero_rows(num_shards, num_rows)
    for name, destination in adversarial_destinations(num_shards, num_rows).items():
        for counted in ("all", "growing", "all on the last shard"):
            counts = row_counts(num_shards, num_rows)[counted]
            with noting((name, counted)):
                actual = partition(rows, destination, counts)
                expected = expected_partition(rows, destination, counts, capacity)
                oracles.assert_same_bits(actual, expected)


@pytest.mark.usefixtures("like_an_accelerator")
@pytest.mark.parametrize("num_shards", [2, 8])
def test_ragged_sort(num_shards):
    @functools.partial(on_shards, num_shards=num_shards)
    def sort(keys, values, num_valid):
        return collective.radix_sort(
            keys, values=values, num_valid=num_valid, axis_name="rows", transport="ragged"
        )

    ids = row_ids(num_shards, 41)
    for distribution in ("uniform", "constant", "reversed", "zipf"):
        keys = make_keys(distribution, num_shards * 41, np.dtype(np.float32), num_shards)
        keys = into_shards(keys, num_shards)
        for name, counts in row_counts(num_shards, 41).items():
            with noting((distribution, name)):
                expected = sorted_on_shards(keys, counts, ids)
                oracles.assert_same_bits(sort(keys, ids, counts), expected)


@pytest.mark.parametrize("num_shards", [2, 4, 5])
def test_the_two_hops_of_tpu_move_the_same_rows(num_shards):
    num_rows, capacity = 37, 60
    rng = np.random.default_rng(num_shards)
    rows = rng.integers(0, 2**32, (num_shards, num_rows, 3), np.uint32)

    def each(rows, counts):
        runs = _exchange.plan_runs(counts, capacity, "rows")

        def moved(rows, steps):
            return _exchange._two_hop(rows, runs, capacity, "rows", steps)

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


@pytest.fixture
def like_a_tpu(monkeypatch):
    """Lowers as for TPU, and runs on CPU."""

    def of_tpu(*arguments, default, **platforms):
        return platforms.get("tpu", default)(*arguments)

    monkeypatch.setattr(jax.lax, "platform_dependent", of_tpu)


@pytest.mark.usefixtures("like_a_tpu")
@pytest.mark.parametrize("num_words", [1, 3, 40])
def test_rows_of_few_and_of_many_words_as_on_tpu(num_words):
    num_shards, num_rows = 4, 700

    @functools.partial(on_shards, num_shards=num_shards)
    def partition(rows, destination):
        def send(rows):
            return collective.partition(rows, destination, axis_name="rows").rows

        moved, back = jax.vjp(send, rows)
        return moved, back(moved)[0]

    rows = nonzero_rows(num_shards, num_rows).astype(np.float32)[..., None]
    rows = rows + np.arange(num_words, dtype=np.float32)
    destination = adversarial_destinations(num_shards, num_rows)["round robin"].astype(np.int32)
    moved, cotangents = partition(rows, destination)
    expected = expected_partition(rows, destination, np.full(num_shards, num_rows), None)
    oracles.assert_same_bits(moved, expected[0])
    # All rows fit, and each cotangent comes back to its row.
    oracles.assert_same_bits(cotangents, rows)


@pytest.mark.usefixtures("like_a_tpu")
def test_matrices_enter_and_leave_a_branch_unchanged():
    matrix, vector = np.arange(6, dtype=np.float32).reshape(3, 2), np.arange(4)

    def doubled(operands, *rest):
        return operands[0] * 2, operands[1], *rest

    def with_a_row_more(operands, *rest):
        return operands[0] + operands[0][:1], operands[1] * 3, *rest

    def run(is_first):
        operands = (matrix, vector)
        return choose(is_first, doubled, with_a_row_more, operands, np.float32(7))

    for is_first, one in ((True, doubled), (False, with_a_row_more)):
        expected = one((matrix, vector), np.float32(7))
        oracles.assert_same_bits(jax.jit(run)(is_first), expected)


@pytest.mark.parametrize("platform", ["tpu", "cuda"])
def test_ragged_lowers_where_xla_has_it(platform):
    mesh = AbstractMesh((8,), ("rows",), axis_types=(AxisType.Auto,))
    by_row = PartitionSpec("rows")

    def sort(keys, values):
        return collective.radix_sort(keys, values=values, axis_name="rows", transport="ragged")

    def of_batch(keys, values):
        return jax.vmap(sort)(keys, values)

    for function, shape in ((sort, (8 * 64,)), (of_batch, (8 * 2, 64))):
        sharded = jax.shard_map(function, mesh=mesh, in_specs=by_row, out_specs=by_row)
        keys = jax.ShapeDtypeStruct(shape, jnp.int32)
        values = jax.ShapeDtypeStruct(shape, jnp.float32)
        lowered = jax.jit(sharded).trace(keys, values).lower(lowering_platforms=(platform,))
        assert "ragged_all_to_all" in lowered.as_text()
