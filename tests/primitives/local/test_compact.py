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
from jaxframes.primitives import backend, local
from jaxframes.primitives.local import _compact
from key_distributions import KEY_DTYPES, make_keys
from on_shards import compiled, mesh_of, noting

NUM_ROWS = 700


# An eager call moves all arrays in one pass, a compiled one each by itself.
CALLS = pytest.mark.parametrize("is_eager", [False, True], ids=["compiled", "eager"])
needs_kernels = pytest.mark.skipif(backend().cpu != "native", reason=backend().reason)


@functools.cache
def compactor(capacity=None, is_eager=False):
    def select(mask, rows, valid):
        return local.compact(mask, rows, capacity=capacity, num_valid=valid)

    # Without the kernels an eager call is a program too, from the code generator that is set.
    return select if is_eager and backend().cpu == "native" else compiled(select)


def random_mask(num_rows=NUM_ROWS, share=0.5, seed=0):
    return np.random.default_rng(seed).random(num_rows) < share


def check(mask, rows, capacity=None, num_valid=None, is_eager=False):
    num_valid = len(mask) if num_valid is None else num_valid
    actual = compactor(capacity, is_eager)(mask, rows, num_valid)
    assert isinstance(actual, local.Compacted)
    oracles.assert_same_bits(tuple(actual), oracles.compact(mask, rows, capacity, num_valid))


# Matches the oracle


@CALLS
def test_moves_rows_of_every_dtype_and_shape(is_eager):
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
            check(random_mask(share=share), rows, is_eager=is_eager)


def test_an_eager_call_moves_the_same():
    rows = {"wide": np.arange(NUM_ROWS) / 7, "narrow": np.arange(NUM_ROWS).astype(np.int8)}
    for capacity, num_valid in ((NUM_ROWS, NUM_ROWS), (NUM_ROWS + 5, 600), (100, 0), (0, 600)):
        mask = random_mask()
        with noting((capacity, num_valid)):
            actual = local.compact(mask, rows, capacity=capacity, num_valid=num_valid)
            expected = oracles.compact(mask, rows, capacity, num_valid)
            oracles.assert_same_bits(tuple(actual), expected)


@pytest.mark.parametrize("num_rows", [0, 1, NUM_ROWS, 200_000])
def test_row_ids_beside_rows(num_rows):
    mask, row_ids = random_mask(num_rows), np.arange(num_rows, dtype=np.int32)
    matrix = np.arange(num_rows * 2).reshape(num_rows, 2)
    for rows in (row_ids / 7, {"words": row_ids % 3 == 0, "matrix": matrix}, matrix):
        for capacity in (0, num_rows // 3, num_rows + 9):
            select = functools.partial(local.compact, capacity=capacity, return_index=True)
            expected = oracles.compact(mask, rows, capacity, return_index=True)
            oracles.assert_same_bits(tuple(select(mask, rows)), expected)
            oracles.assert_same_bits(tuple(jax.jit(select)(mask, rows)), expected)
    for asked in (False, True):
        actual = local.compact(mask, None, return_index=asked)
        oracles.assert_same_bits(tuple(actual), oracles.compact(mask, None))


@needs_kernels
def test_what_nobody_uses_is_left_out_of_a_program():
    rows = {name: jnp.arange(NUM_ROWS) for name in "abc"}

    def calls(wanted):
        def select(mask, rows):
            kept = local.compact(mask, rows, return_index=True)
            return [kept.rows[name] for name in wanted]

        text = jax.jit(select).lower(random_mask(), rows).compile().as_text()
        return text.count('custom_call_target="jaxframes_flagged_rows_v1"')

    assert [calls(wanted) for wanted in ("", "ac", "abc")] == [0, 2, 3]


@needs_kernels
def test_one_pass_finds_the_row_ids_once():
    # A matrix is taken by the ids that come with the words.
    rows = {"a": jnp.arange(NUM_ROWS), "b": jnp.arange(NUM_ROWS), "c": jnp.zeros((NUM_ROWS, 2))}
    arguments = rows, random_mask(), NUM_ROWS, jnp.asarray(NUM_ROWS, jnp.int32)
    text = _compact._select.lower(*arguments, True, one_pass=True).compile().as_text()
    assert text.count('custom_call_target="jaxframes_flagged_rows_v1"') == 1


def test_row_ids_in_place_of_rows():
    for capacity in (NUM_ROWS, 100, 0):
        mask = random_mask()
        actual = compactor(capacity)(mask, None, 600)
        oracles.assert_same_bits(tuple(actual), oracles.compact(mask, None, capacity, 600))


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
    columns = (rows, rows % 7 == 0, (rows / 3).astype(np.float16))
    select = functools.partial(local.compact, return_index=True)
    actual = jax.jit(jax.vmap(jax.vmap(select)))(mask, columns)
    for place in np.ndindex(2, 3):
        one = jax.tree.map(lambda part, place=place: part[place], tuple(actual))
        of_row = tuple(column[place] for column in columns)
        oracles.assert_same_bits(one, oracles.compact(mask[place], of_row, return_index=True))
    # One mask for all of them.
    shared = jax.vmap(lambda column: local.compact(mask[0, 0], column).rows)
    for row, kept in zip(rows[0], shared(rows[0]), strict=True):
        oracles.assert_same_bits(kept, oracles.compact(mask[0, 0], row)[0])


@pytest.mark.parametrize("dtype", [np.float64, jnp.bfloat16])
def test_derivatives(dtype):
    mask = random_mask(12)
    weights = (jnp.arange(5) + 1).astype(dtype)

    @jax.jit
    def weighted(rows):
        whole = (jnp.arange(12), rows**2)
        return jnp.vdot(weights, local.compact(mask, whole, capacity=5).rows[1])

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


def test_rows_that_vary_and_a_mask_that_does_not():
    mask, rows = random_mask(50), np.arange(3 * 50)

    def of_shard(mask, rows):
        columns = (rows, jnp.arange(50) / 8, rows[:, None])
        kept = local.compact(mask, columns, return_index=True)[:2]
        # Added to what varies, the results that do not may leave the shards, too.
        return jax.tree.map(lambda leaf: leaf + 0 * rows[0].astype(leaf.dtype), kept)

    by_row = PartitionSpec("rows")
    of_shards = jax.shard_map(
        of_shard,
        mesh=mesh_of(3),
        in_specs=(PartitionSpec(), by_row),
        out_specs=by_row,
    )
    row_ids = np.arange(50, dtype=np.int32)
    shards = [
        oracles.compact(mask, (shard, row_ids / 8, shard[:, None]), return_index=True)[:2]
        for shard in rows.reshape(3, 50)
    ]
    expected = jax.tree.map(lambda *pieces: np.concatenate(pieces), *shards)
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
        "compact: mask must be bool, got int32[5]. Make one by a comparison, such as x > 0.",
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
