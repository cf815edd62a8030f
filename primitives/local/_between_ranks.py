# SPDX-License-Identifier: Apache-2.0
"""Values between two neighbouring order statistics."""

from collections.abc import Callable
from typing import Literal

import jax.numpy as jnp

from ..contract._typing import Array

Interpolation = Literal["linear", "lower", "higher", "midpoint", "nearest"]
# The value between two finite rows, given a weight of the upper one.
Between = Callable[[Array, Array, Array], Array]


def between_ranks(
    low: Array,
    high: Array,
    fraction: Array,
    is_odd: Array,
    interpolation: str,
    linear: Between,
    midpoint: Between | None = None,
) -> Array:
    """Interpolates between the rows below and above each quantile.

    Args:
        low: the rows at the ranks below.
        high: the rows at the next ranks.
        fraction: the fraction of the way from `low` to `high`, in [0, 1).
        is_odd: whether the rank below is odd.
        interpolation: see `Interpolation`.
        linear: interpolates between finite rows.
        midpoint: the mean of two finite rows; `linear` with a weight of one half by default.
    """
    match interpolation:
        case "lower":
            return low
        case "higher":
            return jnp.where(fraction > 0, high, low)
        case "nearest":
            is_high = (fraction > 0.5) | ((fraction == 0.5) & is_odd)
            return jnp.where(is_high, high, low)
    weight = fraction.astype(low.dtype)
    if interpolation == "midpoint":
        weight = jnp.where(fraction > 0, low.dtype.type(0.5), low.dtype.type(0))
        linear = linear if midpoint is None else midpoint
    is_finite = jnp.isfinite(low) & jnp.isfinite(high)
    # Without infinities: their undefined distance would reach derivatives, and raise under
    # jax_debug_nans.
    zero = jnp.zeros_like(low)
    ends = jnp.where(is_finite, low, zero), jnp.where(is_finite, high, zero)
    between = unless_overflow(linear(*ends, weight), *ends, weight)
    # The sum with an infinity is that infinity; the sum of opposite ones is NaN.
    return jnp.where(weight > 0, jnp.where(is_finite, between, low + high), low)


def unless_overflow(between: Array, low: Array, high: Array, weight: Array) -> Array:
    """What lies between two rows, by their shares where their distance or their sum overflowed."""
    is_finite = jnp.isfinite(between)
    # With a constant weight XLA would add both before it multiplies, and overflow again.
    weight = jnp.where(is_finite, jnp.zeros_like(weight), weight)
    return jnp.where(is_finite, between, low * (1 - weight) + high * weight)


def from_nearer_end(
    low: Array,
    high: Array,
    weight: Array,
    distance: Array | None = None,
    part_of: Callable[[Array], Array] = lambda part: part,
) -> Array:
    """Interpolates linearly, as NumPy does: adds a part of the distance to the nearer row.

    `part_of` is applied to the part, such as to round it apart from the sum.
    """
    distance = high - low if distance is None else distance
    from_high = high - part_of(distance * (1 - weight))
    return jnp.where(weight >= 0.5, from_high, low + part_of(distance * weight))


def from_low_end(
    low: Array,
    high: Array,
    weight: Array,
    part_of: Callable[[Array], Array] = lambda part: part,
) -> Array:
    """Interpolates linearly, as pandas does in groups: adds to the lower row.

    `part_of` is applied to the part, as in `from_nearer_end`.
    """
    return low + part_of((high - low) * weight)


def mean_of_both(low: Array, high: Array, weight: Array) -> Array:
    """The mean of both rows."""
    del weight
    return (low + high) / 2
