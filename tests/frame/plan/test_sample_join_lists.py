# SPDX-License-Identifier: Apache-2.0
"""sample, join and the methods of lists in plans, beside the eager methods."""

import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_same
from jaxframes.frame import JaxFrame, JaxSeries, col, scan_parquet

FRAME = pd.DataFrame(
    {"x": np.arange(50) / 4, "k": np.arange(50) % 7, "w": np.arange(50) % 3}, index=range(100, 150)
)


@pytest.mark.parametrize(
    "options",
    [
        {}, {"n": 9}, {"frac": 0.3}, {"n": 70, "replace": True}, {"n": 5, "weights": "w"},
        {"n": 4, "ignore_index": True}, {"n": 0},
    ],
    ids=str,
)  # fmt: skip
def test_a_seed_draws_the_rows_of_the_eager_method(options):
    frame = JaxFrame(FRAME)
    expected = frame[frame.x > 1].sample(random_state=3, **options).to_pandas()
    plan = frame.lazy()[col("x") > 1].sample(random_state=3, **options)
    assert_same(plan.collect(), expected)
    assert_same(plan[["k"]].collect(), expected[["k"]])
    later = plan.assign(y=col("x") * 2).groupby("k").y.sum()
    grouped = expected.assign(y=expected.x * 2).groupby("k").y.sum()
    assert_same(later.collect(), grouped)


def test_each_run_draws_the_same_rows():
    plan = JaxFrame(FRAME).lazy().sample(10)
    assert_same(plan.collect(), plan.collect().to_pandas())
    generator = np.random.default_rng(0)
    plan = JaxFrame(FRAME).lazy().sample(10, random_state=generator)
    assert_same(plan.collect(), plan.collect().to_pandas())


def test_arguments_of_sample_that_a_plan_cannot_hold(tmp_path):
    plan = JaxFrame(FRAME).lazy()
    with pytest.raises(NotImplementedError, match="weights of a plan's rows must be a column"):
        plan.sample(2, weights=np.ones(50))
    with pytest.raises(ValueError, match="larger sample than population"):
        plan.sample(51).collect()
    JaxFrame(FRAME).to_parquet(tmp_path / "f.parquet")
    scan = scan_parquet(tmp_path / "f.parquet").sample(2, random_state=0)
    with pytest.raises(NotImplementedError, match="sample"):
        scan.collect(batch_rows=10)


@pytest.mark.parametrize("how", ["left", "inner", "right", "outer"])
def test_joins_by_labels(how):
    left = FRAME[["x", "k"]]
    right = FRAME[["w"]].iloc[::3].rename(index=lambda label: label + 2)
    plan = JaxFrame(left).lazy().join(JaxFrame(right), how=how)
    assert_same(plan.collect(), left.join(right, how=how))
    both = JaxFrame(left).lazy().join(JaxFrame(right).lazy(), how=how)[["w"]]
    assert_same(both.collect(), left.join(right, how=how)[["w"]])


def test_joins_of_a_column_with_labels():
    names = pd.DataFrame({"name": list("abcde"), "x": 1}, index=[0, 1, 2, 3, 9])
    plan = JaxFrame(FRAME).lazy().join(JaxFrame(names), on="k", suffixes=("", "_of_name"))
    assert_same(plan.collect(), FRAME.join(names, on="k", suffixes=("", "_of_name")))
    plan = JaxFrame(FRAME).lazy().join(JaxSeries(names.name), on="k", how="inner")
    assert_same(plan[["name"]].collect(), FRAME.join(names.name, on="k", how="inner")[["name"]])
    other = JaxFrame(FRAME).lazy()
    assert_same(other.head(2).join(other.head(3), how="cross", suffixes=("_l", "")).collect(),
                FRAME.head(2).join(FRAME.head(3), how="cross", suffixes=("_l", "")))  # fmt: skip
    with pytest.raises(ValueError, match="columns overlap"):
        other.join(JaxFrame(FRAME)).collect()


def test_methods_of_lists():
    frame = JaxFrame({"t": ["a b c", "d e", "f g h i"], "n": [1, 2, 3]})
    frame["words"] = frame.t.str.split()
    plan = frame.lazy()
    plan = plan.assign(
        count=col("words").list.len(), first=col("words").list[0], last=plan.words.list[-1],
        rest=col("words").list[1:],
    )  # fmt: skip
    plan = plan.assign(others=col("rest").list.len())[["count", "first", "last", "others"]]
    words = frame.words
    expected = {
        "count": words.list.len(), "first": words.list[0], "last": words.list[-1],
        "others": words.list[1:].list.len(),
    }  # fmt: skip
    assert_same(plan.collect(), JaxFrame(expected).to_pandas())
    kept = frame.lazy()[col("words").list.len() > 2].n
    assert kept.collect().tolist() == [1, 3]
    with pytest.raises(AttributeError, match="flatten"):
        col("words").list.flatten()
