# SPDX-License-Identifier: Apache-2.0
"""Joins leave out rows whose keys lie beyond those that the other side's footers state."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frame_parity import assert_same
from jaxframes.frame import JaxFrame, col, read_parquet, scan_parquet
from jaxframes.frame.plan import _sources
from jaxframes.frame.stream import _merge

OFF = {"key_ranges": False}
NARROW = pd.DataFrame({"k": np.random.default_rng(3).integers(100, 140, 90), "n": np.arange(90)})
WIDE = pd.DataFrame({"k": np.random.default_rng(4).permutation(1000), "m": np.arange(1000)})
HOWS = ["inner", "left", "right", "outer", "left_anti", "right_anti"]


def written(folder, frame, name, row_group_size=50, **options):
    """A scan of a file of the rows, and the rows as they are read at once."""
    path = folder / f"{name}.parquet"
    pq.write_table(pa.Table.from_pandas(frame), path, row_group_size=row_group_size, **options)
    return scan_parquet(path), read_parquet(path)


def filters(plan):
    """The ranges in the plan that the optimiser makes."""
    return plan.explain().count(".between(") - plan.explain(optimizations=OFF).count(".between(")


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("wide_side", ["left", "right"])
def test_rows_without_a_match_are_left_out(how, wide_side, tmp_path):
    sides = written(tmp_path, NARROW, "narrow"), written(tmp_path, WIDE, "wide")
    left, right = sides if wide_side == "right" else sides[::-1]
    plan = left[0].merge(right[0], on="k", how=how)
    loses_rows = {"inner": ("left", "right"), "left": "right", "right": "left"}
    loses_rows |= {"left_anti": "right", "right_anti": "left", "outer": ()}
    assert (filters(plan) > 0) == (wide_side in loses_rows[how])
    expected = left[1].merge(right[1], on="k", how=how).to_pandas()
    assert_same(plan.collect(), expected)
    assert_same(plan.collect(optimizations=OFF), expected)
    assert_same(plan.collect(batch_rows=30), expected)


def test_the_range_is_that_of_the_other_side(tmp_path):
    narrow, wide = (written(tmp_path, *pair)[0] for pair in ((NARROW, "n"), (WIDE, "w")))
    plan = narrow.merge(wide, on="k")
    assert f"between({NARROW.k.min()}, {NARROW.k.max()})" in plan.explain()


def test_sorted_files_lose_row_groups(tmp_path, monkeypatch):
    narrow, _ = written(tmp_path, NARROW, "narrow")
    wide, _ = written(tmp_path, WIDE.sort_values("k"), "wide")
    read, found = _sources.ParquetFiles.read, []

    def watched(self, *given):
        frame = read(self, *given)
        found.append((self.paths[0].rpartition("/")[2], len(frame)))
        return frame

    monkeypatch.setattr(_sources.ParquetFiles, "read", watched)
    narrow.merge(wide, on="k").collect()
    # Keys from 100 to 139 lie in one row group of 50 rows.
    assert sorted(found) == [("narrow.parquet", 90), ("wide.parquet", 50)]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64"])
def test_extremes_of_dtypes(dtype, tmp_path):
    bounds = np.iinfo(dtype)
    keys = np.array([bounds.min, bounds.min + 1, bounds.max - 1, bounds.max], dtype)
    few, _ = written(tmp_path, pd.DataFrame({"k": keys[-2:], "n": [1, 2]}), "few")
    many, _ = written(tmp_path, pd.DataFrame({"k": keys, "m": [1, 2, 3, 4]}), "many", 2)
    plan = few.merge(many, on="k", how="left")
    assert filters(plan)
    assert_same(plan.collect(), pd.DataFrame({"k": keys[-2:], "n": [1, 2], "m": [3, 4]}))


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_times(unit, tmp_path):
    days = pd.date_range("1969-12-01", periods=100, unit=unit).to_numpy()
    few, one = written(tmp_path, pd.DataFrame({"t": days[40:44], "n": range(4)}), "few")
    many, all_ = written(tmp_path, pd.DataFrame({"t": days, "m": range(100)}), "many")
    plan = few.merge(many, on="t")
    assert filters(plan)
    assert_same(plan.collect(), one.merge(all_, on="t").to_pandas())


@pytest.mark.parametrize(
    ("unit", "far"), [("ns", 2**63 - 1), ("us", 10**18), ("ms", -(10**15)), ("s", 10**12)]
)
def test_far_times(unit, far, tmp_path):
    values = np.array([-far, 0, 1, 5, far], f"datetime64[{unit}]")
    few, one = written(tmp_path, pd.DataFrame({"t": values[1:3], "n": range(2)}), "few")
    many, all_ = written(tmp_path, pd.DataFrame({"t": values, "m": range(5)}), "many")
    for plan, joined in ((few.merge(many), one.merge(all_)), (many.merge(few), all_.merge(one))):
        assert_same(plan.collect(), joined.to_pandas())
        # Python holds years from 1 to 9999.
        assert (filters(plan) > 0) == (unit == "ns")


@pytest.mark.parametrize("type", [pa.int64(), pa.timestamp("us", "UTC"), pa.timestamp("ms")])
def test_files_of_other_types(type, tmp_path):
    first = pa.table({"t": pa.array(range(100), pa.timestamp("us"))})
    (tmp_path / "many").mkdir()
    pq.write_table(first, tmp_path / "many" / "0.parquet")
    others = pa.array(range(40, 80), type)
    pq.write_table(pa.table({"t": others}), tmp_path / "many" / "1.parquet")
    times = np.array([41, 50, 77, 77], "datetime64[us]")
    few, one = written(tmp_path, pd.DataFrame({"t": times, "n": range(4)}), "few")
    many, all_ = scan_parquet(tmp_path / "many"), read_parquet(tmp_path / "many")
    assert_same(many.merge(few).collect(), all_.merge(one).to_pandas())
    assert_same(few.merge(many).collect(), one.merge(all_).to_pandas())


def test_folders_that_are_named_like_a_column_give_its_values(tmp_path):
    for k in (1, 2):
        file = tmp_path / "many" / f"k={k}" / "0.parquet"
        file.parent.mkdir(parents=True)
        others = pa.array(np.full(50, 1000 + k, "int32"))
        pq.write_table(pa.table({"k": others, "n": np.arange(50)}), file)
    keys = np.array([2, 2, 1], "int32")
    few, one = written(tmp_path, pd.DataFrame({"k": keys, "m": range(3)}), "few")
    many, all_ = scan_parquet(tmp_path / "many"), read_parquet(tmp_path / "many")
    assert len(all_.merge(one)) == 150
    assert_same(many.merge(few).collect(), all_.merge(one).to_pandas())


def test_keys_reach_the_join_through_steps(tmp_path):
    narrow, one = written(tmp_path, NARROW, "narrow")
    wide, other = written(tmp_path, WIDE, "wide")

    def joined(f, o):
        f = f[f.n > 3].rename(columns={"k": "key"}).sort_values("n", ascending=False).head(70)
        f = f.merge(f[["key", "n"]], on="n", suffixes=("", "_again"))
        o = o.assign(p=o.m * 2)[["p", "k"]].dropna()
        return f.merge(o, left_on="key", right_on="k")

    plan = joined(narrow, wide)
    assert filters(plan)
    assert_same(plan.collect(), joined(one, other).to_pandas())


def test_integers_of_an_earlier_left_join_stay_floats(tmp_path):
    """The range leaves no row without a match in the earlier join, whose integers are floats."""
    some = pd.DataFrame({"k": np.arange(100, 160), "j": np.arange(60)})
    narrow, one = written(tmp_path, NARROW, "narrow")
    wide, other = written(tmp_path, WIDE, "wide")
    few, three = written(tmp_path, some, "some")

    def joined(f, o, s):
        return o.merge(s, on="k", how="left").merge(f, on="k")

    plan = joined(narrow, wide, few)
    assert filters(plan)
    expected = joined(one, other, three).to_pandas()
    assert expected.j.dtype == "float64"
    assert not expected.j.isna().any()
    assert_same(plan.collect(), expected)
    assert_same(plan.collect(batch_rows=30), expected)
    # Without these integers the range moves below the earlier join.
    text = plan[["k", "n"]].reset_index(drop=True).explain()
    assert text.index(".between(") > text.index("how='left'")


def test_new_values_have_no_known_range(tmp_path):
    narrow, one = written(tmp_path, NARROW, "narrow")
    wide, other = written(tmp_path, WIDE, "wide")

    def plans(f, o):
        holes = o[["k"]].merge(f, on="k", how="left").rename(columns={"k": "j", "n": "k"})
        return (
            f.assign(k=f.k + 500).merge(o, on="k"),
            f.merge(o.assign(k=o.k - 50), on="k"),
            f.groupby("n", as_index=False)[["k"]].sum().merge(o, on="k"),
            holes.merge(o, on="k"),
        )

    for plan, expected in zip(plans(narrow, wide), plans(one, other), strict=True):
        assert not filters(plan)
        assert_same(plan.collect(), expected.to_pandas())


def test_joins_that_see_rows_without_a_match_keep_them(tmp_path):
    narrow, one = written(tmp_path, NARROW, "narrow")
    repeated = pd.concat([WIDE, WIDE[WIDE.k > 900]], ignore_index=True)
    wide, _ = written(tmp_path, repeated, "wide")
    with pytest.raises(pd.errors.MergeError):
        narrow.merge(wide, on="k", validate="m:1").collect()
    plan = narrow.merge(wide, on="k", how="left", indicator=True)
    assert not filters(plan)
    expected = one.merge(JaxFrame(repeated), on="k", how="left", indicator=True)
    assert_same(plan.collect(), expected.to_pandas())


def test_unknown_ranges(tmp_path):
    narrow, _ = written(tmp_path, NARROW, "narrow")
    holes = WIDE.assign(k=WIDE.k.where(WIDE.k != 7).astype("Int64"))
    for name, frame, options in (
        ("no statistics", WIDE, {"write_statistics": False}),
        ("nulls", holes, {}),
        ("floats", WIDE.assign(k=WIDE.k.astype(float)), {}),
        ("another dtype", WIDE.astype({"k": "int16"}), {}),
        ("no rows", WIDE[:0], {}),
    ):
        wide, other = written(tmp_path, frame, name, **options)
        plan = narrow.merge(wide, on="k", how="left")
        assert not filters(plan), name
        expected = JaxFrame(NARROW).merge(other, on="k", how="left").to_pandas()
        assert_same(plan.collect(), expected)
        assert not filters(JaxFrame(NARROW).lazy().merge(wide, on="k"))


def test_ranges_that_drop_few_rows_make_no_filter(tmp_path):
    narrow, _ = written(tmp_path, NARROW, "narrow")
    near, _ = written(tmp_path, WIDE[WIDE.k.between(80, 150)], "near")
    assert not filters(narrow.merge(near, on="k"))


def test_filters_of_the_user_stay(tmp_path):
    narrow, one = written(tmp_path, NARROW, "narrow")
    wide, other = written(tmp_path, WIDE, "wide")
    plan = narrow.merge(wide[col("k").between(120, 500)], on="k")
    assert_same(plan.collect(), one.merge(other[other.k.between(120, 500)], on="k").to_pandas())


def test_a_stream_holds_what_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(_merge, "Partitions", None)
    narrow, one = written(tmp_path, pd.concat([NARROW] * 5), "narrow")
    wide, other = written(tmp_path, WIDE, "wide")
    # 40 of 1,000 right rows are left: two batches.
    plan = narrow.merge(wide, on="k")
    assert_same(plan.collect(batch_rows=20), one.merge(other, on="k").to_pandas())
    with pytest.raises(TypeError):
        plan.collect(batch_rows=20, optimizations=OFF)
