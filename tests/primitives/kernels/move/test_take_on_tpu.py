# SPDX-License-Identifier: Apache-2.0
"""Gathers of single words on TPU, by lookups and by sorts, run on CPU, against NumPy."""

import interpreted
import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from covering import needs_long_profile
from jaxframes import shardings
from jaxframes.primitives import local
from jaxframes.primitives.kernels.move import _gather_by_sorts, _take_on_tpu, _take_tpu


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(_take_tpu, "BLOCK_LINES", 8)


def looked_up(columns, ids, interpret=True):
    return tuple(_take_tpu.take_words_tpu(column, ids, interpret) for column in columns)


def sorted_twice(columns, ids, interpret=None):
    return _gather_by_sorts.gather_by_sorts(columns, ids)


WAYS = {"looked up": looked_up, "sorted": sorted_twice}
by_each_way = pytest.mark.parametrize("way", WAYS)


def words_of(num_rows, dtype=np.int32, seed=0):
    info = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(info.min, info.max, num_rows, dtype, endpoint=True)


def ids_of(num_ids, num_rows):
    """Ids, some of them equal; the last row is among them."""
    ids = np.random.default_rng(1).integers(0, num_rows, num_ids, np.int32)
    ids[num_ids // 2 :: 3] = num_rows - 1
    return ids


@by_each_way
@pytest.mark.parametrize(
    ("num_rows", "num_ids"), [(1, 1), (1, 1500), (128, 5), (129, 1024), (1025, 1025), (3000, 2100)]
)
def test_rows_by_id(way, num_rows, num_ids):
    columns, ids = (words_of(num_rows), words_of(num_rows, np.uint32, 1)), ids_of(num_ids, num_rows)
    actual = jax.jit(WAYS[way])(columns, ids)
    oracles.assert_same_bits(actual, tuple(column[ids] for column in columns))


@by_each_way
@pytest.mark.parametrize("order", ["ascending", "descending", "all the same"])
def test_ids_in_order(way, order):
    ids = {
        "ascending": np.arange(1100),
        "descending": np.arange(1100)[::-1],
        "all the same": np.full(1100, 1099),
    }[order].astype(np.int32)
    words = words_of(1100)
    oracles.assert_same_bits(jax.jit(WAYS[way])((words,), ids), (words[ids],))


def test_ids_and_positions_that_do_not_share_a_word(monkeypatch):
    # As many rows as the bits of an id allow, without the memory for them.
    ids = np.array([2**30, 5, 2**30, 0], np.int32)
    sorted_ids, positions = _gather_by_sorts._sort_ids(jnp.asarray(ids), 2**31 - 1)
    oracles.assert_same_bits(sorted_ids, np.array([0, 5, 2**30, 2**30], np.int32))
    assert sorted(positions.tolist()) == [0, 1, 2, 3]


@by_each_way
def test_each_row_of_a_batch_is_its_own(way):
    words = np.stack([words_of(300, seed=seed) for seed in range(3)])
    ids = np.stack([np.roll(ids_of(200, 300), shift) for shift in range(3)])
    actual = jax.vmap(WAYS[way])((jnp.asarray(words),), jnp.asarray(ids))
    expected = np.stack([column[rows] for column, rows in zip(words, ids, strict=True)])
    oracles.assert_same_bits(actual, (expected,))


@by_each_way
def test_results_vary_over_the_mesh(way):
    mesh = shardings.make_mesh(2)
    by_row = jax.sharding.PartitionSpec(mesh.axis_names)
    words, ids = words_of(2 * 300), ids_of(2 * 200, 300)

    def take(words, ids):
        return WAYS[way]((words,), ids, interpreted.ON_MESH)[0]

    program = jax.jit(jax.shard_map(take, mesh=mesh, in_specs=by_row, out_specs=by_row))
    halves = zip(words.reshape(2, -1), ids.reshape(2, -1), strict=True)
    oracles.assert_same_bits(
        program(jnp.asarray(words), jnp.asarray(ids)),
        np.concatenate([column[rows] for column, rows in halves]),
    )


@needs_long_profile
def test_no_races():
    words, ids = words_of(2000), ids_of(2100, 2000)
    actual = _take_tpu.take_words_tpu(jnp.asarray(words), jnp.asarray(ids), interpreted.WITH_RACES)
    oracles.assert_same_bits(actual, words[ids])


@pytest.mark.parametrize("dtype", ["bool", "int8", "bfloat16", "float32", "int64", "complex64"])
def test_columns_of_every_dtype(dtype, monkeypatch):
    monkeypatch.setattr(_take_on_tpu, "MOST_LOOKED_UP", 100)
    column = jnp.asarray(words_of(4200) % 7).astype(dtype)
    column = column.at[3].set(jnp.nan) if dtype in ("float32", "bfloat16") else column
    ids = ids_of(4100, 4200)
    assert _take_on_tpu.can_take_on_tpu((column, column), jnp.asarray(ids))
    actual = jax.jit(_take_on_tpu.take_on_tpu)((column, column), ids)
    oracles.assert_same_bits(actual, (np.asarray(column)[ids],) * 2)


@pytest.mark.parametrize("num_rows", [4096, 40_000])
def test_programs_for_tpu_gather_no_rows(num_rows):
    rows = jax.ShapeDtypeStruct((num_rows,), np.float32)
    ids = jax.ShapeDtypeStruct((num_rows,), np.int32)

    def take(rows, ids):
        return local.gather_rows({"x": rows, "flag": rows > 0}, ids, fill_value=0)

    text = interpreted.lowered_with_kernels(take, rows, ids)
    assert "stablehlo.gather" not in text
