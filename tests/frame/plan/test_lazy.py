# SPDX-License-Identifier: Apache-2.0
"""A plan gives what the eager methods give, which give what pandas gives."""

import pickle

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frame_parity import assert_same
from jaxframes.frame import JaxFrame, LazyFrame, LazySeries, col, concat, from_pandas, scan_parquet
from jaxframes.frame.plan._optimize import RULES


def rows(num_rows=50):
    rng = np.random.default_rng(7)
    return pd.DataFrame(
        {
            "k": rng.integers(0, 4, num_rows),
            "x": rng.integers(-40, 40, num_rows) / 8,
            "y": rng.integers(0, 9, num_rows).astype(np.int32),
            "s": rng.choice(["a", "b", "é"], num_rows),
            "t": pd.to_datetime(rng.integers(0, 10**6, num_rows), unit="s").as_unit("us"),
            "f": np.where(rng.random(num_rows) < 0.2, np.nan, rng.integers(0, 5, num_rows)),
        }
    )


FRAME = rows()
OTHER = pd.DataFrame({"k": [0, 1, 1, 7], "x": [1.0, 2.0, 3.0, 4.0], "z": [5, 6, 7, 8]})

# Functions of two frames that pandas, eager frames and plans take alike.
QUERIES = {
    "mask": lambda f, o: f[f.x > 1],
    "masks": lambda f, o: f[(f.x > 0) & ~(f.y < 3) | (f.s == "a")],
    "mask of masked": lambda f, o: f[f.x > 0][["x", "s"]],
    "query": lambda f, o: f.query("x > 0 and s == 'a' or y in [1, 2]"),
    "query of labels": lambda f, o: f.query("index > 20")[["s"]],
    "columns": lambda f, o: f[["s", "x"]],
    "assign": lambda f, o: f.assign(a=f.x * 2 + f.y, b=f.y - 1),
    "assign a function": lambda f, o: f.assign(a=lambda g: g.x + 1, b=lambda g: g.a * 3),
    "assign then mask": lambda f, o: f.assign(a=lambda g: g.x + 0.5)[lambda g: g.a > 1],
    "rename": lambda f, o: f.rename(columns={"x": "y", "y": "x"})[["x"]],
    "drop": lambda f, o: f.drop(columns=["t", "s"]),
    "astype": lambda f, o: f.astype({"k": "float64", "y": "int64"})[["k"]],
    "fillna": lambda f, o: f.fillna({"f": 9.0}),
    "dropna": lambda f, o: f.dropna(),
    "dropna of a subset": lambda f, o: f.dropna(subset=["f"])[["x"]],
    "sort_values": lambda f, o: f.sort_values(["k", "x"], ascending=[False, True]),
    "sorted and masked": lambda f, o: f.sort_values("x", kind="stable")[lambda g: g.y > 4],
    "nlargest": lambda f, o: f.nlargest(5, "x"),
    "nsmallest": lambda f, o: f.nsmallest(5, ["y", "x"])[["s"]],
    "head": lambda f, o: f.head(7),
    "tail": lambda f, o: f.tail(-7),
    "head of assigned": lambda f, o: f.assign(a=f.x + 1).head(3).head(9),
    "drop_duplicates": lambda f, o: f.drop_duplicates(["k", "s"]),
    "reset_index": lambda f, o: f[f.x > 1].reset_index(),
    "set_index": lambda f, o: f.set_index("s")[["x"]],
    "quantile": lambda f, o: f[["k", "x"]].quantile(0.5),
    "merge": lambda f, o: f.merge(o, on="k"),
    "merge left": lambda f, o: f.merge(o, on="k", how="left", suffixes=("", "_o"))[["x_o", "y"]],
    "merge outer": lambda f, o: f.merge(o, on="k", how="outer")[lambda g: g.z > 5],
    "merge of keys": lambda f, o: f.merge(o, left_on="y", right_on="z")[["x_x", "z"]],
    "groupby": lambda f, o: f.groupby("k")[["x", "f"]].sum(),
    "groupby of a column": lambda f, o: f[f.x > 0].groupby(["k", "s"])["x"].mean(),
    "groupby agg": lambda f, o: f.groupby("s").agg(a=("x", "max"), n=("y", "count")).reset_index(),
    "groupby agg of a dict": lambda f, o: f.groupby("s").agg({"x": "sum", "y": "min"}),
    "groupby all": lambda f, o: f[["k", "x", "y"]].groupby("k", as_index=False).max(),
    "groupby size": lambda f, o: f.groupby("k").size(),
    "groupby transform": lambda f, o: f.groupby("k")["x"].transform("sum"),
    "groups of a join": lambda f, o: f.merge(o, on="k")[lambda g: g.z > 5].groupby("s").x_x.sum(),
    "rolling": lambda f, o: f[["x", "y"]].sort_values("x", kind="stable").rolling(3).sum(),
    "value_counts": lambda f, o: f[["k", "s"]].value_counts(),
    "value_counts of a column": lambda f, o: f.s.value_counts(),
    "sum": lambda f, o: f[["x", "y"]].sum(),
    "max of a column": lambda f, o: f[f.k == 2].x.max(),
    "a column": lambda f, o: f.x * 2 - f.y,
    "a column of strings": lambda f, o: f.s.str.upper(),
    "largest of groups": lambda f, o: f.groupby("k")["x"].sum().sort_values().head(2),
    "unique": lambda f, o: f.s.unique(),
    "rows above the mean of groups": lambda f, o: f[f.x > f.groupby("k")["x"].transform("mean")],
    "values above a mean elsewhere": lambda f, o: f.x[f.x > o.x.mean() / 2],
    "isin of another plan": lambda f, o: f[~f.k.isin(o[o.z > 6].k)][["x", "k"]],
    "a column of before": lambda f, o: f.assign(x=f.x + 1).assign(y=f.y * 2, z=f.x),
    "a share": lambda f, o: f.x.where(f.s == "a", 0.0).sum() / f.x.sum() * 100,
    "values of groups": lambda f, o: f.groupby("k").x.sum() / f.groupby("k").x.count(),
    "first of groups": lambda f, o: f.sort_values("x", kind="stable").groupby("k").head(2),
    "assign of a column that is there": lambda f, o: f.assign(x=f.y)[["s", "x"]].head(3),
    "assign in place": lambda f, o: f.assign(x=f.y),
    "set and read at once": lambda f, o: f.assign(x=f.y, y=f.x),
    "rolling of a column": lambda f, o: f.x.rolling(3).sum(),
    "rows above the mean": lambda f, o: f[f.x > f.x.mean()][lambda g: g.y > 3],
}  # fmt: skip


@pytest.fixture(scope="module")
def ours():
    return from_pandas(FRAME), from_pandas(OTHER)


@pytest.mark.parametrize("query", QUERIES)
def test_a_plan_gives_what_pandas_gives(query, ours):
    frame, other = ours
    result = QUERIES[query](frame.lazy(), other.lazy())
    assert not isinstance(result, (JaxFrame, pd.DataFrame))
    expected = QUERIES[query](FRAME, OTHER)
    for optimizations in (None, dict.fromkeys(RULES, False)):
        assert_same(result.collect(optimizations=optimizations), expected, ulps=1)


def test_concat_takes_plans_and_frames(ours):
    frame, _ = ours
    expected = pd.concat([FRAME, FRAME[FRAME.x > 0]])
    plan = concat([frame, frame.lazy()[col("x") > 0]])
    assert isinstance(plan, LazyFrame)
    assert_same(plan.collect(), expected)
    with pytest.raises(NotImplementedError, match=r"concat\(keys=\).*collect\(\)"):
        concat([frame, plan], keys=["a", "b"])
    filtered = concat([frame.lazy(), frame], ignore_index=True)[col("x") > 1][["s"]]
    whole = pd.concat([FRAME, FRAME], ignore_index=True)
    assert_same(filtered.collect(), whole[whole.x > 1][["s"]])


def test_keys_are_labels_or_expressions(ours):
    frame, _ = ours
    plan = frame.lazy()
    for keys in ([-col("y"), "x"], [-plan.y, "x"]):
        ordered = plan.sort_values(keys)[col("x") > 0]
        assert "filter" in ordered.explain().splitlines()[1]
        assert_same(
            ordered.collect(), frame.sort_values([-col("y"), "x"])[col("x") > 0].to_pandas()
        )
    expected = frame.groupby(col("y") % 3)["x"].sum().to_pandas()
    assert_same(plan.groupby(plan.y % 3)["x"].sum().collect(), expected)
    assert_same(plan.s.str[0].collect(), FRAME.s.str[0])


def test_the_schema_is_known_before_anything_runs(ours):
    frame, other = ours
    for query in ("assign", "merge left", "groupby agg", "astype"):
        plan = QUERIES[query](frame.lazy(), other.lazy())
        expected = QUERIES[query](FRAME.head(0), OTHER.head(0)).dtypes
        pd.testing.assert_series_equal(plan.schema, expected)
        assert list(plan) == list(expected.index)
    assert frame.lazy().x.dtype == np.float64
    assert frame.lazy().x.name == "x"


def test_wrong_uses_raise_where_they_are_written(ours):
    plan = ours[0].lazy()
    with pytest.raises(KeyError, match="bogus"):
        plan.sort_values("bogus")
    with pytest.raises(ValueError, match="bogus"):
        plan.filter(col("bogus") > 1)
    with pytest.raises(NotImplementedError, match=r"describe.*collect\(\)"):
        plan.describe()
    with pytest.raises(NotImplementedError, match=r"assign.*ndarray.*collect\(\)"):
        plan.assign(z=np.arange(50))
    with pytest.raises(NotImplementedError, match=r"agg.*function.*collect\(\)|groupby.*collect"):
        plan.groupby("k").agg(lambda group: group)
    with pytest.raises(NotImplementedError, match=r"collect\(\)"):
        plan.x.shift().to_numpy()
    with pytest.raises(NotImplementedError, match=r"sort_values.*Assign it to a column first"):
        plan.sort_values(plan.head(3).x)
    with pytest.raises(TypeError, match=r"immutable. Use assign"):
        plan["z"] = 1
    with pytest.raises(TypeError, match=r"truth value.*collect\(\)"):
        bool(plan)
    with pytest.raises(TypeError, match=r"collect\(\)"):
        len(plan)
    with pytest.raises(AttributeError, match="bogus"):
        _ = plan.bogus
    with pytest.raises(AttributeError, match="immutable"):
        plan.x = 1
    with pytest.raises(ValueError, match="no rule 'bogus'"):
        plan.collect(optimizations={"bogus": False})
    with pytest.raises(ValueError, match="distinct labels"):
        JaxFrame(pd.DataFrame([[1, 2]], columns=["x", "x"])).lazy()


def test_plans_are_values(ours, tmp_path):
    frame, _ = ours
    assert frame.lazy()[col("x") > 1] == frame.lazy()[col("x") > 1]
    assert hash(frame.lazy()[col("x") > 1]) == hash(frame.lazy()[col("x") > 1])
    assert frame.lazy()[col("x") > 1] != frame.lazy()[col("x") > 1.0]
    FRAME.to_parquet(tmp_path / "f.parquet")
    plan = scan_parquet(tmp_path / "f.parquet")[col("x") > 1].sort_values("x")
    data = pickle.dumps(plan)
    assert len(data) < 2000
    assert pickle.loads(data) == plan
    assert_same(pickle.loads(data).collect(), FRAME[FRAME.x > 1].sort_values("x", kind="stable"))
    with pytest.raises(TypeError, match="scan_parquet"):
        pickle.dumps(frame.lazy().head(3))


def test_results_are_written_and_iterated(ours, tmp_path):
    plan = ours[0].lazy()[col("x") > 0]
    expected = FRAME[FRAME.x > 0]
    plan.to_parquet(tmp_path / "f.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "f.parquet"), expected)
    text = plan[["y"]].reset_index(drop=True).to_csv(index=False)
    assert text.split() == ["y", *map(str, expected.y)]
    batches = list(plan.batches(7))
    assert [len(batch) for batch in batches][:-1] == [7] * (len(batches) - 1)
    assert_same(concat(batches), expected)
    with pytest.raises(ValueError, match="positive"):
        plan.batches(0)


def test_series_of_a_plan_are_lazy(ours):
    assert isinstance(ours[0].lazy().x + 1, LazySeries)
    assert "col('x') + 1" in repr(ours[0].lazy().x + 1)


def test_functions_in_plans_are_traced_only():
    frame = JaxFrame({"x": [1, 2, 3], "s": ["a", "b", "c"]})
    plan = frame.lazy()
    for batch_rows in (None, 2):
        assert plan.x.map(lambda v: v + 1).collect(batch_rows=batch_rows).tolist() == [2, 3, 4]
        assert plan.s.map(str.upper).collect(batch_rows=batch_rows).tolist() == ["A", "B", "C"]
    for call in (
        lambda: plan.x.map(lambda v: f"{v}").collect(),
        lambda: plan.assign(y=col("x").map(lambda v: f"{v}")).collect(batch_rows=2),
    ):
        with pytest.raises(NotImplementedError, match="map: the function must be JAX-traceable"):
            call()
    assert frame.assign(y=col("x").map(lambda v: f"{v}")).y.tolist() == ["1", "2", "3"]
    for call in (lambda: plan.groupby("s").apply(len), lambda: plan.rolling(2).apply(len)):
        with pytest.raises((NotImplementedError, AttributeError), match="apply"):
            call()


def test_methods_of_windows_that_a_plan_lacks_are_named():
    windows = JaxFrame({"x": [1, 2, 3]}).lazy().rolling(2)
    with pytest.raises(NotImplementedError, match=r"a plan cannot hold median\. Call"):
        windows.median()
    with pytest.raises(NotImplementedError, match=r"Select them before: plan\[columns\].rolling"):
        windows["x"]
    assert not hasattr(windows, "no_such_method")


def test_the_values_of_a_plan_are_no_array(ours):
    plan = ours[0].lazy()
    for convert in (np.asarray, lambda s: np.where(s > 0, s, 0), jnp.asarray):
        with pytest.raises(TypeError, match=r"not known before it runs. Call collect\(\) first"):
            convert(plan.x)


def test_bools_that_miss_values_are_objects_also_behind_a_join_that_leaves_none(tmp_path):
    left = pa.table({"u": pa.array([255, 1], pa.uint8()), "b": pa.array([True, None])})
    right = pa.table({"u": pa.array([255, 1], pa.uint8()), "k": [3, 2]})
    sides = []
    for name, table in (("left", left), ("right", right)):
        pq.write_table(table, tmp_path / f"{name}.parquet")
        sides.append(scan_parquet(tmp_path / f"{name}.parquet"))
    joined = sides[0].merge(sides[1].head(1), on="u", how="right")
    plan = joined.assign(v=joined["u"].fillna(255), w=joined["b"] + 1)
    for result in (plan.collect(), plan.collect(batch_rows=1)):
        assert result.dtypes.tolist() == plan.schema.tolist()
        assert result.b.dtype == object


@pytest.mark.parametrize("how", ["left", "right", "outer"])
@pytest.mark.parametrize("num_rows", [3, 0])
def test_bools_of_a_join_whose_rows_all_match_stay_bools(how, num_rows):
    left = pd.DataFrame({"u": np.array([255, 1, 7], np.uint8), "b": [True, False, False]})
    right = pd.DataFrame({"k": [3, 2, 1], "u": np.array([255, 1, 7], np.uint8), "c": True})
    sides = [side.iloc[:num_rows] for side in (left, right)]

    def joined(left, right):
        rows = left.merge(right[right["k"] > 0], on="u", how=how)
        return rows[~rows["b"] & ~rows["c"].isna()]

    expected = joined(*sides)
    plan = joined(*(JaxFrame(side).lazy() for side in sides))
    plan = plan.assign(v=plan["b"] + 1)
    for result in (plan.collect(), plan.collect(batch_rows=1), plan.collect(batch_rows=3)):
        pd.testing.assert_frame_equal(
            result.to_pandas(), expected.assign(v=expected["b"] + 1), check_index_type=False
        )
