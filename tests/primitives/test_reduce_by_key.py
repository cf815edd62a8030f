# SPDX-License-Identifier: Apache-2.0
"""`reduce_by_key` of whole arrays on one device, which an eager call sizes as it goes."""

import gc

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pandas as pd
import pytest
from jax.sharding import AxisType
from jaxframes import primitives, shardings
from jaxframes.primitives import CapacityError, _direct_index, _eager_reduction, local
from on_shards import mesh_of, noting

NUM_ROWS = 70_000
OPS = ("sum", "min", "count", "all")


def integers(num_keys, dtype=np.int64, seed=0):
    return np.random.default_rng(seed).integers(0, num_keys, NUM_ROWS).astype(dtype)


KEYS = {
    "dense": lambda: integers(1000) - 500,
    "dense, as many as rows": lambda: integers(NUM_ROWS),
    "few, far apart": lambda: integers(1000) << 40,
    "many, far apart": lambda: integers(NUM_ROWS) << 40,
    "floats": lambda: np.where(integers(9) == 0, np.nan, integers(50, seed=1) / 7 - 3),
    "bool": lambda: integers(2, np.bool_),
    "one key": lambda: integers(1, np.int8),
    "digits": lambda: (integers(7, np.int8), integers(2, np.bool_, 1), integers(30, seed=2)),
    "two words": lambda: (integers(90), integers(90, seed=1) / 7),
}


def expected_runs(keys, values, ops, num_valid):
    columns = keys if isinstance(keys, tuple) else (keys,)
    rows = pd.DataFrame({"value": values, **dict(enumerate(columns))})[:num_valid]
    groups = rows.groupby(list(range(len(columns))), dropna=False).value
    reduced = [groups.agg((lambda x: (x != 0).all()) if op == "all" else op) for op in ops]
    unique_keys = reduced[0].index.to_frame()
    return [unique_keys[i].to_numpy() for i in range(len(columns))], reduced


@pytest.mark.parametrize("name", KEYS)
def test_an_eager_call_has_one_row_for_each_key(name):
    keys = KEYS[name]()
    values = np.random.default_rng(3).standard_normal(NUM_ROWS)
    on_device = jax.tree.map(jnp.asarray, keys)
    cases = ((OPS, NUM_ROWS, None), (("sum",), NUM_ROWS - 5, lambda count: count + 2))
    for ops, num_valid, capacity in cases:
        columns, reduced = expected_runs(keys, values, ops, num_valid)
        with noting((ops, num_valid)):
            found = primitives.reduce_by_key(
                on_device, [values] * len(ops), list(ops), capacity=capacity, num_valid=num_valid
            )
            count, room = len(reduced[0]), 2 * (capacity is not None)
            assert found.num_runs == count
            is_tuple = isinstance(keys, tuple)
            unique_keys = found.unique_keys if is_tuple else (found.unique_keys,)
            for column, wanted in zip(unique_keys, columns, strict=True):
                oracles.assert_same_bits(column[:count], wanted.astype(column.dtype))
                assert column[count:].tolist() == [0] * room
            for leaf, wanted in zip(found.values, reduced, strict=True):
                np.testing.assert_allclose(leaf[:count], wanted, rtol=1e-12, atol=1e-9)
                assert leaf[count:].tolist() == [0] * room


@pytest.mark.parametrize("name", ["dense", "few, far apart", "digits", "two words"])
@pytest.mark.parametrize("is_traced", [False, True])
@pytest.mark.parametrize("num_shards", [None, 3])
def test_keys_in_the_order_of_their_first_rows(name, is_traced, num_shards):
    is_short = is_traced or num_shards is not None
    keys = jax.tree.map(lambda column: column[: 9000 if is_short else None], KEYS[name]())
    mesh = None if num_shards is None else mesh_of(num_shards)
    columns = keys if isinstance(keys, tuple) else (keys,)
    values = np.random.default_rng(3).integers(-9, 9, len(columns[0]))
    rows = pd.DataFrame({"value": values, **dict(enumerate(columns))})
    groups = rows.groupby(list(range(len(columns))), sort=False).value
    wanted = groups.agg(["sum", "max", "count"])

    def reduce(keys, values, capacity=None):
        ops = ["sum", "max", "count"]
        return primitives.reduce_by_key(
            keys, [values] * 3, ops, mesh, order="first", capacity=capacity
        )

    on_device = jax.tree.map(jnp.asarray, keys)
    if is_traced:
        reduce = jax.jit(reduce, static_argnames="capacity")
        found = reduce(on_device, values, capacity=len(wanted) + 2)
    else:
        found = reduce(on_device, values)
    count = len(wanted)
    assert found.num_runs == count
    unique_keys = found.unique_keys if isinstance(keys, tuple) else (found.unique_keys,)
    index = wanted.index.to_frame()
    for at, column in enumerate(unique_keys):
        np.testing.assert_array_equal(column[:count], index.iloc[:, at])
    for leaf, op in zip(found.values, wanted, strict=True):
        np.testing.assert_array_equal(leaf[:count], wanted[op])
        assert not np.asarray(leaf[count:]).any()


def test_orders_that_are_refused():
    message = "reduce_by_key: order must be 'key' or 'first', got 'last'."
    with pytest.raises(ValueError, match=message):
        primitives.reduce_by_key(np.arange(3), np.arange(3), "sum", order="last")


@pytest.mark.parametrize("name", ["dense", "many, far apart", "digits", "two words"])
def test_eager_and_traced_calls_have_the_same_bits(name):
    keys = jax.tree.map(jnp.asarray, KEYS[name]())
    values = jnp.asarray(np.random.default_rng(3).standard_normal(NUM_ROWS))

    def reduce(keys, values, capacity=None):
        leaves, ops = [values, values], ["var", "first"]
        return primitives.reduce_by_key(keys, leaves, ops, capacity=capacity)

    eager = reduce(keys, values)
    count = int(eager.num_runs)
    traced = jax.jit(reduce, static_argnames="capacity")(keys, values, capacity=count)
    oracles.assert_same_bits(eager, traced)
    # A traced call cannot know the count: a function sizes it by the number of rows.
    traced = jax.jit(lambda *args: reduce(*args, capacity=lambda rows: rows // 2))(keys, values)
    assert traced.num_runs == count
    assert traced.values[0].shape == (NUM_ROWS // 2,)


@pytest.mark.parametrize("most", [1 << 17, 1000])
def test_a_sample_that_shows_few_of_many_keys(most, monkeypatch):
    monkeypatch.setattr(_eager_reduction, "MOST_FEW_KEYS", most)
    # The rows of the sample, one in two, have one key.
    keys = integers(NUM_ROWS) << 40
    keys[::2] = 7
    values = np.random.default_rng(3).integers(-9, 9, NUM_ROWS)
    columns, (totals,) = expected_runs(keys, values, ("sum",), NUM_ROWS)
    found = primitives.reduce_by_key(jnp.asarray(keys), values, "sum")
    np.testing.assert_array_equal(found.unique_keys, columns[0])
    np.testing.assert_array_equal(found.values, totals)


def test_ranges_are_known_as_long_as_keys_live():
    keys = jnp.asarray(integers(1000))
    gc.collect()
    before = dict(_direct_index._RANGES)
    for num_valid in (NUM_ROWS, 10, NUM_ROWS):
        found = primitives.reduce_by_key(keys, keys, "sum", num_valid=num_valid)
        wanted = np.unique(np.asarray(keys[:num_valid]))
        np.testing.assert_array_equal(found.unique_keys, wanted)
    assert len(_direct_index._RANGES) == len(before) + 2
    del keys, found
    gc.collect()
    assert before == _direct_index._RANGES


@pytest.mark.usefixtures("x64_off")
@pytest.mark.parametrize("factor", [1, 1_000_003])
def test_without_x64(factor):
    keys = integers(900, np.int32) * np.int32(factor)
    values = integers(9, np.float32, seed=1)
    unique_keys, counts = np.unique(keys, return_counts=True)
    found = primitives.reduce_by_key(jnp.asarray(keys), [values] * 2, ["sum", "count"])
    np.testing.assert_array_equal(found.unique_keys, unique_keys)
    np.testing.assert_array_equal(found.values[1], counts)
    totals = [values[keys == key].sum() for key in unique_keys]
    np.testing.assert_array_equal(found.values[0], totals)


def test_derivatives_of_an_eager_call():
    keys = jnp.asarray(integers(9))
    values = jnp.asarray(np.random.default_rng(3).standard_normal(NUM_ROWS))

    def of_squares(values):
        return jnp.sum(primitives.reduce_by_key(keys, values, "sum").values ** 2)

    totals = local.reduce_by_key(keys, values, "sum", capacity=9).values
    np.testing.assert_allclose(jax.grad(of_squares)(values), 2 * totals[keys], rtol=1e-12)


@pytest.mark.checks_arguments
def test_refuses_capacities_that_are_too_small():
    for keys in (jnp.asarray(integers(1000)), jnp.arange(5)):
        num_keys = len(np.unique(np.asarray(keys)))
        for capacity in (3, lambda count: 3):
            with pytest.raises(CapacityError) as raised:
                primitives.reduce_by_key(keys, keys, "sum", capacity=capacity)
            assert str(raised.value) == (
                f"reduce_by_key: {num_keys} rows do not fit a capacity of 3. Call again with "
                f"capacity={num_keys} or more."
            )


@pytest.mark.parametrize("axis_type", [AxisType.Auto, AxisType.Explicit])
@pytest.mark.parametrize("num_distinct", [3, 4, 8])
def test_a_size_that_the_mesh_divides_from_rows_that_it_does_not(axis_type, num_distinct):
    mesh = shardings.make_mesh(4, axis_type=axis_type)
    keys = np.arange(21, dtype=np.int32) % num_distinct
    distinct, counts = np.unique(keys, return_counts=True)
    np.testing.assert_array_equal(primitives.unique(keys, mesh).unique_keys, distinct)
    runs = primitives.reduce_by_key(np.sort(keys), np.ones(21), "sum", mesh)
    np.testing.assert_array_equal(runs.unique_keys, distinct)
    np.testing.assert_array_equal(runs.values, counts)
