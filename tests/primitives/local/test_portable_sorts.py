# SPDX-License-Identifier: Apache-2.0
"""Sorts as they are traced for TPU and GPU, against the NumPy oracle.

On TPU all columns are operands of one sort, on GPU a sort has one key and one value.
"""

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jax.sharding import PartitionSpec
from jax.test_util import check_grads
from jaxframes.primitives import local
from jaxframes.shardings import make_mesh
from key_distributions import KEY_DTYPES, KEY_TUPLES, make_keys
from on_platforms import ACCELERATORS, traced_as

NUM_ROWS = 300
STATIC = ("descending", "bits")
sorts = {
    platform: traced_as(platform, local.radix_sort, static_argnames=STATIC)
    for platform in ACCELERATORS
}
argsorts = {
    platform: traced_as(platform, local.radix_argsort, static_argnames=STATIC)
    for platform in ACCELERATORS
}
on_accelerators = pytest.mark.parametrize("platform", ACCELERATORS)


def keys_of(dtype, num_rows=NUM_ROWS, seed=0):
    """Keys with ties; floats with both zeros and several NaNs."""
    is_float = dtype.kind not in "biu"
    keys = make_keys("nan_inf_sprinkled" if is_float else "zipf", num_rows, dtype, seed=seed)
    if is_float:
        keys[::7], keys[1::7] = 0.0, -0.0
    return keys


def columns_of(num_rows):
    """A column of each width, one that is wide, and more than one sort carries."""
    rng = np.random.default_rng(5)
    bits = rng.integers(0, 2**16, num_rows).astype(np.uint16)
    return {
        "flag": bits % 3 == 0,
        "byte": (bits % 251).astype(np.int8),
        "bits": bits.view(jnp.bfloat16),
        "x": rng.standard_normal(num_rows),
        "id": np.arange(num_rows),
        "z": (bits + 1j).astype(np.complex64),
        "wide": (bits - 2j).astype(np.complex128),
        "matrix": np.arange(num_rows * 3, dtype=np.float32).reshape(num_rows, 3),
        "others": [bits.astype(np.float32) + i for i in range(9)],
        "none": None,
    }


@on_accelerators
@pytest.mark.parametrize("dtype", KEY_DTYPES, ids=str)
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("num_valid", [None, 0, 1, NUM_ROWS - 1])
def test_sorts_every_dtype(platform, dtype, descending, num_valid):
    keys = keys_of(dtype)
    settings = {"descending": descending, "num_valid": num_valid}
    row_ids = oracles.argsort(keys, **settings)
    oracles.assert_same_bits(argsorts[platform](keys, **settings), row_ids)
    oracles.assert_same_bits(sorts[platform](keys, **settings), keys[row_ids])
    for dtype_of_value in ("bool", "float32", "float64"):
        values = make_keys("uniform", NUM_ROWS, np.dtype(dtype_of_value))
        expected = keys[row_ids], values[row_ids]
        oracles.assert_same_bits(sorts[platform](keys, values=values, **settings), expected)


@on_accelerators
@pytest.mark.parametrize("dtype", ["int8", "int32", "uint64", "float32", "float64"])
@pytest.mark.parametrize("num_rows", [0, 1, 2, NUM_ROWS])
def test_columns_of_every_width_move(platform, dtype, num_rows):
    keys, values = keys_of(np.dtype(dtype), num_rows), columns_of(num_rows)
    for num_valid in (None, num_rows // 2):
        expected = oracles.sort(keys, values=values, num_valid=num_valid)
        actual = sorts[platform](keys, values=values, num_valid=num_valid)
        oracles.assert_same_bits(actual, expected)


@on_accelerators
@pytest.mark.parametrize(
    ("dtypes", "descending", "bits"), [*KEY_TUPLES, (("uint64",), (True,), (37,))]
)
@pytest.mark.parametrize("num_valid", [None, 100])
def test_sorts_by_several_columns(platform, dtypes, descending, bits, num_valid):
    keys = tuple(
        make_keys("four_values", NUM_ROWS, jnp.dtype(dtype), seed=column)
        for column, dtype in enumerate(dtypes)
    )
    values = np.arange(NUM_ROWS, dtype=np.float32)
    settings = {"descending": descending, "bits": bits, "num_valid": num_valid}
    expected = oracles.sort(keys, values=values, **settings)
    oracles.assert_same_bits(sorts[platform](keys, values=values, **settings), expected)
    row_ids = oracles.argsort(keys, **settings)
    oracles.assert_same_bits(argsorts[platform](keys, **settings), row_ids)


@pytest.mark.usefixtures("x64_off")
@on_accelerators
def test_without_x64(platform):
    dtypes = ("int32", "float32", "uint16")
    keys = tuple(make_keys("four_values", NUM_ROWS, np.dtype(dtype)) for dtype in dtypes)
    values = make_keys("uniform", NUM_ROWS, np.dtype(np.float32)), keys[0] > 3
    for own in (keys, keys[0], keys[1], keys[2]):
        for rows in (values, values[0]):
            expected = oracles.sort(own, values=rows)
            oracles.assert_same_bits(sorts[platform](own, values=rows), expected)


@on_accelerators
def test_vmap_sorts_each_row_of_the_batch(platform):
    keys = make_keys("four_values", 4 * 50, np.dtype(np.float32)).reshape(4, 50)
    values, num_valid = np.arange(4 * 50).reshape(4, 50), np.array([50, 0, 7, 49])

    def sort_row(keys, values, num_valid):
        return local.radix_sort(keys, values=values, num_valid=num_valid)

    actual = traced_as(platform, jax.vmap(sort_row))(keys, values, num_valid)
    rows = zip(keys, values, num_valid, strict=True)
    expected = [oracles.sort(k, values=v, num_valid=n) for k, v, n in rows]
    oracles.assert_same_bits(actual, tuple(map(np.stack, zip(*expected, strict=True))))


@on_accelerators
def test_shards_leave_keys_that_they_share_as_they_are(platform):
    keys, values = keys_of(np.dtype(np.float32), 50), np.arange(4 * 50)

    def of_shard(keys, values):
        sorted_keys, (moved, shared) = local.radix_sort(keys, values=(values, jnp.arange(50)))
        return (sorted_keys, shared), moved

    everywhere, by_row = PartitionSpec(), PartitionSpec("rows")
    of_shards = jax.shard_map(
        of_shard, mesh=make_mesh(4), in_specs=(everywhere, by_row), out_specs=(everywhere, by_row)
    )
    order = oracles.argsort(keys)
    expected = (keys[order], order.astype(int)), values.reshape(4, 50)[:, order].reshape(-1)
    oracles.assert_same_bits(traced_as(platform, of_shards)(keys, values), expected)


@on_accelerators
@pytest.mark.parametrize("num_valid", [None, 9])
def test_derivatives(platform, num_valid):
    keys = np.array([3.0, -1.5, 0.25, 7.0, 2.0, -4.0, 9.5, 6.0, 1.0, -2.5])
    weights = np.arange(1.0, 11.0)

    def weighted(keys, values):
        sorted_keys, moved = local.radix_sort(keys, values=values, num_valid=num_valid)
        return jnp.vdot(weights, sorted_keys**2) + jnp.vdot(weights, moved**3)

    arguments = keys, weights / 7
    call = traced_as(platform, weighted)
    check_grads(call, arguments, order=2, modes=("fwd", "rev"))
