# SPDX-License-Identifier: Apache-2.0
"""Rows scaled by the other rows of their segments: softmax and normalization."""

import functools
from typing import Any

import jax
import jax.numpy as jnp

from ..contract._arguments import as_array, as_num_valid, type_of
from ..contract._typing import Array, ArrayLike, Float, Integer, PyTree
from ..tiers._tiered import tiered
from ._one_device import OneDevice
from ._segment_ops import (
    Segments,
    as_averaged,
    distances_from,
    exponentials_from,
    finite_maximum,
    quotient,
    whole_mean,
)
from ._segment_reduce import as_segment_arguments
from ._segment_statistics import in_one_call
from ._segments import as_given_ids, place_segment_ids


def segment_softmax(
    x: PyTree,
    segment_ids: Integer[ArrayLike, " rows"],
    num_segments: int,
    *,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> PyTree:
    """Divides the exponential of each row by the sum of those of its segment.

    Args:
        x: array of shape `(rows, ...)`, or a pytree of them.
        segment_ids: segment of each row, integers of shape `(rows,)`, in any order. Rows with an id
            outside `[0, num_segments)` belong to no segment.
        num_segments: number of segments. Static.
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        A pytree like `x`: integers and bools give JAX's default float, floats their own dtype. Zero
        for rows of no segment, and for the rows of a segment in which all are minus infinity.

    Raises:
        TypeError: `segment_ids` are not integers, `num_segments` is traced, or `x` is complex.
        ValueError: lengths differ, or `num_segments` is less than one.

    Cost:
        Work O(rows + num_segments): a maximum and a sum of each segment, and a row of each for
        every row. No communication.

    Guarantees:
        Deterministic; differentiable in `x`. Exponentials are of distances from the maximum of the
        segment, so that none overflows; floats of 16 bits are computed in float32.

    References:
        Softmax of graph attention: Velickovic et al. (2018), "Graph attention networks".

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> x, segment_ids = jnp.array([0.0, 5.0, 0.0, 3.0]), jnp.array([0, 1, 0, 7])
        >>> local.segment_softmax(x, segment_ids, 2).tolist()
        [0.5, 1.0, 0.5, 0.0]
    """
    arguments = as_normalize_arguments("segment_softmax", x, segment_ids, num_segments)
    return _on_one_device(*arguments, num_valid, None, "segment_softmax")


def segment_normalize(
    x: PyTree,
    segment_ids: Integer[ArrayLike, " rows"],
    num_segments: int,
    *,
    epsilon: float | Float[ArrayLike, ""] = 1e-5,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> PyTree:
    """Gives the rows of each segment a mean of zero and a variance of one.

    Args:
        x: array of shape `(rows, ...)`, or a pytree of them.
        segment_ids: segment of each row, integers of shape `(rows,)`, in any order. Rows with an id
            outside `[0, num_segments)` belong to no segment.
        num_segments: number of segments. Static.
        epsilon: positive number that is added to the variance, so that equal rows give zeros.
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        A pytree like `x`, `(x - mean) / sqrt(variance + epsilon)`: integers and bools give JAX's
        default float, floats their own dtype. Zero for rows of no segment.

    Raises:
        TypeError: `segment_ids` are not integers, `num_segments` is traced, or `x` is complex.
        ValueError: lengths differ, `num_segments` is less than one, or a known `epsilon` is not
            positive.

    Cost:
        Work O(rows + num_segments): two sums of each segment, and a row of each for every row. No
        communication.

    Guarantees:
        Deterministic; differentiable in `x` and `epsilon`. The variance is about the mean, so that
        nothing cancels; floats of 16 bits are computed in float32.

    References:
        Ba, Kiros, Hinton (2016), "Layer normalization", over the rows of a segment.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> x, segment_ids = jnp.array([1.0, 5.0, 3.0, 4.0]), jnp.array([0, 1, 0, 7])
        >>> local.segment_normalize(x, segment_ids, 2, epsilon=3.0).tolist()
        [-0.5, 0.0, 0.5, 0.0]
    """
    caller = "segment_normalize"
    arguments = as_normalize_arguments(caller, x, segment_ids, num_segments)
    epsilon = as_epsilon(epsilon, caller)
    return _on_one_device(*arguments, num_valid, epsilon, caller)


def as_normalize_arguments(
    caller: str, x: Any, segment_ids: Any, num_segments: Any
) -> tuple[Any, Array, int]:
    """Checks the arguments that all levels share."""
    x, ids, num_segments, *_ = as_segment_arguments(caller, x, segment_ids, num_segments, "mean")
    for leaf in jax.tree.leaves(x):
        if jnp.issubdtype(leaf.dtype, jnp.complexfloating):
            raise TypeError(
                f"{caller}: x must be real, got {type_of(leaf)}. Scale its real and imaginary "
                "parts."
            )
    return x, ids, num_segments


def as_epsilon(epsilon: Any, caller: str) -> Array:
    """Checks what is added to a variance."""
    known, epsilon = epsilon, as_array(epsilon, caller, "epsilon")
    if epsilon.ndim or jnp.issubdtype(epsilon.dtype, jnp.complexfloating):
        raise ValueError(f"{caller}: epsilon must be one real number, got {type_of(epsilon)}.")
    if not isinstance(known, jax.Array) and not known > 0:
        raise ValueError(f"{caller}: epsilon must be positive, got {known}.")
    return epsilon


def _on_one_device(
    x: Any,
    segment_ids: Array,
    num_segments: int,
    num_valid: Any,
    epsilon: Array | None,
    caller: str,
) -> Any:
    if num_valid is not None:
        num_valid = as_num_valid(num_valid, segment_ids.shape[0], caller)
    return scale_rows(x, segment_ids, num_valid, epsilon, num_segments, OneDevice())


@functools.partial(tiered, static_argnums=(4, 5))
def scale_rows(
    x: Any,
    segment_ids: Array,
    num_valid: Array | None,
    epsilon: Array | None,
    num_segments: int,
    over: Any,
) -> Any:
    """Scales every leaf of checked arguments: by softmax, or with `epsilon` by normalization."""
    ids = place_segment_ids(segment_ids, num_segments, num_valid, True, None)
    given = as_given_ids(segment_ids, None, num_valid, num_segments)
    segments = Segments(ids, num_segments, over, given)

    def scaled(rows: Array) -> Array:
        rows, dtype = as_averaged(rows)
        if epsilon is None:
            return _softmax(rows, segments).astype(dtype)
        return _normalized(rows, segments, epsilon.astype(rows.dtype)).astype(dtype)

    return jax.tree.map(scaled, x)


def _softmax(rows: Array, segments: Segments) -> Array:
    totals, greatest = in_one_call("exponentials", _totals_and_maxima, rows, segments)
    total = segments.of_rows(totals)
    # Where nothing is added all exponentials are zeros.
    total = jnp.where(total == 0, jnp.ones((), rows.dtype), total)
    return exponentials_from(greatest, rows, segments) / total


def _totals_and_maxima(rows: Array, segments: Segments) -> tuple[Array, Array]:
    greatest = finite_maximum(rows, segments)
    exponentials = exponentials_from(greatest, rows, segments)
    return segments.over.whole_total(segments.add(exponentials)), greatest


def _normalized(rows: Array, segments: Segments, epsilon: Array) -> Array:
    variances, mean = in_one_call("var", _variances_and_means, rows, segments)
    distance = distances_from(mean, rows, segments)
    return distance * jax.lax.rsqrt(segments.of_rows(variances) + epsilon)


def _variances_and_means(rows: Array, segments: Segments) -> tuple[Array, Array]:
    counts = segments.whole_counts(rows)
    mean = whole_mean(rows, segments, counts)
    distance = distances_from(mean, rows, segments)
    squares = segments.over.whole_total(segments.add(distance * distance))
    return quotient(squares, counts), mean
