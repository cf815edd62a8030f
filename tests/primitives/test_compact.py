# SPDX-License-Identifier: Apache-2.0
"""`compact` and `rebalance` of whole arrays: what an eager and a traced call return."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jax.sharding import AxisType
from jaxframes import primitives, shardings
from jaxframes.primitives import collective
from key_distributions import make_keys
from on_shards import mesh_of, noting, on_shards, row_counts


def mask_and_rows(num_rows):
    mask = np.random.default_rng(num_rows).random(num_rows) < 0.4
    rows = {
        "id": np.arange(1, num_rows + 1, dtype=np.int32),
        "bits": make_keys("nan_inf_sprinkled", num_rows, np.float32),
    }
    return mask, rows


@pytest.mark.parametrize("num_shards", [None, 1, 3, 8])
def test_an_eager_call_returns_what_is_there(num_shards):
    mesh = None if num_shards is None else mesh_of(num_shards)
    for num_rows in (0, 1, 24, 29):
        mask, rows = mask_and_rows(num_rows)
        for name, flags in (("random", mask), ("all", mask | True), ("none", mask & False)):
            actual = primitives.compact(flags, rows, mesh)
            with noting((num_rows, name)):
                expected = (oracles.take(rows, flags), None, np.int32(flags.sum()))
                oracles.assert_same_bits(tuple(actual), expected)


@pytest.mark.parametrize("num_shards", [None, 1, 3, 8])
def test_a_given_capacity(num_shards):
    mesh = None if num_shards is None else mesh_of(num_shards)
    mask, rows = mask_and_rows(29)
    count = int(mask.sum())
    for capacity in (count, 24, 40):
        actual = primitives.compact(mask, rows, mesh, capacity=capacity)
        with noting(capacity):
            oracles.assert_same_bits(tuple(actual), oracles.compact(mask, rows, capacity))
    for capacity in (None, 1, count - 1, 24):
        traced = jax.jit(lambda m, r, c=capacity: primitives.compact(m, r, mesh, capacity=c))
        with noting(("traced", capacity)):
            expected = oracles.compact(mask, rows, capacity)
            oracles.assert_same_bits(tuple(traced(mask, rows)), expected)


@pytest.mark.parametrize("num_shards", [None, 3])
def test_row_ids_beside_rows(num_shards):
    mesh = None if num_shards is None else mesh_of(num_shards)
    for num_rows in (0, 1, 29):
        mask, rows = mask_and_rows(num_rows)
        count = int(mask.sum())
        for given, asked in ((rows, True), (None, True), (None, False)):
            select = functools.partial(primitives.compact, mesh=mesh, return_index=asked)
            with noting((num_rows, given is None, asked)):
                expected = oracles.compact(mask, given, count, return_index=asked)
                oracles.assert_same_bits(tuple(select(mask, given)), expected)
                traced = jax.jit(functools.partial(select, capacity=20))
                expected = oracles.compact(mask, given, 20, return_index=asked)
                oracles.assert_same_bits(tuple(traced(mask, given)), expected)


def test_no_rows_at_all():
    mask, x = np.zeros(0, np.bool_), np.zeros(0)
    for num_shards in (None, 2, 3):
        mesh = None if num_shards is None else mesh_of(num_shards)
        for capacity in (None, 0, 4):
            kept = primitives.compact(mask, x, mesh, capacity=capacity)
            oracles.assert_same_bits(tuple(kept), (np.zeros(capacity or 0), None, np.int32(0)))
    of_shards = on_shards(
        lambda mask, x: collective.compact(
            mask, x, axis_name="rows", capacity=2, return_index=True
        ),
        3,
    )
    kept = of_shards(np.zeros((3, 0), np.bool_), np.zeros((3, 0)))
    row_ids, counts = np.zeros((3, 2), np.int32), np.zeros(3, np.int32)
    oracles.assert_same_bits(tuple(kept), (np.zeros((3, 2)), row_ids, counts))


def test_too_small_a_capacity_names_the_one_that_suffices():
    mask = np.arange(100) < 76
    message = "compact: 76 rows do not fit a capacity of 64. Call again with capacity=76 or more."
    for mesh in (None, mesh_of(3)):
        with pytest.raises(primitives.CapacityError) as error:
            primitives.compact(mask, np.arange(100), mesh, capacity=64)
        assert str(error.value) == message
        assert error.value.needed == 76


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64])
def test_a_length_that_the_shards_do_not_divide_keeps_every_bit(dtype):
    # XLA brings such a result to every device by adding zeros: to -0.0, and to signalling NaNs.
    part = np.dtype(dtype) if dtype != np.complex64 else np.dtype(np.float32)
    words = np.dtype(f"u{part.itemsize}")
    infinity = np.array(np.inf, part).view(words)
    bits = np.array([1 << (8 * part.itemsize - 1), infinity + 1, 0, infinity + 2], words)
    rows = np.tile(bits, 8).view(dtype)[:16]
    traced = jax.jit(
        lambda rows: primitives.compact(np.ones(16, bool), rows, mesh_of(8), capacity=3)
    )
    expected = oracles.compact(np.ones(16, bool), rows, 3)
    oracles.assert_same_bits(tuple(traced(rows)), expected)


@pytest.mark.parametrize("dtype", [jnp.bfloat16, np.float16])
def test_a_traced_length_that_is_padded_keeps_every_bit(dtype):
    # XLA on CPU pads bfloat16 by way of float32, which turns signalling NaNs into quiet ones.
    infinity = np.array(np.inf, dtype).view(np.uint16)
    rows = (infinity + np.arange(1, 19, dtype=np.uint16)).view(dtype)
    mask = np.arange(18) % 7 != 5
    traced = jax.jit(lambda rows: primitives.compact(mask, rows, mesh_of(5), capacity=20))
    oracles.assert_same_bits(tuple(traced(rows)), oracles.compact(mask, rows, 20))
    moved = jax.jit(lambda rows: primitives.radix_sort(mask, values=rows, mesh=mesh_of(5))[1])
    oracles.assert_same_bits(moved(rows), np.concatenate([rows[~mask], rows[mask]]))


def test_where_the_result_lies():
    mask, rows = np.arange(48) < 24, np.arange(48, dtype=np.int32)
    by_rows = shardings.row_sharded(mesh_of(8))
    assert primitives.compact(mask, rows, mesh_of(8)).rows.sharding.is_equivalent_to(by_rows, 1)
    mask[0] = False
    assert primitives.compact(mask, rows, mesh_of(8)).rows.sharding.is_fully_replicated


def test_explicit_axes_of_a_mesh_of_two():
    mesh = jax.make_mesh((2, 3), ("host", "device"), axis_types=(AxisType.Explicit,) * 2)
    for num_rows in (24, 29):
        mask, rows = mask_and_rows(num_rows)
        for axis in (None, "device"):
            with noting((num_rows, axis)):
                actual = primitives.compact(mask, rows, mesh, axis=axis)
                expected = (oracles.take(rows, mask), None, np.int32(mask.sum()))
                oracles.assert_same_bits(tuple(actual), expected)
                actual = primitives.compact(mask, rows, mesh, axis=axis, capacity=num_rows)
                oracles.assert_same_bits(tuple(actual), oracles.compact(mask, rows))


@pytest.mark.parametrize("num_shards", [1, 3, 8])
def test_rebalance_takes_what_partition_returns(num_shards):
    rows = np.arange(1, 30, dtype=np.int32)
    sent = primitives.partition(rows, rows % num_shards // 2, mesh_of(num_shards))
    even = primitives.rebalance(sent.rows, sent.count, mesh_of(num_shards))
    pieces = np.asarray(even.rows).reshape(num_shards, -1)
    assert np.ptp(even.count) <= 1
    in_order = np.concatenate([p[:n] for p, n in zip(pieces, even.count, strict=True)])
    np.testing.assert_array_equal(in_order, rows[np.argsort(rows % num_shards // 2, kind="stable")])
    again = primitives.rebalance(even.rows, even.count, mesh_of(num_shards))
    oracles.assert_same_bits(again, even)


@pytest.mark.checks_arguments
def test_rebalance_refuses():
    rows, counts = np.arange(24), row_counts(3, 8)["all"]
    cases = [
        (rows[:23], counts, ValueError,
         "rebalance: rows must be cut into 3 shards of one length, got 23 rows. Pad them."),
        (rows, counts[:2], ValueError,
         "rebalance: num_valid must have one entry for each of the 3 shards, got int32[2]."),
        (rows, counts / 2, TypeError, "rebalance: num_valid must be integers, got float64[3]."),
    ]  # fmt: skip
    for rows_given, num_valid, error, message in cases:
        with pytest.raises(error) as raised:
            primitives.rebalance(rows_given, num_valid, mesh_of(3))
        assert str(raised.value) == message
