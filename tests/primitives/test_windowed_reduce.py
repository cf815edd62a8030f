# SPDX-License-Identifier: Apache-2.0
"""`windowed_reduce` on one device and over a mesh, against NumPy window by window."""

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pandas as pd
import pytest
from compiled_program import num_signatures
from jaxframes import primitives
from jaxframes.primitives import collective, local
from jaxframes.primitives.local._windows import PAIR_OPS, WINDOW_OPS
from on_shards import mesh_of, noting, on_shards, row_counts, valid_rows

NUM_ROWS = 23
BOUNDS = local.WindowBounds(np.zeros(3, np.int32), None, np.ones(3, bool))
OPS_OF_ONE = tuple(op for op in WINDOW_OPS if op not in PAIR_OPS)
REACHES = ((1, 0), (5, 0), (17, 0), (40, 0), (5, 2), (5, -3), (7, 30), (7, -30), (0, 0), (30, 4))


def windows_of(x, window, op, *, offset=0, mask=None, num_valid=None, ddof=0, segment_ids=None):
    """The value and the count of each window; zeros for rows that do not count."""
    num_rows = len(x) if num_valid is None else num_valid
    mask = np.ones(len(x), bool) if mask is None else mask
    # Numbers the runs of equal ids.
    ids = np.zeros(len(x)) if segment_ids is None else np.asarray(segment_ids)
    runs = np.cumsum(np.append(False, ids[1:] != ids[:-1]))[: len(x)]
    values, counts = [], []
    for row in range(len(x)):
        last = row + offset
        first = 0 if window is None else max(last - window + 1, 0)
        rows = np.arange(first, min(last + 1, num_rows))
        is_inside = np.zeros(len(x), bool)
        is_inside[rows] = mask[rows] & (runs[rows] == runs[row])
        value = np.asarray(value_of(x, is_inside, op, ddof))
        values.append(value if row < num_rows else np.zeros_like(value))
        counts.append(is_inside.sum() if row < num_rows else 0)
    return np.array(values), np.array(counts)


def value_of(x, is_inside, op, ddof):
    """The reduction of some rows."""
    if op in ("skew", "kurt"):
        return getattr(pd.Series(x[is_inside]), op)()
    return oracles.segment_reduce(x, np.where(is_inside, 0, -1), 1, op, ddof=ddof)[0]


def assert_windows(actual, x, window, op, **settings):
    values, counts = windows_of(x, window, op, **settings)
    np.testing.assert_array_equal(actual.counts, counts)
    assert actual.counts.dtype == np.int32
    if op == "count":
        np.testing.assert_array_equal(actual.values, counts)
        return
    precision = 64 * max(jnp.finfo(x.dtype).eps if oracles.is_float(x.dtype) else 0, 1e-16)
    np.testing.assert_allclose(
        np.asarray(actual.values, float), np.asarray(values, float), rtol=precision, atol=precision
    )


@pytest.mark.parametrize("op", OPS_OF_ONE)
def test_matches_numpy(op):
    rng = np.random.default_rng(0)
    x, mask = rng.normal(size=NUM_ROWS), rng.random(NUM_ROWS) < 0.7

    def call(x, window, offset, mask, num_valid):
        settings = {"offset": offset, "where": mask, "num_valid": num_valid, "ddof": 1}
        return local.windowed_reduce(x, window, op, **settings)

    call = jax.jit(call)
    for window, offset in REACHES:
        for num_valid in (NUM_ROWS, 14):
            for flags in (mask, None):
                actual = call(x, np.int32(window), np.int32(offset), flags, np.int32(num_valid))
                with noting((window, offset, num_valid, flags is None)):
                    settings = {"offset": offset, "mask": flags, "num_valid": num_valid}
                    assert_windows(actual, x, window, op, ddof=1, **settings)


@pytest.mark.parametrize("mesh_size", [None, 3])
@pytest.mark.parametrize("op", ["sum", "min", "count"])
def test_short_windows_are_read_row_by_row(op, mesh_size):
    mesh = None if mesh_size is None else mesh_of(mesh_size)
    rng = np.random.default_rng(0)
    x, mask = rng.integers(-9, 9, NUM_ROWS), rng.random(NUM_ROWS) < 0.7
    # On three shards of eight rows the longest one begins two shards before its end.
    cases = ((1, None, 23), (3, mask, 15), (16, mask, 23), (16, None, 3), (20, None, 23))
    for window, flags, num_valid in cases:
        actual = primitives.windowed_reduce(
            x, window, op, mesh, where=flags, num_valid=np.int32(num_valid)
        )
        with noting((window, num_valid)):
            assert_windows(actual, x, window, op, mask=flags, num_valid=num_valid)


@pytest.mark.parametrize("op", ["max", "var"])
def test_windows_longer_than_a_shard(op):
    mesh = mesh_of(3)
    rng = np.random.default_rng(0)
    x, mask = rng.normal(size=NUM_ROWS), rng.random(NUM_ROWS) < 0.7
    call = jax.jit(
        lambda x, window, offset: primitives.windowed_reduce(
            x, window, op, mesh, offset=offset, where=mask, num_valid=20
        )
    )
    for window, offset in REACHES:
        actual = call(x, np.int32(window), np.int32(offset))
        with noting((window, offset)):
            assert_windows(actual, x, window, op, offset=offset, mask=mask, num_valid=20)


# A segment of one row, one longer than most windows, and an id that comes again.
SEGMENT_IDS = np.repeat([3, 1, 7, 3, 0], [1, 4, 11, 5, 2])


@pytest.mark.parametrize("num_shards", [None, 3])
@pytest.mark.parametrize("op", OPS_OF_ONE)
@pytest.mark.parametrize("has_mask", [True, False])
def test_windows_stop_at_the_ends_of_segments(op, num_shards, has_mask):
    mesh = None if num_shards is None else mesh_of(num_shards)
    rng = np.random.default_rng(0)
    x = rng.normal(size=NUM_ROWS)
    mask = rng.random(NUM_ROWS) < 0.7 if has_mask else None

    def call(x, window, offset, mask, ids, num_valid):
        settings = {"offset": offset, "where": mask, "num_valid": num_valid, "ddof": 1}
        return primitives.windowed_reduce(x, window, op, mesh, segment_ids=ids, **settings)

    call = jax.jit(call)
    reaches = REACHES if mesh is None else REACHES[1::2]
    for window, offset in reaches:
        for num_valid in (14, NUM_ROWS):
            arguments = (x, np.int32(window), np.int32(offset), mask, SEGMENT_IDS)
            settings = {"offset": offset, "mask": mask, "segment_ids": SEGMENT_IDS}
            with noting((window, offset, num_valid)):
                actual = call(*arguments, np.int32(num_valid))
                assert_windows(actual, x, window, op, ddof=1, num_valid=num_valid, **settings)


@pytest.mark.parametrize("num_shards", [None, 3])
def test_segments_of_short_and_expanding_windows(num_shards):
    mesh = None if num_shards is None else mesh_of(num_shards)
    rng = np.random.default_rng(0)
    x, mask = rng.integers(-9, 9, NUM_ROWS), rng.random(NUM_ROWS) < 0.7
    heads = np.append(True, SEGMENT_IDS[1:] != SEGMENT_IDS[:-1])
    for window, offset in ((1, 0), (2, 0), (5, 0), (16, 0), (20, 0), (None, 0), (None, -2)):
        for op, flags in (("sum", mask), ("min", None)):
            settings = {"offset": offset, "num_valid": 20}
            actual = primitives.windowed_reduce(
                x, window, op, mesh, where=flags, head_flags=heads, **settings
            )
            with noting((window, offset, op)):
                assert_windows(
                    actual, x, window, op, mask=flags, segment_ids=SEGMENT_IDS, **settings
                )


def test_segments_of_shards_with_few_rows_or_none():
    num_shards, num_rows = 3, 4
    x = np.arange(1, num_shards * num_rows + 1, dtype=np.int32).reshape(num_shards, num_rows)
    ids = np.array([5, 5, 2, 2, 2, 2, 2, 2, 2, 2, 5, 5]).reshape(x.shape)
    for window in (3, np.int32(3), None):
        call = on_shards(
            lambda x, ids, num_valid, window=window: collective.windowed_reduce(
                x, window, "sum", axis_name="rows", num_valid=num_valid, segment_ids=ids
            ),
            num_shards,
        )
        for name, counts in row_counts(num_shards, num_rows).items():
            sequence = valid_rows(x, counts)
            if not len(sequence):
                continue
            values, in_windows = windows_of(
                sequence,
                None if window is None else int(window),
                "sum",
                segment_ids=valid_rows(ids, counts),
            )
            actual = call(x, ids, counts)
            with noting((name, window)):
                assert valid_rows(np.asarray(actual.values), counts).tolist() == values.tolist()
                assert valid_rows(np.asarray(actual.counts), counts).tolist() == in_windows.tolist()


def test_what_is_not_finite_stays_in_its_segment():
    x = np.array([1, np.nan, 3, np.inf, 5, 6.0])
    ids = np.array([0, 0, 1, 1, 2, 2])
    for window in (3, np.int32(3), None):
        sums = local.windowed_reduce(x, window, "sum", segment_ids=ids).values
        np.testing.assert_array_equal(sums, [1, np.nan, 3, np.inf, 5, 11])


def test_segments_under_vmap_and_grad():
    x = np.random.default_rng(0).normal(size=(2, NUM_ROWS))
    ids = np.stack([SEGMENT_IDS, np.zeros(NUM_ROWS, int)])

    def means(x, ids):
        return local.windowed_reduce(x, np.int32(3), "mean", segment_ids=ids).values

    batch = jax.vmap(means)(x, ids)
    for row in range(2):
        values, counts = windows_of(x[row], 3, "mean", segment_ids=ids[row])
        np.testing.assert_allclose(batch[row], values, rtol=1e-14)
    # Each row gives its share to each window of its segment that holds it.
    shares = jax.grad(lambda x: means(x, SEGMENT_IDS).sum())(x[0])
    _, counts = windows_of(x[0], 3, "mean", segment_ids=SEGMENT_IDS)
    expected = np.zeros(NUM_ROWS)
    for row, count in enumerate(counts):
        expected[row - count + 1 : row + 1] += 1 / count
    np.testing.assert_allclose(shares, expected, rtol=1e-14)


@pytest.mark.parametrize("window", [4, np.int32(4), None])
def test_shards_with_few_rows_or_none(window):
    num_shards, num_rows = 3, 4
    x = np.arange(1, num_shards * num_rows + 1, dtype=np.int32).reshape(num_shards, num_rows)
    call = on_shards(
        lambda x, num_valid: collective.windowed_reduce(
            x, window, "sum", axis_name="rows", num_valid=num_valid
        ),
        num_shards,
    )
    for name, counts in row_counts(num_shards, num_rows).items():
        actual = call(x, counts)
        sequence = valid_rows(x, counts)
        if not len(sequence):
            continue
        values, in_windows = windows_of(sequence, None if window is None else int(window), "sum")
        with noting(name):
            assert valid_rows(np.asarray(actual.values), counts).tolist() == values.tolist()
            assert valid_rows(np.asarray(actual.counts), counts).tolist() == in_windows.tolist()


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "bfloat16", "float32"])
def test_dtypes(dtype):
    x = (np.arange(NUM_ROWS) % 3).astype(jnp.dtype(dtype))
    for op in ("sum", "max", "mean"):
        for window in (3, np.int32(3)):
            actual = local.windowed_reduce(x, window, op)
            is_float = oracles.is_float(x.dtype)
            expected = x.dtype if op != "mean" or is_float else np.dtype(float)
            assert actual.values.dtype == (np.int32 if (op, dtype) == ("sum", "bool") else expected)
            assert_windows(actual, x, 3, op)


def test_extremes_of_floats_without_infinity():
    x = (np.arange(NUM_ROWS) % 3 - 1).astype(jnp.float8_e4m3fn)
    for op in ("max", "min"):
        actual = local.windowed_reduce(x, 3, op)
        expected = local.windowed_reduce(x.astype(np.float32), 3, op)
        assert actual.values.dtype == x.dtype
        assert actual.values.tolist() == expected.values.tolist()


@pytest.mark.parametrize("mesh_size", [None, 3])
@pytest.mark.parametrize("op", PAIR_OPS)
def test_pairs_of_columns(op, mesh_size):
    mesh = None if mesh_size is None else mesh_of(mesh_size)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(NUM_ROWS, 2)), rng.normal(size=NUM_ROWS)
    # Equal values have no correlation, and a column is itself correlated by exactly one.
    x[8:14, 0], x[:, 1] = 0.1, y
    mask = rng.random(NUM_ROWS) < 0.8
    call = jax.jit(
        lambda x, y, mask, window, ddof: primitives.windowed_reduce(
            (x[:, 0], x[:, 1]), window, op, mesh, other=y, where=mask, ddof=ddof
        ),
        static_argnums=4,
    )
    for window, ddof in ((5, 1), (11, 0)):
        actual = call(x, y, mask, np.int32(window), ddof)
        for column in range(2):
            pair = pd.DataFrame({"x": x[:, column], "y": y})[mask].reindex(range(NUM_ROWS))
            rolling = pair.x.rolling(window, min_periods=1)
            settings = {} if op == "corr" else {"ddof": ddof}
            expected = getattr(rolling, op)(pair.y, **settings).to_numpy()
            counts = pair.x.rolling(window, min_periods=1).count().to_numpy()
            expected = np.where(counts > (ddof if op == "cov" else 1), expected, np.nan)
            np.testing.assert_array_equal(actual.counts[column], counts)
            np.testing.assert_allclose(
                actual.values[column], expected, rtol=1e-12, atol=1e-14, equal_nan=True
            )
        if op == "corr":
            ones = np.asarray(actual.values[1])
            assert (ones[~np.isnan(ones)] == 1).all()


@pytest.mark.parametrize("mesh_size", [None, 3])
@pytest.mark.parametrize("op", OPS_OF_ONE)
def test_windows_of_given_bounds(op, mesh_size):
    mesh = None if mesh_size is None else mesh_of(mesh_size)
    rng = np.random.default_rng(0)
    x, mask = rng.normal(size=NUM_ROWS), rng.random(NUM_ROWS) < 0.7
    times, span = np.sort(rng.integers(0, 25, NUM_ROWS)), 6
    num_valid = 20
    # Spans before each row's time, with and without it; and around it.
    cases = ((-span, 0, "right"), (-span, 0, "left"), (-span // 2, span // 2, "right"))
    call = jax.jit(
        lambda first, last, heads, mask: primitives.windowed_reduce(
            x, local.WindowBounds(first, last, heads), op, mesh, where=mask, num_valid=num_valid,
            ddof=1,
        )
    )  # fmt: skip
    heads = np.append(True, np.diff(times // span) > 0)
    for start, end, side in cases:
        valid = times[:num_valid]
        first = np.searchsorted(valid, times + start, side)
        last = np.searchsorted(valid, times + end, side) - 1
        for flags in (mask, None):
            actual = call(first, last, heads, flags)
            rows = np.arange(NUM_ROWS)
            inside = (rows >= first[:, None]) & (rows <= last[:, None])
            inside &= np.ones(NUM_ROWS, bool) if flags is None else flags
            with noting((start, end, side, flags is None)):
                counts = inside.sum(axis=1)[:num_valid]
                np.testing.assert_array_equal(actual.counts[:num_valid], counts)
                if op == "count":
                    continue
                expected = [value_of(x, one, op, 1) for one in inside[:num_valid]]
                np.testing.assert_allclose(
                    actual.values[:num_valid], expected, rtol=1e-12, atol=1e-13
                )


def test_windows_of_given_bounds_that_end_with_their_own_row():
    x = np.arange(1.0, 9)
    first = np.array([0, 0, 1, 2, 3, 4, 5, 8])
    bounds = local.WindowBounds(first, None, np.arange(8) % 3 == 0)
    result = local.windowed_reduce(x, bounds, "sum")
    assert result.values.tolist() == [1, 3, 5, 7, 9, 11, 13, 0]
    assert result.counts.tolist() == [1, 2, 2, 2, 2, 2, 2, 0]


@pytest.mark.parametrize("mesh_size", [None, 3])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint32", "int64", "uint64"])
def test_bounds_outside_of_the_rows(dtype, mesh_size):
    limits = np.iinfo(dtype)
    first = np.array([limits.min, 0, limits.max, 4 if limits.bits < 64 else 2**32], dtype)
    last = np.array([1, limits.max, limits.max, 2], dtype)
    if dtype == "int64":
        # As int32 these would be zeros.
        first[0], last[1], last[3] = -(2**32), 2**32, -(2**32)
    bounds = local.WindowBounds(first, last, np.arange(4) == 0)
    mesh = None if mesh_size is None else mesh_of(mesh_size)
    result = primitives.windowed_reduce(np.arange(1.0, 5), bounds, "sum", mesh)
    assert result.values.tolist() == [3, 10, 0, 0]
    assert result.counts.tolist() == [2, 4, 0, 0]


def test_what_is_not_finite_stays_in_its_windows():
    x = np.array([1, 2, np.nan, 3, np.inf, 4, 5, 6.0])
    for window in (2, np.int32(2)):
        sums = local.windowed_reduce(x, window, "sum").values
        np.testing.assert_array_equal(sums, [1, 3, np.nan, np.nan, np.inf, np.inf, 9, 11])
        least = local.windowed_reduce(x, window, "min").values
        np.testing.assert_array_equal(least, [1, 1, np.nan, np.nan, 3, 4, 4, 5])
    variances = local.windowed_reduce(x, np.int32(2), "var").values
    assert np.isnan(variances).tolist() == [False, False, True, True, True, True, False, False]


@pytest.mark.parametrize("mesh_size", [None, 3])
def test_variances_that_overflow_are_infinite(mesh_size):
    mesh = None if mesh_size is None else mesh_of(mesh_size)
    x = np.array([0.0, 1e200, -1e200, 1.5, 2.5, 6.5])
    with np.errstate(over="ignore"):
        expected = [x[max(row - 1, 0) : row + 1].var() for row in range(len(x))]
    assert expected == [0, np.inf, np.inf, np.inf, 0.25, 4]
    for window in (2, np.int32(2)):
        assert primitives.windowed_reduce(x, window, "var", mesh).values.tolist() == expected
    found = primitives.windowed_reduce(x, 2, "cov", mesh, other=x)
    assert found.values.tolist() == expected


def test_columns_with_masks_of_their_own():
    rng = np.random.default_rng(0)
    x = {"a": rng.normal(size=(12, 2)), "b": rng.normal(size=12)}
    mask = rng.random(12) < 0.5
    for mesh in (None, mesh_of(3)):
        actual = primitives.windowed_reduce(x, 3, "sum", mesh, where={"a": mask, "b": None})
        for column in range(2):
            one = primitives.Windowed(actual.values["a"][:, column], actual.counts["a"])
            assert_windows(one, x["a"][:, column], 3, "sum", mask=mask)
        assert_windows(
            primitives.Windowed(actual.values["b"], actual.counts["b"]), x["b"], 3, "sum"
        )


@pytest.mark.parametrize("num_rows", [0, 1])
def test_hardly_any_rows(num_rows):
    x = np.full(num_rows, 2.5)
    for mesh in (None, mesh_of(3)):
        for window in (2, np.int32(2), None):
            result = primitives.windowed_reduce(x, window, "mean", mesh)
            assert result.values.tolist() == [2.5] * num_rows
            assert result.counts.tolist() == [1] * num_rows


def test_long_windows_share_a_program():
    x = np.arange(8.0)
    local.windowed_reduce(x, 20, "max")
    known = num_signatures(local._windowed_reduce._windowed_reduce)
    for window in (17, 30, 2**40):
        local.windowed_reduce(x, window, "max")
    assert num_signatures(local._windowed_reduce._windowed_reduce) == known
    local.windowed_reduce(x, 5, "max")
    assert num_signatures(local._windowed_reduce._windowed_reduce) == known + 1


@pytest.mark.usefixtures("x64_off")
def test_without_x64():
    x = np.arange(9, dtype=np.int32)
    result = primitives.windowed_reduce(x, 4, "mean", mesh_of(2))
    assert result.values.dtype == np.float32
    assert_windows(result, x, 4, "mean")
    in_segments = primitives.windowed_reduce(x, np.int32(4), "sum", mesh_of(2), segment_ids=x // 5)
    assert in_segments.values.dtype == np.int32
    assert_windows(in_segments, x, 4, "sum", segment_ids=x // 5)


@pytest.mark.parametrize(
    ("window", "op", "settings", "error", "message"),
    [
        (
            3,
            "median",
            {},
            ValueError,
            "windowed_reduce: op must be one of 'sum', 'prod', 'min', 'max', 'count', 'mean', "
            "'var', 'std', 'skew', 'kurt', 'cov', 'corr', got 'median'.",
        ),
        (
            -1,
            "sum",
            {},
            ValueError,
            "windowed_reduce: window must be at least 0, got -1.",
        ),
        (
            jnp.ones(2, jnp.int32),
            "sum",
            {},
            TypeError,
            "windowed_reduce: window must be an integer scalar, got int32[2].",
        ),
        (
            3,
            "sum",
            {"head_flags": np.ones(3, bool), "segment_ids": np.zeros(3, np.int32)},
            ValueError,
            "windowed_reduce: segments are given by head_flags or by segment_ids, got both.",
        ),
        (
            3,
            "sum",
            {"segment_ids": np.zeros(2, np.int32)},
            ValueError,
            "windowed_reduce: segment_ids must have one entry for each of the 3 rows, "
            "got int32[2].",
        ),
        (
            3,
            "cov",
            {},
            ValueError,
            "windowed_reduce: 'cov' needs the second column, other. Pass an array.",
        ),
        (
            3,
            "sum",
            {"other": np.ones(3)},
            ValueError,
            "windowed_reduce: other is for 'cov' and 'corr', got it for 'sum'.",
        ),
        (
            3,
            "corr",
            {"other": np.ones((3, 2))},
            ValueError,
            "windowed_reduce: other must broadcast against x, got float64[3,2] and float64[3].",
        ),
        (
            BOUNDS,
            "sum",
            {"offset": 1},
            ValueError,
            "windowed_reduce: WindowBounds take no offset, got 1.",
        ),
        (
            BOUNDS,
            "sum",
            {"head_flags": np.ones(3, bool)},
            ValueError,
            "windowed_reduce: WindowBounds take no segments, got head_flags or segment_ids. Let "
            "the bounds and the blocks stop at their ends.",
        ),
        (
            BOUNDS._replace(first=np.zeros(2, np.int32)),
            "sum",
            {},
            TypeError,
            "windowed_reduce: first must be integers of shape (3,), got int32[2].",
        ),
        (
            BOUNDS._replace(block_heads=np.zeros(3, np.int32)),
            "sum",
            {},
            TypeError,
            "windowed_reduce: block_heads must be bools of shape (3,), got int32[3].",
        ),
    ],
)
@pytest.mark.checks_arguments
def test_errors(window, op, settings, error, message):
    for mesh in (None, mesh_of(2)):
        with pytest.raises(error) as raised:
            primitives.windowed_reduce(np.ones(3), window, op, mesh, **settings)
        assert str(raised.value) == message
