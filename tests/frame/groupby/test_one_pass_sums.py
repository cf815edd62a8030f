# SPDX-License-Identifier: Apache-2.0
import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same
from jaxframes.frame import JaxFrame
from jaxframes.frame.groupby import _base, _groups
from jaxframes.frame.table import _defer, _map_program
from jaxframes.primitives import _eager_reduction
from on_platforms import ACCELERATORS, traced_as

ULPS = 256


@pytest.fixture(autouse=True)
def one_pass_for_few_rows(monkeypatch):
    monkeypatch.setattr(_base, "LEAST_ROWS", 64)


@pytest.mark.parametrize("how", [{"by": "k"}, {"by": ["c", "s"], "dropna": False}, {"by": "s"}])
def test_one_pass_matches_pandas(how):
    def sums(f):
        grouped = f.groupby(**how)
        return (
            grouped[["i", "x", "b"]].agg(["sum", "mean", "count", "size"]),
            f.groupby(**how)[["i", "x"]].mean(),
            f.groupby(**how).x.count(),
            grouped.x.max(),
        )

    assert_parity(sums, mixed_frame(), ways=["eager"], ulps=ULPS)


def test_nan_is_found_in_the_sums():
    k = np.array([3, 1, 3, 2, 1, 2])
    for x in (
        [1.0, 2, 4, 8, 16, 32],
        [1, np.nan, 4, 8, 16, 32],
        [np.inf, np.nan, -np.inf, 1, 2, 3],
    ):
        frame = pd.DataFrame({"k": k, "x": np.array(x)})
        for op in ("sum", "mean", "count"):
            actual = getattr(JaxFrame(frame).groupby("k").x, op)().to_pandas()
            pd.testing.assert_series_equal(actual, getattr(frame.groupby("k").x, op)())


@pytest.fixture
def written(monkeypatch):
    """The number of operations that were computed for themselves."""
    monkeypatch.setattr(_defer, "LEAST_MAPPED", 0)
    computed, found = _map_program._computed, []

    def counted(leaves, zero, steps, outputs):
        found.append(steps)
        return computed(leaves, zero, steps, outputs)

    monkeypatch.setattr(_map_program, "_computed", counted)
    return found


def moments(frame, by, sort):
    """Sums of products, as for variances and correlations."""
    frame = frame.assign(
        n=1, half=0.5, t=True, xx=frame.x * frame.x, ix=frame.i * frame.x,
        ii=frame.i * frame.i, ff=frame.f * frame.f, three=frame.i * 3, sum=frame.i + frame.i,
    )  # fmt: skip
    return frame.groupby(by, sort=sort)


@pytest.mark.parametrize("sort", [False, True])
@pytest.mark.parametrize("by", ["k", ["k", "c"], ["x", "c"]])
@pytest.mark.parametrize("op", ["sum", "mean", "count"])
def test_products_and_constants(by, op, sort, written):
    rng = np.random.default_rng(0)
    num_rows = 500
    frame = pd.DataFrame(
        {
            "k": rng.integers(0, 9, num_rows),
            "c": rng.integers(0, 2, num_rows),
            "i": rng.integers(-(2**62), 2**62, num_rows),
            "x": rng.normal(size=num_rows).round(1),
            "f": rng.normal(size=num_rows).astype(np.float32),
        }
    )
    for with_nan in (False, True):
        if with_nan:
            frame.loc[::50, ["x", "f"]] = np.nan
        actual = getattr(moments(JaxFrame(frame), by, sort), op)().to_pandas()
        expected = getattr(moments(frame, by, sort), op)()
        pd.testing.assert_frame_equal(actual, expected, rtol=1e-5)
        integers = expected.select_dtypes("integer")
        pd.testing.assert_frame_equal(actual[integers.columns], integers, check_exact=True)


@pytest.mark.parametrize("sort", [False, True])
def test_products_of_two_columns_are_not_written(sort, written):
    frame = JaxFrame({"k": np.arange(500) % 7, "i": np.arange(500), "x": np.arange(500) / 3})
    products = frame.assign(n=1, ii=frame.i * frame.i, ik=frame.i * frame.k, xx=frame.x * frame.x)
    grouped = products.groupby("k", sort=sort)
    exact = grouped[["n", "ii", "ik", "xx"]].sum().to_pandas()
    assert not written
    again = JaxFrame(products.to_pandas()).groupby("k", sort=sort)[["n", "ii", "ik", "xx"]].sum()
    assert written
    pd.testing.assert_frame_equal(exact, again.to_pandas(), check_exact=True)


@pytest.mark.parametrize("sort", [False, True])
@pytest.mark.parametrize("share", [0.9, 0.3])
def test_products_of_selected_rows(sort, share, monkeypatch):
    monkeypatch.setattr(_defer, "LEAST_MAPPED", 0)
    monkeypatch.setattr(_defer, "LEAST_SELECTED", 0)
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"k": rng.integers(0, 9, 2000), "x": rng.normal(size=2000)})
    frame["i"] = rng.integers(-99, 99, 2000)

    def sums(f):
        rows = f[f.i < -99 + 198 * share]
        rows = rows.assign(n=1, ii=rows.i * rows.i, ix=rows.i * rows.x, xx=rows.x * rows.x)
        return rows.groupby("k", sort=sort).sum()

    assert_parity(sums, frame, ways=["eager"], ulps=ULPS)


def test_segment_ids_are_computed_on_demand():
    grouped = JaxFrame(mixed_frame()[["k", "i"]]).groupby("k")
    grouped.sum()
    frame = mixed_frame()[["k", "i"]]
    pd.testing.assert_frame_equal(
        grouped.cumsum().to_pandas(), frame.groupby("k").cumsum(), check_exact=True
    )


def test_the_range_of_a_key_is_that_of_its_rows():
    # Arrays that share a buffer but differ in length have their own ranges.
    frame = JaxFrame({"k": np.array([5, 6, 7, 100]), "x": np.arange(4)})
    assert frame[:3].groupby("k").x.sum().tolist() == [0, 1, 2]
    assert frame.groupby("k").x.sum().tolist() == [0, 1, 2, 3]
    assert frame.groupby("k").x.sum().tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("how", [{}, {"sort": False}, {"dropna": False}, {"observed": False}])
def test_one_pass_by_numbers_of_keys(how):
    spread = mixed_frame()
    spread["far"] = spread.i.astype("int64") * 2**40

    def sums(f):
        grouped = f.groupby("far", **how)
        return (
            grouped[["i", "x", "b"]].agg(["sum", "mean", "count", "size"]),
            grouped.x.mean(),
            f.groupby(["far", "x"], **how).i.sum(),
            f.groupby("x", **how)[["i", "x"]].sum(),
        )

    assert_parity(sums, spread, ways=["eager"], ulps=ULPS)


def spread_keys(num_rows=4096, num_keys=50, dtype=np.int64):
    """Few distinct keys over the range of int64, in random order."""
    rng = np.random.default_rng(2)
    info = np.iinfo(dtype)
    values = rng.integers(info.min, info.max, num_keys, dtype=dtype, endpoint=True)
    return values[rng.integers(0, num_keys, num_rows)]


def numbers(num_rows, dtype):
    """Numbers whose sum depends on the order of summation."""
    rng = np.random.default_rng(3)
    if np.dtype(dtype).kind == "f":
        return (rng.standard_normal(num_rows) * 2.0 ** rng.integers(-9, 10, num_rows)).astype(dtype)
    return rng.integers(0, 2, num_rows).astype(dtype)


@pytest.fixture
def found_together(monkeypatch):
    """Records for each call whether groups and sums were computed together."""
    tries = []
    sums_by_key = _base.sums_by_key

    def noted(*args):
        found = sums_by_key(*args)
        tries.append(found is not None)
        return found

    monkeypatch.setattr(_base, "sums_by_key", noted)
    return tries


def one_after_the_other(monkeypatch):
    monkeypatch.setattr(_base, "sums_by_key", lambda *args: None)


@pytest.mark.parametrize("key_dtype", [np.int64, np.uint64, np.int32])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint64", "int8", "bool"])
def test_groups_and_sums_are_found_together(key_dtype, dtype, found_together, monkeypatch):
    keys = spread_keys(dtype=key_dtype)
    frame = pd.DataFrame({"k": keys, "x": numbers(len(keys), dtype)})
    jax_frame = JaxFrame(frame)
    together = jax_frame.groupby("k").x.sum().to_pandas()
    assert found_together == [True]
    one_after_the_other(monkeypatch)
    apart = jax_frame.groupby("k").x.sum().to_pandas()
    pd.testing.assert_series_equal(together, apart, check_exact=True)
    # pandas sums with compensation, and returns narrow integers in their own dtype.
    expected = frame.groupby("k").x.sum()
    pd.testing.assert_series_equal(together, expected, rtol=1e-5, check_dtype=dtype != "int8")


def test_nan_of_keys_all_over():
    keys = spread_keys(128, 5)
    x = numbers(128, float)
    for places, special in (([], 0), ([3, 77], np.nan), ([3, 4, 5, 6], np.inf)):
        x[places] = special
        x[[place + 1 for place in places]] = -special
        frame = pd.DataFrame({"k": keys, "x": x})
        frame.loc[frame.k == keys[9], "x"] = np.nan
        assert_parity(lambda f: f.groupby("k").x.sum(), frame, ways=["eager"], ulps=ULPS)
        assert_parity(lambda f: f.groupby("k")[["x"]].sum(), frame, ways=["eager"], ulps=ULPS)


def test_what_is_asked_after_a_sum(found_together):
    keys = spread_keys()
    frame = pd.DataFrame({"k": keys, "x": numbers(len(keys), float), "i": np.arange(len(keys))})

    def after_a_sum(f):
        grouped = f.groupby("k")
        return (
            grouped.i.sum(),
            grouped.i.max(),
            grouped.size(),
            grouped.i.sum(),
            grouped.i.cumsum(),
            grouped[["x", "i"]].mean(),
            f.groupby("k", as_index=False).i.sum(),
            f[f.i < 3000].groupby("k").i.sum(),
            f.groupby("k").agg(total=("i", "sum")),
        )

    assert_parity(after_a_sum, frame, ways=["eager"], ulps=ULPS)
    assert found_together
    assert all(found_together)


@pytest.mark.parametrize(
    "ask",
    [
        lambda f: f.groupby("k").x.mean(),
        lambda f: f.groupby("k").x.count(),
        lambda f: f.groupby("k").size(),
        lambda f: f.groupby("k")[["x", "i"]].agg(["sum", "mean", "count"]),
        lambda f: f.groupby(["k", "i"]).x.sum(),
        lambda f: f.groupby("x").i.sum(),
        lambda f: f.groupby(["zero", "i"]).x.sum(),
        lambda f: f.groupby("far").x.sum(),
    ],
)
def test_groups_are_found_with_sums_of_any_keys(ask, found_together):
    keys = spread_keys()
    frame = pd.DataFrame({"k": keys, "x": numbers(len(keys), float), "i": np.arange(len(keys)) % 7})
    frame.loc[5:9, "x"] = np.nan
    frame["zero"] = np.where(frame.i % 2, -0.0, 0.0)
    # Almost all keys are distinct.
    frame["far"] = spread_keys(num_keys=100_000)
    assert_parity(ask, frame, ways=["eager"], ulps=ULPS)
    assert all(found_together)


@pytest.mark.parametrize("dropna", [True, False])
@pytest.mark.parametrize("by", ["c", "t", "m", ["t", "y", "s"]])
def test_missing_keys_and_groups_of_rows(by, dropna):
    frame = mixed_frame()
    rng = np.random.default_rng(7)
    num_rows = len(frame)
    frame["t"] = pd.to_datetime(rng.integers(0, 5, num_rows), unit="D")
    frame.loc[rng.random(num_rows) < 0.2, "t"] = pd.NaT
    frame["m"] = pd.array(rng.integers(0, 4, num_rows), "Int64")
    frame["m"] = frame.m.astype(float).where(rng.random(num_rows) < 0.8)
    frame["y"] = np.where(rng.random(num_rows) < 0.3, np.nan, rng.integers(0, 3, num_rows) / 4)

    def after_a_sum(f):
        grouped = f.groupby(by, dropna=dropna)
        return grouped[["i", "x"]].sum(), grouped.x.count(), grouped.i.cumsum(), grouped.i.max()

    assert_parity(after_a_sum, frame, ways=["eager"], ulps=ULPS)


def test_integer_keys_with_a_mask():
    joined = pd.DataFrame({"a": np.arange(200) % 7, "x": np.arange(200.0)})
    other = pd.DataFrame({"a": [0, 2, 5], "key": [9, 4, 9]})

    def sums_of(f, g):
        merged = f.merge(g, on="a", how="left")
        grouped = merged.groupby("key")
        return grouped.x.sum(), grouped.x.cumsum(), merged.groupby("key", dropna=False).x.sum()

    actual = sums_of(JaxFrame(joined), JaxFrame(other))
    for found, expected in zip(actual, sums_of(joined, other), strict=True):
        pd.testing.assert_series_equal(found.to_pandas(), expected)


@pytest.mark.parametrize("last", [69_999, 65_536, 3])
def test_groups_that_show_late_are_found(last):
    k = np.tile(np.array([7 << 40, -(1 << 50)]), 35_000)
    k[last] = 1
    frame = pd.DataFrame({"k": k, "x": np.arange(70_000)})
    assert_parity(lambda f: f.groupby("k", sort=False).x.sum(), frame, ways=["eager"])
    assert_parity(lambda f: f.groupby("k").x.first(), frame, ways=["eager"])
    small = frame.assign(k=k // 2**40)
    assert_parity(lambda f: f.groupby("k", sort=False).x.sum(), small, ways=["eager"])


def key_examples():
    rng = np.random.default_rng(5)
    number = rng.integers(0, 12, 2000)
    late = np.where(np.arange(2000) < 1900, 3, number)
    strings = pd.Series(rng.choice(["b", "a", "d", "c"], 2000), dtype="str")
    strings[::9] = None
    return {
        "int64": number - 2**62,
        "int32": (number + 2**31 - 20).astype(np.int32),
        "late": late,
        "one": np.full(2000, 7),
        "strings": strings,
        "category": pd.Categorical(strings, categories=["d", "unused", "a", "b", "c"]),
        "bool": number > 5,
        "int8": (number - 3).astype(np.int8),
        "uint64": number.astype(np.uint64) + np.uint64(2**63),
        "float": np.where(number > 2, number / 2, np.nan),
        "spread": number * 2**40,
    }


@pytest.mark.parametrize("key", list(key_examples()))
@pytest.mark.parametrize("dropna", [True, False])
@pytest.mark.parametrize("others", [[], ["small"]])
def test_sums_in_the_order_of_the_first_rows(key, dropna, others, monkeypatch):
    monkeypatch.setattr(_eager_reduction, "LEAST_SEARCHED", 100)
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({"k": key_examples()[key]})
    frame["i"] = rng.integers(-(2**40), 2**40, len(frame))
    frame["small"] = rng.integers(-3, 0, len(frame))
    frame["x"] = rng.normal(size=len(frame))
    frame.loc[::50, "x"] = np.nan

    def sums(f):
        grouped = f.groupby(["k", *others], sort=False, dropna=dropna, observed=True)
        first = grouped[["i", "x"]].agg(["sum", "mean", "count", "size"])
        # Computed from the groups that were found with the sums.
        return first, grouped.i.max(), grouped.i.cumsum(), grouped[["x"]].sum(), grouped.ngroup()

    assert_parity(sums, frame, ways=["eager"], ulps=ULPS)
    filtered = frame[frame.i > 0].reset_index(drop=True)
    assert_parity(sums, filtered, ways=["eager"], ulps=ULPS)


def test_no_segment_ids_are_written_for_one_dense_key(monkeypatch):
    monkeypatch.setattr(_eager_reduction, "index_numbers", pytest.fail)
    monkeypatch.setattr(_groups, "make_groups", pytest.fail)
    frame = JaxFrame({"k": np.arange(2000)[::-1] % 7, "x": np.arange(2000)})
    grouped = frame.groupby("k", sort=False)
    assert grouped.x.sum().index.tolist() == [4, 3, 2, 1, 0, 6, 5]


def _keyed(num_rows):
    rng = np.random.default_rng(3)
    floats = np.where(rng.random(num_rows) < 0.2, np.nan, rng.integers(-8, 8, num_rows) / 4)
    return pd.DataFrame(
        {
            "k": rng.integers(-3, 5, num_rows).astype(np.int32),
            "b": rng.random(num_rows) < 0.5,
            "x": floats.astype(np.float32),
            "i": rng.integers(-9, 9, num_rows),
            "n": pd.array(np.where(rng.random(num_rows) < 0.3, None, 7), "Int64"),
        }
    )


@pytest.mark.parametrize("num_rows", [0, 1, 57])
@pytest.mark.parametrize("platform", ACCELERATORS)
def test_programs_for_accelerators_reduce_by_key(platform, num_rows):
    def reduced(f):
        both = f.groupby(["b", "k"], as_index=False)
        few = f.groupby("k", sort=False)
        return (
            f.groupby("k")[["x", "i", "n"]].sum(),
            f.groupby("k", dropna=False)[["x", "i", "n"]].mean(),
            f.groupby("b")[["x", "n"]].count(),
            f.groupby("k").size(),
            both.agg({"x": "sum", "i": "mean"}),
            # The third reads the group of each row, and the last one too.
            few.x.sum(),
            few.i.mean(),
            few.x.median(),
            few.x.count(),
        )

    frame = _keyed(num_rows)
    results = traced_as(platform, reduced)(JaxFrame(frame))
    for actual, expected in zip(results, reduced(frame), strict=True):
        assert_same(actual, expected)


def test_too_many_groups_by_key_are_told():
    frame = JaxFrame({"k": np.arange(100), "x": np.ones(100)})
    few = traced_as("tpu", lambda f: f.groupby("k", capacity=64).x.sum())(frame)
    with pytest.raises(ValueError, match="100"):
        few.to_pandas()


def test_gradients_of_sums_by_key():
    frame = JaxFrame({"k": np.array([2, 1, 2, 1]), "x": np.array([1.0, 2.0, 3.0, 4.0])})

    def loss(x):
        sums = frame.assign(x=x).groupby("k").x.sum().to_jax()
        return sums[0] * 10 + sums[1] ** 2

    gradient = traced_as("cuda", jax.grad(loss))(np.array([1.0, 2.0, 3.0, 4.0]))
    assert gradient.tolist() == [8, 10, 8, 10]
