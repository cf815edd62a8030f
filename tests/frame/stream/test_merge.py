# SPDX-License-Identifier: Apache-2.0
"""Joins of sides that do not fit in memory."""

import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_same
from jaxframes.frame import JaxFrame, from_pandas
from jaxframes.frame.stream import _join, _merge, _partitions
from larger_than_memory import BATCH_ROWS, left_rows, plan_of, right_rows

pytestmark = pytest.mark.usefixtures("nothing_is_left")

LEFT, RIGHT = left_rows(), right_rows()

# Each with the kinds of join that it is tested with.
JOINS = {
    "integers": ({"on": "k"}, ["inner", "left", "right", "outer"]),
    "strings": ({"on": "s"}, ["inner", "outer"]),
    "two keys": ({"on": ["f", "few"]}, ["left", "outer"]),
    "other labels": (
        {"left_on": "k", "right_on": "hot", "suffixes": ("", "_r")}, ["right", "outer"]
    ),
    "integers and floats": ({"left_on": "k", "right_on": "g"}, ["left"]),
    "one hot key": ({"on": "hot"}, ["inner", "left", "right"]),
}  # fmt: skip
CASES = [(name, how) for name, (_, hows) in JOINS.items() for how in hows]
HOWS = ["inner", "left", "right", "outer"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("joins")


@pytest.fixture(autouse=True)
def four_parts(monkeypatch):
    """Parts of few rows test nothing that fewer parts do not. A held side is one batch."""
    monkeypatch.setattr(_partitions, "FAN_OUT_BITS", 2)
    monkeypatch.setattr(_merge, "HELD_BATCHES", 1)


def joined(folder, options, batch_rows=BATCH_ROWS, left=LEFT, right=RIGHT, devices=1):
    """The streamed join, and that of pandas."""
    plans = plan_of(left, folder, "left", devices), plan_of(right, folder, "right", devices)
    return plans[0].merge(plans[1], **options).collect(batch_rows=batch_rows), left.merge(
        right, **options
    )


@pytest.mark.parametrize(("name", "how"), CASES)
def test_neither_side_fits(name, how, folder):
    assert_same(*joined(folder, {**JOINS[name][0], "how": how}))


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("side", ["left", "right"])
def test_one_side_fits(side, how, folder):
    few = {"left": LEFT.iloc[::31], "right": RIGHT.iloc[::17]}[side].reset_index(drop=True)
    memory = from_pandas(few).lazy()
    options = {"on": "hot", "how": how}
    if side == "left":
        plan = memory.merge(plan_of(RIGHT, folder, "right"), **options)
        expected = few.merge(RIGHT, **options)
    else:
        plan = plan_of(LEFT, folder, "left").merge(memory, **options)
        expected = LEFT.merge(few, **options)
    assert_same(plan.collect(batch_rows=BATCH_ROWS), expected)


@pytest.mark.parametrize("how", HOWS)
def test_one_side_is_empty(how, folder):
    left, right = plan_of(LEFT, folder, "left"), plan_of(RIGHT, folder, "right")
    options = {"on": "k", "how": how}
    result = left[left.n < 0].merge(right, **options).collect(batch_rows=BATCH_ROWS)
    assert_same(result, LEFT[LEFT.n < 0].merge(RIGHT, **options))
    result = left.merge(right[right.m < 0], **options).collect(batch_rows=BATCH_ROWS)
    assert_same(result, LEFT.merge(RIGHT[RIGHT.m < 0], **options))


@pytest.mark.parametrize("how", HOWS)
def test_a_right_side_of_several_batches_is_held(how, folder, monkeypatch):
    monkeypatch.setattr(_merge, "HELD_BATCHES", 4)
    monkeypatch.setattr(_merge, "Partitions", None)
    right = plan_of(RIGHT.iloc[:390], folder, "most of right")
    plan = plan_of(LEFT, folder, "left").merge(right, on="hot", how=how)
    assert_same(plan.collect(batch_rows=BATCH_ROWS), LEFT.merge(RIGHT[:390], on="hot", how=how))


def test_on_a_mesh(tmp_path, monkeypatch):
    monkeypatch.setattr(_partitions, "FAN_OUT_BITS", 1)
    sides = {"left": LEFT[["k", "n"]].iloc[:300], "right": RIGHT[["k", "m"]].iloc[:200]}
    options = {"on": "k", "how": "left"}
    assert_same(*joined(tmp_path, options, batch_rows=75, **sides, devices=4))


@pytest.mark.parametrize(
    "kept",
    [lambda rows: rows.v >= 0, lambda rows: rows.v < 0, lambda rows: rows.v.isna()],
    ids=["matches", "none", "others"],
)
def test_dtypes_are_those_of_all_rows_of_the_join(kept, folder):
    few = pd.DataFrame({"k": np.arange(10), "v": np.arange(10)})
    # The first batch has matches alone, and the others have none.
    left = pd.DataFrame({"k": np.arange(100)})
    plan = plan_of(left, folder, "sorted").merge(from_pandas(few).lazy(), on="k", how="left")
    expected = left.merge(few, on="k", how="left")
    assert_same(plan[kept(plan)].collect(batch_rows=10), expected[kept(expected)])


@pytest.mark.parametrize("how", ["left", "right", "outer"])
def test_dtypes_of_sides_on_disk_are_those_of_all_rows_of_the_join(how, folder):
    left = pd.DataFrame({"k": np.arange(300), "v": np.arange(300)})
    right = pd.DataFrame({"k": np.arange(300) * 2, "w": np.arange(300)})
    sides = plan_of(left, folder, "ones"), plan_of(right, folder, "twos")
    plan, expected = sides[0].merge(sides[1], on="k", how=how), left.merge(right, on="k", how=how)
    matches = plan[(plan.v >= 0) & (plan.w >= 0)]
    assert_same(matches.collect(batch_rows=50), expected[(expected.v >= 0) & (expected.w >= 0)])


def test_a_product_of_rows(folder):
    few = RIGHT[["m"]].iloc[:7]
    plan = plan_of(LEFT, folder, "left")[["k"]].merge(from_pandas(few).lazy(), how="cross")
    assert_same(plan.collect(batch_rows=BATCH_ROWS), LEFT[["k"]].merge(few, how="cross"))


def test_a_key_that_is_hot_on_both_sides_is_joined_in_pieces(tmp_path, monkeypatch):
    rng = np.random.default_rng(5)
    left = pd.DataFrame({"k": np.where(rng.random(150) < 0.4, 3, rng.integers(0, 200, 150))})
    right = pd.DataFrame({"k": np.where(rng.random(140) < 0.4, 3, rng.integers(0, 200, 140))})
    left["n"], right["m"] = np.arange(150), np.arange(140)
    sizes = []
    pairs = _join.Join.pairs

    def watched(self, one, other):
        rows = pairs(self, one, other)
        sizes.append((len(one), len(other), len(rows)))
        return rows

    monkeypatch.setattr(_join.Join, "pairs", watched)
    options = {"on": "k", "how": "outer"}
    assert_same(*joined(tmp_path, options, batch_rows=25, left=left, right=right))
    most = 25
    assert max(max(sides) for *sides, _ in sizes) <= most
    # A result is larger by the matches of one left row at most.
    assert max(rows for *_, rows in sizes) <= 2 * most


def test_a_part_is_divided_into_as_many_parts_as_it_needs(tmp_path, monkeypatch):
    fan_outs = []

    class Watched(_partitions.Partitions):
        def __init__(self, *given, **options):
            super().__init__(*given, **options)
            fan_outs.append((self.level, self._fan_out))

    monkeypatch.setattr(_partitions, "FAN_OUT_BITS", 4)
    monkeypatch.setattr(_merge, "Partitions", Watched)
    rng = np.random.default_rng(8)
    left = pd.DataFrame({"k": rng.integers(0, 10**6, 2000), "n": np.arange(2000)})
    right = pd.DataFrame({"k": rng.choice(left.k, 2000), "m": np.arange(2000)})
    # Parts of about 125 rows.
    assert_same(*joined(tmp_path, {"on": "k"}, batch_rows=80, left=left, right=right))
    assert {fan_out for level, fan_out in fan_outs if not level} == {16}
    assert {fan_out for level, fan_out in fan_outs if level} == {4}


@pytest.mark.parametrize(
    ("num_rows", "bits"), [(0, 1), (1, 1), (100, 1), (101, 2), (200, 2), (201, 3), (10**9, 6)]
)
def test_bits_for_parts(num_rows, bits, monkeypatch):
    monkeypatch.setattr(_partitions, "FAN_OUT_BITS", 6)
    assert _partitions.bits_for(num_rows, 100) == bits


def test_groups_of_a_join_larger_than_memory(folder):
    left, right = plan_of(LEFT, folder, "left"), plan_of(RIGHT, folder, "right")

    def query(a, b):
        return a.merge(b, on="k").groupby("s_x").agg(n=("n", "sum"), m=("m", "max"))

    assert_same(query(left, right).collect(batch_rows=BATCH_ROWS), query(LEFT, RIGHT))


def test_groups_and_reductions_do_not_sort_the_rows_of_a_join(folder, monkeypatch):
    left, right = plan_of(LEFT, folder, "left"), plan_of(RIGHT, folder, "right")
    monkeypatch.setattr(_merge, "SortedRuns", None)

    def both(query):
        joins = left.merge(right, on="k"), LEFT.merge(RIGHT, on="k")
        return query(joins[0]).collect(batch_rows=BATCH_ROWS), query(joins[1])

    assert_same(*both(lambda rows: rows.groupby("few_x").n.sum()))
    assert_same(*both(lambda rows: rows[rows.n > 5].assign(one=1).n.max()))
    with pytest.raises(TypeError):
        both(lambda rows: rows.groupby("few_x").n.first())
    with pytest.raises(TypeError):
        both(lambda rows: rows.groupby("few_x", sort=False).n.sum())


def test_what_joins_do_not_stream(folder):
    left, right = plan_of(LEFT, folder, "left"), plan_of(RIGHT, folder, "right")
    for options in ({"indicator": True, "how": "outer"}, {"validate": "1:1"}, {"sort": True}):
        with pytest.raises(NotImplementedError, match=r"merge.*collect"):
            left.merge(right, on="k", **options).collect(batch_rows=BATCH_ROWS)
    with pytest.raises(NotImplementedError, match=r"validate must be None.*100 rows"):
        left.merge(right, on="k", validate="m:1").collect(batch_rows=BATCH_ROWS)


@pytest.mark.parametrize("how", ["right", "outer"])
def test_a_key_of_two_dtypes_is_refused(how):
    # Its dtype depends on whether each right row has a match.
    left, right = JaxFrame({"k": [1, 2]}).lazy(), JaxFrame({"k": [1.0, 3.0]}).lazy()
    plan = left.merge(right, on="k", how=how)
    assert plan.collect().k.to_pandas().dtype == np.float64
    with pytest.raises(NotImplementedError, match=r"the key 'k' of a right or outer merge.*astype"):
        plan.collect(batch_rows=1)


@pytest.mark.parametrize("how", ["right", "outer"])
def test_the_greatest_integers_beside_missing_values(how):
    left = pd.DataFrame({"k": [2, 5], "i": [2**63 - 1, -(2**63)]})
    right = pd.DataFrame({"k": [0, 2], "u": np.array([2**64 - 1, 3], "uint64")})
    plan = from_pandas(left).lazy().merge(from_pandas(right).lazy(), on="k", how=how)
    for batch_rows in (1, 2, 3):
        assert_same(plan.collect(batch_rows=batch_rows), left.merge(right, on="k", how=how))


@pytest.mark.parametrize("how", ["right", "outer", "left_anti", "right_anti"])
def test_keys_of_two_zones(how):
    numbers = np.random.default_rng(0)
    times = pd.date_range("2024-01-01", periods=30, freq="h", tz="Europe/Berlin")
    left = pd.DataFrame({"t": times[numbers.integers(0, 20, 40)], "x": range(40)})
    right = pd.DataFrame({"t": times[numbers.integers(8, 30, 40)], "y": [True, False] * 20})
    right["t"] = right.t.dt.tz_convert("America/New_York")
    plan = from_pandas(left).lazy().merge(from_pandas(right).lazy(), on="t", how=how)
    assert_same(plan.collect(batch_rows=16), left.merge(right, on="t", how=how))
