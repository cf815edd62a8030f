# SPDX-License-Identifier: Apache-2.0
"""Counts and sums of few segments, on the matrix unit of a TPU.

An id is two digits. The rows of two lines of 128 lanes become two matrices with a column for each
row: one has a one in the line of the first digit, the other has the row in the line of the second
digit, and zeros elsewhere. Their product over the columns has, for each pair of digits, the sum of
the rows with this id.

The matrix unit multiplies numbers of 8 significant bits and adds in float32. So an integer is four
bytes, whose sums in a block are exact, and a float32 is the exact sum of three numbers of 8 bits.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

from ...contract._typing import Array
from ..base._pallas import LANES, REGISTER_ROWS, SUBLANES, call_on_tpu

# 255 times the rows of a block is less than 2^24, up to which float32 holds every integer.
BLOCK_LINES = 512
# Lines that are multiplied one after the other wait for the matrix unit. A sum of 2^18 floats into
# 1,024 segments takes 0.28 static cycles a row on v5e for 8 lines at a time, and 0.15 for 32.
MOST_UNROLLED = 32
# The matrix unit of v6e adds 256 products at once: there this sum takes 0.32 cycles a row for two
# lines in one product, and 0.50 for one. The number of lines of a block is a multiple of eight.
LINES_OF_PRODUCT = 2
# The least width of a digit; narrower ones leave most lanes of the matrix unit without work.
_LEAST_DIGIT = 16
_FLOAT, _INT = np.dtype(np.float32), np.dtype(np.int32)
_HIGH_HALF = np.int32(-(2**16))

Parts = Callable[..., Sequence[Array]]


def count_segments_tpu(ids: Array, num_segments: int, interpret: Any = False) -> Array:
    """Counts the rows of each segment, int32; ids are int32, those out of range are dropped."""
    (counts,) = _sum_parts((ids,), lambda: (jnp.ones((1, 1), _FLOAT),), num_segments, _INT,
                           interpret)  # fmt: skip
    return counts


def sum_segments_tpu(rows: Array, ids: Array, num_segments: int, interpret: Any = False) -> Array:
    """Adds rows of int32, uint32 or float32 by segment.

    Args:
        rows: the numbers, of shape `(rows,)`.
        ids: segment of each row, int32; rows out of range are dropped.
        num_segments: number of segments.
        interpret: how Pallas interprets the kernel in place of compiling it.
    """
    if rows.dtype == np.float32:
        return _sum_floats(rows, ids, num_segments, interpret)
    words = jax.lax.bitcast_convert_type(rows, _INT)
    sums = _sum_parts((ids, words), _bytes_of, num_segments, _INT, interpret)
    # Each sum wraps around, and so does the sum of all.
    total = functools.reduce(jnp.add, (part << 8 * i for i, part in enumerate(sums)))
    return jax.lax.bitcast_convert_type(total, rows.dtype)


def _sum_floats(rows: Array, ids: Array, num_segments: int, interpret: Any) -> Array:
    is_finite = jnp.isfinite(rows)
    # A zero of the other matrix times an infinity would be NaN in other segments.
    finite = jnp.where(is_finite, rows, jnp.zeros((), rows.dtype))
    high, middle, low = _sum_parts((ids, finite), _parts_of_float, num_segments, _FLOAT, interpret)
    sums = (low + middle) + high

    def with_rest(sums: Array) -> Array:
        flags = _sum_parts((ids, rows), _kinds_of, num_segments, _FLOAT, interpret)
        has_positive, has_negative, has_nan = (part > 0 for part in flags)
        infinity = jnp.asarray(np.inf, sums.dtype)
        sums = jnp.where(has_positive, infinity, jnp.where(has_negative, -infinity, sums))
        is_nan = has_nan | (has_positive & has_negative)
        return jnp.where(is_nan, jnp.asarray(np.nan, sums.dtype), sums)

    return jax.lax.cond(jnp.all(is_finite), lambda sums: sums, with_rest, sums)


def _bytes_of(words: Array) -> Sequence[Array]:
    return [((words >> 8 * i) & 255).astype(_FLOAT) for i in range(4)]


def _parts_of_float(rows: Array) -> Sequence[Array]:
    """Three numbers of 8 significant bits, whose sum is the row."""
    high = _without_low_bits(rows)
    middle = _without_low_bits(rows - high)
    return high, middle, rows - high - middle


def _without_low_bits(rows: Array) -> Array:
    bits = jax.lax.bitcast_convert_type(rows, _INT) & _HIGH_HALF
    return jax.lax.bitcast_convert_type(bits, _FLOAT)


def _kinds_of(rows: Array) -> Sequence[Array]:
    """Flags of infinities and NaN, as numbers."""
    kinds = (rows == np.inf, rows == -np.inf, rows != rows)
    return [kind.astype(_INT).astype(_FLOAT) for kind in kinds]


def _sum_parts(
    columns: Sequence[Array], parts_of: Parts, num_segments: int, dtype: np.dtype, interpret: Any
) -> list[Array]:
    """Sums of `parts_of` a row by id, for each part; `columns` are the ids and what it takes."""
    num_digits = _LEAST_DIGIT
    while num_digits**2 < num_segments:
        num_digits *= 2
    # Whole blocks: what lies past an array might be NaN, and zero times NaN is NaN.
    num_rows = columns[0].shape[0]
    block_lines = min(BLOCK_LINES, pl.cdiv(num_rows, REGISTER_ROWS) * SUBLANES)
    missing = -num_rows % (block_lines * LANES)
    ids = jnp.pad(columns[0], (0, missing), constant_values=-1)
    others = [jnp.pad(column, (0, missing)) for column in columns[1:]]
    lines = [column.reshape(-1, LANES) for column in (ids, *others)]
    line = jax.ShapeDtypeStruct((1, LANES), _INT)
    num_parts = len(
        jax.eval_shape(parts_of, *(jax.ShapeDtypeStruct(line.shape, c.dtype) for c in columns[1:]))
    )
    block = pl.BlockSpec((block_lines, LANES), lambda i: (i, 0))
    table = (num_digits, num_parts * num_digits)
    (sums,) = call_on_tpu(
        functools.partial(_kernel, parts_of=parts_of),
        lines,
        [(table, dtype)],
        grid=(lines[0].shape[0] // block_lines,),
        in_specs=[block] * len(lines),
        out_specs=[pl.BlockSpec(table, lambda i: (0, 0))],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("arbitrary",)),
        name="sum_segments",
        interpret=interpret,
    )
    by_digits = sums.reshape(num_digits, num_parts, num_digits)
    return [by_digits[:, i].reshape(-1)[:num_segments] for i in range(num_parts)]


def _kernel(*refs: Any, parts_of: Parts) -> None:
    ids_ref, *columns, sums_ref = refs

    @pl.when(pl.program_id(0) == 0)
    def _() -> None:
        sums_ref[...] = jnp.zeros_like(sums_ref)

    num_digits = sums_ref.shape[0]
    bits = num_digits.bit_length() - 1
    width = LINES_OF_PRODUCT * LANES
    digits = jax.lax.broadcasted_iota(jnp.int32, (num_digits, width), 0)

    def lines_of(ref: Any, first: Any) -> Array:
        lines = [ref[pl.ds(first + k, 1), :] for k in range(LINES_OF_PRODUCT)]
        return jnp.concatenate(lines, axis=1)

    def add_lines(first: Any, sums: Array) -> Array:
        ids = lines_of(ids_ref, first)
        parts = parts_of(*(lines_of(ref, first) for ref in columns))
        is_first = (ids >> bits) == digits
        is_second = (ids & (num_digits - 1)) == digits
        ones = is_first.astype(_INT).astype(_FLOAT).astype(jnp.bfloat16)
        seconds = [jnp.where(is_second, jnp.broadcast_to(part, digits.shape), 0) for part in parts]
        return sums + jax.lax.dot_general(
            ones,
            jnp.concatenate(seconds).astype(jnp.bfloat16),
            (((1,), (1,)), ((), ())),
            preferred_element_type=jnp.float32,
        )

    unrolled = math.gcd(ids_ref.shape[0], MOST_UNROLLED)

    def several(i: Any, sums: Array) -> Array:
        for j in range(0, unrolled, LINES_OF_PRODUCT):
            sums = add_lines(i * unrolled + j, sums)
        return sums

    zeros = jnp.zeros(sums_ref.shape, jnp.float32)
    sums = jax.lax.fori_loop(0, ids_ref.shape[0] // unrolled, several, zeros)
    sums_ref[...] += sums.astype(sums_ref.dtype)
