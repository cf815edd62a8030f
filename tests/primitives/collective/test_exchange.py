# SPDX-License-Identifier: Apache-2.0
"""The transports of the exchange that CPU does not have."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jax.sharding import AbstractMesh, AxisType, PartitionSpec
from jaxframes.primitives import collective
from key_distributions import make_keys
from on_shards import into_shards, noting, on_shards, row_counts, row_ids, sorted_on_shards
from sent_rows import adversarial_destinations, expected_partition, nonzero_rows

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
