# SPDX-License-Identifier: Apache-2.0
"""Access to single groups: groups, indices, ngroups, get_group, iteration, pipe and filter."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_same_error, on_device
from jaxframes import shardings
from jaxframes.frame import JaxFrame, from_pandas

BYS = {
    "name": lambda f: f.groupby("k"),
    "list of one": lambda f: f.groupby(["k"]),
    "several": lambda f: f.groupby(["k", "j"]),
    "unsorted": lambda f: f.groupby("k", sort=False),
    "missing key": lambda f: f.groupby("k", dropna=False),
    "level": lambda f: f.groupby(level=0),
    "all categories": lambda f: f.groupby("c", observed=False),
    "selected": lambda f: f.groupby("k")[["x", "j"]],
    "series": lambda f: f.groupby("k").x,
    "no rows": lambda f: f[:0].groupby("k"),
}


def table():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "k": rng.choice(np.array(["b", "a", "d", None], object), 29),
            "j": rng.integers(-2, 2, 29),
            "x": rng.normal(size=29),
        },
        index=rng.integers(0, 9, 29),
    )
    frame["c"] = frame.k.astype(pd.CategoricalDtype(["d", "a", "b", "z"]))
    return frame


@pytest.fixture(params=["one device", "mesh"])
def ours(request):
    if request.param == "one device":
        return on_device(table())
    mesh = shardings.make_mesh(3)
    return from_pandas(table(), sharding=shardings.row_sharded(mesh))


def assert_same(ours, theirs):
    kind = pd.testing.assert_frame_equal
    if isinstance(theirs, pd.Series):
        kind = pd.testing.assert_series_equal
    kind(ours.to_pandas(), theirs)


def same_key(a, b):
    return a == b or (a != a and b != b)


@pytest.mark.filterwarnings("ignore:In a future version, the keys of `groups`")
@pytest.mark.parametrize("by", BYS)
def test_groups_and_their_rows(by, ours):
    mine, theirs = BYS[by](ours), BYS[by](table())
    assert mine.ngroups == theirs.ngroups
    assert mine.ndim == theirs.ndim
    for name in ("groups", "indices"):
        got, expected = getattr(mine, name), getattr(theirs, name)
        assert len(got) == len(expected)
        # pandas lists some keys in another order, which dicts ignore.
        for key, rows in expected.items():
            (own,) = (value for label, value in got.items() if same_key(label, key))
            np.testing.assert_array_equal(own, rows)


@pytest.mark.parametrize("by", BYS)
def test_iteration(by, ours):
    mine, theirs = list(BYS[by](ours)), list(BYS[by](table()))
    assert len(mine) == len(theirs)
    for (key, rows), (expected_key, expected) in zip(mine, theirs, strict=True):
        assert same_key(key, expected_key)
        assert_same(rows, expected)


def test_get_group(ours):
    frame = table()
    assert_same(ours.groupby("k").get_group("a"), frame.groupby("k").get_group("a"))
    assert_same(ours.groupby("k").x.get_group("a"), frame.groupby("k").x.get_group("a"))
    key = ("a", int(frame.j[frame.k == "a"].iloc[0]))
    assert_same(ours.groupby(["k", "j"]).get_group(key), frame.groupby(["k", "j"]).get_group(key))
    assert_same(ours.groupby(["k"]).get_group(("a",)), frame.groupby(["k"]).get_group(("a",)))


def test_get_group_of_times_past_the_range_of_another_unit():
    far = pd.DataFrame({"k": np.array(["2020-01-02", "9999-12-31"], "M8[s]"), "x": [1, 2]})
    near = far[:1].astype({"k": "M8[ns]"})
    for frame, key in (
        (far, pd.Timestamp("2020-01-02").as_unit("ns")), (far, far.k[1]),
        (far, np.datetime64("9999-12-31")), (near, pd.Timestamp("2020-01-02").as_unit("s")),
    ):  # fmt: skip
        expected = frame.groupby("k").get_group(key)
        assert_same(from_pandas(frame).groupby("k").get_group(key), expected)
    assert_same_error(lambda f: f.groupby("k").get_group(far.k[1]), near)


def test_get_group_of_a_wrong_key_is_pandas_error():
    frame = table()
    assert_same_error(lambda f: f.groupby("k").get_group("z"), frame)
    assert_same_error(lambda f: f.groupby(["k"]).get_group("a"), frame)
    assert_same_error(lambda f: f.groupby(["k", "j"]).get_group("a"), frame)
    assert_same_error(lambda f: f.groupby(["k", "j"]).get_group(("a", 99)), frame)


def test_filter(ours):
    frame = table()
    for dropna in (True, False):
        assert_same(
            ours.groupby("k").filter(lambda g: g.x.sum() > 0, dropna=dropna),
            frame.groupby("k").filter(lambda g: g.x.sum() > 0, dropna=dropna),
        )
        assert_same(
            ours.groupby("k").x.filter(lambda s: len(s) > 6, dropna=dropna),
            frame.groupby("k").x.filter(lambda s: len(s) > 6, dropna=dropna),
        )
    assert_same(ours.groupby("k").filter(lambda g: None), frame.groupby("k").filter(lambda g: None))


def test_filter_needs_one_bool_a_group():
    frame = table()
    assert_same_error(lambda f: f.groupby("k").filter(lambda g: 1), frame)
    assert_same_error(lambda f: f.groupby("k").filter(lambda g: "yes"), frame)
    assert_same_error(lambda f: f.groupby("k").x.filter(lambda s: s > 0), frame)
    with pytest.raises(TypeError, match="returned a JaxSeries, but expected a scalar bool"):
        on_device(frame).groupby("k").filter(lambda g: g.x > 0)


def test_pipe():
    frame = table()

    def total(groups, more):
        return groups.x.sum() + more

    def more_first(more, groups):
        return total(groups, more)

    assert_same(on_device(frame).groupby("k").pipe(total, 5.0), total(frame.groupby("k"), 5.0))
    assert_same(
        on_device(frame).groupby("k").pipe((more_first, "groups"), 5.0),
        frame.groupby("k").pipe((more_first, "groups"), 5.0),
    )
    assert_same_error(lambda f: f.groupby("k").pipe((more_first, "groups"), groups=1), frame)


def test_agg_of_no_functions_has_no_columns():
    frame = table()
    for of in (lambda f: f.groupby("k"), lambda f: f.groupby("k").x):
        result = of(on_device(frame)).agg([]).to_pandas()
        assert result.shape == of(frame).agg([]).shape
        assert result.index.tolist() == of(frame).agg([]).index.tolist()


@pytest.mark.parametrize(
    "use", [lambda g: g.ngroups, lambda g: g.groups, list, lambda g: g.get_group(1)]
)
def test_inside_jit_the_groups_are_not_known(use):
    frame = JaxFrame({"k": [1, 2, 1], "x": [1.0, 2.0, 3.0]})
    with pytest.raises(NotImplementedError, match="inside jit the groups are not known"):
        jax.jit(lambda f: use(f.groupby("k")))(frame)
