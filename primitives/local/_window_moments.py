# SPDX-License-Identifier: Apache-2.0
"""Moments of the windows of one device's rows: two scans, or one kernel on CPU."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._custom_jvp import custom_jvp
from ..contract._platform import by_platform
from ..contract._take import take_rows
from ..contract._typing import Array
from ..kernels.scan._merge_scan import is_scanned_natively
from ..kernels.scan._segmented_scan import per_row
from ..kernels.scan._window_moments import WindowPlaces, native_window_moments
from ._moments import Moments, PairMoments
from ._segmented_scan import segmented_scan

# A float of 32 bits counts as far.
_MOST_NARROW_ROWS = 2**24
Merge = Callable[[Any, Any], Any]


def have_window_kernel(dtype: Any, num_rows: int) -> bool:
    """Whether the kernel reduces windows of so many rows, computed in a dtype."""
    is_exact = dtype == np.float64 or num_rows <= _MOST_NARROW_ROWS
    return is_exact and is_scanned_natively(dtype) and num_rows > 0


def without_means(moments: Moments | PairMoments) -> tuple[Array, ...]:
    """The count and the sums."""
    if isinstance(moments, Moments):
        return moments.count, *moments.sums
    return moments.count, moments.x_squares, moments.y_squares, moments.products


@functools.partial(custom_jvp, nondiff_argnums=(3, 4))
def window_moments(
    rows: Moments | PairMoments,
    held: Array | None,
    places: WindowPlaces,
    merge: Merge,
    is_shifted: bool,
) -> tuple[Array, ...]:
    """The counts and sums of windows that end with their own row; see `without_means`.

    Args:
        rows: the moments of each row alone.
        held: whether a row counts, bool of shape `(rows,)`; None if all do.
        places: the windows.
        merge: the merge of moments.
        is_shifted: whether each window begins as far from its own row.
    """

    def portable(rows: Any, held: Array | None, places: WindowPlaces) -> tuple[Array, ...]:
        del held
        return _by_scans(rows, places, merge, is_shifted)

    def native(rows: Any, held: Array | None, places: WindowPlaces) -> tuple[Array, ...]:
        is_pair = isinstance(rows, PairMoments)
        columns = (rows.x_mean, rows.y_mean) if is_pair else (rows.mean,)
        return native_window_moments(columns, held, places, 3 if is_pair else len(rows.sums))

    return by_platform(rows, held, places, default=portable, cpu=native)


@window_moments.defjvp
def _tangent_of_moments(
    merge: Merge, is_shifted: bool, primals: Any, tangents: Any, moments: Any
) -> Any:
    del moments
    rows, _, places = primals

    def by_scans(rows: Any) -> tuple[Array, ...]:
        return _by_scans(rows, places, merge, is_shifted)

    # A kernel has no derivative; the scans have one.
    return jax.jvp(by_scans, (rows,), tangents[:1])[1]


def _by_scans(rows: Any, places: WindowPlaces, merge: Merge, is_shifted: bool) -> tuple[Array, ...]:
    front = segmented_scan(rows, merge, head_flags=places.heads)
    end = segmented_scan(rows, merge, head_flags=places.heads, reverse=True)
    end = (take_shifted if is_shifted else take_each)(end, places.first)
    return without_means(joined(merge, end, places.is_split, front, places.has_front))


def joined(
    merge: Merge, end: Any, is_split: Array, front: Any, has_front: Array
) -> Moments | PairMoments:
    """The moments of windows, merged from those of both parts where there are any."""

    def held(moments: Any, flags: Array) -> Any:
        return jax.tree.map(lambda leaf: jnp.where(per_row(flags, leaf.ndim), leaf, 0), moments)

    return merge(held(end, is_split), held(front, has_front))


def take_each(rows: Any, positions: Array) -> Any:
    """The rows at positions, which are clipped to those of the rows."""
    num_rows = positions.shape[0]
    if not num_rows:
        return rows
    return take_rows(rows, jnp.clip(positions, 0, num_rows - 1), is_unique=False)


def take_shifted(rows: Any, positions: Array) -> Any:
    """The rows at positions that are all as far from their own row: a rotation."""
    num_rows = positions.shape[0]
    if not num_rows:
        return rows
    is_after = positions >= num_rows

    def of_leaf(leaf: Array) -> Array:
        rotated = jnp.roll(leaf, -positions[0], axis=0)
        return jnp.where(per_row(is_after, leaf.ndim), leaf[-1], rotated)

    return jax.tree.map(of_leaf, rows)
