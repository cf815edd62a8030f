# SPDX-License-Identifier: Apache-2.0
"""Wrong uses raise pandas' errors, and name the column or argument."""

import operator
import re
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_same_error, on_device
from jaxframes.frame import JaxFrame, JaxSeries
from jaxframes.shardings import make_mesh, replicated


def small_frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "k": [1, 1, 2],
            "x": [1.0, np.nan, 3.0],
            "b": [True, False, True],
            "s": pd.array(["a", None, "b"], dtype="str"),
            "c": pd.Categorical(["u", "v", "u"]),
            "t": np.array(["2024-01-01", "NaT", "2024-01-03"], "M8[us]"),
            "i8": np.array([1, 2, 3], np.int8),
        }
    )


# Uses that raise in pandas, too, with a part of our message.
WRONG = {
    "a column that is not there": (lambda f: f["bogus"], "bogus"),
    "columns that are not there": (lambda f: f[["k", "bogus"]], "bogus"),
    "an attribute that is not there": (lambda f: f.bogus, "bogus"),
    "a mask of another length": (lambda f: f[np.array([True])], "length"),
    "a mask of numbers": (lambda f: f[f["k"].where(f["k"] > 9)], "bool"),
    "a frame as a truth": (lambda f: bool(f), "truth"),
    "a series as a truth": (lambda f: bool(f["k"] > 1), "truth"),
    "places out of bounds": (lambda f: f.take([7]), "out-of-bounds"),
    "a place out of bounds": (lambda f: f.iloc[7], "out-of-bounds"),
    "drop a column that is not there": (lambda f: f.drop(columns=["bogus"]), "bogus"),
    "rename strictly": (lambda f: f.rename(columns={"bogus": "z"}, errors="raise"), "bogus"),
    "labels of another number": (lambda f: f.set_axis(["a"], axis=1), ""),
    "an index of no column": (lambda f: f.set_index("bogus"), "bogus"),
    "a column of another length": (lambda f: f.assign(z=[1, 2]), "2"),
    "sort by no column": (lambda f: f.sort_values("bogus"), "bogus"),
    "sort in too many directions": (
        lambda f: f.sort_values(["k", "x"], ascending=[True]),
        "ascending",
    ),
    "sort of a bogus kind": (lambda f: f.sort_values("k", kind="bogus"), "bogus"),
    "sort with missing in the middle": (
        lambda f: f.sort_values("k", na_position="middle"),
        "middle",
    ),
    "group by no column": (lambda f: f.groupby("bogus").sum(), "bogus"),
    "group by nothing": (lambda f: f.groupby(), ""),
    "aggregate no column": (lambda f: f.groupby("k")["bogus"].sum(), "bogus"),
    "aggregate by a bogus name": (lambda f: f.groupby("k").agg("bogus"), "bogus"),
    "aggregate columns that are not there": (
        lambda f: f.groupby("k").agg({"bogus": "sum"}),
        "bogus",
    ),
    "transform by a bogus name": (lambda f: f.groupby("k")["x"].transform("bogus"), "bogus"),
    "mean of strings": (lambda f: f["s"].mean(), ""),
    "group mean of strings": (lambda f: f.groupby("k").mean(), "s"),
    "sum of times": (lambda f: f["t"].sum(), "datetime"),
    "group sum of times": (lambda f: f[["k", "t"]].groupby("k").sum(), "datetime"),
    "merge how": (lambda f: f.merge(f, on="k", how="bogus"), "bogus"),
    "merge on no column": (lambda f: f.merge(f, on="bogus"), "bogus"),
    "merge on too many words": (lambda f: f.merge(f, on="k", left_on="x"), "left_on"),
    "merge on one side": (lambda f: f.merge(f, left_on="k"), "right_on"),
    "merge of unequal numbers of keys": (
        lambda f: f.merge(f, left_on=["k"], right_on=["k", "x"]),
        "",
    ),
    "merge of numbers with strings": (lambda f: f.merge(f, left_on="k", right_on="s"), "k"),
    "merge validate": (lambda f: f.merge(f, on="k", validate="1:1"), ""),
    "merge validates bogus": (lambda f: f.merge(f, on="k", validate="bogus"), "bogus"),
    "merge cross on a key": (lambda f: f.merge(f, on="k", how="cross"), "on"),
    "merge without suffixes": (lambda f: f.merge(f, on="k", suffixes=(None, None)), "x"),
    "merge with nothing in common": (lambda f: f[["k"]].merge(f[["x"]]), ""),
    "drop duplicates of no column": (lambda f: f.drop_duplicates("bogus"), "bogus"),
    "drop duplicates keeping bogus": (lambda f: f.drop_duplicates(keep="bogus"), "keep"),
    "dropna how": (lambda f: f.dropna(how="bogus"), "bogus"),
    "dropna of no column": (lambda f: f.dropna(subset=["bogus"]), "bogus"),
    "dropna of both": (lambda f: f.dropna(how="any", thresh=1), "thresh"),
    "fillna with nothing": (lambda f: f.fillna(), "value"),
    "astype of missing to integers": (lambda f: f["x"].astype("int64"), ""),
    "astype of infinite to integers": (lambda f: (f["x"] / 0).astype("int64"), ""),
    "astype of words to numbers": (lambda f: f["s"].astype("float64"), ""),
    "astype of a bogus dtype": (lambda f: f["k"].astype("bogus"), "bogus"),
    "astype of no column": (lambda f: f.astype({"bogus": "int8"}), "bogus"),
    "add a string": (lambda f: f["k"] + "a", ""),
    "subtract bools": (lambda f: f["b"] - f["b"], ""),
    "an integer out of range": (lambda f: f["i8"] + 1000, "1000"),
    "integers to negative powers": (lambda f: f["k"] ** -1, "negative"),
    "order of categories without one": (lambda f: f["c"] < "v", ""),
    "compare misaligned": (lambda f: f["k"] == f["k"].iloc[:2], "label"),
    "invert floats": (lambda f: ~f["x"], ""),
    "negate strings": (lambda f: -f["s"], ""),
    "strings of numbers": (lambda f: f["k"].str, ".str"),
    "times of numbers": (lambda f: f["k"].dt, ".dt"),
    "categories of numbers": (lambda f: f["k"].cat, ".cat"),
    "a bogus method of strings": (lambda f: f["s"].str.bogus(), "bogus"),
    "rolling by a negative window": (lambda f: f["x"].rolling(-1).sum(), "window"),
    "rolling with too many periods": (
        lambda f: f["x"].rolling(2, min_periods=3).sum(),
        "min_periods",
    ),
    "rolling closed bogus": (lambda f: f["x"].rolling(2, closed="bogus").sum(), "closed"),
    "cumsum of times": (lambda f: f["t"].cumsum(), ""),
    "rank by a bogus method": (lambda f: f["x"].rank(method="bogus"), "method"),
    "rank with a bogus na_option": (lambda f: f["x"].rank(na_option="bogus"), "na_option"),
    "quantile beyond one": (lambda f: f["x"].quantile(2), "[0, 1]"),
    "largest of strings": (lambda f: f["s"].nlargest(1), ""),
    "largest by no column": (lambda f: f.nlargest(1, "bogus"), "bogus"),
    "between inclusive bogus": (lambda f: f["k"].between(0, 1, inclusive="bogus"), "nclusive"),
    "isin a string": (lambda f: f["s"].isin("a"), "str"),
    "place of the greatest of nothing": (lambda f: f["x"].iloc[:0].idxmax(), ""),
    "place of the greatest of missing": (lambda f: f["x"].iloc[1:2].idxmax(), ""),
    "a bogus axis": (lambda f: f.sum(axis=5), "5"),
    "an item of several": (lambda f: f["k"].item(), "1"),
    "sum of numbers and strings": (lambda f: f[["k", "t"]].sum(), ""),
    "clip by a string": (lambda f: f["k"].clip("a"), ""),
    "correlate strings": (lambda f: f.corr(), ""),
    "a set of labels": (lambda f: f[{"k"}], "set"),
    "too many places": (lambda f: f.iloc[0, 0, 0], "3"),
    "too many places in a series": (lambda f: f["k"].iloc[0, 0], "2"),
    "too many labels": (lambda f: f.loc[0, "k", 1], "k"),
    "a place of words": (lambda f: f.iloc["a"], "'a'"),
    "places of words": (lambda f: f.iloc[["a"]], "'a'"),
    "places by a mask of another length": (lambda f: f.iloc[[True]], "length"),
    "labels by a mask of another length": (lambda f: f.loc[np.array([True])], "length"),
    "a series by a mask of another length": (lambda f: f["k"][[True]], "length"),
    "a list in a frame": (lambda f: ["k"] in f, "hashable"),
    "a set in a series": (lambda f: {1} in f["k"], "hashable"),
    "search times for numbers": (lambda f: f["t"].searchsorted(1), "times"),
    "search categories for others": (lambda f: f["c"].searchsorted("z"), "z"),
    "all of rows with times": (lambda f: f[["k", "t"]].all(axis=1), "t"),
    "map na_action": (lambda f: f[["k"]].map(lambda v: v, na_action="bogus"), "bogus"),
    "apply result_type": (lambda f: f.apply(lambda s: s, result_type="bogus"), "result_type"),
    "cumsum skipna": (lambda f: f["k"].cumsum(skipna="bogus"), ""),
    "drop duplicates ignore_index": (lambda f: f.drop_duplicates(ignore_index="bogus"), "bool"),
    "sort ascending": (lambda f: f.sort_values("k", ascending="bogus"), "bool"),
    "sort labels ascending": (lambda f: f.sort_index(ascending="bogus"), "bool"),
    "count values ascending": (lambda f: f["k"].value_counts(ascending="bogus"), "bool"),
    "group numeric_only": (lambda f: f.groupby("k")["x"].sum(numeric_only="bogus"), "numeric_only"),
    "group quantile interpolation": (
        lambda f: f.groupby("k")["x"].quantile(0.5, interpolation="bogus"),
        "bogus",
    ),
    "a divisor of words": (lambda f: f["x"].std(ddof="bogus"), "bogus"),
}

# Methods with an axis, and their other arguments.
TAKE_AXIS = {
    "dropna": (), "fillna": (0,), "ffill": (), "squeeze": (), "sort_index": (), "where": (True,),
    "mask": (True,), "set_axis": ([0, 1, 2],), "rename_axis": ("n",), "droplevel": (0,),
    "take": ([0],), "clip": (0, 1), "agg": ("sum",), "transform": ("cumsum",), "cumsum": (),
    "shift": (), "rank": (), "sum": (), "all": (), "median": (), "idxmin": (), "drop": (0,),
}  # fmt: skip
OF_FRAMES = {
    "reindex": (["x"],), "sort_values": ("x",), "mode": (), "nunique": (), "count": (),
    "quantile": (), "swaplevel": (), "add_prefix": ("p",), "filter": (["x"],), "diff": (),
    "apply": (lambda s: s,), "rename": (str,),
}  # fmt: skip


@pytest.mark.parametrize("method", [*TAKE_AXIS, *OF_FRAMES])
def test_an_axis_that_is_none(method):
    frame = small_frame()[["k", "x"]]
    of = [frame] if method in OF_FRAMES else [frame, frame["x"]]
    for one in of:
        rest = (TAKE_AXIS | OF_FRAMES)[method]
        if rest == (True,):
            rest = (np.ones(one.shape, bool),)
        for axis in (7, "bogus"):
            message = assert_same_error(operator.methodcaller(method, *rest, axis=axis), one)
            assert f"No axis named {axis} for object type" in message


def test_searching_numbers_for_words_raises():
    with pytest.raises(TypeError, match="float64 must be numbers, got 'a'"):
        JaxSeries([1.0, 2.0]).searchsorted("a")


@pytest.mark.parametrize("use", WRONG)
def test_raises_what_pandas_raises(use):
    run, word = WRONG[use]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        message = assert_same_error(run, small_frame())
    assert word in message


@pytest.mark.parametrize(
    "run",
    [
        lambda f: f["bogus"],
        lambda f: f[["k", "bogus"]],
        lambda f: f.sort_values("bogus"),
        lambda f: f.drop(columns="bogus"),
        lambda f: f.set_index("bogus"),
        lambda f: f.groupby("bogus"),
        lambda f: f.merge(f, on="bogus"),
        lambda f: f.drop_duplicates("bogus"),
        lambda f: f.nlargest(1, "bogus"),
        lambda f: f.loc[:, "bogus"],
        lambda f: f.dropna(subset=["bogus"]),
        lambda f: f.groupby("k")["bogus"],
        lambda f: f.groupby("k")[["x", "bogus"]],
    ],
)
def test_an_unknown_column_lists_those_that_there_are(run):
    with pytest.raises(KeyError, match=r"bogus.*'k', 'x'"):
        run(JaxFrame(small_frame()[["k", "x"]]))


# Uses that work in pandas and not here, with the alternative in our message.
NOT_BUILT = {
    "every largest of each group": (lambda f: f.groupby("k").x.nlargest(2, keep="all"), "head"),
}


@pytest.mark.parametrize("use", NOT_BUILT)
def test_what_is_not_built_says_what_works(use):
    run, word = NOT_BUILT[use]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run(small_frame())
    with pytest.raises(NotImplementedError, match=word):
        run(on_device(small_frame()))


def test_columns_that_devices_do_not_hold_are_named():
    with pytest.raises(NotImplementedError, match="'odd'"):
        JaxFrame(pd.DataFrame({"odd": pd.interval_range(0, 2)}))


@pytest.mark.parametrize("dtype", ["int64", "uint64", "float64", "M8[us]"])
def test_64_bits_without_x64_say_how_to_switch_it_on(x64_off, dtype):
    with pytest.raises(TypeError, match=r"'wide'.*jax_enable_x64"):
        JaxFrame(pd.DataFrame({"wide": np.zeros(3, dtype)}))
    with pytest.raises(TypeError, match="jax_enable_x64"):
        JaxSeries(np.zeros(3, dtype), name="wide")
    shown = re.escape(str(np.dtype(dtype)))
    with pytest.raises(TypeError, match=f"got {shown} in 'index'"):
        JaxFrame(pd.DataFrame({"x": np.int8([1])}, index=np.ones(1, dtype)))
    with pytest.raises(TypeError, match="got int64 in 'astype'"):
        JaxSeries(np.int8([1])).astype("int64")


def test_32_bits_need_no_x64(x64_off):
    frame = pd.DataFrame({"x": np.float32([1.5, 2.5]), "i": np.int32([1, 2])})
    pd.testing.assert_frame_equal(JaxFrame(frame).to_pandas(), frame)


def test_columns_of_different_lengths():
    for lengths in ({"x": [1, 2], "y": [1]}, {"x": jnp.zeros(2), "y": jnp.zeros(1)}):
        with pytest.raises(ValueError, match="same length"):
            JaxFrame(lengths)


def test_a_sharding_that_is_none_of_rows():
    with pytest.raises(TypeError, match="row_sharded"):
        JaxFrame({"x": [1]}, sharding=jax.devices()[0])
    with pytest.raises(ValueError, match="row_sharded"):
        JaxFrame({"x": [1]}, sharding=replicated(make_mesh(2)))


def test_arithmetic_of_objects_names_the_column():
    frame = JaxFrame({"lists": [[1], [2, 3]], "x": [1.0, 2.0]})
    for run in (lambda f: f["lists"] + 1, lambda f: f["lists"] * 0.5, lambda f: f["lists"].mean()):
        with pytest.raises((TypeError, NotImplementedError), match="lists"):
            run(frame)


JITTED = {
    "length": lambda f: len(f),
    "labels of rows": lambda f: f.index,
    "values": lambda f: f.to_numpy(),
    "list": lambda f: f["k"].tolist(),
    "a row from the end": lambda f: f.iloc[-2:],
    "distinct values": lambda f: f["k"].unique(),
    "validated merge": lambda f: f.merge(f, on="k", validate="1:1"),
}


@pytest.mark.parametrize("use", JITTED)
def test_what_needs_the_host_says_so_inside_jit(use):
    frame = JaxFrame(small_frame()[["k", "x"]])
    with pytest.raises(NotImplementedError, match=r"inside jit|to_pandas"):
        jax.jit(JITTED[use])(frame)


# Calls with an argument that may be an array of one integer without dimensions.
ONE_INTEGER = {
    "head": lambda s, n: s.head(n),
    "tail": lambda s, n: s.tail(n),
    "nlargest": lambda s, n: s.nlargest(n),
    "iloc": lambda s, n: s.iloc[n],
    "shift": lambda s, n: s.shift(n),
    "diff": lambda s, n: s.diff(n),
    "pct_change": lambda s, n: s.pct_change(n),
    "rolling": lambda s, n: s.rolling(n).sum(),
    "min_periods": lambda s, n: s.rolling(3, min_periods=n).sum(),
    "step": lambda s, n: s.rolling(3, step=n).sum(),
    "ddof": lambda s, n: s.rolling(3).var(ddof=n),
    "expanding": lambda s, n: s.expanding(n).sum(),
    "axis": lambda s, n: s.to_frame("x").sum(axis=n - 1 if np.ndim(n) == 0 else n),
}


@pytest.mark.parametrize("use", ONE_INTEGER.values(), ids=list(ONE_INTEGER))
def test_an_array_of_one_integer_is_that_integer(use):
    series = on_device(pd.Series([3.0, 1.0, 2.0, 5.0]))
    expected = use(series, 2)
    for n in (np.array(2), jnp.array(2), np.array(2, np.uint8)):
        made = use(series, n)
        if isinstance(expected, JaxSeries):
            made, expected_values = made.to_numpy(), expected.to_numpy()
            np.testing.assert_array_equal(made, expected_values)
        else:
            assert made == expected


@pytest.mark.parametrize("n", [np.array([2]), np.array([2, 1]), jnp.array([2, 1]), np.array(1.5)])
@pytest.mark.parametrize("use", [x for x in ONE_INTEGER if x != "iloc"])
def test_an_array_in_place_of_an_integer_is_a_wrong_use(use, n):
    errors = TypeError, ValueError, NotImplementedError
    with pytest.raises(errors, match=r"integer|scalar|axis") as caught:
        ONE_INTEGER[use](on_device(pd.Series([3.0, 1.0, 2.0, 5.0])), n)
    assert "ambiguous" not in str(caught.value)
