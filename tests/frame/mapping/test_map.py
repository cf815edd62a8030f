# SPDX-License-Identifier: Apache-2.0
import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from frame_examples import floats, integers, mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def _mapped(f):
    return (
        f.k.map({0: 10, 1: 20, 2: 30, 3: 40, 4: 50}),
        f.k.map({0: 10, 1: 20}),
        f.k.map({0: "zero", 1.0: "one", 2.5: "none"}),
        f.k.map(pd.Series([True, False], index=[1, 4])),
        f.k.map({0: pd.Timestamp("2020-01-01")}),
        f.y.map({np.nan: 1.0, 0.0: 2.0, np.inf: 3.0}),
        f.k.map({}),
    )


def _through_the_dictionary(f):
    return (
        f.s.map({"b": 1, "a": 2}),
        f.s.map({"b": "B", None: "missing"}),
        f.c.map({"u": "v", "v": "x", "w": "y"}),
        f.b.map({True: "yes", False: "no"}),
        f.s.map(lambda text: text.upper(), na_action="ignore"),
        f.c.map(str.upper, na_action="ignore"),
    )


def test_map_of_a_dict_or_series():
    assert_parity(_mapped, mixed_frame())
    assert_parity(_through_the_dictionary, mixed_frame(), ways=["eager"])
    frame = mixed_frame().dropna(subset=["s"])
    assert_parity(lambda f: (f.s.map(len), f.s.map({"b": "x"})), frame)
    assert_parity(lambda f: (f.k.map({1: 2.0}), f.s.map({"b": 1})), frame, ways=["mesh"])


def test_map_of_a_function():
    assert_parity(
        lambda f: (
            f.k.map(lambda x: x * x + 1),
            f.f.map(lambda x: x / 2),
            f.x.apply(lambda x: x > 0),
            f.k.apply(lambda x, y: x + y, args=(3,)),
            f[["k", "x"]].map(lambda x: x * 2),
        ),
        mixed_frame(),
    )


def test_isin():
    def each(f):
        return (
            f.k.isin([1, 3]),
            f.k.isin([1.0, 2.5, 1000]),
            f.k.isin(["1", "b"]),
            f.k.isin([]),
            f.y.isin([np.nan, 0.0]),
            f.f.isin([0.1]),
            f.s.isin(["b", "nowhere", ""]),
            f.s.isin([None, "b"]),
            f.c.isin(["u"]),
            f.b.isin([True]),
            f.b.isin([1]),
            f.t.isin([f_time, pd.NaT]),
            f.t.isin(["b"]),
            f[["k", "s"]].isin([1, "b"]),
            f.isin({"k": [1], "s": ["b"]}),
        )

    f_time = mixed_frame().t.dropna().iloc[0]
    assert_parity(each, mixed_frame())
    assert_parity(lambda f: (f.k.isin([1]), f.s.isin(["b"])), mixed_frame(), ways=["mesh"])
    for dtype in ("int8", "uint64", "int64"):
        listed = [-1, 2.0, 2**63 - 1, 127, np.nan]
        assert_parity(lambda s: s.isin(listed), integers(dtype), ways=["eager"])  # noqa: B023
    assert_parity(lambda s: s.isin({1.5, np.inf}), floats("float32"), ways=["eager"])


def test_replace():
    def each(f):
        return (
            f.k.replace(1, 100),
            f.k.replace([1, 2], 0),
            f.k.replace([1, 2], [2, 1]),
            f.k.replace({1: 10, 2: 20}),
            f.k.replace({1: 1.5}),
            f.x.replace(np.nan, 0.0),
            f.y.replace([np.inf, -np.inf], np.nan),
            f.s.replace({"b": "B", "a": "b"}),
            f[["k", "s"]].replace({"k": {1: 5}, "s": {"b": "x"}}),
            f[["k", "x"]].replace({"k": 1}, 7),
            f.b.replace({True: 1, False: 0}),
            f.b.replace(True, value=False),
        )

    assert_parity(each, mixed_frame())


@pytest.mark.parametrize("num_rows", [0, 1])
def test_few_rows(num_rows):
    frame = mixed_frame()[["k", "y", "s"]][:num_rows]
    assert_parity(
        lambda f: (f.k.isin([1]), f.s.isin(["b"]), f.y.replace(np.nan, 1.0)), frame, ways=["eager"]
    )


def test_wrong_arguments_are_pandas_errors():
    frame = pd.DataFrame({"x": [1, 2], "s": ["a", "b"]})
    assert_same_error(lambda f: f.x.isin(1), frame)
    assert_same_error(lambda f: f.s.isin("a"), frame)
    assert_same_error(lambda f: f.isin(1), frame)
    assert_same_error(lambda f: f.x.map(pd.Series([1, 2], index=[1, 1])), frame)
    assert_same_error(lambda f: f.x.map({1: 2}, na_action="bogus"), frame)
    assert_same_error(lambda f: f.x.replace(1), frame)
    assert_same_error(lambda f: f.x.replace([1, 2], [1]), frame)
    with pytest.raises(NotImplementedError, match="trace"):
        on_device(frame).x.map(lambda x: 1 if x > 1 else 0)
    with pytest.raises(NotImplementedError, match="number"):
        on_device(frame).x.map(lambda x: "text")


def test_gradient_flows_through_a_function():
    frame = on_device(pd.DataFrame({"x": [1.0, 2.0, 3.0]}))
    gradient = jax.grad(lambda f: jnp.sum(f.x.map(lambda x: x**3)._only.data[:3]), allow_int=True)(
        frame
    )
    np.testing.assert_allclose(gradient._table.columns[0].data[:3], [3.0, 12.0, 27.0])
