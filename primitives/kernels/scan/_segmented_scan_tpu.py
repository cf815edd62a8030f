# SPDX-License-Identifier: Apache-2.0
"""Scans by a named operator that restart at heads, on TPU.

Integers of 64 bits are scanned as two words: a TPU core has none.
"""

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...contract._associative_scan import nothing_of
from ...contract._scan_operators import NamedOperator, Scan, combine_named, identity_of
from ...contract._typing import Array
from ._block_scan_tpu import Combine, Operands, restarting, scan_columns

_SIGN = np.int32(-(2**31))


def can_scan_on_tpu(dtype: Any, op: NamedOperator) -> bool:
    """Whether the kernel scans a dtype; narrower integers are scanned as int32."""
    words = ("int64", "uint64") if op != "mul" else ()
    return np.dtype(dtype).name in ("int32", "uint32", "float32", *words)


def scan_rows_tpu(
    values: Array, heads: Array | None, num_valid: Array, scan: Scan, interpret: Any = False
) -> Array:
    """`scan_rows` without `exclusive`, for rows of any shape."""
    num_rows, shape = values.shape[0], values.shape
    scan_line = functools.partial(
        _scan_line, heads=heads, num_valid=num_valid, scan=scan, interpret=interpret
    )
    if values.ndim == 1:
        return scan_line(values)
    lines = values.reshape(num_rows, math.prod(shape[1:])).T
    return jax.vmap(scan_line)(lines).T.reshape(shape)


def _scan_line(
    values: Array, heads: Array | None, num_valid: Array, scan: Scan, interpret: Any
) -> Array:
    dtype = values.dtype
    # A reversed scan starts with the padding: -0.0 is the identity of its sum.
    padding = np.asarray(nothing_of(dtype) if scan.op == "add" else identity_of(scan.op, dtype))
    is_wide = dtype.itemsize == 8
    words = _words_of(values) if is_wide else (values,)
    paddings = _words_of(padding) if is_wide else (padding,)
    combine = functools.partial(_combine_words, scan.op, dtype) if is_wide else _of_one(scan.op)
    columns = words if heads is None else (*words, heads.astype(np.int8))

    def load(rows: Operands, is_valid: Array) -> Operands:
        filled = tuple(map(functools.partial(jnp.where, is_valid), rows[: len(words)], paddings))
        # A core compares and moves 32 bits.
        return (*filled, *(flags.astype(np.int32) for flags in rows[len(words) :]))

    combined = scan_columns(
        combine if heads is None else restarting(combine),
        load,
        columns,
        num_valid,
        scan.reverse,
        num_results=len(words),
        interpret=interpret,
    )
    return _of_words(combined, dtype) if is_wide else combined[0]


def _of_one(op: NamedOperator) -> Combine:
    return lambda left, right: (combine_named(op, left[0], right[0]),)


def _words_of(values: Any) -> tuple[Any, Any]:
    """The low and the high words of 64-bit integers, int32; of a constant as constants."""
    low, high = (values & 0xFFFFFFFF).astype(np.uint32), (values >> 32).astype(np.uint32)
    if isinstance(low, (np.ndarray, np.generic)):
        return low.view(np.int32), high.view(np.int32)
    return _bits_of(low, np.int32), _bits_of(high, np.int32)


_bits_of = jax.lax.bitcast_convert_type


def _of_words(words: Operands, dtype: Any) -> Array:
    low, high = (_bits_of(word, np.uint32).astype(np.uint64).astype(dtype) for word in words)
    return (high << 32) | low


def _combine_words(op: NamedOperator, dtype: Any, left: Operands, right: Operands) -> Operands:
    """One step of a scan of 64-bit integers, given as low and high words."""
    if op == "add":
        low = left[0] + right[0]
        carry = _is_less(low, left[0], is_unsigned=True).astype(np.int32)
        return low, left[1] + right[1] + carry
    is_unsigned = np.dtype(dtype).kind == "u"
    first, second = (left, right) if op == "min" else (right, left)
    # The first of equal rows is kept, and equal integers have equal bits.
    is_kept = _is_less(first[1], second[1], is_unsigned) | (
        (first[1] == second[1]) & ~_is_less(second[0], first[0], is_unsigned=True)
    )
    return tuple(jnp.where(is_kept, *pair) for pair in zip(left, right, strict=True))


def _is_less(left: Array, right: Array, is_unsigned: bool) -> Array:
    return (left ^ _SIGN) < (right ^ _SIGN) if is_unsigned else left < right
