# SPDX-License-Identifier: Apache-2.0
"""Anti joins over batches, with sides that fit in memory and sides that do not."""

import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_same
from jaxframes.frame import from_pandas
from jaxframes.frame.stream import _anti_join, _merge, _partitions
from larger_than_memory import BATCH_ROWS, left_rows, plan_of, right_rows

pytestmark = pytest.mark.usefixtures("nothing_is_left")

LEFT, RIGHT = left_rows(), right_rows()
HOWS = ["left_anti", "right_anti"]
KEYS = {
    "integers": {"on": "k"},
    "strings": {"on": "s"},
    "two keys": {"on": ["f", "few"]},
    "other labels": {"left_on": "k", "right_on": "hot", "suffixes": ("", "_r")},
    "integers and floats": {"left_on": "k", "right_on": "g"},
    "one hot key": {"on": "hot"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("joins")


@pytest.fixture(autouse=True)
def four_parts(monkeypatch):
    monkeypatch.setattr(_partitions, "FAN_OUT_BITS", 2)


@pytest.fixture
def fits_in_one_batch(monkeypatch):
    monkeypatch.setattr(_merge, "HELD_BATCHES", 1)


def plans(folder):
    return plan_of(LEFT, folder, "left"), plan_of(RIGHT, folder, "right")


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("name", KEYS)
@pytest.mark.usefixtures("fits_in_one_batch")
def test_neither_side_fits(name, how, folder):
    left, right = plans(folder)
    options = {**KEYS[name], "how": how}
    got = left.merge(right, **options).collect(batch_rows=BATCH_ROWS)
    assert_same(got, LEFT.merge(RIGHT, **options))


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("side", ["left", "right"])
def test_one_side_fits(side, how, folder, monkeypatch):
    monkeypatch.setattr(_merge, "Partitions", None)
    few = {"left": LEFT.iloc[::31], "right": RIGHT.iloc[::17]}[side].reset_index(drop=True)
    left, right = plans(folder)
    pair, sides = (left, from_pandas(few).lazy()), (LEFT, few)
    if side == "left":
        pair, sides = (from_pandas(few).lazy(), right), (few, RIGHT)
    got = pair[0].merge(pair[1], on="hot", how=how).collect(batch_rows=BATCH_ROWS)
    assert_same(got, sides[0].merge(sides[1], on="hot", how=how))


@pytest.mark.parametrize("how", HOWS)
def test_results_of_groups_as_sides(how, folder):
    def joined(left, right):
        counts = right.groupby("k", as_index=False).agg(m=("m", "max"))
        return left.merge(counts, on="k", how=how), counts.merge(left, on="k", how=how)

    for got, expected in zip(joined(*plans(folder)), joined(LEFT, RIGHT), strict=True):
        assert_same(got.collect(batch_rows=BATCH_ROWS), expected)


@pytest.mark.parametrize("how", HOWS)
def test_sides_without_rows_and_without_matches(how, folder):
    left, right = plans(folder)
    for a, b, one, other in (
        (left[left.n < 0], right, LEFT[LEFT.n < 0], RIGHT),
        (left, right[right.m < 0], LEFT, RIGHT[RIGHT.m < 0]),
        (left, left, LEFT, LEFT),
        (left[left.k < 200], right, LEFT[LEFT.k < 200], RIGHT),
    ):
        got = a.merge(b, on="k", how=how).collect(batch_rows=BATCH_ROWS)
        assert_same(got, one.merge(other, on="k", how=how))


@pytest.mark.parametrize("how", HOWS)
def test_categories_are_held(how):
    rng = np.random.default_rng(3)
    values = pd.Categorical.from_codes(rng.integers(-1, 9, 300), list("abcdefghi"))
    left = pd.DataFrame({"c": values, "n": np.arange(300)})
    right = left[left.c.isin(["a", "b", "i"])][:40].reset_index(drop=True)
    for keys in ("c", ["c", "n"]):
        got = from_pandas(left).lazy().merge(from_pandas(right).lazy(), on=keys, how=how)
        assert_same(got.collect(batch_rows=50), left.merge(right, on=keys, how=how))


def test_indicator_labels_and_a_column_like_those_of_the_counts():
    left = pd.DataFrame({"other side 0": [3, 1, 2, 1, 3], "size": [1, 2, 3, 4, 5]})
    right = pd.DataFrame({"size": [1, 1, 9], "other side 0": [1, 1, 2]})
    options = {"on": "other side 0", "how": "left_anti", "indicator": True}
    got = from_pandas(left).lazy().merge(from_pandas(right).lazy(), **options)
    expected = left.merge(right, **options)
    # The labels are positions in the left join, where a row with two matches has two.
    assert expected.index.tolist() == [0, 6]
    assert_same(got.collect(batch_rows=2), expected)


def test_groups_of_an_anti_join_do_not_sort_its_rows(folder, monkeypatch):
    monkeypatch.setattr(_merge, "HELD_BATCHES", 1)
    monkeypatch.setattr(_merge, "SortedRuns", None)

    def query(left, right):
        return left.merge(right[["k"]], on="k", how="left_anti").groupby("few").n.sum()

    assert_same(query(*plans(folder)).collect(batch_rows=BATCH_ROWS), query(LEFT, RIGHT))


@pytest.mark.usefixtures("fits_in_one_batch")
def test_on_a_mesh(tmp_path):
    sides = LEFT[["k", "n"]].iloc[:300], RIGHT[["k", "m"]].iloc[:200]
    left, right = (plan_of(*pair, 4) for pair in zip(sides, [tmp_path] * 2, "lr", strict=True))
    got = left.merge(right, on="k", how="left_anti").collect(batch_rows=75)
    assert_same(got, sides[0].merge(sides[1], on="k", how="left_anti"))


def test_a_file_of_an_anti_join(folder, tmp_path):
    left, right = plans(folder)
    rows = left.merge(right[["k"]], on="k", how="left_anti")
    rows.to_parquet(tmp_path / "rows.parquet", batch_rows=BATCH_ROWS, index=False)
    expected = LEFT.merge(RIGHT[["k"]], on="k", how="left_anti").reset_index(drop=True)
    assert_same(pd.read_parquet(tmp_path / "rows.parquet"), expected)


def test_what_does_not_stream(folder):
    left, right = plans(folder)
    for options in ({"validate": "m:1"}, {"sort": True}):
        with pytest.raises(NotImplementedError, match=r"merge\(how='left_anti'\).*collect"):
            left.merge(right, on="k", how="left_anti", **options).collect(batch_rows=BATCH_ROWS)


def test_new_labels_are_unlike_others():
    labels = _anti_join._new_labels(2, ["other side 1", "other side  x", 3, "k"])
    assert labels == ["other side   0", "other side   1"]
