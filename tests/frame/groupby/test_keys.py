# SPDX-License-Identifier: Apache-2.0
import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import complexes, mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device

WAYS_TO_GROUP = (
    {},
    {"sort": False},
    {"dropna": False},
    {"dropna": False, "sort": False},
    {"as_index": False},
)


@pytest.mark.parametrize("key", ["k", "y", "b", "s", "t"])
def test_each_kind_of_key(key):
    assert_parity(
        lambda f: tuple(f.groupby(key, **how)["i"].sum() for how in WAYS_TO_GROUP),
        mixed_frame(),
        ways=["eager"],
    )


@pytest.mark.parametrize("keys", [["b", "c"], ["y", "s", "t"]])
def test_several_keys(keys):
    assert_parity(
        lambda f: tuple(f.groupby(keys, **how)["i"].sum() for how in WAYS_TO_GROUP),
        mixed_frame(),
        ways=["eager"],
    )


@pytest.mark.parametrize("dtype", ["Float64", "Float32", "double[pyarrow]"])
def test_several_keys_of_nullable_floats_keep_their_dtype(dtype):
    frame = pd.DataFrame(
        {"k": [1, 1, 2, 1], "x": pd.array([5, None, 3, 5], dtype), "i": [1, 2, 3, 4]}
    )

    def grouped(f):
        return (
            f.groupby(["k", "x"])["i"].sum(),
            f.groupby(["x", "k"], dropna=False, as_index=False)["i"].sum(),
        )

    expected = grouped(frame)
    ours = on_device(frame)
    assert_same(grouped(ours), expected)
    assert_same(jax.jit(grouped)(ours), expected)
    for plan, one in zip(grouped(ours.lazy()), expected, strict=True):
        assert_same(plan.collect(batch_rows=2), one)
    assert_same(
        ours.pivot_table(index="k", columns="x", values="i", aggfunc="sum"),
        frame.pivot_table(index="k", columns="x", values="i", aggfunc="sum"),
    )


def test_keys_inside_jit():
    def sums(f):
        return (
            f.groupby("k").i.sum(),
            f.groupby("s", dropna=False, as_index=False).i.sum(),
            f.groupby(["y", "c"], sort=False).i.sum(),
        )

    assert_parity(sums, mixed_frame(), ways=["jit"])


def test_keys_on_a_mesh():
    assert_parity(
        lambda f: (f.groupby("k").i.sum(), f.groupby(["y", "c"], sort=False).i.sum()),
        mixed_frame(),
        ways=["mesh"],
    )


@pytest.mark.parametrize("num_groups", [40, 900])
def test_few_groups_and_nearly_as_many_as_rows(num_groups):
    rng = np.random.default_rng(num_groups)
    values = rng.normal(size=num_groups)
    values[0] = np.nan
    keys = rng.permutation(np.resize(values, 1_000))
    frame = pd.DataFrame({"k": keys, "i": np.arange(1_000)})

    def reduced(f):
        sums = tuple(f.groupby("k", **how)["i"].sum() for how in WAYS_TO_GROUP)
        return *sums, f.groupby(["k", f["i"] % 2], sort=False)["i"].max()

    assert_parity(reduced, frame, ways=["eager"])


@pytest.mark.parametrize("keys", [["c", "k"]])
def test_categories_that_no_row_has(keys):
    def reduced(f):
        grouped = f.groupby(keys, observed=False)[["i", "x"]]
        return grouped.agg(["sum", "min", "count"])

    assert_parity(reduced, mixed_frame(), ways=["eager"], ulps=8)


def test_a_series_is_the_column_that_it_came_from():
    frame = mixed_frame()[["k", "i", "x"]]
    other = frame.k.to_numpy() % 2
    assert_parity(
        lambda f: (
            f.groupby(f["k"]).sum(),
            f.groupby(f["k"] + 1).sum(),
            f.groupby([f["k"], "i"]).sum(),
            f.groupby(f["i"] % 3, as_index=False).sum(),
            f["x"].groupby(f["k"]).sum(),
        ),
        frame,
        ulps=8,
    )
    assert_parity(lambda f: f.groupby(other).sum(), frame, ways=["eager"], ulps=8)


def test_levels_of_the_index():
    frame = mixed_frame()[["k", "s", "i"]].set_index("k")
    assert_parity(
        lambda f: (
            f[["i"]].groupby("k").sum(),
            f[["i"]].groupby(level=0).sum(),
            f.i.groupby(level="k").sum(),
        ),
        frame,
        ways=["eager"],
    )


@pytest.mark.parametrize(
    "values", [[5, 7], ["k", "b"], [True, False], [1.5, np.nan], [pd.Timestamp(0), pd.NaT], [0, 1]]
)
def test_a_list_with_a_value_for_each_row(values):
    def sums(f):
        return f.groupby(values * 4).sum(), f.groupby(values * 4, as_index=False).i.max()

    frame = mixed_frame()[["k", "i"]][:8]
    assert_parity(sums, frame, ways=["eager"])
    assert_parity(lambda f: f.i.groupby(values * 4).sum(), frame, ways=["eager"])
    for wrong in (values * 3, tuple(values * 4)):
        assert_same_error(lambda f, wrong=wrong: f.groupby(wrong), frame)
        assert_same_error(lambda f, wrong=wrong: f.i.groupby(wrong), frame)


def test_a_list_with_a_name_for_each_row():
    frame = mixed_frame()[["k", "i", "x"]][:2].rename_axis("n")
    assert_parity(lambda f: f.groupby(["k", "n"]).sum(), frame, ways=["eager"])


def test_wide_integers_and_negative_ones():
    frame = pd.DataFrame({"k": np.array([2**62, -5, 2**62, -(2**62), -5]), "x": np.arange(5)})
    assert_parity(lambda f: f.groupby("k").sum(), frame, ways=["eager"])
    narrow = frame.assign(k=np.array([-128, 127, -128, 0, 127], np.int8))
    assert_parity(lambda f: f.groupby(["k", "x"]).sum(), narrow, ways=["eager"])


@pytest.mark.parametrize(
    ("dtype", "ends", "num_rows"),
    [("int8", (-128, 127), 400), ("int16", (-20_000, 20_000), 20_000)],
)
def test_narrow_integers_farther_apart_than_their_dtype_holds(dtype, ends, num_rows):
    keys = np.resize(np.array([*ends, 0, ends[1]], dtype), num_rows)
    frame = pd.DataFrame({"k": keys, "i": np.arange(num_rows)})

    def sums(f):
        return (
            f.groupby("k").sum(),
            f.groupby("k", sort=False).sum(),
            f.groupby(["k", f["i"] % 2]).sum(),
            f.groupby("k").i.transform("max"),
        )

    assert_parity(sums, frame, ways=["eager"])


@pytest.mark.parametrize("num_rows", [0, 1])
def test_few_rows(num_rows):
    def sums(f):
        return f.groupby("k").i.sum(), f.groupby("x").i.sum(), f.groupby("s").size()

    assert_parity(sums, mixed_frame()[:num_rows], ways=["eager"])


def test_all_keys_missing():
    frame = pd.DataFrame({"k": [np.nan, np.nan], "s": pd.array([None, None], "str"), "x": [1, 2]})
    assert_parity(
        lambda f: (f.groupby("k").x.sum(), f.groupby("s").x.sum(), f.groupby(["k", "s"]).size()),
        frame,
        ways=["eager"],
    )


def test_selection():
    frame = mixed_frame()[["k", "i", "x"]]
    assert_parity(
        lambda f: (
            f.groupby("k")[["x", "i"]].sum(),
            f.groupby("k")["x"].sum(),
            f.groupby("k").i.sum(),
            f.groupby("k")["k"].sum(),
        ),
        frame,
        ways=["eager"],
        ulps=8,
    )


def test_wrong_arguments_are_pandas_errors():
    frame = mixed_frame()[["k", "s", "i"]]
    assert "bogus" in assert_same_error(lambda f: f.groupby("bogus"), frame)
    assert "bogus" in assert_same_error(lambda f: f.groupby(["k", "bogus"]), frame)
    assert_same_error(lambda f: f.groupby(), frame)
    assert_same_error(lambda f: f.groupby([]), frame)
    assert_same_error(lambda f: f.groupby([None]), frame)
    assert "ambiguous" in assert_same_error(lambda f: f.groupby("k"), frame.rename_axis("k"))
    assert_same_error(lambda f: f.groupby(level=3), frame)
    assert "bogus" in assert_same_error(lambda f: f.groupby("k")["bogus"], frame)
    assert "bogus" in assert_same_error(lambda f: f.groupby("k")[["i", "bogus"]], frame)
    assert "bogus" in assert_same_error(lambda f: f.groupby("k").bogus, frame)
    assert_same_error(lambda f: f.groupby("k")["i", "s"], frame)
    assert_same_error(lambda f: f.i.groupby(f.k, as_index=False), frame)


def test_complex_keys():
    def sums(f):
        return (
            f.groupby("z", sort=False).k.sum(),
            f.groupby(["k", "z"], dropna=False).k.sum(),
        )

    assert_parity(sums, complexes(), ways=["eager"])
    assert_parity(lambda f: f.groupby("z").k.sum(), complexes(), ways=["mesh"])


@pytest.mark.parametrize("dropna", [True, False])
@pytest.mark.parametrize("sort", [True, False])
def test_keys_that_are_packed_into_one(sort, dropna):
    # Far more combinations than rows, so that the group ids are no digits.
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "i": rng.integers(-900, 900, 80).repeat(2),
            "s": rng.choice([f"s{number}" for number in range(60)], 80).repeat(2),
            "b": rng.random(160) < 0.5,
            "n": rng.integers(0, 255, 80, np.uint8).repeat(2),
            "x": rng.normal(size=160).round(2),
        }
    )
    keys = ["i", "s", "b", "n"]

    def sums(f):
        return f.groupby(keys, sort=sort, dropna=dropna).x.agg(["count", "max"])

    assert_parity(sums, frame, ways=["eager"])
    frame.loc[::7, "s"] = None
    assert_parity(sums, frame, ways=["eager"])
    assert_parity(lambda f: f.groupby("i", sort=sort).x.max(), frame, ways=["eager"])


@pytest.mark.parametrize("sort", [True, False])
@pytest.mark.parametrize("far", ["multiples", "int32", "uint64"])
def test_keys_of_a_wide_range_that_are_packed_into_one(far, sort):
    rng = np.random.default_rng(0)
    number = rng.integers(0, 12, 300)
    keys = {
        "multiples": number * 2**40,
        "int32": np.where(number > 5, number - 2**31, 2**31 - number - 1).astype(np.int32),
        "uint64": number.astype(np.uint64) * np.uint64(2**50) + np.uint64(2**63),
    }
    frame = pd.DataFrame({"k": keys[far], "i": rng.integers(-3, 0, 300), "x": rng.normal(size=300)})
    assert_parity(lambda f: f.groupby(["k", "i"], sort=sort).x.max(), frame, ways=["eager"])
    assert_parity(lambda f: f.groupby(["i", "k"], sort=sort).x.max(), frame, ways=["eager"])


@pytest.mark.parametrize("values", [[3, None, 1, 3], ["b", None, "a", "b"]])
def test_a_single_grouper_has_its_own_flags(values):
    frame = pd.DataFrame({"k": values, "v": [1, 2, 3, 4]})
    for flags in ({}, {"dropna": False}):
        key = pd.Grouper(key="k", **flags)
        assert_parity(
            lambda f, key=key: (
                f.groupby(key).sum(),
                f.groupby(key, sort=False, dropna=False).sum(),
                f.groupby([key]).sum(),
                f.groupby([key], dropna=False).sum(),
            ),
            frame,
            ways=["eager"],
        )


def test_columns_are_chosen_by_an_index_or_an_array():
    frame = pd.DataFrame({"k": [1, 1, 2], "x": [1.0, 2, 3], "y": [5, 6, 7]})
    for chosen in (pd.Index(["x", "y"]), np.array(["y"]), frame.columns[1:]):
        assert_parity(lambda f, by=chosen: f.groupby("k")[by].sum(), frame, ways=["eager"])


def test_categories_of_pandas_are_keys():
    kinds = pd.Categorical(["p", "q", "p"], categories=["q", "p", "r"])
    frame = pd.DataFrame({"k": [1, 1, 2], "x": [1.0, 2, 3]})
    assert_parity(
        lambda f: (
            f.groupby(kinds, observed=False).x.sum(),
            f.groupby(kinds, observed=True).x.sum(),
            f.groupby([kinds, "k"], observed=True).x.count(),
            f.x.groupby(kinds.codes).max(),
        ),
        frame,
        ways=["eager"],
    )


def test_the_length_is_the_number_of_groups():
    frame = pd.DataFrame({"k": [1, 1, None], "x": [1.0, 2, 3]})
    for options in ({}, {"dropna": False}):
        expected = len(frame.groupby("k", **options))
        assert len(on_device(frame).groupby("k", **options)) == expected
        assert len(on_device(frame).groupby("k", **options).x) == expected
