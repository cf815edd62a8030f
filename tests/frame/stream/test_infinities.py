# SPDX-License-Identifier: Apache-2.0
"""Reductions over batches keep the NaNs that infinities make, and skip missing values."""

import itertools

import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_same
from jaxframes.frame import JaxFrame

INF, NAN = np.inf, np.nan
REDUCTIONS = ("sum", "mean", "prod", "var", "std", "sem", "min", "max", "median")
COLUMNS = [
    [INF, -INF, 1.0, 2.0],
    [INF, 1.0, 2.0, 3.0],
    [INF, INF, INF, INF],
    [0.0, INF, 5.0, 5.0],
    [1.0, NAN, -INF, NAN, INF],
    [NAN, NAN, NAN],
    [INF],
    [NAN, 1.0, NAN, 2.0, 5.0],
]


def expected_of(values, function, **options):
    """pandas' result, with the distance of an infinity from itself as NaN."""
    with np.errstate(invalid="ignore"):
        return getattr(pd.Series(values, dtype=float), function)(**options)


@pytest.mark.parametrize("function", REDUCTIONS)
def test_of_all_rows(function):
    for values, batch_rows in itertools.product(COLUMNS, (1, 2)):
        plan = getattr(JaxFrame({"x": values}).lazy().x, function)()
        found = plan.collect(batch_rows=batch_rows)
        np.testing.assert_allclose(found, expected_of(values, function), rtol=1e-12, err_msg=values)


@pytest.mark.parametrize("function", REDUCTIONS)
def test_of_groups(function):
    """Groups whose parts lie in several batches, of other groups too."""
    rows = [
        (place, key, value)
        for key, values in enumerate(COLUMNS)
        for place, value in enumerate(values)
    ]
    _, keys, values = zip(*sorted(rows), strict=True)
    frame = JaxFrame({"k": keys, "x": values})
    expected = [expected_of(values, function) for values in COLUMNS]
    for batch_rows in (1, 3, 10):
        found = getattr(frame.lazy().groupby("k").x, function)().collect(batch_rows=batch_rows)
        np.testing.assert_allclose(found.to_pandas(), expected, rtol=1e-12)


def test_a_variance_of_one_infinity_is_no_zero():
    frame = JaxFrame({"x": [INF, NAN]}).lazy()
    assert np.isnan(frame.x.var(ddof=0).collect(batch_rows=1))
    assert JaxFrame({"x": [2.0, NAN]}).lazy().x.var(ddof=0).collect(batch_rows=1) == 0


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_parts_of_narrow_floats_do_not_overflow(dtype):
    most = float(np.finfo(dtype).max)
    large = most**0.75
    x = np.array([most, most, -most, -most], dtype)
    y = np.array([large, large, 1 / large, 1 / large], dtype)
    frame = JaxFrame({"k": np.zeros(4, int), "x": x, "y": y})
    product = np.prod(y.astype(float))
    for batch_rows in (None, 1, 2):
        options = {} if batch_rows is None else {"batch_rows": batch_rows}
        plan, groups = frame.lazy(), frame.lazy().groupby("k")
        for total in (plan.x.sum().collect(**options), groups.x.sum().collect(**options)[0]):
            assert total == 0
        for found in (plan.y.prod().collect(**options), groups.y.prod().collect(**options)[0]):
            np.testing.assert_allclose(float(found), product, rtol=float(np.finfo(dtype).eps))


def test_a_variance_of_a_sum_that_overflows_is_infinite():
    frame = JaxFrame({"x": [1.7e308] * 3}).lazy()
    for batch_rows in (1, 2, 3):
        assert np.isinf(frame.x.var().collect(batch_rows=batch_rows))


def test_an_expanding_sum_stays_infinite_after_it_overflows():
    frame = pd.DataFrame({"x": [1e308, 1e308, 1.0, -1e308, 2.0], "y": [1.0, np.inf, 2, np.nan, 3]})
    plan = JaxFrame(frame).lazy().expanding(1).sum()
    for batch_rows in (1, 2, 3):
        assert_same(
            plan.collect(batch_rows=batch_rows), JaxFrame(frame).expanding(1).sum().to_pandas()
        )
