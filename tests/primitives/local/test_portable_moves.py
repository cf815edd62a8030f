# SPDX-License-Identifier: Apache-2.0
"""Ops that move rows, as they are traced for TPU and GPU, against the NumPy oracle."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jax.sharding import PartitionSpec
from jax.test_util import check_grads
from jaxframes.primitives import local
from key_distributions import KEY_DTYPES, make_keys
from on_platforms import ACCELERATORS, lowered, operands_of_sorts, traced_as
from on_shards import mesh_of

NUM_ROWS = 300
on_accelerators = pytest.mark.parametrize("platform", ACCELERATORS)


def random_mask(num_rows=NUM_ROWS, share=0.5, seed=0):
    return np.random.default_rng(seed).random(num_rows) < share


@functools.cache
def compactor(platform, capacity, return_index):
    def compact(mask, rows, num_valid):
        return local.compact(
            mask, rows, capacity=capacity, num_valid=num_valid, return_index=return_index
        )

    return traced_as(platform, compact)


@on_accelerators
@pytest.mark.parametrize("return_index", [False, True])
@pytest.mark.parametrize(
    ("num_rows", "capacity"), [(0, 4), (1, 1), (NUM_ROWS, NUM_ROWS), (NUM_ROWS, 7), (257, 300)]
)
def test_compact_moves_rows_of_every_dtype(platform, num_rows, capacity, return_index):
    # XLA on CPU rewrites NaNs of bfloat16 in loops of its own.
    has_nan = {dtype: oracles.is_float(dtype) and dtype != jnp.bfloat16 for dtype in KEY_DTYPES}
    rows = {
        dtype.name: make_keys("nan_inf_sprinkled" if flag else "uniform", num_rows, dtype)
        for dtype, flag in has_nan.items()
    }
    rows["matrix"] = np.arange(num_rows * 6.0).reshape(num_rows, 2, 3)
    rows["complex"] = np.arange(num_rows) * (1 - 2j)
    rows["complex64"] = (np.arange(num_rows) * (1 - 2j)).astype(np.complex64)
    compact = compactor(platform, capacity, return_index)
    for share in (0, 0.01, 0.5, 1):
        mask = random_mask(num_rows, share)
        for num_valid in (None, num_rows // 2):
            expected = oracles.compact(mask, rows, capacity, num_valid, return_index=return_index)
            oracles.assert_same_bits(tuple(compact(mask, rows, num_valid)), expected)


@on_accelerators
def test_compact_under_transformations(platform):
    mask, rows = random_mask(4 * 40).reshape(4, 40), np.arange(4 * 40.0).reshape(4, 40)
    actual = traced_as(platform, jax.vmap(lambda m, x: local.compact(m, x).rows))(mask, rows)
    expected = [oracles.compact(m, x)[0] for m, x in zip(mask, rows, strict=True)]
    oracles.assert_same_bits(actual, np.stack(expected))
    by_row = PartitionSpec("rows")
    of_shards = jax.shard_map(
        lambda mask, rows: local.compact(mask, rows).rows,
        mesh=mesh_of(4), in_specs=by_row, out_specs=by_row,
    )  # fmt: skip
    actual = traced_as(platform, of_shards)(mask.reshape(-1), rows.reshape(-1))
    oracles.assert_same_bits(actual, np.concatenate(expected))
    weights = jnp.arange(5.0)
    check_grads(
        traced_as(platform, lambda x: jnp.vdot(weights, local.compact(mask[0], x, capacity=5)[0])),
        (rows[0],),
        order=2,
        modes=("fwd", "rev"),
    )


@pytest.mark.parametrize("num_columns", [1, 4])
def test_a_tpu_compacts_without_gathers(num_columns):
    def compact(mask):
        columns = [jnp.arange(NUM_ROWS) + i for i in range(num_columns)]
        return local.compact(mask, columns, return_index=True)

    text = lowered(compact, "tpu", jax.ShapeDtypeStruct((NUM_ROWS,), bool))
    assert "stablehlo.gather" not in text
    assert "stablehlo.scatter" not in text
    assert not operands_of_sorts(text)


# Groups


def repeated_keys(dtype, num_rows=NUM_ROWS):
    """Keys with many equal ones; floats with both zeros and several NaNs."""
    keys = make_keys("four_values", num_rows, np.dtype(dtype))
    if oracles.is_float(np.dtype(dtype)):
        keys[::7], keys[1::7], keys[2::7] = 0.0, -0.0, np.nan
    return keys


KEYS = {dtype: repeated_keys(dtype) for dtype in ("bool", "int8", "int32", "uint64", "float32")} | {
    "two": (repeated_keys("int32"), repeated_keys("float64"))
}
on_keys = pytest.mark.parametrize("keys", KEYS)
with_padding = pytest.mark.parametrize("num_valid", [None, 0, NUM_ROWS - 9])


def same_as_on_cpu(platform, function, *arguments):
    """The results as traced for a platform are those of the kernels and of XLA on the CPU."""
    oracles.assert_same_bits(
        traced_as(platform, function)(*arguments), jax.jit(function)(*arguments)
    )


@on_accelerators
@on_keys
@with_padding
def test_groups_of_keys(platform, keys, num_valid):
    def group(keys):
        both = {"num_valid": num_valid, "capacity": 40}
        return (
            local.unique(keys, **both),
            local.unique(keys, return_index=True, return_inverse=True, return_counts=True, **both),
            local.factorize(keys, return_first=True, **both),
            local.factorize(keys, sort=False, return_first=True, **both),
            local.run_length_encode(keys, **both),
        )

    same_as_on_cpu(platform, group, KEYS[keys])


@on_accelerators
@pytest.mark.parametrize("num_rows", [0, 1, 2])
def test_groups_of_few_rows(platform, num_rows):
    def group(keys):
        found = local.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        return found, local.factorize(keys, sort=False), local.reduce_by_key(keys, keys, "sum")

    same_as_on_cpu(platform, group, np.zeros(num_rows, np.int32))


@on_accelerators
@pytest.mark.parametrize("op", ["sum", "max", "first", "last", "count", "any", "var"])
def test_reductions_of_keys(platform, op):
    keys, numbers = repeated_keys("float32", 40), np.arange(40, dtype=np.int32) - 20
    # Sums of small integers are exact in any order.
    values = {"int32": numbers, "float32": numbers.astype(np.float32), "flag": numbers % 3 == 0}
    if op in ("sum", "last"):
        values["matrix"] = np.stack([numbers, -numbers], axis=1)
    if op == "any":
        values = values["flag"]

    def reduce(keys, values):
        return [
            local.reduce_by_key(keys, values, op, capacity=capacity, num_valid=num_valid)
            for capacity, num_valid in ((40, 33), (2, None))
        ]

    if op != "var":
        same_as_on_cpu(platform, reduce, keys, values)
        return
    actual = traced_as(platform, reduce)(keys, values["float32"])
    for one, other in zip(actual, jax.jit(reduce)(keys, values["float32"]), strict=True):
        np.testing.assert_allclose(one.values, other.values, rtol=1e-6)


@on_accelerators
def test_derivatives_of_reductions_of_keys(platform):
    keys, weights = np.array([3, 1, 3, 2, 1, 3]), jnp.arange(1.0, 7)

    def weighted(x):
        runs = local.reduce_by_key(keys, {"sum": x, "max": x}, {"sum": "sum", "max": "max"})
        return jnp.vdot(weights, runs.values["sum"] ** 2 + runs.values["max"] ** 3)

    x = np.array([0.5, -1.0, 2.0, 0.25, 3.0, -0.75])
    check_grads(traced_as(platform, weighted), (x,), order=1, modes=("fwd", "rev"))


@on_accelerators
def test_segments_in_order(platform):
    ids, x = np.arange(NUM_ROWS) * 7 % 11 - 1, np.arange(NUM_ROWS) % 13 / 8

    def of_segments(x, ids):
        return (
            local.segment_rank(x, ids, 9), local.segment_shift(x, ids, 9),
            local.segment_quantile(x, ids, 9, 0.5), local.segment_nunique(x, ids, 9),
            local.segmented_scan(x, "max", segment_ids=ids, num_segments=9, is_sorted=False),
            local.segmented_sort(x, ids), local.bucket((x, ids > 3), ids, 9),
            local.bucket_order(ids, 9),
        )  # fmt: skip

    same_as_on_cpu(platform, of_segments, x, ids)


@on_accelerators
@pytest.mark.parametrize("how", ["inner", "left", "right", "outer", "semi", "anti"])
@pytest.mark.parametrize("keys", ["few", "distinct", "float32", "none", "two"])
def test_joins(platform, how, keys):
    rng = np.random.default_rng(1)
    left, right = {
        "few": (rng.integers(0, 6, 30), rng.integers(2, 9, 20)),
        "distinct": (rng.permutation(30), rng.permutation(20) + 5),
        "float32": (repeated_keys("float32", 30), repeated_keys("float32", 20)[::-1].copy()),
        "none": (np.arange(0), np.arange(20)),
        "two": ((rng.integers(0, 3, 30), rng.integers(0, 3, 30) / 7),) * 2,
    }[keys]
    num_left = len(left[0] if isinstance(left, tuple) else left)

    def join(left, right):
        num_valid = num_left - num_left // 8, 17
        return [
            (
                local.join(left, right, how=how, capacity=capacity, num_valid=valid),
                local.join_size(left, right, how=how, num_valid=valid),
            )
            for capacity, valid in ((200, None), (7, num_valid), (0, num_valid))
        ]

    same_as_on_cpu(platform, join, left, right)


@on_accelerators
def test_members_and_sets(platform):
    a, b = np.array([5, 2, 5, 7, 1, 9, 2]), np.array([7, 5, 1, 3])

    def members(a, b):
        sets = local.set_union, local.set_intersection, local.set_difference
        return local.isin(a, b, num_valid=(6, 3)), [of_both(a, b, capacity=9) for of_both in sets]

    same_as_on_cpu(platform, members, a, b)
