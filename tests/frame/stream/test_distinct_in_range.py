# SPDX-License-Identifier: Apache-2.0
"""Distinct rows over batches whose keys are integers of a range that footers tell."""

import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_same
from jaxframes.frame import scan_parquet
from jaxframes.frame.stream import _distinct_in_range, _spilled_rows, _state_stages
from jaxframes.shardings import make_mesh, row_sharded

pytestmark = pytest.mark.usefixtures("nothing_is_left")

NUM_ROWS = 900
BATCH_ROWS = 60


def rows():
    rng = np.random.default_rng(41)
    frame = pd.DataFrame(
        {
            "k": rng.integers(-120, 200, NUM_ROWS),
            "narrow": rng.integers(-7, 8, NUM_ROWS).astype("int8"),
            "far": np.uint64(2**64 - 1) - rng.integers(0, 300, NUM_ROWS).astype("uint64"),
            "small": rng.integers(-100, 101, NUM_ROWS).astype("int8"),
            "few": rng.integers(10, 13, NUM_ROWS),
            "wide": rng.integers(0, 10**9, NUM_ROWS),
            "holes": pd.array(rng.integers(0, 90, NUM_ROWS), "Int64"),
            "x": rng.choice([0.5, -0.0, np.nan], NUM_ROWS),
            "s": rng.choice(["a", "b", None], NUM_ROWS),
        }
    )
    frame.loc[5, "holes"] = pd.NA
    return frame


def after_a_join(f):
    f = f.assign(more=f.few + 1)
    f = f[f.more > 11]
    return f.assign(most=f.more * 2).merge(f[["few"]].drop_duplicates(), on="few")


FRAME = rows()
KNOWN = {
    "a column": lambda f: f[["k"]].drop_duplicates(),
    "other columns": lambda f: f[["k", "x", "s"]].drop_duplicates("k"),
    "row labels": lambda f: f.drop_duplicates(["narrow"])[["few", "narrow"]],
    "a range that its dtype does not hold": lambda f: f[["small", "x"]].drop_duplicates("small"),
    "the greatest integers": lambda f: f[["s", "far"]].drop_duplicates("far"),
    "two keys": lambda f: f[["few", "s", "narrow"]].drop_duplicates(["narrow", "few"]),
    "after steps": lambda f: f[f.x.notna()].rename(columns={"k": "j"}).drop_duplicates("j")[["j"]],
    "a series": lambda f: f[f.few > 10].k.drop_duplicates(),
    "unique": lambda f: f.rename(columns={"k": "j"}).j.unique(),
    "after stages and a join": lambda f: after_a_join(f).drop_duplicates("k")[["k"]],
    "no rows": lambda f: f[f.k > 1000][["k"]].drop_duplicates(),
    "before steps": lambda f: f[["k", "few"]].drop_duplicates("k").groupby("few").k.sum(),
}
UNKNOWN = {
    "a wide range": lambda f: f[["wide"]].drop_duplicates(),
    "a product of ranges": lambda f: f.drop_duplicates(["k", "few", "narrow"])[["k", "few"]],
    "the last rows": lambda f: f[["k"]].drop_duplicates(keep="last"),
    "nulls": lambda f: f[["holes"]].drop_duplicates(),
    "new values": lambda f: f.assign(k=f.k * 2)[["k"]].drop_duplicates(),
    "a series of new values": lambda f: (f.k + 1).drop_duplicates(),
    "a series of strings": lambda f: f.s.drop_duplicates(),
    "strings": lambda f: f[["few", "s"]].drop_duplicates(),
}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    FRAME.to_parquet(path, row_group_size=110)
    return path


@pytest.mark.parametrize("name", KNOWN)
def test_the_first_rows_are_those_of_pandas(name, path, monkeypatch):
    monkeypatch.setattr(_state_stages, "NumberedDistinctRows", None)
    result = KNOWN[name](scan_parquet(path)).collect(batch_rows=BATCH_ROWS)
    assert_same(result, KNOWN[name](FRAME))


@pytest.mark.parametrize("name", UNKNOWN)
def test_other_keys_take_no_table(name, path, monkeypatch):
    monkeypatch.setattr(_state_stages, "DistinctInRange", None)
    expected = UNKNOWN[name](FRAME.astype({"holes": "float64"}))
    assert_same(UNKNOWN[name](scan_parquet(path)).collect(batch_rows=BATCH_ROWS), expected)


def test_on_a_mesh(path, monkeypatch):
    monkeypatch.setattr(_state_stages, "NumberedDistinctRows", None)
    plan = scan_parquet(path, sharding=row_sharded(make_mesh(4)))[["k", "x"]]
    expected = FRAME[["k", "x"]].drop_duplicates("k")
    assert_same(plan.drop_duplicates("k").collect(batch_rows=BATCH_ROWS), expected)


def test_few_rows_stay_in_memory(path, monkeypatch):
    monkeypatch.setattr(_spilled_rows, "SpillWriter", None)
    monkeypatch.setattr(_distinct_in_range, "SpillWriter", None)
    plan = scan_parquet(path).drop_duplicates("few")[["few"]]
    assert_same(plan.collect(batch_rows=BATCH_ROWS), FRAME.drop_duplicates("few")[["few"]])


@pytest.mark.parametrize("bounds", [(-120, 150), (-100, 199)])
def test_a_value_outside_of_its_range_is_an_error(bounds, path, monkeypatch):
    monkeypatch.setattr(_distinct_in_range, "key_bounds", lambda *_: [bounds])
    plan = scan_parquet(path)[["k"]].drop_duplicates()
    with pytest.raises(OSError, match="drop_duplicates: the footer of a file must give the range"):
        plan.collect(batch_rows=BATCH_ROWS)
