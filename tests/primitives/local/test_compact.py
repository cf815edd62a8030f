# SPDX-License-Identifier: Apache-2.0
"""`local.compact` against the NumPy oracle."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax.sharding import PartitionSpec
from jax.test_util import check_grads
from jaxframes.primitives import local
from key_distributions import KEY_DTYPES, make_keys
from on_shards import mesh_of, noting

NUM_ROWS = 700


@functools.cache
def compactor(capacity=None):
    return jax.jit(
        lambda mask, rows, valid: local.compact(mask, rows, capacity=capacity, num_valid=valid)
    )


def random_mask(num_rows=NUM_ROWS, share=0.5, seed=0):
    return np.random.default_rng(seed).random(num_rows) < share


def check(mask, rows, capacity=None, num_valid=None):
    num_valid = len(mask) if num_valid is None else num_valid
    actual = compactor(capacity)(mask, rows, num_valid)
    assert isinstance(actual, local.Compacted)
    oracles.assert_same_bits(tuple(actual), oracles.compact(mask, rows, capacity, num_valid))


# Matches the oracle


def test_moves_rows_of_every_dtype_and_shape():
    # NaNs of several payloads among them: rows move as bits.
    rows = {
        dtype.name: make_keys("nan_inf_sprinkled", NUM_ROWS, dtype)
        if oracles.is_float(dtype)
        else make_keys("uniform", NUM_ROWS, dtype)
        for dtype in KEY_DTYPES
    }
    rows["matrix"] = np.arange(NUM_ROWS * 6.0).reshape(NUM_ROWS, 2, 3)
    rows["complex"] = np.arange(NUM_ROWS) * (1 - 2j)
    rows["no column"] = np.zeros((NUM_ROWS, 0), np.int8)
    rows["none"] = None
    for share in (0, 0.01, 0.5, 1):
        with noting(share):
            check(random_mask(share=share), rows)


def test_row_ids_in_place_of_rows():
    row_ids = np.arange(NUM_ROWS, dtype=np.int32)
    for capacity in (NUM_ROWS, 100, 0):
        mask = random_mask()
        actual = compactor(capacity)(mask, None, 600)
        oracles.assert_same_bits(tuple(actual), oracles.compact(mask, row_ids, capacity, 600))


@pytest.mark.parametrize("num_valid", [0, 1, 699, 700])
def test_padding_is_never_selected(num_valid):
    rows = np.arange(1, NUM_ROWS + 1, dtype=np.int32)
    check(np.ones(NUM_ROWS, bool), rows, num_valid=num_valid)
    check(random_mask(), rows, num_valid=num_valid)


@pytest.mark.parametrize("capacity", [0, 1, 350, 699, 701])
def test_capacities(capacity):
    # Any capacity: the prefix is right, the count is true, and nothing lies behind.
    rows = np.arange(1, NUM_ROWS + 1, dtype=np.int32)
    for share in (0, 0.5, 1):
        with noting(share):
            check(random_mask(share=share), rows, capacity)


@pytest.mark.usefixtures("x64_off")
def test_without_x64():
    check(random_mask(), np.arange(NUM_ROWS, dtype=np.int32))


# Edge sizes


@pytest.mark.parametrize("num_rows", [0, 1, 7, 8, 9, 255, 257])
def test_edge_sizes(num_rows):
    rows = {"a": np.arange(num_rows, dtype=np.float32), "b": np.zeros((num_rows, 2), bool)}
    check(random_mask(num_rows), rows)
    check(random_mask(num_rows), rows, capacity=num_rows + 3)


def test_a_million_rows():
    # More than one chunk for each thread.
    rows = np.arange(10**6, dtype=np.int32)
    for share in (0.0001, 0.5, 0.999):
        mask = random_mask(10**6, share)
        kept = compactor()(mask, rows, 10**6)
        with noting(share):
            assert int(kept.count) == mask.sum()
            np.testing.assert_array_equal(kept.rows[: kept.count], rows[mask])
            assert not kept.rows[kept.count :].any()


# Laws


@given(st.lists(st.booleans(), min_size=12, max_size=12), st.integers(0, 12))
def test_a_mask_and_its_complement_share_out_the_rows(flags, num_valid):
    mask = np.array(flags)
    rows = np.arange(12, dtype=np.int32)
    kept, rest = (compactor()(m, rows, num_valid) for m in (mask, ~mask))
    assert int(kept.count + rest.count) == num_valid
    together = np.concatenate([kept.rows[: kept.count], rest.rows[: rest.count]])
    np.testing.assert_array_equal(np.sort(together), rows[:num_valid])


# Transformations: jit is everywhere above


def test_vmap_compacts_each_row_of_the_batch():
    mask = random_mask(6 * 40).reshape(2, 3, 40)
    rows = np.arange(6 * 40).reshape(2, 3, 40)
    actual = jax.jit(jax.vmap(jax.vmap(local.compact)))(mask, rows)
    for place in np.ndindex(2, 3):
        one = jax.tree.map(lambda part, place=place: part[place], tuple(actual))
        oracles.assert_same_bits(one, oracles.compact(mask[place], rows[place]))


@pytest.mark.parametrize("dtype", [np.float64, jnp.bfloat16])
def test_derivatives(dtype):
    mask = random_mask(12)
    weights = (jnp.arange(5) + 1).astype(dtype)

    @jax.jit
    def weighted(rows):
        return jnp.vdot(weights, local.compact(mask, rows**2, capacity=5).rows)

    rows = (np.arange(12) / 4).astype(dtype)
    if dtype == np.float64:
        check_grads(weighted, (rows,), order=2, modes=("fwd", "rev"))
    selected = np.flatnonzero(mask)[:5]
    expected = np.zeros(12)
    expected[selected] = 2 * rows[selected].astype(float) * np.arange(1, len(selected) + 1)
    np.testing.assert_allclose(jax.grad(weighted)(rows).astype(float), expected, rtol=1e-2)


def test_inside_shard_map():
    by_row = PartitionSpec("rows")
    of_shards = jax.shard_map(
        lambda mask, rows: local.compact(mask, rows).rows,
        mesh=mesh_of(3),
        in_specs=by_row,
        out_specs=by_row,
    )
    mask, rows = random_mask(3 * 50), np.arange(3 * 50)
    shards = zip(mask.reshape(3, 50), rows.reshape(3, 50), strict=True)
    expected = np.concatenate([oracles.compact(*shard)[0] for shard in shards])
    oracles.assert_same_bits(jax.jit(of_shards)(mask, rows), expected)


# Errors word for word

MASK = np.ones(5, bool)
ROWS = np.arange(5, dtype=np.int32)
ERRORS = [
    pytest.param(
        (MASK[:4], ROWS),
        {},
        ValueError,
        "compact: mask must have one entry for each of the 5 rows, got bool[4].",
        id="length",
    ),
    pytest.param(
        (ROWS, ROWS),
        {},
        TypeError,
        "compact: mask must be bool, got int32[5]. Compare it with something.",
        id="mask of integers",
    ),
    pytest.param(
        (MASK, ROWS),
        {"capacity": -1},
        ValueError,
        "compact: capacity must be in [0, 2147483647], got -1.",
        id="capacity",
    ),
    pytest.param(
        (MASK, ()),
        {},
        ValueError,
        "compact: rows must hold at least one array, got an empty pytree.",
        id="no rows",
    ),
]


@pytest.mark.checks_arguments
@pytest.mark.parametrize(("arguments", "settings", "error", "message"), ERRORS)
def test_refuses(arguments, settings, error, message):
    with pytest.raises(error) as raised:
        local.compact(*arguments, **settings)
    assert str(raised.value) == message


@pytest.mark.checks_arguments
def test_refuses_a_traced_capacity():
    with pytest.raises(TypeError) as raised:
        jax.jit(lambda n: local.compact(MASK, ROWS, capacity=n))(np.int32(5))
    assert str(raised.value) == (
        "compact: capacity must be a Python integer, because shapes depend on it, got the "
        "traced int32[]. Mark it static (static_argnames in jax.jit)."
    )
