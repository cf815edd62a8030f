# SPDX-License-Identifier: Apache-2.0
"""Moments of parts, merged, against pandas over the whole."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from jaxframes.primitives.local._moments import (
    Moments,
    PairMoments,
    correlation,
    kurtosis,
    merge_moments,
    merge_pair_moments,
    moved_sums,
    skewness,
)

X = np.random.default_rng(0).normal(size=40) + 1e6
# Parts of one value, without values, and of several.
BOUNDS = [0, 1, 1, 2, 17, 40]


def moments_of(x):
    mean = x.mean() if len(x) else 0.0
    sums = tuple(jnp.asarray(((x - mean) ** power).sum()) for power in (2, 3, 4))
    return Moments(jnp.asarray(float(len(x))), jnp.asarray(mean), sums)


def merged(parts, merge):
    whole = parts[0]
    for part in parts[1:]:
        whole = jax.jit(merge)(whole, part)
    return whole


@pytest.mark.parametrize("is_reversed", [False, True])
def test_moments_of_parts(is_reversed):
    parts = [moments_of(X[a:b]) for a, b in itertools.pairwise(BOUNDS)]
    whole = merged(parts[::-1] if is_reversed else parts, merge_moments)
    expected = pd.Series(X)
    assert whole.count == len(X)
    np.testing.assert_allclose(whole.mean, X.mean(), rtol=1e-15)
    np.testing.assert_allclose(whole.sums[0] / (len(X) - 1), expected.var(), rtol=1e-9)
    np.testing.assert_allclose(skewness(whole.count, (None, *whole.sums)), expected.skew(), 1e-7)
    np.testing.assert_allclose(kurtosis(whole.count, (None, *whole.sums)), expected.kurt(), 1e-7)


def test_moments_of_pairs():
    y = X[::-1] * 2 + np.arange(40)

    def of(x, y):
        means = (x.mean(), y.mean()) if len(x) else (0.0, 0.0)
        dx, dy = x - means[0], y - means[1]
        numbers = float(len(x)), *means, (dx * dx).sum(), (dy * dy).sum(), (dx * dy).sum()
        return PairMoments(*map(jnp.asarray, numbers))

    parts = [of(X[a:b], y[a:b]) for a, b in itertools.pairwise(BOUNDS)]
    whole = merged(parts, merge_pair_moments)
    expected = pd.DataFrame({"x": X, "y": y})
    np.testing.assert_allclose(whole.products / 39, expected.x.cov(expected.y), rtol=1e-7)
    found = correlation(whole.products, whole.x_squares, whole.y_squares)
    np.testing.assert_allclose(found, expected.x.corr(expected.y), rtol=1e-7)
    same = merged([of(X[a:b], X[a:b]) for a, b in ((0, 9), (9, 40))], merge_pair_moments)
    assert correlation(same.products, same.x_squares, same.y_squares) == 1


def test_equal_values_have_no_moments():
    zeros = (jnp.asarray(0.0),) * 3
    sizes = ((3.0, 0.1), (0.0, 0.0), (4.0, 0.1))
    parts = [Moments(jnp.asarray(size), jnp.asarray(mean), zeros) for size, mean in sizes]
    whole = merged(parts, merge_moments)
    assert [float(one) for one in whole.sums] == [0, 0, 0]
    assert np.isnan(skewness(whole.count, (None, *whole.sums)))
    assert np.isnan(kurtosis(whole.count, (None, *whole.sums)))


@pytest.mark.parametrize("origin", [0.0, 1e6 + 0.3])
def test_sums_about_another_origin(origin):
    x = X[:9] - 1e6 + origin
    own = tuple(((x - origin) ** power).sum() for power in (2, 3, 4))
    moved = moved_sums(jnp.asarray(9.0), own, jnp.asarray(0.25), (x - origin).sum())
    wanted = [((x - origin + 0.25) ** power).sum() for power in (2, 3, 4)]
    np.testing.assert_allclose(moved, wanted, rtol=1e-12)


@pytest.mark.parametrize(("name", "least"), [("skew", 3), ("kurt", 4)])
def test_too_few_values(name, least):
    result = {"skew": skewness, "kurt": kurtosis}[name]
    for count in range(least + 1):
        x = np.arange(float(count)) ** 2
        whole = moments_of(x)
        found = result(whole.count, (None, *whole.sums))
        expected = getattr(pd.Series(x), name)()
        np.testing.assert_allclose(found, expected, rtol=1e-12)
