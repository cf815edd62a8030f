# SPDX-License-Identifier: Apache-2.0
"""unstack."""

import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device
from jaxframes import frame


def test_levels_of_results_of_groupby():
    assert_parity(
        lambda f: (
            f.groupby(["k", "c"]).i.sum().unstack(),
            f.groupby(["k", "c"]).i.sum().unstack("k", fill_value=0),
            f.groupby(["k", "c"]).i.agg(["min", "count"]).unstack(),
            f.groupby(["k", "s"]).size().unstack(fill_value=0),
        ),
        mixed_frame()[["k", "c", "i", "s"]],
        ways=["eager", "mesh"],
    )


def test_several_levels():
    assert_parity(
        lambda f: (
            f.groupby(["k", "s", "b"])[["i", "x"]].max().unstack([1, 2]),
            f.groupby(["k", "s", "b"]).i.max().unstack([2, 1]),
            f.groupby(["k", "s", "b"]).i.max().unstack("s").unstack(),
        ),
        mixed_frame()[["k", "s", "b", "i", "x"]],
        ways=["eager"],
    )


def test_missing_labels_come_first():
    levels = [["b", "a", "b", None], [np.nan, 1.0, 2.0, 2.0]]
    index = pd.MultiIndex.from_arrays(levels, names=["r", "c"])
    assert_parity(
        lambda s: (s.unstack(), s.unstack(0), s.unstack(fill_value=-1), s.unstack(sort=False)),
        pd.Series([1, 2, 3, 4], index),
        ways=["eager"],
    )


WIDE = pd.DataFrame({"z": [1, 2], "b": [3, 4], "m": [5, 6]}, index=["r2", "r1"])


@pytest.mark.parametrize(
    "run",
    [
        lambda s: s,
        lambda s: s[s > 1],
        lambda s: s.iloc[::-1],
        lambda s: s.sort_values(),
        lambda s: s.swaplevel(),
        lambda s: s.sort_index(),
        lambda s: s * 2 + s,
        lambda s: s.to_frame("v").join(s.to_frame("w")),
        lambda s: s.groupby(level=[0, 1], sort=False).sum(),
        lambda s: s.groupby(level=[0, 1]).sum(),
    ],
)
def test_labels_stay_in_the_order_in_which_stack_made_them(run):
    def unstack(frame):
        rows = run(frame.stack())
        return rows.unstack(), rows.unstack(0), rows

    assert_parity(unstack, WIDE, ways=["eager", "mesh"])


def test_labels_stay_in_the_order_of_the_keys_of_a_concat():
    def unstack(frame, module):
        long = module.concat({"z": frame["z"], "b": frame["b"]}, names=["of", None])
        return long.unstack(), long.unstack("of"), long.drop("b").unstack(0)

    assert_same(unstack(on_device(WIDE), frame), unstack(WIDE, pd))
    index = pd.MultiIndex.from_product([["z", "b"], [2, 1]])
    made = pd.Series(range(4), index.set_levels([["z", "b"], [2, 1]]).set_codes(index.codes))
    assert_same(frame.JaxSeries(made).unstack(), made.unstack())
    assert_same(frame.JaxSeries(made).unstack(0), made.unstack(0))


def test_labels_stay_in_the_order_in_which_groups_and_functions_made_them():
    rows = pd.DataFrame({"g": list("yxyx"), "h": list("bbaa"), "v": [1, 2, 3, 4]})
    assert_parity(
        lambda f: (
            f.groupby(["g", "h"], sort=False).v.sum().unstack(),
            f.groupby("g").v.apply(lambda s: s.describe()).unstack(),
            f.groupby("g").v.quantile([0.9, 0.1]).unstack(),
        ),
        rows,
        ways=["eager"],
    )


def test_one_level_gives_a_series():
    assert_parity(lambda f: f.unstack(), mixed_frame()[["x", "f"]], ways=["eager"])
    labelled = mixed_frame()[["s", "k"]].dropna().drop_duplicates("s").set_index("s")
    assert_parity(lambda f: f.unstack(), labelled, ways=["eager"])


def test_columns_of_one_label_keep_their_values():
    frame = pd.DataFrame([[1, 2.5, 3], [4, 5, 6]], columns=["q", "a", "q"])
    levels = pd.MultiIndex.from_tuples([("a", 1), ("b", 1), ("a", 1)], names=["k", None])
    categories = pd.CategoricalIndex(["q", "a", "q"])
    for labelled in (frame, *(frame.set_axis(one, axis=1) for one in (levels, categories))):
        assert_parity(lambda f: f.unstack(), labelled, ways=["eager", "mesh"])


def test_without_a_level_the_rows_are_the_same():
    assert_parity(
        lambda f: (f.unstack([]), f.i.unstack([]), f.reset_index(drop=True).i.unstack([])),
        mixed_frame().set_index(["k", "s"])[["i", "x"]],
        ways=["eager"],
    )


def test_wrong_uses():
    frame = mixed_frame()[["k", "b", "x"]]
    assert_same_error(lambda f: f.set_index(["k", "b"]).unstack(), frame)
    assert_same_error(lambda f: f.x.unstack(), frame)
    assert_same_error(lambda f: f.set_index(["k", "b"]).unstack("none"), frame)
    for level in ([0, 1], ["b", "k"]):
        assert_same_error(lambda f, at=level: f.set_index(["k", "b"]).x.unstack(at), frame)
        message = assert_same_error(lambda f, at=level: f.set_index(["k", "b"]).unstack(at), frame)
        assert "labels of rows repeat" in message


def test_all_levels_give_a_series():
    index = pd.MultiIndex.from_tuples([("b", 2), ("a", 1), ("b", 1), ("a", 3)], names=["k", "n"])
    frame = pd.DataFrame({"v": [1, 2, 3, 4], "w": [5, 6, 7, 8]}, index)
    assert_parity(
        lambda f: (
            f.unstack([0, 1]),
            f.unstack(["n", "k"]),
            f.rename_axis(columns="c").unstack([0, 1]).unstack("k"),
            f.assign(w=f.w / 2).unstack([1, 0], sort=False),
            f.unstack().unstack(),
            f.stack().unstack([0, 2]),
        ),
        frame,
        ways=["eager", "mesh"],
    )
    wide = frame.set_axis(pd.MultiIndex.from_tuples([("p", 1), ("q", 2)]), axis=1)
    assert_parity(lambda f: f.unstack([0, 1]), wide, ways=["eager"])


KEYS_WITH_MISSING = {
    "strings": ["x", None, "y", "x"],
    "floats": [1.5, np.nan, 0.5, 1.5],
    "datetimes": pd.to_datetime(["2021-01-01", None, "2020-01-01", "2021-01-01"]),
    "timedeltas": pd.to_timedelta([5, None, 1, 5]),
    "categories": pd.Categorical(["x", None, "y", "x"], ["y", "x"]),
}


@pytest.mark.parametrize("kind", KEYS_WITH_MISSING)
def test_a_missing_key_is_where_pandas_puts_it(kind):
    frame = pd.DataFrame({"a": [1, 1, 2, 2], "b": KEYS_WITH_MISSING[kind], "v": [1.0, 2, 3, 4]})

    def tables(f):
        sizes = f.groupby(["a", "b"], dropna=False, observed=True).size()
        sums = f.groupby(["a", "b"], dropna=False, observed=True).sum()
        labels = f[:3].set_index(["a", "b"]).v
        return (
            sizes.unstack(), sizes.unstack(0), sizes.unstack(fill_value=0), sizes[:3].unstack(),
            sums.v.unstack(), sums.unstack("a"), labels.unstack(), labels.unstack(0),
            f[:3].pivot(index="a", columns="b", values="v"),
            f[:3].pivot(index="b", columns="a", values="v"),
        )  # fmt: skip

    assert_parity(tables, frame, ways=["eager"])


def test_a_missing_label_of_counts_of_pairs_is_last():
    frame = on_device(pd.DataFrame({"a": [1, 1, 2], "b": ["y", None, "x"]}))
    for counts, labels in (
        (frame.value_counts(dropna=False), ["y", "x", "-"]),
        (frame.groupby(["a", "b"], dropna=False).size(), ["x", "y", "-"]),
    ):
        assert counts.unstack(fill_value=0).to_pandas().columns.fillna("-").tolist() == labels


def test_columns_of_several_levels_become_rows():
    columns = pd.MultiIndex.from_product([["a", "b"], ["x", "y"]], names=["p", None])
    frame = pd.DataFrame(np.arange(8).reshape(2, 4), pd.Index(["r", "s"], name="i"), columns)
    assert_parity(lambda f: f.unstack(), frame, ways=["eager", "mesh"])
