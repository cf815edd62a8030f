# SPDX-License-Identifier: Apache-2.0
"""Histograms of numbers: the portable definition, and the C++ kernel on CPU.

Bin b is the interval `[edges[b], edges[b + 1])`; the last bin includes its right edge. Numbers
outside all bins and NaN have no bin.
"""

import jax
import jax.numpy as jnp
import numpy as np

from ....shardings._compat import like_varying
from ...contract._platform import by_platform
from ...contract._typing import Array
from ..base._cuda import on_cuda
from ..base._foreign import call
from ..base._library import is_native
from ..base._pallas import on_tpu
from ..sort._lower_bound import upper_bound
from ._segments_on_tpu import MOST_SUMMED, can_count_on_tpu, counts_on_tpu
from ._tables_cuda import can_bin_in_tables, count_bins_in_tables

READ_DTYPES = ("int32", "int64", "float32", "float64")


def bin_ids(x: Array, edges: Array, num_valid: Array, is_uniform: bool) -> Array:
    """The bin of each number, or -1, int32; `x` and `edges` have the same dtype."""

    def xla(x: Array, edges: Array, num_valid: Array) -> Array:
        return _bin_ids_xla(x, edges, num_valid, is_uniform)

    def pallas(x: Array, edges: Array, num_valid: Array) -> Array:
        # Pallas takes a while to import, and programs for other platforms do without.
        from ._bin_ids_tpu import bin_ids_tpu

        return bin_ids_tpu(x, edges, num_valid)

    kernel = on_tpu(pallas) if _has_kernel_on_tpu(x, edges) else {}
    return by_platform(x, edges, num_valid, default=xla, **kernel)


def _has_kernel_on_tpu(x: Array, edges: Array) -> bool:
    is_read = x.dtype == edges.dtype and x.dtype.name in ("float32", "int32")
    return is_read and x.shape[0] > 0 and 0 < edges.shape[0] - 1 <= MOST_SUMMED


def _bin_ids_xla(x: Array, edges: Array, num_valid: Array, is_uniform: bool) -> Array:
    """The definition."""
    num_bins = edges.shape[0] - 1
    first, last = edges[0], edges[-1]
    is_inside = (x >= first) & (x <= last)
    is_inside &= jax.lax.iota(jnp.int32, x.shape[0]) < num_valid

    def searched(_: None = None) -> Array:
        num_edges = jnp.asarray(num_bins + 1, jnp.int32)
        return jnp.minimum(upper_bound((edges,), (x,), num_edges) - 1, num_bins - 1)

    def computed(_: None = None) -> Array:
        # An approximation is enough: the bin or one of its neighbours.
        scaled = (x - first) * (np.asarray(num_bins, x.dtype) / (last - first))
        guess = jnp.where(is_inside, scaled, jnp.zeros((), x.dtype)).astype(jnp.int32)
        ids = jnp.clip(guess, 0, num_bins - 1)
        ids = jnp.maximum(ids - (x < _edge(edges, ids)).astype(jnp.int32), 0)
        is_next = (x >= _edge(edges, ids + 1)) & (ids != num_bins - 1)
        return ids + is_next.astype(jnp.int32)

    if is_uniform:
        # Rounding errors are far smaller than a bin, except for bins near the precision of the
        # dtype.
        least = 8 * float(jnp.finfo(edges.dtype).eps) * jnp.maximum(jnp.abs(first), jnp.abs(last))
        can_compute = (jnp.min(edges[1:] - edges[:-1]) > least) & jnp.isfinite(last - first)
        ids = jax.lax.cond(can_compute, computed, searched, None)
    else:
        ids = searched()
    return jnp.where(is_inside, ids, np.int32(-1))


def _edge(edges: Array, ids: Array) -> Array:
    return edges.at[ids].get(mode="promise_in_bounds")


def count_bins(x: Array, edges: Array, num_valid: Array, is_uniform: bool) -> Array:
    """Counts the first `num_valid` numbers in each bin, int32."""

    def xla(x: Array, edges: Array, num_valid: Array) -> Array:
        ids = bin_ids(x.astype(edges.dtype), edges, num_valid, is_uniform)
        table = like_varying(jnp.zeros((edges.shape[0] - 1,), jnp.int32), x, edges, num_valid)
        return table.at[ids].add(1, mode="drop", wrap_negative_indices=False)

    def native(x: Array, edges: Array, num_valid: Array) -> Array:
        (counts,) = call(
            "jaxframes_histogram_v1",
            (x[None], edges[None], num_valid[None]),
            (((edges.shape[0] - 1,), jnp.int32),),
            is_uniform=np.int64(is_uniform),
        )
        return counts

    def tables(x: Array, edges: Array, num_valid: Array) -> Array:
        return count_bins_in_tables(x, edges, num_valid, is_uniform)

    def pallas(x: Array, edges: Array, num_valid: Array) -> Array:
        ids = bin_ids(x.astype(edges.dtype), edges, num_valid, is_uniform)
        return counts_on_tpu(ids, edges.shape[0] - 1)

    can_read = x.dtype.name in READ_DTYPES and edges.dtype.name in READ_DTYPES[2:]
    kernels = {"cpu": native} if can_read and is_native() else {}
    kernels |= on_cuda(tables) if can_bin_in_tables(x, edges) else {}
    kernels |= on_tpu(pallas) if can_count_on_tpu(x, edges.shape[0] - 1) else {}
    return by_platform(x, edges, num_valid, default=xla, **kernels)
