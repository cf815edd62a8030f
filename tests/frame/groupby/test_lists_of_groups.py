# SPDX-License-Identifier: Apache-2.0
"""`agg(list)`: the values of each group as a list, against pandas."""

import numpy as np
import pandas as pd
from frame_parity import EVERYWHERE, assert_parity
from jaxframes.frame import JaxFrame


def orders():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "k": rng.integers(0, 5, 40),
            "s": rng.choice(["x", "yy", "z"], 40),
            "x": rng.normal(size=40),
            "i": rng.integers(0, 9, 40),
            "t": pd.to_datetime(rng.integers(0, 10**6, 40), unit="s"),
        }
    )
    frame.loc[4, "s"] = None
    return frame


def test_columns_of_each_kind():
    assert_parity(lambda f: f.groupby("k").agg(list), orders(), ways=EVERYWHERE)


def test_missing_values_are_members():
    frame = orders()
    frame.loc[3, "x"] = np.nan
    lists = JaxFrame(frame).groupby("k").x.agg(list)
    for got, expected in zip(lists.tolist(), frame.groupby("k").x.agg(list), strict=True):
        np.testing.assert_array_equal(got, expected)


def test_with_other_reductions():
    assert_parity(
        lambda f: (
            f.groupby("s").i.agg(list),
            f.groupby("k").agg(values=("x", list), most=("i", "max")),
            f.groupby("k").i.agg([list, "sum"]),
            f.groupby("k").agg({"x": list, "i": "sum"}),
        ),
        orders(),
    )
    assert_parity(
        lambda f: f.groupby(["k", "s"], sort=False, dropna=False).i.agg(list),
        orders(),
        ways=["eager", "mesh"],
    )


def test_lists_of_lists_and_of_objects():
    frame = orders()[["k", "i"]].assign(j=[[n] * (n % 3) for n in range(40)])
    assert_parity(lambda f: f.groupby("k").j.agg(list), frame, ways=["eager"])
    nested = JaxFrame(orders()).groupby(["k", "s"]).i.agg(list).reset_index()
    twice = nested.groupby("k").i.agg(list)
    expected = orders().groupby(["k", "s"]).i.agg(list).reset_index().groupby("k").i.agg(list)
    assert twice.tolist() == expected.tolist()


def test_the_lists_hold_all_rows():
    frame = orders()
    lists = JaxFrame(frame).groupby("k").i.agg(list)
    assert lists.list.len().tolist() == frame.groupby("k").size().tolist()
    assert lists.explode().tolist() == frame.sort_values("k", kind="stable").i.tolist()
