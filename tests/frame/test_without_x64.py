# SPDX-License-Identifier: Apache-2.0
"""32-bit frames without x64 mode, JAX's default."""

import jax
import jaxframes.frame
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_same
from jaxframes.frame import JaxFrame, JaxSeries

pytestmark = pytest.mark.usefixtures("x64_off")


def narrow_frame():
    frame = mixed_frame()[["k", "i", "f", "b", "s", "c"]]
    return frame.astype({"k": "int32", "i": "int32"})


def in_32_bits(expected):
    """pandas' result, cast to the 32-bit dtypes of the device."""
    if isinstance(expected, tuple):
        return tuple(map(in_32_bits, expected))
    if isinstance(expected, pd.DataFrame):
        columns = [in_32_bits(expected.iloc[:, place]) for place in range(expected.shape[1])]
        narrowed = pd.concat(columns, axis=1)
        return narrowed.set_axis(expected.columns, axis=1)
    if isinstance(expected, pd.Series):
        labels = expected.index
        if not isinstance(labels, (pd.RangeIndex, pd.MultiIndex)):
            labels = labels.astype(as_narrow(labels.dtype))
        return expected.astype(as_narrow(expected.dtype)).set_axis(labels)
    if isinstance(expected, (np.number, float)):
        return as_narrow(np.asarray(expected).dtype).type(expected)
    return expected


def as_narrow(dtype):
    wide = {"int64": np.int32, "uint64": np.uint32, "float64": np.float32}
    return np.dtype(wide[str(dtype)]) if str(dtype) in wide else dtype


def operations(f):
    ours = isinstance(f, JaxFrame)
    concat = jaxframes.frame.concat if ours else pd.concat
    room = {"capacity": 512} if ours else {}
    few = f[["k", "f"]].head(9)
    return (
        # Arithmetic and comparison.
        f.i + f.k, f.i * 3 - 1, f.i / 4, f.f * 0.5 + f.i, f.i // 7, f.i % f.k, -f.f, f.b & ~f.b,
        f.f.round(1), f.i.clip(-5, 5), f.s == "a", f.c == "u", f.f >= 0.25, f.assign(z=1, y=0.5),
        f.f.fillna(0.0), f.i.where(f.b, 0), f.i.astype("float32"), f.i.isin([1, 2]), 
        f.s.str.upper(), f.f // 0, f.i > f.f, np.exp(f.i.clip(-5, 5)), f.i.astype("uint32") > f.i,
        # Filter and sort.
        f[f.f > 0], f[f.b].reset_index(), f.head(3), f.iloc[2:9], f.set_index("s").sort_index(),
        f.sort_values(["c", "f"], ascending=[False, True]), f.drop_duplicates("s"),
        # Groups, joins and concatenation.
        f.groupby("k").f.sum(), f.groupby("k")[["i", "f"]].mean(), f.groupby("s").i.sum(),
        f.groupby(["k", "c"]).size(), f.groupby("k").f.transform("max"),
        f[["k", "i"]].merge(few, on="k", how="left", **room),
        f[["s", "i"]].merge(f[["s", "k"]], on="s", **room),
        concat([f, few]), concat([f.i, f.f], ignore_index=True),
        # Cumulative and windowed operations.
        f.i.cumsum(), f.f.cumsum(), f.b.cumsum(), f.f.cummax(), f.i.diff(), f.f.shift(2),
        f.i.rank(), f.f.rolling(3, min_periods=1).max(), f.s.value_counts(),
        # Reshaping.
        f[["i", "k"]].stack().reset_index(drop=True), f[["k", "i", "s"]].melt("s"),
        f.f.interpolate(), f.pivot_table("i", "k", aggfunc="max").i,
        # Reductions.
        f.i.sum(), f.i.mean(), f.f.sum(), f.f.std(), f.b.sum(), f.f.max(), f.i.count(),
        f[["k", "f"]].sum(), f.count(), f[["i", "f"]].mean(),
    )  # fmt: skip


@pytest.mark.parametrize("way", ["eager", "jit"])
def test_core_operations_give_what_pandas_gives_in_32_bits(way):
    frame = narrow_frame()
    made = (jax.jit(operations) if way == "jit" else operations)(JaxFrame(frame))
    made = [one.to_pandas() if hasattr(one, "to_pandas") else one for one in made]
    for place, (got, expected) in enumerate(zip(made, operations(frame), strict=True)):
        try:
            # Float sums use another order, in single precision.
            assert_same(in_32_bits(got), in_32_bits(expected), ulps=64)
        except AssertionError as error:
            raise AssertionError(f"operation {place}: {error}") from None


def test_tables_give_what_pandas_gives_in_32_bits():
    def tables(f):
        return (
            f.reindex([3, 99]).i, f.pivot_table("i", "k", "b", "sum", fill_value=0),
            f.groupby(["k", "b"]).i.max().unstack(), f.set_index(["k", "b"])[["i"]].xs(0),
        )  # fmt: skip

    frame = narrow_frame()
    for got, expected in zip(tables(JaxFrame(frame)), tables(frame), strict=True):
        shown = got.to_pandas()
        assert shown.index.tolist() == expected.index.tolist()
        np.testing.assert_array_equal(shown.to_numpy("float64"), expected.to_numpy("float64"))


def test_results_have_32_bits_and_labels_too():
    frame = JaxFrame(narrow_frame())
    assert frame.i.sum().dtype == np.int32
    assert frame.i.mean().dtype == np.float32
    assert frame.groupby("k").i.sum().dtype == np.int32
    assert frame.groupby("k").i.mean().dtype == np.float32
    assert frame.b.cumsum().dtype == np.int32
    assert frame[frame.b].to_pandas().index.dtype == np.int32
    assert isinstance(frame.to_pandas().index, pd.RangeIndex)


def test_integers_with_holes_stay_exact():
    large = np.int32(2**31 - 1)
    frame = JaxFrame(pd.DataFrame({"k": np.array([1, 2], np.int32)}))
    other = JaxFrame(pd.DataFrame({"k": np.array([2], np.int32), "id": np.array([large])}))
    joined = frame.merge(other, on="k", how="left")
    expected = pd.DataFrame({"k": np.array([1, 2], np.int32), "id": [np.nan, 2.0**31 - 1]})
    assert_same(joined, expected)
    behind = jaxframes.frame.concat([frame, other[["id"]]])
    expected = pd.concat([frame.to_pandas(), other.to_pandas()[["id"]]])
    pd.testing.assert_frame_equal(behind.to_pandas(), expected, check_index_type=False)


def test_scalars_of_64_bits_are_compared_as_they_are():
    frame = pd.DataFrame({"i": np.array([1, 2, 3], "int32"), "u": np.array([1, 2, 3], "uint32")})
    ours = JaxFrame(frame)
    for name, big in (("i", np.int64(2**32 + 1)), ("i", -np.int64(2**32)), ("u", np.uint64(2**33))):
        for op in ("eq", "ne", "lt", "ge"):
            assert_same(getattr(ours[name], op)(big), getattr(frame[name], op)(big))
        assert_same(ours[name].between(big, big), frame[name].between(big, big))
        assert_same(ours[name] > np.int64(2), frame[name] > 2)
        with pytest.raises(OverflowError, match="out of bounds"):
            _ = ours[name] + big
        with pytest.raises(TypeError, match="jax_enable_x64"):
            ours.assign(q=big)
    flags = JaxSeries([True, False])
    assert (flags < np.int64(2**32 + 1)).tolist() == [True, True]
    with pytest.raises(OverflowError, match="out of bounds"):
        _ = flags + 2**32
    assert ours.assign(q=np.int64(7)).q.dtype == np.int32


@pytest.mark.parametrize(
    "dtype",
    ["int64", "uint64", "float64", "complex128", "datetime64[us]", "timedelta64[s]"],
)
def test_columns_of_64_bits_say_how_to_switch_them_on(dtype):
    series = pd.Series([1, 2], name="wide").astype(dtype)
    table = pa.table({"wide": [1, 2]})
    makers = [lambda: JaxFrame({"wide": series}), lambda: JaxSeries(series)]
    makers += [lambda: narrow.assign(wide=series)]
    if dtype == "int64":
        narrow_series = JaxSeries(series.astype("int32"))
        makers += [
            lambda: JaxFrame(table),
            lambda: narrow_series.astype("int64"),
            lambda: narrow.assign(wide=2**40),
            lambda: narrow_series.shift(1, fill_value=2**40),
        ]
    narrow = JaxFrame({"x": pd.Series([1, 2], dtype="int32")})
    for make in makers:
        with pytest.raises(TypeError, match=r'64 bits.*"jax_enable_x64", True'):
            make()


def test_bins_are_those_of_edges_of_64_bits():
    greatest = np.array([16777217, 16777219, 2**31 - 1, -(2**31)], np.int32)
    for values, edges in (
        (greatest, [-(2.0**40), 16777218.5, 2**31 - 1]),
        (greatest, [-np.inf, 16777217, 16777219, 2.0**40]),
        (np.array([0.1, 0.2, 0.3, 0.4, np.nan, np.inf], np.float32), [0, 0.1, 0.3, 1e300]),
    ):
        for right in (True, False):
            expected = pd.cut(pd.Series(values), edges, right=right, include_lowest=True)
            got = jaxframes.frame.cut(JaxSeries(values), edges, right=right, include_lowest=True)
            assert_same(got, expected)


def test_times_and_no_values():
    with pytest.raises(TypeError, match="jax_enable_x64"):
        jaxframes.frame.to_datetime(JaxSeries(["2013-01-31"]))
    frame = JaxFrame({"i": np.empty(0, np.int32)})
    frame["x"] = []
    assert frame.x.dtype == np.float32


def test_tables_of_groups_and_other_shapes():
    def reshaped(f):
        functions = jaxframes.frame if isinstance(f, JaxFrame) else pd
        wide = f[["i", "f"]].rename(columns={"i": "v1", "f": "v2"})
        return (
            f.pivot_table("i", "s", "b", "sum", margins=True),
            f.pivot_table("f", "k", "b", dropna=False),
            functions.crosstab(f.s, f.b, margins=True, normalize=True),
            functions.wide_to_long(
                wide.assign(n=f.k.cumsum() + f.i).reset_index(), "v", "index", "j"
            ),
            functions.merge_ordered(f[["k", "i"]], f[["k", "f"]].head(5), "k", fill_method="ffill"),
            f[["k", "i", "f"]].corrwith(f.i),
            f[["k", "i", "f"]].groupby("k").take([0, -1]),
        )

    frame = narrow_frame()
    frame["i"] = frame.i + np.arange(len(frame), dtype=np.int32) * 3000
    expected = in_32_bits(reshaped(frame))
    for got, one in zip(reshaped(JaxFrame(frame)), expected, strict=True):
        got, one = got.to_pandas(), pd.DataFrame(one) if got.ndim > 1 else one
        np.testing.assert_allclose(got.astype(float).to_numpy(), one.astype(float).to_numpy(), 1e-5)
