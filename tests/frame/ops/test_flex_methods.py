# SPDX-License-Identifier: Apache-2.0
"""The operators as methods: add, radd, ..., eq, ..."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import finite, mixed_frame
from frame_parity import EVERYWHERE, assert_parity, assert_same, assert_same_error, on_device
from jaxframes.frame import JaxFrame, JaxSeries

ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
REFLECTED = tuple(f"r{name}" for name in ARITHMETIC)
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
OTHER_NAMES = {
    "div": "truediv", "divide": "truediv", "rdiv": "rtruediv", "multiply": "mul", "subtract": "sub"
}  # fmt: skip
# The compiler computes powers with its own rounding.
ULPS = {"pow": 8, "rpow": 8}

FRAME = pd.DataFrame(
    {"x": finite().abs() + 0.5, "y": finite(seed=3), "k": mixed_frame()["k"] + 1.0}
)

each = pytest.mark.parametrize("name", [*ARITHMETIC, *REFLECTED, *COMPARISONS])


@each
def test_with_scalars_arrays_series_and_frames(name):
    def results(f):
        array = np.linspace(1.0, 3.0, 37)[: len(f)]
        return (
            getattr(f, name)(2.0), getattr(f, name)(f.k, axis=0), getattr(f.x, name)(f.k),
            getattr(f.x, name)(array), getattr(f, name)([1.0, 2.0, 3.0]),
        )  # fmt: skip

    for num_rows in (37, 0):
        assert_parity(results, FRAME[:num_rows], ways=["eager"], ulps=ULPS.get(name, 0))


@pytest.mark.parametrize("name", ["sub", "rtruediv", "eq", "lt"])
def test_other_labels_are_brought_together(name):
    def results(f):
        some, others = f[["x", "k"]].iloc[3:], f[["k", "x"]].iloc[:20]
        if name in COMPARISONS:
            return getattr(f, name)(f[["y", "k", "x"]]), getattr(some.x, name)(others.x)
        return (
            getattr(some, name)(others),
            getattr(some, name)(others, fill_value=1.5),
            getattr(some.x, name)(others.k, fill_value=2.0),
        )

    assert_parity(results, FRAME, ways=["eager"], ulps=ULPS.get(name, 0))


def test_integers_and_strings():
    frame = mixed_frame()[["k", "i", "s"]]

    def results(f):
        f = f.assign(k=f.k + 1)
        return (
            f.i.floordiv(f.k), f.i.mod(f.k), f.k.pow(2), f.k.rpow(2), f.i.truediv(f.k),
            f.s.add("!"), f.s.radd("!"), f.s.lt("b"), f.s.eq(f.s), f.s.ne("a"), f.i.rsub(f.k),
        )  # fmt: skip

    assert_parity(results, frame, ways=["eager"])


def test_integers_divided_by_zero_are_those_of_the_operators():
    frame = mixed_frame()[["k", "i"]]
    ours = on_device(frame)
    assert_same(
        (ours.i.floordiv(ours.k), ours.i.mod(ours.k)), (frame.i // frame.k, frame.i % frame.k)
    )
    assert_same(ours.rfloordiv(9), pd.DataFrame({label: 9 // frame[label] for label in frame}))


def test_in_jit_and_on_a_mesh():
    def results(f):
        return f.radd(1.0), f.rdiv(2.0), f.x.rsub(f.y), f.le(f.k, axis=0), f.y.ge(0.0), f.x.rmul(3)

    assert_parity(results, FRAME, ways=EVERYWHERE)


@each
def test_wrong_uses_are_pandas_errors(name):
    assert_same_error(lambda f: getattr(f, name)(1, axis=2), FRAME)
    assert_same_error(lambda f: getattr(f.x, name)(1, axis=1), FRAME)
    assert_same_error(lambda f: getattr(f.x, name)([1, 2]), FRAME)
    assert_same_error(lambda f: getattr(f, name)([1, 2]), FRAME)


LEVELS = pd.DataFrame(
    {"v": [1.0, 2.0, 4.0, np.nan, 7.0, 5.0], "w": range(6)},
    index=pd.MultiIndex.from_tuples(
        [("b", 2), ("a", 1), ("b", 1), ("c", 2), ("a", 3), ("d", 1)], names=["k", "n"]
    ),
)
BY_KEY = pd.DataFrame({"v": [10.0, 20.0, 30.0], "q": [1, 2, 3]}, index=["a", "z", "b"])
BY_NUMBER = pd.Series([5, 6, 7], index=[1, 2, 9], name="w")


@pytest.mark.parametrize("name", ["add", "rsub", "mul", "truediv", "eq", "lt"])
def test_one_level_of_labels(name):
    fills = [{}] if name in COMPARISONS else [{}, {"fill_value": 2}]

    def results(f, g, s):
        found = []
        for fill in fills:
            found += [
                getattr(f.v, name)(g.v, level="k", **fill),
                getattr(f.w, name)(s, level=1, **fill),
                getattr(s, name)(f.w, level=-1, **fill),
                getattr(f, name)(s, axis=0, level="n", **({} if name in COMPARISONS else fill)),
                getattr(f, name)(g, level=0, **fill),
                getattr(g, name)(f, level=0, **fill),
                getattr(f[:0].v, name)(g.v, level="k", **fill),
                getattr(f.v, name)(g.v[:0], level="k", **fill),
            ]
        return (
            *found,
            getattr(f.v, name)(g.v, level="k").unstack("k"),
            getattr(f.v, name)(g.v[:1], level="k").unstack("k"),
            getattr(f.v, name)(2, level="k"),
            getattr(s, name)(s[:2], level="k"),
            getattr(f.v, name)(f.w, level="k"),
            getattr(f.stack(), name)(s.rename_axis("n"), level="n"),
        )

    assert_parity(results, LEVELS, BY_KEY, BY_NUMBER, ways=["eager", "mesh"])


def test_one_level_of_column_labels():
    columns = pd.MultiIndex.from_tuples([("x", 1), ("y", 1), ("x", 2)], names=["a", "b"])
    frame = pd.DataFrame(np.arange(6.0).reshape(2, 3), columns=columns)
    other = pd.DataFrame({"x": [1.0, 2.0], "z": [3.0, 4.0]})
    assert_parity(
        lambda f, g: (f.add(g, level="a"), g.sub(f, level="a"), f.gt(g, level=0)), frame, other
    )
    series = pd.Series([10.0, 20.0], index=["y", "x"])
    assert_parity(
        lambda f: (f.add(series, level="a"), f.rpow(series, level=0)), frame, ways=["eager"]
    )


def test_wrong_levels_are_pandas_errors():
    for call in (
        lambda f, g: f.v.add(g.v, level="none"),
        lambda f, g: f.v.add(g.v, level=5),
        lambda f, g: f.v.add(g.v, level=["k"]),
        lambda f, g: f.v.add(f.v[:2], level="k"),
        lambda f, g: f.v.add(g.v.iloc[[0, 0, 1]], level="k"),
        lambda f, g: f.add(g.v, axis=0, level="none"),
    ):
        assert_same_error(call, LEVELS, BY_KEY)
    with pytest.raises(NotImplementedError, match="inside jit the labels of a level"):
        jax.jit(lambda f, g: f.v.add(g.v, level="k"))(on_device(LEVELS), on_device(BY_KEY))


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_other_names_are_the_same_methods(name):
    for kind in (JaxFrame, JaxSeries):
        assert getattr(kind, name) is getattr(kind, OTHER_NAMES[name])
    assert_parity(lambda f: (getattr(f, name)(2.0), getattr(f.x, name)(f.k)), FRAME, ways=["eager"])


def test_quotients_with_remainders():
    assert_parity(
        lambda f: (*f.k.divmod(3), *f.k.rdivmod(7), *divmod(f.x, f.f), *divmod(9, f.x)),
        mixed_frame()[["k", "x", "f"]],
        ways=["eager"],
        ulps=2,
    )
