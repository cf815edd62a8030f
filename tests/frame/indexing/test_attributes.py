# SPDX-License-Identifier: Apache-2.0
"""Attributes of frames and series: size, labels, dtypes and names."""

import copy

import jax
import pandas as pd
import pytest
from frame_examples import complexes, mixed_frame
from frame_parity import assert_same, on_device

FRAMES = {
    "many": mixed_frame(),
    "one": mixed_frame(1),
    "no rows": mixed_frame(0),
    "no columns": mixed_frame()[[]],
    "levels": mixed_frame().set_index(["s", "k"]).rename_axis(columns="all"),
}


@pytest.mark.parametrize("case", FRAMES)
def test_sizes_and_labels(case):
    frame = FRAMES[case]
    ours = on_device(frame)
    assert (ours.shape, ours.size, ours.ndim) == (frame.shape, frame.size, frame.ndim)
    assert (len(ours), ours.empty) == (len(frame), frame.empty)
    assert_same(ours.columns, frame.columns)
    assert_same(ours.index, frame.index)
    assert_same(tuple(ours.axes), tuple(frame.axes))
    for label, series in frame.items():
        got = ours[label]
        assert (got.shape, got.size, got.ndim) == (series.shape, series.size, series.ndim)
        assert (got.name, got.empty) == (label, series.empty)


def test_dtypes():
    frame = pd.concat([mixed_frame(), complexes()[["z", "w"]]], axis=1)
    for few in (frame, frame[:0], frame[[]]):
        ours = on_device(few)
        pd.testing.assert_series_equal(ours.dtypes, few.dtypes)
        for label in few:
            assert ours[label].dtype == ours[label].dtypes == few[label].dtype


def test_a_name_may_be_set_and_is_hashable():
    series = on_device(mixed_frame()["x"])
    for name in ("new", None, 3, ("a", 1)):
        series.name = name
        assert series.name == name
        assert_same(series, mixed_frame()["x"].rename(name))
    with pytest.raises(TypeError, match="hashable"):
        series.name = ["x"]


def test_size_is_an_array_inside_jit():
    frame = mixed_frame()
    ours = on_device(frame)

    @jax.jit
    def sizes(f):
        rows = f[f.k > 1]
        return rows.shape, rows.size, rows.x.size, f.empty, f[f.k > 9].empty

    shape, size, of_series, is_empty, none_left = sizes(ours)
    expected = frame[frame.k > 1]
    assert tuple(map(int, shape)) == expected.shape
    assert (int(size), int(of_series)) == (expected.size, len(expected))
    assert (bool(is_empty), bool(none_left)) == (False, True)
    with pytest.raises(NotImplementedError, match="shape"):
        jax.jit(len)(ours)


def test_columns_with_leading_underscores():
    frame = pd.DataFrame({"_k": [1, 2, 1], "_id": [3, 5, 4], "x": [1.0, 2.0, 4.0]})

    def run(f):
        joined = f.merge(f[f._k == 1], on="_id", how="left", indicator=True)
        return (
            f[f._id > 3]._k,
            joined[joined._merge == "left_only"][["_id"]],
            f.groupby("x")._id.max(),
        )

    expected = run(frame)
    ours = on_device(frame)
    assert_same(run(ours), expected)
    assert_same(tuple(one.collect() for one in run(ours.lazy())), expected)
    assert_same(ours.rolling(2)._id.sum(), frame.rolling(2)._id.sum())
    assert_same(
        ours.apply(lambda row: row._id + row.x, axis=1),
        frame.apply(lambda row: row._id + row.x, axis=1),
    )
    ours._id = frame._id = 7
    assert_same(ours, frame)
    for one in (ours, ours.lazy()):
        assert list(copy.copy(one)) == list(frame)
        with pytest.raises(AttributeError, match="_no"):
            one._no  # noqa: B018


def noted(notes, **columns):
    frame = pd.DataFrame(columns)
    frame.attrs = notes
    return frame


NOTED = noted(
    {"source": "till"},
    n=[1, 2, 3], x=[1.5, None, 2.0], s=["a", "b", "a"], b=[True, False, True],
    t=pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03"]),
)  # fmt: skip
RESULTS = [
    lambda f: f.assign(z=1), lambda f: f.rename(columns={"n": "k"}), lambda f: f.reset_index(),
    lambda f: f.set_index("s"), lambda f: f.drop(columns="n"), lambda f: f[["n", "x"]].T,
    lambda f: f.describe(), lambda f: f[["n", "x"]].sum(), lambda f: f[["n", "x"]].std(),
    lambda f: f.pivot_table(index="s", values="x"), lambda f: f.iloc[0], lambda f: f.loc[0],
    lambda f: f.xs(0), lambda f: f.n + 1, lambda f: 1 + f.n, lambda f: f[["n"]] > 1,
    lambda f: f.s.str.upper(), lambda f: f.s.str.len(), lambda f: f.n.map({1: 2}),
    lambda f: f.n.map(lambda v: v + 1), lambda f: f.t.dt.year, lambda f: f[["n", "x"]].cumsum(),
    lambda f: f[["n", "x"]].rank(), lambda f: f[["n", "x"]].corr(), lambda f: -f[["n"]],
    lambda f: f[["n", "x"]].agg(["sum", "mean"]), lambda f: f.nunique(), lambda f: f.count(),
    lambda f: f[["n", "x"]].quantile(0.5), lambda f: f[["n", "x"]].sum(axis=1),
    lambda f: f.melt(id_vars="n", value_vars=["x"]), lambda f: f[["n", "x"]].stack(),
    lambda f: f.merge(f[["n"]], on="n"), lambda f: f.groupby("s").x.sum(), lambda f: f.mode(),
    lambda f: f.set_index("t").x.resample("D").sum(), lambda f: f.x.rename("k"),
    lambda f: f.select_dtypes("number"), lambda f: f.eval("n + 1"), lambda f: f.query("n > 1"),
    lambda f: f.add_prefix("p"), lambda f: f.x.between(1, 2), lambda f: f.compare(f),
    lambda f: f.set_index("t").at_time("00:00"), lambda f: f.n.reset_index(),
    lambda f: f.value_counts(), lambda f: f.s.value_counts(), lambda f: f.n.duplicated(),
    lambda f: next(f.iterrows())[1], lambda f: dict(f.items())["n"],
]  # fmt: skip


@pytest.mark.parametrize("made", RESULTS)
def test_results_have_the_notes_of_pandas(made):
    ours = on_device(NOTED)
    ours.attrs = NOTED.attrs
    assert made(ours).attrs == made(NOTED).attrs
    assert ours.to_pandas().attrs == ours["n"].to_pandas().attrs == NOTED.attrs


@pytest.mark.parametrize(
    "made",
    [
        lambda a, b: a + b, lambda a, b: a > b, lambda a, b: a.n - b.n, lambda a, b: a.n.rsub(b.n),
        lambda a, b: a.add(b.n, axis=0), lambda a, b: a.n + b, lambda a, b: (a.n > 0) & (b.n > 0),
        lambda a, b: a.where(b > 0), lambda a, b: a.fillna(b), lambda a, b: a.merge(b, on="n"),
        lambda a, b: a.assign(k=b.n), lambda a, b: a.combine_first(b),
    ],
)  # fmt: skip
def test_results_of_two_have_the_notes_of_pandas(made):
    for notes in [({}, {"q": 1}), ({"q": 1}, {}), ({"q": 1}, {"z": 2}), ({"q": 1}, {"q": 1})]:
        pair = [noted(own, n=[1, 2]) for own in notes]
        ours = [on_device(frame) for frame in pair]
        for frame, own in zip(ours, notes, strict=True):
            frame.attrs = own
        assert made(*ours).attrs == made(*pair).attrs


def test_notes_stay_when_a_frame_changes():
    def changed(frame):
        frame.attrs["q"] = 1
        frame["k"] = 1
        frame.loc[0, "n"] = 5
        return frame.attrs

    frame = pd.DataFrame({"n": [1, 2]})
    assert changed(on_device(frame)) == changed(frame.copy())
