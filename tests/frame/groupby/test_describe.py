# SPDX-License-Identifier: Apache-2.0
"""groupby.describe."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_same, assert_same_error, on_device
from jaxframes import shardings
from jaxframes.frame import JaxFrame, from_pandas

BYS = {
    "name": lambda f: f.groupby("k"),
    "several": lambda f: f.groupby(["k", "j"]),
    "unsorted": lambda f: f.groupby("k", sort=False),
    "missing key": lambda f: f.groupby("k", dropna=False),
    "as columns": lambda f: f.groupby("k", as_index=False),
    "one row": lambda f: f[:1].groupby("j"),
}
DESCRIBED = {
    "series": lambda g: g.x.describe(),
    "percentiles": lambda g: g.x.describe(percentiles=[0.9, 0.125]),
    "no percentiles": lambda g: g[["x", "i"]].describe([]),
    "frame": lambda g: g[["x", "i", "u"]].describe(),
    "all": lambda g: g.describe(),
}


def table():
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(
        {
            "k": rng.choice(np.array(["b", "a", "d", None], object), 40),
            "j": rng.integers(-2, 2, 40),
            "x": np.where(rng.random(40) < 0.3, np.nan, rng.integers(0, 99, 40) / 4),
            "i": rng.integers(-9, 9, 40).astype("int8"),
            "u": rng.integers(0, 2**60, 40).astype("uint64"),
            "s": rng.choice(np.array(["u", "v", None], object), 40),
            "b": rng.random(40) < 0.3,
        }
    )
    frame.loc[frame.k == "d", "x"] = np.nan
    return frame


@pytest.mark.parametrize("by", BYS)
@pytest.mark.parametrize("described", DESCRIBED)
def test_it_describes_each_group(by, described):
    def statistics(f):
        return DESCRIBED[described](BYS[by](f))

    assert_same(statistics(on_device(table())), statistics(table()), 64)


@pytest.mark.parametrize("described", DESCRIBED)
def test_on_a_mesh(described):
    def statistics(f):
        return DESCRIBED[described](f.groupby("k"))

    sharding = shardings.row_sharded(shardings.make_mesh(3))
    assert_same(statistics(from_pandas(table(), sharding=sharding)), statistics(table()), 64)


def test_inside_jit():
    def statistics(f):
        return f.groupby("k").describe()

    assert_same(jax.jit(statistics)(on_device(table())), statistics(table()), 64)


@pytest.mark.parametrize("described", DESCRIBED)
def test_without_rows(described):
    expected = DESCRIBED[described](table()[:0].groupby("k"))
    got = DESCRIBED[described](on_device(table()[:0]).groupby("k")).to_pandas()
    # pandas forgets the name, and sometimes the dtype, of the keys.
    pd.testing.assert_frame_equal(got.reset_index(drop=True), expected.reset_index(drop=True))
    assert got.index.name == "k"


def test_float32():
    frame = table()[["k", "x"]].astype({"x": "float32"})
    got = on_device(frame).groupby("k").describe().to_pandas()
    pd.testing.assert_frame_equal(got, frame.groupby("k").describe(), rtol=1e-6)


def test_several_levels_of_columns():
    frame = table()[["k", "x", "i"]]
    frame.columns = pd.MultiIndex.from_tuples([("k", ""), ("x", "p"), ("x", "q")])
    got = on_device(frame).groupby([("k", "")]).describe()
    assert_same(got, frame.groupby([("k", "")]).describe(), 64)


@pytest.mark.parametrize("by", BYS)
def test_times_strings_and_chosen_columns_on_the_host(by):
    frame = table()
    frame["t"] = pd.to_datetime(frame.i, unit="D")
    frame["d"] = pd.to_timedelta(frame.i, unit="h")
    for statistics in (
        lambda f: BYS[by](f).t.describe(),
        lambda f: BYS[by](f)[["x", "t"]].describe(),
        lambda f: BYS[by](f)[["t", "d"]].describe(percentiles=[0.5]),
        lambda f: BYS[by](f)[["s", "b"]].describe(),
        lambda f: BYS[by](f)[["s", "x"]].describe(include="all"),
    ):
        assert_same(statistics(on_device(frame)), statistics(frame), 64)


def test_wrong_arguments():
    assert_same_error(lambda f: f.groupby("k")[[]].describe(), table())
    assert_same_error(lambda f: f.groupby("k").x.describe(percentiles=[2]), table())
    frame = table().assign(t=pd.to_datetime(table().i))
    for columns in (["s"], ["b"], ["x", "t"]):
        described = jax.jit(lambda f, columns=columns: f.groupby("k")[columns].describe())
        with pytest.raises(NotImplementedError, match="columns must be numbers"):
            described(JaxFrame(frame))
    with pytest.raises(NotImplementedError, match="include and exclude"):
        jax.jit(lambda f: f.groupby("k").describe(include="all"))(JaxFrame(frame))
