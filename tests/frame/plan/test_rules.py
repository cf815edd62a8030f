# SPDX-License-Identifier: Apache-2.0
"""Random plans give the same rows eagerly, lazily, and with every subset of the rules."""

import numpy as np
import pandas as pd
import pytest
from covering import RUNS_ALL
from frame_parity import assert_same
from hypothesis import given, settings
from hypothesis import strategies as st
from jaxframes.frame import JaxFrame, col, concat, scan_parquet
from jaxframes.frame.plan._expression import Expression
from jaxframes.frame.plan._node import Call, bottom_up
from jaxframes.frame.plan._optimize import RULES
from jaxframes.shardings import make_mesh, row_sharded

NUM_ROWS = 60


def rows(seed):
    rng = np.random.default_rng(seed)
    floats = rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, 2.0, -2.25], NUM_ROWS)
    return pd.DataFrame(
        {
            "k": np.sort(rng.integers(0, 5, NUM_ROWS)),
            "x": rng.integers(-40, 40, NUM_ROWS) / 8,
            "y": floats,
            "n": rng.integers(-9, 9, NUM_ROWS),
            "s": rng.choice(["a", "b", "é"], NUM_ROWS),
        }
    )


FRAMES = rows(1), rows(2)
PREDICATES = [
    lambda f: f.x > 0,
    lambda f: f.k >= 3,
    lambda f: ~(f.y > 1),
    lambda f: (f.n < 4) & (f.x * 2 != 3),
    lambda f: (f.s == "a") | (f.k == 2),
    lambda f: f.n.isin([1, 2, -3]) | f.y.isna(),
    lambda f: f.x.between(-2, 3) & (f.s <= "b"),
    lambda f: f.n > f.n.mean(),
    lambda f: f.x - f.x == 0,
    lambda f: f.n // 2 > 0,
]
# Steps of plans: a function of a frame and of a second source.
STEPS = {
    "assign": lambda f, o: f.assign(n=f.n + 1, z=f.x * 2 - f.n),
    "assign of all rows": lambda f, o: f.assign(x=f.x - f.x.max()),
    "rename": lambda f, o: f.rename(columns={"x": "w", "n": "x"}).rename(columns={"w": "n"}),
    "select": lambda f, o: f[["s", "n", "k", "x", "y"]],
    "astype": lambda f, o: f.astype({"n": "float64", "x": "float32"}),
    "fillna": lambda f, o: f.fillna({"y": 7.0}),
    "dropna": lambda f, o: f.dropna(subset=["y"]),
    "dropna of all": lambda f, o: f.dropna(),
    "sort_values": lambda f, o: f.sort_values(["s", "x"], ascending=[True, False]),
    "sort_values anew": lambda f, o: f.sort_values("k", ignore_index=True, kind="stable"),
    "head": lambda f, o: f.head(31),
    "tail": lambda f, o: f.tail(23),
    "nlargest": lambda f, o: f.nlargest(20, "x"),
    "drop_duplicates": lambda f, o: f.drop_duplicates(["k", "s"]),
    "merge": lambda f, o: f.merge(few(o), on="k", suffixes=("", "_o")),
    "merge left": lambda f, o: f.merge(few(o), on="k", how="left", suffixes=("", "_l")),
    "merge right": lambda f, o: few(o).head(4).merge(f, on="k", how="right", suffixes=("_r", "")),
    "merge left of three": lambda f, o: (
        f.merge(few(o).head(3), on="k", how="left", suffixes=("", "_t"))
    ),
    "merge outer": lambda f, o: f.merge(few(o), on="k", how="outer", suffixes=("", "_f")),
    "reset_index": lambda f, o: f.reset_index(drop=True),
    "groupby": lambda f, o: f.groupby(["k", "s"], as_index=False)[["x", "y", "n"]].max(),
    "rows above the mean of groups": lambda f, o: f[f.x >= f.groupby("k")["x"].transform("mean")],
    "isin": lambda f, o: f[f.k.isin(o[o.n > 4].k)],
    "transform": lambda f, o: f.assign(x=f.groupby("k")["x"].transform("max")),
    "concat": lambda f, o: concat([f[f.x > 1], f.head(9)], ignore_index=True),
    "sort by an expression": lambda f, o: f.sort_values([-col("n"), "k"]),
    "itself": lambda f, o: f.merge(few(f), on="k", suffixes=("", "_i")),
    **{f"filter {place}": lambda f, o, p=p: f[p(f)] for place, p in enumerate(PREDICATES)},
}  # fmt: skip
ENDS = {
    "all": lambda f: f,
    "two columns": lambda f: f[["y", "s"]],
    "groups": lambda f: f.groupby("s")["x"].sum(),
    "a column": lambda f: f.n,
    "a reduction": lambda f: f.x.sum(),
}
# Joins may multiply rows: at most one of each kind.
JOINS = ("merge", "merge left", "merge left of three", "merge right", "merge outer", "itself")


def few(frame):
    return frame[frame.n > 4][["k", "x", "n"]].drop_duplicates(["k"])


@st.composite
def plans(draw):
    names = draw(st.lists(st.sampled_from(sorted(STEPS)), max_size=6))
    seen: set[str] = set()
    steps = [name for name in names if name not in JOINS or not (name in seen or seen.add(name))]
    return steps, draw(st.sampled_from(sorted(ENDS)))


def result_of(plan, frame, other):
    steps, end = plan
    for name in steps:
        frame = STEPS[name](frame, other)
    return ENDS[end](frame)


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """Pairs of eager frames and of plans on the same rows: in memory, and in files."""
    eager = tuple(map(JaxFrame, FRAMES))
    folder = tmp_path_factory.mktemp("files")
    scans = []
    for place, frame in enumerate(FRAMES):
        frame.to_parquet(folder / f"{place}.parquet", row_group_size=7)
        scans.append(scan_parquet(folder / f"{place}.parquet"))
    return eager, (tuple(frame.lazy() for frame in eager), tuple(scans))


rules = st.fixed_dictionaries({name: st.booleans() for name in RULES})


@settings(max_examples=500 if RUNS_ALL else 12)
@given(plan=plans(), optimizations=rules, is_scan=st.booleans())
def test_random_plans_give_the_eager_rows(sources, plan, optimizations, is_scan):
    eager, lazy = sources
    expected = as_pandas(result_of(plan, *eager))
    recorded = result_of(plan, *lazy[is_scan])
    assert_rules_need_their_steps(recorded._plan)
    for chosen in (None, optimizations):
        assert_same(as_pandas(recorded.collect(optimizations=chosen)), expected)


def assert_rules_need_their_steps(root):
    called = {node.method for node in bottom_up(root) if isinstance(node, Call)}
    for rule in RULES.values():
        if rule.steps is not None and not rule.steps & called:
            assert rule.apply(root) == root


@settings(max_examples=60 if RUNS_ALL else 2)
@given(plan=plans(), optimizations=rules)
def test_random_plans_on_a_mesh(plan, optimizations):
    sharding = row_sharded(make_mesh(4))
    eager = tuple(map(JaxFrame, FRAMES))
    sharded = [JaxFrame(frame, sharding=sharding).lazy() for frame in FRAMES]
    expected = as_pandas(result_of(plan, *eager))
    for chosen in (None, optimizations):
        recorded = result_of(plan, *sharded)
        assert_same(as_pandas(recorded.collect(optimizations=chosen)), expected, ulps=64)


def as_pandas(result):
    return result.to_pandas() if hasattr(result, "to_pandas") else result


def test_a_plan_of_the_same_rows_twice_runs_once(sources):
    _, (memory, _) = sources
    frame = memory[0]
    first, second = (frame.sort_values("x")[col("n") > 0] for _ in range(2))
    assert concat([first, second]).explain().count("sort_values") == 1


def test_filters_in_a_row_keep_the_rows_of_all(sources):
    eager, (memory, _) = sources
    fused = {name: name == "filter_fusion" for name in RULES}

    def filtered(frame):
        return frame[col("n") > 2][col("x") > 0][col("k") < 4]

    plan = filtered(memory[0])
    assert plan.explain(optimizations=fused).count("filter") == 1
    assert_same(plan.collect(optimizations=fused), filtered(eager[0]).to_pandas())


@pytest.mark.covered_apart
@pytest.mark.parametrize("how", ["left", "right", "outer"])
def test_a_filter_does_not_turn_matches_into_missing_values(sources, how):
    eager, (memory, _) = sources

    def filtered(frame, other):
        wide = frame[["k", "y"]].rename(columns={"y": "of_left"})
        small = few(other)[["k", "x"]].rename(columns={"x": "of_right"})
        rows = wide.merge(small, on="k", how=how)
        # Labels that nobody needs: filters may move below joins.
        return rows[~(rows.of_right > 0) & ~(rows.of_left < 0)].reset_index(drop=True)

    assert_same(filtered(*memory).collect(), filtered(*eager).to_pandas())


def test_constants_are_folded_and_nothing_else(sources):
    _, (memory, _) = sources
    from_query = Expression("*", (Expression("+", (60, 1)), 2))
    plan = memory[0][Expression("<", (col("x"), from_query))]
    assert "col('x') < 122" in plan.explain()
    assert "60 + 1" in plan.explain(optimizations={"constant_folding": False})
    for kept in (col("y") - col("y"), col("y") * 0, col("y") + 0, 1 / col("y")):
        assert repr(kept) in memory[0].assign(z=kept).explain()
    divided = Expression("/", (1, 0))
    with pytest.raises(ZeroDivisionError):
        memory[0].assign(z=Expression("+", (col("x"), divided)))


@pytest.mark.parametrize("step", STEPS)
def test_filters_and_limits_after_each_step(sources, step):
    eager, (memory, _) = sources
    for after, end in (
        ("filter 0", "all"),
        ("filter 1", "groups"),
        ("filter 7", "two columns"),
        ("head", "all"),
    ):
        plan = [step, after], end
        expected = as_pandas(result_of(plan, *eager))
        assert_same(as_pandas(result_of(plan, *memory).collect()), expected)


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer", "cross", "left_anti"])
def test_filters_after_each_join(sources, how):
    eager, (memory, _) = sources

    def joined(f, o):
        keys = {} if how == "cross" else {"on": "k"}
        return f[["k", "x", "n"]].merge(few(o), how=how, suffixes=("", "_o"), **keys)

    masks = [lambda f: f.x > 0, lambda f: ~(f.n > 2)]
    if how != "left_anti":
        masks += [lambda f: f.n_o > 5, lambda f: f.x_o.isna()]
    if how != "cross":
        masks += [lambda f: (f.k > 2) & (f.x > 0)]
    for mask in masks:
        for kept in (["x"], ["n_o"] if how != "left_anti" else ["k"]):
            expected, plan = (
                joined(*pair)[mask].sort_values(["x", "n"], ignore_index=True)[kept]
                for pair in (eager, memory)
            )
            assert_same(plan.collect(), as_pandas(expected))


@pytest.mark.parametrize("how", ["left", "right", "left_anti"])
@pytest.mark.parametrize("is_scan", [False, True])
def test_integers_that_become_floats_in_a_join_stay_floats(is_scan, how, tmp_path):
    """A row without a match decides the dtype of the other side's integers, also if it is gone."""
    left = pd.DataFrame({"k": [1, 2, 3], "s": ["a", "b", "a"]})
    right = pd.DataFrame({"k": [1, 2], "n": [5, 6], "x": [0.5, 1.5]})
    if how == "right":
        left, right = right, left
    eager = JaxFrame(left), JaxFrame(right)
    plans = tuple(frame.lazy() for frame in eager)
    if is_scan:
        paths = [tmp_path / f"{name}.parquet" for name in ("left", "right")]
        for frame, path in zip(eager, paths, strict=True):
            frame.to_parquet(path)
        plans = tuple(map(scan_parquet, paths))

    def kept(left, right, columns):
        rows = left.merge(right, on="k", how=how)
        rows = rows[rows.k < (9 if how == "left_anti" else 3)][columns]
        return rows.reset_index(drop=True)

    for columns in (["k", "n"], ["s", "x"], ["k", "n", "s"]):
        expected = kept(left, right, columns)
        assert_same(as_pandas(kept(*eager, columns)), expected)
        assert_same(kept(*plans, columns).collect(), expected)
    # Floats and strings are the same with and without these rows.
    pushed, stays = (kept(*plans, one).explain() for one in (["s", "x"], ["s", "n"]))
    is_below = [text.index("filter") > text.index("merge") for text in (pushed, stays)]
    assert is_below == [True, False]


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_may_be_off(sources, rule):
    eager, (_, scans) = sources
    for plan in (
        (["assign", "filter 0", "merge", "sort_values", "filter 1", "head"], "two columns"),
        (["assign", "assign of all rows"], "a column"),
    ):
        expected = as_pandas(result_of(plan, *eager))
        assert_same(result_of(plan, *scans).collect(optimizations={rule: False}), expected)


@pytest.mark.parametrize("is_scan", [False, True])
def test_a_right_join_of_few_rows_swaps_its_sides(sources, is_scan):
    eager, lazy = sources
    off = {"small_build_side": False}

    def joined(frames, left, right, **options):
        few, many = frames[0].head(7)[left], frames[1][right]
        return few.merge(many, how="right", **options)

    for options in (
        {"on": "k"},
        {"on": ["s", "k"], "suffixes": ("", "_m")},
        {"left_on": "n", "right_on": "k", "suffixes": ("_f", None)},
    ):
        columns = ["k", "x", "n", "s"], ["s", "n", "y", "k", "x"]
        plan = joined(lazy[is_scan], *columns, **options)
        assert "how='left'" in plan.explain()
        assert "how='right'" in plan.explain(optimizations=off)
        expected = as_pandas(joined(eager, *columns, **options))
        assert_same(plan.collect(), expected)
        assert_same(plan.collect(optimizations=off), expected)
        assert_same(plan.collect(batch_rows=13), expected)


def test_other_right_joins_keep_their_sides(sources):
    eager, (memory, _) = sources

    def plans(f, o):
        many = o[["k", "x", "y"]]
        return (
            many.merge(f.head(7)[["k", "n"]], on="k", how="right"),
            f.head(7)[["y", "n"]].merge(many, on="y", how="right"),
            f.head(7)[["x", "k"]].merge(many, left_on="k", right_on="x", how="right"),
            f.groupby("k", as_index=False)[["n"]].sum().merge(many, on="k", how="right"),
        )

    for plan, expected in zip(plans(*memory), plans(*eager), strict=True):
        assert "how='left'" not in plan.explain()
        assert_same(plan.collect(), as_pandas(expected))


def test_zeros_of_keys_keep_their_signs():
    few, many = JaxFrame({"k": [0.0], "a": [1]}), JaxFrame({"k": [-0.0, 2.0], "b": [1, 2]})
    expected = few.merge(many, on="k", how="right")
    assert_same(few.lazy().merge(many.lazy(), on="k", how="right").collect(), as_pandas(expected))


def test_the_scan_of_a_shared_source_is_not_narrowed_for_one_use(sources):
    _, (_, scans) = sources
    scan = scans[0]
    plan = concat([scan[col("k") > 3], scan[col("k") < 1]])
    expected = pd.concat([FRAMES[0][FRAMES[0].k > 3], FRAMES[0][FRAMES[0].k < 1]])
    assert_same(plan.collect(), expected)


@pytest.mark.parametrize("is_scan", [False, True])
def test_columns_of_one_label_stay(sources, is_scan):
    eager, lazy = sources
    for step in (
        lambda f: f.rename(columns={"x": "n"}),
        lambda f: f.rename(columns={"x": "z"}).rename(columns={"n": "z"})[["z", "k"]],
        lambda f: f.rename(columns={"x": "n"})[col("k") > 2].head(9),
        lambda f: f[["k", "x", "k"]].sort_values("x"),
    ):
        expected = as_pandas(step(eager[0]))
        assert_same(step(lazy[is_scan][0]).collect(), expected)
