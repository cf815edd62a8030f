# SPDX-License-Identifier: Apache-2.0
"""groupby.value_counts."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_parity, assert_same, assert_same_error, on_device
from jaxframes import shardings
from jaxframes.frame import JaxFrame, from_pandas

OPTIONS = {
    "default": {},
    "shares": {"normalize": True},
    "unsorted": {"sort": False},
    "ascending": {"ascending": True},
    "missing": {"dropna": False},
    "missing shares": {"dropna": False, "normalize": True, "ascending": True},
}
BYS = {
    "name": lambda f: f.groupby("k"),
    "several": lambda f: f.groupby(["k", "j"]),
    "unsorted": lambda f: f.groupby("k", sort=False),
    "missing key": lambda f: f.groupby("k", dropna=False),
    "missing key, unsorted": lambda f: f.groupby(["k", "j"], dropna=False, sort=False),
    "as columns": lambda f: f.groupby("k", as_index=False),
    "array": lambda f: f.groupby(np.arange(len(f)) % 3, as_index=False),
    "level": lambda f: f.groupby(level=0),
    "no rows": lambda f: f[:0].groupby("k"),
    "one row": lambda f: f[:1].groupby("j"),
}


def table():
    rng = np.random.default_rng(6)
    frame = pd.DataFrame(
        {
            "k": rng.choice(np.array(["b", "a", "d", None], object), 40),
            "j": rng.integers(-2, 2, 40),
            "x": rng.choice([1.5, 2.5, np.nan, -1.0], 40),
            "s": rng.choice(np.array(["u", "v", None], object), 40),
            "i": rng.integers(0, 3, 40).astype("uint8"),
            "b": rng.random(40) < 0.3,
        },
        index=rng.integers(0, 9, 40),
    )
    frame["t"] = pd.to_datetime(frame.i.to_numpy(), unit="D")
    return frame


def assert_same_up_to_ties(got, expected, options, num_keys=1):
    """Compares counts. pandas sorts keys unstably, so rows of equal keys and counts may swap."""
    got = got.to_pandas()
    rows = [one.reset_index() if isinstance(one, pd.Series) else one for one in (got, expected)]
    order = [*range(num_keys), -1] if options.get("sort", True) else list(range(num_keys))
    pd.testing.assert_frame_equal(*(one.iloc[:, order] for one in rows), check_exact=True)
    ranks = [one.sort_values(list(one.columns), kind="stable").index for one in rows]
    if isinstance(expected, pd.Series):
        assert_same(got.iloc[ranks[0]], expected.iloc[ranks[1]])
    else:
        assert_same(*(one.sort_values(list(one.columns), ignore_index=True) for one in rows))


def compare(got, expected, by, options):
    if "unsorted" in by:
        assert_same(got, expected)
    else:
        assert_same_up_to_ties(got, expected, options, 2 if by == "several" else 1)


@pytest.mark.parametrize("by", BYS)
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("column", ["x", "s", "i", "b", "t"])
def test_of_a_series(by, options, column):
    def counts(f):
        return BYS[by](f)[column].value_counts(**OPTIONS[options])

    compare(counts(on_device(table())), counts(table()), by, OPTIONS[options])


@pytest.mark.parametrize("by", BYS)
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("columns", ["all", "subset", "selected"])
def test_of_a_frame(by, options, columns):
    def counts(f):
        grouped = BYS[by](f)
        if columns == "selected":
            grouped = grouped[["i", "x"]]
        subset = ["s", "x"] if columns == "subset" else None
        return grouped.value_counts(subset, **OPTIONS[options])

    compare(counts(on_device(table())), counts(table()), by, OPTIONS[options])


def test_ties_keep_the_order_of_rows():
    frame = table()
    expected = (
        frame.groupby(["j", "x"], sort=False).size().sort_values(ascending=False, kind="stable")
    )
    expected = expected.sort_index(level=[0], sort_remaining=False, kind="stable").rename("count")
    assert_same(on_device(frame).groupby("j").x.value_counts(), expected)


@pytest.mark.parametrize("options", OPTIONS)
def test_on_a_mesh(options):
    def counts(f):
        return f.groupby("k").x.value_counts(**OPTIONS[options])

    sharding = shardings.row_sharded(shardings.make_mesh(3))
    got = counts(from_pandas(table(), sharding=sharding))
    assert_same_up_to_ties(got, counts(table()), OPTIONS[options])


@pytest.mark.parametrize("options", OPTIONS)
def test_inside_jit(options):
    def counts(f):
        return f.groupby("k").value_counts(["s", "i"], **OPTIONS[options])

    frame = table()[["k", "s", "i"]]
    assert_same_up_to_ties(jax.jit(counts)(on_device(frame)), counts(frame), OPTIONS[options])


def test_keys_are_counted_once():
    def counts(f):
        return f.groupby("k").k.value_counts(), f[["k"]].groupby("k").value_counts()

    assert_same(counts(on_device(table())), counts(table()))


def test_equal_series_of_keys_and_values():
    def counts(f):
        return f.x.groupby(f.j).value_counts(), f.x.groupby(f.x).value_counts()

    for got, expected in zip(counts(on_device(table())), counts(table()), strict=True):
        same = expected.index.set_names(["key", "value"])
        got = got.rename_axis(["key", "value"])
        assert_same_up_to_ties(got, expected.set_axis(same), {})


def test_wrong_subsets_and_names():
    assert_same_error(lambda f: f.groupby("k").value_counts(["k"]), table())
    assert_same_error(lambda f: f.groupby("k").value_counts(["absent"]), table())
    renamed = table().rename(columns={"x": "count"})
    assert_same_error(lambda f: f.groupby("k", as_index=False)["count"].value_counts(), renamed)


@pytest.mark.filterwarnings("ignore:groupby. value_counts of categories")
def test_categories_and_bins():
    frame = table().assign(c=table().s.astype("category"))
    assert_parity(
        lambda f: (
            f.groupby("k").c.value_counts(),
            f.groupby("k").c.value_counts(normalize=True, sort=False),
            f.groupby("c", observed=False).x.value_counts(),
            f.groupby("k")[["c"]].value_counts(),
            f.groupby("k", as_index=False).c.value_counts(),
        ),
        frame,
        ways=["eager"],
    )
    with pytest.raises(NotImplementedError, match="needs rows on the host"):
        jax.jit(lambda f: f.groupby("k").c.value_counts())(on_device(frame))
    got = on_device(frame).groupby("c").x.value_counts()
    assert_same_up_to_ties(got, frame.groupby("c", observed=True).x.value_counts(), {})
    with pytest.raises(NotImplementedError, match="bins must be None"):
        JaxFrame(frame).groupby("k").x.value_counts(bins=2)


@pytest.mark.parametrize("sort", [True, False])
def test_unstacked_counts_have_the_labels_in_the_order_of_groups(sort):
    frame = pd.DataFrame({"team": list("xyzw") * 3, "points": [3, 1, 0, 3, 0, 3, 1, 1, 3, 3, 3, 0]})
    for operation in (
        lambda f: f.groupby("team", sort=sort).points.value_counts().unstack(fill_value=0),
        lambda f: f.groupby("team", sort=sort).value_counts(sort=False).unstack(0, fill_value=0),
    ):
        assert_same(operation(JaxFrame(frame)), operation(frame))
