# SPDX-License-Identifier: Apache-2.0
"""`local.merge` against the NumPy oracle."""

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jax.sharding import AxisType, PartitionSpec
from jaxframes.primitives import kernels, local
from key_distributions import KEY_DTYPES, distributions_for, make_keys
from on_shards import compiled

merge = compiled(local.merge, static_argnames="descending")


def sorted_keys(distribution, num_rows, dtype, seed=0, **settings):
    keys = make_keys(distribution, num_rows, np.dtype(dtype), seed=seed)
    return oracles.sort(keys, **settings)


def rows(start, num_rows):
    """Values that identify the side and the number of each row."""
    return {
        "row": np.arange(start, start + num_rows, dtype=np.int32),
        "pair": np.ones((num_rows, 2)),
    }


# Matches the oracle


@pytest.mark.parametrize("dtype", KEY_DTYPES, ids=str)
@pytest.mark.parametrize("descending", [False, True])
def test_merges_every_dtype(dtype, descending):
    values = rows(0, 300), rows(1000, 400)
    for distribution in distributions_for(dtype):
        a = sorted_keys(distribution, 300, dtype, seed=1, descending=descending)
        b = sorted_keys(distribution, 400, dtype, seed=2, descending=descending)
        expected = oracles.merge(a, b, values=values, descending=descending)
        actual = merge(a, b, values=values, descending=descending)
        oracles.assert_same_bits(actual, expected)


def test_merges_tuples_of_keys():
    for dtypes in (("int8", "uint16"), ("float64", "int32"), ("float32", "float64", "bool")):
        descending = (True, False, True)[: len(dtypes)]
        a, b = (
            oracles.sort(
                tuple(
                    make_keys("four_values", num_rows, np.dtype(dtype), seed=9) for dtype in dtypes
                ),
                descending=descending,
            )
            for num_rows in (300, 400)
        )
        expected = oracles.merge(a, b, descending=descending)
        oracles.assert_same_bits(merge(a, b, descending=descending), expected)


@pytest.mark.parametrize("num_valid", [(0, 0), (0, 64), (64, 0), (63, 1), (40, 50), (None, 3)])
@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_padding_of_a_then_of_b_comes_last(num_valid, dtype):
    # The padding holds keys that would come first, were they looked at.
    a = sorted_keys("uniform", 64, dtype, seed=1, num_valid=num_valid[0])
    b = sorted_keys("uniform", 64, dtype, seed=2, num_valid=num_valid[1])
    values = rows(0, 64), rows(1000, 64)
    expected = oracles.merge(a, b, values=values, num_valid=num_valid)
    oracles.assert_same_bits(merge(a, b, values=values, num_valid=num_valid), expected)


@pytest.mark.usefixtures("x64_off")
def test_merges_without_x64():
    a, b = (sorted_keys("nan_inf_sprinkled", 300, np.float32, seed=seed) for seed in (1, 2))
    oracles.assert_same_bits(merge(a, b), oracles.merge(a, b))


# Edge sizes


@pytest.mark.parametrize("num_a", [0, 1, 2, 255, 256, 257])
@pytest.mark.parametrize("num_b", [0, 1, 255, 256])
def test_edge_sizes(num_a, num_b):
    a = sorted_keys("uniform", num_a, np.int32, seed=1)
    b = sorted_keys("uniform", num_b, np.int32, seed=2)
    values = rows(0, num_a), rows(1000, num_b)
    expected = oracles.merge(a, b, values=values)
    oracles.assert_same_bits(merge(a, b, values=values), expected)


@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_a_million_rows(dtype):
    a = sorted_keys("zipf", 10**6 - 7, dtype, seed=1)
    b = sorted_keys("zipf", 10**5, dtype, seed=2)
    values = np.arange(len(a), dtype=np.int32), np.arange(len(b), dtype=np.int32)
    expected = oracles.merge(a, b, values=values)
    oracles.assert_same_bits(merge(a, b, values=values), expected)


# Skewed keys


@pytest.mark.parametrize("offset", [-1000, 0, 1000])
def test_one_side_before_the_other(offset):
    a, b = np.arange(500, dtype=np.int64), np.arange(offset, offset + 300, dtype=np.int64)
    values = rows(0, 500), rows(1000, 300)
    oracles.assert_same_bits(merge(a, b, values=values), oracles.merge(a, b, values=values))


def test_equal_keys_of_a_come_first():
    keys, row_ids = merge(
        np.zeros(2000, np.int32),
        np.zeros(3000, np.int32),
        values=(np.arange(2000), np.arange(2000, 5000)),
    )
    assert not keys.any()
    np.testing.assert_array_equal(row_ids, np.arange(5000))


# Implementations agree


@pytest.mark.parametrize("dtype", KEY_DTYPES, ids=str)
def test_native_and_portable_agree(dtype, monkeypatch):
    a, b = (sorted_keys("zipf", 300, dtype, seed=seed, num_valid=290) for seed in (1, 2))
    settings = {"values": (rows(0, 300), rows(1000, 300)), "num_valid": (290, 290)}
    as_installed = local.merge(a, b, **settings)
    monkeypatch.setattr(kernels.sort._merge, "is_native", lambda: False)
    oracles.assert_same_bits(as_installed, local.merge(a, b, **settings))


def test_equals_a_stable_sort_of_both():
    a, b = (sorted_keys("zipf", 300, np.float32, seed=seed) for seed in (1, 2))
    values = np.arange(600, dtype=np.int32)
    expected = local.radix_sort(np.concatenate([a, b]), values=values)
    oracles.assert_same_bits(merge(a, b, values=(values[:300], values[300:])), expected)


# Transformations: jit is everywhere above


def test_vmap_merges_each_row_of_the_batch():
    a = np.sort(make_keys("four_values", 6 * 30, np.int32).reshape(2, 3, 30))
    b = np.sort(make_keys("four_values", 6 * 20, np.int32, seed=1).reshape(2, 3, 20))
    num_valid = np.array([[30, 0, 7], [29, 1, 25]], np.int32)

    def merge_row(a, b, num_valid):
        return local.merge(a, b, num_valid=(num_valid, 15))

    actual = jax.jit(jax.vmap(jax.vmap(merge_row)))(a, b, num_valid)
    expected = np.zeros((2, 3, 50), np.int32)
    for place in np.ndindex(2, 3):
        expected[place] = oracles.merge(a[place], b[place], num_valid=(num_valid[place], 15))
    oracles.assert_same_bits(actual, expected)
    # One batched side only, as a merge with a shared run has it.
    shared = jax.vmap(local.merge, in_axes=(0, None))(a[0], b[0, 0])
    oracles.assert_same_bits(shared, np.stack([oracles.merge(row, b[0, 0]) for row in a[0]]))


def test_a_scan_body_merges():
    runs = np.sort(make_keys("uniform", 4 * 50, np.int32).reshape(4, 50))

    def step(smallest, run):
        return local.merge(smallest, run)[:50], None

    smallest, _ = jax.lax.scan(step, jnp.asarray(runs[0]), runs[1:])
    oracles.assert_same_bits(smallest, np.sort(runs, axis=None)[:50])


def test_donated_arguments_are_safe():
    # No result has the size of a donated argument, which XLA remarks on.
    a, b = (sorted_keys("uniform", 300, np.int32, seed=seed) for seed in (1, 2))
    donating = jax.jit(lambda a, b: tuple(jnp.split(local.merge(a, b), 2)), donate_argnums=(0, 1))
    actual = donating(jnp.asarray(a.copy()), jnp.asarray(b.copy()))
    oracles.assert_same_bits(actual, tuple(np.split(oracles.merge(a, b), 2)))


def test_bfloat16_keeps_its_gradient():
    # Narrow floats are concatenated as bits, which carry no gradient by themselves.
    a, b = jnp.array([1, 4], jnp.bfloat16), jnp.array([2, 3], jnp.bfloat16)
    weights = jnp.array([1, 2, 3, 4], jnp.bfloat16)
    gradients = jax.grad(lambda a, b: jnp.vdot(weights, local.merge(a, b)), argnums=(0, 1))(a, b)
    oracles.assert_same_bits(gradients, (weights[np.array([0, 3])], weights[np.array([1, 2])]))


def test_inside_shard_map():
    mesh = jax.make_mesh((4,), ("rows",), axis_types=(AxisType.Auto,))
    runs = np.sort(make_keys("uniform", 4 * 50, np.int64).reshape(4, 50))
    shared = np.sort(make_keys("uniform", 10, np.int64, seed=1))
    by_row = PartitionSpec("rows")
    merge_shards = jax.shard_map(
        lambda a, b: local.merge(a, b),
        mesh=mesh,
        in_specs=(by_row, PartitionSpec()),
        out_specs=by_row,
    )
    expected = np.concatenate([oracles.merge(run, shared) for run in runs])
    oracles.assert_same_bits(jax.jit(merge_shards)(runs.reshape(-1), shared), expected)


# Errors word for word; those about keys are in test_key_errors.py

A = np.arange(5, dtype=np.int32)
B = np.arange(3, dtype=np.int32)
ERRORS = [
    pytest.param(
        {"a_keys": A, "b_keys": B.astype(np.int64)},
        TypeError,
        "merge: a_keys and b_keys must have the same dtype, got int32[5] and int64[3]. "
        "Cast one of them.",
        id="dtypes",
    ),
    pytest.param(
        {"a_keys": (A, A), "b_keys": B},
        ValueError,
        "merge: a_keys and b_keys must have the same number of columns, got 2 and 1.",
        id="columns",
    ),
    pytest.param(
        {"a_keys": A, "b_keys": B, "values": A},
        TypeError,
        "merge: values must be a pair, for a and for b, got int32[5].",
        id="values alone",
    ),
    pytest.param(
        {"a_keys": A, "b_keys": B, "values": (A, A)},
        ValueError,
        "merge: every leaf of values must have 3 rows along its leading axis, got int32[5].",
        id="values too long",
    ),
    pytest.param(
        {"a_keys": A, "b_keys": B, "values": (A, [B])},
        ValueError,
        "merge: the values of a and of b must have the same structure, got PyTreeDef(*) and "
        "PyTreeDef([*]).",
        id="values of two structures",
    ),
    pytest.param(
        {"a_keys": A, "b_keys": B, "values": (A, B.astype(np.float32))},
        TypeError,
        "merge: the values of a and of b must agree in dtype and row shape, got int32[5] and "
        "float32[3].",
        id="values of two dtypes",
    ),
    pytest.param(
        {"a_keys": A, "b_keys": B, "num_valid": 3},
        TypeError,
        "merge: num_valid must be a pair, for a and for b, got int.",
        id="num_valid alone",
    ),
    pytest.param(
        {"a_keys": A, "b_keys": B, "num_valid": (3, 4)},
        ValueError,
        "merge: num_valid must be in [0, 3], got 4.",
        id="num_valid too large",
    ),
]


@pytest.mark.checks_arguments
@pytest.mark.parametrize(("arguments", "error", "message"), ERRORS)
def test_refuses(arguments, error, message):
    with pytest.raises(error) as raised:
        local.merge(**arguments)
    assert str(raised.value) == message


@pytest.mark.checks_arguments
def test_refuses_more_rows_than_row_ids_count():
    half = jax.ShapeDtypeStruct((2**30,), np.int8)
    with pytest.raises(ValueError, match="merge") as raised:
        jax.eval_shape(local.merge, half, half)
    assert str(raised.value) == (
        "merge: a_keys and b_keys together must hold fewer than 2**31 rows, got int8[1073741824] "
        "and int8[1073741824]. Spread the rows over more devices."
    )
