# SPDX-License-Identifier: Apache-2.0
"""Dtypes that pandas takes from values: a plan takes them from all rows, as an eager call does."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frame_parity import assert_same
from jaxframes.frame import JaxFrame, from_arrow, scan_parquet
from jaxframes.frame.plan._optimize import RULES
from jaxframes.frame.stream import _plan_stage, _reader

FRAME = pd.DataFrame(
    {
        "id": [1, 2, 3, 4],
        "u": np.array([200, 100, 200, 7], "uint8"),
        "z": [2, 1, 0, 1],
        "b": [True, False, True, True],
        "t": np.array(["2020-01-01", "NaT", "2021-05-05", "2022-01-01"], "M8[ms]"),
        "s": ["a", "b", None, "d"],
    }
)
OTHER = pd.DataFrame(
    {"id": [2, 3, 4, 5], "i8": np.array([-128, 5, 6, 7], "int8"), "flag": [True, False, True, True]}
)
# Each takes a dtype from values; a filter of `id > 1` or a limit leaves rows that give another one.
STEPS = {
    "where": lambda f, o: f.assign(w=f.u.where(f.id > 1)),
    "mask": lambda f, o: f.assign(w=f.u.mask(f.id == 1)),
    "where a larger number": lambda f, o: f.assign(w=f.u.where(f.id > 1, 1000)),
    "a choice between columns": lambda f, o: f.assign(w=f.u.where(f.id > 1, f.id * 90)),
    "map": lambda f, o: f.assign(w=f.u.map({200: 4, 100: 5})),
    "map of strings": lambda f, o: f.assign(w=f.s.map({"a": 1, "b": 2, "d": 3})),
    "replace": lambda f, o: f.assign(w=f.u.replace(7, 1000)),
    "replace by a float": lambda f, o: f.assign(w=f.id.replace(1, 0.5)),
    "clip": lambda f, o: f.assign(w=f.u.clip(upper=7.5)),
    "floordiv": lambda f, o: f.assign(w=f.id // f.z),
    "mod": lambda f, o: f.assign(w=f.id % f.z),
    "field of a time": lambda f, o: f.assign(w=f.t.dt.year),
    "length of strings": lambda f, o: f.assign(w=f.s.str.len()),
    "left join": lambda f, o: f.merge(o, on="id", how="left").rename(columns={"i8": "w"}),
    "nested": lambda f, o: f.assign(w=(-f.u.where(f.id > 1)).abs() + f.u),
}
ENDS = {
    "a filter": lambda f: f[f.id > 1],
    "a limit": lambda f: f.head(2),
    "an expression": lambda f: f.assign(n=-f.w, m=f.w * f.w)[["n", "m"]],
    "a filter, then an expression": lambda f: (lambda g: g.assign(n=-g.w)[["n"]])(f[f.id > 1]),
    "rows with a value": lambda f: f[f.w.notna()],
    "the greatest": lambda f: f.groupby("z")[["w"]].max(),
    "columns": lambda f: f[["w"]],
}


def queries():
    """Each step followed by each end."""
    return [(step, end) for step in STEPS for end in ENDS]


@pytest.mark.parametrize(("step", "end"), queries())
def test_dtypes_are_those_of_all_rows(step, end, tmp_path):
    expected = ENDS[end](STEPS[step](FRAME, OTHER))
    frames = JaxFrame(FRAME), JaxFrame(OTHER)
    assert_same(ENDS[end](STEPS[step](*frames)), expected)
    plan = ENDS[end](STEPS[step](*(frame.lazy() for frame in frames)))
    assert plan.schema.tolist() == expected.dtypes.tolist()
    assert_same(plan.collect(), expected)
    assert_same(plan.collect(optimizations=dict.fromkeys(RULES, False)), expected)
    for batch_rows in (1, 3):
        assert_same(plan.collect(batch_rows=batch_rows), expected)
    FRAME.to_parquet(tmp_path / "rows.parquet", row_group_size=2)
    plan = ENDS[end](STEPS[step](scan_parquet(tmp_path / "rows.parquet"), frames[1].lazy()))
    assert plan.schema.tolist() == expected.dtypes.tolist()
    assert_same(plan.collect(), expected)
    assert_same(plan.collect(batch_rows=2), expected)


@pytest.mark.parametrize("end", ["a filter", "a limit", "rows with a value", "columns"])
def test_bools_stay_objects(end):
    def query(f):
        return ENDS[end](f.assign(w=f.b.where(f.id > 1)))

    expected = query(FRAME)
    assert_same(query(JaxFrame(FRAME)), expected)
    plan = query(JaxFrame(FRAME).lazy())
    assert plan.schema.tolist() == expected.dtypes.tolist()
    for batch_rows in (None, 1, 3):
        assert_same(plan.collect(batch_rows=batch_rows), expected)


@pytest.mark.parametrize("rule", RULES)
def test_no_rule_changes_a_dtype(rule):
    frames = JaxFrame(FRAME).lazy(), JaxFrame(OTHER).lazy()
    for step in STEPS.values():
        for end in ENDS.values():
            plan = end(step(*frames))
            others = {name: name == rule for name in RULES}
            expected = plan.schema.tolist()
            assert plan.collect(optimizations={rule: False}).dtypes.tolist() == expected
            assert plan.collect(optimizations=others).dtypes.tolist() == expected


def test_batches_have_one_dtype(tmp_path):
    plan = STEPS["floordiv"](JaxFrame(FRAME).lazy(), None)[["w"]]
    assert [str(batch.dtypes["w"]) for batch in plan.batches(1)] == ["float64"] * 4
    plan.to_parquet(tmp_path / "rows.parquet", batch_rows=1)
    assert pd.read_parquet(tmp_path / "rows.parquet").w.tolist() == (FRAME.id // FRAME.z).tolist()


@pytest.mark.parametrize("step", STEPS)
def test_batches_of_few_rows_have_the_dtypes_of_all(step):
    expected = ENDS["an expression"](STEPS[step](FRAME, OTHER))
    plan = ENDS["an expression"](STEPS[step](JaxFrame(FRAME).lazy(), JaxFrame(OTHER).lazy()))
    parts = [batch.to_pandas() for batch in plan.batches(2, batch_rows=1)]
    assert [part.dtypes.tolist() for part in parts] == [expected.dtypes.tolist()] * 2
    assert_same(pd.concat(parts), expected)
    resumed = plan.batches(2, batch_rows=1)
    next(resumed)
    (last,) = plan.batches(2, batch_rows=1, state=resumed.state())
    assert_same(last, parts[1])


@pytest.mark.parametrize("batch_rows", [None, 1])
def test_a_filter_of_a_series_keeps_its_dtype(batch_rows):
    def query(f):
        w = f.u.where(f.id > 1)
        return -w[w > 50]

    plan = query(JaxFrame(FRAME).lazy())
    assert plan.dtype == np.float64
    assert_same(plan.collect(batch_rows=batch_rows), query(FRAME))


@pytest.mark.parametrize("limits", [{}, {"batch_rows": 1}])
@pytest.mark.parametrize("none", [lambda f: f[f.id > 9], lambda f: f.head(0)])
def test_a_file_without_rows_has_the_dtypes_of_the_result(tmp_path, limits, none):
    def query(f):
        return none(f).assign(w=lambda g: g.u.where(g.id > 1), y=lambda g: g.id // g.z)[["w", "y"]]

    query(JaxFrame(FRAME).lazy()).to_parquet(tmp_path / "none.parquet", **limits)
    assert_same(pd.read_parquet(tmp_path / "none.parquet"), query(FRAME))


# The passes over the rows of the frame: one for the result, and one for each step whose dtype the
# values of needed columns decide.
PASSES = {
    "no step by values": (1, lambda f, o: f.assign(w=f.id.where(f.id > 1, 0), y=f.id // 2)),
    "where": (2, lambda f, o: f.assign(w=f.id.where(f.id > 1))),
    "a column that is dropped": (1, lambda f, o: f.assign(w=f.id.where(f.id > 1))[["u"]]),
    "one of two columns": (2, lambda f, o: f.assign(w=f.id // f.z, y=f.id % f.z)[["w"]]),
    "a year that is compared": (1, lambda f, o: f[(f.t.dt.year >= 2020) & (f.id > 1)]),
    "a year that is compared and added": (
        2,
        lambda f, o: (lambda y: f[(y > 2020) | (y + 1 == 2021)])(f.t.dt.year),
    ),
    "a join at the end": (1, lambda f, o: f.merge(o, on="id", how="left")),
    "a join": (2, lambda f, o: (lambda m: m.assign(w=m.i8 * 2))(f.merge(o, on="id", how="left"))),
    "a join without such columns": (
        1,
        lambda f, o: (lambda m: m.assign(w=m.u * 2)[["w"]])(f.merge(o, on="id", how="left")),
    ),
}


@pytest.mark.parametrize("name", PASSES)
def test_a_first_pass_is_for_needed_columns_whose_values_decide(name, monkeypatch):
    passes, query = PASSES[name]
    left = JaxFrame(FRAME).lazy()
    read = []

    def batches_of(scan, batch_rows, start=0):
        if scan.source == left._plan.source:
            read.append(scan.columns)
        return _reader.batches_of(scan, batch_rows, start)

    monkeypatch.setattr(_plan_stage, "batches_of", batches_of)
    plan = query(left, JaxFrame(OTHER).lazy())
    assert_same(plan.collect(batch_rows=2), query(FRAME, OTHER))
    assert len(read) == passes


def test_columns_that_no_rule_drops_have_one_dtype_too():
    rows = FRAME.assign(n=FRAME.id + 2**53)

    def query(f):
        return f.assign(w=f.n.where(f.id > 1)).sort_values("u", kind="stable")[["u"]]

    plan = query(JaxFrame(rows).lazy())
    got = plan.collect(optimizations={"projection_pushdown": False}, batch_rows=1)
    assert_same(got, query(rows))


def test_a_constant_beyond_the_narrow_dtype():
    left, right = JaxFrame({"k": [1, 3]}), JaxFrame({"k": [1, 2], "i": np.array([-128, 5], "int8")})

    def query(a, b):
        return a.merge(b, on="k", how="left").i - 200

    expected = query(left.to_pandas(), right.to_pandas())
    assert_same(query(left, right), expected)
    assert_same(query(left.lazy(), right.lazy()).collect(), expected)


def test_integers_without_a_hole_stay_integers():
    left, right = JaxFrame({"id": [2, 3, 2]}).lazy(), JaxFrame(OTHER).lazy()
    merged = left.merge(right, on="id", how="left")
    plan = merged.assign(n=merged.i8 * merged.i8)
    expected = left.collect().to_pandas().merge(OTHER, on="id", how="left")
    expected = expected.assign(n=expected.i8 * expected.i8)
    assert plan.schema.tolist() == expected.dtypes.tolist()
    assert_same(plan.collect(), expected)
    assert_same(plan.collect(batch_rows=1), expected)


def test_the_schema_of_a_reduction_within_an_expression():
    plan = JaxFrame(FRAME).lazy()
    plan = plan.assign(
        w=plan.id - plan.id.max(), y=plan.u // plan.id.min(), x=plan.id / plan.id.sum()
    )
    expected = FRAME.assign(
        w=FRAME.id - FRAME.id.max(), y=FRAME.u // FRAME.id.min(), x=FRAME.id / FRAME.id.sum()
    )
    assert plan.schema.tolist() == expected.dtypes.tolist()
    assert_same(plan.collect(batch_rows=3), expected)
    least = JaxFrame(FRAME).lazy()[["u"]].min()
    assert least.dtype == FRAME[["u"]].min().dtype == least.collect().dtype


@pytest.mark.parametrize("how", ["outer", "right"])
@pytest.mark.parametrize("least", [0, 9])
def test_the_schema_of_a_join_by_keys_of_two_dtypes(how, least):
    def query(f, o):
        return f[f.id > least].merge(o, on="half", how=how)

    rows = FRAME[["id"]].assign(half=[1, 2, np.nan, 4])
    others = OTHER[["flag"]].assign(half=[2, 3, 5, 6])
    expected = query(rows, others)
    plan = query(JaxFrame(rows).lazy(), JaxFrame(others).lazy())
    assert plan.schema.tolist() == expected.dtypes.tolist()
    assert_same(plan.collect(), expected)


@pytest.mark.parametrize("num_rows", [0, 1, 3])
def test_times_filled_by_one_of_a_finer_unit(num_rows, tmp_path):
    def query(f):
        return f.assign(w=f.t.fillna(pd.Timestamp("2020-01-01 00:00:00.000000001")))

    rows = FRAME[["t"]][:num_rows]
    rows.to_parquet(tmp_path / "rows.parquet", row_group_size=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = query(rows)
    for plan in (query(JaxFrame(rows).lazy()), query(scan_parquet(tmp_path / "rows.parquet"))):
        assert plan.schema.tolist() == expected.dtypes.tolist()
        for batch_rows in (None, 1, 2):
            assert_same(plan.collect(batch_rows=batch_rows), expected)


def test_a_join_at_the_end_keeps_objects_without_a_hole():
    right = JaxFrame({"i": [0, 1], "b": [False, True]}).lazy()
    right = right.assign(b=right.b.where(right.i == 0)).head(1)
    plan = JaxFrame({"i": [0, 2]}).lazy().merge(right, on="i", how="right")
    for batch_rows in (None, 1, 2):
        assert plan.collect(batch_rows=batch_rows).dtypes.tolist() == [np.int64, np.object_]


@pytest.mark.parametrize("rows", [0, 2])
@pytest.mark.parametrize("keeps_all", [True, False])
def test_a_choice_between_types_has_the_dtype_that_its_rows_give_it(rows, keeps_all):
    # Objects, if a value of the other type is taken.
    keep = [True, keeps_all]
    frame = pd.DataFrame({"x": [1, 2], "keep": keep, "t": pd.to_datetime(["2024-01-01"] * 2)})
    frame = frame.assign(t=frame["t"].dt.tz_localize("Asia/Tokyo")).head(rows)
    for of in (
        lambda f: f["x"].where(f["keep"], "a"),
        lambda f: f["t"].where(f["keep"], pd.Timestamp("2024-05-05")),
    ):
        expected = of(frame).dtype
        plan = JaxFrame(frame).lazy().assign(y=of)
        assert plan.dtypes["y"] == plan.collect().dtypes["y"] == expected
        assert plan.collect(batch_rows=1).dtypes["y"] == expected


MOVED = {
    "sort": lambda f, _: f.sort_values("u"),
    "sort by bools": lambda f, _: f.sort_values(["b", "u"]),
    "head of groups": lambda f, _: f.groupby("u").head(1),
    "shift of groups": lambda f, _: f.assign(b=f.groupby("u")["b"].shift(0)),
    "distinct": lambda f, _: f.drop_duplicates("u"),
    "right join": lambda f, g: f.merge(g.head(1), on="u", how="right"),
    "left join": lambda f, g: f.merge(g, on="u", how="left"),
}


@pytest.mark.parametrize("name", MOVED)
@pytest.mark.parametrize("are_files", [False, True])
def test_bools_that_miss_values_elsewhere_stay_objects_where_rows_leave_memory(
    name, are_files, tmp_path
):
    left = pa.table({"u": pa.array([255, 1, 7], pa.uint8()), "b": pa.array([True, None, False])})
    right = pa.table({"u": pa.array([255, 7], pa.uint8()), "k": [3, 2]})
    sides = []
    for at, table in enumerate((left, right)):
        pq.write_table(table, tmp_path / f"{at}.parquet", row_group_size=1)
        memory = from_arrow(table).lazy()
        sides.append(scan_parquet(tmp_path / f"{at}.parquet") if are_files else memory)
    rows = sides[0][sides[0]["u"] > 1]
    moved = MOVED[name](rows, sides[1])
    plan = moved.assign(next=moved["b"] + 1)
    whole = plan.collect()
    assert whole.dtypes.tolist() == plan.schema.tolist()
    assert whole.b.dtype == object
    for batch_rows in (1, 2, 5):
        assert_same(plan.collect(batch_rows=batch_rows), whole.to_pandas())
