# SPDX-License-Identifier: Apache-2.0
"""`reduce` on one device and over a mesh, against NumPy."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jax.sharding import AxisType
from jaxframes import primitives, shardings
from jaxframes.primitives import local
from jaxframes.primitives.local import _blockwise
from jaxframes.primitives.local._reduced_columns import REDUCE_OPS
from key_distributions import make_keys
from on_shards import mesh_of, noting, on_shards
from reduced_rows import assert_is_reduced

DTYPES = ("bool", "int8", "int32", "uint64", "float16", "bfloat16", "float32", "float64")


def rows_and_mask(dtype, num_rows, distribution="uniform"):
    x = make_keys(distribution, num_rows, jnp.dtype(dtype))
    if jnp.issubdtype(x.dtype, jnp.floating):
        # Far from the largest float, so that squares do not overflow.
        x = (np.arange(num_rows) % 7 - 3).astype(x.dtype) / x.dtype.type(4)
    return x, np.random.default_rng(num_rows).random(num_rows) < 0.6


def assert_reduces(actual, x, mask, op, num_valid=None, ddof=0):
    """One value, as that of one segment, and its number of rows."""
    segment_ids = np.where(mask, 0, -1).astype(np.int32)
    counted = int(mask[: len(x) if num_valid is None else num_valid].sum())
    assert np.asarray(actual.counts).tolist() == np.full(x.shape[1:], counted).tolist()
    value = np.asarray(actual.values)[None]
    if op in ("min", "max"):
        # Whichever of two zeros.
        expected = oracles.segment_reduce(x, segment_ids, 1, op, num_valid=num_valid)
        assert value.dtype == x.dtype
        np.testing.assert_array_equal(value.astype(float), expected.astype(float))
    else:
        if op == "count":
            value = value.reshape(-1)[:1]
        assert_is_reduced(value, x, segment_ids, 1, op, num_valid, ddof)


@functools.cache
def reduced(mesh_size, ops, has_mask, skip_nan, ddof):
    mesh = None if mesh_size is None else mesh_of(mesh_size)

    def call(x, mask, num_valid):
        where = mask if has_mask else None
        settings = {"num_valid": num_valid, "skip_nan": skip_nan, "ddof": ddof}
        return primitives.reduce([x] * len(ops), list(ops), mesh, where=where, **settings)

    return jax.jit(call)


@pytest.mark.parametrize("dtype", [jnp.float8_e4m3fn, jnp.float8_e4m3b11fnuz, jnp.float8_e5m2])
def test_extremes_of_floats_with_and_without_infinity(dtype):
    x = np.asarray([1, -2, 3, -1], dtype)
    ids = np.asarray([0, 0, 2, 2], np.int32)
    limits = jnp.finfo(dtype)
    for op in ("min", "max"):
        numpy = getattr(np, op)
        one = primitives.reduce(x, op, num_valid=2)
        assert float(one.values) == numpy([1, -2])
        of_segments = getattr(primitives, f"segment_{op}")(x, ids, 3)
        infinity = float(x.dtype.type(np.inf if op == "min" else -np.inf))
        # Without an infinity the finite limit is the result of a segment without rows.
        limit = float(limits.max if op == "min" else limits.min)
        empty = limit if np.isnan(infinity) else infinity
        assert of_segments.dtype == dtype
        assert of_segments.astype(float).tolist() == [numpy([1, -2]), empty, numpy([3, -1])]


@pytest.mark.parametrize(
    ("dtype", "mesh_size"),
    [*((dtype, None) for dtype in DTYPES), ("bool", 3), ("int32", 3), ("float32", 3)],
)
def test_matches_numpy(dtype, mesh_size):
    for num_rows, has_mask in ((0, True), (1, False), (17, True), (32, False)):
        x, mask = rows_and_mask(dtype, num_rows)
        flags = mask if has_mask else mask | True
        call = reduced(mesh_size, REDUCE_OPS, has_mask, False, 1)
        for num_valid in {0, num_rows // 2, num_rows}:
            results = call(x, mask, np.int32(num_valid))
            for op, *result in zip(REDUCE_OPS, *results, strict=True):
                with noting((num_rows, num_valid, op)):
                    assert_reduces(primitives.Reduced(*result), x, flags, op, num_valid, 1)


@pytest.mark.parametrize("mesh_size", [None, 2])
def test_nans_count_or_are_skipped(mesh_size):
    x = np.array([3, np.nan, -1, -0.0, np.inf, 0.0, np.nan, 2], np.float32)
    mask = np.ones(8, bool)
    ops = ("sum", "prod", "min", "max", "mean", "any", "all", "argmin", "argmax")
    for num_valid in (1, 4, 8):
        results = reduced(mesh_size, ops, False, False, 0)(x, mask, np.int32(num_valid))
        skipped = reduced(mesh_size, ops, False, True, 0)(x, mask, np.int32(num_valid))
        for i, op in enumerate(ops):
            with noting((op, num_valid)), np.errstate(invalid="ignore"):
                one = primitives.Reduced(results.values[i], results.counts[i])
                assert_reduces(one, x, mask, op, num_valid)
                one = primitives.Reduced(skipped.values[i], skipped.counts[i])
                assert_reduces(one, x, ~np.isnan(x), op, num_valid)


def test_rows_of_several_columns_and_a_prefix_of_ops_and_masks():
    rng = np.random.default_rng(0)
    x = {"a": rng.normal(size=(12, 2, 3)), "b": (rng.integers(0, 9, 12), rng.random(12) < 0.5)}
    mask = rng.random(12) < 0.5
    ops, where = {"a": "mean", "b": "max"}, {"a": mask, "b": None}
    for mesh in (None, mesh_of(3)):
        values, counts = primitives.reduce(x, ops, mesh, where=where, skip_nan=True)
        np.testing.assert_allclose(values["a"], x["a"][mask].mean(0), rtol=1e-12)
        assert (counts["a"].shape, int(counts["a"][0, 0])) == ((2, 3), mask.sum())
        assert (int(values["b"][0]), bool(values["b"][1])) == (x["b"][0].max(), True)
        assert int(counts["b"][0]) == 12


def test_second_passes_over_rows_of_several_columns():
    x = np.random.default_rng(0).integers(-9, 9, (31, 2, 2)).astype(np.float32)
    mask = np.arange(31) % 3 > 0
    ops = ("var", "std", "argmin", "argmax")
    for where, num_valid in ((mask, 20), (None, None)):
        flags = np.ones(31, bool) if where is None else where
        results = primitives.reduce([x] * 4, list(ops), where=where, num_valid=num_valid, ddof=1)
        for op, *result in zip(ops, *results, strict=True):
            with noting((op, num_valid)):
                assert_reduces(primitives.Reduced(*result), x, flags, op, num_valid, 1)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("skip_nan", [False, True])
def test_variances_of_floats(dtype, skip_nan):
    x = np.random.default_rng(0).normal(3, 2, 2100).astype(dtype)
    x[[5, 1999]] = np.nan
    options = {"num_valid": 2000, "skip_nan": skip_nan, "ddof": 1}
    for op, expected in (("var", np.nanvar), ("std", np.nanstd)):
        values, counts = primitives.reduce(x, op, dtype="float64", **options)
        assert int(counts) == (1998 if skip_nan else 2000)
        ours = expected(x[:2000].astype(np.float64), ddof=1) if skip_nan else np.nan
        np.testing.assert_allclose(values, ours, rtol=1e-12)

    def variance(x):
        return primitives.reduce(x, "var", **options).values

    if skip_nan:
        gradient = np.where(np.isnan(x[:2000]), 0, x[:2000] - np.nanmean(x[:2000])) * 2 / 1997
        np.testing.assert_allclose(jax.grad(variance)(x)[:2000], gradient, rtol=1e-3, atol=1e-5)
    infinite = np.array([1.0, np.inf, 2.0], dtype)
    assert np.isnan(primitives.reduce(infinite, "var", skip_nan=skip_nan).values)
    assert np.isnan(primitives.reduce(x[:1], "var", ddof=1).values)


def cubes_of_positive(x):
    return {"cube": x**3, "is_large": x > 1}, {"cube": x > 0, "is_large": None}


@pytest.mark.parametrize("mesh_size", [None, 3])
def test_a_transform_is_reduced_in_place_of_the_rows(mesh_size):
    mesh = None if mesh_size is None else mesh_of(mesh_size)
    x = np.random.default_rng(0).normal(size=41)
    mask = x < 2
    result = primitives.reduce(
        x,
        {"cube": "sum", "is_large": "any"},
        mesh,
        where=mask,
        num_valid=30,
        transform=cubes_of_positive,
    )
    counted = x[:30][mask[:30]]
    np.testing.assert_allclose(result.values["cube"], (counted[counted > 0] ** 3).sum())
    assert int(result.counts["cube"]) == (counted > 0).sum()
    assert bool(result.values["is_large"]) == (counted > 1).any()
    assert int(result.counts["is_large"]) == len(counted)


def squared_distances(rows, mean):
    return jnp.square(rows - mean), None


@pytest.mark.parametrize("axis_type", [AxisType.Auto, AxisType.Explicit])
def test_a_transform_takes_operands(axis_type):
    x = np.random.default_rng(0).normal(size=22)
    mesh = shardings.make_mesh(2, axis_type=axis_type)

    def squares(x, mesh):
        mean = primitives.reduce(x, "mean", mesh).values
        distances = functools.partial(primitives.reduce, transform=squared_distances)
        return distances(x, "sum", mesh, operands=(mean,)).values

    for call in (squares, jax.jit(squares, static_argnums=1)):
        np.testing.assert_allclose(call(x, None), x.var() * 22)
        with jax.set_mesh(mesh):
            np.testing.assert_allclose(call(x, mesh), x.var() * 22)


@pytest.mark.parametrize("mesh_size", [None, 2])
def test_a_transform_may_close_over_traced_values(mesh_size):
    mesh = None if mesh_size is None else mesh_of(mesh_size)

    @jax.jit
    @jax.value_and_grad
    def squares(x):
        mean = primitives.reduce(x, "mean", mesh).values
        distances = primitives.reduce(
            x, "sum", mesh, transform=lambda rows: (jnp.square(rows - mean), None)
        )
        return distances.values

    x = np.random.default_rng(0).normal(size=22)
    value, gradient = squares(x)
    np.testing.assert_allclose(value, x.var() * 22)
    np.testing.assert_allclose(gradient, 2 * (x - x.mean()), atol=1e-12)


@pytest.mark.parametrize("mesh_size", [None, 3])
@pytest.mark.parametrize("padding", [np.inf, np.nan, 0.0])
def test_the_derivatives_of_a_transform_at_the_padding_are_not_read(mesh_size, padding):
    mesh = None if mesh_size is None else mesh_of(mesh_size)
    x = np.random.default_rng(0).uniform(1, 2, 22)
    x[5:] = padding

    def logarithms(rows, scale):
        return jnp.log(rows) * scale / rows, None

    def total(x, scale):
        return primitives.reduce(
            x, "sum", mesh, num_valid=5, transform=logarithms, operands=(scale,)
        ).values

    of_x, of_scale = jax.jit(jax.grad(total, (0, 1)))(x, 3.0)
    np.testing.assert_allclose(of_x[:5], 3 * (1 - np.log(x[:5])) / x[:5] ** 2)
    assert not of_x[5:].any()
    np.testing.assert_allclose(of_scale, (np.log(x[:5]) / x[:5]).sum())


# So many rows are reduced in blocks on every platform, and by lanes where nothing is left out.
MANY = 2 * _blockwise.BLOCK_ROWS + _blockwise.LANES_ROWS


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
def test_many_rows(dtype):
    x = make_keys("uniform", MANY, np.dtype(dtype))
    if x.dtype.kind == "f":
        x = np.random.default_rng(0).normal(size=MANY).astype(dtype)
    mask = np.random.default_rng(1).random(MANY) < 0.5
    wide = np.dtype("int64" if x.dtype.kind == "i" else "float64")
    ops = ("sum", "min", "max")

    @jax.jit
    def run(x, mask, num_valid):
        settings = {"num_valid": num_valid, "dtype": wide}
        rows = [x] * len(ops)
        plain = local.reduce(rows, list(ops), skip_nan=True, **settings)
        return plain, local.reduce(rows, list(ops), where=mask, **settings)

    for num_valid in (0, _blockwise.LANES_ROWS, MANY - 1, MANY):
        plain, masked = run(x, mask, np.int32(num_valid))
        for result, flags in ((plain, np.ones(MANY, bool)), (masked, mask)):
            counted = x[:num_valid][flags[:num_valid]]
            assert {int(count) for count in result.counts} == {len(counted)}
            for op, value in zip(ops, result.values, strict=True):
                with noting((op, num_valid)):
                    if len(counted) == 0 and op != "sum":
                        continue
                    expected = getattr(counted, op)(**({"dtype": wide} if op == "sum" else {}))
                    np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("op", ["sum", "min", "max"])
@pytest.mark.parametrize("dtype", [np.int8, np.float32])
def test_lanes_hold_the_rows_that_count(op, dtype):
    num_blocks, block = 3, _blockwise.LANES_ROWS
    values = np.random.default_rng(5).integers(-99, 99, num_blocks * block).astype(dtype)
    # The rows at the end decide.
    rising = np.linspace(100, 120, len(values[::1_000])).round()
    values[::1_000] = -rising if op == "min" else rising
    wide = np.dtype(np.float64 if values.dtype.kind == "f" else np.int64)
    run = jax.jit(lambda x, n: _blockwise.reduce_lanes(op, x, n, wide))
    ends = np.arange(num_blocks + 1) * block
    counts = [*ends, *(ends + 1), *(ends - 1), ends[1] + 1_500]
    for count in np.clip(counts, 0 if op == "sum" else 1, len(values)):
        x = values.copy()
        x[count:] = np.nan if x.dtype.kind == "f" else -128 if op == "min" else 127
        expected = getattr(values[:count].astype(wide), op)()
        assert float(run(x, np.int32(count))) == expected, count


def test_many_rows_with_a_nan():
    x = np.random.default_rng(0).normal(size=MANY).astype(np.float32)
    x[MANY // 2] = np.nan
    for op in ("sum", "min", "max"):
        assert np.isnan(local.reduce(x, op).values)
        skipped = local.reduce(x, op, skip_nan=True, dtype=np.float64)
        np.testing.assert_allclose(skipped.values, getattr(np, f"nan{op}")(x.astype(float)))
        assert int(skipped.counts) == MANY - 1
        # The rows that do not count have none.
        before = local.reduce(x, op, num_valid=MANY // 2)
        assert not np.isnan(before.values)


@pytest.mark.parametrize("mesh_size", [None, 2])
def test_a_nan_in_one_column_leaves_the_bits_of_others(mesh_size):
    rng = np.random.default_rng(5)
    clean, holed = rng.standard_normal((2, 2 * MANY)).astype(np.float32)
    num_valid = 2 * MANY - 1
    holed[4321] = np.nan
    mesh = None if mesh_size is None else mesh_of(mesh_size)
    reduce = functools.partial(primitives.reduce, mesh=mesh, num_valid=np.int32(num_valid))
    ops = ["sum", "min", "max", "mean", "std", "count"]
    columns = [clean] * len(ops) + [holed] * len(ops)
    together = reduce(columns, ops * 2, skip_nan=True)
    for place, (x, op) in enumerate(zip(columns, ops * 2, strict=True)):
        alone = reduce(x, op, skip_nan=True)
        with noting((op, place)):
            assert np.asarray(together.values[place]) == np.asarray(alone.values)
            assert int(together.counts[place]) == int(alone.counts) == num_valid - (x is holed)
    expected = holed[:num_valid][~np.isnan(holed[:num_valid])].astype(np.float64)
    np.testing.assert_allclose(together.values[6], expected.sum(), rtol=1e-3)
    np.testing.assert_allclose(together.values[10], expected.std(), rtol=1e-5)


def test_an_array_under_several_ops_is_read_once():
    x = jnp.arange(4096, dtype=jnp.float32)

    def reduced(x):
        return local.reduce([x] * 5, ["sum", "mean", "std", "count", "max"], skip_nan=True).values

    program = str(jax.make_jaxpr(reduced)(x))
    assert (
        program.count("name=_sum_with_tangent")
        == str(jax.make_jaxpr(lambda x: local.reduce(x, "sum", skip_nan=True))(x)).count(
            "name=_sum_with_tangent"
        )
        > 0
    )
    total, mean, std, count, most = reduced(x)
    assert (float(total), float(mean)) == (4096 * 4095 / 2, 4095 / 2)
    assert (int(count), float(most)) == (4096, 4095.0)
    np.testing.assert_allclose(std, np.arange(4096).std(), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["int8", "uint32", "int64"])
def test_the_variance_of_integers_does_not_cancel(dtype):
    x = np.random.default_rng(3).integers(90, 127, 10_000).astype(dtype)
    x = x + np.asarray(2**31 if x.itemsize > 1 else 0, dtype)
    for num_valid in (10_000, 777):
        result = local.reduce(x, "var", num_valid=num_valid, dtype=np.float64, ddof=1)
        expected = np.var(x[:num_valid].astype(np.float64), ddof=1)
        np.testing.assert_allclose(result.values, expected, rtol=1e-12)


def test_a_derivative_passes_by_a_nan_in_another_column():
    x, y = (jnp.linspace(1, 2, MANY).at[place].set(jnp.nan) for place in (7, MANY - 1))
    clean = jnp.linspace(2, 3, MANY)

    def loss(columns):
        ops = ["sum", "min", "max", "mean"]
        results = local.reduce([c for c in columns for _ in ops], ops * 3, skip_nan=True)
        return sum(results.values)

    slopes = jax.grad(loss)([x, clean, y])
    for column, slope in zip((x, clean, y), slopes, strict=True):
        alone = jax.grad(lambda c: loss([c, jnp.ones(MANY), jnp.ones(MANY)]))(column)
        assert np.isfinite(slope).all()
        np.testing.assert_array_equal(slope, alone)
        present = ~np.isnan(column)
        assert np.asarray(slope)[~present].tolist() == [0.0] * int((~present).sum())
        np.testing.assert_allclose(np.asarray(slope).sum(), present.sum() + 3, rtol=1e-6)


def test_a_derivative_passes_by_a_nan_that_is_skipped():
    x = np.ones(MANY, np.float32)
    x[5] = np.nan
    gradient = jax.jit(jax.grad(lambda x: local.reduce(x, "sum", skip_nan=True).values))(x)
    assert gradient.tolist() == [float(row != 5) for row in range(MANY)]


def test_sums_in_another_dtype():
    x = np.full(300, 100, np.int8)
    assert int(local.reduce(x, "sum").values) == 30000 % 256
    assert int(local.reduce(x, "sum", dtype=np.int64).values) == 30000
    mean = local.reduce(x, "mean", dtype=np.float32).values
    assert (mean.dtype, float(mean)) == (np.float32, 100)


@pytest.mark.usefixtures("x64_off")
def test_without_x64():
    result = primitives.reduce(np.arange(9, dtype=np.int32), "mean", mesh_of(2))
    assert (result.values.dtype, float(result.values)) == (np.float32, 4)
    assert result.counts.dtype == np.int32
    with pytest.raises(TypeError) as error:
        primitives.reduce(np.arange(9, dtype=np.int32), "sum", dtype=np.int64)
    assert str(error.value) == (
        "reduce: dtype must be one that JAX has, got int64 while its x64 mode is off. "
        "Set jax_enable_x64, or leave dtype out."
    )


def test_row_ids_of_shards_are_global():
    call = on_shards(lambda x: primitives.collective.reduce(x, "argmax", axis_name="rows"), 3)
    x = np.array([[1, 5], [7, 7], [7, 0]], np.int32)
    result = call(x)
    assert np.asarray(result.values).tolist() == [2, 2, 2]
    assert np.asarray(result.counts).tolist() == [6, 6, 6]


@pytest.mark.parametrize(
    ("arguments", "settings", "error", "message"),
    [
        (
            ([1.0], "median"),
            {},
            ValueError,
            "reduce: op must be one of 'sum', 'prod', 'min', 'max', 'count', 'mean', 'var', 'std', "
            "'any', 'all', 'argmin', 'argmax', got 'median'.",
        ),
        (
            (np.ones(3), "sum"),
            {"where": np.ones(3)},
            TypeError,
            "reduce: where must be bool, got float64[3].",
        ),
        (
            (np.ones(3), "sum"),
            {"where": np.ones(2, bool)},
            ValueError,
            "reduce: where must have one flag for each of the 3 rows, got bool[2].",
        ),
        (
            (np.ones(3, complex), "max"),
            {},
            TypeError,
            "reduce: x must be real for 'max', got complex128[3]. Reduce its real and imaginary "
            "parts.",
        ),
        (
            (np.ones(3), "sum"),
            {"dtype": np.float32},
            TypeError,
            "reduce: dtype must hold the rows, got float32 for float64[3]. Cast x first.",
        ),
        (
            ({"a": np.ones(3)}, ["sum"]),
            {},
            ValueError,
            "reduce: op must be one leaf, or a prefix of the rows, PyTreeDef({'a': *}), got "
            "PyTreeDef([*]).",
        ),
    ],
)
@pytest.mark.checks_arguments
def test_errors(arguments, settings, error, message):
    for mesh in (None, mesh_of(2)):
        with pytest.raises(error) as raised:
            primitives.reduce(*arguments, mesh, **settings)
        assert str(raised.value) == message
