# SPDX-License-Identifier: Apache-2.0
"""`histogram` and `digit_histogram`, local and global, against NumPy's."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes import primitives
from jaxframes.primitives import collective, kernels, local
from jaxframes.primitives.local import _histogram
from key_distributions import KEY_DTYPES, distributions_for, make_keys
from on_shards import mesh_of, noting, on_shards

# NumPy's histograms are of these.
DTYPES = [dtype for dtype in KEY_DTYPES if dtype.name not in ("bool", "bfloat16")]


def finite_keys(distribution, num_rows, dtype):
    """Keys with a range in NumPy: finite, and close enough to subtract."""
    keys = make_keys(distribution, num_rows, dtype)
    if oracles.is_float(dtype):
        with np.errstate(invalid="ignore"):
            return np.where(np.isfinite(keys), keys, 1).astype(dtype) / dtype.type(2)
    return keys >> keys.dtype.type(2 if keys.dtype.itemsize < 8 else 16)


@functools.cache
def counter(bins, range=None):
    return jax.jit(functools.partial(local.histogram, bins=bins, range=range))


def assert_is_histogram(actual, expected, x=None):
    """The counts and edges are NumPy's; on GPU equal edges of float32 `x` may lie beside them."""
    counts, edges = expected
    if x is not None and edges.dtype == np.float32 and jax.default_backend() == "gpu":
        width = np.finfo(np.float32).eps * np.abs(edges).max()
        np.testing.assert_allclose(actual.edges, edges, rtol=0, atol=4 * width)
        edges = np.asarray(actual.edges)
        counts, _ = np.histogram(x, edges)
    oracles.assert_same_bits(tuple(actual), (counts.astype(np.int32), edges))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_and_distribution(dtype):
    for distribution in distributions_for(dtype):
        if distribution == "denormals":
            continue  # zeros to XLA on CPU
        x = finite_keys(distribution, 700, dtype)
        for bins, ends in ((10, None), (100, None), (7, (-2, 31.5)), (3, (5, 5))):
            with noting((distribution, bins, ends)):
                try:
                    expected = np.histogram(x, bins, ends)
                except ValueError:
                    continue  # bins that the dtype cannot tell apart
                assert_is_histogram(counter(bins, ends)(x), expected, x)


@pytest.mark.parametrize("num_rows", [0, 1, 2, 31, 32, 33])
@pytest.mark.parametrize("bins", [1, 2, 10, 1000])
def test_edge_sizes(num_rows, bins):
    for dtype in (np.float32, np.float64):
        x = make_keys("uniform", num_rows, dtype)
        assert_is_histogram(local.histogram(x, bins=bins), np.histogram(x, bins))
        padded = np.concatenate([x, np.full(5, 1e9, dtype)])
        counted = counter(bins)(padded, num_valid=np.int32(num_rows))
        assert_is_histogram(counted, np.histogram(x, bins))


def test_many_rows():
    for dtype in (np.float32, np.float64, np.int32):
        x = make_keys("zipf", 300_000, dtype) % dtype(5000)
        assert_is_histogram(counter(256)(x), np.histogram(x, 256))
        on_edges = np.linspace(0, 5000, 257).astype(dtype)
        expected = np.histogram(on_edges, 256, (0, 5000))
        assert_is_histogram(counter(256, (0, 5000))(on_edges), expected)


def test_what_lies_in_no_bin():
    x = np.array([np.nan, -np.inf, np.inf, 1.0, 2.0, 3.0, -np.nan])
    expected = np.histogram(x[3:6], 4)
    assert_is_histogram(counter(4)(x), expected)
    assert_is_histogram(local.histogram(x[:3], bins=4), np.histogram([], 4))
    assert local.histogram(x, bins=4, range=(1.5, 2.5)).counts.tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize("dtype", ["float32", "int16", "int64", "uint64"])
@pytest.mark.parametrize("edge_dtype", ["float32", "float64", "int32", "int64"])
def test_edges(dtype, edge_dtype):
    x = (make_keys("zipf", 700, np.dtype(dtype)) % np.dtype(dtype).type(200)).astype(dtype)
    for edges in ([0, 1], [3, 3, 5, 5, 80, 199, 199], np.arange(0, 300, 7)):
        edges = np.array(edges).astype(edge_dtype)
        counts, _ = np.histogram(x, edges)
        for given in (edges, jnp.asarray(edges)):
            assert_is_histogram(local.histogram(x, edges=given), (counts, edges))


@pytest.mark.parametrize("dtype", ["int32", "float64", "complex64"])
def test_weights(dtype):
    x = make_keys("uniform", 700, np.float32)
    weights = np.random.default_rng(0).integers(-9, 9, 700).astype(dtype)
    for settings in ({"bins": 20}, {"edges": np.array([-9.0, 0.0, 0.5, 77.0])}):
        counted = local.histogram(x, weights=weights, **settings)
        bins = settings.get("bins", settings.get("edges"))
        expected, edges = np.histogram(x, bins, weights=weights)
        oracles.assert_same_bits(tuple(counted), (expected.astype(dtype), edges))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.uint32])
def test_one_reduction_finds_both_extremes_on_cuda(dtype):
    x = np.random.default_rng(5).integers(1, 100, 40).astype(dtype)
    if np.dtype(dtype).kind == "f":
        x[::7], x[3], x[5] = np.nan, np.inf, -np.inf
    for num_valid in (None, 30, 1, 0):
        arguments = jnp.asarray(x), None if num_valid is None else jnp.int32(num_valid)
        expected = _histogram._extremes(*arguments)
        oracles.assert_same_bits(jax.jit(_histogram._extremes_at_once)(*arguments), expected)


def test_a_range_that_is_traced():
    x = make_keys("uniform", 700, np.float64)
    traced = jax.jit(lambda x, first, last: local.histogram(x, bins=9, range=(first, last)))
    for ends in ((-3.25, 17.5), (0.0, 0.0)):
        assert_is_histogram(traced(x, *ends), np.histogram(x, 9, ends))


def test_bools_and_bfloat16():
    x = make_keys("uniform", 700, np.dtype(bool))
    assert_is_histogram(local.histogram(x, bins=2), np.histogram(x.astype(np.uint8), 2))
    x = make_keys("uniform", 700, jnp.bfloat16)
    edges = np.array([-4, -1, 0, 0.5, 8], jnp.bfloat16)
    counts, _ = np.histogram(x.astype(np.float64), edges.astype(np.float64))
    assert_is_histogram(local.histogram(x, edges=edges), (counts, edges))
    counted = local.histogram(x, bins=5)
    wide = np.asarray(counted.edges).astype(np.float64)
    assert counted.counts.tolist() == np.histogram(x.astype(np.float64), wide)[0].tolist()


@pytest.mark.usefixtures("x64_off")
def test_without_x64():
    x = make_keys("uniform", 700, np.float32)
    assert_is_histogram(local.histogram(x, bins=30), np.histogram(x, 30), x)
    x = make_keys("zipf", 700, np.int32) % 100
    counted = local.histogram(x, bins=7, range=(0, 70))
    assert counted.counts.tolist() == np.histogram(x, 7, (0, 70))[0].tolist()
    assert counted.edges.dtype == jnp.float32


# Digits


@pytest.mark.parametrize("dtype", KEY_DTYPES, ids=str)
def test_digits(dtype):
    for distribution in ("uniform", "zipf", "constant"):
        keys = make_keys(distribution, 700, dtype)
        order = oracles.key_ranks(keys)
        width = 1 if dtype.kind == "b" else 8 * dtype.itemsize
        bits = min(width, 5)
        counts = local.digit_histogram(keys, width - bits, bits, num_valid=650)
        assert int(counts.sum()) == 650
        if dtype.kind in "ui":
            # Signed integers with the sign bit turned are unsigned ones in the same order.
            low = int(np.iinfo(dtype).min)
            digits = [(int(key) - low) >> (width - bits) for key in keys[:650]]
            expected = np.bincount(digits, minlength=2**bits).astype(np.int32)
            oracles.assert_same_bits(counts, expected)
        else:
            # Digits from the top grow with the key.
            one_each = np.sort(order[:650])
            assert int((counts > 0).sum()) <= len(np.unique(one_each))


def test_a_digit_of_floats_is_that_of_their_ordered_bits():
    keys = np.array([-np.inf, -1.0, -0.0, 0.0, 1.0, np.inf, np.nan], np.float32)
    signs = local.digit_histogram(keys, 31, 1)
    assert signs.tolist() == [2, 5]
    assert local.digit_histogram(np.arange(256, dtype=np.uint8), 4, 4).tolist() == [16] * 16


def test_digits_of_more_rows_than_a_block():
    keys = make_keys("zipf", 2**20 + 77, np.dtype(np.uint8))
    for num_valid in (2**20 + 77, 2**20 + 5, 2**19 - 1):
        counts = local.digit_histogram(keys, 0, 8, num_valid=num_valid)
        expected = np.bincount(keys[:num_valid], minlength=256).astype(np.int32)
        oracles.assert_same_bits(counts, expected)


# Implementations agree, and so do the meshes


def test_native_and_portable_agree(monkeypatch):
    cases = [
        (make_keys("uniform", 5000, dtype), settings)
        for dtype in (np.float32, np.float64, np.int32, np.int64)
        for settings in ({"bins": 256}, {"edges": np.array([-9.0, 0.0, 0.0, 5.0, 1e6])})
    ]
    native = [local.histogram(x, **settings) for x, settings in cases]
    monkeypatch.setattr(kernels.reduce._histogram, "is_native", lambda: False)
    jax.clear_caches()
    for (x, settings), result in zip(cases, native, strict=True):
        oracles.assert_same_bits(tuple(local.histogram(x, **settings)), tuple(result))
    jax.clear_caches()


@pytest.mark.parametrize("is_portable", [False, True])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_outer_edges_whose_distance_overflows(dtype, is_portable, monkeypatch):
    if is_portable:
        monkeypatch.setattr(kernels.reduce._histogram, "is_native", lambda: False)
        jax.clear_caches()
    largest = np.finfo(dtype).max
    x = np.array([-1, 1, 0, 0.75, -0.4, 0.4, np.inf, np.nan]).astype(dtype) * largest
    ends = float(-largest), float(largest)
    weights = np.arange(1.0, 9)

    @jax.jit
    def with_traced_range(first, last):
        return local.histogram(x, bins=4, range=(first, last))

    for counted in (
        local.histogram(x, bins=4),
        local.histogram(x, bins=4, range=ends),
        with_traced_range(*ends),
        primitives.histogram(x, mesh_of(3), bins=4),
    ):
        assert counted.counts.tolist() == [1, 1, 2, 2]
        shares = np.asarray(counted.edges, np.float64) / float(largest)
        np.testing.assert_allclose(shares, [-1, -0.5, 0, 0.5, 1], atol=2 * np.finfo(dtype).eps)
    sums = local.histogram(x, bins=4, weights=weights).counts
    assert sums.tolist() == [1, 5, 9, 6]
    if is_portable:
        jax.clear_caches()


@pytest.mark.parametrize("num_shards", [1, 3, 8])
def test_over_a_mesh(num_shards):
    mesh = mesh_of(num_shards)
    for num_rows in (0, 1, 7, 700, 720):
        x = make_keys("uniform", num_rows, np.float64)
        counted = primitives.histogram(x, mesh, bins=20)
        assert isinstance(counted, primitives.Histogram)
        assert_is_histogram(counted, np.histogram(x, 20))
        assert int(counted.counts.sum()) == num_rows
        expected = local.histogram(x, bins=5, range=(0, 9), weights=np.arange(num_rows))
        counted = primitives.histogram(x, mesh, bins=5, range=(0, 9), weights=np.arange(num_rows))
        oracles.assert_same_bits(tuple(counted), tuple(expected))
        digits = primitives.digit_histogram(x, 55, 9, mesh)
        oracles.assert_same_bits(digits, local.digit_histogram(x, 55, 9))
    edges = np.array([0.0, 1.0, 3.0])
    counted = primitives.histogram(np.append(x, np.nan), mesh, edges=edges)
    assert_is_histogram(counted, np.histogram(x, edges))


@pytest.mark.parametrize("dtype", ["uint32", "uint64"])
def test_edges_of_the_largest_integers(dtype):
    edges = np.iinfo(dtype).max - np.array([9, 4, 3, 0], dtype)
    x = np.concatenate([edges, edges - np.array(1, dtype), np.arange(3, dtype=dtype)])
    with jax.enable_x64(dtype == "uint64"):
        assert_is_histogram(local.histogram(x, edges=edges), np.histogram(x, edges))


@pytest.mark.usefixtures("x64_off")
@pytest.mark.parametrize("dtype", [np.int32, np.uint32])
def test_integers_that_float32_rounds(dtype):
    limits = np.iinfo(dtype)
    steps = np.arange(-5, 6)
    near = np.concatenate([2**24 + steps, 2**25 + steps, 2**30 + 16 * steps])
    x = np.concatenate([near, [limits.max, limits.max - 1, limits.min, 0, 7]]).astype(dtype)
    for edges in ([0, 2**24 - 1, 2**24, 2**24 + 2], [3, 2**24 + 4, 2**25, 2**25 + 4], [0, 2**30]):
        edges = np.array(edges, np.float32)
        expected = np.histogram(x, edges.astype(np.float64))[0]
        for weights in (None, np.ones(len(x), np.int32)):
            with noting((edges, weights is None)):
                counts = local.histogram(x, edges=edges, weights=weights).counts
                assert counts.tolist() == expected.tolist()
    # The largest integers are below the power of two.
    edges = np.array([limits.min, float(limits.max)], np.float32)
    assert local.histogram(x, edges=edges).counts.tolist() == [len(x)]


@pytest.mark.usefixtures("x64_off")
def test_integers_that_need_64_bits_to_compare():
    x, edges = jnp.array([1, 5], jnp.int32), jnp.array([0, 3_000_000_000], jnp.uint32)
    message = (
        "histogram: x and edges must be both signed or both unsigned without JAX's x64 mode, "
        "got int32[2] and uint32[2]. Cast one of them."
    )
    with pytest.raises(TypeError) as raised:
        local.histogram(x, edges=edges)
    assert str(raised.value) == message


# Errors word for word

X = np.arange(5, dtype=np.float32)
ERRORS = {
    "bins": (lambda: local.histogram(X, bins=0), "bins must be in [1, 2147483646], got 0."),
    "both": (
        lambda: local.histogram(X, bins=3, edges=X),
        "edges must be given without bins, got both.",
    ),
    "both ranges": (
        lambda: local.histogram(X, range=(0, 1), edges=X),
        "edges must be given without range, got both.",
    ),
    "one edge": (
        lambda: local.histogram(X, edges=X[:1]),
        "edges must be an array of two or more, got float32[1].",
    ),
    "edges": (
        lambda: local.histogram(X, edges=X[::-1]),
        "edges must ascend, got float32[5] out of order. Sort them.",
    ),
    "range": (
        lambda: local.histogram(X, range=(2, 1)),
        "range must be two finite ascending numbers, got (2, 1).",
    ),
    "infinite range": (
        lambda: local.histogram(X, range=(0, float("inf"))),
        "range must be two finite ascending numbers, got (0, inf).",
    ),
    "long range": (
        lambda: local.histogram(X, range=(0, 1, 2)),
        "range must be two numbers, got tuple.",
    ),
    "weights": (
        lambda: local.histogram(X, weights=X[:4]),
        "weights must have one entry for each of the 5 rows, got float32[4].",
    ),
    "range of words": (
        lambda: local.histogram(X, range=("a", "b")),
        "range must be two numbers, got ('a', 'b').",
    ),
}


@pytest.mark.checks_arguments
@pytest.mark.parametrize("name", ERRORS)
def test_refuses(name):
    call, message = ERRORS[name]
    with pytest.raises(ValueError) as raised:  # noqa: PT011
        call()
    assert str(raised.value) == f"histogram: {message}"


@pytest.mark.checks_arguments
def test_refuses_digits_outside_of_the_key():
    for (shift, bits), message in {
        (8, 1): "digit_histogram: shift must be in [0, 7], got 8.",
        (4, 5): "digit_histogram: bits must be in [1, 4], got 5.",
    }.items():
        with pytest.raises(ValueError) as raised:  # noqa: PT011
            local.digit_histogram(np.zeros(3, np.int8), shift, bits)
        assert str(raised.value) == message


def test_shards_of_no_rows_at_all():
    def of_shard(x):
        return collective.histogram(x, bins=2, axis_name="rows")

    for num_shards in (1, 3):
        run = on_shards(of_shard, num_shards)
        counted = run(np.zeros((num_shards, 0), np.float32))
        for shard in range(num_shards):
            of_one = local.Histogram(counted.counts[shard], counted.edges[shard])
            assert_is_histogram(of_one, np.histogram(np.zeros(0, np.float32), 2))
