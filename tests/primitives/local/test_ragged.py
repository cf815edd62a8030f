# SPDX-License-Identifier: Apache-2.0
"""`Ragged` against lists of Python."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes import primitives
from jaxframes.primitives import local
from jaxframes.primitives.local import Ragged
from on_shards import mesh_of

SEGMENTS = [[5.0, 6.0], [], [7.0], [1.0, 2.0, 3.0], []]


def ragged_of(segments, capacity=8):
    values = np.full(capacity, np.nan)
    flat = [value for segment in segments for value in segment]
    values[: len(flat)] = flat
    return Ragged.from_lengths(jnp.asarray(values), np.array([len(one) for one in segments]))


def segments_of(ragged):
    values, offsets = np.asarray(ragged.values), np.asarray(ragged.offsets)
    return [values[i:j].tolist() for i, j in itertools.pairwise(offsets)]


def test_lengths_ids_and_positions():
    ragged = jax.jit(lambda r: r)(ragged_of(SEGMENTS))
    assert (ragged.num_segments, ragged.capacity, int(ragged.count)) == (5, 8, 6)
    assert ragged.lengths.tolist() == [2, 0, 1, 3, 0]
    assert ragged.segment_ids.tolist() == [0, 0, 2, 3, 3, 3, -1, -1]
    assert ragged.positions.tolist() == [0, 1, 0, 0, 1, 2, 0, 0]
    sums = local.segment_sum(ragged.values, ragged.segment_ids, ragged.num_segments)
    assert sums.tolist() == [sum(segment) for segment in SEGMENTS]


def test_from_segment_ids_in_any_order():
    values = np.arange(6.0)
    ragged = Ragged.from_segment_ids(values, np.array([2, 0, 2, 7, 0, -1]), 3)
    assert segments_of(ragged) == [[1.0, 4.0], [], [0.0, 2.0]]


def test_take_and_concatenate():
    ragged = ragged_of(SEGMENTS)
    ids = [3, 0, 0, 9, 1, -1]
    taken = jax.jit(lambda r, ids: r.take(ids, capacity=9))(ragged, np.array(ids))
    expected = [SEGMENTS[i] if 0 <= i < 5 else [] for i in ids]
    assert segments_of(taken) == expected
    assert taken.capacity == 9
    assert int(ragged.take(np.array([3, 3, 3])).count) == 9
    assert segments_of(Ragged.concatenate([ragged, taken])) == SEGMENTS + expected


def test_values_that_did_not_fit_a_piece_are_zeros_in_their_places():
    short = Ragged.from_lengths(np.array([1.0, 2.0]), np.array([1, 3]))
    for capacity in (None, 4, 9):
        call = functools.partial(Ragged.concatenate, capacity=capacity)
        joined = jax.jit(call)([short, ragged_of(SEGMENTS), short])
        expected = [1, 2, 0, 0, *itertools.chain(*SEGMENTS), 1, 2, 0, 0]
        size = 12 if capacity is None else capacity
        assert joined.values.tolist() == expected[:size]
        assert joined.lengths.tolist() == [1, 3, *map(len, SEGMENTS), 1, 3]


def test_padded_rows_and_back():
    ragged = ragged_of(SEGMENTS)
    padded = ragged.to_padded(2, fill_value=-1)
    expected = [[*segment, -1.0, -1.0][:2] for segment in SEGMENTS]
    assert padded.tolist() == expected
    back = Ragged.from_padded(padded, ragged.lengths, capacity=6)
    assert segments_of(back) == [segment[:2] for segment in SEGMENTS]
    pairs = ragged.with_values({"x": ragged.values, "pair": jnp.stack([ragged.values] * 2, 1)})
    assert pairs.to_padded(4)["pair"].shape == (5, 4, 2)


def test_a_function_of_each_segment():
    ragged = ragged_of(SEGMENTS)

    def last(values, length):
        return jnp.where(length > 0, values[jnp.maximum(length - 1, 0)], -1.0)

    assert ragged.map_segments(last, 3).tolist() == [6.0, -1.0, 7.0, 3.0, -1.0]


def test_derivatives_add_up_over_copies():
    ragged = ragged_of(SEGMENTS)

    def total(values):
        taken = ragged.with_values(values).take(np.array([3, 3, 0]), capacity=10)
        return jnp.sum(taken.values[:8]) + jnp.sum(ragged.with_values(values).to_padded(1))

    assert jax.grad(total)(jnp.ones(8)).tolist() == [2, 1, 1, 3, 2, 2, 0, 0]


def test_names_what_is_wrong():
    with pytest.raises(ValueError, match="every leaf of values must have 8 rows"):
        ragged_of(SEGMENTS).with_values(jnp.zeros(3))
    with pytest.raises(TypeError, match="lengths must be integers"):
        Ragged.from_lengths(jnp.zeros(3), jnp.zeros(2))
    with pytest.raises(ValueError, match=r"rows must be arrays of shape \(segments, length"):
        Ragged.from_padded(jnp.zeros(3), jnp.zeros(3, jnp.int32), capacity=2)
    with pytest.raises(
        ValueError, match=r"segments, length, \.\.\.\), got float64\[3,4\], float64"
    ):
        Ragged.from_padded((jnp.zeros((3, 4)), jnp.zeros((4, 4))), np.arange(3), capacity=2)
    with pytest.raises(ValueError, match=r"lengths must have one entry for each of the 3 segments"):
        Ragged.from_padded(jnp.zeros((3, 4)), np.arange(5), capacity=2)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("Ragged.concatenate: each piece", lambda x: Ragged.concatenate([x])),
        ("minhash: sets", lambda x: local.minhash(x, 2)),
        ("neighbour_sample: graph", lambda x: local.neighbour_sample(jax.random.key(0), x, [0], 1)),
        ("Packed.place: ragged", lambda x: local.pack([1, 1, 1], 2).place(x)),
        ("divide_ragged: ragged", lambda x: primitives.divide_ragged(x, mesh_of(1))),
    ],
)
def test_arrays_are_not_ragged(name, call):
    message = rf"^{name} must be Ragged, got int32\[3\]. Make one with Ragged.from_lengths.$"
    with pytest.raises(TypeError, match=message):
        call(jnp.arange(3, dtype=jnp.int32))


def test_rows_of_no_numbers_and_of_no_length():
    for shape in ((3, 4, 0), (3, 0, 2), (0, 4)):
        lengths = np.full(shape[0], 2)
        ragged = Ragged.from_padded(np.ones(shape), lengths, capacity=5)
        assert ragged.values.shape == (5, *shape[2:])
        assert ragged.lengths.tolist() == np.minimum(lengths, shape[1]).tolist()


def test_lengths_and_ids_on_an_explicit_axis():
    mesh = jax.make_mesh((4,), ("x",), axis_types=(jax.sharding.AxisType.Explicit,))
    by_row = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
    lengths = [2, 0, 1, 3, 0, 1, 0, 1]
    with jax.set_mesh(mesh):
        values, counts = jax.device_put((np.arange(8.0), np.array(lengths)), by_row)
        eager = Ragged.from_lengths(values, counts)
        traced = jax.jit(Ragged.from_lengths)(values, counts)
    for ragged in (eager, traced):
        assert ragged.offsets.tolist() == np.cumsum([0, *lengths]).tolist()
        assert ragged.values.tolist() == list(range(8))
