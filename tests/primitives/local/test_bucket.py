# SPDX-License-Identifier: Apache-2.0
"""`local.bucket` against the NumPy oracle."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jax.experimental.pallas import tpu as pltpu
from jaxframes.primitives import kernels, local
from jaxframes.primitives.contract._platform import traced_for
from key_distributions import INTEGER_DTYPES, make_keys
from on_platforms import lowered, operands_of_sorts

bucket = jax.jit(local.bucket, static_argnames="num_buckets")

NUM_ROWS = 700


def rows_and_ids(num_buckets, num_rows=NUM_ROWS, dtype=np.int32, seed=0):
    bucket_ids = np.random.default_rng(seed).integers(0, num_buckets, num_rows).astype(dtype)
    return {"row": np.arange(num_rows, dtype=np.int32), "pair": np.ones((num_rows, 2))}, bucket_ids


def assert_is_bucketed(actual, rows, bucket_ids, num_buckets, **settings):
    assert isinstance(actual, local.Bucketed)
    expected = oracles.bucket(rows, bucket_ids, num_buckets, **settings)
    oracles.assert_same_bits(tuple(actual), expected)


# Matches the oracle


@pytest.mark.parametrize("dtype", INTEGER_DTYPES, ids=str)
@pytest.mark.parametrize("num_buckets", [1, 8, 300])
def test_groups_rows_by_ids_of_any_integer_dtype(dtype, num_buckets):
    # Three hundred buckets are more than a narrow dtype can name, and must not wrap.
    rows, bucket_ids = rows_and_ids(min(num_buckets, 128), dtype=dtype)
    actual = bucket(rows, bucket_ids, num_buckets=num_buckets)
    assert_is_bucketed(actual, rows, bucket_ids, num_buckets)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("num_buckets", [5, 300])
def test_rows_of_no_bucket_come_last(dtype, num_buckets):
    rows, bucket_ids = rows_and_ids(5, dtype=np.dtype(dtype))
    limits = np.iinfo(dtype)
    bucket_ids[::9] = limits.max
    bucket_ids[::11] = limits.min
    if limits.max >= 2**32:
        # Its low word names a bucket.
        bucket_ids[::13] = 2**32 + 1
    actual = bucket(rows, bucket_ids, num_buckets=num_buckets)
    assert_is_bucketed(actual, rows, bucket_ids, num_buckets)


@pytest.mark.parametrize("num_valid", [0, 1, 699, 700])
def test_padding_stays_in_place(num_valid):
    rows, bucket_ids = rows_and_ids(5)
    bucket_ids[::7] = -1
    actual = bucket(rows, bucket_ids, num_buckets=5, num_valid=num_valid)
    assert_is_bucketed(actual, rows, bucket_ids, 5, num_valid=num_valid)


@pytest.mark.usefixtures("x64_off")
def test_groups_rows_without_x64():
    _, bucket_ids = rows_and_ids(5)
    actual = bucket(bucket_ids, bucket_ids, num_buckets=5)
    assert_is_bucketed(actual, bucket_ids, bucket_ids, 5)


# Edge sizes


@pytest.mark.parametrize("num_rows", [0, 1, 2, 255, 256, 257])
@pytest.mark.parametrize("num_buckets", [1, 2, 255, 256, 257])
def test_edge_sizes(num_rows, num_buckets):
    rows, bucket_ids = rows_and_ids(num_buckets, num_rows)
    actual = bucket(rows, bucket_ids, num_buckets=num_buckets)
    assert_is_bucketed(actual, rows, bucket_ids, num_buckets)


def test_a_million_rows():
    rows, bucket_ids = rows_and_ids(64, 10**6)
    assert_is_bucketed(bucket(rows, bucket_ids, num_buckets=64), rows, bucket_ids, 64)


# Skewed keys


@pytest.mark.parametrize("distribution", ["zipf", "constant", "reversed", "block_duplicated"])
def test_skewed_ids(distribution):
    rows, _ = rows_and_ids(1)
    bucket_ids = make_keys(distribution, NUM_ROWS, np.uint8).astype(np.int32) % 100
    actual = bucket(rows, bucket_ids, num_buckets=100)
    assert_is_bucketed(actual, rows, bucket_ids, 100)


# Implementations agree


@pytest.mark.parametrize("num_buckets", [5, 1000])
def test_native_and_portable_agree(num_buckets, monkeypatch):
    rows, bucket_ids = rows_and_ids(num_buckets)
    as_installed = local.bucket(rows, bucket_ids, num_buckets, num_valid=600)
    monkeypatch.setattr(kernels.sort._radix_sort, "is_native", lambda: False)
    portable = local.bucket(rows, bucket_ids, num_buckets, num_valid=600)
    oracles.assert_same_bits(as_installed, portable)


def test_equals_a_sort_by_id_and_a_count():
    rows, bucket_ids = rows_and_ids(50)
    grouped = bucket(rows, bucket_ids, num_buckets=50)
    oracles.assert_same_bits(grouped.row_ids, local.radix_argsort(bucket_ids))
    np.testing.assert_array_equal(np.diff(grouped.offsets), np.bincount(bucket_ids, minlength=50))


# Transformations: jit is everywhere above


def test_vmap_groups_each_row_of_the_batch():
    _, bucket_ids = rows_and_ids(5, 6 * 40)
    bucket_ids = bucket_ids.reshape(2, 3, 40)
    rows = np.arange(6 * 40).reshape(2, 3, 40)

    def of_row(rows, bucket_ids):
        return local.bucket(rows, bucket_ids, 5)

    actual = jax.jit(jax.vmap(jax.vmap(of_row)))(rows, bucket_ids)
    for place in np.ndindex(2, 3):
        one = jax.tree.map(lambda part, place=place: part[place], actual)
        assert_is_bucketed(one, rows[place], bucket_ids[place], 5)


def test_donated_rows_are_reused_safely():
    _, bucket_ids = rows_and_ids(5)
    rows = make_keys("uniform", NUM_ROWS, np.float32)
    donated = jnp.asarray(rows.copy())
    grouping = jax.jit(lambda rows, ids: local.bucket(rows, ids, 5), donate_argnums=0)
    assert_is_bucketed(grouping(donated, bucket_ids), rows, bucket_ids, 5)
    assert donated.is_deleted()


# Errors word for word

IDS = np.arange(5, dtype=np.int32)
ERRORS = [
    pytest.param(
        (IDS, IDS[:4], 5),
        ValueError,
        "bucket: bucket_ids must have one entry for each of the 5 rows, got int32[4].",
        id="length",
    ),
    pytest.param(
        (IDS, IDS.astype(np.float32), 5),
        TypeError,
        "bucket: bucket_ids must be integers, got float32[5].",
        id="float ids",
    ),
    pytest.param(
        (IDS, IDS, 0),
        ValueError,
        "bucket: num_buckets must be in [1, 2147483647], got 0.",
        id="no buckets",
    ),
    pytest.param(
        ((), IDS, 5),
        ValueError,
        "bucket: rows must hold at least one array, got an empty pytree.",
        id="no rows",
    ),
    pytest.param(
        ({"a": IDS, "b": np.zeros((4, 5))}, IDS, 5),
        ValueError,
        "bucket: every leaf of rows must have the same number of rows along its leading axis, "
        "got int32[5], float64[4,5].",
        id="rows",
    ),
]


@pytest.mark.checks_arguments
@pytest.mark.parametrize(("arguments", "error", "message"), ERRORS)
def test_refuses(arguments, error, message):
    with pytest.raises(error) as raised:
        local.bucket(*arguments)
    assert str(raised.value) == message


@pytest.mark.checks_arguments
def test_refuses_a_traced_num_buckets():
    with pytest.raises(TypeError) as raised:
        jax.jit(local.bucket)(IDS, IDS, jnp.int32(5))
    assert str(raised.value) == (
        "bucket: num_buckets must be a Python integer, because shapes depend on it, got the "
        "traced int32[]. Mark it static (static_argnames in jax.jit)."
    )


# The order alone


bucket_order = jax.jit(local.bucket_order, static_argnames="num_buckets")


def assert_is_order(actual, bucket_ids, num_buckets, num_valid=None):
    """Compares with `argsort`, `argsort` of it, and `bincount`, of ids that are made to sort so."""
    num_valid = len(bucket_ids) if num_valid is None else num_valid
    wide = bucket_ids.astype(object)
    is_bucket = [0 <= int(one) < num_buckets for one in wide]
    clipped = np.where(is_bucket, wide, num_buckets).astype(int)
    clipped = np.where(np.arange(len(clipped)) < num_valid, clipped, num_buckets + 1)
    order = np.argsort(clipped, kind="stable")
    np.testing.assert_array_equal(actual.order, order)
    np.testing.assert_array_equal(actual.inverse, np.argsort(order))
    counts = np.bincount(clipped, minlength=num_buckets)[:num_buckets]
    np.testing.assert_array_equal(np.diff(actual.offsets), counts)
    assert {leaf.dtype for leaf in actual} == {np.dtype(np.int32)}


@pytest.mark.parametrize("dtype", INTEGER_DTYPES, ids=str)
@pytest.mark.parametrize("num_valid", [None, 0, 1, 650])
def test_order_inverse_and_counts(dtype, num_valid):
    for num_buckets in (1, 8, 300):
        _, bucket_ids = rows_and_ids(min(num_buckets, 128), dtype=dtype)
        bucket_ids[::9] = np.iinfo(dtype).max
        bucket_ids[::11] = np.iinfo(dtype).min
        actual = bucket_order(bucket_ids, num_buckets=num_buckets, num_valid=num_valid)
        assert_is_order(actual, bucket_ids, num_buckets, num_valid)


@pytest.mark.parametrize("num_rows", [0, 1, 2, 255, 256, 257])
def test_order_of_few_rows(num_rows):
    bucket_ids = (np.arange(num_rows) * 7 % 5).astype(np.int32)
    assert_is_order(bucket_order(bucket_ids, num_buckets=5), bucket_ids, 5)
    assert_is_order(local.bucket_order(bucket_ids, 5), bucket_ids, 5)


def test_gathers_by_the_order_have_the_derivative_of_a_dense_choice():
    _, bucket_ids = rows_and_ids(5, 40)
    rng = np.random.default_rng(0)
    x, weights, scale = rng.standard_normal((40, 3)), rng.standard_normal((40, 3)), rng.random(5)

    def by_order(x):
        order, inverse, offsets = local.bucket_order(bucket_ids, 5)
        grouped = x[order] * jnp.repeat(scale, jnp.diff(offsets), total_repeat_length=40)[:, None]
        return (grouped[inverse] ** 2 * weights).sum()

    def dense(x):
        return ((x * scale[bucket_ids][:, None]) ** 2 * weights).sum()

    np.testing.assert_allclose(jax.grad(by_order)(x), jax.grad(dense)(x), rtol=1e-12)


# On TPU the order is inverted by a second sort.
@pytest.mark.parametrize(("platform", "num_scatters", "others"), [("cuda", 1, []), ("tpu", 0, [2])])
def test_accelerators_sort_one_packed_operand(platform, num_scatters, others):
    def order(num_buckets):
        ids = jax.ShapeDtypeStruct((2**20,), jnp.int32)
        return lowered(lambda ids: local.bucket_order(ids, num_buckets), platform, ids)

    # A number of 64, and no bucket, take 7 bits; row ids take 20.
    text = order(64)
    assert operands_of_sorts(text) == [1, *others]
    assert "is_stable = false" in text
    assert text.count('"stablehlo.scatter"') == num_scatters
    # 13 bits do not fit beside them.
    assert operands_of_sorts(order(4096)) == [2, *others]


@pytest.mark.checks_arguments
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.ones(3), 2), "bucket_order: bucket_ids must be integers, got float64[3]."),
        (
            (np.ones((3, 2), int), 2),
            "bucket_order: bucket_ids must be one-dimensional, got int64[3,2]. Flatten them first, "
            "or use jax.vmap for a batch.",
        ),
        (
            (np.ones(3, int), 0),
            "bucket_order: num_buckets must be in [1, 2147483647], got 0.",
        ),
    ],
)
def test_errors_of_the_order(arguments, message):
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(message)}$"):
        local.bucket_order(*arguments)


@pytest.mark.parametrize(("num_rows", "num_buckets"), [(700, 1), (1500, 257), (1000, 4096)])
def test_many_buckets_are_counted_on_tpu(num_rows, num_buckets):
    ids = np.random.default_rng(0).integers(-2, num_buckets + 3, num_rows).astype(np.int32)
    with pltpu.force_tpu_interpret_mode(), traced_for("tpu"):
        run = jax.jit(lambda ids, n: local.bucket_order(ids, num_buckets, num_valid=n))
        found = [(n, run(ids, n)) for n in (num_rows, num_rows // 2, 0)]
    for num_valid, actual in found:
        # Ids outside the buckets come last, then padding.
        places = np.where((ids >= 0) & (ids < num_buckets), ids, num_buckets)
        places[num_valid:] = num_buckets + 1
        order = np.argsort(places, kind="stable")
        np.testing.assert_array_equal(actual.order, order)
        np.testing.assert_array_equal(actual.inverse, np.argsort(order))
        offsets = np.searchsorted(places[order], np.arange(num_buckets + 1))
        np.testing.assert_array_equal(actual.offsets, offsets)


def test_offsets_are_counted_on_tpu():
    rng = np.random.default_rng(1)
    ids, rows = rng.integers(-2, 43, 1500).astype(np.int32), rng.random(1500).astype(np.float32)
    with pltpu.force_tpu_interpret_mode(), traced_for("tpu"):
        run = jax.jit(lambda x, ids, n: local.bucket(x, ids, 40, num_valid=n))
        found = [(n, run(rows, ids, n)) for n in (1500, 700)]
    for num_valid, actual in found:
        expected = local.bucket(rows, ids, 40, num_valid=num_valid)
        np.testing.assert_array_equal(actual.offsets, expected.offsets)
        kept = int(expected.offsets[-1])
        np.testing.assert_array_equal(actual.rows[:kept], np.asarray(expected.rows)[:kept])
