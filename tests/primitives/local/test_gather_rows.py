# SPDX-License-Identifier: Apache-2.0
"""`local.gather_rows` against NumPy."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jax.sharding import PartitionSpec
from jax.test_util import check_grads
from jaxframes.primitives import backend, kernels, local
from key_distributions import KEY_DTYPES, make_keys
from on_shards import compiled, mesh_of

NUM_ROWS, NUM_IDS = 300, 5000
# An eager call gathers all columns in one pass, a compiled one each by itself.
CALLS = pytest.mark.parametrize("is_eager", [False, True], ids=["compiled", "eager"])
needs_kernels = pytest.mark.skipif(backend().cpu != "native", reason=backend().reason)
gather_compiled = compiled(local.gather_rows)


def table(num_rows=NUM_ROWS):
    """Columns of every width; NaNs of several payloads, because rows move as bits."""
    columns = {
        dtype.name: make_keys("nan_inf_sprinkled", num_rows, dtype)
        if oracles.is_float(dtype)
        else make_keys("uniform", num_rows, dtype)
        for dtype in KEY_DTYPES
    }
    columns["complex"] = np.arange(num_rows) * (1 + 2j)
    columns["matrix"] = np.arange(num_rows * 6.0).reshape(num_rows, 2, 3)
    return columns


def ids_of(kind, num_rows=NUM_ROWS, num_ids=NUM_IDS):
    rng = np.random.default_rng(0)
    ids = rng.integers(0, max(num_rows, 1), num_ids)
    if kind == "ascending":
        ids.sort()
    if kind == "consecutive":
        ids = np.arange(num_ids) % num_rows
    if kind == "outside":
        ids[::3] = rng.choice([-1, -num_rows, num_rows, num_rows + 7], len(ids[::3]))
    return ids.astype(np.int32)


def expected_rows(rows, ids, fill):
    """NumPy's rows; `fill` in place of those out of range."""
    is_row = (ids >= 0) & (ids < len(rows))
    result = np.full((len(ids), *rows.shape[1:]), fill, rows.dtype)
    result[is_row] = rows[ids[is_row]]
    return result


@CALLS
@pytest.mark.parametrize("kind", ["random", "ascending", "consecutive", "outside"])
def test_gathers_rows_of_every_width(kind, is_eager):
    rows, ids = table(), ids_of(kind)
    gather = local.gather_rows if is_eager and backend().cpu == "native" else gather_compiled
    expected = {name: expected_rows(column, ids, 0) for name, column in rows.items()}
    oracles.assert_same_bits(gather(rows, ids), expected)


@CALLS
@pytest.mark.parametrize("num_rows", [0, 1, NUM_ROWS])
def test_fills_ids_out_of_range(num_rows, is_eager):
    names = "bool", "int8", "int64", "float32", "bfloat16", "complex", "matrix"
    fills = dict(zip(names, (True, -1, np.iinfo(np.int64).min, np.nan, -0.0, 1j, 7), strict=True))
    rows = {name: column for name, column in table(num_rows).items() if name in names}
    ids = ids_of("outside", num_rows)
    gather = functools.partial(local.gather_rows, fill_value={name: fills[name] for name in rows})
    expected = {name: expected_rows(rows[name], ids, fills[name]) for name in rows}
    actual = gather(rows, ids) if is_eager else jax.jit(gather)(rows, ids)
    oracles.assert_same_bits(actual, expected)


def test_one_fill_value_for_all_columns_and_none():
    rows = {"x": np.arange(3.0), "y": (np.arange(3), None)}
    taken = local.gather_rows(rows, [2, 9, -1], fill_value=5)
    assert taken["x"].tolist() == [2.0, 5.0, 5.0]
    assert taken["y"][0].tolist() == [2, 5, 5]
    assert taken["y"][1] is None


@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint32", "int64", "uint64"])
def test_ids_of_every_dtype(dtype):
    ids = np.array([0, 2, 3, np.iinfo(dtype).max, np.iinfo(dtype).min, 1], dtype)
    taken = local.gather_rows(np.array([5, 6, 7]), ids)
    assert taken.tolist() == [5, 7, 0, 0, 5 if dtype.startswith("u") else 0, 6]


@pytest.mark.parametrize("num_ids", [0, 1])
def test_no_ids_and_one(num_ids):
    rows, ids = table(), ids_of("random", num_ids=num_ids)
    oracles.assert_same_bits(
        local.gather_rows(rows, ids), {name: column[ids] for name, column in rows.items()}
    )


@needs_kernels
@pytest.mark.parametrize(
    "dtype", [bool, np.int16, jnp.bfloat16, np.float32, np.complex128], ids=str
)
def test_native_and_portable_agree(dtype, monkeypatch):
    rows = jnp.asarray(np.random.default_rng(0).integers(0, 99, NUM_ROWS).astype(dtype))
    ids, fill = jnp.asarray(ids_of("outside")), rows[7]
    gather = kernels.move._gather.gather_words
    native = gather(ids, [rows, rows[::-1]], [fill, fill])
    monkeypatch.setattr(kernels.move._gather, "is_native", lambda: False)
    oracles.assert_same_bits(native, gather(ids, [rows, rows[::-1]], [fill, fill]))


def test_a_batch_of_ids_and_of_rows():
    rows, ids = np.arange(12.0).reshape(3, 4), ids_of("outside", 4, 15).reshape(3, 5)
    both = jax.vmap(local.gather_rows)(rows, ids)
    by_ids = jax.vmap(local.gather_rows, (None, 0))(rows[0], ids)
    for row in range(3):
        np.testing.assert_array_equal(both[row], expected_rows(rows[row], ids[row], 0))
        np.testing.assert_array_equal(by_ids[row], expected_rows(rows[0], ids[row], 0))


def test_derivative():
    rows = {"x": np.arange(1.0, 5.0), "m": np.arange(8.0).reshape(4, 2), "n": np.arange(4)}
    ids = np.array([3, 1, 9, 1, -1])

    def cubed(x, m):
        taken = local.gather_rows({**rows, "x": x, "m": m}, ids, fill_value=3)
        return taken["x"] ** 3, taken["m"] ** 3

    check_grads(cubed, (rows["x"], rows["m"]), order=2)
    gradient = jax.grad(lambda x: local.gather_rows(x, ids).sum())(rows["x"])
    assert gradient.tolist() == [0.0, 2.0, 0.0, 1.0]


def test_in_shard_map():
    rows, ids = np.arange(8.0), np.tile([1, 0, 5, 3], 2)
    spec = PartitionSpec("rows")
    gather = jax.shard_map(
        local.gather_rows, mesh=mesh_of(2), in_specs=(spec, spec), out_specs=spec
    )
    assert jax.jit(gather)(rows, ids).tolist() == [1.0, 0.0, 0.0, 3.0, 5.0, 4.0, 0.0, 7.0]


def test_a_negative_zero_fills():
    for rows in (np.ones(2), np.ones((2, 3), np.float16)):
        taken = local.gather_rows(rows, np.array([-1, 1, 2]), fill_value=-0.0)
        assert np.signbit(taken).reshape(3, -1).all(1).tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("rows", "ids", "fill", "error", "message"),
    [
        ([1], [0.0], 0, TypeError, "gather_rows: row_ids must be integers, got float"),
        ([1], [[0]], 0, ValueError, "gather_rows: row_ids must be one-dimensional, got int"),
        ((), [0], 0, ValueError, "gather_rows: rows must hold at least one array"),
        (([1], [1, 2]), [0], 0, ValueError, "gather_rows: every leaf of rows must have the same"),
        ((np.ones(1),), [0], (0, 0), ValueError, "gather_rows: fill_value must be a number or"),
        (
            np.ones(1, np.uint8),
            [0],
            300,
            ValueError,
            "gather_rows: fill_value must be a number of ",
        ),
        (np.ones(1, int), [0], np.nan, ValueError, "gather_rows: fill_value must be a number of"),
        (np.ones(1, bool), [0], 2, ValueError, "gather_rows: fill_value must be a number of bool"),
        (np.ones(1), [0], np.ones(2), ValueError, "gather_rows: fill_value must be a number of"),
    ],
)
def test_raises(rows, ids, fill, error, message):
    rows = jax.tree.map(np.asarray, rows, is_leaf=lambda leaf: isinstance(leaf, list))
    with pytest.raises(error, match=message):
        local.gather_rows(rows, np.asarray(ids), fill_value=fill)


def test_raises_for_a_traced_fill_value():
    with pytest.raises(TypeError, match="gather_rows: fill_value must be static, got a traced"):
        jax.jit(lambda fill: local.gather_rows(np.ones(1), np.zeros(1, int), fill_value=fill))(1.0)
