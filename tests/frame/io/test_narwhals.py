# SPDX-License-Identifier: Apache-2.0
"""narwhals takes frames and plans, and gives them back."""

import narwhals
import narwhals.stable.v1
import narwhals.stable.v2
import narwhals.utils
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from jaxframes.frame import JaxFrame, LazyFrame
from narwhals import col

PANDAS = pd.DataFrame({"x": [1.0, 2.0, 4.0], "y": [2, 1, 3], "s": ["b", "a", "b"]})
VERSIONS = [narwhals, narwhals.stable.v1, narwhals.stable.v2]
# What a caller does to a frame, and what pandas makes of it.
STEPS = {
    "filter": (lambda f: f.filter(col("y") > 1), PANDAS[PANDAS.y > 1].reset_index(drop=True)),
    "columns": (lambda f: f.with_columns(z=col("x") * 2), PANDAS.assign(z=PANDAS.x * 2)),
    "group": (
        lambda f: f.group_by("s").agg(col("x").sum()).sort("s"),
        PANDAS.groupby("s", as_index=False)["x"].sum(),
    ),
    "join": (
        lambda f: f.join(f.select("s", z="y"), on="s").sort("y", "z"),
        PANDAS.merge(PANDAS[["s", "y"]].rename(columns={"y": "z"}), on="s")
        .sort_values(["y", "z"])
        .reset_index(drop=True),
    ),
    "concat": (
        lambda f: narwhals.concat([f, f]),
        pd.concat([PANDAS, PANDAS], ignore_index=True),
    ),
}


@pytest.fixture
def frame():
    return JaxFrame(PANDAS)


@pytest.mark.parametrize("version", VERSIONS)
def test_what_nothing_changed_is_given_back_itself(frame, version):
    assert version.from_native(frame).to_native() is frame
    plan = frame.lazy()
    assert version.from_native(plan).to_native() is plan
    assert version.to_native(version.from_native(frame)) is frame


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("is_lazy", [False, True])
def test_results_are_frames_and_plans(frame, name, is_lazy):
    step, expected = STEPS[name]
    if is_lazy:
        result = step(narwhals.from_native(frame.lazy())).to_native()
        assert isinstance(result, LazyFrame)
        result = result.collect()
    else:
        result = step(narwhals.from_native(frame)).to_native()
    assert isinstance(result, JaxFrame)
    pd.testing.assert_frame_equal(result.to_pandas(), expected)


def test_plans_and_frames_become_each_other(frame):
    lazy = narwhals.from_native(frame).lazy()
    assert isinstance(lazy.to_native(), LazyFrame)
    assert isinstance(lazy.collect().to_native(), JaxFrame)
    assert isinstance(lazy.collect("pyarrow").to_native(), pa.Table)
    assert isinstance(lazy.collect("pandas").to_native(), pd.DataFrame)
    with pytest.raises(TypeError, match="Cannot only use `eager_only`"):
        narwhals.from_native(frame.lazy(), eager_only=True)


def test_rows_without_labels_are_handed_over_once(frame, monkeypatch):
    tables = []
    arrow = type(frame).to_arrow
    monkeypatch.setattr(
        type(frame), "to_arrow", lambda self: tables.append(arrow(self)) or tables[-1]
    )
    wrapped = narwhals.from_native(frame[frame.y > 1])
    assert tables == []
    assert wrapped.columns == ["x", "y", "s"]
    assert wrapped["y"].to_list() == [2, 3]
    assert len(tables) == 1


def test_a_series_comes_back_as_arrow_has_it(frame):
    series = narwhals.from_native(frame["x"], series_only=True)
    assert (series * 2).to_native().to_pylist() == [2.0, 4.0, 8.0]


def test_columns_of_one_name_are_refused():
    twins = JaxFrame(np.ones((2, 2)), columns=["a", "a"])
    with pytest.raises(ValueError, match="Duplicate column names found"):
        narwhals.from_native(twins).columns  # noqa: B018


def test_narwhals_functions_make_frames_of_ours(tmp_path):
    made = narwhals.from_dict({"x": [1, 2]}, backend="jaxframes").to_native()
    assert isinstance(made, JaxFrame)
    assert made["x"].tolist() == [1, 2]
    path = str(tmp_path / "rows.parquet")
    JaxFrame(PANDAS).to_parquet(path)
    read = narwhals.read_parquet(path, backend="jaxframes").to_native()
    pd.testing.assert_frame_equal(read.to_pandas(), PANDAS)


def test_the_plugin_knows_our_objects_alone(frame):
    from jaxframes import _narwhals

    ours = [frame, frame["x"], frame.lazy()]
    assert [_narwhals.is_native(one) for one in ours] == [True] * 3
    assert [_narwhals.is_native(one) for one in (PANDAS, pa.table({}), 1)] == [False] * 3
    namespace = _narwhals.__narwhals_namespace__(narwhals.utils.Version.MAIN)
    kinds = [type(namespace.from_native(one)).__name__ for one in ours]
    assert kinds == ["Frame", "ArrowSeries", "Plan"]
