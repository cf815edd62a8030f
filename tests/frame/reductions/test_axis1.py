# SPDX-License-Identifier: Apache-2.0
"""Methods with axis=1, over the columns of each row."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from frame_examples import finite, floats, mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame


def numbers() -> pd.DataFrame:
    frame = mixed_frame()[["k", "x", "y", "i"]]
    # No negative zeros: pandas' median and extremes may drop the sign.
    return frame.assign(k=frame.k.astype("int8"), x=frame.x.round(0) + 0.0, y=frame.y + 0.0)


def with_ties() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    return pd.DataFrame(rng.choice([1.0, 2.0, 3.0, np.nan], (37, 4)), columns=list("abcd"))


def reduced(f):
    return (
        f.median(axis=1),
        f.median(axis=1, skipna=False),
        f.nunique(axis=1),
        f.nunique(axis=1, dropna=False),
        f.idxmax(axis=1),
        f.idxmin(axis="columns"),
        f.count(axis=1),
    )


def rows(f):
    return (
        f.cumsum(axis=1),
        f.cumprod(axis=1, skipna=False),
        f.cummax(axis=1),
        f.cummin(axis=1),
        f.shift(axis=1),
        f.shift(-2, axis=1),
        f.diff(axis=1),
        f.rank(axis=1),
    )


@np.errstate(invalid="ignore", over="ignore")
def test_rows_reduced_and_combined():
    assert_parity(reduced, numbers(), ways=["jit"])
    assert_parity(lambda f: (*reduced(f[["k", "i"]]), *rows(f)), numbers(), ways=["eager"])
    assert_parity(lambda f: (*reduced(f), *rows(f)), numbers(), ways=["mesh"])


@np.errstate(invalid="ignore")
def test_bools_and_small_floats():
    frame = pd.DataFrame({"a": [True, False, True], "b": [False, False, True]})
    assert_parity(lambda f: (f.cumsum(axis=1), f.cummin(axis=1), f.shift(axis=1)), frame)
    assert_parity(reduced, frame, ways=["jit"])
    small = pd.DataFrame({"a": finite("float32"), "b": floats("float32") + np.float32(0)})
    assert_parity(lambda f: (f.median(axis=1), f.cumsum(axis=1)), small, ways=["jit"])


def test_each_rank():
    def ranks(f):
        return tuple(
            f.rank(axis=1, method=method, na_option=na_option, ascending=ascending, pct=ascending)
            for method in ("average", "min", "max", "first", "dense")
            for na_option in ("keep", "top", "bottom")
            for ascending in (True, False)
        )

    assert_parity(ranks, with_ties(), ways=["jit"])


def test_values_of_any_kind_are_counted_and_tested():
    frame = mixed_frame()[["s", "t", "x", "b", "c"]]
    assert_parity(lambda f: f.count(axis=1), frame, ways=["jit"])
    some = frame[["s", "x", "b"]].assign(r=frame.s)
    assert_parity(
        lambda f: (f.any(axis=1), f.all(axis=1), f[["s", "r"]].all(axis=1)), some, ways=["jit"]
    )


def test_no_columns_or_rows():
    nothing = pd.DataFrame(index=range(3))
    assert_parity(
        lambda f: (f.median(axis=1), f.nunique(axis=1), f.cumsum(axis=1), f.shift(axis=1)),
        nothing,
        ways=["eager"],
    )
    assert_same_error(lambda f: f.idxmax(axis=1), nothing)
    assert_parity(lambda f: f.idxmax(axis=1), numbers()[:0], ways=["eager"])


def test_derivatives():
    def total(x):
        frame = JaxFrame({"a": x, "b": x * x, "c": jnp.sin(x)})
        return sum(
            jnp.sum(series.to_jax())
            for series in (
                frame.median(axis=1),
                frame.cumprod(axis=1)["c"],
                frame.diff(axis=1)["b"],
            )
        )

    x = jnp.array([0.5, 2.0, 3.0])
    # The median is x unless x * x is between the other two; the product is x**3 * sin(x).
    middle = jnp.cos(x).at[0].set(jnp.cos(x[0])).at[1:].set(1.0)
    product = 3 * x**2 * jnp.sin(x) + x**3 * jnp.cos(x)
    np.testing.assert_allclose(jax.grad(total)(x), middle + product + 2 * x - 1, rtol=1e-12)


def test_wrong_uses():
    assert "NA" in assert_same_error(lambda f: f.idxmax(axis=1), with_ties() * np.nan)
    assert "NA" in assert_same_error(lambda f: f.idxmin(axis=1, skipna=False), with_ties())
    assert_same_error(lambda f: f.cumsum(axis=2), with_ties())
    frame = JaxFrame(mixed_frame())
    for use in (
        lambda f: f.median(axis=1),
        lambda f: f[["s", "x"]].idxmax(axis=1),
        lambda f: f[["b", "x"]].cumsum(axis=1),
        lambda f: f[["k", "x"]].shift(axis=1, fill_value=0),
    ):
        with pytest.raises(NotImplementedError, match=r"Select columns|fillna"):
            use(frame)
