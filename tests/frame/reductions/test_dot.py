# SPDX-License-Identifier: Apache-2.0
"""dot and @."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import EVERYWHERE, assert_parity, assert_same, assert_same_error, on_device
from jax.sharding import AxisType
from jaxframes.shardings import make_mesh, row_sharded
from pandas.errors import PerformanceWarning


def numbers():
    return mixed_frame()[["x", "f", "i"]].fillna(0).set_axis(["a", "b", "c"], axis=1)


def test_arrays():
    assert_parity(
        lambda f: (
            f[["a", "b"]] @ np.ones((2, 3)),
            f[["a", "c"]] @ np.ones(2),
            f["a"] @ f["b"],
            f["a"].dot(f),
        ),
        numbers(),
        ways=EVERYWHERE,
        ulps=256,
    )
    assert_parity(
        lambda f: (f["a"] @ np.arange(37.0), f["c"] @ np.ones((37, 2), np.int64)),
        numbers(),
        ways=["eager"],
        ulps=256,
    )


def test_labels_align():
    weights = pd.DataFrame({"p": [1.0, 2, 3], "q": [4.0, 5, 6]}, index=["c", "a", "b"])
    assert_parity(
        lambda f, w: (f.dot(w), f @ w["p"], f["a"] @ f["b"][::-1]),
        numbers(),
        weights,
        ways=["eager", "mesh"],
        ulps=256,
    )
    frame = numbers()
    got = on_device(frame).dot(weights)
    np.testing.assert_allclose(got.to_numpy(), frame.dot(weights).to_numpy(), rtol=1e-14)


def test_types_and_missing_values():
    frame = mixed_frame()[["i", "x", "b"]]
    assert_parity(
        lambda f: (f[["i"]] @ np.array([2]), f[["x"]] @ np.ones(1), f[["b"]] @ np.array([True])),
        frame,
        ways=["eager"],
    )
    assert_parity(lambda f: f[:0][["x"]] @ np.ones(1), frame, ways=["eager"])


def test_explicit_axes():
    sharding = row_sharded(make_mesh(4, axis_type=AxisType.Explicit))
    frame = mixed_frame()[["k", "i"]]
    assert_same(on_device(frame, sharding).k.dot(frame.i), frame.k.dot(frame.i))


def test_gradients():
    ours = on_device(numbers())
    gradient = jax.grad(lambda w: (ours[["a", "b"]] @ w).sum())(jnp.ones(2))
    expected = numbers()[["a", "b"]].astype("float64").sum()
    np.testing.assert_allclose(gradient, expected, rtol=1e-6)


def test_wrong_uses_are_pandas_errors():
    frame = numbers()
    assert_same_error(lambda f: f @ np.ones(2), frame)
    assert_same_error(lambda f: f.a @ np.ones(2), frame)
    assert_same_error(lambda f: f.dot(f), frame)
    assert_same_error(lambda f: f.a.dot(f.a[:3]), frame)
    with pytest.raises(TypeError, match="must be numbers"):
        on_device(mixed_frame())[["s"]].dot(np.ones(1))


@pytest.mark.parametrize("dtype", ["Int64", "Float32", "int64[pyarrow]"])
def test_products_of_nullable_columns_are_nullable(dtype):
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [2, 4, 6]}, dtype=dtype)
    floats = "double[pyarrow]" if dtype.endswith("[pyarrow]") else "Float64"
    other = pd.DataFrame({"p": [1.0, 2.0], "q": [3.0, 4.0]}, ["a", "b"], dtype=floats)
    assert_parity(lambda f, g: (f.dot(g), f.dot(g.p), f.a.dot(f)), frame, other, ways=["eager"])


def test_objects_that_are_numbers():
    numbers = pd.DataFrame({"x": [1, 2, 4], "y": [2, 1, 7]})
    objects = numbers.astype(object)
    for left, right in ((objects, numbers.T), (objects.x, numbers), (objects.x, numbers.x)):
        with pytest.warns(PerformanceWarning, match="dot: objects"):
            found = on_device(left) @ on_device(right)
        if isinstance(left @ right, int):
            assert found == left @ right
        else:
            assert_same(found, left @ right)


def test_a_frame_without_columns_is_refused():
    frame = on_device(pd.DataFrame({"a": [1.0, 2.0]}))
    for left, right in ((frame[[]], frame[[]].T), (frame[:0], frame[:0].T), (frame.T, frame[[]])):
        with pytest.raises(NotImplementedError, match="dot: both sides must have a column"):
            left.dot(right)
