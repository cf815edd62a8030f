# SPDX-License-Identifier: Apache-2.0
"""Scans by a named operator that restart at heads, along the leading axis of one array."""

import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ....shardings._compat import like_varying
from ...contract._associative_scan import associative_scan, nothing_of
from ...contract._platform import by_platform
from ...contract._scan_operators import NAMED_OPERATORS, Scan, combine_named, identity_of, is_kept
from ...contract._typing import Array
from ..base._cuda import call_on_cuda, on_cuda
from ..base._foreign import ResultShape, call
from ..base._library import is_native
from ..base._pallas import on_tpu

KERNEL_DTYPES = ("int32", "uint32", "int64", "uint64", "float32", "float64")


@functools.partial(jax.jit, static_argnums=3)
def scan_rows(values: Array, heads: Array | None, num_valid: Array, scan: Scan) -> Array:
    """Scans the first `num_valid` rows, from the last one if reversed; padding becomes zero.

    The scan restarts in each row with a head, and always in its first row.
    """
    if values.size == 0 or jnp.issubdtype(values.dtype, jnp.complexfloating):
        return scan_rows_xla(values, heads, num_valid, scan)

    def xla(values: Array, heads: Array | None, num_valid: Array) -> Array:
        return scan_rows_xla(values, heads, num_valid, scan)

    def native(values: Array, heads: Array | None, num_valid: Array) -> Array:
        return _scan_rows_native(values, heads, num_valid, scan, _call_on_cpu)

    def cuda(values: Array, heads: Array | None, num_valid: Array) -> Array:
        return _scan_rows_native(values, heads, num_valid, scan, _call_on_cuda)

    def pallas(values: Array, heads: Array | None, num_valid: Array) -> Array:
        return _scan_rows_pallas(values, heads, num_valid, scan)

    kernels = ({"cpu": native} if is_native() else {}) | on_cuda(cuda)
    # A TPU has no floats of 64 bits.
    kernels |= {} if values.dtype == np.float64 else on_tpu(pallas)
    return by_platform(values, heads, num_valid, default=xla, **kernels)


def scan_rows_xla(values: Array, heads: Array | None, num_valid: Array, scan: Scan) -> Array:
    """The definition. Linear in `values` if the operator is a sum."""
    dtype = values.dtype
    identity = identity_of(scan.op, dtype)
    # A reversed scan starts with the padding: -0.0 is the identity of its sum.
    padding = nothing_of(dtype) if scan.op == "add" else identity
    values = fill_padding(values, num_valid, padding)
    combine = functools.partial(combine_named, scan.op)
    as_words = scan.op in ("min", "max") and jnp.issubdtype(dtype, jnp.floating)
    if as_words:
        # An extreme keeps the bits of a row; arithmetic would rewrite some NaNs.
        values = jax.lax.bitcast_convert_type(values, np.dtype(f"uint{8 * dtype.itemsize}"))
        combine = functools.partial(_combine_words, scan, dtype)
    if heads is None:
        results = associative_scan(combine, values, reverse=scan.reverse)
    else:

        def combine_segments(
            left: tuple[Array, Array], right: tuple[Array, Array]
        ) -> tuple[Array, Array]:
            left_has_head, left_value = left
            right_has_head, right_value = right
            # A head inside `right` restarts the scan, so `left` is dropped.
            combined = combine(left_value, right_value)
            value = jnp.where(right_has_head, right_value, combined)
            return left_has_head | right_has_head, value

        pairs = (per_row(heads, values.ndim), values)
        _, results = associative_scan(combine_segments, pairs, reverse=scan.reverse)
    if as_words:
        results = jax.lax.bitcast_convert_type(results, dtype)
    if scan.exclusive:
        results = shift_rows(results, heads, num_valid, scan.reverse, identity)
    return fill_padding(results, num_valid)


def _combine_words(scan: Scan, dtype: Any, left: Array, right: Array) -> Array:
    left_value, right_value = (jax.lax.bitcast_convert_type(word, dtype) for word in (left, right))
    return jnp.where(is_kept(scan.op, left_value, right_value), left, right)


def per_row(flags: Array, ndim: int) -> Array:
    """Reshapes flags of rows to broadcast against arrays of `ndim` axes."""
    return flags.reshape(flags.shape[0], *(1,) * (ndim - 1))


def fill_padding(values: Array, num_valid: Array, filler: Any = None) -> Array:
    """Fills padding rows with `filler`, by default with zeros."""
    filler = jnp.zeros((), values.dtype) if filler is None else filler
    is_valid = per_row(jax.lax.iota(jnp.int32, values.shape[0]) < num_valid, values.ndim)
    return jnp.where(is_valid, values, filler)


def start_flags(heads: Array | None, num_rows: int, num_valid: Array, reverse: bool) -> Array:
    """Flags the rows where the scan starts or restarts."""
    first = num_valid - 1 if reverse else 0
    is_first = jax.lax.iota(jnp.int32, num_rows) == first
    return is_first if heads is None else is_first | heads


def shift_rows(
    results: Array, heads: Array | None, num_valid: Array, reverse: bool, start: Any
) -> Array:
    """Converts inclusive to exclusive results: each row gets its predecessor's, or `start`."""
    is_start = start_flags(heads, results.shape[0], num_valid, reverse)
    shifted = jnp.roll(results, -1 if reverse else 1, axis=0)
    return jnp.where(per_row(is_start, results.ndim), start, shifted)


def _scan_rows_native(
    values: Array,
    heads: Array | None,
    num_valid: Array,
    scan: Scan,
    call_kernel: Callable[..., tuple[Array, ...]],
) -> Array:
    num_rows, dtype, shape = values.shape[0], values.dtype, values.shape
    if dtype.name not in KERNEL_DTYPES:
        # Sums of integers wrap around, so their lowest bits do not depend on the width; the start
        # of an exclusive minimum does.
        inclusive = scan._replace(exclusive=False)
        wide = values.astype(jnp.int32)
        wide = _scan_rows_native(wide, heads, num_valid, inclusive, call_kernel)
        return _as_exclusive(wide.astype(dtype), heads, num_valid, scan)
    # The kernel scans along the last axis, with one row of heads for all others.
    width = math.prod(shape[1:])
    lines = values.reshape(num_rows, width).T
    no_heads = like_varying(jnp.zeros((0,), jnp.bool_), values)
    (results,) = call_kernel(
        (lines[None], (no_heads if heads is None else heads)[None, None], num_valid[None, None]),
        (((width, num_rows), values.dtype),),
        op=np.int32(NAMED_OPERATORS.index(scan.op)),
        reverse=np.bool_(scan.reverse),
        exclusive=np.bool_(scan.exclusive),
    )
    return results.T.reshape(shape)


def _call_on_cpu(*arguments: Any, **attributes: np.generic) -> tuple[Array, ...]:
    return call("jaxframes_segmented_scan_v1", *arguments, **attributes)


def _call_on_cuda(
    arrays: tuple[Array, ...], results: tuple[ResultShape, ...], **attributes: Any
) -> tuple[Array, ...]:
    lines = arrays[0]
    scratch = (lines.size, lines.dtype.itemsize)
    return call_on_cuda("segmented_scan", arrays, results, scratch, **attributes)


def _as_exclusive(results: Array, heads: Array | None, num_valid: Array, scan: Scan) -> Array:
    """The results of a scan, from those of the inclusive one."""
    if not scan.exclusive:
        return results
    start = identity_of(scan.op, results.dtype)
    return fill_padding(shift_rows(results, heads, num_valid, scan.reverse, start), num_valid)


def _scan_rows_pallas(values: Array, heads: Array | None, num_valid: Array, scan: Scan) -> Array:
    # Pallas takes a while to import, and programs for other platforms do without.
    from ._segmented_scan_tpu import can_scan_on_tpu, scan_rows_tpu

    dtype = values.dtype
    # Narrow integers wrap around as wide ones do.
    wide = values if dtype.itemsize >= 4 else values.astype(jnp.int32)
    if not can_scan_on_tpu(wide.dtype, scan.op):
        return scan_rows_xla(values, heads, num_valid, scan)
    results = scan_rows_tpu(wide, heads, num_valid, scan).astype(dtype)
    return _as_exclusive(results, heads, num_valid, scan)
