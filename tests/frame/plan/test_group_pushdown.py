# SPDX-License-Identifier: Apache-2.0
"""Rows of a join are reduced by their join keys before it, where groups of joined rows follow."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frame_parity import assert_same
from jaxframes.frame import JaxFrame, col, scan_parquet
from jaxframes.frame.plan.rules import _group_pushdown

OFF = {"group_pushdown": False}
NUM_ROWS = 600


def rows(seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "k": rng.integers(-3, 6, NUM_ROWS),
            "j": rng.integers(0, 3, NUM_ROWS).astype("int8"),
            # Their sums are exact in any order.
            "x": rng.choice(
                [np.nan, np.inf, -np.inf, -0.0, 1.5, -2.25],
                NUM_ROWS,
                p=[0.2, 0.005, 0.005, 0.2, 0.3, 0.29],
            ),
            "n": rng.integers(-(2**62), 2**62, NUM_ROWS),
            "u": rng.integers(0, 200, NUM_ROWS).astype("uint8"),
            "f": rng.integers(-40, 40, NUM_ROWS).astype("float32") / 8,
            "s": rng.choice(["a", "b"], NUM_ROWS),
        }
    )


ROWS = rows(1)
# Some keys have no match, and some have several.
FEW = pd.DataFrame(
    {
        "k": [-3, 0, 1, 1, 5, 9, 2, 2, 2],
        "j": np.array([0, 1, 2, 0, 1, 2, 0, 2, 2], "int8"),
        "v": [4, 4, 7, 8, 7, 4, 8, 8, 8],
        "t": ["p", None, "q", "p", "q", "p", "r", "r", "p"],
        "w": [0.5, np.nan, -0.0, 0.0, 2.0, 2.0, np.nan, 1.0, 1.0],
    }
)
PUSHED = {
    "named": lambda f, o: f.merge(o, on="k").groupby("v").agg(x=("x", "sum"), most=("n", "max")),
    "a dict": lambda f, o: f.merge(o, on="k").groupby("t").agg({"u": "min", "x": "sum"}),
    "a method": lambda f, o: f.merge(o, on="k").groupby("v")[["x", "n", "u"]].sum(),
    "a series": lambda f, o: f.merge(o, on="k").groupby("v").x.max(),
    "agg of columns": lambda f, o: f.merge(o, on="k").groupby("v")[["x"]].agg("min"),
    "keys as columns": lambda f, o: (
        f.merge(o, on="k").groupby(["t", "v"], as_index=False).agg(total=("n", "sum"))
    ),
    "missing groups": lambda f, o: f.merge(o, on="k").groupby("w", dropna=False)[["x"]].sum(),
    "by the join key": lambda f, o: f.merge(o, on="k").groupby(["k", "v"])[["n"]].sum(),
    "left": lambda f, o: f.merge(o, on="k", how="left").groupby("v", dropna=False)[["u"]].sum(),
    "two keys": lambda f, o: f.merge(o, on=["k", "j"]).groupby("v")[["x", "u"]].min(),
    "other names": lambda f, o: (
        f.merge(o.rename(columns={"k": "key"}), left_on="k", right_on="key")
        .groupby(["key"])[["n"]]
        .sum()
    ),
    "after filters": lambda f, o: (
        f[f.x > 0].merge(o[o.v > 4], on="k").groupby("t").agg(x=("x", "sum"))
    ),
    "through two joins": lambda f, o: (
        f.merge(o[["k"]], on="k").merge(o, on="k").groupby("v").agg(n=("n", "sum"))
    ),
    "columns of one name": lambda f, o: (
        f.merge(o.assign(s=1), on="k", suffixes=("", "_o")).groupby("v")[["n"]].sum()
    ),
    "no matches": lambda f, o: f.merge(o[o.k > 8], on="k").groupby("v")[["n"]].sum(),
    "keys that are no labels of rows": lambda f, o: (
        f.set_index("s").merge(o, on="k").groupby("v")[["n"]].sum()
    ),
}  # fmt: skip
LEFT = {
    "groups of left columns": lambda f, o: f.merge(o, on="k").groupby("s")[["n"]].sum(),
    "in order of appearance": lambda f, o: f.merge(o, on="k").groupby("v", sort=False)[["n"]].sum(),
    "right values": lambda f, o: f.merge(o, on="k").groupby("v")[["w"]].sum(),
    "sums of narrow floats": lambda f, o: f.merge(o, on="k").groupby("v")[["f"]].sum(),
    "means": lambda f, o: f.merge(o, on="k").groupby("v")[["n"]].mean(),
    "counts": lambda f, o: f.merge(o, on="k").groupby("v").agg(x=("x", "count")),
    "two reductions": lambda f, o: (
        f.merge(o, on="k").groupby("v").agg(a=("x", "min"), b=("x", "max"))
    ),
    "a right side of unknown length": lambda f, o: (
        f.merge(o.merge(o, on="k")[["k"]], on="k").groupby("k")[["n"]].sum()
    ),
    "options": lambda f, o: f.merge(o, on="k").groupby("v")[["x"]].sum(min_count=3),
    "outer": lambda f, o: f.merge(o, on="k", how="outer").groupby("v")[["n"]].sum(),
    "right": lambda f, o: o.merge(f, on="k", how="right").groupby("v")[["n"]].sum(),
    "keys as values": lambda f, o: f.merge(o, on="k").groupby("v")[["k"]].sum(),
    "floats as keys": lambda f, o: f.merge(o, left_on="f", right_on="w").groupby("v")[["n"]].sum(),
    "strings": lambda f, o: f.merge(o, on="k").groupby("v")[["s"]].max(),
    "other steps": lambda f, o: f.merge(o, on="k").assign(y=col("n") + 1).groupby("v")[["y"]].sum(),
    "suffixes": lambda f, o: f.merge(o.assign(n=1), on="k").groupby("v")[["n_x"]].sum(),
    "indicator": lambda f, o: f.merge(o, on="k", indicator=True).groupby("v")[["n"]].sum(),
    "a key twice": lambda f, o: (
        f.merge(o.rename(columns={"k": "a"}), left_on=["k", "k"], right_on=["a", "v"])
        .groupby("v")[["n"]]
        .sum()
    ),
    "new keys": lambda f, o: f.assign(k=f.k + 1).merge(o, on="k").groupby("v")[["n"]].sum(),
}  # fmt: skip


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    ROWS.to_parquet(path, row_group_size=110)
    return scan_parquet(path)


def num_groupbys(plan, **options):
    return plan.explain(**options).count("groupby")


@pytest.mark.parametrize("name", PUSHED)
def test_groups_of_a_join_are_those_of_pandas(name, plan):
    pushed = PUSHED[name](plan, JaxFrame(FEW).lazy())
    num_joins = 2 if name == "through two joins" else 1
    assert num_groupbys(pushed, optimizations=OFF) == 1
    assert num_groupbys(pushed) == 1 + num_joins
    expected = PUSHED[name](JaxFrame(ROWS), JaxFrame(FEW)).to_pandas()
    assert_same(pushed.collect(), expected)
    assert_same(pushed.collect(optimizations=OFF), expected)
    assert_same(pushed.collect(batch_rows=70), expected)


@pytest.mark.parametrize("name", LEFT)
def test_other_groups_follow_the_join(name, plan):
    left = LEFT[name](plan, JaxFrame(FEW).lazy())
    assert num_groupbys(left) == num_groupbys(left, optimizations=OFF) == 1
    assert_same(left.collect(), LEFT[name](JaxFrame(ROWS), JaxFrame(FEW)).to_pandas())


def test_the_rows_that_reach_the_join_are_few(plan, monkeypatch):
    seen, merge = [], JaxFrame.merge

    def watched(frame, *given, **options):
        seen.append(len(frame))
        return merge(frame, *given, **options)

    pushed = PUSHED["named"](plan, JaxFrame(FEW).lazy())
    monkeypatch.setattr(JaxFrame, "merge", watched)
    pushed.collect(batch_rows=70)
    assert max(seen) == ROWS.k.nunique()


def test_keys_of_a_wide_range_stay(tmp_path, plan, monkeypatch):
    frame = JaxFrame(FEW).lazy()
    monkeypatch.setattr(_group_pushdown, "MOST_KEYS", 8)
    # Nine keys, and nine rows on the right.
    assert num_groupbys(PUSHED["named"](plan, frame)) == 1
    monkeypatch.setattr(_group_pushdown, "MOST_KEYS", 9)
    assert num_groupbys(PUSHED["named"](plan, frame)) == 2
    monkeypatch.setattr(_group_pushdown, "LEAST_ROWS_OF_KEY", NUM_ROWS // 9 + 1)
    assert num_groupbys(PUSHED["named"](plan, frame)) == 1


def test_a_join_that_others_use_stays(plan):
    joined = plan.merge(JaxFrame(FEW).lazy(), on="k")
    both = joined.groupby("v")[["n"]].sum().merge(joined[["v"]].drop_duplicates(), on="v")
    assert num_groupbys(both) == 1


def test_the_least_of_integers_with_nulls(tmp_path):
    holes = pa.array([None, 3, None, 4] * 30, pa.int32())
    table = pa.table({"k": np.repeat([0, 1], 60), "n": holes, "m": np.arange(120)})
    pq.write_table(table, tmp_path / "rows.parquet")
    few = pd.DataFrame({"k": [0, 1], "v": [1, 1]})
    plan, eager = scan_parquet(tmp_path / "rows.parquet"), JaxFrame(table)
    for function in ("min", "sum"):
        result = plan.merge(JaxFrame(few).lazy(), on="k").groupby("v")[["n"]].agg(function)
        assert num_groupbys(result) == 2
        expected = eager.merge(JaxFrame(few), on="k").groupby("v")[["n"]].agg(function)
        assert_same(result.collect(), expected.to_pandas())


def test_infinities_of_both_signs_in_one_part(tmp_path):
    n = np.arange(64)
    v = np.where(n % 16 == 1, np.inf, np.where(n % 16 == 9, -np.inf, 1.0))
    pd.DataFrame({"k": n % 4, "v": v}).to_parquet(tmp_path / "rows.parquet", row_group_size=16)
    few = JaxFrame({"k": [0, 1, 2, 3], "r": ["a", "a", "b", "b"]}).lazy()
    joined = scan_parquet(tmp_path / "rows.parquet").merge(few, on="k")
    for plan in (
        joined.groupby("r").agg({"v": "sum"}),
        joined.groupby("r")[["v"]].sum(),
        joined.groupby("r")[["v"]].agg("sum"),
        joined.groupby("r").agg(v=("v", "sum")),
    ):
        assert num_groupbys(plan) == 2
        for options in ({}, {"optimizations": OFF}, {"batch_rows": 16}, {"batch_rows": 1}):
            np.testing.assert_array_equal(plan.collect(**options).v, [np.nan, 32.0])
