# SPDX-License-Identifier: Apache-2.0
"""Windows from the scans at their ends, and row by row where they are short, against NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives import local
from jaxframes.primitives.local._window_bounds import WindowPlan
from jaxframes.primitives.local._windows import computed_dtypes, finished

ROWS = np.random.default_rng(8).normal(3, 2, 41)
HOLDS = np.arange(41) % 5 != 2
EXPECTED = {
    "count": len,
    "sum": np.sum,
    "mean": np.mean,
    "min": np.min,
    "max": np.max,
    "var": lambda x: x.var(ddof=1),
    "std": lambda x: x.std(ddof=1),
}


@pytest.mark.parametrize("width", [3, 16])
def test_both_ways_agree_with_numpy(width):
    # A static width so short is read row by row, a traced one is put together from scans.
    def of_rows(width):
        return {
            op: local.windowed_reduce(ROWS, width, op, where=HOLDS, ddof=1).values
            for op in EXPECTED
        }

    by_rows, by_scans = jax.jit(of_rows, static_argnums=0)(width), jax.jit(of_rows)(width)
    for op, of_window in EXPECTED.items():
        for row in range(41):
            start = max(row - width + 1, 0)
            window = ROWS[start : row + 1][HOLDS[start : row + 1]]
            if len(window) < (2 if op in ("var", "std") else 1):
                continue
            for found in (by_rows, by_scans):
                np.testing.assert_allclose(found[op][row], of_window(window), rtol=1e-12)


@pytest.mark.parametrize(
    ("op", "expected"),
    [("sum", 0.0), ("min", np.inf), ("max", -np.inf), ("mean", np.nan), ("var", np.nan)],
)
def test_a_window_without_rows_has_the_identity_or_nan(op, expected):
    plan = WindowPlan(op, 0, None, False, False)
    x = jnp.array([5.0, 5.0])
    value = finished(x, jnp.array([0, 1], jnp.int32), x, plan)
    np.testing.assert_array_equal(value, [expected, 5.0])


def test_sums_of_narrow_numbers_are_computed_in_a_wider_dtype():
    assert computed_dtypes("mean", np.int32)[1] == np.float64
    computed, result = computed_dtypes("sum", np.float16)
    assert (computed, result) == (np.float32, np.float16)
    assert computed_dtypes("cov", np.float64) == (np.float64, np.float64)
