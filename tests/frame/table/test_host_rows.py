# SPDX-License-Identifier: Apache-2.0
"""Groups of a function that runs on the host are rows of pandas until arrays are needed."""

import copy
import cProfile
import pickle
import pstats

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from jaxframes.frame import JaxFrame, JaxSeries

PANDAS = pd.DataFrame(
    {
        "k": [2, 1, 2, 1, 3],
        "x": [1.5, np.nan, -4.0, np.nan, 2.0],
        "i": np.array([5, 3, 8, 1, 9], np.int16),
        "b": [True, False, True, True, False],
        "s": ["b", "a", None, "c", "a"],
        "t": pd.to_datetime(["2024-01-02", "2024-01-01", None, "2024-03-01", "2024-01-05"]),
        "n": pd.array([1, None, 3, 4, 5], "Int64"),
    },
    index=[10, 20, 30, 40, 50],
)
# Each asks for another part of a group.
FUNCTIONS = {
    "extremes": lambda g: g.i.max() - g.i.min(),
    "an extreme of NaNs": lambda g: g.x.max(),
    "an extreme with NaNs": lambda g: g.x.max(skipna=False),
    "an extreme of bools": lambda g: g.b.min(),
    "an extreme of strings": lambda g: g.s.max(),
    "an extreme of times": lambda g: g.t.min(),
    "an extreme of nullable integers": lambda g: g.n.max(),
    "a length": lambda g: len(g) + g.shape[0] * 10 + g.x.size * 100,
    "values": lambda g: float(np.nansum(g.x.to_numpy())) + g["i"].tolist()[0],
    "reductions": lambda g: g.x.mean() + g.i.std(ddof=0) - g.x.sum(min_count=2) + g.b.sum(),
    "reductions with NaNs": lambda g: g.x.sum(skipna=False),
    "reductions of a frame": lambda g: g[["x", "b"]].mean(),
    "a method": lambda g: g.x.count() + g.i.sum(),
    "a label": lambda g: g.index[0] + g.x.index[-1],
    "its key": lambda g: g.name * 2,
    "itself": lambda g: g,
    "a column": lambda g: g.i * 2,
    "a new column": lambda g: g.assign(y=g.i.max())[["y"]],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_groups_sees_what_pandas_passes(name):
    function = FUNCTIONS[name]
    result = JaxFrame(PANDAS).groupby("k").apply(function, engine="python").to_pandas()
    expected = PANDAS.groupby("k").apply(function)
    compare = pd.testing.assert_frame_equal
    if isinstance(expected, pd.Series):
        compare = pd.testing.assert_series_equal
    compare(result, expected)


def groups_of(function):
    """What the function returns for each group."""
    results = []
    JaxFrame(PANDAS).groupby("k").apply(
        lambda g: results.append(function(g)) or 0.0, engine="python"
    )
    return results


def test_a_group_is_a_frame_and_a_tree():
    leaves = groups_of(lambda g: jax.jit(lambda f: f[["x", "i"]])(g))
    assert [type(one) for one in leaves] == [JaxFrame] * 3
    pd.testing.assert_frame_equal(leaves[1].to_pandas(), PANDAS[PANDAS.k == 2][["x", "i"]])
    same = groups_of(lambda g: jax.tree.structure(g) == jax.tree.structure(g.copy()))
    assert same == [True] * 3
    columns = groups_of(lambda g: g.x)
    assert [type(one) for one in columns] == [JaxSeries] * 3
    assert groups_of(lambda g: jnp.nansum(g.x.to_jax()).item()) == [0.0, -2.5, 2.0]


@pytest.mark.parametrize(
    "made", [copy.copy, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))]
)
def test_a_group_can_be_copied(made):
    groups = groups_of(lambda g: (made(g), made(g.i)))
    expected = PANDAS[PANDAS.k == 2].drop(columns="k")
    pd.testing.assert_frame_equal(groups[1][0].to_pandas(), expected)
    pd.testing.assert_series_equal(groups[1][1].to_pandas(), expected["i"])


def test_a_group_can_be_changed():
    def change(group):
        before = group.x.max()
        group["x"] = 7.0
        return before, group.x.max(), group["x"].tolist(), len(group)

    changed = groups_of(change)
    assert changed[1:] == [(1.5, 7.0, [7.0, 7.0], 2), (2.0, 7.0, [7.0], 1)]


def calls_of(run):
    profile = cProfile.Profile()
    profile.enable()
    run()
    profile.disable()
    return pstats.Stats(profile).total_calls


def test_a_group_takes_no_more_calls_than_in_pandas():
    rows = pd.DataFrame({"k": np.arange(1200) % 300, "x": np.arange(1200.0)})

    def run(frame, **engine):
        return frame.groupby("k").apply(lambda g: g.x.max() - g.x.min(), **engine)

    ours = JaxFrame(rows)
    run(ours, engine="python")
    assert calls_of(lambda: run(ours, engine="python")) <= calls_of(lambda: run(rows))
