# SPDX-License-Identifier: Apache-2.0
"""`gather_rows` against NumPy: adversarial ids, both ways that rows travel, and its derivative."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jax.test_util import check_grads
from jaxframes import primitives
from jaxframes.primitives import collective
from jaxframes.primitives.collective import _gather_rows
from jaxframes.primitives.collective._gather_rows import _take_by_column
from key_distributions import make_keys
from on_shards import SHARD_COUNTS, mesh_of, noting, on_shards, row_counts, row_ids

NUM_ROWS = 12


@pytest.fixture(autouse=True)
def plans_for_all(monkeypatch):
    """Few rows are planned for as many are."""
    monkeypatch.setattr(_gather_rows, "_FEW_BYTES", 0)


@functools.cache
def gatherer(num_shards, transport="auto", **options):
    def gather(rows, ids, num_valid):
        return collective.gather_rows(
            rows, ids, axis_name="rows", num_valid=num_valid, transport=transport
        )

    return on_shards(gather, num_shards, **options)


def adversarial_ids(num_shards, num_rows, num_ids):
    """By name, the ids that each shard asks for."""
    total = num_shards * num_rows
    rng = np.random.default_rng(0)
    shape = (num_shards, num_ids)
    last = total - num_rows
    return {
        "random": rng.integers(0, max(total, 1), shape),
        "one row": np.full(shape, total // 2),
        # As many distinct rows of one shard as there are: no room to answer them all at once.
        "all rows of the last": last + (np.indices(shape).sum(0) % max(num_rows, 1)),
        "half of one": np.where(np.indices(shape)[1] % 2, 1, rng.integers(0, max(total, 1), shape)),
        "own rows": np.indices(shape)[0] * num_rows + np.indices(shape)[1] % max(num_rows, 1),
        "out of range": rng.integers(-total - 2, 2 * total + 2, shape),
        "none": np.full(shape, -1),
    }


def check(rows, ids, counts, transport="auto"):
    num_shards, num_rows = jax.tree.leaves(rows)[0].shape[:2]
    total = num_shards * num_rows
    owner, row = np.divmod(np.clip(ids, 0, max(total - 1, 0)), max(num_rows, 1))
    is_row = (ids >= 0) & (ids < total)
    is_row &= row < np.asarray(counts)[owner]

    def take(leaf):
        taken = np.zeros((*ids.shape, *leaf.shape[2:]), leaf.dtype)
        taken[is_row] = leaf[owner[is_row], row[is_row]]
        return taken

    actual = gatherer(num_shards, transport)(rows, ids, counts)
    oracles.assert_same_bits(actual, jax.tree.map(take, rows))


# Matches the oracle


@pytest.mark.parametrize("num_shards", SHARD_COUNTS)
def test_any_ids(num_shards):
    rows = row_ids(num_shards, NUM_ROWS) + 1
    for name, ids in adversarial_ids(num_shards, NUM_ROWS, 2 * NUM_ROWS).items():
        for counted in ("all", "growing", "every second shard empty"):
            with noting((name, counted)):
                check(rows, ids, row_counts(num_shards, NUM_ROWS)[counted])


@pytest.mark.parametrize("transport", ["ragged", "one_hop", "two_hop"])
def test_every_transport(transport):
    rows = row_ids(5, NUM_ROWS) + 1
    for name, ids in adversarial_ids(5, NUM_ROWS, 2 * NUM_ROWS).items():
        with noting(name):
            check(rows, ids, row_counts(5, NUM_ROWS)["all"], transport)


@pytest.mark.parametrize(("num_rows", "num_ids"), [(0, 3), (3, 0), (1, 1), (40, 3)])
def test_edge_sizes(num_rows, num_ids):
    rows = row_ids(3, num_rows) + 1
    for name, ids in adversarial_ids(3, num_rows, num_ids).items():
        with noting(name):
            check(rows, ids, row_counts(3, num_rows)["all"])


@pytest.mark.parametrize("dtype", ["int8", "uint32", "int64", "uint64"])
def test_ids_of_every_integer_dtype(dtype):
    # The extremes of a wide dtype must not wrap into the range of the ids.
    limits = np.iinfo(dtype)
    ids = np.resize(np.array([0, 1, 35, 36, limits.max, limits.min], dtype), (3, 2 * NUM_ROWS))
    check(row_ids(3, NUM_ROWS) + 1, ids, row_counts(3, NUM_ROWS)["all"])


def test_moves_rows_of_every_kind():
    ids = row_ids(3, NUM_ROWS)
    rows = {
        "bool": ids % 3 == 0,
        "bfloat16": make_keys("nan_inf_sprinkled", ids.size, jnp.bfloat16).reshape(ids.shape),
        "complex matrix": np.stack([ids, ids + 1j], -1),
        "no column": np.zeros((*ids.shape, 0), np.int16),
        "none": None,
    }
    for name, wanted in adversarial_ids(3, NUM_ROWS, 2 * NUM_ROWS).items():
        with noting(name):
            check(rows, wanted, row_counts(3, NUM_ROWS)["growing"])


@pytest.mark.usefixtures("x64_off")
def test_without_x64():
    ids = adversarial_ids(3, NUM_ROWS, NUM_ROWS)["random"].astype(np.int32)
    check(row_ids(3, NUM_ROWS) + 1, ids, row_counts(3, NUM_ROWS)["all"])


# Derivatives: what a row gets back is the sum over all that asked for it


def test_derivatives():
    ids = adversarial_ids(2, 3, 8)
    counts = row_counts(2, 3)["all"]
    rows = np.arange(1.0, 7).reshape(2, 3)
    weights = np.random.default_rng(0).random((2, 8))
    gather = gatherer(2, "one_hop", compiler_options=None)

    @jax.jit
    def weighted(rows, ids):
        return jnp.sum(weights * gather(rows, ids, counts) ** 2)

    for name in ("random", "all rows of the last"):
        expected = np.zeros(6)
        wanted = ids[name].ravel()
        np.add.at(expected, wanted, 2 * weights.ravel() * rows.ravel()[wanted])
        with noting(name):
            actual = jax.grad(weighted)(rows, ids[name]).ravel()
            np.testing.assert_allclose(actual, expected, rtol=1e-12)
            check_grads(
                lambda rows, name=name: weighted(rows, ids[name]),
                (rows,),
                order=2,
                modes=("fwd", "rev"),
            )


# On TPU a row of few words is taken by column


def test_rows_by_column():
    rng = np.random.default_rng(1)
    matrix = rng.integers(0, 2**32, (20, 3), dtype=np.uint32)
    ids, is_row = rng.integers(0, 20, 31), rng.integers(0, 2, 31).astype(bool)
    expected = np.where(is_row[:, None], matrix[ids], 0)
    taken = _take_by_column(jnp.asarray(matrix), jnp.asarray(ids), jnp.asarray(is_row))
    np.testing.assert_array_equal(taken, expected)

    def total(matrix):
        return (_take_by_column(matrix, jnp.asarray(ids), jnp.asarray(is_row)) ** 2).sum()

    floats = rng.standard_normal((20, 3)).astype(np.float32)
    times = np.bincount(ids[is_row], minlength=20)[:, None]
    np.testing.assert_allclose(jax.grad(total)(floats), 2 * times * floats, rtol=1e-6)


def test_no_row_of_several_words_is_gathered_on_tpu():
    mesh = mesh_of(4)

    def lowered(platform):
        def gather(rows, ids):
            return primitives.gather_rows(rows, ids, mesh)

        column = jax.ShapeDtypeStruct((65536,), jnp.float32)
        ids = jax.ShapeDtypeStruct((65536,), jnp.int32)
        traced = jax.jit(gather).trace((column, column), ids)
        return traced.lower(lowering_platforms=(platform,)).as_text()

    row_of_two_words = "slice_sizes = array<i64: 1, 2>"
    assert row_of_two_words in lowered("cpu")
    assert row_of_two_words not in lowered("tpu")


# Whole arrays


@pytest.mark.parametrize("num_shards", [1, 3])
def test_whole_arrays_of_any_length(num_shards):
    rng = np.random.default_rng(0)
    for num_rows, num_ids in ((29, 50), (24, 15), (0, 2)):
        rows = {"a": np.arange(1, num_rows + 1), "b": rng.random((num_rows, 2))}
        ids = rng.integers(-2, num_rows + 3, num_ids)
        # A row of zeros follows the last row; -1 selects it.
        slots = np.where((ids >= 0) & (ids < num_rows), ids, -1)
        expected = oracles.take(oracles.with_zeros_behind(rows, num_rows + 1), slots)
        with noting((num_rows, num_ids)):
            actual = primitives.gather_rows(rows, ids, mesh_of(num_shards))
            oracles.assert_same_bits(actual, expected)


# Errors word for word


@pytest.mark.checks_arguments
def test_refuses():
    rows = np.arange(24)
    cases = [
        (np.zeros(3), TypeError, "gather_rows: global_ids must be integers, got float64[3]."),
        (np.zeros((3, 1), int), ValueError,
         "gather_rows: global_ids must be one-dimensional, got int64[3,1]. Flatten them, and "
         "reshape the result."),
    ]  # fmt: skip
    for ids, error, message in cases:
        with pytest.raises(error) as raised:
            primitives.gather_rows(rows, ids, mesh_of(3))
        assert str(raised.value) == message


@pytest.mark.parametrize("name", adversarial_ids(4, NUM_ROWS, 40))
def test_few_rows_have_one_way(monkeypatch, name):
    num_shards = 4
    ids = adversarial_ids(num_shards, NUM_ROWS, 40)[name]
    rows = np.arange(num_shards * NUM_ROWS, dtype=np.float32).reshape(num_shards, NUM_ROWS)
    counts = np.full(num_shards, NUM_ROWS, np.int32)

    def gather(rows, ids, num_valid):
        return collective.gather_rows(rows, ids, axis_name="rows", num_valid=num_valid)

    choices, choose = [], _gather_rows.choose
    monkeypatch.setattr(
        _gather_rows, "choose", lambda *args: (choices.append(args), choose(*args))[1]
    )
    planned = on_shards(gather, num_shards)(rows, ids, counts)
    assert len(choices) >= 2
    choices.clear()
    monkeypatch.setattr(_gather_rows, "_FEW_BYTES", 1 << 17)
    few = on_shards(gather, num_shards)(rows, ids, counts)
    assert not choices
    np.testing.assert_array_equal(few, planned)
    expected = np.where((ids >= 0) & (ids < rows.size), rows.ravel()[ids % rows.size], 0)
    np.testing.assert_array_equal(few, expected)
