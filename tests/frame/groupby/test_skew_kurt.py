# SPDX-License-Identifier: Apache-2.0
"""groupby.skew and groupby.kurt."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_same_error, on_device
from jaxframes import shardings
from jaxframes.frame import JaxFrame, from_pandas

SHAPES = ["skew", "kurt"]
DTYPES = ["float64", "float32", "int8", "int64", "uint64", "bool"]


def table(dtype="float64", num_rows=60):
    rng = np.random.default_rng(3)
    # Groups of 0 to many rows: the smallest keys have 1, 2, 3 and 4 rows.
    keys = np.concatenate([np.repeat([1.0, 2, 3, 4], [1, 2, 3, 4]), rng.integers(5, 9, 50)])
    frame = pd.DataFrame({"k": keys, "x": rng.integers(0, 90, 60) % 7})
    frame["x"] = frame.x.astype(dtype)
    frame["j"] = rng.choice(np.array(["a", "b"], object), 60)
    return frame.sample(frac=1, random_state=1).reset_index(drop=True)[:num_rows]


def close(ours, theirs, rtol=1e-12):
    same = pd.testing.assert_frame_equal
    if isinstance(theirs, pd.Series):
        same = pd.testing.assert_series_equal
    same(ours.to_pandas(), theirs, rtol=rtol, atol=1e-12)


@pytest.mark.parametrize("op", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_groups_of_every_size(op, dtype):
    frame = table(dtype)
    if dtype == "float64":
        frame.loc[::5, "x"] = np.nan
    rtol = 1e-5 if dtype == "float32" else 1e-12
    for by, options in (("k", {}), (["k", "j"], {}), ("k", {"as_index": False, "sort": False})):
        expected = getattr(frame.groupby(by, **options)[["x"]], op)()
        close(getattr(on_device(frame).groupby(by, **options)[["x"]], op)(), expected, rtol)


@pytest.mark.parametrize("op", SHAPES)
def test_missing_keys_skipna_and_numeric_only(op):
    frame = table()
    frame.loc[frame.index % 3 == 0, "k"] = np.nan
    frame.loc[[1, 8], "x"] = np.nan
    for dropna in (True, False):
        for options in ({"numeric_only": True}, {"numeric_only": True, "skipna": False}):

            def shapes(f, dropna=dropna, options=options):
                return getattr(f.groupby("k", dropna=dropna), op)(**options)

            close(shapes(on_device(frame)), shapes(frame))


@pytest.mark.parametrize("op", SHAPES)
@pytest.mark.parametrize("how", ["agg", "list", "dict", "named", "transform", "transform nulls"])
def test_by_name(op, how):
    def shapes(f):
        grouped = f.groupby("k").x
        if how == "transform nulls":
            return f.groupby(f.k.where(f.k > 5)).x.transform(op)
        if how == "transform":
            return grouped.transform(op)
        if how == "dict":
            return f.groupby("k").agg({"x": op})
        if how == "named":
            return grouped.agg(shape=op)
        return grouped.agg([op, "mean"] if how == "list" else op)

    close(shapes(on_device(table())), shapes(table()))


@pytest.mark.parametrize("op", SHAPES)
def test_equal_values_have_no_shape(op):
    frame = pd.DataFrame({"k": np.repeat([1, 2, 3], 5), "x": np.repeat([0.1, 1e8 + 0.1, 7.0], 5)})
    assert getattr(JaxFrame(frame).groupby("k").x, op)().isna().all()
    assert getattr(frame.groupby("k").x, op)().isna().all()


@pytest.mark.parametrize("op", SHAPES)
def test_a_mean_far_from_zero_costs_no_digits(op):
    rng = np.random.default_rng(4)
    x = np.round(rng.exponential(size=400) * 64) / 64
    keys = rng.integers(0, 5, 400)
    near = JaxFrame({"k": keys, "x": x}).groupby("k").x
    far = JaxFrame({"k": keys, "x": x + 2.0**40}).groupby("k").x
    expected = getattr(pd.Series(x).groupby(keys), op)()
    np.testing.assert_allclose(getattr(near, op)().to_numpy(), expected, rtol=1e-12)
    # The values are exact, so the results are invariant under a shift.
    np.testing.assert_allclose(getattr(far, op)().to_numpy(), expected, rtol=1e-12)


@pytest.mark.parametrize("op", SHAPES)
def test_inside_jit_and_on_a_mesh(op):
    def shapes(f):
        return getattr(f.groupby("k").x, op)()

    frame = table()[["k", "x"]]
    expected = shapes(frame)
    close(jax.jit(shapes)(on_device(frame)), expected)
    sharding = shardings.row_sharded(shardings.make_mesh(3))
    close(shapes(from_pandas(frame, sharding=sharding)), expected)


@pytest.mark.parametrize("op", SHAPES)
def test_infinities_and_empty_frames(op):
    frame = table()[["k", "x"]]
    frame.loc[3, "x"] = np.inf
    for f in (frame, frame[:0]):
        close(getattr(on_device(f).groupby("k"), op)(), getattr(f.groupby("k"), op)())


@pytest.mark.parametrize("op", SHAPES)
def test_strings_and_times_have_no_shape(op):
    frame = pd.DataFrame({"k": [1, 1, 1], "s": ["a", "b", "c"], "t": pd.to_datetime([1, 2, 3])})
    for name in ("s", "t"):
        assert_same_error(lambda f, name=name: getattr(f.groupby("k")[name], op)(), frame)


@pytest.mark.parametrize("op", SHAPES)
def test_derivatives_are_those_of_differences(op):
    x = jax.numpy.asarray([1.0, 2.0, 4.0, 9.0, 3.0])
    keys = jax.numpy.asarray([1, 1, 1, 1, 1])

    def shape(x):
        return getattr(JaxFrame({"k": keys, "x": x}).groupby("k").x, op)().sum()

    slopes = jax.grad(shape)(x)
    for row in range(5):
        step = 1e-5 * np.eye(5)[row]
        slope = (
            getattr(pd.Series(np.asarray(x) + step), op)()
            - getattr(pd.Series(np.asarray(x) - step), op)()
        ) / 2e-5
        np.testing.assert_allclose(slopes[row], slope, rtol=1e-6, atol=1e-9)
