# SPDX-License-Identifier: Apache-2.0
"""The passes of a reduction over the rows of one device, against NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives.local._reduce_passes import OneShard, Passes
from jaxframes.primitives.local._reduced_columns import MaskedRows, ReducePlan

ROWS = np.array([[3.0, -1.0], [np.nan, 2.0], [0.5, -1.0], [4.0, 9.0], [7.0, 7.0]])
HOLDS = np.array([True, True, True, True, False])
EXPECTED = {
    "sum": np.nansum,
    "mean": np.nanmean,
    "min": np.nanmin,
    "max": np.nanmax,
    "var": np.nanvar,
    "argmin": np.nanargmin,
    "argmax": np.nanargmax,
}


def plan_of(op, transform=None):
    tree = jax.tree.structure(0)
    return ReducePlan("reduce", (op,), tree, transform, None, 0, skip_nan=True)


@pytest.mark.parametrize("op", EXPECTED)
def test_values_and_counts_are_those_of_numpy(op):
    def of_rows(rows):
        return Passes(MaskedRows(rows, HOLDS), (), None, plan_of(op)).reduced(OneShard())

    values, counts = jax.jit(of_rows)(ROWS)
    np.testing.assert_allclose(values, EXPECTED[op](ROWS[:4], axis=0), rtol=1e-15)
    assert counts.tolist() == [3, 4]


def test_a_transform_sees_the_rows_and_masks_more_of_them():
    def positive(rows, limit):
        return rows * 2, rows[:, 1] > limit

    def of_rows(rows):
        rows = MaskedRows(rows, HOLDS)
        passes = Passes(rows, (jnp.float64(0),), jnp.int32(4), plan_of("sum", positive))
        return passes.reduced(OneShard())

    values, counts = jax.jit(of_rows)(ROWS)
    assert values.tolist() == [8.0, 22.0]
    assert counts.tolist() == [1, 2]


@pytest.mark.parametrize(("op", "expected"), [("sum", 0), ("min", np.inf), ("mean", np.nan)])
def test_no_rows_have_the_identity_element_or_nan(op, expected):
    rows = MaskedRows(jnp.zeros((0, 2)), None)
    values, counts = Passes(rows, (), None, plan_of(op)).reduced(OneShard())
    np.testing.assert_array_equal(values, [expected, expected])
    assert counts.tolist() == [0, 0]
