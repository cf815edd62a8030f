# SPDX-License-Identifier: Apache-2.0
"""`collective.segment_reduce` and its named forms against the NumPy oracle."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import collective, local
from jaxframes.primitives.contract._segment_forms import HAVE_DDOF, SEGMENT_OPS
from key_distributions import KEY_DTYPES, distributions_for, make_keys
from on_shards import SHARD_COUNTS, into_shards, noting, on_shards, row_counts, valid_rows
from reduced_rows import ROUNDED, assert_is_reduced

NUM_ROWS, NUM_SEGMENTS = 19, 7


@functools.cache
def reducer(num_shards, ops=SEGMENT_OPS, scattered=False):
    """One program that makes every reduction, each shard its own results."""

    def reduce(x, segment_ids, num_valid):
        settings = {"axis_name": "rows", "num_valid": num_valid, "scattered": scattered}
        return {
            op: collective.segment_reduce(x, segment_ids, NUM_SEGMENTS, op, **settings)
            for op in ops
        }

    return on_shards(reduce, num_shards)


def segment_ids_of(num_shards, seed=0):
    """Ids, some out of range, and one segment without rows."""
    shape = num_shards, NUM_ROWS
    ids = np.random.default_rng(seed).integers(-2, NUM_SEGMENTS + 2, shape).astype(np.int32)
    return np.where(ids == 3, np.int32(4), ids)


def of_every_shard(result):
    """A result that every shard has; fails where they differ."""
    for shard in np.asarray(result)[1:]:
        oracles.assert_same_bits(shard, np.asarray(result)[0])
    return np.asarray(result)[0]


def check(x, ids, counts, ops=SEGMENT_OPS, compared=None):
    num_shards = len(counts)
    reduced = reducer(num_shards, ops)(x, ids, counts)
    # Where rows lie among all rows, padding of other shards included.
    is_row = np.arange(NUM_ROWS) < counts[:, None]
    all_ids = np.where(is_row, ids, -1).reshape(-1)
    for op in compared or ops:
        with noting(op):
            rows = x.reshape(-1, *x.shape[2:])
            assert_is_reduced(of_every_shard(reduced[op]), rows, all_ids, NUM_SEGMENTS, op)


@pytest.mark.parametrize("dtype", KEY_DTYPES, ids=str)
def test_every_dtype_and_distribution(dtype):
    num_shards = (8, 1, 3, 2, 5)[KEY_DTYPES.index(dtype) % 5]
    ops = tuple(op for op in SEGMENT_OPS if op != "prod" or not oracles.is_float(dtype))
    counts = row_counts(num_shards, NUM_ROWS)
    for i, distribution in enumerate(distributions_for(dtype)):
        x = into_shards(make_keys(distribution, num_shards * NUM_ROWS, dtype), num_shards)
        # XLA on CPU takes denormals for zeros in arithmetic, though not elsewhere.
        compared = [op for op in ops if op not in ROUNDED or distribution != "denormals"]
        for name in ("all", list(counts)[i % len(counts)]):
            with noting((distribution, name)), np.errstate(all="ignore"):
                check(x, segment_ids_of(num_shards, i), counts[name], ops, compared)


@pytest.mark.parametrize("num_shards", SHARD_COUNTS)
def test_every_number_of_valid_rows(num_shards):
    x = np.random.default_rng(0).choice([0.5, -1.0, 1.5, 0.0], (num_shards, NUM_ROWS))
    for name, counts in row_counts(num_shards, NUM_ROWS).items():
        with noting(name):
            check(x, segment_ids_of(num_shards), counts)


@pytest.mark.parametrize("num_shards", SHARD_COUNTS)
def test_scattered_results_are_pieces_of_the_whole(num_shards):
    x = into_shards(make_keys("uniform", num_shards * NUM_ROWS, np.float32), num_shards)
    ids, counts = segment_ids_of(num_shards), row_counts(num_shards, NUM_ROWS)["growing"]
    whole = reducer(num_shards)(x, ids, counts)
    pieces = reducer(num_shards, scattered=True)(x, ids, counts)
    empty = jax.jit(
        lambda: {
            op: local.segment_reduce(jnp.zeros(1, jnp.float32), jnp.array([-1]), 1, op)
            for op in SEGMENT_OPS
        }
    )()
    for op in SEGMENT_OPS:
        together = np.asarray(pieces[op]).reshape(-1)
        assert len(together) == -(-NUM_SEGMENTS // num_shards) * num_shards
        # A sum over shards may be added in another order where it is scattered.
        np.testing.assert_allclose(together[:NUM_SEGMENTS], whole[op][0], rtol=1e-5)
        for beyond in together[NUM_SEGMENTS:]:
            np.testing.assert_array_equal(beyond, empty[op][0])


@pytest.mark.parametrize("op", ["sum", "prod", "first", "argmin", "count"])
def test_shards_of_no_rows_at_all(op):
    # A program of each: XLA fails to compile some whose arguments are all empty.
    def reduce(x, ids):
        whole, pieces = (
            collective.segment_reduce(x, ids, 4, op, axis_name="rows", scattered=scattered)
            for scattered in (False, True)
        )
        return whole, pieces

    x, ids = np.zeros((3, 0), np.float32), np.zeros((3, 0), np.int32)
    whole, pieces = on_shards(reduce, 3)(x, ids)
    for shard in range(3):
        assert_is_reduced(whole[shard], x[0], ids[0], 4, op)
    assert_is_reduced(np.asarray(pieces).reshape(-1)[:4], x[0], ids[0], 4, op)


def test_rows_of_every_kind():
    x = {
        "matrix": make_keys("nan_inf_sprinkled", 3 * NUM_ROWS * 4, jnp.bfloat16),
        "complex": make_keys("uniform", 3 * NUM_ROWS * 4, np.float64).astype(np.complex64),
    }
    x = jax.tree.map(lambda leaf: leaf.reshape(3, NUM_ROWS, 2, 2), x)
    ids, counts = segment_ids_of(3), row_counts(3, NUM_ROWS)["growing"]
    ops = ("first", "last", "any", "all")
    for scattered in (False, True):
        reduced = reducer(3, ops, scattered)(x, ids, counts)
        for op in ops:
            for name, leaf in x.items():
                expected = oracles.segment_reduce(
                    valid_rows(leaf, counts), valid_rows(ids, counts), NUM_SEGMENTS, op
                )
                actual = np.asarray(reduced[op][name])
                actual = np.concatenate(actual)[:NUM_SEGMENTS] if scattered else actual[1]
                oracles.assert_same_bits(actual, expected)


@pytest.mark.parametrize("op", SEGMENT_OPS)
def test_named_forms(op):
    x = into_shards(make_keys("uniform", 3 * NUM_ROWS, np.float32), 3)
    ids, counts = segment_ids_of(3), row_counts(3, NUM_ROWS)["growing"]
    settings = {"axis_name": "rows"} | ({"ddof": 1} if op in HAVE_DDOF else {})

    def both(x, ids, num_valid):
        arguments = () if op == "count" else (x,)
        named = getattr(collective, f"segment_{op}")
        return [
            named(*arguments, ids, NUM_SEGMENTS, num_valid=num_valid, **settings),
            collective.segment_reduce(x, ids, NUM_SEGMENTS, op, num_valid=num_valid, **settings),
        ]

    oracles.assert_same_bits(*on_shards(both, 3)(x, ids, counts))


# Laws


def test_rows_are_conserved():
    for name, counts in row_counts(8, NUM_ROWS).items():
        ids = segment_ids_of(8)
        is_row = (np.arange(NUM_ROWS) < counts[:, None]) & (ids >= 0) & (ids < NUM_SEGMENTS)
        x = np.arange(8 * NUM_ROWS).reshape(8, NUM_ROWS)
        reduced = reducer(8)(x, ids, counts)
        with noting(name):
            assert reduced["count"][5].sum() == is_row.sum()
            assert reduced["sum"][5].sum() == x[is_row].sum()


def test_what_does_not_depend_on_the_number_of_shards():
    x = make_keys("nan_inf_sprinkled", 6 * NUM_ROWS, np.float32)
    ids = segment_ids_of(6)
    results = []
    for num_shards in (1, 2, 3):
        rows, shard_ids = (leaf.reshape(num_shards, -1) for leaf in (x, ids))
        counts = np.full(num_shards, rows.shape[1], np.int32)
        ops = tuple(op for op in SEGMENT_OPS if op not in ROUNDED)
        reduced = reducer(num_shards, ops)(rows, shard_ids, counts)
        results.append(jax.tree.map(lambda leaf: np.asarray(leaf)[0], reduced))
    oracles.assert_same_bits(results[0], results[1])
    oracles.assert_same_bits(results[0], results[2])
