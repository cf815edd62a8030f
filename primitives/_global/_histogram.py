# SPDX-License-Identifier: Apache-2.0
"""Histograms of whole arrays: by bin, and of keys by digit."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ...shardings._compat import MeshLike
from .. import collective, local
from .._in_shared_memory import in_shared_memory
from .._over_mesh import RowMesh, as_row_mesh
from ..collective._over_shards import OverShards
from ..contract._typing import Array, ArrayLike, Int
from ..local import Histogram
from ..local.parts import as_digit_arguments, as_histogram_arguments, count_rows
from ..tiers._tiered import tiered


@in_shared_memory(everywhere=True)
def histogram(
    x: ArrayLike,
    mesh: MeshLike | None = None,
    *,
    bins: int | None = None,
    edges: ArrayLike | None = None,
    range: Sequence[Any] | None = None,
    weights: ArrayLike | None = None,
    axis: str | tuple[str, ...] | None = None,
) -> Histogram:
    """Counts numbers in equal bins or between given edges, on one device or over a mesh.

    The rules are those of `numpy.histogram`: a bin includes its left edge and excludes its right
    one; the last bin includes both. NaN and numbers outside all bins are dropped.

    Args:
        x: array of shape `(rows,)`, of any key dtype and any length.
        mesh: mesh of the rows; one device by default.
        bins: number of equal bins. Static; ten by default.
        edges: the edges of the bins, an ascending array of two or more, an alternative to `bins`.
        range: the outer edges of equal bins, two numbers; by default the smallest and the largest
            finite number of `x`, widened by a half on each side if they are equal.
        weights: weight of each row, an array of shape `(rows,)`; one by default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.

    Returns:
        `Histogram(counts, edges)`. Counts are int32, or of the dtype of `weights` (int32
        for bool), and wrap past what that holds. Equal edges are of the dtype of a float `x`,
        otherwise of JAX's default float. On a mesh every device gets them.

    Raises:
        TypeError: a dtype that has no order, `bins` is traced, or `mesh` is not a mesh.
        ValueError: `bins` is less than one, there are fewer than two edges, both are given,
            concrete edges do not ascend, a concrete `range` is not finite and ascending, lengths
            differ, or `axis` is not an axis of the mesh.

    Cost:
        Work O(rows) for equal bins, O(rows x log(bins)) for given edges, shared out over the mesh.
        Communication O(bins).

    Guarantees:
        Deterministic; the counts and edges are NumPy's bit for bit, as long as its bins are wider
        than its rounding; differentiable in `weights`, which are added as in `segment_sum`.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives
        >>> counted = primitives.histogram(jnp.array([1.0, 2.0, 2.5, 5.0]), bins=2)
        >>> counted.counts.tolist(), counted.edges.tolist()
        ([3, 1], [1.0, 3.0, 5.0])
    """
    caller = "histogram"
    row_mesh = as_row_mesh(mesh, axis, caller)
    if row_mesh is None:
        return local.histogram(x, bins=bins, edges=edges, range=range, weights=weights)
    column, num_bins, known, ends, weights = as_histogram_arguments(
        caller, x, bins, edges, range, weights, row_mesh.num_shards
    )
    num_rows = column.shape[0]
    rows = row_mesh.place((_not_empty(column), _not_empty(weights)))
    return _histogram_on_mesh(rows, (known, ends), row_mesh, num_rows, num_bins)


def _not_empty(rows: Any) -> Any:
    # XLA cannot compile a program over a mesh if all arguments are empty: a row that does not
    # count.
    return jax.tree.map(lambda leaf: leaf if leaf.shape[0] else jnp.zeros(1, leaf.dtype), rows)


@functools.partial(tiered, static_argnums=(2, 3, 4))
def _histogram_on_mesh(
    rows: Any, known: Any, row_mesh: RowMesh, num_rows: int, num_bins: int | None
) -> Histogram:
    def count_shard(rows: Any, known: Any) -> Histogram:
        column, weights = rows
        edges, ends = known
        is_padded = not num_rows or num_rows % row_mesh.num_shards
        valid = row_mesh.num_valid(num_rows) if is_padded else None
        over = OverShards(row_mesh.axes, row_mesh.num_shards, False, "histogram")
        return count_rows(column, num_bins, edges, ends, weights, valid, over)

    return row_mesh.map_to_all(count_shard, rows, replicated=(known,))


@in_shared_memory(everywhere=True)
def digit_histogram(
    keys: ArrayLike,
    shift: int,
    bits: int,
    mesh: MeshLike | None = None,
    *,
    axis: str | tuple[str, ...] | None = None,
) -> Int[Array, " digits"]:
    """Counts keys by one digit of their radix-sort order, on one device or over a mesh.

    The digit is bits `shift` to `shift + bits` of the key's ordered word: an unsigned integer
    unchanged, a signed one with its sign bit flipped, a float of 32 or 64 bits by its ordered bits.

    Args:
        keys: array of shape `(rows,)`, of any key dtype and any length.
        shift: the lowest bit of the digit. Static.
        bits: number of bits of the digit, 24 at most. Static.
        mesh: mesh of the rows; one device by default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.

    Returns:
        The counts of the digits from 0 to `2**bits - 1`, int32. On a mesh every device gets them.

    Raises:
        TypeError: a dtype that is not a key dtype, `shift` or `bits` is traced, or `mesh` is not a
            mesh.
        ValueError: the digit is outside the key's bits, or `axis` is not an axis of the mesh.

    Cost:
        Work O(rows + 2**bits) shared out over the mesh. Communication: one `psum` of the counts.

    Guarantees:
        Deterministic; integers have no derivative.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives
        >>> primitives.digit_histogram(jnp.array([0x1F, 0x20, 0x2A], jnp.uint8), 4, 2).tolist()
        [0, 1, 2, 0]
    """
    caller = "digit_histogram"
    row_mesh = as_row_mesh(mesh, axis, caller)
    if row_mesh is None:
        return local.digit_histogram(keys, shift, bits)
    column, shift, bits = as_digit_arguments(caller, keys, shift, bits, row_mesh.num_shards)
    num_rows = column.shape[0]
    return _digits_on_mesh(row_mesh.place(_not_empty(column)), row_mesh, num_rows, shift, bits)


@functools.partial(tiered, static_argnums=(1, 2, 3, 4))
def _digits_on_mesh(
    column: Array, row_mesh: RowMesh, num_rows: int, shift: int, bits: int
) -> Array:
    def count_shard(column: Array) -> Array:
        valid = row_mesh.num_valid(num_rows)
        return collective.digit_histogram(
            column, shift, bits, axis_name=row_mesh.axes, num_valid=valid
        )

    return row_mesh.map_to_all(count_shard, column)
