# SPDX-License-Identifier: Apache-2.0
import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
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
