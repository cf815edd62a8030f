# SPDX-License-Identifier: Apache-2.0
import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_parity, assert_same, assert_same_error, on_device
from jaxframes.frame import JaxFrame, JaxSeries
from jaxframes.frame.table import _user_functions


def _frame():
    return pd.DataFrame(
        {
            "k": [3, 1, 3, 1, 2, 3],
            "s": ["b", None, "a", "b", "a", "b"],
            "x": [1.0, 2.5, np.nan, -4.0, 5.0, 0.5],
            "i": [1, 2, 3, 4, 5, 6],
            "b": [True, False, True, True, False, False],
            "t": pd.to_datetime(["2020-01-01", "2020-03-01", "2021-01-01"] * 2),
            "c": pd.Categorical(["u", "v", "u", "v", "u", "v"], categories=["v", "w", "u"]),
        },
        index=[10, 20, 30, 40, 50, 60],
    )


VALUES = {
    "range": lambda g: g.x.max() - g.x.min(),
    "weighted mean": lambda g: (g.x * g.i).sum() / g.i.sum(),
    "share": lambda g: (g.b & (g.x > 0)).mean(),
    "any": lambda g: (g.i > 4).any() | g.b.all(),
    "times": lambda g: g.t.max() - g.t.min(),
    "least time": lambda g: g["t"].min(),
    "counts": lambda g: 2 * g.x.count() - g.i.nunique(),
    "missing": lambda g: g.x.isna().sum(),
    "scans": lambda g: (g.i.cumsum() * g.x.fillna(1.0)).max() - 1.5,
    "lags": lambda g: g.x.diff().abs().mean() + g.i.shift().sum(),
    "centered": lambda g: (g.x - g.x.mean()).abs().sum(),
    "negative": lambda g: -g.i.median(),
}


@pytest.mark.parametrize("name", VALUES)
def test_one_value_for_each_group_is_traced(name):
    function, ways = VALUES[name], ["eager", "jit", "mesh"] if name == "range" else ["eager", "jit"]
    assert_parity(lambda f: f.groupby("k").apply(function), _frame(), ways=ways, ulps=2)
    JaxFrame(_frame()).groupby("k").apply(function, engine="jax")


def test_a_traced_function_is_called_once_for_all_groups(monkeypatch):
    # It counts its calls, which would keep it from being traced.
    monkeypatch.setattr(_user_functions, "calls_differ", lambda function: False)
    calls = []

    def note(group):
        calls.append(group)

    def span(group):
        note(group)
        return group.x.max() - group.x.min()

    frame = pd.DataFrame({"k": np.arange(3000) // 3, "x": np.arange(3000.0) ** 2})
    found = JaxFrame(frame).groupby("k").apply(span)
    assert len(calls) == 1
    pd.testing.assert_series_equal(found.to_pandas(), frame.groupby("k").apply(span))


def test_gradients_flow_through_traced_groups():
    frame = JaxFrame({"k": [1, 2, 1], "x": [1.0, 2.0, 4.0]})

    def total(w):
        return (
            frame.assign(y=frame.x * w).groupby("k").apply(lambda g: g.y.max() * g.x.sum())
        ).sum()

    assert jax.grad(total)(1.0) == 4 * 5 + 2 * 2


ON_HOST = {
    "branch": lambda g: g.x.max() if len(g) > 1 else 0.0,
    "caught": lambda g: _or_none(lambda: float(g.x.sum())),
    "text": lambda g: f"{g.name}: {len(g)}",
    "none": lambda g: None,
    "some": lambda g: None if g.name == 1 else g.i.sum(),
    "series": lambda g: pd.Series({"least": g.x.min(), "rows": len(g)}),
    "ours": lambda g: g[["x", "i"]].sum(),
    "rows": lambda g: g.sort_values("x").head(2),
    "same rows": lambda g: g[["x"]] * 2,
    "frames": lambda g: g[["i", "s"]] if len(g) > 1 else None,
    "arrays": lambda g: jnp.max(g.i.to_jax()),
}


def _or_none(call):
    try:
        return call()
    except Exception:
        return None


def _pandas(function):
    return (lambda g: int(g.i.max())) if function is ON_HOST["arrays"] else function


@pytest.mark.parametrize("name", ON_HOST)
def test_other_functions_run_on_the_host(name):
    function = ON_HOST[name]
    for options in ({}, {"group_keys": False}, {"as_index": False}, {"sort": False}):
        expected = _frame().groupby("k", **options).apply(_pandas(function))
        assert_same(JaxFrame(_frame()).groupby("k", **options).apply(function), expected)
    if name != "none":
        with pytest.raises(Exception, match=r"cannot be traced|no attribute|not known"):
            jax.jit(lambda f: f.groupby("k").apply(function))(JaxFrame(_frame()[["k", "x", "i"]]))


def test_keys_of_every_kind():
    def each(f):
        return (
            f.groupby("s").apply(lambda g: g.x.max()),
            f.groupby("s", dropna=False).apply(len),
            f.groupby(["k", "s"]).apply(lambda g: g.i.sum()),
            f.groupby(["k", "s"], as_index=False).apply(lambda g: g.head(1)),
            f.groupby(["k"]).apply(lambda g: g.name),
            f.groupby("c", observed=False).apply(len),
            f.groupby(f.i % 2).apply(lambda g: g.x.iloc[0]),
            f.groupby(level=0).apply(len),
            f.groupby("k")[["x", "i"]].apply(lambda g: g.max()),
            f.groupby("k").apply("sum", numeric_only=True),
        )

    assert_parity(each, _frame(), ways=["eager"])
    assert_parity(lambda f: each(f)[2:4], _frame(), ways=["mesh"])
    assert_parity(lambda f: f.groupby("k").apply(len), _frame()[:1], ways=["eager"])


def test_groups_of_a_series():
    assert_parity(
        lambda f: (
            f.groupby("k").x.apply(lambda s: s.max()),
            f.groupby("k").x.apply(lambda s: s * 2),
            f.groupby("k", group_keys=False).x.apply(lambda s: s - s.min()),
            f.groupby("k").x.apply(lambda s: {"a": s.max(), "n": len(s)}),
            f.groupby("k").s.apply(list),
            f.groupby("k").i.apply(lambda s, n, m: s.nlargest(n) + m, 2, m=1),
            f.i.groupby(f.k).apply(lambda s: s.tolist()),
        ),
        _frame(),
        ways=["eager"],
    )


def test_functions_in_agg():
    assert_parity(
        lambda f: (
            f.groupby("k").i.agg(lambda s: s.max() - s.min()),
            f.groupby("k")[["x", "i"]].agg(lambda s: s.max() * 2),
            f.groupby("k").agg(lambda s: s.iloc[0]),
            f.groupby("k").x.agg([lambda s: s.sum(), "sum", lambda s: len(s)]),
            f.groupby("k")[["x", "i"]].agg([_span, "max"]),
            f.groupby("k").agg({"x": _span, "s": lambda s: "".join(s.dropna())}),
            f.groupby("k").agg(r=("x", _span), n=("s", len), l=("s", list)),
            f.groupby("k", as_index=False).agg(r=("x", lambda s: s.iloc[-1])),
            f.groupby("k").i.agg(lambda s, n: s.max() + n, 5),
            f.groupby("c", observed=False).i.agg(lambda s: len(s)),
            f.groupby("k").t.agg(lambda s: s.max() - s.min()),
        ),
        _frame(),
        ways=["eager", "mesh"],
    )
    assert_parity(lambda f: f.groupby("k")[["x", "i"]].agg([_span, "max"]), _frame(), ways=["jit"])


def _span(values):
    return values.max() - values.min()


def test_functions_in_transform():
    assert_parity(
        lambda f: (
            f.groupby("k").x.transform(lambda s: (s - s.mean()) / s.std()),
            f.groupby("k")[["x", "i"]].transform(lambda s: s.max()),
            f.groupby("s").i.transform(lambda s: s - s.min()),
            f.groupby("s").x.transform(lambda s: s.max()),
            f.groupby("k").i.transform(lambda s: s.cumsum() * 2),
        ),
        _frame(),
        ways=["eager", "mesh"],
        ulps=2,
    )
    assert_parity(
        lambda f: (
            f.groupby("k").i.transform(lambda s: s.max() if len(s) > 1 else 0),
            f.groupby("k").s.transform(lambda s: s.iloc[-1]),
            f.groupby("k").x.transform(lambda s, n: s.fillna(len(s)) + n, n=1),
            f.groupby("k")[["x", "i"]].transform(lambda s: s.iloc[::-1].tolist()),
        ),
        _frame(),
        ways=["eager"],
    )
    jax.jit(lambda f: f.groupby("k").x.transform(lambda s: s - s.mean()))(JaxFrame(_frame()))


def test_functions_in_filter():
    assert_parity(
        lambda f: (
            f.groupby("k").filter(lambda g: g.i.sum() > 5),
            f.groupby("k").filter(lambda g: len(g) > 1),
            f.groupby("s").x.filter(lambda s: s.max() > 2.0),
        ),
        _frame(),
        ways=["eager"],
    )
    calls = []
    JaxFrame(_frame()).groupby("k").filter(lambda g: calls.append(g) or g.i.sum() > 5)
    assert len(calls) == 1


def test_the_engine_of_a_function():
    groups = JaxFrame(_frame()).groupby("k")
    for call in (
        lambda: groups.apply(len, engine="jax"),
        lambda: groups.agg(lambda s: s.iloc[0], engine="jax"),
        lambda: groups.x.transform(lambda s: s.sort_index(), engine="jax"),
        lambda: groups.filter(lambda g: len(g) > 1, engine="jax"),
    ):
        with pytest.raises(NotImplementedError, match="segment_function"):
            call()
    seen = []
    groups.x.apply(lambda s: seen.append(type(s)), engine="python")
    assert seen == [JaxSeries] * 3
    with pytest.raises(ValueError, match="engine must be"):
        groups.apply(len, engine="numba")
    with pytest.raises(ValueError, match="include_groups"):
        groups.apply(len, include_groups=True)
    with pytest.raises(TypeError, match="func must be a function"):
        groups.apply(3)


def test_a_trace_that_asks_for_the_type_or_catches_its_error_is_not_used():
    groups = JaxFrame(_frame()).groupby("k")
    kind = lambda g: g.i.sum() if isinstance(g, JaxFrame) else g.i.min()  # noqa: E731
    assert groups.apply(kind).tolist() == [6, 5, 10]
    assert groups.i.apply(lambda s: s.sum() if isinstance(s, JaxSeries) else 0).tolist() == [
        6,
        5,
        10,
    ]
    caught = lambda g: _or_none(lambda: int(g.i.sum())) or g.i.min()  # noqa: E731
    assert groups.apply(caught).tolist() == [6, 5, 10]


def test_errors_of_functions_are_their_own():
    assert_same_error(lambda f: f.groupby("k").apply(lambda g: g.bogus), _frame())
    assert_same_error(lambda f: f.groupby("k").apply(lambda g: g["bogus"]), _frame())
    assert_same_error(lambda f: f.groupby("k").x.agg(lambda s: s.bogus), _frame())
    assert_same_error(lambda f: f.groupby("k").filter(lambda g: 3), _frame())
    ours = on_device(_frame())
    assert ours.groupby("k").apply(lambda g: g.x).to_pandas().index.names == ["k", None]
