# SPDX-License-Identifier: Apache-2.0
"""Every operation that the frame takes from pandas, a line each, for the tests that compare both.

    op("head", "k x", lambda f: f.head(3))

A function of frames of pandas or ours (one, or two of the same columns), and the columns that it
needs: see frame_strategies. `ulps` bounds how far floats may be apart, with `degree=1` in units of
the sum of the magnitudes of what came in, with `degree=2` of its square, with `greatest=True` of
the greatest, with `unit=True` of 1; `jit=False` marks what has no meaning inside `jit`, `jit=None`
what is no array there; `mesh=True` those run on four devices too, about one of each kind.
`each` makes one operation of a function of series, applied to several columns.
"""

import dataclasses
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from frame_parity import Bound
from frame_strategies import NUMBERS
from jaxframes import frame
from jaxframes.frame import JaxFrame
from jaxframes.frame.table._tracing import is_in_jit


@dataclasses.dataclass(frozen=True)
class Operation:
    """What is run on pandas and on ours."""

    name: str
    columns: tuple[str, ...]
    run: Callable[..., Any]
    ulps: int = 0
    degree: int = 0
    greatest: bool = False
    unit: bool = False
    jit: bool | None = True
    mesh: bool = False
    family: str = ""

    @property
    def num_frames(self) -> int:
        """How many frames it is given."""
        return len(inspect.signature(self.run).parameters)

    def bound(self, inputs: Sequence[pd.DataFrame]) -> Bound:
        """How far the results for these frames may be apart."""
        if not (self.degree or self.greatest):
            return Bound(self.ulps, float(self.unit))
        numbers = [frame.select_dtypes("number").to_numpy(np.float64) for frame in inputs]
        magnitudes = [np.abs(x[np.isfinite(x)]) for x in numbers]
        if self.greatest:
            return Bound(self.ulps, max(float(x.max(initial=0)) for x in magnitudes))
        with np.errstate(over="ignore"):
            total = sum(x.sum() for x in magnitudes)
        return Bound(self.ulps, min(float(total), 1e150) ** self.degree)


OPERATIONS: dict[str, Operation] = {}
FAMILIES: dict[str, list[Operation]] = {}


def op(name: str, columns: str, run: Callable[..., Any], **how: Any) -> Operation:
    """An operation on a frame of some columns."""
    return Operation(name, tuple(columns.split()), run, **how)


def each(name: str, columns: str, run: Callable[[Any], Any], **how: Any) -> Operation:
    """An operation on each of some columns."""
    names = tuple(columns.split())
    return Operation(name, names, lambda f: tuple(run(f[column]) for column in names), **how)


def family(name: str, *operations: Operation) -> None:
    """Operations of one kind: one program under `jit`."""
    for operation in operations:
        assert operation.name not in OPERATIONS, operation.name
        OPERATIONS[operation.name] = dataclasses.replace(operation, family=name)
        FAMILIES.setdefault(name, []).append(OPERATIONS[operation.name])


# A line each: the formatter would make a page of it.
# fmt: off
ALL_NUMBERS = " ".join(NUMBERS)
SIGNED = "i8 i64 u8 u64 f32 y"
TYPED = "i8 u64 y b s t d o"

family(
    "selection",
    op("column", "k s", lambda f: f["s"]),
    op("columns", "k s x", lambda f: f[["x", "k"]]),
    op("mask", "k b x s t d o i8 f32", lambda f: f[(f["k"] > 0) & f["b"]], mesh=True),
    op("mask_or_not", "k b x", lambda f: f[~(f["k"] > 0) | f["b"]]),
    op("series_mask", "k y", lambda f: f["y"][f["k"] == 0]),
    op("head", "k s x", lambda f: (f.head(3), f["x"].head(), f.head(70))),
    op("head_all_but", "k s x", lambda f: (f.head(-2), f["s"].head(-70))),
    op("tail", "k s x", lambda f: (f.tail(3), f["x"].tail(-2))),
    op("slice", "k s x", lambda f: (f.iloc[1:5], f[2:], f["x"].iloc[:4])),
    op("slice_backward", "k s x", lambda f: (f.iloc[::-2], f.iloc[-3:-1]), jit=False),
    op("iloc_list", "k s x", lambda f: f.iloc[[0, -1, 0]], jit=False),
    op("iloc_row", "x w", lambda f: f.iloc[0], jit=False),
    op("take", "k s x", lambda f: f.take([1, -1]), jit=False),
    op("drop", "k s x y", lambda f: (f.drop(columns="x"), f.drop(["k", "y"], axis=1))),
    op("drop_ignore", "k x", lambda f: f.drop(columns=["x", "no"], errors="ignore")),
    op("get", "k x", lambda f: (f.get("x"), f.get("no", 3))),
    op("items", "k x", lambda f: tuple(column for _, column in f.items())),
    op("squeeze", "k", lambda f: f.squeeze(axis=1)),
    op("copy", "k s", lambda f: (f.copy(), f["s"].copy())),
)

family(
    "assignment",
    op("assign", "k x", lambda f: f.assign(z=f["x"] * 2, k=lambda g: g["z"] + 1, one=1.5)),
    op("assign_kinds", "k", lambda f: f.assign(s="é", b=True, i=3)),
    op("set_column", "k x s", lambda f: _set(_set(f, "x", f["k"] + 1), "new", f["s"])),
)


def _set(frame: Any, label: str, value: Any) -> Any:
    frame = frame.copy()
    frame[label] = value
    return frame


family(
    "labels",
    op("rename", "k x s", lambda f: f.rename(columns={"x": "z", "no": "q"})),
    op("series_rename", "k", lambda f: (f["k"].rename("z"), f["k"].rename(None))),
    op("set_axis", "k x", lambda f: f.set_axis(["p", "q"], axis=1)),
    op("add_prefix", "k x", lambda f: (f.add_prefix("p_"), f.add_suffix("_s"))),
    op("reset_index", "k s", lambda f: (f.reset_index(), f.reset_index(drop=True))),
    op("series_reset_index", "k s",
       lambda f: (f["s"].reset_index(), f["k"].reset_index(drop=True))),
    op("set_index", "k s x", lambda f: (f.set_index("s"), f.set_index("k", drop=False))),
    op("set_index_several", "k s x", lambda f: f.set_index(["k", "s"])),
    op("sort_index", "k x",
       lambda f: (f.sort_index(kind="stable"), f["x"].sort_index(kind="stable"))),
    op("to_frame", "k s", lambda f: (f["k"].to_frame(), f["s"].to_frame("z"))),
    op("sizes", "k s", lambda f: (f.shape, f.size, f.empty, len(f), f["s"].shape), jit=False),
    op("ndim", "k s", lambda f: (f.ndim, f["s"].ndim)),
    op("index", "k", lambda f: (f.index, f["k"].index), jit=False),
    op("names", "k s x", lambda f: (f.columns, f.keys(), f["s"].name), jit=None),
    op("dtypes", "k s x c t", lambda f: (f.dtypes, f["t"].dtype), jit=None),
    op("select_dtypes", "k x s b", lambda f: f.select_dtypes("number")),
)

family(
    "conversion",
    op("round_trip", ALL_NUMBERS + " s t d c o x", lambda f: f, mesh=True),
    op("to_numpy", "x w", lambda f: (f.to_numpy(), f.values), jit=False),
    each("series_to_numpy", "k y b f32 t", lambda s: (s.to_numpy(), s.values), jit=False),
    each("tolist", "k x b s", lambda s: str(s.tolist()), jit=False),
    op("to_dict", "k b", lambda f: str(f.to_dict("list")), jit=False),
    op("itertuples", "k s", lambda f: str(list(f.itertuples())), jit=False),
    op("equals", "k x s", lambda f, g: (f.equals(f), f.equals(g)), jit=False),
)

family(
    "astype",
    each("astype_float", "i8 u64 f32 b k", lambda s: s.astype("float64")),
    each("astype_float32", "i64 f64 b", lambda s: s.astype("float32")),
    each("astype_int", "i8 u64 b k", lambda s: s.astype("int16")),
    op("astype_float_to_int", "x", lambda f: f["x"].fillna(-1.5).astype("int32")),
    op("astype_missing_to_int", "x", lambda f: f["x"].astype("int32"), jit=None),
    each("astype_bool", "i8 x f32", lambda s: s.astype(bool)),
    each("astype_str", "i8 b s", lambda s: s.astype("str"), jit=False),
    each("astype_category", "k s o", lambda s: s.astype("category"), jit=False),
    op("astype_columns", "k x b", lambda f: f.astype({"k": "float32", "b": "int8"})),
    op("cat_codes", "c o", lambda f: (f["c"].cat.codes, f["o"].cat.codes)),
    op("categories", "c o", lambda f: (f["c"].cat.categories, f["o"].cat.ordered), jit=None),
)

PAIRS = (("i8", "u8"), ("i8", "i64"), ("u64", "i64"), ("f32", "i64"), ("y", "x"), ("b", "k"))


def _of_pairs(combine: Callable[[Any, Any], Any], pairs: Any = PAIRS) -> Callable[[Any], Any]:
    return lambda f: tuple(combine(f[a], f[b]) for a, b in pairs)


PAIRED = "i8 u8 i64 u64 f32 y x b k"

family(
    "arithmetic",
    op("add", PAIRED, _of_pairs(lambda a, b: a + b), mesh=True),
    op("sub", PAIRED, _of_pairs(lambda a, b: a - b)),
    op("mul", PAIRED, _of_pairs(lambda a, b: a * b)),
    op("truediv", PAIRED, _of_pairs(lambda a, b: a / b)),
    op("floordiv", PAIRED, _of_pairs(lambda a, b: a // b)),
    op("mod", PAIRED, _of_pairs(lambda a, b: a % b)),
    op("pow", "i8 u8 x", lambda f: (f["u8"] ** 2, f["i8"] ** 3, f["x"] ** 2)),
    each("with_scalars", "i8 u64 f32 y", lambda s: (s + 1, 2 - s, s * 3, s / 3, 1 / s)),
    each("scalar_floordiv", "i8 u8 y", lambda s: (s // 3, s % 3, s // -3 if s.name != "u8" else s)),
    each("scalar_too_large", "i8 u8", lambda s: s + 1000),
    op("methods", "k x",
       lambda f: (f["x"].add(f["k"]), f["x"].rsub(1), f["k"].div(f["x"]), f.mul(2))),
    op("fill_value", "x w", lambda f: f["x"].add(f["w"], fill_value=0)),
    op("frame_frame", "k x", lambda f, g: f + g, jit=False),
    op("series_series", "k x", lambda f, g: f["x"] * g["x"], jit=False),
    op("frame_scalar", "i8 x f32", lambda f: (f * 2, f - 1.5, f / 2)),
    each("unary", "i8 i64 f32 y", lambda s: (-s, abs(s), s.abs(), +s)),
    each("invert", "i8 u8 b", lambda s: ~s),
    op("logic", "b k x", lambda f: (f["b"] & (f["k"] > 0), f["b"] | (f["x"] > 0), f["b"] ^ f["b"])),
    op("round", "x w f32 k", lambda f: (f.round(1), f["x"].round(), f["k"].round())),
    op("subnormal_floats", "x", lambda f: f["x"] * 1e-300 / 1e10),
    op("bool_minus_bool", "b", lambda f: f["b"] - f["b"]),
)


def _compared(s: Any, other: Any) -> Any:
    return s == other, s != other, s < other, s <= other, s > other, s >= other


family(
    "comparison",
    each("compare_scalar", "i8 u64 f32 y", lambda s: _compared(s, 1)),
    op("compare_columns", "i64 u64 x y i8",
       lambda f: (*_compared(f["i64"], f["u64"]), f["x"] < f["y"])),
    op("compare_strings", "s", lambda f: (*_compared(f["s"], "b"), f["s"] == "no")),
    op("compare_string_columns", "s", lambda f: f["s"] == f["s"]),
    op("compare_times", "t d", lambda f: (f["t"] > f["t"], f["d"] == f["d"])),
    op("compare_categories", "c o", lambda f: (f["c"] == "v", f["o"] < "u", f["c"] != "v")),
    op("between", "k x s",
       lambda f: (f["k"].between(0, 2), f["x"].between(-1, 3, inclusive="left"))),
    op("isin", "k y s",
       lambda f: (f["k"].isin([1, 2, 9]), f["y"].isin([0.0, float("nan")]),
           f["s"].isin(["é", "", "no"])), mesh=True),
    each("isna", TYPED, lambda s: (s.isna(), s.notna(), s.isnull())),
    op("frame_isna", "k y s", lambda f: (f.isna(), f.notna())),
)

family(
    "missing",
    op("fillna", "x s k", lambda f: (f["x"].fillna(0.0), f["s"].fillna("none"), f["k"].fillna(3))),
    op("fillna_dict", "x w s", lambda f: f.fillna({"x": 1.5, "s": "é"})),
    op("ffill", "x s t d", lambda f: (f.ffill(), f["x"].ffill(limit=1))),
    op("bfill", "x s t o", lambda f: (f.bfill(), f["s"].bfill(limit=2))),
    op("dropna", "x w s", lambda f: (f.dropna(), f.dropna(subset=["s"]), f["w"].dropna())),
    op("dropna_how", "x w s", lambda f: (f.dropna(how="all"), f.dropna(thresh=2))),
    op("where", "k x y s b",
       lambda f: (f["x"].where(f["b"]), f["y"].where(f["b"], 0.0), f["s"].where(f["b"], "z"))),
    op("where_upcasts", "k i8 b",
       lambda f: (f["k"].where(f["b"]), f["i8"].where(f["b"], 0), f["b"].where(f["b"]))),
    op("mask_values", "k x y b", lambda f: (f["x"].mask(f["b"]), f["x"].mask(f["b"], f["y"]))),
    op("clip", "k x y",
       lambda f: (f["x"].clip(-1, 2), f["k"].clip(lower=0), f["y"].clip(upper=1.0))),
    op("map_dict", "k s",
       lambda f: (f["k"].map({0: 1.5, 1: 2.5}), f["s"].map({"a": 1, "b": 2}))),
    op("map_strings", "s k",
       lambda f: (f["s"].map({"a": "é", "": "z"}), f["k"].map({0: "zero"}))),
)

REDUCED = "i8 u8 i64 u64 x y b"

family(
    "reductions",
    each("sum", REDUCED, lambda s: s.sum(), degree=1, mesh=True),
    each("sum_float32", "f32", lambda s: s.sum(), ulps=64, degree=1),
    each("prod", "i8 u8 b", lambda s: s.prod()),
    each("mean", "i8 u8 x y b", lambda s: s.mean(), ulps=2),
    each("mean_float32", "f32", lambda s: s[s.abs() < 100].mean(), ulps=64, degree=1),
    each("min", "i8 u64 f32 y b", lambda s: (s.min(), s.max())),
    each("min_typed", "s t d o", lambda s: (s.min(), s.max()), jit=False),
    each("min_int", "i8 u64", lambda s: s.min()),
    each("count", TYPED, lambda s: s.count()),
    each("std", "i8 x k b",
         lambda s: (s.std(), s.var(), s.var(ddof=0), s.sem()) if s.name != "b" else s.var(),
             ulps=64),
    each("median", "k x y b", lambda s: s.median(), ulps=2),
    each("quantile", "k x", lambda s: (s.quantile(0.3), s.quantile()), ulps=4, greatest=True),
    op("quantiles", "k x", lambda f: (f["x"].quantile([0, 0.25, 1]), f.quantile(0.5)),
       ulps=4, greatest=True),
    each("any", "k y b", lambda s: (s.any(), s.all())),
    each("idxmax", "k x", lambda s: (s.idxmax(), s.idxmin()), jit=False),
    each("argmax", "k x", lambda s: (s.argmax(), s.argmin())),
    each("skipna", "x y", lambda s: (s.sum(skipna=False), s.mean(skipna=False)), ulps=2),
    each("skipna_max", "x k", lambda s: (s.max(skipna=False), s.min(skipna=False))),
    each("min_count", "x k",
         lambda s: (s.sum(min_count=1),
             s.prod(min_count=1)) if s.name == "k" else s.sum(min_count=1)),
    op("string_sum", "s", lambda f: f["s"].dropna().sum(), jit=False),
    op("frame_sum", "k x i8", lambda f: (f.sum(), f.count(), f.max())),
    # A row of results is float64, what is added up float32: its last place is 29 bits above.
    op("frame_sum_float32", "k f32", lambda f: f.sum(), ulps=64 << 29, degree=1),
    op("frame_max_objects", "k x b", lambda f: (f.max(), f.sum()), jit=None),
    op("frame_mean", "k x b s",
       lambda f: (f.mean(numeric_only=True), f.std(numeric_only=True)), ulps=16),
    op("frame_across", "x w",
       lambda f: (f.sum(axis=1), f.mean(axis=1), f.max(axis=1), f.count(axis=1)), ulps=2),
    op("frame_any", "k y b", lambda f: (f.any(), f.all())),
    op("frame_median", "k x", lambda f: f.median(), ulps=2),
    op("frame_idxmax", "k x", lambda f: f.idxmax(), jit=False),
    op("describe", "k x", lambda f: (f.describe(), f["x"].describe()), ulps=16, jit=False),
    op("describe_strings", "s", lambda f: f["s"].describe(), jit=False),
    op("corr", "x w k", lambda f: f.corr(), ulps=2**16, unit=True),
    op("cov", "x w k", lambda f: f.cov(), ulps=2**10, degree=2),
    op("agg", "k x",
       lambda f: (f["x"].agg(["sum", "max"]), f.agg({"k": "sum", "x": "max"}), f.agg("min"))),
)

family(
    "distinct",
    each("unique", TYPED, lambda s: s.unique(), jit=False),
    each("nunique", TYPED, lambda s: (s.nunique(), s.nunique(dropna=False))),
    op("frame_nunique", "k y s", lambda f: f.nunique()),
    each("value_counts", "k y s o b t", lambda s: s.value_counts()),
    each("value_counts_how", "k y s",
         lambda s: (s.value_counts(dropna=False), s.value_counts(normalize=True),
             s.value_counts(ascending=True))),
    op("drop_duplicates", "k y s",
       lambda f: (f.drop_duplicates(), f.drop_duplicates("k", keep="last"),
           f["y"].drop_duplicates())),
    op("drop_duplicates_keep", "k s",
       lambda f: (f.drop_duplicates(keep=False), f.drop_duplicates("s", ignore_index=True))),
    op("duplicated", "k y s t",
       lambda f: (f.duplicated(), f["y"].duplicated(keep="last"), f["s"].duplicated(keep=False),
           f.duplicated(["k", "t"]))),
    each("factorize", "k s y", lambda s: s.factorize(), jit=False),
    op("mode", "k s", lambda f: (f["k"].mode(), f["s"].mode())),
)

family(
    "sorting",
    each("sort_values", "i8 u64 y b s t d o", lambda s: s.sort_values(kind="stable")),
    each("sort_descending", "i64 u8 f32 y s t",
         lambda s: s.sort_values(ascending=False, kind="stable", na_position="first")),
    op("sort_frame", "k y s t", lambda f: f.sort_values("y", kind="stable")),
    op("sort_keys", "k x s t o",
       lambda f: f.sort_values(["k", "s", "x"], ascending=[False, True, False]), mesh=True),
    op("sort_keys_typed", "b o t d", lambda f: f.sort_values(["o", "t", "d"], ignore_index=True)),
    each("argsort", "k x", lambda s: s.argsort(kind="stable")),
    each("nlargest", "k x i8", lambda s: (s.nlargest(3), s.nsmallest(2))),
    op("frame_nlargest", "k x s", lambda f: (f.nlargest(3, "x"), f.nsmallest(4, ["k", "x"]))),
    each("rank", "k y s",
         lambda s: (s.rank(), s.rank(method="min"), s.rank(method="dense", ascending=False))),
    each("rank_how", "k x",
         lambda s: (s.rank(method="first"), s.rank(pct=True), s.rank(na_option="top"),
             s.rank(method="max", na_option="bottom")), ulps=2),
    op("searchsorted", "k", lambda f: f["k"].sort_values(kind="stable").searchsorted([0, 2, 7])),
)

family(
    "cumulative",
    each("cumsum", "i8 u8 x y b", lambda s: s.cumsum(), mesh=True),
    each("cumprod", "i8 b", lambda s: s.cumprod()),
    each("cummax", "i8 u64 y t", lambda s: (s.cummax(), s.cummin())),
    op("frame_cumsum", "k x", lambda f: (f.cumsum(), f.cumsum(axis=0, skipna=False))),
    each("shift", "i8 x b s t", lambda s: (s.shift(), s.shift(-2))),
    op("shift_fill", "k s",
       lambda f: (f["k"].shift(1, fill_value=7), f["s"].shift(fill_value="z"))),
    op("frame_shift", "k x s", lambda f: f.shift(1), mesh=True),
    each("diff", "i8 u8 x b t", lambda s: s.diff()),
    each("diff_periods", "k x", lambda s: s.diff(-2)),
    each("pct_change", "k x", lambda s: s.pct_change(), ulps=2),
)

family(
    "windows",
    op("rolling_sum", "x k f32",
       lambda f: (f["x"].rolling(3).sum(), f["k"].rolling(2, min_periods=1).sum()), mesh=True),
    op("rolling_mean", "x k", lambda f: f.rolling(3, min_periods=1).mean(), ulps=16),
    op("rolling_extremes", "x y k",
       lambda f: (f["y"].rolling(4, min_periods=1).max(), f["k"].rolling(3).min())),
    op("rolling_count", "x y", lambda f: f.rolling(3).count()),
    op("rolling_how", "x",
       lambda f: (f["x"].rolling(3, center=True).sum(), f["x"].rolling(3, closed="left").sum())),
    op("rolling_var", "x k", lambda f: f.rolling(4, min_periods=2).var(), ulps=64, degree=2),
    op("rolling_median", "x k", lambda f: f.rolling(4, min_periods=2).median(), mesh=True),
    op("rolling_quantile", "y f32",
       lambda f: (f["y"].rolling(5, min_periods=1).quantile(0.3, interpolation="higher"),
           f["f32"].rolling(3, center=True).quantile(0.7, interpolation="lower"))),
    op("rolling_distinct", "y b",
       lambda f: (f.rolling(4, min_periods=1).nunique(), f["y"].rolling(3).rank(pct=True))),
    op("rolling_ends", "x y",
       lambda f: (f.rolling(3, min_periods=1).first(), f["y"].expanding(2).last())),
    op("expanding", "x y k",
       lambda f: (f["x"].expanding().sum(), f["y"].expanding().max(), f.expanding(2).count())),
    op("expanding_mean", "x k",
       lambda f: (f["x"].expanding().mean(), f["k"].expanding(3).mean()), ulps=16),
)

family(
    "strings",
    op("str_len", "s", lambda f: f["s"].str.len()),
    op("str_case", "s", lambda f: (f["s"].str.lower(), f["s"].str.upper(), f["s"].str.title())),
    op("str_strip", "s",
       lambda f: (f["s"].str.strip(), f["s"].str.lstrip(), f["s"].str.rstrip("b "))),
    op("str_contains", "s",
       lambda f: (f["s"].str.contains("a|é"), f["s"].str.contains(".", regex=False))),
    op("str_starts", "s",
       lambda f: (f["s"].str.startswith("a"), f["s"].str.endswith("b"), f["s"].str.match("[ab]"))),
    op("str_replace", "s",
       lambda f: (f["s"].str.replace("a", "é"), f["s"].str.replace("[ab]+", "-", regex=True))),
    op("str_slice", "s",
       lambda f: (f["s"].str[:2], f["s"].str.slice(1, 3), f["s"].str.get(1), f["s"].str[0])),
    op("str_find", "s", lambda f: (f["s"].str.find("b"), f["s"].str.count("a"))),
    op("str_pad", "s",
       lambda f: (f["s"].str.zfill(4), f["s"].str.pad(5, side="both", fillchar="*"))),
    op("str_isdigit", "s", lambda f: (f["s"].str.isdigit(), f["s"].str.isalpha())),
    op("str_cat", "s", lambda f: f["s"].str.cat(f["s"], sep="-"), jit=False),
)

family(
    "times",
    op("dt_date", "t",
       lambda f: (f["t"].dt.year, f["t"].dt.month, f["t"].dt.day, f["t"].dt.quarter)),
    op("dt_time", "t",
       lambda f: (f["t"].dt.hour, f["t"].dt.minute, f["t"].dt.second, f["t"].dt.microsecond)),
    op("dt_week", "t", lambda f: (f["t"].dt.dayofweek, f["t"].dt.dayofyear)),
    op("dt_span", "d", lambda f: (f["d"].dt.days, f["d"].dt.seconds, f["d"].dt.total_seconds())),
    op("time_arithmetic", "t d",
       lambda f: (f["t"] - f["t"], f["t"] + f["d"], f["d"] * 2, -f["d"], f["d"] + f["d"])),
)

GROUPED = "k x b i64 f32"


def _aggregations(*names: str) -> Callable[[Any], Any]:
    return lambda f: tuple(getattr(f.groupby("k"), name)() for name in names)


family(
    "groupby",
    op("group_sum", "k x b i64 f32",
       lambda f: f[["k", "x", "b", "i64"]].groupby("k").sum(), mesh=True),
    op("group_prod", "k b w", lambda f: f.groupby("k").prod(), ulps=64),
    op("group_mean", "k x b i8", _aggregations("mean"), ulps=2),
    # Of zeros of both signs pandas takes now the first, now the last.
    op("group_extremes", "k y b i8 u64 s t",
       lambda f: _aggregations("min", "max")(f.assign(y=f["y"] + 0.0))),
    op("group_count", "k y b s t", _aggregations("count", "size")),
    op("group_var", "k x i8", _aggregations("var", "std", "sem"), ulps=64),
    op("group_first", "k x s t b i8", _aggregations("first", "last")),
    op("group_nth", "k x s", lambda f: (f.groupby("k").nth(0), f.groupby("k").nth(-1))),
    op("group_median", "k x i8", _aggregations("median"), ulps=2),
    op("group_quantile", "k x", lambda f: f.groupby("k").quantile(0.3), ulps=4, greatest=True),
    op("group_nunique", "k y s", _aggregations("nunique")),
    op("group_any", "k y b", _aggregations("any", "all")),
    op("group_idxmax", "k i64", _aggregations("idxmax", "idxmin")),
    op("group_series", "k x",
       lambda f: (f.groupby("k")["x"].sum(), f.groupby("k").x.max(), f["x"].groupby(f["k"]).sum())),
    op("group_by_string", "s x k", lambda f: f.groupby("s").sum()),
    op("group_by_float", "y x",
       lambda f: (f.groupby("y").sum(), f.groupby("y", dropna=False).sum())),
    op("group_by_time", "t x", lambda f: f.groupby("t", dropna=False)["x"].max()),
    op("group_by_category", "o x k",
       lambda f: (f.groupby("o").sum(), f.groupby("o", observed=False)["x"].sum())),
    op("group_all_categories", "c o k x",
       lambda f: (f.groupby(["k", "c", "o"], observed=False, sort=False)["x"].sum(),
           f.groupby(["c", "o"], observed=False, dropna=False, sort=False)["x"].sum(),
           f.groupby(["o", "k"], observed=False).size())),
    op("group_monotonic", "k x o",
       lambda f: (f.groupby("k")["x"].is_monotonic_increasing,
           f.groupby("k")["o"].is_monotonic_decreasing)),
    op("group_ohlc", "k x i8", lambda f: f.groupby("k")[["x", "i8"]].ohlc()),
    op("group_by_several", "k s y x", lambda f: f.groupby(["k", "s"])["x"].sum()),
    op("group_unsorted", "k s x",
       lambda f: (f.groupby("s", sort=False).sum(),
           f.groupby("s", sort=False, dropna=False)["x"].sum())),
    op("group_as_column", "k s x",
       lambda f: (f.groupby("k", as_index=False)["x"].sum(),
           f.groupby(["k", "s"], as_index=False).size())),
    op("group_by_values", "k x", lambda f: f.groupby(f["k"] % 2)["x"].sum()),
    op("group_agg", "k x i64",
       lambda f: (f.groupby("k").agg({"x": "max", "i64": "sum"}),
           f.groupby("k").agg(top=("x", "max"), n=("i64", "count")))),
    op("group_agg_lists", "k x i64",
       lambda f: (f.groupby("k").agg(["min", "max"]), f.groupby("k")["x"].agg(["sum", "count"]))),
    op("group_agg_name", "k x",
       lambda f: (f.groupby("k").agg("max"), f.groupby("k")["x"].agg("sum"))),
    op("group_transform", "k x i64",
       lambda f: (f.groupby("k").transform("max"), f.groupby("k")["x"].transform("sum"))),
    op("group_transform_missing", "s x i64", lambda f: f.groupby("s").transform("max")),
    op("group_cumulative", "k x",
       lambda f: (f.groupby("k").cumsum(), f.groupby("k")["x"].cummax(),
           f.groupby("k")["x"].cummin())),
    op("group_shift", "k x s", lambda f: (f.groupby("k").shift(), f.groupby("k")["x"].diff())),
    op("group_rank", "k x", lambda f: f.groupby("k")["x"].rank()),
    op("group_head", "k x s", lambda f: (f.groupby("k").head(2), f.groupby("k").tail(1))),
    op("group_cumcount", "k s x",
       lambda f: (f.groupby("k").cumcount(), f.groupby("k").ngroup(), f.groupby("s").cumcount(),
           f.groupby("s").ngroup())),
    op("group_fill", "k x s", lambda f: (f.groupby("k").ffill(), f.groupby("k")["x"].bfill())),
)


def _right(g: Any) -> Any:
    return g.rename(columns={"x": "z"})


def _merge(f: Any, g: Any, **how: Any) -> Any:
    # Inside jit a merge needs a capacity.
    if isinstance(f, JaxFrame) and is_in_jit(f):
        how["capacity"] = 1024
    return f.merge(g, **how)


family(
    "merge",
    op("merge_inner", "k x s",
       lambda f, g: _merge(f, _right(g.head(9)), on="k", suffixes=("_l", "_r"))),
    op("merge_left", "k x", lambda f, g: _merge(f, _right(g.head(9)), on="k", how="left")),
    op("merge_right", "k x s",
       lambda f, g: _merge(f.head(9), _right(g.head(9)), on="s", how="right")),
    op("merge_outer", "k x i8 b", lambda f, g: _merge(f.head(9), g.head(9), on="k", how="outer")),
    op("merge_cross", "k x", lambda f, g: _merge(f.head(6), g.head(6), how="cross")),
    op("merge_anti", "k x i8", lambda f, g: _merge(f, g.head(2), on="k", how="left_anti")),
    op("merge_floats", "y k", lambda f, g: _merge(f.head(9), g.head(9), on="y", how="outer")),
    op("merge_times", "t k", lambda f, g: _merge(f.head(9), g.head(9), on="t", how="left")),
    op("merge_categories", "o k", lambda f, g: _merge(f.head(9), g.head(9), on="o")),
    op("merge_several", "k s x",
       lambda f, g: _merge(f, g.head(9), on=["k", "s"], how="left", indicator=True)),
    op("merge_left_on", "k s i8 x",
       lambda f, g: _merge(f.head(9), g.head(9), left_on="k", right_on="i8", how="left")),
    op("merge_all_common", "k s", lambda f, g: _merge(f.head(9), g.head(9))),
    op("merge_indicator", "k x",
       lambda f, g: _merge(f.head(9), g.head(9), on="k", how="outer", indicator=True)),
    op("merge_validate", "k x", lambda f, g: _merge(f, g, on="k", validate="1:1"), jit=False),
    op("merge_on_index", "k x",
       lambda f, g: _merge(f.head(9), _right(g.head(9)).drop(columns="k"), left_index=True,
           right_index=True)),
    op("concat_rows", "k x s t", lambda f, g: pd_concat([f, g]), mesh=True),
    op("concat_ignore", "k x s c i8 b", lambda f, g: pd_concat([f, g], ignore_index=True)),
    op("concat_outer", "k x s i8 b",
       lambda f, g: pd_concat([f[["k", "x", "b"]], g[["i8", "k", "s"]]])),
    op("concat_inner", "k x s", lambda f, g: pd_concat([f, g[["s", "k"]]], join="inner")),
    op("concat_promotes", "i8 u8 b k",
       lambda f, g: pd_concat([f.set_axis(["p", "q", "r", "v"], axis=1),
           g[["u8", "i8", "k", "b"]].set_axis(["p", "q", "r", "v"], axis=1)])),
    op("concat_series", "k x",
       lambda f, g: (pd_concat([f["x"], g["x"]]), pd_concat([f["x"], g["k"]]))),
)


def pd_concat(frames: list[Any], **how: Any) -> Any:
    """`concat` of pandas, or ours for frames of ours."""
    return functions_for(frames[0]).concat(frames, **how)


def functions_for(data: Any) -> Any:
    """The functions of pandas, or ours for what is ours."""
    return pd if isinstance(data, (pd.DataFrame, pd.Series)) else frame


family(
    "bins",
    op("cut", "k x i8 u64 b",
       lambda f: tuple(
           functions_for(f).cut(f[name], [-7.5, 0, 3, 40], labels=["low", "mid", "high"])
           for name in f.columns), mesh=True),
    op("cut_left", "k x f32",
       lambda f: tuple(
           functions_for(f).cut(
               f[name], [-3, 0, 7], right=False, labels=False, include_lowest=True)
           for name in f.columns)),
    op("cut_numbered", "k x",
       lambda f: tuple(functions_for(f).cut(f[name], 3) for name in f.columns), jit=False),
    op("qcut", "k x",
       lambda f: tuple(
           functions_for(f).qcut(f[name], [0.1, 0.5, 1], duplicates="drop")
           for name in f.columns),
       jit=False),
    op("qcut_int8", "i8",
       lambda f: functions_for(f).qcut(f["i8"], [0.1, 0.5, 1], duplicates="drop"), jit=False),
    op("get_dummies", "c o k",
       lambda f: (functions_for(f).get_dummies(f, dummy_na=True),
           functions_for(f).get_dummies(f["o"], drop_first=True, dtype="int8")), mesh=True),
    op("get_dummies_of", "s k b t x",
       lambda f: functions_for(f).get_dummies(f, columns=["s", "k", "b", "t", "x"], dummy_na=True),
       jit=False),
    op("to_datetime", "i8 u32 k t",
       lambda f: tuple(
           functions_for(f).to_datetime(f[name], unit="s") for name in f.columns)),
)

family(
    "apply",
    op("apply_rows", "x w",
       lambda f: f.apply(lambda row: row["x"] * 2 + row["w"], axis=1), mesh=True),
    op("pipe", "k x", lambda f: f.pipe(lambda g, n: g.head(n), 2)),
)

family(
    "reshaping",
    op("transpose", "x w", lambda f: f.head(3).reset_index(drop=True).T, jit=False),
    op("stack", "k x i8 u8", lambda f: (f[["k", "x"]].stack(), f[["i8", "u8"]].stack()), mesh=True),
    op("melt", "k x s t",
       lambda f: (f.melt(["s", "t"]), f[["k", "x"]].melt(ignore_index=False)), mesh=True),
    op("pivot_table", "k b i64 u8",
       lambda f: (f.pivot_table("i64", "k", "b", "max"),
           f.pivot_table(["u8", "i64"], "b", "k", "count", fill_value=0)), jit=False),
    op("unstack", "k b i64",
       lambda f: f.groupby(["k", "b"])["i64"].min().unstack(fill_value=0), jit=False),
    op("crosstab", "k s b",
       lambda f: functions_for(f).crosstab(f["k"], [f["s"], f["b"]]), jit=False),
    op("reindex", "k x s",
       lambda f: (f.reset_index(drop=True).reindex([1, 70, 0]),
           f.reindex(columns=["x", "new", "k"])), jit=False),
    op("asof", "k x",
       lambda f: (f.reset_index(drop=True).asof([-1, 2, 70.5]),
           f["x"].reset_index(drop=True).asof([3, 0])), mesh=True),
    op("lreshape", "k x i8 f32 b",
       lambda f: functions_for(f).lreshape(f, {"v": ["k", "x"], "w": ["i8", "f32"]}), mesh=True),
    op("combine_first", "x s t",
       lambda f, g: f.reset_index(drop=True).combine_first(g.reset_index(drop=True))),
    op("interpolate", "x w f32",
       lambda f: (f.interpolate(), f.interpolate(limit=1, limit_direction="both")), ulps=4,
       greatest=True),
    op("ewm", "k i8",
       lambda f: (f.ewm(alpha=0.5).mean(), f["k"].ewm(span=3, adjust=False).mean()), ulps=256,
       greatest=True),
    op("xs", "k b i64", lambda f: f.groupby(["k", "b"]).min().xs(True, level="b"), jit=False),
    op("dot", "x w", lambda f: (f.fillna(0.0) @ np.array([1.0, 2.0]), f["x"].dot(f["w"]))),
)

family(
    "further_methods",
    op("compare_methods", "k x",
       lambda f: (f["k"].eq(f["x"]), f["k"].ne(1), f["x"].lt(2), f["x"].le(f["k"]), f["k"].gt(0),
           f["k"].ge(f["x"]))),
    op("reversed_methods", "k x",
       lambda f: (f["x"].radd(1), f["k"].rmul(2), f["x"].rtruediv(1), f["k"].rfloordiv(7),
           f["k"].rmod(7), f["k"].subtract(1), f["x"].multiply(2), f["x"].divide(f["k"]))),
    op("divmod", "k x", lambda f: (f["k"].divmod(3), f["x"].divmod(2), f["k"].rdivmod(9))),
    op("case_when", "k x b",
       lambda f: (f["k"].case_when([(f["b"], 5), (f["k"] > 0, f["k"] + 1)]),
           f["x"].case_when([(f["x"] > 0, 0.5)]))),
    op("filter_labels", "k x s", lambda f: (f.filter(items=["x"]), f.filter(like="k"))),
    op("loc_mask", "k x s", lambda f: (f.loc[f["k"] > 0, ["x", "s"]], f["s"].loc[f["k"] == 0])),
    op("query", "k x", lambda f: (f.query("k > 0 and x < 3"), f.eval("k + x * 2"))),
    op("rename_axis", "k x", lambda f: (f.rename_axis("rows"), f["x"].rename_axis("rows"))),
    op("truncate", "k x", lambda f: f.reset_index(drop=True).truncate(1, 3), jit=False),
    op("levels", "k s x",
       lambda f: (f.set_index(["k", "s"]).swaplevel(), f.set_index(["k", "s"]).droplevel("k"))),
    op("first_valid_index", "x s",
       lambda f: (f["x"].first_valid_index(), f["s"].last_valid_index()), jit=False),
    op("hasnans", "x k s",
       lambda f: (f["x"].hasnans, f["k"].is_unique, f["s"].is_unique)),
    op("repeat", "k s", lambda f: (f["s"].repeat(2), f["k"].repeat(0)), jit=False),
    op("to_numeric", "k x", lambda f: tuple(functions_for(f).to_numeric(f[c]) for c in f.columns)),
    op("to_timedelta", "k i8",
       lambda f: tuple(functions_for(f).to_timedelta(f[c], unit="s") for c in f.columns)),
    op("merge_asof", "k x",
       lambda f, g: functions_for(f).merge_asof(
           f.sort_values("k", kind="stable"), _right(g).sort_values("k", kind="stable"), on="k")),
    op("merge_ordered", "k x s",
       lambda f, g: functions_for(f).merge_ordered(f.head(9), _right(g.head(9)), on="k"),
       jit=None),
    op("align", "k x",
       lambda f, g: f[["x"]].reset_index(drop=True).align(
           g[["x", "k"]].reset_index(drop=True), join="left"), jit=False),
    op("moments", "k x",
       lambda f: (f["k"].skew(), f["x"].clip(-9, 9).kurt(), f[["k"]].skew()), ulps=2**16,
       unit=True),
    op("group_skew", "k x", lambda f: f.groupby("k")["x"].skew(), ulps=2**16, unit=True),
    op("get_group", "k x", lambda f: f.groupby("k").get_group(f["k"].max()), jit=False),
    op("ngroups", "k s", lambda f: (f.groupby("k").ngroups, f.groupby("s").ngroups), jit=False),
)
