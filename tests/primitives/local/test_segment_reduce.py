# SPDX-License-Identifier: Apache-2.0
"""`local.segment_reduce` and its named forms against the NumPy oracle."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from derivatives import check_derivatives
from jaxframes import shardings
from jaxframes.primitives import local
from jaxframes.primitives.contract._segment_forms import HAVE_DDOF, SEGMENT_OPS
from jaxframes.primitives.local import _segments
from key_distributions import INTEGER_DTYPES, KEY_DTYPES, distributions_for, make_keys
from on_shards import compiled, noting
from reduced_rows import ROUNDED, assert_is_reduced

NUM_ROWS, NUM_SEGMENTS = 300, 9


@functools.cache
def reducer(num_segments=NUM_SEGMENTS, ops=SEGMENT_OPS):
    """One program that makes every reduction."""

    @compiled
    def reduce(x, segment_ids, num_valid):
        return {
            op: local.segment_reduce(x, segment_ids, num_segments, op, num_valid=num_valid)
            for op in ops
        }

    return reduce


def segment_ids_of(num_rows=NUM_ROWS, seed=0):
    """Ids, some out of range, and one segment without rows."""
    ids = np.random.default_rng(seed).integers(-2, NUM_SEGMENTS + 2, num_rows).astype(np.int32)
    return np.where(ids == 3, np.int32(4), ids)


def check(
    x, segment_ids, num_valid=None, num_segments=NUM_SEGMENTS, ops=SEGMENT_OPS, compared=None
):
    num_valid = len(x) if num_valid is None else num_valid
    reduced = reducer(num_segments, ops)(x, segment_ids, np.int32(num_valid))
    for op in compared or ops:
        with noting(op):
            assert_is_reduced(reduced[op], x, segment_ids, num_segments, op, num_valid)


# Matches the oracle


@pytest.mark.parametrize("dtype", KEY_DTYPES, ids=str)
def test_every_dtype_and_distribution(dtype):
    # Products of floats have a test of their own.
    ops = tuple(op for op in SEGMENT_OPS if op != "prod" or not oracles.is_float(dtype))
    for seed, distribution in enumerate(distributions_for(dtype)):
        x = make_keys(distribution, NUM_ROWS, dtype)
        with noting(distribution), np.errstate(all="ignore"):
            # XLA on CPU takes denormals for zeros in arithmetic, though not elsewhere.
            compared = [op for op in ops if op not in ROUNDED or distribution != "denormals"]
            check(x, segment_ids_of(seed=seed), ops=ops, compared=compared)


@pytest.mark.parametrize("dtype", ["float16", jnp.bfloat16, "float32", "float64", "complex64"])
def test_products(dtype):
    rng = np.random.default_rng(0)
    x = rng.choice([0.5, -1.0, 1.5, 2.0, -0.75], NUM_ROWS).astype(dtype)
    x[::60] = 0
    check(x, segment_ids_of(), ops=("prod",))


def test_complex_numbers():
    x = make_keys("uniform", 2 * NUM_ROWS, np.float32).view(np.complex64)
    check(x, segment_ids_of(), ops=("sum", "mean", "first", "last", "any", "all"))


def test_a_pytree_of_matrices():
    ids = segment_ids_of()
    x = {
        "matrix": make_keys("nan_inf_sprinkled", NUM_ROWS * 6, np.float32).reshape(-1, 2, 3),
        "column": make_keys("zipf", NUM_ROWS, np.int16),
        "none": None,
    }
    ops = tuple(op for op in SEGMENT_OPS if op not in ("count", *ROUNDED))
    reduced = reducer(ops=ops)(x, ids, np.int32(290))
    for op in ops:
        assert reduced[op]["none"] is None
        for name in ("matrix", "column"):
            assert_is_reduced(reduced[op][name], x[name], ids, NUM_SEGMENTS, op, 290)


@pytest.mark.parametrize("dtype", INTEGER_DTYPES, ids=str)
def test_ids_of_every_integer_dtype(dtype):
    limits = np.iinfo(dtype)
    ids = np.arange(NUM_ROWS).astype(dtype) % dtype.type(7)
    ids[::9], ids[::11] = limits.max, limits.min
    if limits.max >= 2**32:
        # Its low word names a segment.
        ids[::13] = 2**32 + 1
    # Three hundred segments are more than a narrow dtype can name.
    for num_segments in (5, 300):
        for num_valid in (NUM_ROWS, NUM_ROWS - 7):
            x = np.arange(NUM_ROWS)
            check(x, ids, num_valid, num_segments, ("sum", "count", "last"))
    without = local.segment_sum(np.arange(NUM_ROWS), ids, 5)
    assert_is_reduced(without, np.arange(NUM_ROWS), ids, 5, "sum", None)


# Edge sizes


@pytest.mark.parametrize("num_rows", [0, 1, 2, 31, 32, 33])
def test_edge_sizes(num_rows):
    x = make_keys("uniform", num_rows, np.float32)
    for num_segments in (1, NUM_SEGMENTS):
        for num_valid in {0, 1, num_rows - 1, num_rows} & set(range(num_rows + 1)):
            check(x, segment_ids_of(num_rows), num_valid, num_segments)


def test_counts_of_more_rows_than_a_block():
    block = _segments._BLOCK_ROWS
    ids = np.random.default_rng(0).integers(-1, 6, 2 * block + 3).astype(np.int32)
    for num_rows in (block - 1, block, 2 * block + 3):
        expected = np.bincount(ids[:num_rows][ids[:num_rows] >= 0], minlength=6)[:5]
        counts = local.segment_count(ids[:num_rows], 5)
        oracles.assert_same_bits(counts, expected.astype(np.int32))


@pytest.mark.parametrize("late_row", [0, 70_000, 199_998])
def test_first_rows_of_many_blocks(late_row):
    # The search for first rows ends in the block that brings the last segment.
    num_rows, num_segments = 200_000, 6
    rng = np.random.default_rng(0)
    ids = rng.choice(np.array([0, 1, 3, 7, -1], np.int32), num_rows)
    ids[late_row] = 4
    rows = np.arange(num_rows, dtype=np.int32)
    expected = [int(np.flatnonzero(ids == segment)[0]) for segment in (0, 1, 3, 4)]

    def first(ids):
        return local.segment_first(rows, ids, num_segments, num_valid=num_rows - 1, fill_value=-1)

    wanted = [*expected[:2], -1, *expected[2:], -1]
    assert jax.jit(first)(ids).tolist() == wanted
    assert jax.vmap(first)(np.stack([ids, ids[::-1]]))[0].tolist() == wanted
    mesh = shardings.make_mesh(2)
    spec = jax.P(mesh.axis_names)
    mapped = jax.shard_map(first, mesh=mesh, in_specs=spec, out_specs=spec)
    assert jax.jit(mapped)(np.concatenate([ids, ids])).tolist() == 2 * wanted


def test_padding_never_passes_for_a_row():
    x = np.full(20, np.nan)
    x[:4] = 1
    reduced = reducer()(x, np.zeros(20, np.int32), np.int32(4))
    for op, expected in {"sum": 4, "prod": 1, "min": 1, "max": 1, "var": 0, "argmax": 0}.items():
        assert float(reduced[op][0]) == expected


def test_integers_wrap_and_bools_are_counted():
    ids = np.zeros(300, np.int32)
    assert local.segment_sum(np.full(300, 100, np.int8), ids, 1).tolist() == [
        300 * 100 % 256 - 256 * (300 * 100 % 256 > 127)
    ]
    total = local.segment_sum(np.ones(300, bool), ids, 1)
    assert (total.dtype, total.tolist()) == (jnp.int32, [300])
    assert local.segment_prod(np.full(8, 3, np.int8), ids[:8], 1).tolist() == [
        np.int64(3**8).astype(np.int8)
    ]


def test_narrow_floats_are_added_wide():
    ones = np.ones(5000, np.float16)
    assert local.segment_sum(ones, np.zeros(5000, np.int32), 1).tolist() == [5000]
    assert local.segment_mean(ones, np.zeros(5000, np.int32), 1).tolist() == [1]


def test_the_variance_does_not_cancel():
    x = 1e8 + np.random.default_rng(0).standard_normal(NUM_ROWS)
    ids = segment_ids_of()
    for ddof in (0, 1):
        variance = local.segment_var(x, ids, NUM_SEGMENTS, ddof=ddof)
        expected = oracles.segment_reduce(x, ids, NUM_SEGMENTS, "var", ddof=ddof)
        np.testing.assert_allclose(variance, expected, rtol=1e-7)
        deviation = local.segment_std(x, ids, NUM_SEGMENTS, ddof=ddof)
        np.testing.assert_allclose(deviation, np.sqrt(expected), rtol=1e-7)


def test_fill_values():
    x, ids = np.array([5, 1, 4], np.int32), np.array([0, 2, 0])
    assert local.segment_min(x, ids, 3, fill_value=-9).tolist() == [4, -9, 1]
    assert local.segment_argmax(x, ids, 3, fill_value=7).tolist() == [0, 7, 1]
    assert local.segment_mean(x, ids, 3, fill_value=0).tolist() == [4.5, 0, 1]
    assert local.segment_first({"a": x[:, None]}, ids, 3, fill_value=3)["a"].tolist() == [
        [5],
        [3],
        [1],
    ]
    # Two rows, and no more than ddof of them: not empty.
    variance = local.segment_var(x, ids, 3, fill_value=0, ddof=2)
    np.testing.assert_array_equal(variance, [np.nan, 0, np.nan])


# Named forms are the reductions of their names


@pytest.mark.parametrize("op", SEGMENT_OPS)
def test_named_forms(op):
    x, ids = make_keys("uniform", NUM_ROWS, np.float32), segment_ids_of()
    named = getattr(local, f"segment_{op}")
    arguments = () if op == "count" else (x,)
    settings = {"num_valid": 200} | ({"ddof": 1} if op in HAVE_DDOF else {})
    actual = named(*arguments, ids, NUM_SEGMENTS, **settings)
    expected = local.segment_reduce(x, ids, NUM_SEGMENTS, op, **settings)
    oracles.assert_same_bits(actual, expected)
    assert named.__name__ == f"segment_{op}"


# Implementations agree: the scatter, and the sort that serves floats on GPU


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("columns", [(), (3,)])
def test_sorted_and_scattered_sums_agree(dtype, columns):
    x = make_keys("uniform", 2 * NUM_ROWS * 3, np.float32).view(np.complex64)
    x = (x if dtype == "complex64" else x.real.astype(dtype))[: NUM_ROWS * max(3 * len(columns), 1)]
    x = x.reshape(NUM_ROWS, *columns) / 256

    @jax.jit
    def both_ways(x, ids):
        return [
            (
                _segments.reduce_sorted(combine, identity, x, ids, NUM_SEGMENTS),
                _segments.scatter(method, x, ids, NUM_SEGMENTS, identity),
            )
            for combine, identity, method in ((jax.lax.add, 0, "add"), (jax.lax.mul, 1, "mul"))
        ]

    for seed in range(3):
        for by_sort, by_scatter in both_ways(x, segment_ids_of(seed=seed)):
            np.testing.assert_allclose(by_sort, by_scatter, rtol=1e-4, atol=1e-4)
    nothing = _segments.reduce_sorted(
        jax.lax.add, 0, jnp.asarray(x[:0]), jnp.zeros(0, jnp.int32), NUM_SEGMENTS
    )
    oracles.assert_same_bits(nothing, np.zeros((NUM_SEGMENTS, *columns), dtype))


@pytest.mark.parametrize("op", ["sum", "mean", "var", "prod"])
def test_no_float_is_scattered_on_gpu(op):
    reduce = jax.jit(lambda x, ids: local.segment_reduce(x, ids, 5, op))
    arguments = jax.ShapeDtypeStruct((99,), np.float32), jax.ShapeDtypeStruct((99,), np.int32)
    for platform, is_sorted in (("cuda", True), ("rocm", True), ("tpu", False)):
        text = reduce.trace(*arguments).lower(lowering_platforms=(platform,)).as_text()
        assert ("stablehlo.sort" in text) == is_sorted
        scattered = [part.partition("->")[2].partition("\n")[0]
                     for part in text.split('"stablehlo.scatter"')[1:]]  # fmt: skip
        assert any("f32" in result for result in scattered) != is_sorted


@pytest.mark.parametrize("num_rows", [0, 1, 2, 700])
def test_rows_are_sorted_and_scanned_as_they_are_scattered(num_rows):
    # What serves on GPU: exact sums and products of few values, so that every bit is known.
    rng = np.random.default_rng(num_rows)
    ids = rng.integers(-1, 7, num_rows).astype(np.int32)
    for operation, oracle, initial, values in (
        (jax.lax.add, np.add, 0, [-0.0, 0.0, 1.0, -2.5]),
        (jax.lax.mul, np.multiply, 1, [-0.0, 1.0, -1.0, 2.0]),
        (jax.lax.mul, np.multiply, 1, [1.0, -1.0, np.inf]),
    ):
        x = rng.choice(np.array(values), num_rows)
        expected = np.full(6, initial, np.float64)
        oracle.at(expected, ids[(ids >= 0) & (ids < 6)], x[(ids >= 0) & (ids < 6)])
        reduce = jax.jit(
            functools.partial(_segments.reduce_sorted, operation, initial, num_segments=6)
        )
        oracles.assert_same_bits(reduce(x, ids), expected)


@pytest.mark.parametrize("id_dtype", ["int32", "int64", "uint32"])
def test_more_segments_than_the_cache_holds(id_dtype):
    # Threads share out the segments then.
    num_rows, num_segments = 70_001, 600_000
    rng = np.random.default_rng(0)
    ids = rng.integers(0, 700_000, num_rows)
    ids[:1000] = rng.integers(0, 3, 1000)
    x = rng.standard_normal(num_rows)
    is_in = (ids < num_segments) & (np.arange(num_rows) < num_rows - 9)
    expected = oracles.exact_sums(x[is_in], ids[is_in], num_segments)
    counts = np.zeros(num_segments, np.int32)
    np.add.at(counts, ids[is_in], 1)
    given = ids.astype(id_dtype), num_segments
    sums = local.segment_sum(x, *given, num_valid=num_rows - 9)
    oracles.assert_same_bits(local.segment_count(*given, num_valid=num_rows - 9), counts)
    means = local.segment_mean(x, *given, num_valid=num_rows - 9)
    with np.errstate(invalid="ignore"):
        quotients = expected / counts
    oracles.assert_same_sums(sums, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(means, quotients, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("num_rows", [0, 1, 700])
def test_sums_keep_what_their_additions_round_away(dtype, num_rows):
    rng = np.random.default_rng(num_rows)
    x = (rng.standard_normal(num_rows) * 2.0 ** rng.integers(-20, 20, num_rows)).astype(dtype)
    ids = rng.integers(-1, 7, num_rows).astype(np.int32)
    is_in = (ids >= 0) & (ids < 6)
    expected = oracles.exact_sums(x[is_in], ids[is_in], 6)
    oracles.assert_same_sums(local.segment_sum(x, ids, 6), expected, rtol=1e-4)
    definition = jax.jit(_segments.sums_in_order_xla, static_argnums=2)
    oracles.assert_same_bits(definition(x, ids, 6), expected)


def test_sums_of_infinities_and_zeros():
    most = np.finfo(np.float64).max
    x = np.array([1, np.inf, np.inf, -np.inf, np.nan, 1, -0.0, -0.0, most, most])
    ids = np.repeat(np.arange(5, dtype=np.int32), 2)
    expected = [np.inf, np.nan, np.nan, 0, np.inf]
    for add in (local.segment_sum, jax.jit(_segments.sums_in_order_xla, static_argnums=2)):
        found = np.asarray(add(x, ids, 6))
        np.testing.assert_array_equal(found, [*expected, 0])
        assert not np.signbit(found[3:]).any()


def test_equals_jax_ops():
    x, ids = make_keys("uniform", NUM_ROWS, np.float32), segment_ids_of()
    ours, theirs = (of(x, ids, NUM_SEGMENTS) for of in (local.segment_sum, jax.ops.segment_sum))
    np.testing.assert_allclose(ours, theirs, rtol=1e-4)
    oracles.assert_same_bits(
        local.segment_max(x, ids, NUM_SEGMENTS), jax.ops.segment_max(x, ids, NUM_SEGMENTS)
    )


# Transformations: jit is everywhere above


def test_vmap_reduces_each_row_of_the_batch():
    x = make_keys("uniform", 2 * NUM_ROWS, np.float64).reshape(2, NUM_ROWS)
    ids = np.stack([segment_ids_of(seed=seed) for seed in (0, 1)])
    valid = np.array([NUM_ROWS, 211], np.int32)

    def of_row(x, ids, num_valid):
        return {
            op: local.segment_reduce(x, ids, NUM_SEGMENTS, op, num_valid=num_valid)
            for op in SEGMENT_OPS
        }

    actual = jax.jit(jax.vmap(of_row))(x, ids, valid)
    for i in range(2):
        oracles.assert_same_bits(
            jax.tree.map(lambda leaf, i=i: leaf[i], actual), reducer()(x[i], ids[i], valid[i])
        )


@pytest.mark.parametrize(
    "op", [op for op in SEGMENT_OPS if op in ROUNDED or op in ("min", "max", "first", "last")]
)
def test_derivatives(op):
    # Zeros among the factors, a segment without rows, rows of no segment, and padding.
    ids = np.array([0, 2, 0, 2, 7, 2, -1, 0])
    x = np.array([1.5, 0.4, 0.0, 0.0, 5.0, 0.0, 7.0, 1.0])
    if op in ("min", "max", "std"):
        x += np.arange(8) / 4

    @jax.jit
    def weighted(x):
        padded = jnp.concatenate([jnp.sin(x[:-1]), jnp.full(1, jnp.nan)])
        reduced = local.segment_reduce(padded, ids, 3, op, num_valid=7, fill_value=1)
        return jnp.vdot(jnp.arange(1.0, 4.0), reduced**2)

    check_derivatives(weighted, x)
    assert np.isfinite(jax.grad(weighted)(x)).all()


def test_an_infinity_stays_out_of_the_derivatives_of_other_segments():
    x, ids = jnp.array([np.inf, 2.0, 3.0, np.inf]), jnp.array([0, 1, 1, 2])

    def product(x):
        return local.segment_prod(x, ids, 3)[1]

    np.testing.assert_array_equal(jax.grad(product)(x), [0, 3, 2, 0])
    np.testing.assert_array_equal(jax.hessian(product)(x)[1], [0, 0, 1, 0])


def test_ties_are_the_lowest_rows():
    x = np.array([2.0, 7.0, 7.0, 2.0])
    for op, expected in (("min", [1, 0, 0, 0]), ("max", [0, 1, 0, 0])):
        gradient = jax.grad(
            lambda x, op=op: local.segment_reduce(x, np.zeros(4, np.int32), 1, op).sum()
        )(x)
        assert gradient.tolist() == expected


@pytest.mark.usefixtures("x64_off")
def test_without_x64():
    x, ids = make_keys("uniform", NUM_ROWS, np.float32), segment_ids_of()
    reduced = jax.jit(
        lambda x, ids: {op: local.segment_reduce(x, ids, NUM_SEGMENTS, op) for op in SEGMENT_OPS}
    )(x, ids)
    for op in ("sum", "min", "argmin", "first", "mean"):
        assert_is_reduced(reduced[op], x, ids, NUM_SEGMENTS, op, None)
    mean = local.segment_mean(np.arange(4, dtype=np.int32), np.zeros(4, np.int32), 1)
    assert (mean.dtype, mean.tolist()) == (jnp.float32, [1.5])


# Errors word for word

X, IDS = np.arange(5, dtype=np.float32), np.arange(5, dtype=np.int32)
OPS = ", ".join(repr(op) for op in SEGMENT_OPS)
ERRORS = {
    "length": (
        lambda: local.segment_sum(X, IDS[:4], 5),
        "segment_sum: every leaf of x must have 4 rows along its leading axis, got float32[5].",
    ),
    "float ids": (
        lambda: local.segment_sum(X, X, 5),
        "segment_sum: segment_ids must be integers, got float32[5].",
    ),
    "ids of two axes": (
        lambda: local.segment_count(IDS[None], 5),
        "segment_count: segment_ids must be one-dimensional, got int32[1,5].",
    ),
    "no segments": (
        lambda: local.segment_sum(X, IDS, 0),
        "segment_sum: num_segments must be in [1, 2147483647], got 0.",
    ),
    "op": (
        lambda: local.segment_reduce(X, IDS, 5, "median"),
        f"segment_reduce: op must be one of {OPS}, got 'median'.",
    ),
    "complex": (
        lambda: local.segment_min(X + 1j, IDS, 5),
        "segment_min: x must be real for 'min', got complex64[5]. Reduce its real and imaginary "
        "parts.",
    ),
    "nothing": (
        lambda: local.segment_sum(None, IDS, 5),
        "segment_sum: x must hold an array for 'sum', got NoneType.",
    ),
    "fill": (
        lambda: local.segment_argmin(X, IDS, 5, fill_value=0.5),
        "segment_argmin: fill_value must be an integer where the result is one, got ~float64[].",
    ),
    "fills": (
        lambda: local.segment_sum(X, IDS, 5, fill_value=X),
        "segment_sum: fill_value must be one number, got float32[5].",
    ),
    "large fill": (
        lambda: local.segment_max(X.astype(np.int8), IDS, 5, fill_value=128),
        "segment_max: fill_value must be a number of int8, got 128.",
    ),
    "negative fill": (
        lambda: local.segment_first(X.astype(np.uint64), IDS, 5, fill_value=-1),
        "segment_first: fill_value must be a number of uint64, got -1.",
    ),
    "infinite fill": (
        lambda: local.segment_mean(X.astype(np.float16), IDS, 5, fill_value=1e6),
        "segment_mean: fill_value must be a number of float16, got 1000000.0.",
    ),
    "no truth": (
        lambda: local.segment_any(X, IDS, 5, fill_value=2),
        "segment_any: fill_value must be a number of bool, got 2.",
    ),
    "no count": (
        lambda: local.segment_reduce(None, IDS, 5, "count", fill_value=2**31),
        "segment_reduce: fill_value must be a number of int32, got 2147483648.",
    ),
    "complex fill": (
        lambda: local.segment_sum(X, IDS, 5, fill_value=1j),
        "segment_sum: fill_value must be a number of float32, got 1j.",
    ),
    "ddof": (
        lambda: local.segment_var(X, IDS, 5, ddof=-1),
        "segment_var: ddof must be at least 0, got -1.",
    ),
}


@pytest.mark.checks_arguments
@pytest.mark.parametrize("name", ERRORS)
def test_refuses(name):
    call, message = ERRORS[name]
    with pytest.raises((TypeError, ValueError)) as raised:
        call()
    assert str(raised.value) == message
