# SPDX-License-Identifier: Apache-2.0
import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device
from jaxframes.frame import JaxFrame


def test_functions_of_rows():
    def each(f):
        numbers = f[["k", "i", "x"]]
        return (
            f.apply(lambda row: row.k * 2 + row["i"], axis=1),
            numbers.apply(lambda row: row.k + 1, axis=1),
            f[["k", "i"]].apply(lambda row: row.k % 3, axis=1),
            f[["f", "k"]].apply(lambda row: row.f * 2, axis=1),
            f.apply(lambda row: (row.k, row.x / 2.0), axis=1, result_type="expand"),
            f.apply(lambda row: {"a": row.k > 1, "b": row.f}, axis=1, result_type="expand"),
        )

    assert_parity(each, mixed_frame())
    assert_parity(
        lambda f: f.apply(lambda row: row.k + row.x, axis=1), mixed_frame(), ways=["mesh"]
    )


def test_functions_of_columns():
    assert_parity(
        lambda f: f[["k", "x"]].apply(lambda column: column * 2), mixed_frame(), ways=["eager"]
    )


def test_a_function_is_traced_once():
    traces = []

    def product(row):
        traces.append(row)
        return row.x * row.y

    for seed in range(3):
        data = np.random.default_rng(seed).normal(size=(20 + seed, 2))
        frame = pd.DataFrame(data, columns=["x", "y"])
        result = on_device(frame).apply(product, axis=1)
        pd.testing.assert_series_equal(result.to_pandas(), frame.x * frame.y)
    assert len(traces) == 1


def test_what_a_function_cannot_do():
    ours = on_device(mixed_frame())
    with pytest.raises(NotImplementedError, match="trace"):
        ours.apply(lambda row: 1 if row.k > 1 else 2, axis=1)
    with pytest.raises(TypeError, match="column 's'"):
        ours.apply(lambda row: row.s, axis=1)
    with pytest.raises(NotImplementedError, match="expand"):
        ours.apply(lambda row: (row.k, row.k), axis=1)
    with pytest.raises(NotImplementedError, match="number"):
        ours.apply(lambda row: "text", axis=1)
    frame = pd.DataFrame({"x": [1, 2]})
    assert_same_error(lambda f: f.apply(lambda row: row.bogus, axis=1), frame)
    assert "bogus" in assert_same_error(lambda f: f.apply(lambda row: row["bogus"], axis=1), frame)
    assert_same_error(lambda f: f.apply(lambda row: row.x, axis=1, result_type="bogus"), frame)
    assert_same_error(lambda f: f.apply(lambda row: row.x, axis=2), frame)


def test_padding_has_no_part_in_the_gradient_of_what_a_function_closes_over():
    frame = JaxFrame({"x": [1.0, 2.0, 4.0]})
    for total in (
        lambda w: frame.x.map(lambda x: w / x).sum(),
        lambda w: frame.apply(lambda row: w / row.x, axis=1).sum(),
    ):
        assert jax.grad(total)(2.0) == 1.75


def test_gradient_flows_through_rows():
    frame = on_device(pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]}))
    gradient = jax.grad(
        lambda f: jnp.sum(f.apply(lambda row: row.x**2 * row.y, axis=1)._only.data[:2]),
        allow_int=True,
    )(frame)
    np.testing.assert_allclose(gradient._table.columns[0].data[:2], [6.0, 16.0])
    np.testing.assert_allclose(gradient._table.columns[1].data[:2], [1.0, 4.0])
