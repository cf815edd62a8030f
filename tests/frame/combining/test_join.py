# SPDX-License-Identifier: Apache-2.0
import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_operations import functions_for
from frame_parity import assert_parity, assert_same, assert_same_error
from jaxframes.frame import JaxFrame


def sides():
    return (
        mixed_frame(37).set_index("i")[["k", "s"]],
        mixed_frame(23, seed=7).set_index("k")[["b", "x", "s"]],
    )


@pytest.mark.parametrize("how", ["left", "right", "inner", "outer"])
def test_by_labels_of_both_and_by_a_column(how):
    left, right = sides()
    assert_parity(
        lambda a, b: (
            a.join(b, on="k", how=how, suffixes=("", "_r")),
            a.join(b, how=how, suffixes=("_l", "")),
            a.join(b["x"], on="k", how=how, sort=True),
        ),
        left,
        right,
        ways=["eager"],
    )


def test_by_ranges_of_which_one_goes_down():
    left = pd.DataFrame({"x": [1.0, 2, 3, 4]}, index=pd.RangeIndex(7, -1, -2))
    up, down = pd.RangeIndex(9), pd.RangeIndex(8, -1, -1)
    for index in (up, down):
        right = pd.DataFrame({"y": range(9)}, index=index)
        assert_parity(lambda a, b: a.join(b, how="inner"), left, right, ways=["eager"])
        joined = jax.jit(lambda a, b: a.join(b, how="inner", capacity=64))
        assert_same(joined(JaxFrame(left), JaxFrame(right)), left.join(right, how="inner"))


def test_inside_jit():
    left, right = sides()
    joined = jax.jit(lambda a, b: a.join(b["x"], on="k", capacity=320))
    assert_same(joined(JaxFrame(left), JaxFrame(right)), left.join(right["x"], on="k"))


def test_wrong_arguments_are_pandas_errors():
    left, right = sides()
    assert_same_error(lambda a, b: a.join(b), left, right)
    assert_same_error(lambda a, b: a.join(b, on=["k", "s"]), left, right)
    assert_same_error(lambda a, b: a.join(b, how="bogus"), left, right)
    assert_same_error(lambda a, b: a.join(b, lsuffix="_l", suffixes=("", "_r")), left, right)
    assert_same_error(lambda a, b: a.join(b), left, pd.Series([1, 2]))


SEVERAL = pd.DataFrame(
    {"x": range(6), "y": [1.5, 2, np.nan, 0, 1, 7]},
    index=pd.MultiIndex.from_tuples(
        [("b", 2), ("a", 1), ("b", 1), ("c", 2), ("a", 3), ("d", 1)], names=["k", "n"]
    ),
)
BY_KEY = pd.DataFrame({"z": [1, 2, 3], "y": list("uvw")}, pd.Index(["a", "z", "b"], name="k"))
BY_NUMBER = pd.Series([5, 6, 7], index=pd.Index([1, 2, 9], name="n"), name="w")


@pytest.mark.parametrize("how", ["left", "right", "inner", "outer"])
def test_by_one_level_of_labels(how):
    both = {"how": how, "left_index": True, "right_index": True}
    assert_parity(
        lambda f, g, s: (
            f.join(g, how=how, suffixes=("", "_r")),
            g.join(f, how=how, suffixes=("_l", "")),
            f.join(s, how=how),
            s.to_frame().join(f, how=how, sort=True),
            f.merge(g, indicator=True, validate="m:1", **both),
            g.merge(f, indicator=True, **both),
            f[:0].join(g["z"], how=how),
            f.join(g.loc[["z"], "z"], how=how),
        ),
        SEVERAL,
        BY_KEY,
        BY_NUMBER,
        ways=["eager", "mesh"],
    )


def test_by_one_level_of_labels_in_jit_and_wrong_labels():
    joined = jax.jit(lambda a, b: a.join(b["z"], how="inner", capacity=32))
    expected = SEVERAL.join(BY_KEY["z"], how="inner")
    assert_same(joined(JaxFrame(SEVERAL), JaxFrame(BY_KEY)), expected)
    twice = pd.concat([BY_NUMBER, BY_NUMBER])
    assert_same_error(lambda f, s: f.join(s), SEVERAL, twice)
    assert_same_error(lambda f, g: f.join(g.z.rename_axis("other")), SEVERAL, BY_KEY)
    assert_same_error(lambda f, g: f.join(g.z.rename_axis(None)), SEVERAL, BY_KEY)


BERLIN = pd.date_range("2024-01-01", periods=4, freq="h", tz="Europe/Berlin")
LABELS = {
    "two zones": (BERLIN, BERLIN[1:].tz_convert("America/New_York")),
    "two zones and two units": (
        BERLIN.as_unit("s"), BERLIN[2:].tz_convert("UTC").as_unit("ms").rename("t")
    ),
    "integers and a zone": (pd.Index([1, 2]), BERLIN),
    "a zone and integers": (BERLIN, pd.Index([1, 2])),
    "integers and objects": (pd.Index([1, 2, 3]), pd.Index([2, 3, 5], dtype=object)),
    "integers and mixed objects": (pd.Index([1, 2]), pd.Index([2, "a"], dtype=object)),
    "objects and strings": (pd.Index(["b", "c"], dtype=object), pd.Index(["a", "b"])),
    "strings and integers": (pd.Index(["a", "b"]), pd.Index([1, 2])),
    "strings in no order and integers": (pd.Index(["b", "a"]), pd.Index([1, 2])),
    "bools and objects": (pd.Index([True, False]), pd.Index([True, "x"], dtype=object)),
}  # fmt: skip


@pytest.mark.parametrize("how", ["left", "right", "inner", "outer", "left_anti", "right_anti"])
@pytest.mark.parametrize("name", LABELS)
def test_labels_of_two_dtypes(name, how):
    a, b = LABELS[name]
    left = pd.DataFrame({"x": range(len(a))}, index=a)
    right = pd.DataFrame({"y": range(len(b))}, index=b)
    assert_parity(lambda a, b: a.join(b, how=how), left, right, ways=["eager"])


def test_labels_of_two_zones_inside_jit():
    left = pd.DataFrame({"x": range(4)}, index=BERLIN)
    right = pd.DataFrame({"y": range(3)}, index=BERLIN[1:].tz_convert("UTC"))
    for how in ("left", "inner"):
        joined = jax.jit(lambda a, b, how=how: a.join(b, how=how, capacity=8))
        assert_same(joined(JaxFrame(left), JaxFrame(right)), left.join(right, how=how))


@pytest.mark.parametrize("how", ["left", "outer"])
def test_levels_of_two_zones(how):
    def frame(times, label):
        index = pd.MultiIndex.from_arrays([range(len(times)), times], names=["a", "t"])
        return pd.DataFrame({label: range(len(times))}, index=index)

    left, right = frame(BERLIN[:3], "x"), frame(BERLIN[[0, 2]].tz_convert("UTC"), "y")
    assert_parity(lambda a, b: a.join(b, how=how), left, right, ways=["eager"])


MISSING_LABELS = [
    pd.to_datetime(["2020-03-01", "2020-01-01", None, "2021-02-02"]),
    pd.to_timedelta([3, 1, None, 2]),
    pd.PeriodIndex(["2020-03", "2020-01", "NaT", "2021-01"], freq="M"),
    pd.CategoricalIndex(["c", "a", None, "b"], categories=["b", "c", "a"]),
    pd.Index([3.0, 1.0, np.nan, 2.0]),
    pd.Index([3, 1, None, 2], dtype="Int64"),
    pd.Index(["c", "a", None, "b"]),
    pd.to_datetime(["2020-03-01", "2020-01-01", None, "2021-02-02"]).astype(
        "timestamp[ns][pyarrow]"
    ),
]


@pytest.mark.filterwarnings("ignore:Sorting by default")
@pytest.mark.parametrize("labels", MISSING_LABELS, ids=lambda labels: str(labels.dtype))
def test_missing_labels_come_last_in_a_union(labels):
    left = pd.DataFrame({"x": [0, 1]}, index=labels[:2])
    right = pd.DataFrame({"y": [0, 1, 2, 3]}, index=labels[::-1])

    def joined(f, g):
        both = functions_for(f).concat
        return (
            f.join(g, how="outer"),
            g.join(f, how="outer"),
            both([f, g], axis=1),
            both([g, f], axis=1, sort=True),
        )

    assert_parity(joined, left, right, ways=["eager"])


def test_an_index_is_a_key_of_the_rows():
    times = pd.DataFrame({"v": range(4)}, pd.date_range("2024-01-30", periods=4, freq="12h"))
    days = pd.DataFrame({"day": pd.to_datetime(["2024-01-30", "2024-01-31"]), "w": [1, 2]})
    assert_parity(
        lambda t, d: (
            t.merge(d, left_on=t.index.normalize(), right_on="day", how="left"),
            t.merge(d.set_index("day"), left_on=t.index.normalize(), right_index=True),
            d.merge(t, left_on="day", right_on=t.index, how="left"),
            d.merge(d, on=pd.Index(["day", "w"]).tolist()),
        ),
        times,
        days,
        ways=["eager", "mesh"],
    )


@pytest.mark.parametrize("sort", [False, True])
@pytest.mark.parametrize("how", ["left", "right", "inner", "outer"])
def test_lists_of_frames(how, sort):
    a = pd.DataFrame({"x": [1, 2, 3]}, index=list("abc"))
    b = pd.DataFrame({"y": [4.0, 5.0]}, index=list("bd"))
    c = pd.DataFrame({"z": ["p", "q"]}, index=list("ca"))
    assert_parity(lambda a, b, c: a.join([b, c], how=how, sort=sort), a, b, c, ways=["eager"])
    assert_parity(lambda a, b, c: a.join([b.y, c]), a, b, c, ways=["eager"])
    repeated = pd.concat([b, b])
    assert_parity(lambda a, b, c: a.join([b, c]), a, repeated, c, ways=["eager"])
    for wrong in (
        lambda f: f.join([f], on="x"),
        lambda f: f.join([f], suffixes=("_l", "_r")),
        lambda f: f.join([f]),
    ):
        assert_same_error(wrong, a)
